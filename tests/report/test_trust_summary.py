"""The summary's figures of trust are those of the findings, in its groups and in tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing import AuditResult, Findings, summarise
from testsgd.auditing.report.frames import summary_frame
from testsgd.data import generate_demo

PEOPLE = generate_demo(rows=2000, seed=21)
SMALL: dict[str, Any] = {"stability": 0, "replicates": 99, "max_features": 2}


def audit(**settings: Any) -> AuditResult:
    return testsgd.audit(None, PEOPLE, "demo", **SMALL | settings)


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return audit(top=3)


def known(result: AuditResult) -> Findings:
    assert result.findings is not None
    return result.findings


def outside_zero(low: float, high: float) -> float:
    """Work out the smallest size within an interval, the long way."""
    return 0.0 if low <= 0 <= high else min(abs(low), abs(high))


def test_intervals_are_those_of_the_guarantee(result: AuditResult) -> None:
    findings = known(result)
    assert findings.guarantee is not None
    ends = findings.guarantee.confidence_intervals(findings.estimates, findings.ranking)
    for group in result.summary.groups:
        low, high = (float(end[group.rank - 1]) for end in ends)
        assert group.confidence_interval == (low, high)
        assert group.lower_confidence_bound == outside_zero(low, high)


def test_counts_and_the_surest_follow_from_all_intervals(result: AuditResult) -> None:
    findings, told = known(result), result.summary.guarantee
    assert findings.guarantee is not None
    assert told is not None
    assert (told.kind, told.groups) == ("simultaneous", len(findings.ranking))
    ends = findings.guarantee.confidence_intervals(findings.estimates, findings.ranking)
    sizes = [outside_zero(float(low), float(high)) for low, high in zip(*ends, strict=True)]
    assert told.significant == sum(size > 0 for size in sizes)
    assert told.largest_bound_rank == 1 + int(np.argmax(sizes))


def test_of_two_sides_with_the_same_bound_that_ranked_first_has_the_largest() -> None:
    # By rounding the bound of the other side of these is larger, by a part of 10^16.
    side = ["maj"] * 3608 + ["min"] * 392
    selected = [0] * 1833 + [1] * 1775 + [0] * 319 + [1] * 73
    told = testsgd.audit_predictions(selected, sensitive_features={"q": side}, stability=0).summary
    assert told.groups[0].text == "q = min"
    assert told.guarantee.largest_bound_rank == 1
    assert [item.first for item in told.estimands] == ["q = min"]


def test_the_surest_group_is_in_the_summary_however_far_down_it_ranks(
    result: AuditResult,
) -> None:
    findings = known(result)
    assert findings.guarantee is not None
    last = int(findings.ranking[-1])
    bounds = findings.guarantee.lower_bounds.copy()
    bounds[last] = 0.99
    surest = replace(findings.guarantee, largest_bound_group=last, lower_bounds=bounds)
    moved = replace(findings, guarantee=surest)
    ranks = [group.rank for group in summarise(moved).groups]
    assert ranks[-1] == len(findings.ranking)
    assert ranks == sorted(ranks)
    assert ranks[-1] not in [group.rank for group in result.summary.groups]


def test_without_a_guarantee_for_many_intervals_are_for_one_group() -> None:
    findings = known(audit(guarantee="per-group"))
    one = summarise(findings)
    low, high = findings.estimates.population_interval(0.95)
    group = int(findings.ranking[0])
    assert one.groups[0].confidence_interval == (float(low[group]), float(high[group]))


def test_the_table_has_the_same_figures(result: AuditResult) -> None:
    whole, part = result.groups.set_index("rank"), summary_frame(result.summary).set_index("rank")
    columns = ["ci_low", "ci_high", "lower_confidence_bound", "q_value"]
    pd.testing.assert_frame_equal(whole.loc[part.index, columns], part[columns])
    assert part["q_value"].isna().all()


def test_q_values_and_the_number_found() -> None:
    result = audit(guarantee="fdr", top=500)
    frame, told = result.groups, result.summary.guarantee
    assert told is not None
    assert told.significant == int((frame["q_value"] <= 1 - 0.95).sum()) > 0
    found = {group.rank: group.q_value for group in result.summary.groups}
    for rank, q_value in frame.set_index("rank")["q_value"].items():
        assert rank not in found or found[rank] == q_value


@pytest.mark.parametrize("kind", ["per-group", "simultaneous", "fdr"])
def test_the_gate_goes_by_all_groups_not_only_by_those_listed(kind: str) -> None:
    frame = audit(guarantee=kind, top=500).groups
    sure = {
        "per-group": frame["score"].max(),
        "simultaneous": frame["lower_confidence_bound"].max(),
        "fdr": frame["score"][frame["q_value"] <= 1 - 0.95].max(),
    }[kind]
    for gate, code in ((sure - 1e-6, 1), (frame["score"].max(), 0)):
        assert audit(guarantee=kind, top=1, fail_above=float(gate)).verdict.exit_code == code
    if kind == "simultaneous":
        between = float((sure + frame["score"].max()) / 2)
        assert audit(top=1, fail_above=between).verdict.exit_code == 3


def test_held_out_rows_stability_and_explanations_reach_the_document() -> None:
    # Many enough for a rule to be significant in one half.
    people = generate_demo(rows=8000, seed=21)
    settings = SMALL | {"holdout": 0.5, "stability": 20, "condition_on": "income, debt_ratio"}
    result = testsgd.audit(None, people, "demo", **settings)
    findings, summary = known(result), result.summary
    assert findings.holdout is not None
    assert summary.holdout is not None
    assert summary.holdout.searched + summary.holdout.estimated == len(people)
    assert summary.rules
    assert summary.stability_samples == 20
    for group in summary.groups:
        number = int(findings.ranking[group.rank - 1])
        assert group.in_search is not None
        assert group.in_search.rank == findings.in_search[number].rank
        assert group.stability == findings.stability.get(number)
    explained = [one for one in summary.groups if one.explanation is not None]
    assert explained
    for one in explained:
        assert one.explanation is not None
        added = sum(item.value for item in one.explanation.shapley_values)
        assert added == pytest.approx(one.difference)
        assert one.explanation.conditional is not None
        assert one.explanation.conditional.features == ["income", "debt_ratio"]
    assert AuditResult.document.read(AuditResult.document.render(summary)) == summary
