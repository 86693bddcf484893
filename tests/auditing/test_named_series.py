"""One sensitive feature as a series of any library, with the name that it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import testsgd

SEX = ["f", "m", "m", "f"] * 50
DECIDED = ["yes", "no"] * 100
SERIES: dict[str, tuple[Callable[[], Any], str]] = {
    "pandas": (lambda: pd.Series(SEX, name="sex"), "sex"),
    "polars": (lambda: pl.Series("sex", SEX), "sex"),
    "polars categories": (lambda: pl.Series("sex", SEX, dtype=pl.Categorical), "sex"),
    "polars unnamed": (lambda: pl.Series(SEX), "group"),
    "chunks of Arrow": (lambda: pa.chunked_array([SEX]), "group"),
    "an array of Arrow": (lambda: pa.array(SEX), "group"),
    "a column of a table": (lambda: pa.table({"sex": SEX})["sex"], "group"),
    "a batch of rows": (lambda: pa.table({"sex": SEX}).to_batches()[0], "sex"),
    "in a mapping": (lambda: {"sex": pl.Series(SEX)}, "sex"),
}


@pytest.mark.parametrize("kind", SERIES)
def test_predictions_and_models_take_it(kind: str) -> None:
    make, name = SERIES[kind]
    result = testsgd.audit_predictions(pl.Series("ok", DECIDED), sensitive_features=make())
    assert set(result.groups["text"]) == {f"{name} = f", f"{name} = m"}
    rows = pd.DataFrame({"income": [row % 150 for row in range(len(SEX))]})
    by_model = testsgd.audit(lambda frame: frame["income"] > 70, rows, sensitive_features=make())
    assert set(by_model.groups["text"]) == {f"{name} = f", f"{name} = m"}


def test_metrics_take_it() -> None:
    numbers = pl.Series("pay", [10.5 + row % 7 for row in range(len(SEX))])
    result = testsgd.audit_predictions(
        numbers, sensitive_features=pl.Series("sex", SEX), metrics="mean"
    )
    assert set(result.groups["text"]) == {"sex = f", "sex = m"}
