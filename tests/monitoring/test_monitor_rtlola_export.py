"""Exports to RTLola say event by event what the monitor says, by an interpreter of their own."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rtlola_interpreter import Rtlola

from testsgd.cli.main import _run
from testsgd.errors import EventError, SpecificationError
from testsgd.monitoring import Monitor, MonitorSpecification, monitor_to_rtlola

STREAMS = 100
EVENTS = 60


def watched(name: str, bound: Any, **more: Any) -> dict[str, Any]:
    return {"property": name, "bound": bound, "rule": "estimate", **more}


SPECIFICATIONS: dict[str, dict[str, Any]] = {
    "parity, any groups": {"properties": [watched("demographic_parity", 0.1)]},
    "parity with a prior, named groups": {
        "groups": {"names": ["a", "b"], "unknown": "pass"},
        "estimate": {"prior": 0.3, "strength": 10},
        "properties": [watched("demographic_parity", 0.05), watched("disparate_impact", "1/7")],
    },
    "conditional parity, a third as prior": {
        "estimate": {"prior": "1/3", "strength": "5/2"},
        "properties": [
            watched("demographic_parity", 0.2, condition_on=["place"]),
            watched("disparate_impact", 0.3, condition_on=["place", "hour"]),
            watched("demographic_parity", 0.1),
        ],
    },
    "equalized odds of expressions": {
        "events": {"decision": "score > 6", "label": {"when": "outcome in {again, twice}"}},
        "estimate": {"strength": 4},
        "properties": [watched("equalized_odds", 0.25), watched("demographic_parity", 0.15)],
    },
    "groups by expressions": {
        "groups": [
            {"name": "young women", "when": "sex = f and 18 <= age < 40"},
            {"name": "others", "when": "not (sex = f) or age > 60"},
        ],
        "events": {"label": "outcome", "positive": ["again", "twice"], "negative": ["no"]},
        "properties": [
            watched("equal_opportunity", 0.3, condition_on=["place"]),
            watched(
                "custom",
                0.2,
                numerator=["reject:1", "accept:0"],
                denominator=["accept", "reject"],
            ),
        ],
    },
    "ids that come again": {
        "trials": {"repeated": "new"},
        "groups": {"names": ["a", "c"], "unknown": "pass"},
        "properties": [watched("demographic_parity", 0.1), watched("disparate_impact", 0.4)],
    },
    "texts for decisions, truth values for labels": {
        "events": {
            "id": "case number",
            "group": "not",
            "decision": "input",
            "favourable": ["granted", True],
            "unfavourable": ["refused", "later", False],
            "label": "true label",
            "positive": [True],
            "negative": [False],
        },
        "properties": [watched("equalized_odds", 0.2)],
    },
    "ids of two fields": {
        "events": {"id": ["applicant", "the job"]},
        "properties": [
            watched("equalized_odds", 0.2),
            watched("demographic_parity", 0.1, condition_on=["the job"]),
        ],
    },
    "ids of two fields that come again": {
        "events": {"id": ["applicant", "job"]},
        "trials": {"repeated": "new"},
        "properties": [watched("demographic_parity", 0.1)],
    },
}

# Labels come within 20 seconds of the decision, or are assumed or missed.
DEADLINES: dict[str, dict[str, Any]] = {
    "odds, counted at the deadline": {
        "trials": {"deadline": 20},
        "properties": [watched("equalized_odds", 0.15), watched("demographic_parity", 0.1)],
    },
    "odds of named groups, once known, positive if not": {
        "groups": {"names": ["a", "b"], "unknown": "pass"},
        "trials": {"deadline": 20, "count": "known", "without_label": 1},
        "estimate": {"prior": 0.4, "strength": 3},
        "properties": [watched("equalized_odds", "1/7")],
    },
    "given values, dropped without a label": {
        "trials": {"deadline": "20 s", "without_label": "drop"},
        "properties": [
            watched("equal_opportunity", 0.2, condition_on=["place"]),
            watched("predictive_equality", 0.1),
            watched("disparate_impact", 0.2, condition_on=["hour"]),
        ],
    },
    "two fields of an id, once known, dropped without a label": {
        "events": {"id": ["applicant", "the job"], "time": "the time"},
        "trials": {"deadline": 20, "count": "known", "without_label": "drop"},
        "properties": [
            watched(
                "custom",
                0.2,
                numerator=["reject:1", "accept:0"],
                denominator=["accept", "reject"],
            ),
            watched("equal_opportunity", 0.2, condition_on=["place", "the job"]),
        ],
    },
    "expressions, positive without a label": {
        "groups": [
            {"name": "young women", "when": "sex = f and 18 <= age < 40"},
            {"name": "others", "when": "not (sex = f) or age > 60"},
        ],
        "events": {"decision": "score > 6", "label": {"when": "outcome in {again, twice}"}},
        "trials": {"deadline": 20, "without_label": 1},
        "properties": [
            watched("equalized_odds", 0.2),
            watched("custom", 0.1, numerator=["accept:1"], denominator=["accept:1", "reject:0"]),
        ],
    },
}


def person(chance: random.Random) -> list[dict[str, Any]]:
    """Return what may be said of a person, in parts of which each is said as a whole."""
    group = chance.choice("aabbc")
    outcome = chance.choice(["again", "twice", "no", "no"])
    decision = int(chance.random() < {"a": 0.7, "b": 0.4, "c": 0.5}[group])
    score = chance.choice([3, 6, 6.5, 9])
    return [
        {"group": group, "not": group, "sex": chance.choice("fm"), "age": chance.randint(16, 80)},
        {
            "decision": decision,
            "score": score,
            "input": "granted" if decision else chance.choice(["refused", "later"]),
        },
        {"label": int(outcome != "no"), "outcome": outcome, "true label": outcome != "no"},
        {"place": chance.choice(["north", "south"])},
        {"hour": chance.choice([9, 10])},
    ]


def events_of(
    specification: MonitorSpecification, chance: random.Random, *, joined: bool
) -> Iterator[dict[str, Any]]:
    """Yield random events; some of them are wrong, or said again."""
    id_fields = specification.events.id_fields
    if not joined:
        for number in range(EVENTS):
            event = {key: value for part in person(chance) for key, value in part.items()}
            if len(id_fields) > 1:
                event |= {field: chance.choice("xy") for field in id_fields[1:]}
                event[id_fields[0]] = number  # Of its own, so that each event is a trial.
            yield event
        return
    again = specification.trials.repeated == "new"
    people = [person(chance) for _ in range(EVENTS // 3)]
    for _ in range(EVENTS):
        number = chance.randrange(8 if again else len(people))
        known = person(chance) if again else people[number]
        parts = chance.sample(known, chance.randint(1, 4))
        event = {key: value for part in parts for key, value in part.items()}
        # Two people share each of two fields, but not both.
        values = [number] if len(id_fields) == 1 else divmod(number, 3)
        named = zip(id_fields, values, strict=True)
        yield {field: chance.choice([value, str(value)]) for field, value in named} | event


def inputs_of(event: dict[str, Any], export: Rtlola) -> dict[str, Any]:
    """Return an event as its inputs: texts where these are texts, under the names they have."""
    inputs = {}
    for field, value in event.items():
        plain = re.sub(r"\W", "_", field)
        for name in {plain, f"field_{plain}"} & export.inputs.keys():
            inputs[name] = str(value) if export.inputs[name] == "String" else value
    return inputs


def assert_the_same(monitor: Monitor, alerts: set[Any], export: Rtlola, *, exact: bool) -> None:
    """Compare all estimates, biases and triggers with those of a monitor."""
    comparisons = monitor.status().comparisons
    for prop in monitor.specification.monitored:
        stem = re.sub(r"\W", "_", prop.name)
        mine = [one for one in comparisons if one.property == prop]
        rates: dict[tuple[str, ...], Any] = {}
        above: set[Any] = set()
        ties = False
        biases = export.values(f"{stem}_bias")
        for one in mine:
            given = tuple(value for _, value in one.conditions)
            for group in one.groups:
                if group.denominator:
                    assert group.estimate is not None
                    rates[(group.name, *given)] = group.estimate
            bias = biases.get(given, 0)
            ties |= abs(one.estimate - prop.bound) < Fraction(1, 10**9)
            assert bias == one.estimate if exact else bias == pytest.approx(float(one.estimate))
            if one.in_alert:
                above.add((prop.name, one.conditions))
        found = export.values(f"{stem}_rate")
        assert found == rates if exact else found == pytest.approx(rates_as_floats(rates))
        assert above == {alert for alert in alerts if alert[0] == prop.name}
        (message,) = [text for text in export.triggers if text.startswith(f"{prop.name} is above")]
        if exact or not ties:
            assert export.triggers[message] == bool(above)


def rates_as_floats(rates: dict[tuple[str, ...], Fraction]) -> dict[tuple[str, ...], float]:
    return {key: float(rate) for key, rate in rates.items()}


def random_stream(seed: int) -> tuple[MonitorSpecification, bool, random.Random]:
    tables = list(SPECIFICATIONS.values())
    specification = MonitorSpecification.from_dict(tables[seed % len(tables)])
    chance = random.Random(seed)
    joined = specification.trials.repeated == "new" or seed // len(tables) % 3 < 2
    return specification, joined, chance


def compare_after_every_event(
    specification: MonitorSpecification, events: Iterable[dict[str, Any]], *, joined: bool
) -> Monitor:
    """Compare an export with the monitor after every event that is right; return the monitor."""
    text = monitor_to_rtlola(specification, joined=joined)
    exports = {True: Rtlola(text), False: Rtlola(text, exact=False)}
    monitor = Monitor(specification)
    alerts: set[Any] = set()
    counted = 0
    for event in events:
        try:
            raised = monitor.observe(event)
        except EventError:
            continue  # a wrong event changes nothing, and is none of the stream
        counted += 1
        for alert in raised:
            change = alerts.add if alert.kind == "raised" else alerts.discard
            change((alert.property, alert.conditions))
        for exact, export in exports.items():
            export.step(inputs_of(event, export))
            assert_the_same(monitor, alerts, export, exact=exact)
    assert counted > EVENTS // 4
    return monitor


@pytest.mark.parametrize("seed", range(STREAMS))
def test_an_export_says_what_the_monitor_says_after_every_event(seed: int) -> None:
    specification, joined, chance = random_stream(seed)
    events = events_of(specification, chance, joined=joined)
    compare_after_every_event(specification, events, joined=joined)


# The log of Figure 1: the type of an event is its label, of which a screening says nothing.
TYPED: dict[str, dict[str, Any]] = {
    "groups as they come": {},
    "named groups, a prior": {
        "groups": {"names": ["a", "b"], "unknown": "pass"},
        "estimate": {"prior": 0.3, "strength": 4},
    },
    "groups by one field": {
        "groups": [
            {"name": "first", "when": "group = a"},
            {"name": "second", "when": "group in {b, c}"},
        ],
    },
    "a deadline": {"trials": {"deadline": 20}},
}


def typed_specification(name: str) -> MonitorSpecification:
    tables: dict[str, Any] = {
        "events": {
            "decision": "risk",
            "favourable": ["HIGH"],
            "unfavourable": ["LOW"],
            "label": "event",
            "positive": ["RECID."],
            "negative": ["NO RECID."],
            "empty": ["-", "SCREEN"],
        },
        "properties": [watched("equalized_odds", 0.15), watched("demographic_parity", 0.1)],
    }
    return MonitorSpecification.from_dict(tables | TYPED[name])


def typed_rows(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Yield rows of a log with all columns: screenings, and later what became of the people."""
    screened: list[str] = []
    time = 100.0
    for number in range(EVENTS):
        time += chance.choice([0, 0.5, 3, 15])
        if screened and chance.random() < 0.5:
            identity = screened.pop(chance.randrange(len(screened)))
            event = chance.choice(["RECID.", "NO RECID."])
            yield {"time": time, "event": event, "id": identity, "group": "-", "risk": "-"}
            continue
        group = chance.choice("aabbc")
        risk = chance.choice(["HIGH", "LOW", "LOW"] if group == "a" else ["HIGH", "HIGH", "LOW"])
        screened.append(str(number))
        yield {
            "time": time,
            "event": "SCREEN",
            "id": str(number),
            "group": group,
            # Some screenings are without an outcome.
            "risk": risk if chance.random() < 0.9 else "-",
        }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", TYPED)
