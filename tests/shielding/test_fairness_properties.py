"""What properties count: the named ones, and those made of events."""

from __future__ import annotations

import pytest
from exhaustive import CUSTOM, NAMED, Trace, counts_of
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import SpecificationError
from testsgd.fairness import NAMED_PROPERTIES
from testsgd.fairness.property import property_from_events

TRACES = st.lists(st.tuples(*[st.integers(0, 1)] * 3), max_size=12).map(tuple)


@pytest.mark.parametrize("name", [*NAMED, *CUSTOM])
@given(trace=TRACES)
def test_kinds_are_all_that_must_be_remembered(name: str, trace: Trace) -> None:
    """From how often each kind happened follow the numerators and denominators."""
    events = NAMED.get(name) or CUSTOM[name]
    fairness = NAMED_PROPERTIES[name] if name in NAMED else events.as_property()
    kinds = fairness.kinds
    counts = counts_of(fairness, trace, 2)
    tops, bottoms = events.counters(trace, 2)
    for group in (0, 1):
        row = counts[group * len(kinds) : (group + 1) * len(kinds)]
        assert tops[group] == sum(n * kind[0] for n, kind in zip(row, kinds, strict=True))
        assert bottoms[group] == sum(n * kind[1] for n, kind in zip(row, kinds, strict=True))
    if fairness.always_counts:
        assert sum(counts) == len(trace)


@pytest.mark.parametrize("name", [*NAMED, *CUSTOM])
def test_kind_of_and_labelled(name: str) -> None:
    events = NAMED.get(name) or CUSTOM[name]
    fairness = NAMED_PROPERTIES[name] if name in NAMED else events.as_property()
    assert fairness.labelled == events.labelled
    assert (0, 0) not in fairness.kinds
    assert len(set(fairness.kinds)) == len(fairness.kinds) >= 2
    for decision in (0, 1):
        for label in (0, 1):
            pair = (
                events.numerator.count((decision, label)),
                events.denominator.count((decision, label)),
            )
            kind = fairness.kind_of(decision, label)
            assert (fairness.kinds[kind] if kind >= 0 else (0, 0)) == pair


def test_the_named_ones_from_their_definitions() -> None:
    made = property_from_events(
        "equal_opportunity", numerator=["accept:1"], denominator=["accept:1", "reject:1"]
    )
    assert made == NAMED_PROPERTIES["equal_opportunity"]
    made = property_from_events(
        "disparate_impact", numerator=["accept"], denominator=["accept", "reject"], measure="ratio"
    )
    assert made == NAMED_PROPERTIES["disparate_impact"]


@pytest.mark.parametrize(
    "event", ["", "Accept", "accept:", "accept:2", "accept:1:1", ":1", "hire", "accept :1"]
)
def test_what_is_no_event(event: str) -> None:
    with pytest.raises(SpecificationError, match=r"no event"):
        property_from_events("x", numerator=[event], denominator=["reject"])


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [([], []), (["accept"], ["accept"]), (["accept", "reject"], ["accept", "reject"])],
)
def test_rates_that_nothing_changes(numerator: list[str], denominator: list[str]) -> None:
    with pytest.raises(SpecificationError, match="same whatever is decided"):
        property_from_events("x", numerator=numerator, denominator=denominator)
