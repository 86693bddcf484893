"""Exact mode for rows: everything is asked about once, and all rates follow.

Every neighbour is asked about, and all rows as they are. Of predictions that exist only the rows'
own are used, and no model is asked.
"""

from __future__ import annotations

import numpy as np

from testsgd.auditing.estimates import both_sides, counted_estimates
from testsgd.auditing.outcome import Answers, Outcome, RowAudit
from testsgd.models import PredictionColumn
from testsgd.sampling import explore_neighbourhood


def audit_exactly(audit: RowAudit) -> Outcome:
    """Find every group's rates from the whole perturbation neighbourhood of the rows."""
    contingency = audit.contingency
    rows = audit.contingency.tally()
    with audit.clock.phase("predictions"):
        neighbourhood = explore_neighbourhood(
            audit.model.model,
            audit.table,
            jobs=audit.jobs,
            draws=audit.parameters.draws,
            cell_of_row=contingency.cell_of_row,
            progress=audit.phase("asking about rows and neighbours"),
        )
    with audit.clock.phase("rule sets"):
        favourable = [neighbourhood.favourable.astype(np.int64), neighbourhood.own.astype(np.int64)]
        of_cells = [contingency.tally(of_rows) for of_rows in favourable]
        quantities = np.vstack([rows, *of_cells])
        rule_sets = audit.search(quantities)
        together = rule_sets.totals(contingency, quantities)

    def answers(index: int, draws: int) -> Answers:
        chosen = [0, 1 + index]
        tallies = both_sides(rule_sets.sums[chosen], together[chosen])
        estimates = counted_estimates(tallies, draws=draws)
        return Answers(estimates, rows * draws, of_cells[index], draws, favourable[index])

    return Outcome(
        rule_sets,
        neighbourhood=answers(0, neighbourhood.size),
        observed=answers(1, audit.parameters.draws),
        queries=neighbourhood.queries,
        by_feature=neighbourhood.by_feature,
    )


def audit_predictions_exactly(audit: RowAudit) -> Outcome:
    """Find every group's rates from predictions that exist; no model is asked."""
    contingency = audit.contingency
    rows = audit.contingency.tally()
    with audit.clock.phase("predictions"):
        decisions = audit.model.model.decisions(audit.table.frame).astype(np.int64)
    with audit.clock.phase("rule sets"):
        favourable = contingency.tally(decisions)
        quantities = np.vstack([rows, favourable])
        rule_sets = audit.search(quantities)
    together = rule_sets.totals(contingency, quantities)
    estimates = counted_estimates(both_sides(rule_sets.sums, together))
    observed = Answers(estimates, rows, favourable, 1, decisions)
    asked = audit.model.model.asked if isinstance(audit.model.model, PredictionColumn) else 0
    return Outcome(rule_sets, neighbourhood=None, observed=observed, queries=asked)
