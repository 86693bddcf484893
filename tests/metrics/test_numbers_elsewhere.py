"""Sensitive columns that stay in an engine: the audit is that of the rows in pandas."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import DataError, ParameterError, TestSGDError
from testsgd.metrics import audit_counts, audit_rows_elsewhere, count_rows, counting

ROWS = 2000
SOURCE = np.random.default_rng(41)
SEX = SOURCE.choice(["f", "m"], ROWS)
APPROVED = SOURCE.choice(["no", "yes"], ROWS)
SCORE = SOURCE.random(ROWS)
MISSING = SOURCE.random(ROWS) < 0.05
QUICK: dict[str, Any] = {"replicates": 99, "metrics": "selection_rate", "favourable": "yes"}


def in_pandas(rows: pd.DataFrame) -> Any:
    return rows


def in_polars(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("polars").from_pandas(rows, nan_to_null=False).lazy()


def in_duckdb(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("duckdb").from_df(rows)


def in_arrow(rows: pd.DataFrame) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pandas(rows)


ENGINES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": in_pandas,
    "polars": in_polars,
    "duckdb": in_duckdb,
    "arrow": in_arrow,
}


def people(region: Any) -> pd.DataFrame:
    return pd.DataFrame({"region": region, "sex": SEX, "approved": APPROVED, "score": SCORE})


def audited_here(rows: pd.DataFrame, column: str = "approved", **options: Any) -> Any:
    return testsgd.audit_metrics(
        rows[column], sensitive_features=rows[["region", "sex"]], **{**QUICK, **options}
    )


def audited_elsewhere(rows: Any, column: str = "approved", **options: Any) -> Any:
    return audit_rows_elsewhere(
        rows, predictions=column, sensitive_features=["region", "sex"], **{**QUICK, **options}
    )


def assert_same_groups(found: Any, expected: Any) -> None:
    assert found.summary.groups_compared == expected.summary.groups_compared
    assert found.exit_code == expected.exit_code
    one, other = (result.groups.set_index("text").sort_index() for result in (found, expected))
    pd.testing.assert_frame_equal(one.drop(columns="rank"), other.drop(columns="rank"), atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("column", ["approved", "score"])
@pytest.mark.parametrize("has_missing", [False, True])
def test_few_whole_numbers_are_categories(engine: str, column: str, has_missing: bool) -> None:
    """In a column of floats, too, which pandas and Parquet have beside missing cells."""
    region = SOURCE.integers(1, 5, ROWS).astype(float)
    rows = people(np.where(MISSING, np.nan, region) if has_missing else region)
    options = {"metrics": "mean_score" if column == "score" else "selection_rate"}
    found = audited_elsewhere(ENGINES[engine](rows), column, **options)
    assert_same_groups(found, audited_here(rows, column, **options))
    assert any("region = 1" in text for text in found.groups["text"])


@pytest.mark.parametrize("codes", [7, 10, 11, 13])
def test_as_many_whole_numbers_as_in_pandas_are_categories(codes: int) -> None:
    rows = people(SOURCE.integers(0, codes, ROWS))
    options = {"max_features": 1}
    expected = audited_here(rows, **options)
    assert_same_groups(audited_elsewhere(in_polars(rows), **options), expected)
    sensitive = ["region", "sex"]
    counts, features = count_rows(rows, predictions="approved", sensitive_features=sensitive)
    found = audit_counts(
        counts,
        predictions="approved",
        sensitive_features=sensitive,
        features=features,
        **QUICK,
        **options,
    )
    assert_same_groups(found, expected)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_codes_beside_missing_cells_in_many_files(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("duckdb")
    rows = people(np.where(MISSING, np.nan, SOURCE.integers(1, 5, ROWS)))
    for place, part in enumerate((rows[:900], rows[900:])):
        file = tmp_path / f"{place}.{ending}"
        part.to_csv(file, index=False) if ending == "csv" else part.to_parquet(file)
    from testsgd.metrics.sources import open_elsewhere

    found = audited_elsewhere(open_elsewhere(str(tmp_path / f"*.{ending}")))
    assert_same_groups(found, audited_here(rows))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("values", ["codes", "decimals"])
@pytest.mark.parametrize("given", [{}, {"region": {"edges": [-9, 0, 9]}}])
def test_infinite_cells_are_refused(engine: str, values: str, given: dict[str, Any]) -> None:
    numbers = SOURCE.integers(1, 5, ROWS) if values == "codes" else SOURCE.normal(0, 1, ROWS)
    rows = people(np.where(MISSING, -np.inf, numbers))
    with pytest.raises(DataError) as expected:
        audited_here(rows, features=given)
    with pytest.raises(DataError) as caught:
        audited_elsewhere(ENGINES[engine](rows), features=given)
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_that_is_none_is_missing_among_many(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more different numbers the engine is asked for quantiles."""
    monkeypatch.setattr(counting, "_MOST_VALUES", 100)
    rows = people(np.where(MISSING, np.nan, SOURCE.normal(0, 1, ROWS)))
    assert_same_groups(audited_elsewhere(ENGINES[engine](rows)), audited_here(rows))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", [np.nan, 3.0, 2.5])
