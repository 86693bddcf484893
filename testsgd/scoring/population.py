"""Intervals and p-values for the population: the people in the file are themselves a sample.

A row whose answer is a share between no and yes varies less than one that answers yes or no with
the same mean, so it counts as such a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.exact_intervals import (
    BETWEEN,
    ShareInterval,
    clopper_pearson,
    exact_difference,
)
from testsgd.scoring.largest_sum import Differences
from testsgd.scoring.sequences import confidence_sequence

Floats = NDArray[np.float64]

# Groups whose intervals are computed at once; it bounds the room taken.
TOGETHER = 1 << 16
# The intervals of this many groups are computed first, to find one that reaches far.
_FIRST_LOOKED_AT = 128


@dataclass(frozen=True)
class Side:
    """Rows and answers of one side, inside or outside, of many groups."""

    # Independent rows of the file on this side; see
    # :func:`testsgd.scoring.effective_sizes.independent_rows`; shape (groups,).
    rows: NDArray[np.int64] | Floats
    # Answers asked for, any number a row, and how many were favourable; shape (groups,).
    samples: NDArray[np.int64] | Floats
    favourable: NDArray[np.int64] | Floats

    @property
    def rate(self) -> Floats:
        """Share of favourable answers, shape (groups,)."""
        return self.favourable / self.samples

    def take(self, groups: NDArray[np.intp]) -> Side:
        """Return this side of the chosen groups."""
        return Side(self.rows[groups], self.samples[groups], self.favourable[groups])


def population_interval(
    inside: Side,
    outside: Side,
    error: Any,
    *,
    margin_kind: Literal["none", "wald", "anytime"],
) -> tuple[Floats, Floats]:
    """Compute intervals for the difference of two rates in the population the rows are drawn from.

    Where all neighbours were asked about, a rate is a mean over rows, and varies no more than if
    rows answered yes or no. A confidence sequence holds whenever sampling stopped: half of the
    error is for it, and within its ends the other half for the rows. With a planned number of draws
    the variances of rows and of draws are added.

    Parameters
    ----------
    inside, outside : Side
        The rows and answers of each group and of its complement.
    error : array_like of float
        Two-sided error rate, one for all groups or one a group.
    margin_kind : {"none", "wald", "anytime"}
        What the answers are: those to all neighbours of each row (none), a planned number of draws
        (wald), or draws until a confidence sequence was narrow enough (anytime).

    Returns
    -------
    low, high : numpy.ndarray of float64, shape (groups,)
        The ends; NaN where nothing was sampled on one side.

    Examples
    --------
    >>> inside = Side(np.array([100]), np.array([100]), np.array([20]))
    >>> outside = Side(np.array([100]), np.array([100]), np.array([50]))
    >>> low, high = population_interval(inside, outside, 0.05, margin_kind="none")
    >>> bool(low[0] < -0.3 < high[0] < 0)
    True
    """
    errors = np.broadcast_to(np.asarray(error, dtype=np.float64), inside.rows.shape)
    ends = np.full((2, len(errors)), np.nan)
    for chosen in _parts(_sampled(inside, outside)):
        first, second = inside.take(chosen), outside.take(chosen)
        if margin_kind == "anytime":
            ends[:, chosen] = exact_difference(
                first.rate,
                partial(rate_interval, first, margin_kind),
                second.rate,
                partial(rate_interval, second, margin_kind),
                errors[chosen],
                at_once=True,
            )
        else:
            differences = _differences(first, second, margin_kind)
            ends[:, chosen] = differences.interval(errors[chosen])
    return ends[0], ends[1]


def lower_confidence_bounds(
    inside: Side,
    outside: Side,
    error: Any,
    *,
    margin_kind: Literal["none", "wald", "anytime"],
) -> Floats:
    """Compute lower confidence bounds of the sizes of differences, from their intervals.

    Only the end nearest to 0 is computed, except for confidence sequences.

    Parameters
    ----------
    inside, outside : Side
        The rows and answers of each group and of its complement.
    error : array_like of float
        Two-sided error rate, one for all groups or one a group.
    margin_kind : {"none", "wald", "anytime"}
        What the answers are; see :func:`population_interval`.

    Returns
    -------
    numpy.ndarray of float64, shape (groups,)
        ``max(low, -high, 0)``, to the last bit; 0 where nothing was sampled on one side.

    Examples
    --------
    >>> inside = Side(np.array([100, 100]), np.array([100, 100]), np.array([20, 50]))
    >>> outside = Side(np.array([100, 100]), np.array([100, 100]), np.array([50, 50]))
    >>> lower_confidence_bounds(inside, outside, 0.05, margin_kind="none").round(2).tolist()
    [0.16, 0.0]
    """
    if margin_kind == "anytime":
        low, high = population_interval(inside, outside, error, margin_kind=margin_kind)
        return lower_confidence_bound(low, high)
    errors = np.broadcast_to(np.asarray(error, dtype=np.float64), inside.rows.shape)
    bounds = np.zeros(len(errors))
    for chosen in _parts(_sampled(inside, outside)):
        differences = _differences(inside.take(chosen), outside.take(chosen), margin_kind)
        bounds[chosen] = differences.least_sizes(errors[chosen])
    return bounds


def lower_confidence_bound(low: Floats, high: Floats) -> Floats:
    """Return lower confidence bounds of the sizes of differences, given their intervals.

    The bound is max(low, -high, 0), and 0 where an end is NaN; shapes (groups,).

    Examples
    --------
    >>> lower_confidence_bound(np.array([-0.5, -0.1]), np.array([-0.2, 0.3])).tolist()
    [0.2, 0.0]
    """
    return np.nan_to_num(np.maximum(np.maximum(low, -high), 0.0))


def largest_difference(
    inside: Side,
    outside: Side,
    error: Any,
    *,
    margin_kind: Literal["none", "wald", "anytime"],
) -> float:
    """Compute the largest size of a difference that any of the intervals holds.

    Intervals that cannot reach as far as others do are not computed, except for confidence
    sequences.

    Parameters
    ----------
    inside, outside : Side
        The rows and answers of each group and of its complement.
    error : array_like of float
        Two-sided error rate, one for all groups or one a group.
    margin_kind : {"none", "wald", "anytime"}
        What the answers are; see :func:`population_interval`.

    Returns
    -------
    float
        The largest of all ``max(|low|, |high|)``, to the last bit; 0 if there are no groups, and
        NaN if nothing was sampled on one side of a group.

    Examples
    --------
    >>> inside = Side(np.array([100, 100]), np.array([100, 100]), np.array([20, 50]))
    >>> outside = Side(np.array([100, 100]), np.array([100, 100]), np.array([50, 50]))
    >>> round(largest_difference(inside, outside, 0.05, margin_kind="none"), 2)
    0.43
    """
    errors = np.broadcast_to(np.asarray(error, dtype=np.float64), inside.rows.shape)
    reach = np.ones(len(errors))
    if margin_kind != "anytime" and len(_sampled(inside, outside)) == len(errors):
        distances = [
            _share_interval(side, margin_kind).most_distant(errors) for side in (inside, outside)
        ]
        reach = np.abs(inside.rate - outside.rate) + BETWEEN * (distances[0] + distances[1])
        reach = np.minimum(reach, 1.0)
    order = np.argsort(-reach, kind="stable")
    largest = 0.0
    start = 0
    groups = _FIRST_LOOKED_AT
    while start < len(order) and not reach[order[start]] < largest:
        chosen = order[start : start + groups]
        ends = population_interval(
            inside.take(chosen), outside.take(chosen), errors[chosen], margin_kind=margin_kind
        )
        largest = float(np.max(np.abs(ends), initial=largest))
        start += groups
        groups *= 2
    return largest


def _sampled(inside: Side, outside: Side) -> NDArray[np.intp]:
    """Return the groups with samples on both sides."""
    return np.flatnonzero((inside.samples > 0) & (outside.samples > 0))


def _parts(groups: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield the groups in parts whose intervals are computed at once."""
    for start in range(0, len(groups), TOGETHER):
        yield groups[start : start + TOGETHER]


