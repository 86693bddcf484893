"""Scores counted by a threshold are called like the labels of the description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.data import DatasetSpecification
from testsgd.metrics import audit_described_counts, described_counts_query
from testsgd.metrics.files import audit_described_predictions

duckdb = pytest.importorskip("duckdb")

ROWS = 900
METRICS = ["selection_rate", "true_positive_rate", "false_positive_rate"]
LABELS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "renamed, with values": (
        [0, 1],
        {"map": {"1": "granted", "0": "refused"}, "values": ["granted", "refused"]},
    ),
    "renamed": ([0, 1], {"map": {"1": "granted", "0": "refused"}}),
    "renamed already": (["refused", "granted"], {"map": {"1": "granted", "0": "refused"}}),
    "joined": (
        ["no", "never", "yes"],
        {"map": {"no": "refused", "never": "refused", "yes": "granted"}},
    ),
    "several": (
        ["refused", "granted", "later"],
        {"values": ["granted", "refused", "later"]},
    ),
    "renamed, several": ([0, 1, 2], {"map": {"0": "refused", "1": "granted", "2": "later"}}),
    "favourable together": (
        ["refused", "granted", "later"],
        {"values": ["granted", "refused", "later"], "favourable": ["granted", "later"]},
    ),
    "not listed": (["refused", "granted"], {}),
    "codes that are not listed": ([0, 1], {"favourable": "1"}),
    "codes": ([0, 1], {"values": ["0", "1"], "favourable": "1"}),
    "codes of which 0 is favourable": ([0, 1], {"favourable": "0"}),
}


def people(labels: list[Any]) -> pd.DataFrame:
    """Return people with scores, some of them without a label."""
    source = np.random.default_rng(12)
    rows = pd.DataFrame({"sex": source.choice(["f", "m"], ROWS)})
    rows["score"] = (0.7 * source.random(ROWS) + 0.2 * (rows["sex"] == "m")).round(3)
    rows["result"] = pd.Series([labels[place] for place in source.integers(0, len(labels), ROWS)])
    rows["result"] = rows["result"].mask(np.arange(ROWS) % 9 == 0)
    return rows


def description(label: dict[str, Any]) -> DatasetSpecification:
    return DatasetSpecification.model_validate(
        {
            "dataset": {"name": "people"},
            "label": {"column": "result", "favourable": "granted", **label},
            "features": {
                "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            },
        }
    )


@pytest.mark.parametrize("with_label", [True, False])
@pytest.mark.parametrize("case", LABELS)
def test_counted_scores_give_the_audit_of_the_rows(
    case: str, with_label: bool, tmp_path: Path
) -> None:
    labels, declared = LABELS[case]
    rows = people(labels)
    described = description(declared)
    query = described_counts_query(
        described,
        table="decisions",
        predictions="score",
        label="result" if with_label else None,
        threshold=0.5,
    )
    with duckdb.connect() as connection:
        connection.register("decisions", rows)
        counts = connection.sql(query).df()
    metrics = METRICS if with_label else METRICS[:1]
    quick: dict[str, Any] = {"predictions": "score", "metrics": metrics, "replicates": 99}
    counted = audit_described_counts(described, counts, **quick)
    rows.to_csv(tmp_path / "people.csv", index=False)
    expected = audit_described_predictions(
        described, tmp_path / "people.csv", threshold=0.5, **quick
    )
    columns = ["metric", "text", "counted", "value", "effect"]
    found, known = (
        result.groups[columns].sort_values(["metric", "text"]).reset_index(drop=True)
        for result in (counted, expected)
    )
    pd.testing.assert_frame_equal(found, known)
