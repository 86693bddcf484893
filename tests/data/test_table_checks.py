"""Tables that do not fit their description: each mistake is named with its column and row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_description import description, people

from testsgd.data import check_table
from testsgd.errors import DataError


def failure(data: Any, **parts: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        check_table(data, description(**parts), source="my rows")
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.remedy
    return caught.value


def test_people_who_fit_are_accepted() -> None:
    table = check_table(people(), description())
    assert table.missing == {"gender": 0, "age": 0, "ratio": 0}
    assert table.source == ""


@pytest.mark.parametrize("data", [people().iloc[:0], pl.DataFrame({"age": []}), pl.LazyFrame()])
def test_no_rows(data: Any) -> None:
    assert failure(data).what == "there are no rows"


@pytest.mark.parametrize(
    "data", [None, {"age": [1]}, [[1]], np.zeros((2, 2)), pd.Series([1]), "x.csv"]
)
def test_what_is_no_data_frame(data: Any) -> None:
    assert f"the data are a {type(data).__name__}, not a data frame" in failure(data).what


@pytest.mark.parametrize("name", ["gender", "age", "ratio"])
def test_a_missing_column_is_named(name: str) -> None:
    error = failure(people().drop(columns=name))
    assert error.what == f"the column {name!r} is missing"
    assert error.where == "my rows"
    assert name not in error.details["present"]


def test_two_columns_of_one_name() -> None:
    data = pd.concat([people(), people()[["age"]]], axis="columns")
    assert failure(data).what == "two columns are called 'age'"


@pytest.mark.parametrize(
    "column",
    [
        ["20", "30", "40", "50"],
        pd.Series(["20", "30", "40", "50"], dtype="category"),
        pd.Series([20, 30, 40, 50], dtype="object"),
        pd.Series([20, 30, 40, 50], dtype="category"),
        [True, False, True, False],
        pd.Series([True, False, None, None], dtype="boolean"),
        pd.to_datetime(["2020", "2021", "2022", "2023"]),
        pd.to_timedelta([1, 2, 3, 4]),
        [1j, 2, 3, 4],
    ],
)
@pytest.mark.parametrize("name", ["age", "ratio"])
def test_a_column_of_the_wrong_type_is_named(name: str, column: Any) -> None:
    error = failure(people(**{name: column}))
    kind = "integer" if name == "age" else "decimal"
    assert error.where == f"my rows, feature {name!r}"
    assert f"the column is {kind} by its description, but holds {pd.Series(column).dtype}" in (
        error.what
    )


@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]", "float32"])
@pytest.mark.parametrize("value", [-1, 101, np.inf, -np.inf, 1e30])
def test_a_number_out_of_range_is_named_with_its_row(dtype: str, value: float) -> None:
    error = failure(people(age=pd.Series([20, 30, value, value], dtype=dtype)))
    assert "2 value(s) are outside the declared range 0 to 100 (row 2: " in error.what
    assert error.details["row"] == 2
    assert error.details["value"] == pytest.approx(value, rel=1e-6)


def test_a_row_is_named_as_the_frame_names_it() -> None:
    error = failure(people(age=[20, 30, 40, 500]).set_axis(["Ann", "Bob", "Cy", "Di"]))
    assert "(row Di: 500)" in error.what
    assert error.details["row"] == "Di"


def test_large_numbers_are_printed_in_full() -> None:
    features = {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "age": {"type": "integer", "range": [0, 12345678]},
    }
    error = failure(people(age=[1, 2, 3, 12345679]), features=features)
    assert "range 0 to 12345678 (row 3: 12345679)" in error.what


@given(numbers=st.lists(st.integers(-20, 120), min_size=2, max_size=8))
def test_the_ends_of_the_range_belong_to_it(numbers: list[int]) -> None:
    data = pd.DataFrame({"gender": "male", "age": numbers, "ratio": 0.5})
    data.loc[0, "gender"] = "female"
    outside = [number for number in numbers if not 0 <= number <= 100]
    if not outside:
        assert len(check_table(data, description())) == len(numbers)
        return
    error = failure(data)
    assert error.what.startswith(f"{len(outside)} value(s)")
    assert error.details["row"] == numbers.index(outside[0])


@pytest.mark.parametrize("number", [20.5, 0.1, 99.999999])
def test_a_decimal_in_a_whole_number_is_named_with_its_row(number: float) -> None:
    error = failure(people(age=[20, np.nan, number, 30]))
    assert f"row 2 holds {number:.10g}" in error.what
    assert error.details == {"feature": "age", "row": 2, "value": number}


def test_a_value_that_is_not_declared_is_named_with_its_row() -> None:
    error = failure(people(gender=["female", "male", "other", "other"]))
    assert "the value 'other' (row 2) is not among the declared values of 'gender'" in error.what


SENSITIVE = {
    "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
    "age": {"type": "integer", "range": [0, 100], "sensitive": True},
    "ratio": {"type": "decimal", "range": [0, 1]},
}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("gender", ["male"] * 4),
        ("gender", [None] * 4),
        ("age", [30] * 4),
        ("age", [30, 30, np.nan, 30]),
        ("age", [np.nan] * 4),
    ],
)
def test_a_sensitive_feature_of_one_value_leaves_nobody_to_compare(
    name: str, column: list[Any]
) -> None:
    error = failure(people(**{name: column}), features=SENSITIVE)
    assert "has one value only" in error.what
    assert error.details == {"feature": name}


def test_one_value_and_missing_cells_are_two_groups_of_a_categorical_feature() -> None:
    table = check_table(people(gender=["male", None, "male", None]), description())
    assert table.missing["gender"] == 2


def test_one_value_is_enough_for_a_feature_that_is_not_sensitive() -> None:
    table = check_table(people(age=[30] * 4, ratio=[np.nan] * 4), description())
    assert table.missing == {"gender": 0, "age": 0, "ratio": 4}


def test_labels_are_not_asked_for() -> None:
    assert check_table(people().drop(columns="granted"), description()).labels is None


@pytest.mark.parametrize(
    ("column", "label", "words"),
    [
        (["no", "yes", "maybe", "no"], {}, "the label 'maybe' is not among the declared labels"),
        (["no"] * 4, {}, "the favourable label 'yes' does not occur; labels seen: no"),
        ([None] * 4, {}, "the favourable label 'yes' does not occur; labels seen: none"),
        (["yes", None] * 2, {}, "the declared label 'no' does not occur; labels seen: yes"),
        (["a", "b"] * 2, {"values": None}, "the favourable label 'yes' does not occur"),
    ],
)
def test_labels_that_do_not_fit(column: list[Any], label: dict[str, Any], words: str) -> None:
    parts = {"column": "granted", "favourable": "yes", "values": ["no", "yes"], **label}
    error = failure(people(granted=column), label=parts)
    assert words in error.what
    assert error.where == "my rows, label column 'granted'"


def test_missing_labels_are_kept_missing() -> None:
    table = check_table(people(granted=["no", None, "yes", np.nan]), description())
    assert table.labels is not None
    assert table.labels.isna().tolist() == [False, True, False, True]


def test_without_declared_labels_any_labels_will_do() -> None:
    label = {"column": "granted", "favourable": "yes"}
    table = check_table(people(granted=["no", "yes", "maybe", "no"]), description(label=label))
    assert table.labels is not None
    assert table.labels.tolist() == ["no", "yes", "maybe", "no"]
