"""The search as it was before a bound held outside of groups too, to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import AuditParameters, Estimates
from testsgd.auditing.estimates import exact_estimates
from testsgd.auditing.guarantee import Guarantee
from testsgd.auditing.simultaneous import simultaneous
from testsgd.data import Table
from testsgd.models import Model
from testsgd.rules import FrequentRuleSets, lay_out, mine, sensitive_axes
from testsgd.sampling import explore_neighbourhood
from testsgd.scoring import rank_groups


@dataclass(frozen=True)
class OneSided:
    """What such a search finds.

    Attributes
    ----------
    rule_sets : FrequentRuleSets
        The groups.
    estimates : Estimates
        Their rates over the neighbourhood.
    guarantee : Guarantee
        Their simultaneous intervals.
    """

    rule_sets: FrequentRuleSets
    estimates: Estimates
    guarantee: Guarantee

    def first(self, by: NDArray[np.float64] | None = None) -> int | None:
        """Return the first group by score, or by something else and then by score."""
        order = rank_groups(
            self.estimates.score,
            self.estimates.rows_in,
            self.rule_sets.rule_counts(),
            self.estimates.decided,
            by,
        )
        return int(order[0]) if len(order) else None


def search_inside_only(model: Model, table: Table, parameters: AuditParameters) -> OneSided:
    """Search the paper's way: rates over the neighbourhood, and one row outside is enough.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows.
    parameters : AuditParameters
        Its ``theta`` or ``min_rows`` bound the inside.

    Returns
    -------
    OneSided
    """
    contingency = lay_out(table, sensitive_axes(table))
    asked = explore_neighbourhood(model, table)
    rows, favourable = contingency.tally(), contingency.tally(asked.favourable.astype(np.int64))
    fewest = parameters.fewest_rows(len(table))
    rule_sets = mine(
        contingency,
        np.vstack([rows, favourable]),
        min_count=fewest,
        min_outside=1,
        max_features=parameters.max_features,
    )
    estimates = exact_estimates(rule_sets.sums, asked)
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
    return OneSided(rule_sets, estimates, guarantee)
