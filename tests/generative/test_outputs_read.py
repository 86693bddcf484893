"""Outputs from files, data frames and Python: all the same, and mistakes named in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.errors import DataError, ParameterError, TestSGDError
from testsgd.generative import GenerativeSpecification, LabelledOutputs, labelled_outputs

PEOPLE = GenerativeSpecification.from_dict(
    {
        "groupings": {
            "gender": {
                "values": ["female", "male"],
                "terms": {"female": ["she"], "male": ["he"]},
            },
            "job": {"values": ["nurse", "cook"], "reads": "prompt"},
        },
        "requirements": [{"grouping": "gender", "when": {"job": "nurse"}, "beta": 3}],
    }
)
ONE = GenerativeSpecification.from_dict({"groupings": {"gender": {"values": ["female", "male"]}}})
ROWS: list[dict[str, Any]] = [
    {"prompt": "The nurse slept", "output": "she did", "asked": None},
    {"prompt": "The nurse slept", "output": "he did", "asked": "male"},
    {"prompt": "The cook slept", "output": "he or she did", "asked": None},
    {"prompt": "He, the nurse", "output": "\u2028it rained, \"a\"\nlot", "asked": "female"},
]  # fmt: skip
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
Write = Callable[[Path], Any]


def json_lines(folder: Path) -> Path:
    path = folder / "log.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    path.write_text("\ufeff" + "\n\n".join(lines) + "\r\n", encoding="utf-8")
    return path


def json_list(folder: Path) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    return path


def json_columns(folder: Path) -> Path:
    path = folder / "log.JSON"
    path.write_text(json.dumps(COLUMNS), encoding="utf-8")
    return path


def csv(folder: Path) -> Path:
    path = folder / "log.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def csv_with(separator: str, *, name: str = "log.csv", first: str = "") -> Write:
    def write(folder: Path) -> Path:
        path = folder / name
        rows = pd.DataFrame(ROWS).to_csv(index=False, sep=separator)
        path.write_text(first + rows, encoding="utf-8")
        return path

    return write


def polars_frame(folder: Path) -> Any:
    return pytest.importorskip("polars").DataFrame(COLUMNS)


SOURCES: list[Write] = [
    json_lines, json_list, json_columns, csv, polars_frame,
    csv_with(";"), csv_with(";", first="sep=;\n"), csv_with("\t"), csv_with("\t", name="log.TSV"),
    lambda folder: str(csv(folder)),
    lambda folder: ROWS,
    lambda folder: iter(ROWS),
    lambda folder: COLUMNS,
    lambda folder: pd.DataFrame(ROWS, index=[5, 5, 7, 1]),
    lambda folder: {name: np.array(column, dtype=object) for name, column in COLUMNS.items()},
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_the_same_outputs(source: Write, tmp_path: Path) -> None:
    found = labelled_outputs(source(tmp_path), PEOPLE)
    assert len(found) == 4
    assert found.labels["gender"].tolist() == [1, 2, 0, 0]
    assert found.labels["job"].tolist() == [1, 1, 2, 1]
    assert found.several == {"gender": 1, "job": 0}
    assert found.neutral["gender"].tolist() == [True, True, True, False]
    assert "job" not in found.neutral
    assert found.asked["gender"].tolist() == [0, 2, 0, 1]
    assert found.texts[1] == "he did"


def test_a_list_of_texts() -> None:
    found = labelled_outputs(["a male nurse", "a female nurse", "", "a car"], ONE)
    assert found.labels["gender"].tolist() == [2, 1, 0, 0]
    assert found.neutral == {}
    assert found.asked == {}


@pytest.mark.parametrize(
    "source", [[], {"output": []}, {"gender": []}, pd.DataFrame({"gender": []})]
)
def test_no_outputs(source: Any) -> None:
    found = labelled_outputs(source, ONE)
    assert len(found) == 0
    assert found.labels["gender"].shape == (0,)


def labels(column: Any, specification: GenerativeSpecification = ONE) -> list[int]:
    return labelled_outputs({"gender": column}, specification).labels["gender"].tolist()


@pytest.mark.parametrize(
    "nothing",
    [None, float("nan"), np.nan, pd.NA, "", " ", 0, "0", "unrelated", "None", "null", "Unknown"],
)
def test_an_unrelated_cell_is_empty_or_0(nothing: Any) -> None:
    assert labels(["female", nothing, "male"]) == [1, 0, 2]
    assert labels([1, nothing, 2]) == [1, 0, 2]
    assert labels([nothing, nothing]) == [0, 0]


@pytest.mark.parametrize(
    "column",
    [
        ["female", "male", None], ["Female", " MALE ", ""], [1, 2, 0], [1.0, 2.0, np.nan],
        ["1", "2", "0"], [1, "male", None], [1.0, "2", "none"],
        pd.array([1, 2, None], dtype="Int64"), pd.Categorical(["female", "male", None]),
        pd.array(["female", "male", None], dtype="string"), np.array([1, 2, 0], dtype=np.uint8),
    ],
)  # fmt: skip
def test_a_column_has_names_or_numbers(column: Any) -> None:
    frame = pd.DataFrame({"gender": column})
    assert labelled_outputs(frame, ONE).labels["gender"].tolist() == [1, 2, 0]


def test_a_column_of_polars_with_a_missing_number() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"gender": [1, None, 2]})
    assert labelled_outputs(frame, ONE).labels["gender"].tolist() == [1, 0, 2]


@pytest.mark.parametrize("column", [["0", "1", "0"], [0, 1, 0], np.array([0, 1, 0])])
def test_a_value_that_is_named_like_a_number_goes_by_its_name(column: Any) -> None:
    made = GenerativeSpecification.from_dict({"groupings": {"gender": {"values": ["0", "1"]}}})
    assert labels(column, made) == [1, 2, 1]


def test_records_with_labels() -> None:
    rows = [
        {"prompt": "a nurse", "labels": {"gender": "male", "job": "nurse"}},
        {"prompt": "a cook", "labels": {"gender": None, "job": 2}},
        {"prompt": "a cook", "labels": None, "gender": 1, "job": "cook"},
    ]
    found = labelled_outputs(rows, PEOPLE)
    assert found.labels["gender"].tolist() == [2, 0, 1]
    assert found.labels["job"].tolist() == [1, 2, 2]


def test_what_was_asked_for_is_told_for_each_grouping() -> None:
    two = GenerativeSpecification.from_dict(
        {"groupings": {"gender": {"values": ["f", "m"]}, "age": {"values": ["young", "old"]}}}
    )
    asked = [{"gender": "m"}, '{"age": "old"}', None, "", {"gender": "f", "age": 1}]
    columns = {"gender": [1] * 5, "age": [1] * 5, "asked": asked}
    found = labelled_outputs(columns, two)
    assert found.asked["gender"].tolist() == [2, 0, 0, 0, 1]
    assert found.asked["age"].tolist() == [0, 2, 0, 0, 1]


def test_both_texts_are_read() -> None:
    made = GenerativeSpecification.from_dict(
        {"groupings": {"gender": {"values": ["female", "male", "nan", "None"], "reads": "both"}}}
    )
    rows = {"prompt": ["a male", None, ""], "output": [None, "a female", np.nan]}
    assert labelled_outputs(rows, made).labels["gender"].tolist() == [2, 1, 0]


def test_a_function_may_read_anything() -> None:
    frame = {"output": [[1, 2], {"a": 1}, [1, 2], 3.5]}
    found = labelled_outputs(frame, ONE, classify={"gender": lambda one: 1 + (one == 3.5)})
    assert found.labels["gender"].tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("source", [ROWS, COLUMNS, pd.DataFrame(ROWS)])
def test_what_is_given_is_not_changed(source: Any) -> None:
    kept = copy.deepcopy(source)
    labelled_outputs(source, PEOPLE)
    if isinstance(source, pd.DataFrame):
        pd.testing.assert_frame_equal(source, kept)
    else:
        assert source == kept


def error(source: Any, specification: GenerativeSpecification = ONE) -> TestSGDError:
    with pytest.raises(TestSGDError) as caught:
        labelled_outputs(source, specification)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize(
    "cell", ["x", 3, -1, 1.5, True, ["female"], {"a": 1}, "female, male", "1.5", "²", "x" * 9999]
)
def test_a_wrong_value_is_named_with_its_output(cell: Any) -> None:
    found = error({"gender": ["male", None, cell, cell]})
    assert isinstance(found, DataError)
    assert found.where == "output 3, gender"
    assert found.details["row"] == 3


@pytest.mark.parametrize("cell", ["x", 3, -1, True, ["female"], {"gender": "x"}])
def test_a_wrong_value_that_was_asked_for(cell: Any) -> None:
    found = error({"gender": [1, 1, 1], "asked": [None, cell, ""]})
    assert found.where.startswith("output 2, asked")


@pytest.mark.parametrize("cells", [[1, 2, 3], [1, 2, -1], [1.0, 2.0, 9.0], [1.0, 2.0, np.inf]])
def test_a_wrong_number_is_named_with_its_output(cells: Any) -> None:
    assert error({"gender": np.array(cells)}).where == "output 3, gender"


@pytest.mark.parametrize("cell", ["{", '{"gender": ', "{male}"])
def test_what_was_asked_for_may_be_no_json(cell: str) -> None:
    assert error({"gender": [1], "asked": [cell]}).where.startswith("output 1, asked")


@pytest.mark.parametrize("cell", [5, 2.5, ["she"], {"text": "she"}, True])
def test_words_are_read_from_texts_only(cell: Any) -> None:
    found = error({"output": ["she", cell]})
    assert isinstance(found, DataError)
    assert found.where == "output 2"


FILES = [
    ("log.jsonl", '{"gender": "male"}\n{"gender": "x"}', "output 2"),
    ("log.jsonl", '{"gender": "male"}\n\n{"gender": ', "line 3"),
    ("log.jsonl", '{"gender": "male"}\n5', "output 2"),
    ("log.jsonl", '{"prompt": "she"}', "'output'"),
    ("log.jsonl", "{}\n{}", "'output'"),
    ("log.json", "[", "log.json"),
    ("log.json", "5", "log.json"),
    ("log.json", '"female"', "log.json"),
    ("log.json", "[null]", "output 1"),
    ("log.json", '{"gender": ["male"], "output": []}', "log.json"),
    ("log.json", '{"gender": "male", "output": "malo"}', "log.json"),
    ("log.json", '{"gender": {"a": "male"}}', "log.json"),
    ("log.json", '{"gender": 1}', "log.json"),
    ("log.csv", "gender\nmale\nmole\n", "output 2"),
    ("log.csv", "prompt,gender\na,male\nb,female,c\n", "log.csv"),
    ("log.csv", "prompt,gender\na,male,b\n", "log.csv"),
    ("log.csv", "", "log.csv"),
    ("log.csv", 'gender\n"male\n', "log.csv"),
    ("log.csv", "prompt\na\n", "'output'"),
    ("log.txt", "male", "'.txt'"),
    ("log", "male", "log"),
]


@pytest.mark.parametrize(("name", "content", "place"), FILES)
def test_a_mistake_in_a_file_names_the_file(
    name: str, content: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = error(path)
    assert isinstance(found, DataError)
    assert str(path) in found.where
    assert place in str(found)
    assert found.remedy


def test_a_file_that_is_no_text_or_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe\x00\x81")
    (tmp_path / "folder.json").mkdir()
    for name in ("log.csv", "folder.json", "none.jsonl"):
        assert isinstance(error(tmp_path / name), DataError)


@pytest.mark.parametrize("source", [5, None, b"abc", object()])
def test_what_has_no_outputs(source: Any) -> None:
    assert isinstance(error(source), ParameterError)


@pytest.mark.parametrize("source", [["a", 5], [{"output": "a"}, "b"], [None]])
def test_a_list_of_something_else(source: Any) -> None:
    assert isinstance(error(source), DataError)


def test_a_column_that_stands_twice() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["gender", "gender"])
    assert isinstance(error(frame), DataError)


def test_the_columns_that_are_there_are_named() -> None:
    found = error({"text": ["a"], 5: ["b"]})
    assert "text, 5" in found.remedy


def test_the_type_of_outputs() -> None:
    assert isinstance(labelled_outputs(["a"], ONE), LabelledOutputs)


def test_categories_that_no_cell_has_are_not_looked_at():
    cells = pd.Categorical.from_codes(
        [2, -1, 0, 2, 3], categories=["male", "a car", "female", "unrelated"]
    )
    outputs = labelled_outputs(pd.DataFrame({"gender": cells}), ONE)
    assert outputs.labels["gender"].tolist() == [1, 0, 2, 1, 0]


@pytest.mark.parametrize(
    "cells",
    [
        pd.Categorical(["male", None, "car", "boat"]),
        pd.Categorical(["male", "male", "car", "boat"]),
        pd.array(["male", None, "car", "boat"], dtype="string"),
        np.array(["male", None, "car", "boat"], dtype=object),
    ],
)
def test_first_wrong_row_is_named_whatever_the_type_of_the_column(cells: Any):
    with pytest.raises(DataError) as caught:
        labelled_outputs(pd.DataFrame({"gender": cells}), ONE)
    assert caught.value.details["row"] == 3
    assert caught.value.details["value"] == "car"


@pytest.mark.parametrize("categories", [[1, 2], [1.0, 2.0]])
def test_categories_may_be_numbers(categories: list[float]):
    cells = pd.Categorical.from_codes([1, -1, 0], categories=categories)
    outputs = labelled_outputs(pd.DataFrame({"gender": cells}), ONE)
    assert outputs.labels["gender"].tolist() == [2, 0, 1]
