"""Exact mode: every neighbour of every row is predicted once, and all rates follow."""

from __future__ import annotations

import numpy as np

from testsgd.auditing.clock import Clock
from testsgd.auditing.estimates import exact_estimates
from testsgd.auditing.outcome import Outcome, Progress
from testsgd.auditing.parameters import AuditParameters
from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import Contingency, mine
from testsgd.sampling import Neighbourhood, explore_neighbourhood


def audit_exactly(
    model: Model,
    table: Table,
    contingency: Contingency,
    parameters: AuditParameters,
    *,
    min_count: int,
    jobs: int,
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
    parameters : AuditParameters
        The most rules in a rule set.
    min_count : int
        Fewest rows of a group.
    jobs : int
        Threads that ask the model at once. The result does not depend on it.
    clock : Clock
        Takes down how long the predictions and the rule sets take.
    progress : callable, optional
        Called with the rows done and their number.

    Returns
    -------
    Outcome
    """
    with clock.phase("predictions"):
        neighbourhood = explore_neighbourhood(model, table, jobs=jobs, progress=progress)
    with clock.phase("rule sets"):
        favourable = neighbourhood.favourable.astype(np.int64)
        rows = contingency.tally()
        cell_favourable = contingency.tally(favourable)
        rule_sets = mine(
            contingency,
            np.vstack([rows, cell_favourable, contingency.tally(favourable**2)]),
            min_count=min_count,
            max_features=parameters.max_features,
        )
    return Outcome(
        rule_sets,
        exact_estimates(rule_sets.sums, neighbourhood),
        rows * neighbourhood.size,
        cell_favourable,
        neighbourhood.queries,
        _accuracy(table, neighbourhood),
    )


def _accuracy(table: Table, neighbourhood: Neighbourhood) -> float | None:
    if table.labels is None or table.labels.isna().any():
        return None
    labels = table.labels.to_numpy() == table.specification.label.favourable
    return float((neighbourhood.decisions == labels).mean())
