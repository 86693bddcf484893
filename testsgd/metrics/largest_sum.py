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

# The error rates of both values are the same at this angle.
_MIDDLE = ANGLES // 2
# What lines promise is held to be as wrong as this share of the sums; ends are computed far better.
_ROUNDING = 1e-6


Error = float | Floats


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

    def distances(self, error_first: Error, error_second: Error) -> Distances:
        """Compute how far the first values may be below, and the second above, at two errors.

        Each error is one for all differences, or one for each of them, shape (groups,).
        """
        return Distances(
            below_first=self.first - self.ends_first.low(error_first),
            above_second=self.ends_second.high(error_second) - self.second,
        )

    def likely_angles(self, error: float) -> NDArray[np.intp]:
        """Return the angle at which the sum of each difference is likely to be the largest.

        Were both values normal, it would be that of their two distances at the same error rate.
        It only decides where a search begins, so distances that are quickly computed are enough.
        """
        low_first, _ = self.ends_first.rough_ends(error)
        _, high_second = self.ends_second.rough_ends(error)
        likely = np.arctan2(high_second - self.second, self.first - low_first)
        angles = np.rint(np.nan_to_num(likely) * (ANGLES - 1) / (np.pi / 2))
        return np.clip(angles, 0, ANGLES - 1).astype(np.intp)


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
    # What one angle alone takes away the largest sum over all angles takes away too. At the likely
    # one nearly all of what is not significant shows that it is not.
    starts = differences.likely_angles(errors[_MIDDLE][0])
    errors_first, errors_second = np.array(errors).T
    known = differences.distances(errors_first[starts], errors_second[starts])
    least: Floats = excess - BETWEEN * np.maximum(0.0, known.sum)
    left = np.flatnonzero(least > 0)
    if len(left):
        search = _Search(
            differences=differences.take(left),
            starts=starts[left],
            known=known.take(left),
            errors=errors,
        )
        least[left] = excess[left] - BETWEEN * search.largest()
    return np.maximum(np.nan_to_num(least), 0.0)


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The search for the largest sums, from the angle on where each is likely to be."""

    differences: Differences
    starts: NDArray[np.intp]  # The angle from which on each is searched, shape (groups,).
    known: Distances  # At these angles.
    errors: Sequence[tuple[float, float]]  # Of the first and second value, at each angle.

    def largest(self) -> Floats:
        """Return the largest sum over all angles of each group, shape (groups,)."""
        largest = np.maximum(0.0, self.known.sum)
        slowing = self.differences.ends_first.slowing & self.differences.ends_second.slowing
        for start in np.unique(self.starts):
            groups = np.flatnonzero(self.starts == start)
            distances = self.known.take(groups)
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
        return self.differences.take(groups).distances(*self.errors[angle])

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
