"""Intervals for the population: the people in the file are themselves a sample.

Even if every rate in the file is known exactly, the file holds some people and not others. Where
samples were drawn, there is chance twice: in who is in the file, and in what was drawn of them. The
interval here answers for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.exact_tails import clopper_pearson, exact_difference
from testsgd.scoring.sequences import confidence_sequence

Floats = NDArray[np.float64]

# Groups whose intervals are computed at once; it bounds the room taken.
_TOGETHER = 1 << 16


@dataclass(frozen=True)
class Side:
    """What is known of one side of some groups.

    Attributes
    ----------
    rows : numpy.ndarray of int64 or float64, shape (groups,)
        Independent rows of the file on this side; see
        :func:`testsgd.scoring.clusters.independent_rows`.
    samples, favourable : numpy.ndarray of int64, shape (groups,)
        Answers asked for, any number a row, and how many were favourable.
    """

    rows: NDArray[np.int64] | Floats
    samples: NDArray[np.int64]
    favourable: NDArray[np.int64]

    def take(self, groups: NDArray[np.intp]) -> Side:
        """Give the side of some groups."""
        return Side(self.rows[groups], self.samples[groups], self.favourable[groups])


def population_interval(
    inside: Side,
    outside: Side,
    error: Any,
    *,
    margin_kind: Literal["none", "wald", "anytime"],
) -> tuple[Floats, Floats]:
    """Compute intervals for the difference of two rates in the population the rows are drawn from.

    Parameters
    ----------
    inside, outside : Side
        The two sides of each group.
    error : float or array_like of float, shape (groups,)
        Two-sided error rate of each group's interval.
    margin_kind : {"none", "wald", "anytime"}
        What the answers are: those to all neighbours of each row; a planned number of draws; or
        draws until a confidence sequence was narrow enough.

    Returns
    -------
    low, high : numpy.ndarray of float64, shape (groups,)
        NaN where nothing was sampled on one side.

    Notes
    -----
    Where all neighbours were asked about, a rate is a mean over rows. Each row's share of
    favourable answers lies between 0 and 1, so the mean varies no more than if rows answered yes
    or no.

    A confidence sequence holds whenever sampling stopped: half of the error is for it, and within
    its ends the other half for the rows. With a planned number of draws the variances of rows and
    of draws are added.

    Examples
    --------
    >>> inside = Side(np.array([50]), np.array([1000]), np.array([500]))
    >>> outside = Side(np.array([950]), np.array([19000]), np.array([3800]))
    >>> low, high = population_interval(inside, outside, 0.05, margin_kind="none")
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.151], [0.449])
    """
    errors = np.broadcast_to(np.asarray(error, dtype=np.float64), inside.rows.shape)
    ends = np.full((2, len(errors)), np.nan)
    known = np.flatnonzero((inside.samples > 0) & (outside.samples > 0))
    for start in range(0, len(known), _TOGETHER):
        chosen = known[start : start + _TOGETHER]
        sides = [_Rates(side.take(chosen), margin_kind) for side in (inside, outside)]
        ends[:, chosen] = exact_difference(
            sides[0].rate, sides[0].ends, sides[1].rate, sides[1].ends, errors[chosen]
        )
    return ends[0], ends[1]


class _Rates:
    """The rates of one side of some groups, with their intervals."""

    def __init__(self, side: Side, kind: str) -> None:
        self._side = side
        self._kind = kind
        self._rows = side.rows.astype(np.float64)
        self.rate = side.favourable / side.samples

    def ends(self, error: Floats) -> tuple[Floats, Floats]:
        """Give the interval at a two-sided error rate."""
        if self._kind == "anytime":
            drawn_low, drawn_high = self._sequence(error / 2)
            low, _ = clopper_pearson(self._rows * drawn_low, self._rows, error / 2)
            _, high = clopper_pearson(self._rows * drawn_high, self._rows, error / 2)
            return low, high
        size = self._rows
        if self._kind == "wald":
            # Variances add, so sizes add like resistances.
            size = 1 / (1 / self._rows + 1 / self._side.samples)
        return clopper_pearson(self.rate * size, size, error)

    def _sequence(self, error: Floats) -> tuple[Floats, Floats]:
        """Give the confidence sequence's ends; there are at most a few different error rates."""
        ends = np.zeros((2, len(self.rate)))
        levels, level = np.unique(np.broadcast_to(error, self.rate.shape), return_inverse=True)
        for place, one in enumerate(levels):
            chosen = level == place
            ends[:, chosen] = confidence_sequence(
                self._side.favourable[chosen], self._side.samples[chosen], 1 - float(one)
            )
        return ends[0], ends[1]
