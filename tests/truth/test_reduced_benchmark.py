"""The benchmark on reduced numbers: what is claimed is kept, and what is not claimed is not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from few_people import GROUP, small_population
from scipy.stats import binom

from testsgd.auditing import AuditParameters, run_audit
from testsgd.auditing.parameters import GuaranteeKind
from testsgd.truth import Run, audit_once, population, truth_of

# By how many points the planted group is below the others: nothing, or enough.
NULL, PLANTED = 0, 20
RUNS = {NULL: 100, PLANTED: 50}
ROWS = 1_000


@cache
def runs(step: int) -> list[Run]:
    people = small_population(step)
    return [audit_once(people, ROWS, number, seed=1, sampled=False) for number in range(RUNS[step])]


def most_false(step: int) -> int:
    """Were 5% of the runs false, more would be seen once in 100,000."""
    return int(binom.ppf(1 - 1e-5, RUNS[step], 0.05))


def fewest_true(step: int) -> int:
    """Were 95% of the runs right, fewer would be seen once in 100,000."""
    return int(binom.ppf(1e-5, RUNS[step], 0.95))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["simultaneous", "holdout", "fdr"])
def test_there_is_rarely_a_false_finding_where_there_is_nothing(kind: str) -> None:
    assert sum(run.intervals[kind].false for run in runs(NULL)) <= most_false(NULL)


def test_intervals_per_group_make_no_such_promise() -> None:
    false = sum(run.intervals["per-group"].false for run in runs(NULL))
    assert false > most_false(NULL) / 2
    assert false > sum(run.intervals["simultaneous"].false for run in runs(NULL))


@pytest.mark.slow
@pytest.mark.parametrize("step", [NULL, PLANTED])
@pytest.mark.parametrize("kind", ["simultaneous", "holdout"])
def test_all_intervals_hold_the_truth_together(kind: str, step: int) -> None:
    assert sum(run.intervals[kind].all for run in runs(step)) >= fewest_true(step)


@pytest.mark.parametrize("step", [NULL, PLANTED])
def test_every_interval_per_group_holds_the_truth_of_its_group(step: int) -> None:
    covered = sum(run.intervals["per-group"].covered for run in runs(step))
    groups = sum(run.intervals["per-group"].groups for run in runs(step))
    # Intervals of one run depend on each other: the runs alone are counted as independent.
    assert covered / groups >= fewest_true(step) / RUNS[step]


def test_the_planted_group_is_found_and_its_interval_holds() -> None:
    found = runs(PLANTED)
    assert (
        sum(run.by_score is not None and run.by_score.first for run in found) > 0.8 * RUNS[PLANTED]
    )
    assert (
        sum(run.by_lower_bound is not None and run.by_lower_bound.first for run in found)
        > 0.8 * RUNS[PLANTED]
    )
    covered = sum(run.planted.covered for run in found)
    assert all(run.planted.groups == 1 for run in found)
    assert sum(run.explained is True for run in found) > 0.8 * RUNS[PLANTED]
    assert covered >= fewest_true(PLANTED)


def test_discovered_groups_are_rarely_false() -> None:
    shares = [
        1 - run.intervals["fdr"].covered / run.intervals["fdr"].groups
        for run in runs(PLANTED)
        if run.intervals["fdr"].groups
    ]
    assert len(shares) > RUNS[PLANTED] / 2
    assert sum(shares) <= most_false(PLANTED)


def test_a_run_counts_what_an_audit_of_the_same_people_says() -> None:
    # By hand, from the audit alone: intervals that leave out the truth of their groups.
    people = small_population(PLANTED)
    number = 7
    found = run_audit(
        people.model(),
        people.table(ROWS, seed=1, run=number),
        AuditParameters(guarantee="per-group", stability=0, seed=number),
    )
    low, high = found.estimates.population_interval(0.95)
    covered = 0
    for group in range(len(found.rule_sets)):
        true = truth_of(people, "observed").difference(found.rule_set(group))
        covered += bool(low[group] <= true <= high[group])
    run = runs(PLANTED)[number]
    assert (run.intervals["per-group"].covered, run.intervals["per-group"].groups) == (
        covered,
        len(found.rule_sets),
    )
    for ranking, first in (
        ("score", np.argmax(found.estimates.score)),
        ("lower bound", np.argmax(found.guarantee.lower_bounds)),
    ):
        true = abs(truth_of(people, "observed").difference(found.rule_set(int(first))))
        assert run.overstated[ranking] == pytest.approx(found.estimates.score[first] - true)


@pytest.mark.parametrize("kind", ["per-group", "fdr"])
def test_an_audit_that_asks_for_another_guarantee_gives_the_same_intervals(
    kind: GuaranteeKind,
) -> None:
    people = small_population(PLANTED)
    found = run_audit(
        people.model(),
        people.table(ROWS, seed=1, run=2),
        AuditParameters(guarantee=kind, stability=0, seed=2),
    )
    assert found.guarantee is not None
    groups = np.arange(len(found.rule_sets))
    if found.guarantee.q_values is not None:
        groups = np.flatnonzero(found.guarantee.q_values <= 0.05)
    low, high = found.guarantee.confidence_intervals(found.estimates, groups)
    true = truth_of(people, "observed").differences(found.rule_sets)[groups]
    interval = runs(PLANTED)[2].intervals[kind]
    assert (interval.covered, interval.groups) == (((low <= true) & (true <= high)).sum(), len(low))


def test_same_number_same_run() -> None:
    assert runs(PLANTED)[3] == audit_once(small_population(PLANTED), ROWS, 3, seed=1, sampled=False)
    assert GROUP in small_population(PLANTED).planted


def test_sampled_audits_are_held_against_the_exact_one() -> None:
    run = audit_once(small_population(PLANTED), ROWS, 0, seed=1)
    margins = {kind: cover for kind, cover in run.intervals.items() if " " in kind}
    assert set(margins) == {
        "pooled wald",
        "pooled anytime",
        "independent wald",
        "independent anytime",
    }
    assert all(cover.groups > 0 for cover in margins.values())
    assert all(cover.covered >= 0.8 * cover.groups for cover in margins.values())


def test_a_whole_population_once() -> None:
    run = audit_once(population("proxy"), 10_000, 0, seed=0, sampled=False)
    assert run.by_lower_bound is not None
    assert run.by_lower_bound.first
    assert run.explained
    assert run.intervals["simultaneous"].groups > 500