def test_texts_that_say_nothing_are_absent_values(name: str, seed: int) -> None:
    specification = typed_specification(name)
    export = Rtlola(monitor_to_rtlola(specification))
    monitor = Monitor(specification)
    alerts: set[Any] = set()
    kinds = []
    for row in typed_rows(random.Random(seed)):
        for alert in monitor.observe(row):
            kinds.append(alert.kind)
            change = alerts.add if alert.kind == "raised" else alerts.discard
            change((alert.property, alert.conditions))
        # As the comment of the export says: "#" stands in the place of these texts.
        cells = {field: "#" if text in {"-", "SCREEN"} else text for field, text in row.items()}
        said = {field: text for field, text in cells.items() if text != "#"}
        export.step(inputs_of(said, export))
        assert_the_same(monitor, alerts, export, exact=True)
    assert "raised" in kinds


def test_the_export_says_which_texts_say_nothing() -> None:
    text = monitor_to_rtlola(typed_specification("groups as they come"))
    comments = " ".join(line for line in text.splitlines() if line.startswith("//"))
    assert all(f'"{empty}"' in comments for empty in ("-", "SCREEN"))
    assert " # " in comments


def timed_stream(seed: int) -> tuple[MonitorSpecification, list[dict[str, Any]]]:
    """Return a specification with a deadline, and a random stream whose events have times."""
    tables = list(DEADLINES.values())
    specification = MonitorSpecification.from_dict(tables[seed % len(tables)])
    chance = random.Random(1000 + seed)
    time = 100.0
    events = []
    for event in events_of(specification, chance, joined=True):
        # Several at one moment, some exactly at a deadline, and pauses in which many trials end.
        time += chance.choice([0, 0, 0.25, 1, 2.5, 20, 45])
        events.append(event | {specification.events.time: time})
    return specification, events


