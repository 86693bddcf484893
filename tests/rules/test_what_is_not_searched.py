"""Features that no group can be described by, and bins that hold most of the rows, are said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import testsgd
from testsgd.auditing import AuditResult
from testsgd.auditing.report.vocabulary import PredictionWords
from testsgd.auditing.report.wording import unjudged_sentences

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


def within_a_bin(values: NDArray[np.int64], *, edges: list[int]) -> AuditResult:
    """Audit equal answers for people most of whom are in one bin of a number."""
    frame = pd.DataFrame({"wealth": values, "sex": np.where(np.arange(ROWS) % 2, "f", "m")})
    said = np.arange(ROWS) % 4 < 2
    declared = {"type": "integer", "range": [edges[0], edges[-1]], "edges": edges}
    return testsgd.audit_predictions(
        said.astype(int), sensitive_features=frame, features={"wealth": declared}, **QUICK
    )


def about_bins(result: AuditResult) -> str:
    finer = [] if result.summary.finer is None else result.summary.finer.features
    words = PredictionWords("selection_rate")
    return " ".join(unjudged_sentences(result.summary.unjudged, words, finer=finer))


def test_of_a_bin_that_finer_cuts_looked_into_it_is_not_said_that_nothing_did() -> None:
    values = np.random.default_rng(1).integers(0, 99, ROWS)
    result = within_a_bin(values, edges=[0, 70, 100])
    [coarse] = result.summary.unjudged.coarse_bins
    assert (coarse.feature, coarse.one_value) == ("wealth", False)
    assert result.summary.finer is not None
    assert "wealth < 70" in about_bins(result)
    told = " ".join(result.verdict.sentences)
    assert about_bins(result) in told
    # Without such a look it is another sentence, with an advice.
    without = unjudged_sentences(result.summary.unjudged, PredictionWords("selection_rate"))
    assert "--bins" in " ".join(without)
    assert "--bins" not in told


def test_other_bins_are_not_advised_where_nearly_all_have_one_value() -> None:
    values = np.random.default_rng(1).integers(1, 99, ROWS)
    values[np.arange(ROWS) % 10 > 0] = 0
    result = within_a_bin(values, edges=[0, 3, 100])
    [coarse] = result.summary.unjudged.coarse_bins
    assert coarse.one_value
    words = PredictionWords("selection_rate")
    assert "--bins" not in " ".join(unjudged_sentences(result.summary.unjudged, words))
    looked = unjudged_sentences(result.summary.unjudged, words, finer=["wealth"])
    assert "wealth" not in " ".join(looked)


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
