"""Forward selection by least squares over explicit tables of members: slow, and plain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# As in testsgd: a rule must explain so much, and so much more for each further feature.
LEAST_SHARE = 0.01
FEATURE_COST = 0.02
MOST_RULES = 10


def cell_variances(
    rows: Sequence[int], samples: Sequence[int], favourable: Sequence[int]
) -> Floats:
    """The variance of each cell's rate, with one row more at the rate of all."""
    overall = (sum(favourable) + 1) / (sum(samples) + 2)
    variances = []
    for row_count, sample_count, favourable_count in zip(rows, samples, favourable, strict=True):
        if sample_count == 0:
            variances.append(0.0)
            continue
        size = min(row_count, sample_count)
        rate = (size * favourable_count / sample_count + overall) / (size + 1)
        variances.append(rate * (1 - rate) / max(1, size))
    return np.array(variances)


def left_over(columns: list[Floats], rates: Floats, weights: Floats) -> float:
    """The weighted sum of squares that a regression on the columns leaves."""
    root = np.sqrt(weights)
    design = np.column_stack(columns) * root[:, None]
    fitted = design @ np.linalg.lstsq(design, rates * root, rcond=None)[0]
    return float(((rates * root - fitted) ** 2).sum())


def standard_errors(
    columns: list[Floats], rates: Floats, weights: Floats, variances: Floats
) -> float:
    """How many standard errors the last column's coefficient is away from zero."""
    root = np.sqrt(weights)
    # The coefficients are linear in the rates.
    linear = np.linalg.pinv(np.column_stack(columns) * root[:, None]) * root
    return float(abs(linear[-1] @ rates) / np.sqrt(linear[-1] ** 2 @ variances))


def forward_selection(
    members: NDArray[np.bool_],
    rule_counts: Sequence[int],
    order: Sequence[int],
    rows: Sequence[int],
    samples: Sequence[int],
    favourable: Sequence[int],
    critical: float,
) -> list[tuple[int, float]]:
    """The groups in the order in which they are chosen, each with its share.

    `members` has a row a group and a column a cell.
    """
    known = np.array(samples) > 0
    weights = np.array(rows, dtype=float)[known]
    if not len(order) or weights.sum() == 0:
        return []
    rates = (np.array(favourable) / np.maximum(samples, 1))[known]
    variances = cell_variances(rows, samples, favourable)[known]
    inside = members[:, known].astype(float)
    columns = [np.ones(len(weights))]
    total = before = left_over(columns, rates, weights)
    chosen: list[tuple[int, float]] = []
    while total > 1e-12 * weights.sum() and len(chosen) < MOST_RULES:
        gains = {
            group: before - left_over([*columns, inside[group]], rates, weights) for group in order
        }
        worth = {
            group: gain * (1 - FEATURE_COST * (rule_counts[group] - 1))
            for group, gain in gains.items()
        }
        best = next(group for group in order if worth[group] >= max(worth.values()) - 1e-9 * total)
        share = gains[best] / total
        columns.append(inside[best])
        if share < LEAST_SHARE:
            break
        if standard_errors(columns, rates, weights, variances) <= critical:
            break
        chosen.append((int(best), share))
        before -= gains[best]
    return chosen
