"""Examples of the paper on stream-based monitoring: its figure 1, and estimates with a belief."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from monitor_streams import monitor_of

SCREENINGS: dict[str, Any] = {
    "events": {
        "id": "id",
        "decision": "risk",
        "label": "recidivism",
        "time": "date",
        "favourable": ["HIGH"],
        "unfavourable": ["LOW"],
        "positive": [True],
        "negative": [False],
    },
    "groups": {"names": ["A", "B"]},
    # There are few events, and long times between them.
    "time": {"max_skew": "730 d"},
    "trials": {"deadline": "730 d", "count": "known"},
    "properties": [{"property": "equalized_odds", "bound": 0.1, "rule": "estimate"}],
}
STREAM: list[dict[str, Any]] = [
    {"date": "2013-01-02", "event": "SCREEN", "id": 0, "group": "A", "risk": "HIGH"},
    {"date": "2013-01-02", "event": "SCREEN", "id": 1, "group": "B", "risk": "LOW"},
    {"date": "2013-01-03", "event": "RECID.", "id": 1, "recidivism": True},
    {"date": "2013-01-03", "event": "SCREEN", "id": 2, "group": "B", "risk": "HIGH"},
]


def rates(monitor: Any) -> dict[str, dict[str, tuple[int, int]]]:
    return {
        one.property.name: {g.name: (g.numerator, g.denominator) for g in one.groups}
        for one in monitor.status().comparisons
    }


def test_figure_1() -> None:
    monitor = monitor_of(SCREENINGS)
    assert [monitor.observe(event) for event in STREAM] == [()] * 4
    status = monitor.status()
    assert (status.events, status.decided, status.open) == (4, 3, 2)
    assert status.first_time == 1357084800
    # Only the second trial has a label so far: somebody of B who was not rated high offended again.
    assert rates(monitor) == {
        "equal_opportunity": {"A": (0, 0), "B": (0, 1)},
        "predictive_equality": {"A": (0, 0), "B": (0, 0)},
    }
    # 730 days after 2013-01-02 is 2015-01-02, which is still in time.
    assert monitor.advance("2015-01-02") == ()
    assert monitor.status().open == 2
    assert monitor.advance("2015-01-02T00:00:01") == ()
    assert rates(monitor)["predictive_equality"] == {"A": (1, 1), "B": (0, 0)}
    monitor.advance("2015-01-03T00:00:01")
    status = monitor.status()
    assert (status.open, status.alerts, status.late) == (0, 0, 0)
    assert rates(monitor) == {
        "equal_opportunity": {"A": (0, 0), "B": (0, 1)},
        "predictive_equality": {"A": (1, 1), "B": (1, 1)},
    }


def test_recidivism_of_the_first_defendant_raises_an_alert_for_true_positives() -> None:
    monitor = monitor_of(SCREENINGS)
    for event in STREAM:
        monitor.observe(event)
    (alert,) = monitor.observe({"date": "2014-06-01", "id": 0, "recidivism": True})
    assert (alert.kind, alert.property, alert.rule) == ("raised", "equal_opportunity", "estimate")
    assert (alert.bias, alert.highest, alert.lowest) == (1, "A", "B")
    assert (alert.trials, alert.window, alert.conditions) == (2, None, ())
    assert alert.to_dict()["bias_exact"] == "1"


@pytest.mark.parametrize(
    ("prior", "strength", "wanted"),
    [
        # Three of four and one of four; (3 + g k) / (4 + k) against (1 + g k) / (4 + k).
        ("1/2", 0, ("3/4", "1/4", "1/2")),
        ("1/2", 4, ("5/8", "3/8", "1/4")),
        ("0", 1, ("3/5", "1/5", "2/5")),
        ("1", "0.5", ("7/9", "1/3", "4/9")),
        ("overall", 4, ("5/8", "3/8", "1/4")),
    ],
)
def test_estimates_by_hand(prior: str, strength: Any, wanted: tuple[str, str, str]) -> None:
    monitor = monitor_of(parity(prior, strength, "1"))
    for group, decisions in (("a", [1, 1, 1, 0]), ("b", [1, 0, 0, 0])):
        for decision in decisions:
            monitor.observe({"group": group, "decision": decision})
    (one,) = monitor.status().comparisons
    first, second = (group.estimate for group in one.groups)
    assert (first, second, one.estimate) == tuple(map(Fraction, wanted))
    assert one.bias == Fraction(1, 2)


def test_the_overall_rate_moves_with_the_stream() -> None:
    monitor = monitor_of(parity("overall", 2, "0.39"))
    for _ in range(3):
        assert monitor.observe({"group": "a", "decision": 1}) == ()
    # Belief 3/4: (3 + 3/2) / 5 and (0 + 3/2) / 3, so 9/10 and 1/2.
    (alert,) = monitor.observe({"group": "b", "decision": 0})
    assert alert.bias == Fraction(2, 5)
    # Belief 4/5: (3 + 8/5) / 5 and (1 + 8/5) / 4, so 23/25 and 13/20: 0.27.
    (cleared,) = monitor.observe({"group": "b", "decision": 1})
    assert (cleared.kind, cleared.bias) == ("cleared", Fraction(27, 100))


def test_a_belief_keeps_the_first_few_people_from_raising_alerts() -> None:
    without, held = monitor_of(parity("1/2", 0, "1/10")), monitor_of(parity("1/2", 18, "1/10"))
    people = [("a", 1), ("b", 0)]
    said = [
        [len(one.observe({"group": g, "decision": d})) for one in (without, held)]
        for g, d in people
    ]
    # With the belief: 10/19 and 9/19, which are 1/19 apart.
    assert said == [[0, 0], [1, 0]]
    assert held.status().comparisons[0].estimate == Fraction(1, 19)


def test_a_bias_equal_to_the_threshold_is_no_alert() -> None:
    monitor = monitor_of(parity("1/2", 0, "0.1"))
    for _ in range(9):
        monitor.observe({"group": "a", "decision": 0})
        monitor.observe({"group": "b", "decision": 0})
    monitor.observe({"group": "a", "decision": 0})
    # 1/10 - 0 is exactly the bound, which no float says of 0.1.
    assert monitor.observe({"group": "b", "decision": 1}) == ()
    assert monitor.status().comparisons[0].bias == Fraction(1, 10)


def parity(prior: str, strength: Any, bound: str) -> dict[str, Any]:
    return {
        "groups": {"names": ["a", "b"]},
        "estimate": {"prior": prior, "strength": strength},
        "properties": [{"property": "demographic_parity", "bound": bound, "rule": "estimate"}],
    }
