"""Logs with a type for each event, as Figure 1 of the paper shows one, are read as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import testsgd
from testsgd.errors import SpecificationError
from testsgd.monitoring import MonitorSpecification

LOG = """time,event,id,group,risk
2013-01-02,SCREEN,0,A,HIGH
2013-01-02,SCREEN,1,B,LOW
2013-01-03,RECID.,1,-,-
2013-01-03,SCREEN,2,B,HIGH
"""
EVENTS: dict[str, Any] = {
    "decision": "risk",
    "favourable": ["HIGH"],
    "unfavourable": ["LOW"],
    "label": "event",
    "positive": ["RECID."],
    "negative": ["NO RECID."],
    "empty": ["-", "SCREEN"],
}


def watched(**changes: Any) -> dict[str, Any]:
    return {
        "events": EVENTS | changes,
        "trials": {"deadline": "730 d"},
        "properties": [{"property": "equalized_odds", "bound": 0.1, "rule": "estimate"}],
    }


def test_figure_1_is_read_from_a_file_and_from_mappings(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    header, *rows = [line.split(",") for line in LOG.split()]
    mappings = [dict(zip(header, row, strict=True)) for row in rows]
    for events in (path, mappings):
        result = testsgd.monitor(watched(), events)
        monitor = result.monitor
        assert monitor is not None
        assert (result.summary.stream.refused, monitor.status().decided) == (0, 3)
        monitor.advance("2015-06-01")
        counted = {
            one.property.name: {
                group.name: (group.numerator, group.denominator) for group in one.groups
            }
            for one in monitor.status().comparisons
        }
        # The one who offended again is B with a low risk; the others had not, two years later.
        assert counted["equal_opportunity"]["B"] == (0, 1)
        assert counted["predictive_equality"] == {"A": (1, 1), "B": (1, 1)}


def test_an_expression_is_not_about_an_empty_field() -> None:
    document = watched(decision="risk > 6", empty=["-", "SCREEN"])
    for key in ("favourable", "unfavourable"):
        del document["events"][key]
    monitor = testsgd.load_monitor(document)
    monitor.observe({"id": 1, "event": "SCREEN", "group": "A", "risk": "8", "time": 0})
    monitor.observe({"id": 1, "event": "RECID.", "group": "-", "risk": "-", "time": 5})
    assert (monitor.status().decided, monitor.status().repeated) == (1, 0)


def test_a_value_cannot_both_stand_for_none_and_mean_something() -> None:
    with pytest.raises(SpecificationError, match="empty"):
        MonitorSpecification.from_dict(watched(empty=["HIGH"]))
    without = watched()
    del without["events"]["empty"]
    assert "empty" not in MonitorSpecification.from_dict(without).to_dict()["events"]
