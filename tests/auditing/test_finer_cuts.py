"""Harm within a bin of a number is found by a second look with finer cuts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing import AuditResult
from testsgd.auditing.report.worse_off import Features, group_in_words
from testsgd.report.formatting import points

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0, "fail_above": 0.2}


def people(rows: int, *, seed: int) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": source.integers(18, 90, rows),
            "sex": source.choice(["f", "m"], rows),
            "race": source.choice(list("abc"), rows),
        }
    )


def audit(frame: pd.DataFrame, said: Any, **options: Any) -> AuditResult:
    return testsgd.audit_predictions(said, sensitive_features=frame, **{**QUICK, **options})


def chance(rows: int, *, seed: int) -> np.ndarray:
    return np.random.default_rng(1000 + seed).random(rows) < 0.5


@pytest.mark.parametrize("hit", [[18], [50], list(range(19, 90, 2))], ids=str)
def test_ages_within_bins_are_found(hit: list[int]) -> None:
    frame = people(30_000, seed=1)
    said = chance(30_000, seed=1) & ~frame["age"].isin(hit).to_numpy()
    result = audit(frame, said.astype(int))
    assert result.verdict.exit_code == 1
    found = result.summary.finer
    assert found is not None
    assert found.rate_in == 0
    # As the rates of those who are described by it, counted by hand.
    inside = result.findings.finer.first.rule_set.matches(result.findings.table)
    assert found.n_in == inside.sum()
    assert found.rate_out == pytest.approx(said[~inside].mean())
    words = group_in_words(found.rules, Features.of(result.summary))
    assert words in result.verdict.headline.lower()
    # The key figure of the report is the same finding.
    figures = result.to_markdown().split("'s difference |")[1].splitlines()[2]
    assert f"| **{points(found.difference)}** |" in figures


def test_an_age_of_one_sex_is_found() -> None:
    frame = people(60_000, seed=2)
    hit = ((frame["age"] == 44) & (frame["sex"] == "f")).to_numpy()
    result = audit(frame, (chance(60_000, seed=2) & ~hit).astype(int))
    assert result.verdict.exit_code == 1
    assert result.summary.finer is not None
    assert "sex = f" in result.summary.finer.text


@pytest.mark.slow
def test_chance_is_rarely_found() -> None:
    seeds = 60
    alarms = 0
    for seed in range(seeds):
        frame = people(1500, seed=seed)
        # All groups are examined, however few are shown.
        result = audit(frame, chance(1500, seed=seed).astype(int), replicates=19, top=1)
        assert result.summary.finer is not None
        alarms += result.summary.finer.lower_confidence_bound > 0
    # This look has a tenth of the error.
    assert alarms <= binom.ppf(0.999, seeds, 0.005)


def test_missing_numbers_hide_no_age_within_a_bin() -> None:
    frame = people(20_000, seed=4).astype({"age": float})
    frame.loc[:3000, "age"] = np.nan
    said = (
        chance(20_000, seed=4) & frame["age"].notna().to_numpy() & (frame["age"] != 44).to_numpy()
    )
    result = audit(frame, said.astype(int))
    assert result.summary.finer is not None
    assert result.summary.finer.text == "44 <= age < 45"
    assert any("44 <= age < 45" in sentence for sentence in result.verdict.sentences)


def test_how_fine_it_looked_is_said() -> None:
    frame = people(3000, seed=3)
    result = audit(frame, chance(3000, seed=3).astype(int))
    assert result.verdict.exit_code == 0
    assert any("72 bins" in sentence for sentence in result.verdict.sentences)


def test_single_values_need_no_second_look() -> None:
    frame = people(3000, seed=4).assign(age=lambda all_people: all_people["age"] % 5)
    assert audit(frame, chance(3000, seed=4).astype(int)).summary.finer is None
