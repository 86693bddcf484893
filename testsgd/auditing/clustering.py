"""Rows that repeat one person: what the rows of each group are worth if they are one unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from testsgd.auditing.outcome import Answers
from testsgd.rules import Contingency, FrequentRuleSets
from testsgd.scoring import Clusters, independent_rows


def with_independent_rows(
    answers: Answers, rule_sets: FrequentRuleSets, contingency: Contingency, clusters: Clusters
) -> Answers:
    """Count how many independent rows those on each side of each group are worth.

    Parameters
    ----------
    answers : Answers
        The groups' rates.
    rule_sets : FrequentRuleSets
        The groups.
    contingency : Contingency
        The rows' sensitive cells.
    clusters : Clusters
        Rows that are one unit.

    Returns
    -------
    Answers
        With intervals and p-values of the clusters instead of the rows.
    """
    sizes = clusters.size_of_row.astype(np.float64)
    of_rows = [np.ones(len(sizes)), sizes]
    if answers.row_favourable is not None:
        share = answers.row_favourable / answers.row_samples
        of_rows += [share, share * sizes]
    cell = contingency.cell_of_row
    by_cell = np.array(
        [np.bincount(cell, weights=one, minlength=contingency.cells) for one in of_rows]
    )
    inside = rule_sets.sums_of(contingency, by_cell)
    # Sums of shares are rounded, and what is left of nothing is not negative.
    outside = np.maximum(by_cell.sum(axis=1, keepdims=True) - inside, 0)
    return replace(
        answers,
        estimates=replace(
            answers.estimates,
            effective_in=independent_rows(*inside),
            effective_out=independent_rows(*outside),
        ),
        cell_independent=independent_rows(by_cell[0], by_cell[1]),
    )
