"""A state that was begun with other values or betas is refused, whichever store keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testsgd.errors import StateError
from testsgd.generative import Enforcer
from testsgd.generative.stores import Change, Store, Written

WORDS = {"female": ["she"], "male": ["he"], "other": ["they"]}
PROMPT = "The nurse was tired, so"


def specified(*values: str, **betas: int) -> dict[str, Any]:
    """Return a specification of values in an order, each with a beta of 4 if none is given."""
    return {
        "groupings": {
            "gender": {"values": list(values), "terms": {name: WORDS[name] for name in values}}
        },
        "requirements": [
            {"grouping": "gender", "betas": {name: betas.get(name, 4) for name in values}}
        ],
    }


def renamed() -> dict[str, Any]:
    """Return a specification of as many values with the same betas and other names."""
    return {
        "groupings": {
            "gender": {"values": ["woman", "man"], "terms": {"woman": ["she"], "man": ["he"]}}
        },
        "requirements": [{"grouping": "gender", "beta": 4}],
    }


BEGUN = specified("female", "male")
OTHERS = [
    pytest.param(specified("male", "female"), id="another order"),
    pytest.param(renamed(), id="other names"),
    pytest.param(specified("female", "male", "other"), id="one more value"),
    pytest.param(specified("female", "male", male=5), id="another beta"),
]


def begun(store: Store, *, tenant: str = "") -> Enforcer:
    """Return an enforcer that has counted an output."""
    enforcer = Enforcer(BEGUN, state=store)
    enforcer.finish(enforcer.begin(PROMPT, tenant=tenant), "she slept.")
    return enforcer


def without_names(store: Store) -> None:
    """Make of each state what an earlier release wrote."""

    def forget(text: str | None) -> Written:
        record = json.loads(text or "")
        del record["values"]
        return Written(text=json.dumps(record))

    store.update([Change(key, forget) for key in store.read()])


@pytest.mark.parametrize("other", OTHERS)
def test_another_specification_is_refused_and_changes_nothing(
    other: dict[str, Any], reopen: Callable[[], Store]
) -> None:
    store = reopen()
    begun(store)
    before = store.read()
    enforcer = Enforcer(other, state=store)
    for use in (lambda: enforcer.begin(PROMPT), enforcer.status, enforcer.prepare):
        with pytest.raises(StateError) as raised:
            use()
        assert raised.value.where == "gender"
    assert store.read() == before
    assert len(list(enforcer.journal())) == 1
    assert enforcer.waiting() is None


def test_the_values_it_was_begun_with_are_named(store: Store) -> None:
    begun(store)
    with pytest.raises(StateError, match=r"female.*male.*male.*female"):
        Enforcer(specified("male", "female"), state=store).status()


def test_an_output_of_another_specification_is_not_counted(store: Store) -> None:
    ticket = begun(store).begin(PROMPT)
    with pytest.raises(StateError):
        Enforcer(specified("male", "female"), state=store).finish(ticket, "she slept.")
    (status,) = Enforcer(BEGUN, state=store).status()
    assert status.state.counts == (1, 0)


def test_a_tenant_is_checked_at_its_first_request_and_all_in_the_status(store: Store) -> None:
    begun(store, tenant="old")
    enforcer = Enforcer(specified("male", "female"), state=store)
    enforcer.begin(PROMPT, tenant="new")
    with pytest.raises(StateError):
        enforcer.begin(PROMPT, tenant="old")
    with pytest.raises(StateError):
        enforcer.status()


def test_the_same_specification_goes_on(store: Store) -> None:
    begun(store)
    (status,) = begun(store).status()
    assert status.state.counts == (2, 0)
    assert status.state.values == ("female", "male")


def test_a_state_without_names_goes_on_and_gets_them(store: Store) -> None:
    begun(store)
    without_names(store)
    (status,) = begun(store).status()
    assert status.state.counts == (2, 0)
    with pytest.raises(StateError):
        Enforcer(specified("male", "female"), state=store).status()


@pytest.mark.parametrize("other", OTHERS[2:])
def test_a_state_without_names_has_betas(other: dict[str, Any], store: Store) -> None:
    begun(store)
    without_names(store)
    enforcer = Enforcer(other, state=store)
    with pytest.raises(StateError):
        enforcer.status()
    with pytest.raises(StateError):
        enforcer.begin(PROMPT)


@pytest.mark.parametrize("names", [["female"], ["female", 2], "female", {"female": 1}])
def test_names_that_are_none_of_a_state_are_refused(names: Any, store: Store) -> None:
    begun(store)

    def damage(text: str | None) -> Written:
        return Written(text=json.dumps({**json.loads(text or ""), "values": names}))

    store.update([Change(key, damage) for key in store.read()])
    with pytest.raises(StateError):
        Enforcer(BEGUN, state=store).status()


def test_the_example_with_its_values_swapped_is_refused(tmp_path: Path) -> None:
    text = Path("examples/generative/people.toml").read_text(encoding="utf-8")
    swapped = text.replace('values = ["female", "male"]', 'values = ["male", "female"]')
    assert swapped != text
    for name, content in (("people.toml", text), ("swapped.toml", swapped)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    first = Enforcer(tmp_path / "people.toml", state=tmp_path / "fair.sqlite")
    for _ in range(5):
        first.finish(first.begin("The nurse was tired after work, so"), " she slept")
    first.close()
    second = Enforcer(tmp_path / "swapped.toml", state=tmp_path / "fair.sqlite")
    with pytest.raises(StateError):
        second.status()
    second.close()
