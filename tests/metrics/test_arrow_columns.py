"""Predictions, labels, weights and features in columns of pandas that Arrow holds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data.decimals import numbers_of_arrow
from testsgd.errors import DataError

pa = pytest.importorskip("pyarrow")

ROWS = np.arange(600)
DECIDED = (ROWS % 3 == 0) * 1
TRUE = (ROWS % 4 == 0) * 1
PEOPLE = pd.DataFrame({"sex": ["m", "w"] * 300, "age": 20 + ROWS % 50})
TYPES = ["int64[pyarrow]", "uint8[pyarrow]", "double[pyarrow]", "float[pyarrow]", "bool[pyarrow]"]


def of_decimals(numbers: Any) -> Any:
    cells = [Decimal(int(number)) for number in numbers]
    return pd.Series(cells, dtype=pd.ArrowDtype(pa.decimal128(6, 2)))


def in_arrow(numbers: Any, dtype: str) -> Any:
    return of_decimals(numbers) if dtype == "decimal" else pd.Series(numbers).astype(dtype)


def groups(predictions: Any, **options: Any) -> Any:
    sensitive = options.pop("sensitive_features", PEOPLE[["sex"]])
    result = testsgd.audit_predictions(predictions, sensitive_features=sensitive, **options)
    return result.groups.drop(columns="metric", errors="ignore")


@pytest.mark.parametrize("dtype", [*TYPES, "decimal"])
def test_they_count_as_those_of_numpy(dtype: str) -> None:
    decided, true = in_arrow(DECIDED, dtype), in_arrow(TRUE, dtype)
    favourable = {"favourable": True if "bool" in dtype else 1}
    pd.testing.assert_frame_equal(
        groups(decided, **favourable), groups(DECIDED, favourable=1), check_dtype=False
    )
    by_metrics = {"metrics": ["equalized_odds"]}
    pd.testing.assert_frame_equal(
        groups(decided, y_true=true, **by_metrics), groups(DECIDED, y_true=TRUE, **by_metrics)
    )
    weighted = in_arrow(TRUE, dtype) if "bool" in dtype else in_arrow(TRUE + 1, dtype)
    expected = TRUE if "bool" in dtype else TRUE + 1
    pd.testing.assert_frame_equal(
        groups(DECIDED, sample_weight=weighted), groups(DECIDED, sample_weight=expected)
    )
    # Also as a table of one column.
    pd.testing.assert_frame_equal(
        groups(decided.to_frame("decided"), y_true=true.to_frame("true"), **by_metrics),
        groups(DECIDED, y_true=TRUE, **by_metrics),
    )


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "double[pyarrow]", "decimal"])
def test_sensitive_numbers_are_cut_as_those_of_numpy(dtype: str) -> None:
    people = PEOPLE.assign(age=in_arrow(PEOPLE["age"], dtype))
    for options in ({}, {"y_true": TRUE, "metrics": ["equalized_odds"]}):
        found = groups(DECIDED, sensitive_features=people, **options)
        expected = groups(DECIDED, sensitive_features=PEOPLE, **options)
        assert found["text"].tolist() == expected["text"].tolist()


@pytest.mark.parametrize("dtype", ["double[pyarrow]", "float[pyarrow]"])
def test_scores_and_numbers_are_told_apart(dtype: str) -> None:
    for numbers in (ROWS % 100 / 128, ROWS / 2):
        found = groups(pd.Series(numbers, dtype=dtype), y_true=pd.Series(TRUE))
        expected = groups(numbers.astype("float32"), y_true=TRUE)
        assert found["text"].tolist() == expected["text"].tolist()


@pytest.mark.parametrize("dtype", ["int64[pyarrow]", "double[pyarrow]"])
def test_true_labels_of_a_model_by_metrics(dtype: str) -> None:
    def model(rows: pd.DataFrame) -> Any:
        return (rows["age"] > 40) * 1

    results = [
        testsgd.audit_model_by_metrics(model, PEOPLE, true, sensitive_features=["sex"]).groups
        for true in (TRUE, in_arrow(TRUE, dtype))
    ]
    pd.testing.assert_frame_equal(*results)


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "double[pyarrow]"])
def test_missing_ones_are_missing(dtype: str) -> None:
    decided = in_arrow(DECIDED, dtype)
    decided[3] = pd.NA
    with pytest.raises(DataError) as raised:
        groups(decided)
    assert raised.value.where == "y_pred"
    with pytest.raises(DataError) as raised:
        groups(DECIDED, sample_weight=decided)
    assert "row 3" in str(raised.value.where)
    expected = pd.Series(DECIDED, dtype=object)
    expected[3] = None
    pd.testing.assert_frame_equal(
        groups(DECIDED, y_true=decided, metrics=["equalized_odds"]),
        groups(DECIDED, y_true=expected, metrics=["equalized_odds"]),
    )


def test_no_digit_is_lost() -> None:
    large = [2**60 + 1, None, 2**63 - 1]
    column = pd.Series(large, dtype="int64[pyarrow]", index=[7, 8, 8], name="person")
    numbers = numbers_of_arrow(column)
    assert numbers.dropna().tolist() == [2**60 + 1, 2**63 - 1]
    assert (numbers.name, numbers.index.tolist()) == ("person", [7, 8, 8])
    largest = pd.Series([2**64 - 1], dtype="uint64[pyarrow]")
    assert numbers_of_arrow(largest).tolist() == [2**64 - 1]
