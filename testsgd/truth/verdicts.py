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

from testsgd.auditing import AuditParameters, TableFindings, run_audit, summarise
from testsgd.auditing.parameters import MIN_ROWS
from testsgd.data import Table
from testsgd.truth.catalogue import CLEARLY, LIMIT, NOTHING
from testsgd.truth.populations import Population, truth_of
from testsgd.truth.runs import explained, places_of, planted_cells

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
    """Outcome of auditing one sample of a world's people by the defaults."""

    world: str  # Whose people.
    # How many, and which run.
    rows: int
    number: int
    evaluable: bool  # A planted group has at least 50 people on both sides.
    default: Wrong  # Errors of the verdict.
    # The rules that explain the differences are the planted groups, no more and no less; None if
    # nothing is planted.
    explained: bool | None
    # How many groups come before the planted one, plus 1: by score and by lower bound. Empty if it
    # is not judged.
    ranks: dict[str, int]


def judge_once(world: Population, rows: int, number: int, *, seed: int) -> WorldRun:
    """Draw a sample of a world, audit it by the defaults, and judge the verdict.

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
    evaluable = is_evaluable(world, table)
    planted = planted_cells(findings, world)
    return WorldRun(
        world=world.name,
        rows=rows,
        number=number,
        evaluable=evaluable,
        default=errors_of_verdict(
            claimed_difference(findings, world),
            partial(audit_gate, findings),
            world,
            evaluable=evaluable,
        ),
        explained=explained(findings, planted),
        ranks=_ranks(findings, places_of(findings, planted)) if planted else {},
    )


def highest_limit(world: Population) -> float:
    """Return a limit that no group of a world exceeds, by either estimand."""
    largest = max(truth_of(world, "observed").largest, truth_of(world, "neighbourhood").largest)
    return max(LIMIT, largest + CLEARLY)


def is_evaluable(world: Population, table: Table) -> bool:
    """Return whether a planted group has at least 50 of a sample's people on both sides."""
    sizes = [int(group.matches(table).sum()) for group in world.planted]
    return any(min(size, len(table) - size) >= MIN_ROWS for size in sizes)


def claimed_difference(findings: TableFindings, world: Population) -> float | None:
    """Return the true size of what a headline claims, negative if it claims the wrong direction.

    None if it claims no difference, as the confidence interval of the first group has 0 in it.
    """
    if findings.first is None:
        return None
    group = np.array([findings.first])
    (low,), (high,) = findings.guarantee.confidence_intervals(findings.estimates, group)
    if not (low > 0 or high < 0):
        return None
    (true,) = truth_of(world, "observed").differences(findings.rule_sets)[group]
    return float(true if low > 0 else -true)


def audit_gate(findings: TableFindings, limit: float) -> str:
    """Return the status of an audit's verdict if the gate were at a limit."""
    gated = replace(findings, parameters=replace(findings.parameters, fail_above=limit))
    return summarise(gated).verdict.status


def errors_of_verdict(
    claimed: float | None, gate: Callable[[float], str], world: Population, *, evaluable: bool
) -> Wrong:
    """Return the errors of a verdict.

    Parameters
    ----------
    claimed : float or None
        True size of what the headline claims, as of :func:`claimed_difference`.
    gate : callable
        Returns the status of the gate at a limit.
    world : Population
        Whose people were audited.
    evaluable : bool
        Whether a planted group has enough people, as of :func:`is_evaluable`.

    Returns
    -------
    Wrong
    """
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
