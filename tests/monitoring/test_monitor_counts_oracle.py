"""After every event a monitor has counted what a look at the whole stream counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_streams import (
    check_comparisons,
    check_counters,
    documents,
    expected,
    heard,
    monitor_of,
    streams,
)
from offline_monitor import OfflineMonitor


def follow(document: dict[str, Any], events: list[dict[str, Any]]) -> None:
    offline, monitor = OfflineMonitor(document, events), monitor_of(document)
    said = offline.alerts()
    for place, event in enumerate(events):
        alerts = monitor.observe(event)
        status = monitor.status()
        check_counters(status, offline.trials.counters(place + 1))
        check_comparisons(offline, status, place)
        wanted = [one for one in said if one.place == place]
        assert heard(alerts) == expected(wanted)
        ends = {
            (one.property, one.conditions, one.window, one.kind, one.trials): one for one in wanted
        }
        for alert in alerts:
            one = ends[alert.property, alert.conditions, alert.window, alert.kind, alert.trials]
            if one.highest:
                assert alert.highest in one.highest
                assert alert.lowest in one.lowest
    assert status.alerts == sum(one.kind == "raised" for one in said)


@settings(max_examples=150)
@given(st.data(), documents(("all",)))
def test_all_so_far(data: st.DataObject, document: dict[str, Any]) -> None:
    follow(document, data.draw(streams(document)))


@pytest.mark.slow
@settings(max_examples=150)
@given(st.data(), documents(("tumbling",)))
def test_tumbling(data: st.DataObject, document: dict[str, Any]) -> None:
    follow(document, data.draw(streams(document)))


@settings(max_examples=150)
@given(st.data(), documents(("sliding",)))
def test_sliding(data: st.DataObject, document: dict[str, Any]) -> None:
    follow(document, data.draw(streams(document)))
