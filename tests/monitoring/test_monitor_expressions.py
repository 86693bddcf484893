"""Monitors whose decision, label or groups are expressions count as if fields said the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import DataError, EventError, SpecificationError
from testsgd.monitoring import MonitorResult
from testsgd.monitoring.specification import MonitorSpecification
from testsgd.shielding import ShieldSpecification

PARITY = {"property": "demographic_parity", "bound": "1/10"}
ODDS = {"property": "equalized_odds", "bound": "1/10"}
GROUPS = [
    {"name": "young women", "when": "sex = female and age < 25"},
    {"name": "others", "when": "not (sex = female and age < 25) and age != missing"},
]
BY_EXPRESSION = {
    "events": {"decision": "score > 6", "label": {"when": "arrests >= 1 or 'new crime' = yes"}},
    "groups": GROUPS,
    "properties": [PARITY, ODDS],
}
BY_FIELD = {
    "groups": {"names": ["young women", "others"], "unknown": "pass"},
    "properties": [PARITY, ODDS],
}


def people(number: int = 400) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    return [
        {
            "id": person,
            "sex": str(random.choice(["female", "male"])),
            "age": None if random.random() < 0.1 else int(random.integers(18, 40)),
            "score": int(random.integers(1, 11)),
            "arrests": int(random.integers(0, 3)),
            "new crime": str(random.choice(["yes", "no"])),
        }
        for person in range(number)
    ]


def in_fields(person: dict[str, Any]) -> dict[str, Any]:
    age, sex = person["age"], person["sex"]
    if age is not None and sex == "female" and age < 25:
        group = "young women"
    else:
        group = "nobody" if age is None else "others"
    return {
        "id": person["id"],
        "group": group,
        "decision": int(person["score"] > 6),
        "label": int(person["arrests"] >= 1 or person["new crime"] == "yes"),
    }


def counts(result: testsgd.MonitorResult) -> list[Any]:
    return [
        (known.property, [(one.name, one.numerator, one.denominator) for one in known.groups])
        for known in result.summary.comparisons
    ] + [result.summary.stream.unknown, result.summary.stream.decided]


def test_events_are_counted_as_fields_would_have_them() -> None:
    wanted = counts(testsgd.monitor(BY_FIELD, map(in_fields, people())))
    assert counts(testsgd.monitor(BY_EXPRESSION, people())) == wanted
    assert wanted[-2] > 10


def test_a_frame_and_a_file_are_read_alike(tmp_path: Path) -> None:
    wanted = counts(testsgd.monitor(BY_EXPRESSION, people()))
    frame = pd.DataFrame(people())
    assert counts(testsgd.monitor(BY_EXPRESSION, frame)) == wanted
    frame.to_csv(tmp_path / "events.csv", index=False)
    assert counts(testsgd.monitor(BY_EXPRESSION, tmp_path / "events.csv")) == wanted


def test_a_table_without_a_column_of_an_expression_is_refused() -> None:
    frame = pd.DataFrame(people()).drop(columns=["age", "id"])
    with pytest.raises(testsgd.errors.DataError, match="age"):
        testsgd.monitor(BY_EXPRESSION, frame)


def test_labels_come_later() -> None:
    later = {"trials": {"deadline": "10 d"}, **BY_EXPRESSION}
    monitor = testsgd.load_monitor(later, clock=lambda: 1e6)
    first = {"id": 1, "sex": "female", "age": 20, "score": 7, "time": 0}
    monitor.observe(first)
    monitor.observe({"id": 1, "arrests": 1, "time": 5})
    monitor.observe({"id": 2, "sex": "female", "age": 20, "score": None, "time": 5})
    monitor.advance(12 * 86400)
    status = monitor.status()
    assert (status.decided, status.open) == (1, 1)
    rates = {known.property.name: known.groups[0] for known in status.comparisons}
    assert rates["equal_opportunity"].denominator == 1


def test_everybody_is_in_the_first_group_that_holds() -> None:
    bands = [
        {"name": "under 25", "when": "age < 25"},
        {"name": "under 40", "when": "age < 40"},
        {"name": "older", "when": "age >= 40"},
    ]
    ages = [18, 24, 25, 39, 40, 80]
    events = [{"age": age, "decision": 1} for age in ages]
    result = testsgd.monitor({"groups": bands, "properties": [PARITY]}, events)
    (comparison,) = result.summary.comparisons
    assert [group.denominator for group in comparison.groups] == [2, 2, 2]


def test_groups_of_nobody_and_of_everybody_are_said() -> None:
    groups = [
        {"name": "A", "when": "sex = a"},
        {"name": "B", "when": "sex = b"},
        {"name": "C", "when": "sex = c"},
    ]
    watched = {"groups": groups, "properties": [PARITY]}
    events = [{"sex": "ab"[n % 2], "decision": 1} for n in range(20)]
    said = " ".join(testsgd.monitor(watched, events).verdict.sentences)
    assert "“C”" in said
    assert "“A”" not in said
    said = " ".join(testsgd.monitor(watched, events[::2]).verdict.sentences)
    assert "“A”" in said
    assert "“B”" not in said
    assert "“" not in " ".join(
        testsgd.monitor(watched, [*events, {"sex": "c", "decision": 0}]).verdict.sentences
    )


def test_an_event_whose_value_does_not_compare_changes_nothing() -> None:
    monitor = testsgd.load_monitor(BY_EXPRESSION)
    with pytest.raises(EventError) as caught:
        monitor.observe({"id": 1, "sex": "female", "age": "young", "score": 3})
    assert caught.value.where == "age"
    assert monitor.status().events == 0


def test_a_specification_is_the_same_after_a_round() -> None:
    specification = MonitorSpecification.from_dict(BY_EXPRESSION)
    again = MonitorSpecification.from_dict(specification.to_dict())
    assert again == specification
    assert again.digest() == specification.digest()
    plain = {**BY_EXPRESSION, "groups": {"by": GROUPS}}
    assert MonitorSpecification.from_dict(plain) == specification


def test_a_state_goes_on(tmp_path: Path) -> None:
    whole = counts(testsgd.monitor(BY_EXPRESSION, people()))
    testsgd.monitor(BY_EXPRESSION, people()[:150], state=tmp_path / "state.json")
    rest = testsgd.monitor(BY_EXPRESSION, people()[150:], state=tmp_path / "state.json")
    assert counts(rest) == whole


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"groups": [{"name": "A", "when": "sex ="}, GROUPS[0]]}, "groups"),
        ({"groups": [{"name": "A", "when": "sex"}, GROUPS[0]]}, "groups"),
        ({"groups": [GROUPS[0]]}, "groups"),
        ({"groups": [GROUPS[0], GROUPS[0]]}, "groups"),
        ({"groups": [{"name": "A"}, GROUPS[0]]}, "groups"),
        ({"groups": [{"name": 3, "when": "a = 1"}, GROUPS[0]]}, "groups"),
        ({"groups": [{"name": "(no group)", "when": "a = 1"}, GROUPS[0]]}, "groups"),
        ({"groups": []}, "groups"),
        ({"groups": ["sex = a", "sex = b"]}, "groups"),
        ({"groups": {"by": GROUPS, "names": ["a", "b"]}}, "groups"),
        ({"events": {"decision": "score >"}}, "events.decision"),
        ({"events": {"decision": {"when": "score"}}}, "events.decision"),
        ({"events": {"decision": {"if": "score > 1"}}}, "events.decision"),
        ({"events": {"decision": {"when": 7}}}, "events.decision"),
        ({"events": {"decision": "(" * 60 + "a = 1" + ")" * 60}}, "events.decision"),
        ({"events": {"decision": "a = " + "x" * 1_000_000}}, "events.decision"),
        ({"events": {"decision": "a > 6", "favourable": ["yes"]}}, "events.favourable"),
    ],
)
def test_a_mistake_is_named_by_its_key(changed: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        MonitorSpecification.from_dict({**BY_EXPRESSION, **changed})
    assert key in str(caught.value)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("written", [{1: 1, 0: 0}, {1: "Yes", 0: "No"}, {1: "granted", 0: ""}])
@pytest.mark.parametrize("rule", [{"bound": "1/10"}, {"bound": 1, "rule": "estimate"}])
def test_a_decision_that_never_holds_is_no_evidence_of_equal_treatment(
    written: dict[int, Any], rule: dict[str, Any]
) -> None:
    rate = {"a": 0.8, "b": 0.4}
    random = np.random.default_rng(1)
    people = [
        {"sex": "ab"[n % 2], "decision": written[int(random.random() < rate["ab"[n % 2]])], "id": n}
        for n in range(4000)
    ]
    document = {
        "events": {"group": "sex", "decision": "decision = yes"},
        "properties": [PARITY | rule],
    }
    result = testsgd.monitor(document, people)
    assert result.exit_code == 3
    assert any("decision = yes" in sentence for sentence in result.verdict.sentences)
    right = [person | {"decision": "yes" if n % 4 > 1 else "no"} for n, person in enumerate(people)]
    assert testsgd.monitor(document, right).exit_code == 0


def test_a_label_that_never_holds_is_no_evidence_of_equal_treatment() -> None:
    document = {
        "events": {"label": "label = yes"},
        "properties": [
            {"property": "predictive_equality", "bound": 1, "rule": "estimate"},
        ],
    }
    people = [{"group": "ab"[n % 2], "decision": 1, "label": n % 3 % 2} for n in range(400)]
    result = testsgd.monitor(document, people)
    assert result.exit_code == 3
    assert any("label = yes" in sentence for sentence in result.verdict.sentences)
    words = [person | {"label": ["no", "yes"][person["label"]]} for person in people]
    assert testsgd.monitor(document, words).exit_code == 0


def test_that_a_decision_held_is_known_to_a_run_that_goes_on(tmp_path: Path) -> None:
    document = {
        "events": {"decision": "decision = yes"},
        "properties": [PARITY | {"bound": 1, "rule": "estimate"}],
    }
    first = [{"group": "ab"[n % 2], "decision": "yes"} for n in range(4)]
    second = [{"group": "ab"[n % 2], "decision": "no"} for n in range(400)]
    state = tmp_path / "state.json"
    assert testsgd.monitor(document, first, state=state).exit_code == 0
    assert testsgd.monitor(document, second, state=state).exit_code == 0


@pytest.mark.parametrize("field", ["decision", "label"])
@pytest.mark.parametrize(
    "never", ["score = missing", "score > 6 and score < 3", "score in {a, b} and score = c"]
)
def test_a_decision_or_label_that_can_never_hold_is_refused(field: str, never: str) -> None:
    with pytest.raises(SpecificationError) as error:
        MonitorSpecification.from_dict({"events": {field: never}, "properties": [ODDS]})
    assert field in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "sometimes",
    [
        "score = missing or score > 6",
        "score = missing and age > 6",
        "score > 5 and score < 6",
        "score = 7 and score != '7'",
    ],
)
def test_a_decision_that_holds_for_some_values_is_allowed(sometimes: str) -> None:
    MonitorSpecification.from_dict({"events": {"decision": sometimes}, "properties": [PARITY]})


@pytest.mark.parametrize(
    "conditions",
    [
        ["age > 5 and age < 3", "age >= 3"],
        ["age > 5", "age > 5"],
        ["age > 5", "sex = f and age > 6"],
        ["age > 5 or age <= 5 or age = missing", "sex = f"],
    ],
)
def test_groups_that_nobody_can_be_in_are_refused(conditions: list[str]) -> None:
    groups = [{"name": f"g{place}", "when": when} for place, when in enumerate(conditions)]
    with pytest.raises(SpecificationError) as error:
        MonitorSpecification.from_dict({"groups": groups, "properties": [PARITY]})
    assert "when" in str(error.value)
    shield = {"fairness": PARITY, "groups": groups, "horizon": {"length": 10}}
    with pytest.raises(SpecificationError):
        ShieldSpecification.from_dict(shield)
    groups[-1]["when"] = "sex = m" if "or" not in conditions[0] else groups[0]["when"]
    groups[0]["when"] = "sex = f"
    MonitorSpecification.from_dict({"groups": groups, "properties": [PARITY]})


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize(
    ("tables", "field"),
    [
        ({"events": {"decision": "scor > 6"}}, "scor"),
        ({"events": {"decision": "score > 6 or points > 6"}}, "points"),
        ({"groups": [{"name": "f", "when": "sax = female"}, GROUPS[1]]}, "sax"),
        ({"events": {"decision": "score > 6", "label": "arests >= 1"}}, "arests"),
    ],
)
def test_a_field_of_an_expression_that_no_event_has_is_named(
    tables: dict[str, Any], field: str, with_ids: bool
) -> None:
    events = people(40)
    for event in events if not with_ids else ():
        del event["id"]
    errors: list[Any] = []
    with pytest.raises(DataError) as error:
        testsgd.monitor(
            BY_EXPRESSION | tables, events, on_error=lambda error, number: errors.append(error)
        )
    message = str(error.value)
    assert f"'{field}'" in message
    assert "score" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("tables", "left_out"),
    [
        # A label may come later, and a stream of labels alone goes with another one.
        ({}, ["arrests", "new crime"]),
        ({}, ["sex", "age", "score"]),
        ({"events": {"decision": "score > 6", "label": "score2 > 6"}}, []),
        # Events leave out what is missing.
        ({"events": {"decision": "score > 6 or override = missing"}}, []),
    ],
)
def test_fields_of_expressions_that_need_not_be_there_are_not_refused(
    tables: dict[str, Any], left_out: list[str]
) -> None:
    events = [
        {field: value for field, value in person.items() if field not in left_out}
        for person in people(20)
    ]
    document = BY_EXPRESSION | tables
    assert testsgd.monitor(document, events).exit_code != 2
    assert testsgd.monitor(document, []).exit_code == 3


def test_the_fields_of_a_resumed_stream_may_have_come_before(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    first = people(20)
    for event in first:
        del event["arrests"], event["new crime"]
    testsgd.monitor(BY_EXPRESSION, first, state=state)
    later = [{"id": person, "arrests": 0, "score": None} for person in range(20)]
    assert testsgd.monitor(BY_EXPRESSION, later, state=state).exit_code != 2


@pytest.mark.parametrize("rule", [{"bound": "1/10"}, {"bound": 1, "rule": "estimate"}])
def test_that_a_decision_always_held_is_said(
    rule: dict[str, Any],
) -> None:
    document = {"events": {"decision": "score > 0"}, "properties": [PARITY | rule]}
    people = [{"group": "ab"[n % 2], "score": 1 + n % 7, "id": n} for n in range(4000)]
    result = testsgd.monitor(document, people)
    assert result.exit_code == 0
    assert _says_always(result)
    some = [person | {"score": n % 4 // 2} for n, person in enumerate(people)]
    assert not _says_always(testsgd.monitor(document, some))
    # A refusal that is never sent is no trial for which it held.
    refused = [{"group": "ab"[n % 2], "id": f"r{n}", "time": float(n)} for n in range(4000)]
    taken = [person | {"time": 4000.0 + n} for n, person in enumerate(people)]
    document["trials"] = {"decision_deadline": 10, "without_decision": "refused"}
    assert not _says_always(testsgd.monitor(document, refused + taken))


def _says_always(result: MonitorResult) -> bool:
    return any("“score > 0”" in sentence for sentence in result.verdict.sentences)


def test_an_alert_matters_more_than_a_decision_that_always_holds() -> None:
    counted = {"property": "custom", "bound": "1/10", "rule": "estimate"}
    counted |= {"numerator": ["accept:1"], "denominator": ["accept", "reject"]}
    document = {"events": {"decision": "score > 0"}, "properties": [counted]}
    people = [{"group": "ab"[n % 2], "score": 1, "label": n % 2} for n in range(400)]
    assert testsgd.monitor(document, people).exit_code == 1


@pytest.mark.parametrize(
    ("decision", "values", "unnamed"),
    [
        ("outcome = yes", ["yes", "no"], []),
        ("outcome = yes", ["yes", "no", "Yes", "YES"], ["no", "Yes", "YES"]),
        ("outcome in {yes, granted}", ["yes", "granted", "no", "given"], ["no", "given"]),
        ("outcome = yes or outcome = granted", ["granted", "no", "later"], ["no", "later"]),
        ("not outcome = no", ["no", "yes", "refused"], ["yes", "refused"]),
        ("outcome = yes and outcome != no", ["yes", "no", "later"], []),
        ("outcome = 1", [1, "1", 1.0, 0, "0", None, ""], []),
        ("outcome = true", [True, "True", False, "FALSE", "no"], ["True", "false", "FALSE", "no"]),
        ("outcome > 5", [1, 2, 3, 9], []),
        ("outcome = yes and age > 3", ["yes", "no", "later"], []),
        ("outcome = yes", ["yes", "no", "n/a", "none such"], ["no", "none such"]),
    ],
)
def test_values_of_a_decision_that_are_not_named_are_listed(
    decision: str, values: list[Any], unnamed: list[str]
) -> None:
    document = {
        "events": {"decision": decision, "empty": ["n/a"]},
        "properties": [PARITY | {"bound": "1/10"}],
    }
    people = [
        {"group": "ab"[n % 2], "outcome": values[n // 2 % len(values)], "age": 4, "id": n}
        for n in range(40 * len(values))
    ]
    result = testsgd.monitor(document, people)
    listed = [text.strip("'") for text in result.summary.stream.unnamed_decisions]
    assert (listed if len(listed) > 1 else []) == unnamed
    text = result.to_markdown()
    assert all(f"'{value}'" in text for value in unnamed)


def test_values_that_a_group_or_label_names_are_no_unnamed_decisions() -> None:
    document = {
        "events": {"decision": "outcome = yes", "label": "outcome in {late, lost}"},
        "groups": [
            {"name": "here", "when": "outcome != away"},
            {"name": "away", "when": "outcome = away"},
        ],
        "properties": [PARITY | {"bound": "1/10"}],
    }
    said = ["yes", "late", "lost", "away", "no"]
    people = [{"outcome": said[n % 5], "id": n} for n in range(100)]
    assert len(testsgd.monitor(document, people).summary.stream.unnamed_decisions) == 1


def test_of_many_values_that_are_not_named_some_are_listed(tmp_path: Path) -> None:
    document = {
        "events": {"decision": "outcome = yes"},
        "properties": [PARITY | {"bound": "1/10"}],
    }
    people = [
        {"group": "ab"[n % 2], "outcome": "x" * 200 + str(n) if n % 2 else "yes"}
        for n in range(5000)
    ]
    stream = testsgd.monitor(document, people).summary.stream
    assert len(stream.unnamed_decisions) == 20
    assert max(map(len, stream.unnamed_decisions)) <= 60
    assert stream.unnamed_decisions_left_out > 0
