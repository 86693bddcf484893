"""A property that is judged at the end of every period of the time of events."""

from __future__ import annotations

import json
from typing import Any

import pytest

import testsgd
from testsgd.errors import SpecificationError
from testsgd.monitoring import Monitor, MonitorSpecification

DAY = 86_400.0


def monitor(check: str = "1 d", **tables: Any) -> Monitor:
    watched = {
        "property": "demographic_parity",
        "bound": 0.1,
        "rule": "estimate",
        "check": check,
    }
    document = {"properties": [watched], "time": {"max_skew": "2000 d"}, **tables}
    return testsgd.load_monitor(document, clock=lambda: 0.0)


def person(group: str, decision: int, day: float) -> dict[str, Any]:
    return {"group": group, "decision": decision, "time": day * DAY - 1000 * DAY}


def at(*days: float) -> list[float]:
    return [day * DAY - 1000 * DAY for day in days]


def test_a_bias_that_is_over_by_the_end_of_the_day_is_no_alert() -> None:
    made = monitor()
    stream = [person("a", 1, 0), person("b", 0, 0.2), person("b", 1, 0.4), person("a", 0, 0.6)]
    assert made.observe_all(stream) == ()
    assert made.status().standing == "undecided"
    assert made.advance(at(1.5)[0]) == ()
    assert made.status().standing == "within"


def test_alerts_are_at_the_ends_of_days() -> None:
    made = monitor()
    assert made.observe_all([person("a", 1, 0.25), person("b", 0, 0.5)]) == ()
    # The event is in the third day of the stream: it is not counted when the first one ends.
    raised = made.observe(person("b", 1, 2.5))
    assert [(one.kind, one.time, one.trials) for one in raised] == [("raised", *at(1.25), 2)]
    made.observe_all([person("b", 1, 2.6)] * 20)
    assert made.advance(at(3.24)[0]) == ()
    assert made.status().comparisons[0].in_alert
    (cleared,) = made.advance(at(3.25)[0])
    assert (cleared.kind, cleared.time) == ("cleared", *at(3.25))


def test_trials_leave_a_sliding_window_at_the_end_of_a_day() -> None:
    made = monitor(window={"kind": "sliding", "length": "60 h"})
    made.observe_all([person("a", 1, 0), person("b", 0, 0)])
    alerts = made.advance(at(900.0)[0])
    assert [(one.kind, one.time) for one in alerts] == [
        ("raised", *at(1)),
        ("cleared", *at(3)),
    ]


def test_a_long_silence_costs_nothing() -> None:
    made = monitor("1 s", window={"kind": "sliding", "length": "2 s"})
    made.observe_all([person("a", 1, 0), person("b", 0, 0)])
    assert len(made.advance(at(999.0)[0])) == 2
    assert made.advance(at(1000.0)[0]) == ()


def test_evidence_is_looked_at_when_a_day_ends() -> None:
    watched = {"property": "demographic_parity", "bound": 0.1, "check": "1 d"}
    made = testsgd.load_monitor({"properties": [watched]}, clock=lambda: 0.0)
    for number in range(300):
        assert made.observe(person("ab"[number % 2], number % 2, number / 1000)) == ()
    (alert,) = made.observe(person("a", 0, 1.2))
    assert (alert.rule, alert.trials, alert.time) == ("evidence", 300, *at(1))


def test_it_goes_on_from_a_state() -> None:
    plain = monitor()
    plain.observe_all([person("a", 1, 0), person("b", 0, 0.1), person("b", 0, 1.1)])
    state = json.loads(json.dumps(plain.to_state()))
    again = Monitor.from_state(plain.specification, state, clock=lambda: 0.0)
    assert again.status() == plain.status()
    later = at(7)[0]
    assert again.advance(later) == plain.advance(later)


def test_events_need_a_time() -> None:
    with pytest.raises(testsgd.errors.EventError, match="time"):
        monitor().observe({"group": "a", "decision": 1})


@pytest.mark.parametrize(
    ("check", "window"),
    [("daily", {}), ("1 y", {}), (0, {}), ("1 d", {"kind": "tumbling", "length": 5})],
)
def test_a_period_that_cannot_be(check: Any, window: dict[str, Any]) -> None:
    watched = {"property": "demographic_parity", "bound": 0.1, "check": check}
    document = {"properties": [watched], **({"window": window} if window else {})}
    with pytest.raises(SpecificationError, match=r"properties\.0\.check"):
        MonitorSpecification.from_dict(document)


def test_a_number_of_seconds_is_a_period_too() -> None:
    watched = {"property": "demographic_parity", "bound": 0.1}
    both = [
        MonitorSpecification.from_dict({"properties": [watched | {"check": check}]})
        for check in (86_400, "24 h")
    ]
    assert both[0] == both[1]
    assert both[0].digest() == both[1].digest()
    assert both[0].monitored[0].period == DAY


def test_the_report_says_how_long_a_period_is() -> None:
    watched = {"property": "demographic_parity", "bound": 0.1, "check": "2 d"}
    result = testsgd.monitor({"properties": [watched]}, [person("a", 1, 0), person("b", 1, 5)])
    (known,) = result.summary.properties
    assert (known.check, known.period) == ("period", 2 * DAY)
