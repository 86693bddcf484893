"""One run of the benchmark: people are drawn and audited in every way, beside the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.guarantee import false_discovery, per_group
from testsgd.auditing.parameters import MarginKind, SamplingScheme
from testsgd.data import Table
from testsgd.models import LoadedModel, Model
from testsgd.scoring import rank_groups
from testsgd.truth.populations import Population, truth_of

HIT = 0.8
FIRST = 5


@dataclass(frozen=True)
class Hits:
    """Whether the planted groups are among the first findings of a list."""

    first: bool  # The first finding hits a planted group.
    among_first: bool  # Every planted group is hit by one of the first five findings.
    inside: bool  # At least 80% of the first finding's people are in planted groups.


# People in each place of a group's array, or one in all of them.
Weights = NDArray[np.int64] | int


def jaccard(group: NDArray[np.bool_], other: NDArray[np.bool_], weights: Weights = 1) -> float:
    """Return the people in both groups as a share of those in either; 0 if both are empty."""
    either = np.sum((group | other) * weights)
    return float(np.sum((group & other) * weights) / either) if either else 0.0


def find_hits(
    findings: Sequence[Sequence[NDArray[np.bool_]]],
    planted: Sequence[NDArray[np.bool_]],
    weights: Weights = 1,
) -> Hits:
    """Return whether the planted groups, at least one, are among findings, best first.

    A finding is the groups that it names: one, or two where a method reports pairs. All other
    people may be the planted group, too. All groups are masks of the same shape, with `weights`
    people in each place. A planted group is hit if its Jaccard index with a side of a finding is at
    least 0.8.
    """
    sides = [[side for named in finding for side in (named, ~named)] for finding in findings]
    hits = np.array(
        [
            [any(jaccard(side, group, weights) >= HIT for side in finding) for group in planted]
            for finding in sides[:FIRST]
        ]
    ).reshape(-1, len(planted))
    union = np.logical_or.reduce(list(planted))
    inside = [
        (np.sum(side * weights), np.sum((side & union) * weights))
        for side in (sides[0] if sides else ())
    ]
    return Hits(
        first=bool(hits[:1].any()),
        among_first=bool(hits.any(axis=0).all()),
        inside=any(people > 0 and both >= HIT * people for people, both in inside),
    )


def same_groups(groups: Sequence[NDArray[np.bool_]], others: Sequence[NDArray[np.bool_]]) -> bool:
    """Return if two lists hold the same groups in any order.

    A group and its complement are the same.
    """

    def sides(group: NDArray[np.bool_]) -> frozenset[bytes]:
        return frozenset((group.tobytes(), (~group).tobytes()))

    return {sides(group) for group in groups} == {sides(group) for group in others}


CONFIDENCE = 0.95
HOLDOUT = 0.5

# Differences are computed from the cells in floats.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Coverage:
    """Number of intervals of one audit that cover the truth."""

    groups: int  # Intervals looked at.
    covered: int  # Those that hold the truth.
    # One of them leaves out "no difference", or has it on its other side, where that is true.
    false: bool

    @property
    def all(self) -> bool:
        """True if every interval holds the truth."""
        return self.covered == self.groups


@dataclass(frozen=True, kw_only=True)
class Run:
    """Outcome of auditing one sample of a population."""

    population: str  # Whose people.
    # How many, and which run.
    rows: int
    number: int
    # Whether the planted groups come first, near copies folded; None if nothing is planted. Groups
    # whose interval holds "no difference" are no findings by lower bound.
    by_score: Hits | None
    by_lower_bound: Hits | None
    # The rules that explain the differences are the planted groups, no more and no less.
    explained: bool | None
    overstated: dict[str, float]  # For each ranking: score of the first group minus its true size.
    planted: Coverage  # The intervals of the planted groups alone, each for itself.
    # For each kind of interval: ``per-group``, ``simultaneous``, ``holdout``, ``fdr`` (of the
    # discovered groups) and the sampling margins.
    intervals: dict[str, Coverage]


def audit_once(
    population: Population, rows: int, number: int, *, seed: int, sampled: bool = True
) -> Run:
    """Draw a sample of a population, audit it in every way, and compare with the truth.

    Parameters
    ----------
    population : Population
        Whose people.
    rows : int
        How many.
    number : int
        Which run.
    seed : int
        Same number and seed, same run.
    sampled : bool
        Whether to audit by sampling too.

    Returns
    -------
    Run
    """
    table = population.table(rows, seed=seed, run=number)
    model = population.model()
    parameters = AuditParameters(
        confidence=CONFIDENCE,
        max_features=population.max_features,
        # Enough for every size.
        max_queries=1_000_000_000,
        mode="exact",
        guarantee="simultaneous",
        stability=0,
        seed=number,
        jobs=1,
    )
    exact = run_audit(model, table, parameters, own_effects=False)
    # The same groups and rates with another promise: what an audit that asks for it gives.
    each = replace(exact, guarantee=per_group(exact.estimates, CONFIDENCE))
    false_limited = false_discovery(exact.estimates, CONFIDENCE)
    discovering = replace(exact, guarantee=false_limited)
    audits = {
        "per-group": each,
        "simultaneous": exact,
        "holdout": run_audit(model, table, replace(parameters, holdout=HOLDOUT), own_effects=False),
    }
    intervals = {
        kind: _coverage(audit, population, np.arange(len(audit.rule_sets)))
        for kind, audit in audits.items()
    }
    intervals["fdr"] = _coverage(discovering, population, false_limited.discoveries)
    if sampled:
        intervals |= _sampled(model, table, exact, parameters)
    planted = planted_cells(exact, population)
    estimates = exact.estimates
    bounds = exact.guarantee.lower_bounds
    rankings = {
        "score": rank_groups(
            estimates.score, estimates.rows_in, exact.rule_sets.rule_counts(), estimates.decided
        ),
        "lower bound": exact.ranking[bounds[exact.ranking] > 0],
    }
    first = {name: exact.first_distinct(order, FIRST) for name, order in rankings.items()}
    return Run(
        population=population.name,
        rows=rows,
        number=number,
        by_score=_hits(exact, first["score"], planted),
        by_lower_bound=_hits(exact, first["lower bound"], planted),
        explained=explained(exact, planted),
        overstated={name: _overstated(exact, population, few) for name, few in first.items()},
        planted=_coverage(each, population, places_of(exact, planted)),
        intervals=intervals,
    )


def planted_cells(findings: TableFindings, population: Population) -> list[NDArray[np.bool_]]:
    """Return which of an audit's cells are in each planted group; each is so as a whole."""
    return [
        findings.contingency.tally(group.matches(findings.table).astype(np.int64)) > 0
        for group in population.planted
    ]


