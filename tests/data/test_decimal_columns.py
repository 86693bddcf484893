"""Decimals of fixed point in frames in memory: the numbers that they are."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import as_pandas
from testsgd.data.decimals import numbers_of_decimals

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

WHOLE = [Decimal("30"), Decimal("41"), Decimal("30")]
PARTS = [Decimal("0.25"), None, Decimal("1.00")]
MAKERS: dict[str, Callable[..., Any]] = {
    "objects": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow types": lambda cells: pa.table(cells).to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    return MAKERS[request.param]


def test_they_are_integers_or_floats(make: Callable[..., Any]) -> None:
    given = make({"sex": ["f", "m", "f"], "age": WHOLE, "share": PARTS})
    frame = as_pandas(given)
    assert frame is not None
    assert frame["age"].dtype == np.int64
    assert frame["age"].tolist() == [30, 41, 30]
    np.testing.assert_array_equal(frame["share"], [0.25, np.nan, 1])
    assert list(frame["sex"]) == ["f", "m", "f"]
    if isinstance(given, pd.DataFrame):
        # A copy is converted.
        assert isinstance(given["age"][0], Decimal)


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [
        ([Decimal(2**60 + 1)], "int64"),
        ([Decimal(2**60 + 1), None], "Int64"),
        ([Decimal(3), None, Decimal("NaN")], "float64"),
        ([Decimal(2**64)], "float64"),
        ([Decimal("Infinity"), Decimal(1)], "float64"),
        ([Decimal("1.5"), 2, 2.5, np.nan], "float64"),
        ([Decimal("1.5"), "2"], "object"),
        ([Decimal("1.5"), True], "object"),
        ([None, None], "object"),
    ],
)
def test_the_type_holds_all_of_them(cells: list[Any], dtype: str) -> None:
    column = pd.Series(cells, dtype=object, index=[7] * len(cells), name="pay")
    numbers = numbers_of_decimals(column)
    assert numbers.dtype == dtype
    assert numbers.name == "pay"
    assert [cell for cell in numbers if pd.notna(cell)] == [
        cell for cell in cells if pd.notna(cell)
    ]


def test_two_columns_of_one_name_stay_two() -> None:
    frame = as_pandas(pd.DataFrame([[Decimal(1), "a"], [Decimal(2), "b"]], columns=["x", "x"]))
    assert frame is not None
    assert frame.to_numpy().tolist() == [[1, "a"], [2, "b"]]


def test_an_audit_takes_them_for_numbers(make: Callable[..., Any]) -> None:
    number = 400
    cells = {
        "sex": ["f", "m"] * (number // 2),
        "age": [Decimal(20 + row % 60) for row in range(number)],
    }
    decided = [Decimal(row % 3 > 0) for row in range(number)]
    plain = {"sex": cells["sex"], "age": [int(age) for age in cells["age"]]}
    expected = testsgd.audit_predictions(
        [int(one) for one in decided], sensitive_features=pd.DataFrame(plain)
    )
    seen: list[str] = []

    def model(rows: pd.DataFrame) -> Any:
        seen.append(str(rows["age"].dtype))
        return rows["age"] > 40

    result = testsgd.audit_predictions(decided, sensitive_features=make(cells))
    assert result.groups["text"].tolist() == expected.groups["text"].tolist()
    testsgd.audit(model, make(cells), sensitive_features=["age"])
    assert set(seen) == {"int64"}
