"""Labels: renamed, cut at a threshold, taken as they are; the same from a file and a frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_description import HEADER, cells, description, people, read_text

from testsgd.data import check_table
from testsgd.data.cells import label_texts
from testsgd.errors import DataError

COLUMN = {"column": "granted"}
MAP = COLUMN | {"map": {"1": "yes", "2": "no", "3": "no"}, "favourable": "yes"}
ABOVE = COLUMN | {"above": 0.15, "values": ["high", "low"], "favourable": "high"}


def labels(column: Any, label: dict[str, Any]) -> list[Any]:
    """Give the labels of a column by a description of the label."""
    given = pd.Series(column) if isinstance(column, list) else column
    return cells(label_texts(given, description(label=label).label))


def test_labels_are_renamed_and_joined_in_a_file(tmp_path: Path) -> None:
    rows = "".join(f"male,30,0.5,{label}\n" for label in ["1", "3", "2 ", "", "yes"])
    frame = read_text(tmp_path, HEADER + rows, label=MAP)
    assert cells(frame["granted"]) == ["yes", "no", "no", None, "yes"]


def test_labels_are_cut_at_a_threshold_in_a_file(tmp_path: Path) -> None:
    numbers = ["0.15", "0.150", "0.1500001", "1", "-3", "", "1e-9"]
    rows = "".join(f"male,30,0.5,{number}\n" for number in numbers)
    frame = read_text(tmp_path, HEADER + rows, label=ABOVE)
    assert cells(frame["granted"]) == ["low", "low", "high", "high", "low", None, "low"]


NUMBERS = ["int64", "float64", "object", "Int64", "Float64", "int64[pyarrow]", "double[pyarrow]"]


@pytest.mark.parametrize("dtype", [*NUMBERS, "category"])
def test_numbers_of_any_type_are_renamed(dtype: str) -> None:
    assert labels(pd.Series([1, 2, 3], dtype=dtype), MAP) == ["yes", "no", "no"]


@pytest.mark.parametrize("dtype", [*NUMBERS, "category"])
def test_numbers_of_any_type_are_cut(dtype: str) -> None:
    assert labels(pd.Series([0, 1], dtype=dtype), ABOVE) == ["low", "high"]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int64[pyarrow]", "float64", "object"])
@pytest.mark.parametrize("label", [MAP, ABOVE, COLUMN | {"favourable": "1"}])
def test_a_missing_label_stays_missing(dtype: str, label: dict[str, Any]) -> None:
    column = pd.Series([1, None, 2], dtype=dtype)
    assert [text is None for text in labels(column, label)] == [False, True, False]


@pytest.mark.parametrize("dtype", ["int64", "float64", "object", "Int64", "int8", "category"])
def test_labels_are_texts_whatever_the_column_holds(dtype: str) -> None:
    """Compared with the favourable label as a text, the number 1 would never be equal to it."""
    specification = description(label=COLUMN | {"favourable": 1, "values": [0, 1]})
    table = check_table(people(granted=pd.Series([0, 1, 1, 0], dtype=dtype)), specification)
    assert table.labels is not None
    assert table.labels.tolist() == ["0", "1", "1", "0"]
    assert (table.labels.to_numpy() == "1").tolist() == [False, True, True, False]


def test_booleans_are_labels_too() -> None:
    specification = description(label=COLUMN | {"favourable": True, "values": [False, True]})
    table = check_table(people(granted=[True, False, True, True]), specification)
    assert table.labels is not None
    assert table.labels.tolist() == ["True", "False", "True", "True"]


@pytest.mark.parametrize("label", [MAP, MAP | {"values": ["yes", "no"]}, ABOVE])
@given(drawn=st.lists(st.sampled_from([1, 2, 3, None]), min_size=1))
def test_reading_labels_twice_is_reading_them_once(
    label: dict[str, Any], drawn: list[int | None]
) -> None:
    described = description(label=label).label
    once = label_texts(pd.Series(drawn, dtype=object), described)
    assert cells(label_texts(once, described)) == cells(once)


@given(
    numbers=st.lists(st.floats(-1, 1).map(lambda number: round(number, 2)), min_size=1),
    threshold=st.floats(-1, 1).map(lambda number: round(number, 2)),
)
def test_the_threshold_itself_is_not_above(numbers: list[float], threshold: float) -> None:
    label = ABOVE | {"above": threshold}
    expected = ["high" if number > threshold else "low" for number in numbers]
    assert labels(pd.Series(numbers), label) == expected
    assert labels(pd.Series([repr(number) for number in numbers]), label) == expected


def test_a_label_that_the_map_does_not_know() -> None:
    with pytest.raises(DataError, match=r"the label '4' is not in the description's label\.map"):
        labels([1, 2, 4, 5], MAP)


@pytest.mark.parametrize("text", ["many", "", "nan", "1,5"])
def test_a_label_that_should_be_a_number(text: str) -> None:
    with pytest.raises(DataError) as caught:
        labels(["0.1", text], ABOVE)
    assert f"the label in row 1 is {text!r}, not a number" in str(caught.value)
    assert caught.value.details == {"value": text, "row": 1}


def test_labels_keep_the_rows_they_belong_to() -> None:
    column = pd.Series([2, 1], index=[7, 7])
    for label in (MAP, ABOVE):
        assert label_texts(column, description(label=label).label).index.tolist() == [7, 7]


def test_reading_labels_leaves_the_column_as_it_was() -> None:
    column = pd.Series([1.0, np.nan, 2.0])
    before = column.copy(deep=True)
    labels(column, MAP)
    labels(column, ABOVE)
    pd.testing.assert_series_equal(column, before)