def places_of(findings: TableFindings, planted: Sequence[NDArray[np.bool_]]) -> NDArray[np.intp]:
    """Return the groups of an audit that are the same people as one of the planted."""
    rows = findings.contingency.tally()
    sizes = findings.estimates.rows_in
    same = np.zeros(len(findings.rule_sets), dtype=bool)
    for cells in planted:
        (both,) = findings.rule_sets.sums_of(
            findings.contingency, (rows * cells)[None].astype(float)
        )
        same |= (both == sizes) & (sizes == rows[cells].sum())
    return np.flatnonzero(same)


def explained(findings: TableFindings, planted: Sequence[NDArray[np.bool_]]) -> bool | None:
    """Return if the rules that explain the differences are the planted groups.

    None if nothing is planted.
    """
    if not planted:
        return None
    chosen = np.array(findings.explaining, dtype=np.intp)
    return same_groups(list(findings.rule_sets.members(chosen, findings.contingency)), planted)


def _coverage(
    findings: TableFindings, population: Population, groups: NDArray[np.intp]
) -> Coverage:
    """Return how many intervals of the groups (n,) cover their true differences."""
    low, high = findings.confidence_intervals(groups)
    true = truth_of(population, "observed").differences(findings.rule_sets)[groups]
    known = ~np.isnan(low)
    covered = (low <= true + _ROUNDING) & (true - _ROUNDING <= high)
    nothing = np.abs(true) < _ROUNDING
    return Coverage(
        groups=int(known.sum()),
        covered=int((covered & known).sum()),
        false=bool((known & nothing & ~covered).any()),
    )


def _hits(
    findings: TableFindings, groups: Sequence[int], planted: Sequence[NDArray[np.bool_]]
) -> Hits | None:
    """Return whether the planted groups are among an audit's groups, best first."""
    if not planted:
        return None
    members = findings.rule_sets.members(np.array(groups, dtype=np.intp), findings.contingency)
    return find_hits([(group,) for group in members], planted, findings.contingency.tally())


def _overstated(findings: TableFindings, population: Population, groups: Sequence[int]) -> float:
    """Return the score of the first group minus its true size; 0 without groups."""
    if not groups:
        return 0.0
    true = truth_of(population, "observed").differences(findings.rule_sets)[groups[0]]
    return float(findings.estimates.score[groups[0]] - abs(true))


def _sampled(
    model: LoadedModel[Model], table: Table, exact: TableFindings, parameters: AuditParameters
) -> dict[str, Coverage]:
    """Return the coverage of the sampling margins: how often they cover the rows' real difference.

    What is sampled are the neighbours. Independent sampling is tried on groups of one feature, for
    it asks thousands of times for each.
    """
    coverages = {}
    schemes: tuple[tuple[SamplingScheme, int], ...] = (
        ("pooled", parameters.depth),
        ("independent", 1),
    )
    kinds: tuple[MarginKind, ...] = ("wald", "anytime")
    for sampling, most in schemes:
        for interval in kinds:
            findings = run_audit(
                model,
                table,
                replace(
                    parameters,
                    estimand="neighbourhood",
                    mode="sampled",
                    sampling=sampling,
                    interval=interval,
                    guarantee="per-group",
                    max_features=most,
                ),
            )
            coverages[f"{sampling} {interval}"] = _margin_coverage(findings, exact)
    return coverages


def _margin_coverage(findings: TableFindings, exact: TableFindings) -> Coverage:
    # Both audits find the same rule sets in the same rows, independent ones the first of them.
    """Return how many margins of a sampled audit cover the exact differences."""
    same = _group_index(exact).get_indexer(_group_index(findings))
    estimates = findings.estimates
    (counted,) = (other for other in exact.others if other.estimand == "neighbourhood")
    deviation = np.abs(estimates.difference - counted.estimates.difference[same])
    covered = deviation <= estimates.margin + _ROUNDING
    decided = estimates.decided
    return Coverage(int(decided.sum()), int((covered & decided).sum()), false=False)


def _group_index(findings: TableFindings) -> pd.MultiIndex:
    """Return an index of an audit's groups by their subset of features and place in it."""
    rule_sets = findings.rule_sets
    return pd.MultiIndex.from_arrays([rule_sets.subset, rule_sets.position])