@pytest.mark.parametrize("column", ["approved", "score"])
def test_a_column_without_different_numbers_is_refused(
    engine: str, value: float, column: str
) -> None:
    rows = people(np.full(ROWS, value))
    options = {"metrics": "mean_score" if column == "score" else "selection_rate"}
    with pytest.raises(ParameterError) as expected:
        audited_here(rows, column, **options)
    with pytest.raises(ParameterError) as caught:
        audited_elsewhere(ENGINES[engine](rows), column, **options)
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("engine", ["polars", "duckdb", "arrow"])
def test_a_column_of_nulls_is_refused(engine: str) -> None:
    rows = people(pd.array([None] * ROWS, dtype="Float64"))
    with pytest.raises(TestSGDError):
        audited_elsewhere(ENGINES[engine](rows))


@pytest.mark.parametrize(
    "expression",
    [
        "INTERVAL (1) HOUR * (i % 3)",
        "[i % 3]",
        "[i % 3, 1]::BIGINT[2]",
        "{'a': i % 3}",
        "map {'a': i % 3}",
    ],
)
def test_types_without_categories_are_refused(expression: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    query = f"SELECT {expression} AS region, 'f' AS sex, 'no' AS approved FROM range(90) AS r(i)"
    with pytest.raises(ParameterError) as caught:
        audited_elsewhere(duckdb.sql(query))
    assert caught.value.details["column"] == "region"


@pytest.mark.parametrize("engine", ["polars", "arrow"])
@pytest.mark.parametrize("cells", [[[1], [2]], [{"a": 1}, {"a": 2}], pd.to_timedelta([1, 2])])
def test_such_types_of_other_engines_are_refused(engine: str, cells: Any) -> None:
    rows = people(pd.Series(cells).repeat(ROWS // 2).reset_index(drop=True))
    with pytest.raises(ParameterError) as caught:
        audited_elsewhere(ENGINES[engine](rows))
    assert caught.value.details["column"] == "region"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("different", [4, 2**40])
def test_whole_numbers_that_floats_skip(engine: str, different: int) -> None:
    rows = people(2**60 + SOURCE.integers(0, different, ROWS) * 2**20)
    options = {"max_features": 1}
    assert_same_groups(
        audited_elsewhere(ENGINES[engine](rows), **options), audited_here(rows, **options)
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_codes_that_floats_skip_are_different(engine: str) -> None:
    rows = people(2**60 + SOURCE.integers(0, 4, ROWS))
    assert_same_groups(audited_elsewhere(ENGINES[engine](rows)), audited_here(rows))


@pytest.mark.parametrize("engine", ENGINES)
def test_predictions_that_floats_skip_are_numbers(engine: str) -> None:
    rows = people(SOURCE.integers(0, 4, ROWS)).assign(
        score=2**60 + SOURCE.integers(0, 2**40, ROWS) * 2**20
    )
    options = {"metrics": "mean", "favourable": None}
    found = audited_elsewhere(ENGINES[engine](rows), "score", **options)
    expected = audited_here(rows, "score", **options)
    assert found.summary.groups_compared == expected.summary.groups_compared


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("column", ["approved", "score"])
@pytest.mark.parametrize("different", [4, 4000])
def test_decimals_of_fixed_point_are_numbers(engine: str, column: str, different: int) -> None:
    """Of few different ones, which are whole, as of many."""
    step = 1 if different < 10 else 100
    cells = [
        None if is_missing else (Decimal(int(number)) / step).quantize(Decimal("0.01"))
        for number, is_missing in zip(SOURCE.integers(0, different, ROWS), MISSING, strict=True)
    ]
    rows = people(pd.Series(cells, dtype=object))
    options = {"metrics": "mean_score" if column == "score" else "selection_rate"}
    found = audited_elsewhere(ENGINES[engine](rows), column, **options)
    assert_same_groups(found, audited_here(rows, column, **options))


@pytest.mark.parametrize("engine", ENGINES)
def test_classes_that_are_decimals(engine: str) -> None:
    codes = [Decimal(int(code)).quantize(Decimal("0.01")) for code in APPROVED == "yes"]
    rows = people(SOURCE.integers(0, 4, ROWS)).assign(approved=codes)
    options = {"favourable": "1"}
    found = audited_elsewhere(ENGINES[engine](rows), **options)
    assert_same_groups(found, audited_here(rows, **options))


@pytest.mark.parametrize("declared", [{"type": "categorical"}, {"map": {"2": "1"}}])
def test_numbers_that_are_declared_categories_have_no_bins(declared: dict[str, Any]) -> None:
    rows = people(SOURCE.integers(0, 15, ROWS))
    options = {"max_features": 1, "features": {"region": declared}}
    found = audited_elsewhere(in_polars(rows), **options)
    assert_same_groups(found, audited_here(rows, **options))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "chosen", [{"bins": 3}, {"range": [0, 100], "bins": 4}, {"range": [0, 99]}]
)
@pytest.mark.parametrize("decimals", [0, 2])
def test_the_bins_of_a_number_may_be_chosen(
    engine: str, chosen: dict[str, Any], decimals: int
) -> None:
    numbers = np.round(np.random.default_rng(3).normal(50, 12, ROWS).clip(5, 95), decimals)
    rows = people(np.where(MISSING, np.nan, numbers))
    features = {"region": chosen}
    expected = audited_here(rows, features=features)
    assert_same_groups(audited_elsewhere(ENGINES[engine](rows), features=features), expected)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("chosen", [{"range": [20, 60]}, {"bins": 0}, {"bins": 3, "width": 2}])
def test_bins_that_do_not_fit_are_refused(engine: str, chosen: dict[str, Any]) -> None:
    rows = people(np.random.default_rng(3).integers(5, 95, ROWS))
    for audited, given in ((audited_here, rows), (audited_elsewhere, ENGINES[engine](rows))):
        with pytest.raises(TestSGDError):
            audited(given, features={"region": chosen})
