"""How far a metric of each group is from that of its reference, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.definitions import Floats
from testsgd.metrics.parameters import Measure
from testsgd.metrics.sides import Sides
from testsgd.scoring.population import ANGLES, largest_sums

Ends = Callable[[Any], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Compared:
    """A metric of groups beside their references; arrays of shape (groups,)."""

    measure: Measure
    value: Floats  # Of each group.
    reference: Floats  # Of what each is compared with.
    counted: Floats  # Rows that the metric counts in each group.
    counted_reference: Floats
    judged: NDArray[np.bool_]  # Whether there are enough rows on both sides.
    # The difference, or the ratio; NaN where there is none.
    effect: Floats
    low: Floats  # Ends of its confidence interval; a ratio's upper end may be infinite.
    high: Floats

    @property
    def no_effect(self) -> float:
        """What the difference, or the ratio, of equal values is."""
        return 0.0 if self.measure == "difference" else 1.0

    @property
    def size(self) -> Floats:
        """The size of each difference; of a ratio 1 minus the smaller value over the larger."""
        return sizes(self.effect, self.measure)

    @property
    def lower_bound(self) -> Floats:
        """The lower confidence bound of the size; 0 where the interval holds no effect at all."""
        nearest = np.clip(self.no_effect, self.low, self.high)
        bound = np.nan_to_num(sizes(nearest, self.measure))
        return np.where(self.judged, bound, 0.0)


def sizes(effect: Floats, measure: Measure) -> Floats:
    """Return the sizes of differences, or of ratios: 1 minus the smaller value over the larger.

    Examples
    --------
    >>> sizes(np.array([-0.2, 0.1]), "difference").tolist()
    [0.2, 0.1]
    >>> sizes(np.array([0.5, 2.0]), "ratio").tolist()
    [0.5, 0.5]
    """
    if measure == "difference":
        return np.abs(effect)
    with np.errstate(divide="ignore"):
        return 1 - np.minimum(effect, 1 / effect)


def compare_independent(
    inside: Sides, outside: Sides, error: Any, *, measure: Measure
) -> tuple[Floats, Floats, Floats]:
    """Compute differences or ratios of values on two sides, and the ends of their intervals.

    The sides are taken for independent: where they share rows the intervals are too wide. The
    intervals of both sides are combined as Newcombe, and Zou and Donner, do; for a ratio those of
    the logarithms.

    Returns
    -------
    effect, low, high : numpy.ndarray of float64, shape (groups,)
    """
    first, second = inside.value, outside.value
    if measure == "difference":
        low, high = _combined(first, inside.ends, second, outside.ends, error)
        if inside.scale != "number":
            low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
        return first - second, low, high
    with np.errstate(divide="ignore", invalid="ignore"):
        both = (first > 0) & (second > 0)
        log_low, log_high = _combined(
            np.log(first),
            _logarithmic(inside.ends),
            np.log(second),
            _logarithmic(outside.ends),
            error,
        )
        # A value of 0 has no logarithm. What is known of the ratio are the ends of both sides, each
        # with half of the error.
        half = np.asarray(error) / 2
        ends_in, ends_out = inside.ends(half), outside.ends(half)
        low = np.where(both, np.exp(log_low), ends_in[0] / ends_out[1])
        high = np.where(both, np.exp(log_high), ends_in[1] / ends_out[0])
        ratio = first / second
    return ratio, np.nan_to_num(low), np.where(np.isnan(high), np.inf, high)


def _combined(
    first: Floats, ends_first: Ends, second: Floats, ends_second: Ends, error: Any
) -> tuple[Floats, Floats]:
    angles = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, np.pi / 2, ANGLES)]
    with np.errstate(invalid="ignore"):
        below, above = largest_sums(first, ends_first, second, ends_second, error, angles)
        return first - second - below, first - second + above


def _logarithmic(ends: Ends) -> Ends:
    def of_logarithms(error: Any) -> tuple[Floats, Floats]:
        low, high = ends(error)
        return np.log(np.maximum(low, 0.0)), np.log(np.maximum(high, 0.0))

    return of_logarithms


def of_the_whole(effect: Floats, share: Floats, *, measure: Measure) -> Floats:
    """Return what a comparison with the complement says of one with all rows.

    The value of all rows is the mean of that of a group and of its complement, by their shares of
    the denominators; so both comparisons say the same, and have the same error.

    Parameters
    ----------
    effect : numpy.ndarray of float64, shape (groups,)
        The difference from the complement's value, or the ratio to it, or an end of an interval.
    share : numpy.ndarray of float64, shape (groups,)
        The group's share of the denominators.

    Examples
    --------
    >>> of_the_whole(np.array([0.4]), np.array([0.25]), measure="difference")
    array([0.3])
    >>> of_the_whole(np.array([5.0]), np.array([0.25]), measure="ratio")
    array([2.5])
    """
    if measure == "difference":
        return effect * (1 - share)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_all = np.where(np.isinf(effect), 1 / share, effect / (share * effect + 1 - share))
    return np.where(np.isnan(of_all), np.inf, of_all)


def compare_with_chosen(
    groups: Sides, chosen: Sides, error: Any, *, measure: Measure
) -> tuple[Floats, Floats, Floats]:
    """Compute comparisons with references that the same rows chose, such as the best of some.

    The intervals of all values hold at once, so those of the group and of whichever group was
    chosen do: their ends are combined as they are.
    """
    first, second = groups.value, chosen.value
    low_first, high_first = groups.ends(error)
    low_second, high_second = chosen.ends(error)
    if measure == "difference":
        return first - second, low_first - high_second, high_first - low_second
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.nan_to_num(low_first / high_second)
        high = high_first / low_second
        return first / second, low, np.where(np.isnan(high), np.inf, high)
