"""One world, audited with the defaults, and whether the verdict is right.

A verdict is a headline and a gate. Both can be wrong in two ways, and ``not enough evidence`` is
neither:

- a false all-clear: nothing beyond chance in the headline, or a gate at :data:`LIMIT` that passes,
  though a planted group of at least 50 people on both sides truly differs by clearly more;
- a false alarm: a headline that claims a difference of a group that does not differ, or differs the
  other way; or a gate that fails at a limit that no group of the world exceeds.

True is what holds of the world's people as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, Estimates, TableFindings, run_audit, summarise
from testsgd.auditing.estimates import both_sides, counted_estimates
from testsgd.auditing.guarantee import Guarantee
from testsgd.auditing.max_statistic import simultaneous
from testsgd.auditing.parameters import MIN_ROWS
from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import FrequentRuleSets, default_depth, lay_out, mine, sensitive_axes
from testsgd.sampling import explore_neighbourhood
from testsgd.scoring import rank_groups
from testsgd.truth.catalogue import CLEARLY, LIMIT, NOTHING
from testsgd.truth.populations import Population, truth_of
from testsgd.truth.runs import explained, places_of, planted_cells


@dataclass(frozen=True)
class OneSidedSearch:
    """Result of a search with theta on the inside only: one row outside of a group is enough."""

    rule_sets: FrequentRuleSets  # The groups.
    estimates: Estimates  # Their rates over the neighbourhood.
    guarantee: Guarantee  # Their simultaneous intervals.

    def first(self, by: NDArray[np.float64] | None = None) -> int | None:
        """Return the first group by score, or by other sizes and then by score; None without.

        `by` has the shape (groups,).
        """
        order = rank_groups(
            self.estimates.score,
            self.estimates.rows_in,
            self.rule_sets.rule_counts(),
            self.estimates.decided,
            by,
        )
        return int(order[0]) if len(order) else None


def search_inside_only(model: Model, table: Table, parameters: AuditParameters) -> OneSidedSearch:
    """Return the groups of a search with theta on the inside only, as in the paper.

    Rates are those over the neighbourhood, and one row outside of a group is enough.
    """
    axes = sensitive_axes(table)
    if parameters.max_features is None:
        parameters = replace(parameters, max_features=default_depth(axes))
    contingency = lay_out(table, axes)
    asked = explore_neighbourhood(model, table)
    rows = contingency.tally()
    favourable = contingency.tally(asked.favourable.astype(np.int64))
    fewest = parameters.fewest_rows(len(table))
    rule_sets = mine(
        contingency,
        np.vstack([rows, favourable]),
        min_count=fewest,
        min_outside=1,
        max_features=parameters.depth,
    )
    together = rule_sets.totals(contingency, np.vstack([rows, favourable]))
    estimates = counted_estimates(both_sides(rule_sets.sums, together), draws=asked.size)
    guarantee = simultaneous(
        estimates,
        contingency,
        rows * asked.size,
        favourable,
        np.zeros(len(rule_sets), dtype=bool),
        parameters,
        min_count=fewest,
        jobs=1,
    )
    return OneSidedSearch(rule_sets, estimates, guarantee)


PASSED, FAILED, UNDECIDED = "gate_passed", "gate_failed", "not_enough_evidence"


@dataclass(frozen=True)
class Wrong:
    """Errors of one verdict."""

    # What is wrong with it.
    headline_all_clear: bool
    headline_alarm: bool
    gate_all_clear: bool
    gate_alarm: bool
    undecided: bool  # The gate finds not enough evidence at :data:`LIMIT`.

    @property
    def headline(self) -> bool:
        """True if the headline misleads either way."""
        return self.headline_all_clear or self.headline_alarm

    @property
    def gate(self) -> bool:
        """True if the gate misleads either way."""
        return self.gate_all_clear or self.gate_alarm


@dataclass(frozen=True, kw_only=True)
class WorldRun:
    """Outcome of auditing one sample of a world's people, by current and earlier defaults."""

    world: str  # Whose people.
    # How many, and which run.
    rows: int
    number: int
    evaluable: bool  # A planted group has at least 50 people on both sides.
    # Of the verdict of the defaults; and of the earlier ones: rates over the neighbourhood, groups
    # of 5% of the people with at least one outside, the first by score.
    default: Wrong
    old: Wrong
    # The rules that explain the differences are the planted groups, no more and no less; None if
    # nothing is planted.
    explained: bool | None
    # How many groups come before the planted one, plus 1: by score and by lower bound. Empty if it
    # is not judged.
    ranks: dict[str, int]


