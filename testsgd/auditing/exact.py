"""Exact mode: every neighbour of every row is predicted once, and all rates follow."""

from __future__ import annotations

import numpy as np

from testsgd.auditing.clock import Clock
from testsgd.auditing.estimates import counted_estimates, exact_estimates
from testsgd.auditing.outcome import Answers, Outcome, Progress, Search
from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import Contingency
from testsgd.sampling import explore_neighbourhood


def audit_exactly(
    model: Model,
    table: Table,
    contingency: Contingency,
    search: Search,
    *,
    jobs: int,
    draws: int = 1,
    clock: Clock,
    progress: Progress | None = None,
) -> Outcome:
    """Find every group's rates from the whole perturbation neighbourhood of the rows.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows.
    contingency : Contingency
        Their sensitive cells.
    search : callable
        Finds the groups and sums over them.
    jobs : int
        Threads that ask the model at once. The result does not depend on it.
    draws : int
        How often to ask each question.
    clock : Clock
        Takes down how long the predictions and the rule sets take.
    progress : callable, optional
        Called with the rows done and their number.

    Returns
    -------
    Outcome
    """
    with clock.phase("predictions"):
        neighbourhood = explore_neighbourhood(
            model,
            table,
            jobs=jobs,
            draws=draws,
            cell_of_row=contingency.cell_of_row,
            progress=progress,
        )
    with clock.phase("rule sets"):
        favourable = neighbourhood.favourable.astype(np.int64)
        rows = contingency.tally()
        cell_favourable = contingency.tally(favourable)
        decisions = neighbourhood.own.astype(np.int64)
        cell_decisions = contingency.tally(decisions)
        rule_sets = search(np.vstack([rows, cell_favourable, cell_decisions]))
    rows_in, _, decisions_in = rule_sets.sums
    return Outcome(
        rule_sets,
        Answers(
            exact_estimates(rule_sets.sums[:2], neighbourhood),
            rows * neighbourhood.size,
            cell_favourable,
            neighbourhood.size,
            neighbourhood.favourable,
        ),
        Answers(
            counted_estimates(
                np.vstack(
                    [rows_in, len(table) - rows_in, decisions_in, decisions.sum() - decisions_in]
                ),
                draws=draws,
            ),
            rows * draws,
            cell_decisions,
            draws,
            decisions,
        ),
        neighbourhood.queries,
        neighbourhood.by_feature,
    )
