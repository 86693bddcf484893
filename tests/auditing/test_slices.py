"""Differences within slices of other features are found, and their number is paid for."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing import AuditResult
from testsgd.auditing.conditional import conditional_scores, strata_of
from testsgd.auditing.findings import TableFindings
from testsgd.errors import ParameterError

ROWS = 8000
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0, "fail_above": 0.1}


def people(rows: int = ROWS, *, seed: int = 1) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows),
            "race": source.choice(list("abc"), rows),
            "income": source.lognormal(10.5, 0.6, rows).round(),
            "job": source.choice(["office", "field", "none"], rows),
        }
    )


def audit(frame: pd.DataFrame, said: Any, **options: Any) -> AuditResult:
    return testsgd.audit_predictions(
        said,
        sensitive_features=frame[["sex", "race"]],
        other_features=frame[["income", "job"]],
        **{**QUICK, **options},
    )


def cancelling(frame: pd.DataFrame) -> np.ndarray:
    """Women of low incomes are selected often and men seldom; of high incomes the reverse."""
    source = np.random.default_rng(0)
    high = (frame["income"] > frame["income"].median()).to_numpy()
    often = (frame["sex"] == "f").to_numpy() != high
    return (source.random(len(frame)) < np.where(often, 0.8, 0.2)).astype(int)


def rich_women(frame: pd.DataFrame) -> np.ndarray:
    """Women of the highest fifth of incomes are never selected, all others half of the time."""
    source = np.random.default_rng(0)
    rich = frame["income"] > frame["income"].quantile(0.8)
    hit = ((frame["sex"] == "f") & rich).to_numpy()
    return ((source.random(len(frame)) < 0.5) & ~hit).astype(int)


def test_differences_that_cancel_are_found_within_slices() -> None:
    frame = people()
    said = cancelling(frame)
    over_all = audit(frame, said)
    assert over_all.verdict.exit_code == 0
    # It is said that nothing was looked for there.
    assert "income" in over_all.verdict.sentences[-1]
    within = audit(frame, said, within="income")
    assert within.verdict.exit_code == 1
    assert "income" in within.verdict.headline
    found = within.summary.within
    assert found is not None
    assert abs(found.groups[0].difference) > 0.5
    assert abs(found.groups[0].overall_difference) < 0.1


def test_the_slice_of_a_known_harm_is_named() -> None:
    frame = people()
    result = audit(frame, rich_women(frame), within="auto")
    found = result.summary.within
    assert found is not None
    first = found.groups[0]
    assert (first.text, first.rate_in) == ("sex = f", 0.0)
    assert first.slice.startswith("income >= ")
    assert first.confidence_interval[1] < 0
    for text in (result.to_html(), result.to_markdown()):
        assert first.slice.replace(">", "&gt;") in text or first.slice in text


def slices_of(frame: pd.DataFrame, minimum: int) -> list[tuple[str, np.ndarray]]:
    """Every value of two categorical features, and every pair of them, with enough rows."""
    single = [
        (name, f"{name} = {value}", (frame[name] == value).to_numpy())
        for name in ("job", "town")
        for value in frame[name].unique()
    ]
    pairs = [
        ("both", f"{first[1]} and {second[1]}", first[2] & second[2])
        for first, second in itertools.combinations(single, 2)
        if first[0] != second[0]
    ]
    return [(text, rows) for _, text, rows in [*single, *pairs] if rows.sum() >= 2 * minimum]


@pytest.mark.parametrize("seed", range(5))
def test_all_comparisons_are_those_of_a_count_by_hand(seed: int) -> None:
    source = np.random.default_rng(seed)
    frame = people(600, seed=seed)
    frame["town"] = source.choice(["x", "y"], 600)
    said = source.integers(0, 2, 600)
    result = testsgd.audit_predictions(
        said,
        sensitive_features=frame[["sex", "race"]],
        other_features=frame[["job", "town"]],
        within="job, town",
        min_rows=20,
        **QUICK,
    )
    found = result.summary.within
    assert found is not None
    findings = result.findings
    assert isinstance(findings, TableFindings)
    groups = [findings.rule_sets.rule_set(group) for group in range(len(findings.rule_sets))]
    compared, largest = 0, 0.0
    rates = {}
    for text, rows in slices_of(frame, 20):
        for group in groups:
            inside = group.matches(findings.table)
            inside_rows, outside_rows = rows & inside, rows & ~inside
            if min(inside_rows.sum(), outside_rows.sum()) < 20:
                continue
            compared += 1
            pair = said[inside_rows].mean(), said[outside_rows].mean()
            rates[group.text, text] = pair
            largest = max(largest, abs(pair[0] - pair[1]))
    assert found.compared == compared
    assert found.largest == pytest.approx(largest)
    for shown in found.groups:
        assert rates[shown.text, shown.slice] == pytest.approx((shown.rate_in, shown.rate_out))


def test_chance_is_not_found_more_often_than_the_error_allows() -> None:
    seeds = 60
    alarms = 0
    for seed in range(seeds):
        frame = people(1500, seed=seed)
        said = np.random.default_rng(1000 + seed).integers(0, 2, 1500)
        found = audit(frame, said, within="auto", replicates=19).summary.within
        assert found is not None
        alarms += found.first is not None
    # One time in a thousand there are more, if the error is 5%.
    assert alarms <= binom.ppf(0.999, seeds, 0.05)


@pytest.mark.parametrize("names", ["sex", "shoe size", "income, income, race"])
def test_features_that_cannot_be_looked_within(names: str) -> None:
    frame = people(400)
    with pytest.raises(ParameterError) as caught:
        audit(frame, np.arange(400) % 2, within=names)
    assert caught.value.where == "within"


def test_the_conditional_comparison_is_in_verdict_and_gate() -> None:
    # Of equal jobs the sexes differ by 40 points, and by nothing over all: men have better jobs.
    frame = people()
    source = np.random.default_rng(2)
    male = (frame["sex"] == "m").to_numpy()
    frame["job"] = np.where(source.random(ROWS) < np.where(male, 0.8, 0.2), "office", "field")
    rate = np.where(frame["job"] == "office", 0.5, 0.17) + np.where(male, 0.0, 0.2)
    said = (source.random(ROWS) < rate).astype(int)
    over_all = audit(frame, said)
    assert over_all.verdict.exit_code == 0
    alike = audit(frame, said, condition_on="job")
    assert alike.verdict.exit_code == 1
    assert any("job" in sentence for sentence in alike.verdict.sentences[1:])
    found = alike.summary.conditional
    assert found is not None
    assert found.text in ("sex = f", "sex = m")
    assert abs(found.difference) == pytest.approx(0.2, abs=0.05)


def test_all_conditional_differences_are_those_of_each_group_alone() -> None:
    frame = people(1500, seed=3)
    result = audit(frame, rich_women(frame), condition_on="income, job", min_rows=20)
    findings = result.findings
    assert isinstance(findings, TableFindings)
    together = findings.conditional
    assert together is not None
    groups = together.compared
    assert len(groups) > 10
    assert findings.row_favourable is not None
    alone = conditional_scores(
        strata_of(findings.table, ["income", "job"]),
        findings.contingency,
        findings.rule_sets.members(groups, findings.contingency),
        findings.row_favourable,
        1,
        features=["income", "job"],
        error=0.05 / len(groups),
    )
    for group, score in zip(groups.tolist(), alone, strict=True):
        assert score is not None
        assert together.difference[group] == pytest.approx(score.difference)
        assert together.interval(group) == pytest.approx(score.confidence_interval)
        assert together.covered[group] == pytest.approx(score.covered)


def test_conditional_comparisons_of_chance_are_rarely_significant() -> None:
    seeds = 60
    alarms = 0
    for seed in range(seeds):
        frame = people(1500, seed=seed)
        said = np.random.default_rng(1000 + seed).random(1500) < 0.15
        result = audit(frame, said.astype(int), condition_on="income, job", replicates=19)
        found = result.summary.conditional
        assert found is not None
        alarms += found.largest_bound > 0
    assert alarms <= binom.ppf(0.999, seeds, 0.05)