def judge_once(world: Population, rows: int, number: int, *, seed: int) -> WorldRun:
    """Draw a sample of a world, audit it by current and earlier defaults, and judge the verdicts.

    Parameters
    ----------
    world : Population
        Whose people.
    rows : int
        How many.
    number : int
        Which run.
    seed : int
        Same number and seed, same run.

    Returns
    -------
    WorldRun
    """
    table = world.table(rows, seed=seed, run=number)
    model = world.model()
    parameters = AuditParameters(
        # Enough for every size; and looking for groups in bootstrap samples changes no verdict.
        max_queries=1_000_000_000,
        stability=0,
        seed=number,
        jobs=1,
    )
    findings = run_audit(model, table, parameters, own_effects=False)
    sizes = [int(group.matches(table).sum()) for group in world.planted]
    evaluable = any(min(size, rows - size) >= MIN_ROWS for size in sizes)
    planted = planted_cells(findings, world)
    earlier = search_inside_only(model.model, table, replace(parameters, theta=0.05))
    claimed = claimed_difference(findings, findings.first, world)
    claimed_earlier = claimed_difference(earlier, earlier.first(), world)
    return WorldRun(
        world=world.name,
        rows=rows,
        number=number,
        evaluable=evaluable,
        default=_wrong(claimed, partial(audit_gate, findings), world, evaluable),
        old=_wrong(claimed_earlier, partial(single_estimand_gate, earlier), world, evaluable),
        explained=explained(findings, planted),
        ranks=_ranks(findings, places_of(findings, planted)) if planted else {},
    )


def highest_limit(world: Population) -> float:
    """Return a limit that no group of a world exceeds, by either estimand."""
    largest = max(truth_of(world, "observed").largest, truth_of(world, "neighbourhood").largest)
    return max(LIMIT, largest + CLEARLY)


def claimed_difference(
    findings: TableFindings | OneSidedSearch, first: int | None, world: Population
) -> float | None:
    """Return the true size of what a headline claims, negative if it claims the wrong direction.

    None if it claims no difference, as the confidence interval of the first group has 0 in it.
    """
    if first is None:
        return None
    group = np.array([first])
    (low,), (high,) = findings.guarantee.confidence_intervals(findings.estimates, group)
    if not (low > 0 or high < 0):
        return None
    (true,) = truth_of(world, "observed").differences(findings.rule_sets)[group]
    return float(true if low > 0 else -true)


def audit_gate(findings: TableFindings, limit: float) -> str:
    """Return the status of an audit's verdict if the gate were at a limit."""
    gated = replace(findings, parameters=replace(findings.parameters, fail_above=limit))
    return summarise(gated).verdict.status


def single_estimand_gate(findings: OneSidedSearch, limit: float) -> str:
    """Return the status of a gate that looks at one estimand only: rates over the neighbourhood.

    Earlier defaults had it. It passes if no score is above the limit, and fails if a simultaneous
    lower bound is.
    """
    if not len(findings.rule_sets):
        return UNDECIDED
    if findings.guarantee.largest_bound > limit:
        return FAILED
    return PASSED if findings.estimates.score.max() <= limit else UNDECIDED


def _wrong(
    claimed: float | None, gate: Callable[[float], str], world: Population, evaluable: bool
) -> Wrong:
    """Return the errors of a verdict; `gate` gives the status of the gate at a limit."""
    at_limit = gate(LIMIT)
    highest = highest_limit(world)
    at_highest = at_limit if highest == LIMIT else gate(highest)
    return Wrong(
        headline_all_clear=evaluable and claimed is None,
        headline_alarm=claimed is not None and claimed < NOTHING,
        gate_all_clear=evaluable and at_limit == PASSED,
        gate_alarm=at_highest == FAILED,
        undecided=at_limit == UNDECIDED,
    )


def _ranks(findings: TableFindings, planted: NDArray[np.intp]) -> dict[str, int]:
    """Return the rank of the best planted group by score and by lower bound, from 1."""
    if not len(planted):
        return {}
    by = {"score": findings.estimates.score, "lower bound": findings.guarantee.lower_bounds}
    return {
        # Equal but for rounding is no better.
        name: 1 + int((sizes > sizes[planted].max() + 1e-9).sum())
        for name, sizes in by.items()
    }
