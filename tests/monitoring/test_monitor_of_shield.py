"""The monitor, fed with the shield's output, never raises an alert at the horizon.

And fed with what was recommended, it raises one for exactly the horizons in which the bound is
broken. Whoever comes, whatever is recommended, whatever it costs, and whatever the labels are.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from monitor_streams import monitor_of
from shielded_streams import (
    LABELLED,
    PROPERTIES,
    Decided,
    Person,
    bias_of,
    monitor_of_periods,
    shield_document,
    shield_of,
)

import testsgd
from testsgd.errors import EventError
from testsgd.monitoring import Monitor, MonitorStatus
from testsgd.serving import answer
from testsgd.shielding import Shield, load_shield

LONGEST = {("a", "b"): 7, ("a", "b", "c"): 4}


@st.composite
def shields(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """The name of a property, and a shield of it."""
    groups = draw(st.sampled_from(list(LONGEST)))
    name = draw(st.sampled_from(list(PROPERTIES)))
    return name, shield_document(
        name,
        bound=str(draw(st.fractions(0, 1, max_denominator=9))),
        empty_group=draw(st.sampled_from(["vacuous", "zero"])),
        groups=groups,
        length=draw(st.integers(1, LONGEST[groups])),
        costs=draw(st.sampled_from([(), (1.0,), (0.5, 4.0)])),
    )


@st.composite
def crowds(draw: st.DrawFn, document: dict[str, Any], strangers: bool) -> list[Person]:
    """Somewhat more than two horizons of people, some of groups that nobody knows."""
    groups, length = document["groups"]["names"], document["horizon"]["length"]
    # Whole blocks of one kind are what breaks a bound.
    kinds = st.builds(
        Person,
        st.sampled_from([*groups, *groups, "stranger"] if strangers else groups),
        st.integers(0, 1),
        st.sampled_from([0.0, 0.5, 2.0, 1e9]),
        st.integers(0, 1),
    )
    blocks = draw(st.lists(st.tuples(kinds, st.integers(1, 3)), min_size=length, max_size=24))
    return [person for person, times in blocks for _ in range(times)][: 3 * length + 2]


def horizons(trace: list[Decided], length: int) -> list[list[Decided]]:
    """The whole ones."""
    whole = len(trace) - len(trace) % length
    return [trace[start : start + length] for start in range(0, whole, length)]


def check_kept(monitor: Monitor, trace: list[Decided], name: str, shield: Shield) -> None:
    """No alert; and not for want of looking: the windows are the horizons, with their biases."""
    status, groups = monitor.status(), shield.inputs.groups
    empty = shield.specification.fairness.empty_group
    counted = [one for one in trace if one.group in groups]
    periods = horizons(counted, shield.specification.horizon.length)
    assert status.alerts == 0
    assert status.windows_judged == len(periods)
    assert status.unknown == len(trace) - len(counted)
    for one in status.comparisons:
        biases = [bias_of(period, name, groups, empty) for period in periods]
        assert [window.bias for window in one.windows] == biases
        assert max(biases, default=0) <= shield.specification.bound
        assert not one.in_alert


@settings(max_examples=100)
@given(data=st.data(), asked=shields())
def test_what_decide_returns(data: st.DataObject, asked: tuple[str, dict[str, Any]]) -> None:
    name, document = asked
    shield = shield_of(document)
    monitor, trace = monitor_of_periods(shield), []
    for number, person in enumerate(data.draw(crowds(document, strangers=True))):
        decision = shield.decide(person.group, person.recommendation, person.cost)
        event = {"group": person.group, "decision": decision}
        named = data.draw(st.booleans())
        name_of = {"id": number} if named else {}
        assert monitor.observe(event | name_of) == ()
        if name in LABELLED and person.group in shield.inputs.groups:
            shield.observe(person.label)
            assert monitor.observe({"label": person.label} | name_of) == ()
        trace.append(Decided(person.group, decision, person.label))
    check_kept(monitor, trace, name, shield)


@settings(max_examples=60)
@given(data=st.data(), asked=shields())
def test_the_journal(data: st.DataObject, asked: tuple[str, dict[str, Any]]) -> None:
    name, document = asked
    trace = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "decisions.jsonl"
        named = data.draw(st.booleans())
        with shield_of(document, journal=path) as shield:
            for number, person in enumerate(data.draw(crowds(document, strangers=True))):
                event = str(number) if named else None
                decision = shield.decide(
                    person.group, person.recommendation, person.cost, event=event
                )
                if name in LABELLED and person.group in shield.inputs.groups:
                    shield.observe(person.label, event=event)
                trace.append(Decided(person.group, decision, person.label))
        monitor = monitor_of_periods(shield, events={"others": "ignore"})
        for line in path.read_text().splitlines():
            assert monitor.observe(json.loads(line)) == ()
    assert monitor.status().ignored == 1  # the first line
    check_kept(monitor, trace, name, shield)


@settings(max_examples=60)
@given(data=st.data(), asked=shields())
def test_the_answers_of_the_service(data: st.DataObject, asked: tuple[str, dict[str, Any]]) -> None:
    name, document = asked
    shield = shield_of(document)
    monitor, trace = monitor_of_periods(shield), []
    named, asks_again = data.draw(st.booleans()), data.draw(st.booleans())
    for number, person in enumerate(data.draw(crowds(document, strangers=True))):
        asked_for = {
            "group": person.group,
            "recommendation": person.recommendation,
            "cost": person.cost,
        }
        labelled = name in LABELLED and person.group in shield.inputs.groups
        events = [asked_for, {"label": person.label}] if labelled else [asked_for]
        for event in events:
            if named:
                event["id"] = f"person {number}"
            # After a failure a caller asks again, and gets the same answer.
            for _ in range(2 if named and asks_again else 1):
                said = json.loads(json.dumps(answer(shield, event)))
                assert monitor.observe(said) == ()
            if "decision" in said:
                trace.append(Decided(person.group, said["decision"], person.label))
    check_kept(monitor, trace, name, shield)


@settings(max_examples=100)
@given(data=st.data(), asked=shields())
def test_without_a_shield(data: st.DataObject, asked: tuple[str, dict[str, Any]]) -> None:
    name, document = asked
    shield = shield_of(document)
    monitor, alerts = monitor_of_periods(shield), []
    people = data.draw(crowds(document, strangers=False))
    for person in people:
        alerts += monitor.observe({"group": person.group, "decision": person.recommendation})
        if name in LABELLED:
            alerts += monitor.observe({"label": person.label})
    trace = [Decided(one.group, one.recommendation, one.label) for one in people]
    biases = [
        bias_of(period, name, shield.inputs.groups, shield.specification.fairness.empty_group)
        for period in horizons(trace, shield.specification.horizon.length)
    ]
    assert [(one.kind, one.window, one.bias) for one in alerts] == [
        ("raised", number, bias)
        for number, bias in enumerate(biases)
        if bias > shield.specification.bound
    ]


def unfair(name: str) -> list[Person]:
    """One group gets everything that it wants, the other nothing; labels alternate."""
    # What is counted of precision is who is accepted, so there labels make the difference.
    labels = [[1], [0]] if name == "precision" else [[0, 1], [0, 1]]
    accepts = [[1], [1]] if name == "precision" else [[1], [0]]
    if name == "odds":
        accepts = [[1, 1, 1, 0], [0]]
    people = []
    for turn in range(40):
        place, again = turn % 2, turn // 2
        people.append(
            Person(
                "ab"[place],
                accepts[place][again % len(accepts[place])],
                1.0,
                labels[place][again % len(labels[place])],
            )
        )
    return people


@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@pytest.mark.parametrize("name", list(PROPERTIES))
def test_the_same_people_with_and_without_a_shield(name: str, empty_group: str) -> None:
    document = shield_document(name, bound="1/4", empty_group=empty_group, length=8)
    shield = shield_of(document)
    kept, broken = monitor_of_periods(shield), monitor_of_periods(shield)
    for person in unfair(name):
        decision = shield.decide(person.group, person.recommendation)
        events = [{"group": person.group, "decision": decision}]
        plain = [{"group": person.group, "decision": person.recommendation}]
        if name in LABELLED:
            shield.observe(person.label)
            events.append({"label": person.label})
            plain.append({"label": person.label})
        assert kept.observe_all(events) == ()
        broken.observe_all(plain)
    shielded, unshielded = kept.status(), broken.status()
    assert shielded.windows_judged == unshielded.windows_judged == 5
    assert shielded.alerts == 0
    assert unshielded.alerts == 5


def test_a_monitor_of_everything_sees_more_than_the_horizons() -> None:
    # The bound is that of each horizon. Within one, and over all, the bias may well be larger.
    shield = shield_of(shield_document("demographic_parity", bound="1/4", length=8))
    every = monitor_of(
        {
            "window": {"kind": "tumbling", "length": 8},
            "properties": [{"property": "demographic_parity", "bound": "1/4", "check": "every"}],
        }
    )
    for person in unfair("demographic_parity"):
        decision = shield.decide(person.group, person.recommendation)
        every.observe({"group": person.group, "decision": decision})
    status: MonitorStatus = every.status()
    (one,) = status.comparisons
    assert one.windows_above == 0
    assert status.alerts > 0


def test_a_journal_of_an_overruled_shield_is_no_log_of_its_decisions(tmp_path: Path) -> None:
    document = {
        "fairness": {"property": "demographic_parity", "bound": "1/4"},
        "groups": {"names": ["female", "male"]},
        "horizon": {"length": 4},
    }
    testsgd.synthesize_shield(document).save(tmp_path / "shield.npz")
    journal = tmp_path / "loans.journal"
    with load_shield(tmp_path / "shield.npz", journal=journal) as running:
        for number, group in enumerate(["female", "male"] * 2):
            running.decide(group, 1, event=str(number))
        watched = {
            "events": {"others": "ignore"},
            "properties": [{"property": "demographic_parity", "bound": "1/4", "rule": "estimate"}],
        }
        assert testsgd.monitor(watched, journal).exit_code == 0
        running.observe(decision=0, event="0")
    with pytest.raises(EventError, match="overruled"):
        testsgd.monitor(watched, journal)