@pytest.mark.parametrize("seed", range(STREAMS))
def test_an_export_with_a_deadline_says_what_the_monitor_says(seed: int) -> None:
    specification, events = timed_stream(seed)
    compare_after_every_event(specification, events, joined=True)


def test_random_streams_with_deadlines_meet_all_that_a_deadline_does() -> None:
    late, dropped, at_once = 0, 0, 0
    kinds: list[str] = []
    for seed in range(STREAMS):
        specification, events = timed_stream(seed)
        monitor = Monitor(specification)
        for event in events:
            before = judged(monitor)
            try:
                kinds += [alert.kind for alert in monitor.observe(event)]
            except EventError:
                continue
            at_once = max(at_once, judged(monitor) - before)
        status = monitor.status()
        late += status.late
        dropped += status.dropped
    assert min(kinds.count("raised"), kinds.count("cleared")) > 10
    # Labels after the deadline, trials without one, and events at which several trials end.
    assert min(late, dropped) > 10
    assert at_once > 2


def judged(monitor: Monitor) -> int:
    """Return how many trials the comparison with labels has counted that has counted most."""
    return max(
        (one.trials for one in monitor.status().comparisons if one.property.fairness.labelled),
        default=0,
    )


def test_random_streams_raise_and_clear_alerts() -> None:
    kinds: list[str] = []
    for seed in range(STREAMS):
        specification, joined, chance = random_stream(seed)
        monitor = Monitor(specification)
        for event in events_of(specification, chance, joined=joined):
            try:
                kinds += [alert.kind for alert in monitor.observe(event)]
            except EventError:
                continue
    assert min(kinds.count("raised"), kinds.count("cleared")) > 10


