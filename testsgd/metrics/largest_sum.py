"""The largest sum of two distances over the angles, without computing what cannot be the largest.

How far a difference may be below its value is the largest sum, over a few angles, of how far the
first value may be below and the second above, each at an error rate of its own; see
:func:`testsgd.scoring.population.exact_difference`. An end of an interval is the inverse of an
incomplete beta function, and most of the time of an audit goes into these. Most angles can be left
out: of two distances that are concave functions of the logarithm of their error rates, the straight
line through two that are known is above all beyond them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.metrics.definitions import Floats
from testsgd.metrics.sides import Interval
from testsgd.scoring.population import ANGLES, BETWEEN, errors_at
from testsgd.scoring.ratios import ALL_ANGLES

_MIDDLE = ANGLES // 2
# What lines promise is held to be as wrong as this share of the sums; ends are computed far better.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Differences of two values with their intervals, arrays of shape (groups,)."""

    first: Floats
    ends_first: Interval
    second: Floats
    ends_second: Interval

    def take(self, groups: NDArray[np.intp]) -> Differences:
        """Return some of the differences."""
        return Differences(
            first=self.first[groups],
            ends_first=self.ends_first.take(groups),
            second=self.second[groups],
            ends_second=self.ends_second.take(groups),
        )

    def distances(self, errors: tuple[float, float]) -> Distances:
        """Compute how far the first values may be below, and the second above, at two errors."""
        error_first, error_second = errors
        return Distances(
            below_first=self.first - self.ends_first.low(error_first),
            above_second=self.ends_second.high(error_second) - self.second,
        )


@dataclass(frozen=True, kw_only=True)
class Distances:
    """How far first values may be below and second ones above, at one angle; shape (groups,)."""

    below_first: Floats
    above_second: Floats

    @property
    def sum(self) -> Floats:
        """How far the difference may be below."""
        return self.below_first + self.above_second

    def take(self, groups: NDArray[np.intp]) -> Distances:
        """Return those of some of the groups."""
        return Distances(
            below_first=self.below_first[groups], above_second=self.above_second[groups]
        )


def least_of_positive(differences: Differences, error: float) -> Floats:
    """Return the lower ends of differences, those above 0; else 0.

    They are the same as with :func:`testsgd.scoring.ratios.most_below`, to the last bit.
    """
    excess: Floats = differences.first - differences.second
    errors = list(errors_at(ALL_ANGLES, error))
    # What one angle alone takes away the largest sum over all angles takes away too. At the middle
    # one most of what is not significant shows that it is not.
    middle = differences.distances(errors[_MIDDLE])
    least: Floats = excess - BETWEEN * np.maximum(0.0, middle.sum)
    left = np.flatnonzero(least > 0)
    if len(left):
        search = _Search(
            differences=differences.take(left), middle=middle.take(left), errors=errors
        )
        least[left] = excess[left] - BETWEEN * search.largest()
    return np.maximum(np.nan_to_num(least), 0.0)


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The search for the largest sums, from the angle on where each is likely to be."""

    differences: Differences
    middle: Distances  # At the middle angle.
    errors: Sequence[tuple[float, float]]  # Of the first and second value, at each angle.

    def largest(self) -> Floats:
        """Return the largest sum over all angles of each group, shape (groups,)."""
        largest = np.maximum(0.0, self.middle.sum)
        slowing = self.differences.ends_first.slowing & self.differences.ends_second.slowing
        # Were both values normal the largest sum would be at this angle.
        likely = np.arctan2(self.middle.above_second, self.middle.below_first)
        starts = np.rint(np.nan_to_num(likely) * (ANGLES - 1) / (np.pi / 2))
        starts = np.clip(starts, 0, ANGLES - 1).astype(np.intp)
        for start in np.unique(starts):
            groups = np.flatnonzero(starts == start)
            distances = self._distances(groups, start)
            largest[groups] = np.maximum(largest[groups], distances.sum)
            for beyond in (range(start + 1, ANGLES), range(start - 1, -1, -1)):
                self._walk(groups, start, distances, beyond, largest, slowing)
        return largest

    def _walk(
        self,
        groups: NDArray[np.intp],
        start: int,
        distances: Distances,
        beyond: Sequence[int],
        largest: Floats,
        slowing: NDArray[np.bool_],
    ) -> None:
        """Raise the largest sums of groups, angle by angle, while one beyond may be larger."""
        before = start
        for step, angle in enumerate(beyond, start=1):
            new = self._distances(groups, angle)
            largest[groups] = np.maximum(largest[groups], new.sum)
            enough = largest[groups] * (1 - _ROUNDING)
            # Written so that what is not a number is looked at.
            done = slowing[groups].copy()
            for farther in beyond[step:]:
                done &= self._line(distances, new, (before, angle), farther) < enough
            kept = np.flatnonzero(~done)
            if len(kept) == 0:
                return
            groups, distances, before = groups[kept], new.take(kept), angle

    def _distances(self, groups: NDArray[np.intp], angle: int) -> Distances:
        if angle == _MIDDLE:
            return self.middle.take(groups)
        return self.differences.take(groups).distances(self.errors[angle])

    def _line(
        self, known: Distances, nearer: Distances, angles: tuple[int, int], farther: int
    ) -> Floats:
        """Return what the sums are at most at an angle beyond two where they are known."""
        logarithms = np.log([self.errors[angle] for angle in (*angles, farther)])
        # How many times the way between the two lies beyond the second of them.
        ways = (logarithms[2] - logarithms[1]) / (logarithms[1] - logarithms[0])
        most: Floats = (
            nearer.sum
            + ways[0] * (nearer.below_first - known.below_first)
            + ways[1] * (nearer.above_second - known.above_second)
        )
        return most
