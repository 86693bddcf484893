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


def fit(columns: list[Floats], rates: Floats, weights: Floats) -> Floats:
    """The rates that a weighted regression on the columns gives the cells."""
    root = np.sqrt(weights)
    design = np.column_stack(columns)
    return design @ np.linalg.lstsq(design * root[:, None], rates * root, rcond=None)[0]


def left_over(columns: list[Floats], rates: Floats, weights: Floats) -> float:
    """The weighted sum of squares that a regression on the columns leaves."""
    return float(weights @ (rates - fit(columns, rates, weights)) ** 2)


def beyond_chance(
    columns: list[Floats], rates: Floats, weights: Floats, answers: Floats, critical: float
) -> bool:
    """Whether the last column's coefficient is further from zero than its quantile.

    The quantile is that of a sum of binomial answers at the rates that the columns before give,
    each with one answer more at the rate of all, by the third cumulant.
    """
    root = np.sqrt(weights)
    # The coefficients are linear in the rates, so each answer moves them by a certain step.
    slopes = (np.linalg.pinv(np.column_stack(columns) * root[:, None]) * root)[-1]
    expected = np.clip(fit(columns[:-1], rates, weights), 0, 1)
    overall = (sum(answers * expected) + 1) / (sum(answers) + 2)
    second = third = 0.0
    for slope, rate, count in zip(slopes, expected, answers, strict=True):
        chance = (count * rate + overall) / (count + 1)
        second += count * (slope / count) ** 2 * chance * (1 - chance)
        third += count * (slope / count) ** 3 * chance * (1 - chance) * (1 - 2 * chance)
    coefficient = float(slopes @ rates)
    skewness = np.sign(coefficient) * third / second**1.5
    quantile = critical + max(0.0, (critical**2 - 1) * skewness / 6)
    return abs(coefficient) > quantile * np.sqrt(second)


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
    answers = np.maximum(1, np.minimum(rows, samples))[known].astype(float)
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
        if not beyond_chance(columns, rates, weights, answers, critical):
            break
        chosen.append((int(best), share))
        before -= gains[best]
    return chosen