def test_the_interpreter_sums_by_instance_as_the_language_does() -> None:
    sums = Rtlola(
        """
        input user : String
        input value : Int64
        output amount(u) : Int64
          spawn @user when value > 0 with user
          eval @(user && value) when user == u with value + amount(u).last(or: 0)
          close @user when amount(u).hold(or: 0) > 9
        output most : Int64 @user := amount.aggregate(over_instances: all, using: max)
          .defaults(to: 0)
        output of_b : Int64 @user :=
          amount.aggregate(over_instances: all(where: u => u == "b"), using: sum).defaults(to: -1)
        trigger @user most > 4 "large"
        """
    )
    seen = []
    for user, value in [("a", 2), ("b", 4), ("a", 3), ("c", -7), ("b", 6), ("b", 1)]:
        sums.step({"user": user, "value": value})
        states = (sums.values(name) for name in ("amount", "most", "of_b"))
        seen.append((*states, sums.triggers["large"]))
    assert seen == [
        ({("a",): 2}, {(): 2}, {(): -1}, False),
        ({("a",): 2, ("b",): 4}, {(): 4}, {(): 4}, False),
        ({("a",): 5, ("b",): 4}, {(): 5}, {(): 4}, True),
        ({("a",): 5, ("b",): 4}, {(): 5}, {(): 4}, True),
        ({("a",): 5}, {(): 10}, {(): 10}, True),  # b is closed at the end of the step
        ({("a",): 5, ("b",): 1}, {(): 5}, {(): 1}, True),
    ]