def _differences(inside: Side, outside: Side, margin_kind: Literal["none", "wald"]) -> Differences:
    """Return the differences of rates whose answers are all those, or a planned number of draws."""
    return Differences(
        first=inside.rate,
        ends_first=_share_interval(inside, margin_kind),
        second=outside.rate,
        ends_second=_share_interval(outside, margin_kind),
    )


def rate_interval(
    side: Side, kind: Literal["none", "wald", "anytime"], error: Floats
) -> tuple[Floats, Floats]:
    """Compute confidence intervals of the rates of one side, each by itself.

    Parameters
    ----------
    side : Side
        Rows and answers of some groups.
    kind : {"none", "wald", "anytime"}
        What the answers are; see :func:`population_interval`.
    error : numpy.ndarray of float64, shape (groups,) or (angles, groups)
        Two-sided error rates.

    Returns
    -------
    low, high : numpy.ndarray of float64, of the shape of the error rates
        The ends, by Clopper and Pearson.

    Examples
    --------
    >>> side = Side(np.array([100]), np.array([100]), np.array([20]))
    >>> low, high = rate_interval(side, "none", np.array([0.05]))
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.127, 0.292)
    """
    if kind == "anytime":
        size = side.rows.astype(np.float64)
        drawn_low, drawn_high = confidence_sequence(side.favourable, side.samples, 1 - error / 2)
        low, _ = clopper_pearson(size * drawn_low, size, error / 2)
        _, high = clopper_pearson(size * drawn_high, size, error / 2)
        return low, high
    interval = _share_interval(side, kind)
    return interval.low(error), interval.high(error)


