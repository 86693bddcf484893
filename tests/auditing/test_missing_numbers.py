"""A rule on a number never counts missing among its complement's members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing import AuditResult

QUICK: dict[str, Any] = {"replicates": 199, "stability": 0}
NUMBERS = {"age": {"type": "integer", "range": [18, 90], "bins": 6}}


def people(rows: int, *, seed: int, missing: float) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    age = source.integers(18, 90, rows).astype(float)
    return pd.DataFrame(
        {
            "age": np.where(source.random(rows) < missing, np.nan, age),
            "sex": source.choice(["f", "m"], rows),
            "job": source.choice(["x", "y", "z"], rows),
        }
    )


def audit(frame: pd.DataFrame, said: Any, **options: Any) -> AuditResult:
    return testsgd.audit_predictions(
        np.asarray(said).astype(int),
        sensitive_features=frame[["age", "sex"]],
        features=NUMBERS,
        **{**QUICK, **options},
    )


def never_if_missing(frame: pd.DataFrame, *, seed: int) -> Any:
    return (np.random.default_rng(seed).random(len(frame)) < 0.5) & frame["age"].notna()


@pytest.mark.parametrize("seed", range(3))
def test_missing_alone_is_found_where_missing_alone_is_harmed(seed: int) -> None:
    frame = people(8000, seed=seed, missing=0.15)
    result = audit(frame, never_if_missing(frame, seed=seed), fail_above=0.1, rank_by="score")
    assert result.verdict.exit_code == 1
    groups = result.groups.set_index("text")
    significant = groups.index[(groups["ci_low"] > 0) | (groups["ci_high"] < 0)]
    # Women are harmed no more than men, and no age is harmed, alone or together with a sex.
    assert [text for text in significant if "age = missing" not in text] == []
    assert "age = missing" in significant
    assert groups.loc["age = missing", "rate_in"] == 0
    assert result.findings.rule_set(result.findings.distinct[0]).text == "age = missing"
    assert len(result.findings.distinct) == 1
    assert result.summary.finer is not None
    # No finer cut of the known ages is found beside it.
    assert result.summary.finer.lower_confidence_bound == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_gate_passes_without_the_rows_that_alone_fail_it(seed: int) -> None:
    frame = people(8000, seed=seed, missing=0.15)
    said = never_if_missing(frame, seed=seed)
    whole = audit(frame, said, fail_above=0.1, rank_by="score").groups.set_index("text")
    known = frame["age"].notna().to_numpy()
    part = audit(frame[known], said[known], fail_above=0.1, rank_by="score")
    assert part.verdict.exit_code == 0
    # The rates of both sides of an interval are those of the rows whose age is known.
    for text, group in part.groups.set_index("text").iterrows():
        if "age" in text:
            for column in ("n_in", "n_out", "rate_in", "rate_out"):
                assert whole.loc[text, column] == group[column], text


SAMPLED: dict[str, Any] = {"mode": "sampled", "max_queries": 60_000, "error_margin": 0.04}


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_samples_are_drawn_from_the_rows_of_both_sides_only(sampling: str) -> None:
    frame = people(3000, seed=3, missing=0.3).assign(label="no")
    frame.loc[::2, "label"] = "yes"
    description = {
        "dataset": {"name": "few"},
        "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "age": {**NUMBERS["age"], "bins": 2, "sensitive": True},
            "sex": {"type": "categorical", "values": ["f", "m"]},
            "job": {"type": "categorical", "values": ["x", "y", "z"]},
        },
    }

    def model(rows: pd.DataFrame) -> Any:
        return np.where(rows["age"].isna(), "no", "yes")

    options = {**QUICK, **SAMPLED, "sampling": sampling, "estimand": "neighbourhood"}
    groups = testsgd.audit(model, frame, description, **options).groups.set_index("text")
    for text in ("age < 54", "age >= 54"):
        assert groups.loc[text, "rate_in"] == groups.loc[text, "rate_out"] == 1
        assert groups.loc[text, "n_in"] + groups.loc[text, "n_out"] == frame["age"].notna().sum()
    assert groups.loc["age = missing", "rate_in"] == 0


def test_looks_within_slices_and_among_alike_compare_with_known_ages() -> None:
    frame = people(6000, seed=4, missing=0.2)
    said = never_if_missing(frame, seed=4)
    result = testsgd.audit_predictions(
        said.astype(int),
        sensitive_features=frame[["age", "sex"]],
        features={**NUMBERS, "job": {"type": "categorical", "values": ["x", "y", "z"]}},
        other_features=frame[["job"]],
        within="job",
        condition_on="job",
        **QUICK,
    )
    findings: Any = result.findings
    for item in findings.slices.found:
        text = findings.rule_set(item.group).text
        if item.rates.lower_bound > 0:
            assert "age = missing" in text
        elif "age = missing" not in text and "age" in text:
            assert item.rates.rate_out > 0.4
    bounds = findings.conditional.lower_bounds
    for group in np.flatnonzero(bounds > 0).tolist():
        assert "age = missing" in findings.rule_set(group).text


def test_reports_say_which_rows_an_interval_is_compared_with() -> None:
    frame = people(4000, seed=5, missing=0.2)
    chance = np.where(frame["age"] < 30, 0.1, 0.6)
    result = audit(frame, np.random.default_rng(5).random(4000) < chance, fail_above=0.2)
    assert result.summary.groups[0].text == "age < 30"
    assert "compared with rows whose age is known" in result.to_html()
    known = frame.dropna()
    again = audit(known, np.random.default_rng(5).random(len(known)) < 0.5)
    assert "compared with rows whose" not in again.to_html()


REPETITIONS = 60


def test_few_searches_without_a_cause_find_something() -> None:
    found = 0
    for seed in range(REPETITIONS):
        frame = people(1500, seed=seed, missing=0.2)
        said = np.random.default_rng(9000 + seed).random(len(frame)) < 0.4
        found += audit(frame, said, confidence=0.9).findings.largest_bound > 0
    # One in ten at most is expected; more than these have a chance below one in a thousand.
    assert found <= binom.isf(1e-3, REPETITIONS, 0.1)