def test_the_interpreter_adds_up_new_instances_as_the_language_does() -> None:
    # Every instance that is not smaller than the input counts up, as in a test of RTLola's own.
    fresh = Rtlola(
        """
        input i : Int64
        output o(p) : Int64
          spawn with i
          eval @i when p >= i with o(p).last(or: 0) + 1
        output every : Int64 @i := o.aggregate(over_instances: fresh, using: sum)
        output some : Int64 @i := o.aggregate(over_instances: fresh(where: p => p > 2), using: sum)
        """
    )
    seen = []
    for value in (3, 2, 4, 2):
        fresh.step({"i": value})
        seen.append((fresh.values("every")[()], fresh.values("some")[()]))
    assert seen == [(1, 1), (3, 2), (1, 1), (7, 5)]


def test_trials_are_closed_only_where_ids_come_again() -> None:
    closing = {
        name
        for name, tables in SPECIFICATIONS.items()
        if "close" in monitor_to_rtlola(tables).split()
    }
    assert closing == {"ids that come again", "ids of two fields that come again"}


PARITY = watched("demographic_parity", 0.1)
UNSAID: list[tuple[str, dict[str, Any]]] = [
    ("window.kind", {"window": {"kind": "sliding", "length": 100}}),
    ("window.kind", {"window": {"kind": "tumbling", "length": "30 d"}}),
    ("trials.decision_deadline", {"trials": {"decision_deadline": "2 d"}}),
    (
        "trials.repeated",
        {"trials": {"repeated": "new"}, "properties": [watched("equal_opportunity", 0.1)]},
    ),
    (
        "trials.repeated",
        {
            "trials": {"repeated": "new"},
            "properties": [watched("demographic_parity", 0.1, condition_on=["place"])],
        },
    ),
    ("time.lateness", {"time": {"lateness": "1 h"}}),
    (
        "time.unit",
        {
            "time": {"unit": "ms"},
            "trials": {"deadline": 20},
            "properties": [watched("equal_opportunity", 0.1)],
        },
    ),
    ("estimate.prior", {"estimate": {"prior": "overall", "strength": 3}}),
    ("events.empty", {"events": {"empty": ["-"], "decision": "score > 6 or place = north"}}),
    (
        "events.empty",
        {
            "events": {"empty": ["-"]},
            "groups": [{"name": "a", "when": "x = 1"}, {"name": "b", "when": "y = 1"}],
        },
    ),
    (
        "estimate.prior",
        {"estimate": {"prior": {"numerator": "places", "denominator": "all"}, "strength": 3}},
    ),
    ("estimate.groups", {"estimate": {"groups": {"a": {"prior": 0.3}}}}),
    (
        "properties.0.estimate",
        {"properties": [watched("demographic_parity", 0.1, estimate={"strength": 9})]},
    ),
    (
        "properties.0.check",
        {"properties": [watched("demographic_parity", 0.1, check="1 d")]},
    ),
    (
        "properties.0.favourable_within",
        {"properties": [watched("demographic_parity", 0.1, favourable_within="30 d")]},
    ),
    ("events.unfavourable", {"events": {"favourable": ["yes"], "unfavourable": [0]}}),
    ("events.favourable", {"events": {"favourable": ['"'], "unfavourable": ["no"]}}),
    ("events.decision", {"events": {"decision": "score > 6 or place = missing"}}),
    ("events.decision", {"events": {"decision": "score > 6 or score = high"}}),
    ("groups.names", {"groups": {"names": ["a\\b", "c"]}}),
    (
        "groups.by.1.when",
        {"groups": [{"name": "a", "when": "x = 1"}, {"name": "b", "when": "x = missing"}]},
    ),
    ("properties.0.rule", {"properties": [{"property": "demographic_parity", "bound": 0.1}]}),
    (
        "properties.1.empty_group",
        {"properties": [PARITY, watched("disparate_impact", 0.1, empty_group="zero")]},
    ),
    (
        "properties.0.numerator",
        {"properties": [watched("custom", 0.1, numerator=["accept"], denominator=["reject"])]},
    ),
]


