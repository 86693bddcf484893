"""Data frames in which two columns have one name: refused at every door, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.errors import DataError
from testsgd.metrics import audit_rows_elsewhere

ROWS = 300


def columns() -> dict[str, list[Any]]:
    source = np.random.default_rng(0)
    return {
        "sex": source.integers(0, 2, ROWS).tolist(),
        "age": source.integers(18, 80, ROWS).tolist(),
        "income": source.normal(40, 9, ROWS).round(1).tolist(),
        "decision": source.integers(0, 2, ROWS).tolist(),
    }


def of_pandas(names: list[Any]) -> Any:
    return pd.DataFrame(columns()).set_axis(names, axis=1)


def of_arrow(names: list[Any]) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.Table.from_arrays([pa.array(part) for part in columns().values()], names=names)


def decide(rows: Any) -> Any:
    return (rows.iloc[:, 1] > 40).astype(int)


DECISIONS = columns()["decision"]
DESCRIPTION = {
    "dataset": {"name": "people"},
    "label": {"column": "decision", "favourable": "1", "values": ["0", "1"]},
    "features": {
        "sex": {"type": "categorical", "values": ["0", "1"], "sensitive": True},
        "age": {"type": "integer", "range": [18, 80]},
    },
}
EVENTS = {
    "events": {"group": "sex", "decision": "decision"},
    "properties": [{"property": "demographic_parity", "bound": 0.1, "rule": "estimate"}],
}
DOORS: dict[str, Callable[[Any], Any]] = {
    "audit": lambda frame: testsgd.audit(decide, frame, DECISIONS, sensitive_features=["sex"]),
    "audit with a description": lambda frame: testsgd.audit(decide, frame, DESCRIPTION),
    "model by metrics": lambda frame: testsgd.audit_model_by_metrics(
        decide, frame, DECISIONS, sensitive_features=["sex"]
    ),
    "predictions": lambda frame: testsgd.audit_predictions(DECISIONS, sensitive_features=frame),
    "metrics": lambda frame: testsgd.audit_metrics(DECISIONS, sensitive_features=frame),
    "other features": lambda frame: testsgd.audit_metrics(
        DECISIONS, sensitive_features={"group": columns()["sex"]}, other_features=frame
    ),
    "rows elsewhere": lambda frame: audit_rows_elsewhere(
        frame, predictions="decision", sensitive_features=["sex"]
    ),
    "frontier": lambda frame: testsgd.fair_frontier(
        LogisticRegression(), frame, DECISIONS, sensitive_features=["sex"]
    ),
    "mitigation": lambda frame: testsgd.mitigate(LogisticRegression(), frame, DESCRIPTION),
    "classifier": lambda frame: testsgd.FairClassifier(
        LogisticRegression(), sensitive_features=["sex"]
    ).fit(frame, DECISIONS),
    "monitor": lambda frame: testsgd.monitor(EVENTS, frame),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("make", [of_pandas, of_arrow])
@pytest.mark.parametrize(
    "names", [["sex", "age", "age", "decision"], ["sex", "sex", "age", "decision"]]
)
def test_two_columns_of_one_name_are_refused(
    door: str, make: Callable[[list[Any]], Any], names: list[Any]
) -> None:
    twice = max(names, key=names.count)
    with pytest.raises(DataError, match=repr(twice)) as caught:
        DOORS[door](make(names))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("door", ["audit", "model by metrics", "metrics", "frontier"])
def test_names_that_are_one_text_are_refused(door: str) -> None:
    with pytest.raises(DataError, match="'1'"):
        DOORS[door](of_pandas(["sex", 1, "1", "decision"]))
