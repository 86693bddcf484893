"""One call after the other: what is counted, what is refused, and what a repeated call does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from shield_runs import specification

from testsgd.errors import HorizonEndedError, LabelError, ParameterError, UnknownGroupError
from testsgd.shielding.running import Shield


def made(**keys: Any) -> Shield:
    return Shield.synthesize(specification(**keys))


def test_only_what_is_changed_costs() -> None:
    shield = made(bound="0", empty_group="zero", length=2)
    assert [shield.decide("a", 1, 3.5), shield.decide("b", 0, 2)] == [0, 0]
    assert (shield.interventions, shield.total_cost, shield.bias) == (1, 3.5, 0)
    assert shield.counts == ((1, 0), (1, 0))


def test_cheap_changes_are_made_and_dear_ones_are_not() -> None:
    # Nobody else is expected to be recommended. Whoever accepts the first person expects to change
    # the second one, if of the other group, for 50.5: that is 25.25, more than 1, less than 100.
    rows = [
        {"group": group, "recommendation": 0, "probability": 0.25, "cost": cost}
        for group in "ab"
        for cost in (1.0, 100.0)
    ]
    decisions = {}
    for cost in (0.5, 1.0, 1.5, 100.0, 1e6):
        shield = made(bound="0", length=2, inputs={"table": rows})
        decisions[cost] = shield.decide("a", 1, cost)
    assert decisions == {0.5: 0, 1.0: 0, 1.5: 1, 100.0: 1, 1e6: 1}
    with pytest.raises(
        ParameterError, match=r"^cost: the cost is missing, and it could be any of 2"
    ):
        shield.decide("a", 1)


def test_recommendations_of_any_number_type_give_plain_numbers() -> None:
    shield = made(bound="1")
    for recommendation in (1, True, np.int64(1), 1.0):
        decision = shield.decide("a", recommendation)  # type: ignore[arg-type]
        assert decision == 1
        assert type(decision) is int


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ({"recommendation": 2}, ParameterError, "recommendation: the recommendation is 2"),
        ({"recommendation": "1"}, ParameterError, "recommendation is '1'"),
        ({"cost": -1}, ParameterError, "cost: the cost is -1"),
        ({"cost": float("nan")}, ParameterError, "cost is nan"),
        ({"cost": float("inf")}, ParameterError, "cost is inf"),
        ({"cost": "1"}, ParameterError, "cost is '1'"),
        ({"event": 7}, ParameterError, "event: the event is 7"),
        ({"group": "z"}, UnknownGroupError, "the group 'z' is unknown; give one of 'a', 'b'"),
        ({"group": ["a"]}, UnknownGroupError, "unknown"),
    ],
)
def test_a_bad_call_changes_nothing(call: dict[str, Any], error: type, words: str) -> None:
    shield = made()
    before = shield.to_dict()
    with pytest.raises(error, match=words.replace("[", r"\[")):
        shield.decide(**({"group": "a", "recommendation": 1} | call))
    assert shield.to_dict() == before


def test_unknown_groups_pass_and_are_counted() -> None:
    shield = made(unknown="pass", bound="0", empty_group="zero", length=1)
    assert [shield.decide("z", 1), shield.decide("z", 0), shield.decide("z", 1, event="z1")] == [
        1,
        0,
        1,
    ]
    assert shield.decide("z", 1, event="z1") == 1
    assert (shield.unknown, shield.step, shield.bias) == (3, 0, 0)
    with pytest.raises(UnknownGroupError):
        shield.decide(3, 1)  # type: ignore[arg-type]
    shield.decide("a", 1)
    with pytest.raises(HorizonEndedError):
        shield.decide("z", 1)


def test_labels_of_people_who_passed_are_not_needed() -> None:
    shield = made(property="equal_opportunity", unknown="pass")
    shield.decide("z", 1, event="z1")
    assert not shield.pending
    shield.observe(1)
    shield.observe(0, event="z1")
    assert shield.decide("a", 1) == 1
    assert shield.counts == ((0, 0), (0, 0))
    shield.observe(1)
    assert shield.counts == ((0, 1), (0, 0))
    with pytest.raises(LabelError, match="no decision waits"):
        shield.observe(1)


def test_the_horizon_ends() -> None:
    shield = made(length=2)
    shield.decide("a", 1, event="1")
    shield.decide("b", 1, event="2")
    assert shield.ended
    with pytest.raises(HorizonEndedError, match="all 2 decisions") as caught:
        shield.decide("a", 1, event="3")
    assert caught.value.details["decisions"] == 2
    assert shield.decide("b", 1, event="2") == 1


def test_or_starts_anew() -> None:
    shield = made(length=2, after="next", periods=3)
    for group in "abbaab":
        shield.decide(group, 1)
    assert [report.period for report in shield.period_reports] == [0, 1, 2]
    assert [report.assumption_held for report in shield.period_reports] == [None] * 3
    assert shield.ended
    with pytest.raises(HorizonEndedError, match="all 6 decisions"):
        shield.decide("a", 1)


def test_an_event_is_decided_once() -> None:
    shield = made(bound="1")
    assert shield.decide("a", 0, event="x") == 0
    before = shield.to_dict()
    assert shield.decide("a", 0, event="x") == 0
    assert shield.to_dict() == before
    for group, recommendation in (("b", 0), ("a", 1), ("z", 0)):
        with pytest.raises(ParameterError, match="'x' was decided before, with another"):
            shield.decide(group, recommendation, event="x")


def test_a_label_is_counted_once() -> None:
    shield = made(property="equal_opportunity", bound="1")
    shield.decide("a", 1, event="x")
    assert shield.decide("a", 1, event="x") == 1
    for _ in range(2):
        shield.observe(1, event="x")
    assert shield.counts == ((0, 1), (0, 0))
    with pytest.raises(LabelError, match="was 1 before and is 0 now"):
        shield.observe(0, event="x")
    with pytest.raises(LabelError, match="no decision was made for the event 'y'"):
        shield.observe(0, event="y")
    shield.decide("b", 0)
    shield.observe(1, event="x")
    assert shield.pending


def test_labels_where_none_belong() -> None:
    with pytest.raises(LabelError, match="labels play no part in demographic_parity"):
        made().observe(1)
    shield = made(property="equal_opportunity")
    with pytest.raises(LabelError, match="no decision waits for a label"):
        shield.observe(1)
    shield.decide("a", 1)
    with pytest.raises(LabelError, match="the label is 2"):
        shield.observe(2)
    with pytest.raises(LabelError, match="waits for its label"):
        shield.decide("b", 1)
    shield.observe(0)
    assert shield.step == 1


def test_expected_cost_is_known_at_the_start() -> None:
    shield = made(length=100, empty_group="zero")
    assert shield.expected_cost == pytest.approx(1.00233, abs=5e-6)
    shield.decide("a", 1)
    assert shield.expected_cost is None
    assert shield.bias == Fraction(1)
