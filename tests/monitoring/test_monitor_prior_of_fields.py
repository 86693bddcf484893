"""A prior that the stream tells: places over applicants, say."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import testsgd
from testsgd.errors import EventError, SpecificationError
from testsgd.monitoring import Monitor, MonitorSpecification

RATIO = {"numerator": "places", "denominator": "applicants", "before": "1/4"}


def document(**tables: Any) -> dict[str, Any]:
    watched = {"property": "demographic_parity", "bound": "1/5", "rule": "estimate"}
    return {
        "estimate": {"prior": RATIO, "strength": 6},
        "properties": [watched | {"empty_group": "zero"}],
        "groups": {"names": ["a", "b"]},
        **tables,
    }


TOLD = st.fixed_dictionaries(
    {},
    optional={
        "places": st.sampled_from([0, 1, 3, 30, "2", None, ""]),
        "applicants": st.sampled_from([0, 4, 10, "7", None]),
    },
)
PEOPLE = st.fixed_dictionaries({"group": st.sampled_from("ab"), "decision": st.integers(0, 1)})
EVENTS = st.lists(
    st.one_of(
        TOLD.filter(lambda told: any(value not in (None, "") for value in told.values())),
        st.tuples(PEOPLE, TOLD).map(lambda both: both[0] | both[1]),
    ),
    max_size=15,
)


def prior_after(events: list[dict[str, Any]]) -> Fraction:
    last: dict[str, Fraction | None] = {"places": None, "applicants": None}
    for event in events:
        for field in last:
            if event.get(field) not in (None, ""):
                last[field] = Fraction(event[field])
    places, applicants = last["places"], last["applicants"]
    if places is None or applicants is None or applicants == 0:
        return Fraction(1, 4)
    return min(Fraction(1), places / applicants)


def rates_after(events: list[dict[str, Any]]) -> dict[str, Fraction]:
    prior = prior_after(events)
    found = {}
    for group in "ab":
        decisions = [one["decision"] for one in events if one.get("group") == group]
        found[group] = (sum(decisions) + prior * 6) / (len(decisions) + 6)
    return found


@settings(max_examples=150)
@given(EVENTS)
def test_every_estimate_and_alert(events: list[dict[str, Any]]) -> None:
    monitor = testsgd.load_monitor(document())
    for place, event in enumerate(events, start=1):
        before = monitor.status()
        alerts = monitor.observe(event)
        monitor = Monitor.from_state(
            monitor.specification, json.loads(json.dumps(monitor.to_state()))
        )
        status = monitor.status()
        if not status.comparisons:
            assert not any("group" in one for one in events[:place])
            continue
        (comparison,) = status.comparisons
        rates = rates_after(events[:place])
        assert {group.name: group.estimate for group in comparison.groups} == rates
        above = abs(rates["a"] - rates["b"]) > Fraction(1, 5)
        assert comparison.in_alert == above
        was = bool(before.comparisons) and before.comparisons[0].in_alert
        kinds = [] if was == above else ["raised" if above else "cleared"]
        assert [alert.kind for alert in alerts] == kinds


def test_what_is_told_again_by_a_repeated_event_does_not_count() -> None:
    monitor = testsgd.load_monitor(document())
    first = {"id": 1, "group": "a", "decision": 1, "places": 1, "applicants": 10}
    monitor.observe(first)
    monitor.observe({"places": 5})
    before = monitor.status()
    monitor.observe(first)
    assert monitor.status().comparisons == before.comparisons
    assert monitor.status().repeated == 1


def test_a_period_ends_with_what_was_told_before() -> None:
    tables = document(time={"max_skew": "10 d"})
    tables["properties"][0] |= {"check": "1 d"}
    # By the prior of 0 the estimates are 1/7 and 0, by one of 1 they are 1 and 1.
    tables["properties"][0]["bound"] = "1/8"
    strict = testsgd.load_monitor(tables, clock=lambda: 0.0)
    strict.observe({"group": "a", "decision": 1, "places": 0, "applicants": 9, "time": -900_000})
    strict.observe({"group": "b", "decision": 0, "time": -899_999})
    (alert,) = strict.observe({"places": 9, "time": -900_000 + 86_400})
    assert (alert.kind, alert.bias) == ("raised", Fraction(1, 7))


def test_a_table_tells_them_too(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_text("group,decision,places,applicants\na,1,1,\nb,0,,3\n")
    result = testsgd.monitor(document(), file)
    (comparison,) = result.monitor.status().comparisons
    assert [group.estimate for group in comparison.groups] == [Fraction(3, 7), Fraction(2, 7)]
    assert "places / applicants" in result.summary.settings.prior


@pytest.mark.parametrize("value", [-1, "many", True, [1]])
def test_a_value_that_is_no_number(value: Any) -> None:
    monitor = testsgd.load_monitor(document())
    before = monitor.to_state()
    with pytest.raises(EventError, match="places"):
        monitor.observe({"group": "a", "decision": 1, "places": value})
    assert monitor.to_state() == before


@pytest.mark.parametrize(
    "prior",
    [
        {"numerator": "places"},
        {"numerator": "places", "denominator": "places"},
        {"numerator": "places", "denominator": ""},
        {"numerator": "places", "denominator": "group"},
        {**RATIO, "before": 2},
        {**RATIO, "after": 1},
    ],
)
def test_fields_that_make_no_prior(prior: dict[str, Any]) -> None:
    with pytest.raises(SpecificationError, match="estimate"):
        MonitorSpecification.from_dict(document(estimate={"prior": prior, "strength": 1}))


def test_it_is_written_and_read_again() -> None:
    made = MonitorSpecification.from_dict(document())
    again = MonitorSpecification.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert again.digest() == made.digest()
