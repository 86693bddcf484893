"""One id or group that is written in several ways: 7 and 7.0, True and true, composed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import testsgd
from testsgd.errors import TestSGDError
from testsgd.monitoring import MonitorSpecification


def document(*names: str, kind: str = "demographic_parity", **parts: Any) -> dict[str, Any]:
    watched = [{"property": kind, "bound": 0.1, "rule": "estimate"}]
    groups = {"groups": {"names": list(names)}} if names else {}
    return {"properties": watched, **groups, **parts}


def counts(specification: dict[str, Any], events: Any, **options: Any) -> dict[str, Any]:
    (comparison,) = testsgd.monitor(specification, events, **options).summary.comparisons
    return {one.name: (one.numerator, one.denominator) for one in comparison.groups}


def csv_file(folder: Path, text: str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_labels_join_ids_that_pandas_wrote_as_floats(tmp_path: Path) -> None:
    decisions = csv_file(tmp_path, "id,group,decision\n1,a,1\n2,b,0\n3,b,1\n")
    labels = csv_file(tmp_path, "id,label\n1.0,1\n2.0,1\n3.0,1\n", "labels.csv")
    watched, state = document(kind="equal_opportunity"), tmp_path / "state.json"
    testsgd.monitor(watched, decisions, state=state)
    found = testsgd.monitor(watched, labels, state=state).summary.comparisons[0]
    assert [(one.numerator, one.denominator) for one in found.groups] == [(1, 1), (1, 2)]


@pytest.mark.parametrize("separator", [",", ";"])
def test_a_trial_is_counted_once(tmp_path: Path, separator: str) -> None:
    rows = ["id,group,decision", "7,a,1", "7.0,a,1", "8,b,0", "-0.0,b,0", "0,b,0"]
    text = "\n".join(rows).replace(",", separator) + "\n"
    text = text.replace(".", "," if separator == ";" else ".")
    assert counts(document(), csv_file(tmp_path, text)) == {"a": (1, 1), "b": (0, 2)}


@pytest.mark.parametrize("other", ["1.50", "1.0.0", "01.0", "1e0", "1.00", "+1.0"])
def test_texts_that_are_no_whole_number_stay_other_ids_and_groups(
    tmp_path: Path, other: str
) -> None:
    path = csv_file(tmp_path, f"id,group,decision\n1,1,1\n{other},{other},0\n")
    assert counts(document(), path) == {"1": (1, 1), other: (0, 1)}


@pytest.mark.parametrize(
    "groups", [[1.0, 2.0, 1.0, None], [True, False, True, None], [True, False, True, False], [1, 2]]
)
def test_a_frame_and_its_file_have_the_same_groups(tmp_path: Path, groups: list[Any]) -> None:
    decisions = ([1, 0] * len(groups))[: len(groups)]
    frame = pd.DataFrame({"id": range(len(groups)), "group": groups, "decision": decisions})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    found = counts(document(), frame)
    assert len(found) == 2
    assert counts(document(), path) == found
    texts = pd.read_csv(path, dtype=str)
    texts["decision"] = decisions
    assert counts(document(), texts) == found


@pytest.mark.parametrize("names", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_groups_have_the_names_of_the_specification(tmp_path: Path, names: tuple[str, str]) -> None:
    frame = pd.DataFrame({"group": [True, False, True], "decision": [1, 0, 0]})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    expected = {names[0]: (1, 2), names[1]: (0, 1)}
    for events in (frame, path, frame.astype(object).to_dict("records")):
        assert counts(document(*names), events) == expected
    believed = {"estimate": {"groups": {names[0]: {"prior": 0.3, "strength": 5}}}}
    assert [*counts(document(**believed), frame)].count(names[0]) == 1


@pytest.mark.parametrize("names", [("True", "true"), ("1", "1.0"), ("\u00e9", "e\u0301")])
def test_a_group_is_named_once(names: tuple[str, str]) -> None:
    with pytest.raises(TestSGDError, match="two ways"):
        MonitorSpecification.from_dict(document(*names))


def test_conditions_are_the_same_in_a_frame_and_its_file(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "group": ["a", "b"] * 4,
            "decision": [1, 0, 0, 1] * 2,
            "grade": [1.0, 1.0, 2.0, 2.0] * 2,
        }
    )
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    watched = document()
    watched["properties"][0]["condition_on"] = ["grade"]

    def values(events: Any) -> list[Any]:
        return [one.conditions for one in testsgd.monitor(watched, events).summary.comparisons]

    assert values(path) == values(frame)


@pytest.mark.parametrize("names", [(), ("e\u0301", "o"), ("\u00e9", "o")])
def test_composed_and_decomposed_characters_are_one_group(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    groups = ["\u00e9", "e\u0301", "o"]
    frame = pd.DataFrame({"group": groups, "decision": [1, 0, 1]})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    name = names[0] if names else "\u00e9"
    for events in (frame, path):
        assert counts(document(*names), events) == {name: (1, 2), "o": (1, 1)}


def test_a_state_of_a_former_version_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state.json"
    watched = document(kind="equal_opportunity")
    first = csv_file(tmp_path, "id,group,decision\n7.0,True,1\nx,b,0\n")
    with monkeypatch.context() as former:
        # Former versions kept such an id and such a group as the file has it.
        former.setattr("testsgd.monitoring.trials.event.id_text", str)
        former.setattr("testsgd.monitoring.trials.event.value_text", str)
        testsgd.monitor(watched, first, state=state)
    assert '"True"' in state.read_text()
    rows = "id,group,decision,label\n7.0,True,1,1\nx,b,0,1\n8,true,0,1\n"
    second = csv_file(tmp_path, rows, "more.csv")
    assert counts(watched, second, state=state) == {"True": (1, 2), "b": (0, 1)}
