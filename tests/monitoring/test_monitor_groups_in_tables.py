"""Groups by expressions in tables, where a row of a label leaves the columns of the group empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import testsgd

OLD = "sex = f and age >= 40"


def document(*whens: str) -> dict[str, Any]:
    return {
        "events": {"empty": ["-"]},
        "groups": [{"name": str(index), "when": when} for index, when in enumerate(whens)],
        "properties": [{"property": "equal_opportunity", "bound": 0.1, "rule": "estimate"}],
    }


def counts(specification: dict[str, Any], events: Any) -> dict[str, tuple[int, int]]:
    (comparison,) = testsgd.monitor(specification, events).summary.comparisons
    return {one.name: (one.numerator, one.denominator) for one in comparison.groups}


@pytest.mark.parametrize("empty", ["-", ""])
@pytest.mark.parametrize("other", [f"not ({OLD})", f"not ({OLD}) and age != missing"])
def test_rows_of_labels_are_of_the_group_that_was_said(
    tmp_path: Path, empty: str, other: str
) -> None:
    people = [("f", 50, 1, 1), ("f", 30, 1, 1), ("m", 45, 0, 1), ("f", 41, 0, 1), ("m", 20, 1, 0)]
    lines = ["id,sex,age,decision,label"]
    for number, (sex, age, decision, _) in enumerate(people):
        lines.append(f"{number},{sex},{age},{decision},{empty}")
    for number, (*_, label) in enumerate(people):
        lines.append(f"{number},{empty},{empty},{empty},{label}")
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines) + "\n")

    rows = pd.DataFrame(people, columns=["sex", "age", "decision", "label"])
    old = (rows["sex"] == "f") & (rows["age"] >= 40)
    positive = rows["label"] == 1
    expected = {
        name: (int((side & positive & (rows["decision"] == 1)).sum()), int((side & positive).sum()))
        for name, side in (("0", old), ("1", ~old))
    }
    assert counts(document(OLD, other), path) == expected


def test_a_group_of_missing_values_is_said_by_empty_columns(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("id,age,decision,label\n1,,1,1\n2,30,0,1\n")
    assert counts(document("age = missing", "age >= 0"), path) == {"0": (1, 1), "1": (0, 1)}


def test_an_event_without_id_and_group_is_in_no_group() -> None:
    events = [
        {"sex": None, "age": None, "decision": 1, "label": 1},
        {"sex": "f", "age": 50, "decision": 1, "label": 1},
    ]
    assert counts(document(OLD, "sex = m"), events) == {"0": (1, 1), "1": (0, 0)}


def parity(*whens: str, **events: Any) -> dict[str, Any]:
    watched = [{"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}]
    return {**document(*whens), "events": events, "properties": watched}


@pytest.mark.parametrize("has_id", [True, False])
@pytest.mark.parametrize("as_file", [True, False])
def test_a_person_of_whom_nothing_is_known_is_in_the_complement(
    tmp_path: Path, has_id: bool, as_file: bool
) -> None:
    people = pd.DataFrame({"sex": ["f", None, "m", None, "f"], "decision": [1, 1, 0, 0, 1]})
    if has_id:
        people.insert(0, "id", [7, 8, 9, 10, 11])
    path = tmp_path / "people.csv"
    people.to_csv(path, index=False)
    counted = counts(parity("sex = f", "not (sex = f)"), path if as_file else people)
    assert counted == {"0": (2, 2), "1": (1, 3)}


def test_what_was_said_before_stands_where_a_later_row_leaves_it_empty(tmp_path: Path) -> None:
    path = tmp_path / "steps.csv"
    path.write_text("id,sex,decision\n1,f,\n2,m,\n1,,1\n2,,0\n3,,1\n")
    assert counts(parity("sex = f", "not (sex = f)"), path) == {"0": (1, 1), "1": (1, 2)}


def test_an_event_without_the_fields_of_the_group_may_get_them_later() -> None:
    events = [{"id": 1, "decision": 1}, {"id": 1, "sex": "f"}, {"id": 2, "sex": "m", "decision": 0}]
    assert counts(parity("sex = f", "not (sex = f)"), events) == {"0": (1, 1), "1": (0, 1)}


def test_in_a_typed_log_the_group_may_come_after_the_decision(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,sex,decision\n1,-,1\n1,f,-\n2,m,0\n")
    typed = parity("sex = f", "not (sex = f)", empty=["-"])
    assert counts(typed, path) == {"0": (1, 1), "1": (0, 1)}


@pytest.mark.parametrize("table", [True, False])
def test_a_label_alone_is_of_the_last_trial_where_groups_are_expressions(table: bool) -> None:
    document = {
        "groups": [{"name": "older", "when": "age >= 40"}, {"name": "younger", "when": "age < 40"}],
        "properties": [{"property": "equal_opportunity", "bound": "1/2", "rule": "estimate"}],
    }
    ages, decisions = [50, 20, 60, 30], [1, 0, 1, 1]
    events: list[dict[str, Any]] = []
    for age, decision in zip(ages, decisions, strict=True):
        events.append({"age": age, "decision": decision, "label": None})
        events.append({"age": None, "decision": None, "label": 1})
    given = pd.DataFrame(events) if table else events
    [compared] = testsgd.monitor(document, given).summary.comparisons
    rates = {group.name: (group.numerator, group.denominator) for group in compared.groups}
    assert rates == {"older": (2, 2), "younger": (1, 2)}
