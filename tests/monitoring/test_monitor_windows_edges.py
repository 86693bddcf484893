"""Windows at their edges, and that windows that are over leave nothing behind."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from monitor_streams import monitor_of


def parity(window: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "groups": {"names": ["a", "b"]},
        "window": window,
        "properties": [
            {"property": "demographic_parity", "bound": "1/10", "rule": "estimate"} | keys
        ],
    }


def test_tumbling_windows_are_judged_one_by_one() -> None:
    monitor = monitor_of(parity({"kind": "tumbling", "length": 2}))
    said = [
        (len(monitor.observe({"group": group, "decision": decision})))
        for group, decision in [("a", 1), ("b", 1), ("a", 1), ("b", 0), ("a", 0), ("a", 1)]
    ]
    assert said == [0, 0, 0, 1, 0, 0]
    (one,) = monitor.status().comparisons
    assert [(w.window, w.trials, w.bias, w.above) for w in one.windows] == [
        (0, 2, 0, False),
        (1, 2, 1, True),
        (2, 2, 0, False),
    ]
    assert (one.windows_judged, one.windows_above, one.alerts) == (3, 1, 1)
    assert one.bias == Fraction(1, 4)


@pytest.mark.parametrize("kind", ["tumbling", "sliding"])
def test_a_window_in_time_has_its_begin_and_not_its_end(kind: str) -> None:
    # Ten seconds from 5 on: what happens at 15 is in the next one. A sliding one has both ends.
    monitor = monitor_of(parity({"kind": kind, "length": "10 s"}))
    assert monitor.observe({"group": "a", "decision": 1, "time": 5}) == ()
    alerts = monitor.observe({"group": "b", "decision": 0, "time": 15})
    assert [one.kind for one in alerts] == ([] if kind == "tumbling" else ["raised"])
    later = monitor.advance(15.5)
    assert [one.kind for one in later] == ([] if kind == "tumbling" else ["cleared"])
    assert monitor.status().windows_judged == (1 if kind == "tumbling" else 0)


def test_windows_that_are_over_leave_nothing_behind() -> None:
    # Of two properties one counts at the decision and one when the label comes.
    document = parity({"kind": "tumbling", "length": 2})
    document["properties"].append({"property": "equal_opportunity", "bound": "1/10"})
    document["trials"] = {"repeated": "new"}
    monitor = monitor_of(document)

    def kept(windows: int) -> int:
        for _ in range(windows):
            for person in range(4):
                monitor.observe({"id": person, "group": "ab"[person % 2], "decision": 1})
            for person in range(4):
                monitor.observe({"id": person, "label": 1})
        return sum(len(judge["window"][1]) for judge in monitor.to_state()["judges"])

    assert kept(1) == kept(50) == 0


def test_labels_that_come_late_keep_only_their_own_window_open() -> None:
    document = parity({"kind": "tumbling", "length": 2}, property="equal_opportunity")
    monitor = monitor_of(document)
    for person, (group, decision) in enumerate([("a", 1), ("b", 0), ("a", 1), ("b", 1)]):
        monitor.observe({"id": person, "group": group, "decision": decision})
    assert monitor.observe({"id": 2, "label": 1}) == ()
    assert monitor.observe({"id": 3, "label": 1}) == ()
    assert [w.window for w in monitor.status().comparisons[0].windows] == [1]
    assert monitor.observe({"id": 0, "label": 1}) == ()
    (alert,) = monitor.observe({"id": 1, "label": 1})
    assert (alert.window, alert.bias, alert.trials) == (0, 1, 2)


def test_a_sliding_window_is_that_of_all_strata_together() -> None:
    monitor = monitor_of(parity({"kind": "sliding", "length": 2}, condition_on=["site"]))
    people = [("a", 1, "x"), ("b", 0, "x"), ("a", 1, "y")]
    alerts = [
        one
        for group, decision, site in people
        for one in monitor.observe({"group": group, "decision": decision, "site": site})
    ]
    assert [(one.kind, one.conditions) for one in alerts] == [
        ("raised", (("site", "x"),)),
        ("cleared", (("site", "x"),)),
    ]


def test_who_was_found_before_and_is_not_in_the_sliding_window() -> None:
    # Nobody is named, so groups are found as they come. By "zero" a group of which nobody is in
    # the window has the rate 0.
    document = parity({"kind": "sliding", "length": 2}, empty_group="zero")
    del document["groups"]
    monitor = monitor_of(document)
    for group, decision in [("a", 0), ("b", 0), ("b", 0)]:
        assert monitor.observe({"group": group, "decision": decision}) == ()
    (alert,) = monitor.observe({"group": "b", "decision": 1})
    assert (alert.bias, alert.highest, alert.lowest) == (Fraction(1, 2), "b", "a")


def test_a_deadline_counts_when_it_is_over_and_not_when_that_is_noticed() -> None:
    # The first trial counts at 5 and has left the window of ten seconds long before 100.
    def bias(*beats: float) -> Fraction:
        document = parity({"kind": "sliding", "length": "10 s"}, property="equal_opportunity")
        document["trials"] = {"deadline": 5, "without_label": 1}
        monitor = monitor_of(document)
        monitor.observe({"id": 1, "group": "a", "decision": 1, "time": 0})
        for beat in beats:
            monitor.advance(beat)
        monitor.observe({"id": 2, "group": "b", "decision": 0, "time": 94})
        monitor.observe({"id": 3, "group": "b", "decision": 0, "time": 100})
        (one,) = monitor.status().comparisons
        assert one.trials == 2
        return one.bias

    assert bias() == bias(6) == 0
