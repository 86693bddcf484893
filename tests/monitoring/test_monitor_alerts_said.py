"""What an alert says, and when it is raised and cleared."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from monitor_streams import monitor_of

import testsgd
from testsgd.monitoring import Alert


def said(document: dict[str, Any], events: list[dict[str, Any]]) -> list[tuple[str, str, int, str]]:
    monitor = monitor_of(document)
    return [
        (one.kind, one.property, one.trials, str(one.bias)) for one in monitor.observe_all(events)
    ]


def parity(**keys: Any) -> dict[str, Any]:
    return {"property": "demographic_parity", "bound": "1/3", "rule": "estimate"} | keys


def test_an_alert_is_raised_and_cleared_when_the_bias_passes_the_bound() -> None:
    people = ["a1", "b1", "b0", "b0", "a0", "b1", "b1", "b0", "b0", "a1", "a1"]
    events = [{"group": one[0], "decision": int(one[1])} for one in people]
    # Of a and b: 1/1 and 1/1, 1/2, 1/3; a 1/2; b 2/4, 3/5, 3/6, 3/7; a 2/3, 3/4.
    assert said({"properties": [parity()]}, events) == [
        ("raised", "demographic_parity", 3, "1/2"),
        ("cleared", "demographic_parity", 5, "1/6"),
    ]
    assert said({"properties": [parity(bound="5/21")]}, events)[2:] == [
        ("raised", "demographic_parity", 11, "9/28")
    ]


def test_each_property_and_each_stratum_has_its_own_alerts() -> None:
    document = {
        "properties": [parity(), parity(condition_on=["site"]), parity(property="disparate_impact")]
    }
    events = [
        {"group": "a", "decision": 1, "site": "x"},
        {"group": "b", "decision": 0, "site": "y"},
        {"group": "b", "decision": 1, "site": "x"},
        {"group": "a", "decision": 1, "site": "y"},
    ]
    assert said(document, events) == [
        ("raised", "demographic_parity", 2, "1"),
        ("raised", "disparate_impact", 2, "1"),
        ("raised", "demographic_parity given site", 2, "1"),
    ]


def test_alerts_as_json() -> None:
    document = {
        "name": "loans",
        "events": {"time": "when"},
        "properties": [
            parity(condition_on=["site"]),
            parity(property="disparate_impact", rule="evidence"),
        ],
    }
    monitor, alerts = monitor_of(document), []
    for number in range(200):
        alerts += monitor.observe(
            {"group": "ab"[number % 2], "decision": number % 2, "site": 1, "when": number}
        )
    assert [one.rule for one in alerts] == ["estimate", "evidence"]
    for one in alerts:
        written = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert Alert.from_dict(written) == one
        assert written["alert"] == "raised"
        assert Fraction(written["bias_exact"]) == 1
        assert (written["highest"], written["lowest"]) == ("b", "a")
        assert written["time"] == written["trials"] - 1
    assert alerts[0].to_dict()["conditions"] == {"site": "1"}
    assert alerts[0].interval is None
    assert alerts[1].interval is not None
    assert 1 / 3 < alerts[1].interval[0] <= alerts[1].interval[1] <= 1


def test_three_groups_name_those_that_are_farthest_apart() -> None:
    monitor = monitor_of({"properties": [parity(bound="1/2")]})
    events = [
        {"group": group, "decision": decision}
        for group, decision in [("m", 1), ("m", 0), ("h", 1), ("l", 0)]
    ]
    (alert,) = monitor.observe_all(events)
    assert (alert.highest, alert.lowest, alert.bias, alert.trials) == ("h", "l", 1, 4)


def test_both_parts_of_equalized_odds_raise_alerts() -> None:
    document = {"properties": [parity(property="equalized_odds")]}
    events = [
        {"group": group, "decision": decision, "label": label}
        for group, decision, label in [("a", 1, 0), ("b", 0, 0), ("a", 1, 1), ("b", 0, 1)]
    ]
    assert said(document, events) == [
        ("raised", "predictive_equality", 2, "1"),
        ("raised", "equal_opportunity", 4, "1"),
    ]


# Others read these lines: a key is added at most, and never named anew.
KEYS = [
    *(
        "alert",
        "id",
        "monitor",
        "fingerprint",
        "property",
        "rule",
        "conditions",
        "window",
        "trials",
    ),
    *("time", "time_iso", "bias", "bias_exact", "interval", "bound", "bound_exact"),
    *("highest", "lowest", "groups"),
]


def test_an_alert_says_of_whom_it_is_and_what_was_counted() -> None:
    document = {
        "name": "loans",
        "estimate": {"prior": "1/2", "strength": 2},
        "properties": [parity(bound="1/10")],
    }
    monitor = monitor_of(document)
    people = [("a", 1), ("a", 1), ("b", 0)]
    time = 1_767_225_600  # the first of January 2026
    (alert,) = monitor.observe_all(
        {"group": group, "decision": decision, "time": time + place}
        for place, (group, decision) in enumerate(people)
    )
    told = alert.to_dict()
    assert list(told) == KEYS
    assert (told["monitor"], told["fingerprint"]) == ("loans", monitor.specification.digest())
    assert (told["time"], told["time_iso"]) == (time + 2, "2026-01-01T00:00:02Z")
    assert (told["bound"], told["bound_exact"]) == (0.1, "1/10")
    keys = ["group", "numerator", "denominator", "rate", "estimate", "estimate_exact"]
    assert [list(group) for group in told["groups"]] == [keys, keys]
    assert [list(group.values()) for group in told["groups"]] == [
        ["a", 2, 2, 1.0, 0.75, "3/4"],
        ["b", 0, 1, 0.0, 1 / 3, "1/3"],
    ]


def test_an_id_is_that_of_one_alert_and_the_same_when_the_events_come_again() -> None:
    def ids(name: str, people: str) -> list[str]:
        monitor = monitor_of({"name": name, "properties": [parity(bound="1/3")]})
        events = [
            {"group": "ab"[place % 2], "decision": int(one)} for place, one in enumerate(people)
        ]
        return [alert.id for alert in monitor.observe_all(events)]

    found = ids("loans", "1011001011010110")
    assert len(found) == len(set(found)) > 3
    assert ids("loans", "1011001011010110") == found
    assert not set(ids("others", "1011001011010110")) & set(found)
    assert not set(ids("loans", "0111001011010110")) & set(found)


def test_a_clock_of_the_streams_own_makes_no_dates() -> None:
    monitor = monitor_of({"properties": [parity()]})
    events = [{"group": "a", "decision": 1}, {"group": "b", "decision": 0, "time": 90}]
    (alert,) = monitor.observe_all(events)
    assert (alert.to_dict()["time"], alert.to_dict()["time_iso"]) == (90, None)


def test_an_alert_that_is_over_is_not_said_of_the_present() -> None:
    document = {
        "events": {"decision": "decision"},
        "properties": [{"property": "demographic_parity", "bound": "1/10", "rule": "estimate"}],
    }
    biased = [{"group": "ab"[n % 2], "decision": n % 2} for n in range(40)]
    equal = [{"group": "ab"[n % 2], "decision": n // 2 % 2} for n in range(2000)]
    now, over = testsgd.monitor(document, biased), testsgd.monitor(document, biased + equal)
    assert now.exit_code == over.exit_code == 1
    assert not over.summary.comparisons[0].in_alert
    beginnings = [result.verdict.headline.split(" in demographic")[0] for result in (now, over)]
    assert beginnings[0] != beginnings[1]


def test_a_rate_that_is_believed_is_said_beside_the_observed_one() -> None:
    def headline(strength: int) -> str:
        document = {
            "events": {"decision": "decision"},
            "estimate": {"prior": 0.5, "strength": strength},
            "properties": [{"property": "demographic_parity", "bound": "1/2", "rule": "estimate"}],
        }
        decided = [("f", 1)] * 10 + [("m", 1)] * 4 + [("m", 0)] * 6
        events = [{"group": group, "decision": decision} for group, decision in decided]
        return testsgd.monitor(document, events).verdict.headline

    # (10 + 12) / (10 + 24) and (4 + 12) / (10 + 24).
    assert all(figure in headline(24) for figure in ("64.7%", "47.1%", "100.0%", "40.0%"))
    assert "observed" not in headline(0)
