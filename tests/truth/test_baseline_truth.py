"""Other methods are judged by the same people and truth as the audit."""

from __future__ import annotations

import numpy as np
import pytest

from testsgd.baselines import METHODS, BaselineFinding, BaselineResult, subject_of
from testsgd.baselines.divexplorer import divergence_t
from testsgd.baselines.registry import find_baseline
from testsgd.truth import baselines_once, population
from testsgd.truth.baseline_runs import FINDINGS

QUICK = ("themis", "gerryfair", "individual")


def test_every_method_has_a_meaning_of_finding() -> None:
    assert set(FINDINGS) == set(METHODS)


def test_where_nothing_is_planted_nobody_is_hit() -> None:
    runs = baselines_once(population("null"), 2_000, 0, seed=0, methods=QUICK)
    assert [run.method for run in runs] == list(QUICK)
    assert all(run.hits is None for run in runs)
    found = {run.method: run.finding for run in runs}
    # The model does not read sensitive features, so nothing that changes only them finds anything.
    assert not found["themis"]
    assert not found["individual"]


def test_a_linear_group_is_found_by_the_linear_method_alone() -> None:
    runs = baselines_once(population("proxy"), 10_000, 0, seed=0, methods=QUICK)
    hits = {run.method: run.hits for run in runs}
    assert hits["gerryfair"] is not None
    assert hits["gerryfair"].first
    # The model reads the proxy only, which Themis draws alike for everybody.
    assert hits["themis"] is not None
    assert not hits["themis"].first
    # It names people, not groups.
    assert hits["individual"] is None


def test_the_same_people_as_the_audits() -> None:
    first, second = (
        baselines_once(population("band"), 1_000, 5, seed=3, methods=["gerryfair"])
        for _ in range(2)
    )
    assert first[0].hits == second[0].hits


def test_t_by_hand() -> None:
    # 60 of 100 in the group against 50 of 100 of all: 0.1 over sqrt(0.24 / 50 + 0.25 / 100).
    decisions = np.r_[np.ones(30), np.zeros(20), np.ones(20), np.zeros(30)].astype(bool)
    group = np.arange(100) < 50
    assert divergence_t(decisions, group) == pytest.approx(0.1 / np.sqrt(0.24 / 50 + 0.25 / 100))
    assert divergence_t(np.ones(10, dtype=bool), np.arange(10) < 5) == 0


@pytest.mark.parametrize(
    ("method", "value", "finding"),
    [
        ("themis", 0.1, True),
        ("themis", 0.09, False),
        ("gerryfair", 0.011, True),
        ("gerryfair", 0.01, False),
        ("bias-scan", 0.5, True),
        ("bias-scan", 0.0, False),
        ("individual", 0.001, True),
    ],
)
def test_what_counts_as_a_finding(method: str, value: float, finding: bool) -> None:
    people = population("null")
    subject = subject_of(people.table(1_000, seed=0), people.model().model, theta=0.05)
    result = BaselineResult(
        method=method,
        title="",
        measure="",
        findings=(BaselineFinding(text="", value=value, rows=None),),
        figures=(),
        groups=None,
        queries=0,
        seconds=0,
    )
    assert find_baseline(method).is_finding(subject, result) is finding