def _share_interval(side: Side, kind: Literal["none", "wald"]) -> ShareInterval:
    """Return the intervals of rates whose answers are all those, or a planned number of draws."""
    size = side.rows.astype(np.float64)
    if kind == "wald":
        # Variances add, so sizes add like resistances.
        size = 1 / (1 / size + 1 / side.samples)
    return ShareInterval.of(side.rate * size, size)


def equality_p_values(successes_in: Any, size_in: Any, successes_out: Any, size_out: Any) -> Floats:
    """Compute the p-value of the hypothesis that two rates are equal.

    It is the likelihood ratio test, with the number of successes inside moved by one half towards
    what equal rates would give. With that correction it keeps its level also for small groups, rare
    labels and levels as small as one in 100,000; tests/scoring/test_equality.py enumerates all
    outcomes. Numbers need not be whole.

    Parameters
    ----------
    successes_in, size_in, successes_out, size_out : array_like of float
        How many of how many, inside and outside; broadcast.

    Returns
    -------
    numpy.ndarray of float64
        1 where a side is empty.

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio. Annals of Mathematical
    Statistics 9; Yates (1934) for the correction, there of Pearson's test.

    Examples
    --------
    >>> p_values = equality_p_values([50, 20], [100, 100], [50, 50], [100, 100])
    >>> float(p_values[0]), bool(p_values[1] < 0.001)
    (1.0, True)
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    successes_in, size_in, successes_out, size_out = np.broadcast_arrays(
        *(
            np.asarray(value, dtype=np.float64)
            for value in (successes_in, size_in, successes_out, size_out)
        )
    )
    known = (size_in > 0) & (size_out > 0)
    first = np.where(known, size_in, 1)
    second = np.where(known, size_out, 1)
    rate = np.where(known, (successes_in + successes_out) / (first + second), 0.5)
    excess = successes_in - first * rate
    excess = np.sign(excess) * np.maximum(np.abs(excess) - 0.5, 0)
    ratio = 2 * (
        _divergence(rate + excess / first, rate, first)
        + _divergence(rate - excess / second, rate, second)
    )
    p_values = 2 * ndtr(-np.sqrt(np.maximum(ratio, 0)))
    return np.where(known, np.minimum(p_values, 1.0), 1.0)


def _divergence(seen: Floats, rate: Floats, size: Floats) -> Floats:
    """Return size times the log likelihood ratio of the seen rate against another one.

    It is size (s log(s / r) + (1 - s) log((1 - s) / (1 - r))), elementwise; 0 where r is 0 or 1.
    """
    from scipy.special import xlogy

    seen = np.clip(seen, 0.0, 1.0)
    # A rate of 0 or 1 is seen as such on both sides: there is nothing to tell apart.
    inner = (rate > 0) & (rate < 1)
    rate = np.where(inner, rate, 0.5)
    likelihood_ratio = size * (xlogy(seen, seen / rate) + xlogy(1 - seen, (1 - seen) / (1 - rate)))
    return np.where(inner, likelihood_ratio, 0.0)
