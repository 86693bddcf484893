"""Models that are enforced in tests, and an independent recount of what they made."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from testsgd.generative import Enforcer, GenerativeSpecification, SequenceStatus, Ticket


def names(number: int) -> list[str]:
    """Return names of values: v1, v2, ..."""
    return [f"v{index}" for index in range(1, number + 1)]


def label_of(output: str) -> int:
    """Read the value of an output that is written like v3; 0 for any other."""
    return int(output[1:]) if output[:1] == "v" and output[1:].isdecimal() else 0


def specified(betas: Sequence[int], **enforcement: Any) -> GenerativeSpecification:
    """Return a specification with one grouping, and one requirement with betas."""
    values = names(len(betas))
    return GenerativeSpecification.from_dict(
        {
            "groupings": {"kind": {"values": values}},
            "requirements": [{"grouping": "kind", "betas": dict(zip(values, betas, strict=True))}],
            "enforcement": enforcement,
        }
    )


def enforcer(
    betas: Sequence[int], *, state: Any = None, clock: Any = None, **keys: Any
) -> Enforcer:
    """Return an enforcer of :func:`specified`; outputs are read by :func:`label_of`."""
    clocks = {} if clock is None else {"clock": clock}
    return Enforcer(
        specified(betas, **keys), state=state, classify={"kind": label_of}, random_state=1, **clocks
    )


def wanted_label(ticket: Ticket, grouping: str = "kind") -> int:
    """Return the number of the value that a ticket asks for; 0: none."""
    return next((label_of(one.value) for one in ticket.wanted if one.grouping == grouping), 0)


def obedient(ticket: Ticket, natural: int) -> str:
    """Return the output of a model that obeys, and has some label if nothing is asked for."""
    return f"v{wanted_label(ticket) or natural}"


def only(enforced: Enforcer) -> SequenceStatus:
    """Return the only sequence of an enforcer."""
    (status,) = enforced.status()
    return status


@dataclass
class Recount:
    """What the definition says of labels in their order, found step by step."""

    counters: tuple[int, ...]
    counts: tuple[int, ...]
    misses: tuple[int, ...]
    unrelated: int


def recount(labels: Sequence[int], betas: Sequence[int]) -> Recount:
    """Count appearances and missed deadlines; after a miss the value is due beta outputs later."""
    related = [label for label in labels if label]
    counters, counts, misses = [], [], []
    for value, beta in enumerate(betas, start=1):
        since = 0
        missed = 0
        for position, label in enumerate(related, start=1):
            if label == value:
                since = position
            elif position - since == beta:
                missed += 1
                since = position
        counters.append(beta - (len(related) - since))
        counts.append(related.count(value))
        misses.append(missed)
    return Recount(tuple(counters), tuple(counts), tuple(misses), len(labels) - len(related))


def agrees(status: SequenceStatus, labels: Sequence[int]) -> bool:
    """Return whether a state is what the recount finds."""
    state = status.state
    found = Recount(state.counters, state.counts, state.misses, state.unrelated)
    return found == recount(labels, state.betas)


class NaturalModel:
    """What a model makes by itself: values with random shares, and unrelated outputs."""

    def __init__(self, values: int, *, seed: int) -> None:
        self._random = random.Random(seed)
        shares = [self._random.random() ** 4 for _ in range(values + 1)]
        if self._random.random() < 0.3:
            # It only ever makes one value.
            shares = [0.0] * (values + 1)
            shares[self._random.randint(1, values)] = 1.0
        self._shares = shares

    def label(self) -> int:
        """Return the label of the next output."""
        return self._random.choices(range(len(self._shares)), self._shares)[0]


PEOPLE: dict[str, Any] = {
    "gender": {"values": ["g1", "g2"]},
    "age": {"values": ["a1", "a2", "a3"]},
    "job": {"values": ["nurse", "cook"], "reads": "prompt"},
}


def people(*requirements: dict[str, Any], **keys: Any) -> Enforcer:
    """Return an enforcer of people, whose outputs are written like "g1 a3"."""
    specification = {"groupings": PEOPLE, "requirements": list(requirements), "enforcement": keys}

    def part(letter: str) -> Any:
        return lambda output: next(
            (int(word[1:]) for word in output.split() if word[0] == letter), None
        )

    return Enforcer(specification, classify={"gender": part("g"), "age": part("a")}, random_state=5)


def made(ticket: Any, gender: int, age: int) -> str:
    """Return the output of an obedient model that makes people."""
    asked = {one.grouping: one.value for one in ticket.wanted}
    assert len(asked) == len(ticket.wanted)
    return f"{asked.get('gender', f'g{gender}')} {asked.get('age', f'a{age}')}"
