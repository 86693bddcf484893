"""Changes that the tests of stores make: numbers that are counted up."""

from __future__ import annotations

from testsgd.generative.stores import Change, Store, Written


def count(key: str, by: int = 1) -> Change:
    """Add to the number of a key; the line says the key and its new number."""

    def apply(text: str | None) -> Written:
        number = int(text or 0) + by
        return Written(text=str(number), line=f"{key} {number}", answer=number)

    return Change(key, apply)


def assert_consistent(store: Store) -> None:
    """Compare the state with the journal: every number from one up, once and in order."""
    seen: dict[str, list[int]] = {}
    for line in store.journal():
        key, number = line.rsplit(" ", 1)
        seen.setdefault(key, []).append(int(number))
    assert seen == {key: list(range(1, int(text) + 1)) for key, text in store.read().items()}
