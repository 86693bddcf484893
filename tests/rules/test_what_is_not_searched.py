"""Features that no group can be described by, and bins that hold most of the rows, are said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd

ROWS = 4000
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0, "fail_above": 0.3}


def people() -> pd.DataFrame:
    """Nearly all people have a wealth below 100,000; the poor half of them is never selected."""
    source = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "wealth": source.integers(0, 99_000, ROWS),
            # Too few people are abroad for a group.
            "country": np.where(np.arange(ROWS) < 20, "B", "A"),
        }
    )


def audit(frame: pd.DataFrame, sensitive: list[str], **options: Any) -> Any:
    said = (frame["wealth"] > 49_500).astype(int)
    return testsgd.audit_predictions(
        said,
        sensitive_features=frame[sensitive],
        features={"wealth": {"type": "integer", "range": [0, 1_000_000], "bins": 10}}
        if "wealth" in sensitive
        else None,
        **{**QUICK, **options},
    )


@pytest.mark.parametrize("metrics", [None, "selection_rate"])
def test_a_number_in_one_bin_is_named(metrics: Any) -> None:
    result = audit(people(), ["sex", "wealth"], metrics=metrics)
    assert result.summary.unjudged.features == ["wealth"]
    [coarse] = result.summary.unjudged.coarse_bins
    assert coarse.share == 1
    assert any("wealth" in sentence for sentence in result.verdict.sentences)


def test_a_strict_audit_concludes_nothing_then() -> None:
    assert audit(people(), ["sex", "country"]).verdict.exit_code == 0
    assert audit(people(), ["sex", "country"], strict=True).verdict.exit_code == 3
    # Of what is searched the strict audit may conclude.
    assert audit(people(), ["sex"], strict=True).verdict.exit_code == 0


def test_finer_cuts_find_what_happens_within_a_bin() -> None:
    result = audit(people(), ["sex", "wealth"])
    assert result.verdict.exit_code == 1
    assert result.summary.finer is not None
    assert result.summary.finer.text.startswith("wealth < ")


def test_bins_from_the_data_find_it() -> None:
    frame = people()
    said = (frame["wealth"] > 49_500).astype(int)
    result = testsgd.audit_predictions(said, sensitive_features=frame[["sex", "wealth"]], **QUICK)
    assert result.summary.unjudged.features == []
    assert result.summary.unjudged.coarse_bins == []
    assert result.verdict.exit_code == 1


def test_a_feature_with_a_rare_value_only_is_named() -> None:
    result = audit(people(), ["sex", "country"])
    assert result.summary.unjudged.features == ["country"]


@pytest.mark.parametrize("share", [0.05, 0.15])
@pytest.mark.parametrize("metrics", [None, "selection_rate"])
def test_missing_numbers_are_a_group_of_their_own(share: float, metrics: Any) -> None:
    source = np.random.default_rng(1)
    age = source.integers(18, 90, ROWS).astype(float)
    missing = source.random(ROWS) < share
    said = ((source.random(ROWS) < 0.5) & ~missing).astype(int)
    frame = pd.DataFrame(
        {"age": np.where(missing, np.nan, age), "sex": source.choice(["f", "m"], ROWS)}
    )
    result = testsgd.audit_predictions(said, sensitive_features=frame, metrics=metrics, **QUICK)
    assert result.verdict.exit_code == 1
    first = result.summary.groups[0] if metrics is None else result.summary.metrics[0].groups[0]
    assert first.text == "age = missing"
