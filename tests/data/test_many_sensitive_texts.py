"""A sensitive feature of many texts is categories if each text is frequent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import infer_specification, load_specification, load_table
from testsgd.data.description_text import describe_file
from testsgd.errors import ParameterError
from testsgd.metrics import audit_counts

LABELS = pd.Series(["no", "yes"])


def towns(number: int, each: int) -> pd.DataFrame:
    """Return rows of towns, `each` of one and two without any."""
    names = [f"town {town:04}" for town in range(number) for _ in range(each)]
    return pd.DataFrame({"town": [*names, None, None]})


@pytest.mark.parametrize(("number", "each"), [(201, 10), (300, 12), (1000, 10)])
def test_frequent_texts_are_categories(number: int, each: int) -> None:
    rows = towns(number, each)
    guessed = infer_specification(rows, sensitive=["town"], label="y", labels=LABELS)
    [column] = guessed.columns
    assert column.kind == "categorical"
    assert column.why == f"{number:,} different values, each in {each} rows on average"
    assert guessed.specification.features["town"].values == sorted(set(rows["town"].dropna()))


@pytest.mark.parametrize(("number", "each"), [(300, 9), (1001, 12), (300, 1)])
def test_rare_or_too_many_texts_are_refused(number: int, each: int) -> None:
    with pytest.raises(ParameterError, match="1,000") as caught:
        infer_specification(towns(number, each), sensitive=["town"], label="y", labels=LABELS)
    assert caught.value.details["column"] == "town"


def test_texts_that_are_not_sensitive_stay_texts() -> None:
    rows = towns(300, 12).assign(sex=["f", "m"] * 1801)
    guessed = infer_specification(rows, sensitive=["sex"], label="y", labels=LABELS)
    assert {column.name: column.kind for column in guessed.columns}["town"] == "text"
    assert "town" not in guessed.specification.features


def test_a_described_file_has_them(tmp_path: Path) -> None:
    rows = towns(300, 12)
    rows["y"] = ["no", "yes"] * 1801
    rows.to_csv(tmp_path / "rows.csv", index=False)
    text = describe_file(tmp_path / "rows.csv", sensitive=["town"], label="y")
    assert "300 different values, each in 12 rows on average" in text
    (tmp_path / "rows.toml").write_text(text, encoding="utf-8")
    table = load_table(load_specification(tmp_path / "rows.toml"))
    assert len(table.specification.features["town"].values or []) == 300


def test_counts_say_how_frequent_texts_are() -> None:
    rows = towns(250, 20)[:-2]
    source = np.random.default_rng(5)
    rows["y"] = source.random(len(rows)) < np.where(rows["town"] == "town 0007", 0.1, 0.6)
    counts = rows.groupby(["town", "y"]).size().reset_index(name="rows")
    found = audit_counts(
        counts, predictions="y", sensitive_features=["town"], replicates=99, stability=0
    )
    expected = testsgd.audit_metrics(
        rows["y"],
        sensitive_features=rows[["town"]],
        metrics="selection_rate",
        replicates=99,
        stability=0,
    )
    values = ["text", "rows", "value"]
    pd.testing.assert_frame_equal(
        found.groups[values].sort_values("text", ignore_index=True),
        expected.groups[values].sort_values("text", ignore_index=True),
    )
    rare = counts.assign(rows=1)
    with pytest.raises(ParameterError, match="cannot be sensitive"):
        audit_counts(rare, predictions="y", sensitive_features=["town"], stability=0)