@pytest.mark.parametrize(("key", "tables"), UNSAID)
def test_what_it_cannot_say_is_refused_by_its_key(key: str, tables: dict[str, Any]) -> None:
    with pytest.raises(SpecificationError) as refused:
        monitor_to_rtlola({"properties": [PARITY], **tables})
    assert refused.value.where == key
    assert refused.value.remedy


@pytest.mark.parametrize("assumed", [0, 1])
@pytest.mark.parametrize(("came", "counts"), [(120.0, True), (120.25, False)])
def test_a_label_counts_until_the_deadline(came: float, counts: bool, assumed: int) -> None:
    tables = {
        "trials": {"deadline": 20, "without_label": assumed},
        "properties": [watched("equal_opportunity", 0.1)],
    }
    export = Rtlola(monitor_to_rtlola(tables))
    label = 1 - assumed
    export.step({"id": "1", "group": "a", "time": 90.0})
    export.step({"id": "1", "decision": 1, "time": 100.0})
    export.step({"id": "1", "label": label, "time": came})
    export.step({"id": "2", "group": "a", "time": 121.0})
    export.step({"id": "1", "label": label, "time": 150.0})
    positive = label if counts else assumed
    # Only those with a label of 1 are compared, and each of them once.
    assert export.values("equal_opportunity_all") == {("a",): positive}
    assert export.values("equal_opportunity_favoured") == {("a",): positive}


def test_a_check_of_times_is_said_to_be_left_out() -> None:
    plain = monitor_to_rtlola({"properties": [PARITY]})
    text = monitor_to_rtlola({"properties": [PARITY], "time": {"max_skew": "1 h"}})
    more = [line for line in text.splitlines() if line not in plain.splitlines()]
    assert [line[:3] for line in more] == ["// "]
    assert "max_skew" in more[0]


def test_a_deadline_needs_ids_where_labels_count() -> None:
    tables = {"trials": {"deadline": "2 d"}, "properties": [watched("equal_opportunity", 0.1)]}
    with pytest.raises(SpecificationError) as refused:
        monitor_to_rtlola(tables, joined=False)
    assert refused.value.where == "trials.deadline"
    # Without labels nothing waits for it.
    unlabelled = {"trials": {"deadline": "2 d"}, "properties": [PARITY]}
    for joined in (True, False):
        plain = monitor_to_rtlola({"properties": [PARITY]}, joined=joined)
        assert monitor_to_rtlola(unlabelled, joined=joined) == plain


def test_a_table_that_plays_no_part_is_no_obstacle() -> None:
    tables = {"evidence": {"confidence": 0.9}, "estimate": {"prior": "overall"}}
    assert monitor_to_rtlola({"properties": [PARITY], **tables})


SAID = """name = "loans"

[[properties]]
property = "demographic_parity"
bound = 0.1
rule = "estimate"
"""


def test_the_command_prints_the_text_or_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "loans.toml", tmp_path / "loans.lola"
    source.write_text(SAID)
    text = monitor_to_rtlola(source)
    assert _run(["monitor", "export", str(source), "--to", "rtlola"]) == 0
    assert capsys.readouterr().out == text
    command = ["monitor", "export", str(source), "--whole", "--out", str(out)]
    # A file is not replaced, as it may have been changed by hand.
    assert [_run(command), _run(command), _run([*command, "--force"])] == [0, 2, 0]
    assert out.read_text() == monitor_to_rtlola(source, joined=False) != text


@pytest.mark.parametrize(
    ("rule", "language", "named"),
    [("evidence", "rtlola", "properties.0.rule"), ("estimate", "tessla", "--to")],
)
def test_the_command_refuses_what_it_cannot_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rule: str, language: str, named: str
) -> None:
    source = tmp_path / "loans.toml"
    source.write_text(SAID.replace("estimate", rule))
    assert _run(["monitor", "export", str(source), "--to", language]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    (line,) = answer.err.splitlines()
    assert named in line
