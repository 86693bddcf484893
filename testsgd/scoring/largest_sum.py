"""The largest sum of two distances over the angles, without computing what cannot be the largest.

How far a difference may be below its value is the largest sum, over a few angles, of how far the
first value may be below and the second above, each at an error rate of its own; see
:func:`testsgd.scoring.exact_difference`. An end of an interval is the inverse of an
incomplete beta function, and most of the time of an audit goes into these. Most angles can be left
out: of two distances that are concave functions of the logarithm of their error rates, the straight
line through two that are known is above all beyond them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring.exact_intervals import ALL_ANGLES, ANGLES, BETWEEN, FEW, Interval, errors_at

Floats = NDArray[np.float64]

# The error rates of both values are the same at this angle.
_MIDDLE = ANGLES // 2
# What lines promise is held to be as wrong as this share of the sums; ends are computed far better.
_ROUNDING = 1e-6


class WideningInterval(Interval, Protocol):
    """Intervals of which some can be taken, and of which it is known how they widen."""

    def take(self, groups: NDArray[np.intp]) -> WideningInterval:
        """Return the intervals of some of the values."""
        ...

    def rough_ends(self, error: Any) -> tuple[Floats, Floats]:
        """Return about where both ends are, quickly computed; no result may depend on it."""
        ...

    @property
    def slowing(self) -> NDArray[np.bool_]:
        """Whether both ends provably move ever slower as the logarithm of the error falls.

        Their distances from the value are then concave functions of that logarithm.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Differences:
    """Differences of two values with their intervals, arrays of shape (groups,)."""

    first: Floats
    ends_first: WideningInterval
    second: Floats
    ends_second: WideningInterval

    def take(self, groups: NDArray[np.intp]) -> Differences:
        """Return some of the differences."""
        return Differences(
            first=self.first[groups],
            ends_first=self.ends_first.take(groups),
            second=self.second[groups],
            ends_second=self.ends_second.take(groups),
        )

    @property
    def reversed(self) -> Differences:
        """The differences of the second values and the first."""
        return Differences(
            first=self.second,
            ends_first=self.ends_second,
            second=self.first,
            ends_second=self.ends_first,
        )

    def interval(self, error: Any) -> tuple[Floats, Floats]:
        """Compute the confidence intervals of the differences.

        They are those of :func:`testsgd.scoring.exact_difference`, to the last bit.

        Parameters
        ----------
        error : float or numpy.ndarray of float64, shape (groups,)
            Two-sided error rate.

        Returns
        -------
        low, high : numpy.ndarray of float64, shape (groups,)
            The ends, within [-1, 1].
        """
        low, high = self.unlimited_interval(error)
        return np.maximum(low, -1.0), np.minimum(high, 1.0)

    def unlimited_interval(self, error: Any) -> tuple[Floats, Floats]:
        """Compute the confidence intervals of differences of any numbers, as :meth:`interval`."""
        errors = _Errors.of(error, groups=len(self.first))
        difference = self.first - self.second
        below = BETWEEN * _largest(self, errors)
        above = BETWEEN * _largest(self.reversed, errors.reversed)
        return difference - below, difference + above

    def least_sizes(self, error: Any) -> Floats:
        """Compute how large each difference is at least, by the end of its interval nearest to 0.

        That is ``max(low, -high, 0)`` of :meth:`interval`, to the last bit.

        Parameters
        ----------
        error : float or numpy.ndarray of float64, shape (groups,)
            Two-sided error rate.

        Returns
        -------
        numpy.ndarray of float64, shape (groups,)
            Lower confidence bounds of the sizes; 0 where the interval holds 0.
        """
        errors = _Errors.of(error, groups=len(self.first))
        least = np.zeros(len(self.first))
        # Turned so that the first value is the larger one: then the lower end is the nearest.
        for turned, of_turned in ((self, errors), (self.reversed, errors.reversed)):
            groups = np.flatnonzero(turned.first > turned.second)
            least[groups] = _least(turned.take(groups), of_turned.take(groups))
        return least

    def lower_ends(self, error: Any) -> Floats:
        """Compute the lower ends of :meth:`unlimited_interval` alone, shape (groups,)."""
        errors = _Errors.of(error, groups=len(self.first))
        lowest: Floats = self.first - self.second - BETWEEN * _largest(self, errors)
        return lowest

    def lower_ends_at_most(self, error: Any) -> Floats:
        """Compute upper limits of the lower ends, by one angle of all, shape (groups,)."""
        errors = _Errors.of(error, groups=len(self.first))
        known = self.distances(*errors.at(_MIDDLE)).sum
        limits: Floats = self.first - self.second - BETWEEN * known
        return limits

    def distances(self, error_first: Floats, error_second: Floats) -> Distances:
        """Compute how far the first values may be below, and the second above, at two errors.

        The errors have the shape (groups,), or (angles, groups).
        """
        return Distances(
            below_first=self.first - self.ends_first.low(error_first),
            above_second=self.ends_second.high(error_second) - self.second,
        )

    def likely_angles(self, error: Floats) -> NDArray[np.intp]:
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
    """How far first values may be below and second ones above, at one angle or at several.

    The shape is (groups,), or (angles, groups).
    """

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


@dataclass(frozen=True, kw_only=True)
class _Errors:
    """The two-sided error rates of both values of each difference, at each angle."""

    # Those of each different error of a difference, shape (angles, errors).
    first: Floats
    second: Floats
    log_first: Floats
    log_second: Floats
    index: NDArray[np.intp]  # Which of these errors each difference has, shape (groups,).

    @classmethod
    def of(cls, error: Any, *, groups: int) -> _Errors:
        """Return them for differences with the two-sided error rate `error`."""
        different = np.atleast_1d(np.asarray(error, dtype=np.float64))
        if len(different) and (different == different[0]).all():
            different = different[:1]
        pairs = errors_at(ALL_ANGLES, different)
        first, second = np.moveaxis(np.array(list(pairs)), 1, 0)
        one_for_all = np.zeros(groups, dtype=np.intp)
        # An error of 0 is one that nothing is beyond.
        with np.errstate(divide="ignore"):
            return cls(
                first=first,
                second=second,
                log_first=np.log(first),
                log_second=np.log(second),
                index=one_for_all if len(different) == 1 else np.arange(groups),
            )

    @property
    def same(self) -> Floats:
        """The error rate of both where it is the same, shape (groups,)."""
        middle: Floats = self.first[_MIDDLE, self.index]
        return middle

    @property
    def reversed(self) -> _Errors:
        """The error rates of the reversed differences, the angles in the other order.

        So the first value's rates rise from angle to angle again.
        """
        return _Errors(
            first=self.second[::-1],
            second=self.first[::-1],
            log_first=self.log_second[::-1],
            log_second=self.log_first[::-1],
            index=self.index,
        )

    def take(self, groups: NDArray[np.intp]) -> _Errors:
        """Return those of some of the differences."""
        return replace(self, index=self.index[groups])

    def at(self, angles: NDArray[np.intp] | int) -> tuple[Floats, Floats]:
        """Return the error rates of both at one angle, or at one for each difference."""
        return self.first[angles, self.index], self.second[angles, self.index]

    def at_all_angles(self) -> tuple[Floats, Floats]:
        """Return the error rates of both at every angle, shape (angles, groups)."""
        return self.first[:, self.index], self.second[:, self.index]


def least_of_positive(differences: Differences, error: float) -> Floats:
    """Return the lower ends of differences, those above 0; else 0.

    They are the same as with :func:`testsgd.scoring.ratios.most_below`, to the last bit.
    """
    return _least(differences, _Errors.of(error, groups=len(differences.first)))


def _least(differences: Differences, errors: _Errors) -> Floats:
    """Return the lower ends of differences, those above 0; else 0."""
    excess: Floats = differences.first - differences.second
    # What one angle alone takes away the largest sum over all angles takes away too. At the likely
    # one nearly all of what is not significant shows that it is not.
    starts = differences.likely_angles(errors.same)
    known = differences.distances(*errors.at(starts))
    least: Floats = excess - BETWEEN * np.maximum(0.0, known.sum)
    left = np.flatnonzero(least > 0)
    if len(left):
        search = _Search(
            differences=differences.take(left),
            starts=starts[left],
            known=known.take(left),
            errors=errors.take(left),
        )
        least[left] = excess[left] - BETWEEN * search.largest()
    return np.maximum(np.nan_to_num(least), 0.0)


def _largest(differences: Differences, errors: _Errors) -> Floats:
    """Return the largest sum of distances over all angles, shape (groups,)."""
    if len(differences.first) <= FEW:
        sums = differences.distances(*errors.at_all_angles()).sum
        largest: Floats = np.maximum(0.0, sums.max(axis=0))
        return largest
    starts = differences.likely_angles(errors.same)
    known = differences.distances(*errors.at(starts))
    return _Search(differences=differences, starts=starts, known=known, errors=errors).largest()


@dataclass(frozen=True, kw_only=True)
class _Search:
    """The search for the largest sums, from the angle on where each is likely to be."""

    differences: Differences
    starts: NDArray[np.intp]  # The angle from which on each is searched, shape (groups,).
    known: Distances  # At these angles.
    errors: _Errors

    def largest(self) -> Floats:
        """Return the largest sum over all angles of each group, shape (groups,)."""
        largest = np.maximum(0.0, self.known.sum)
        for direction in (1, -1):
            self._walk(direction, largest)
        return largest

    def _walk(self, direction: int, largest: Floats) -> None:
        """Raise the largest sums, angle by angle in one direction, while one beyond may be larger.

        All groups walk at once, each from its own start.
        """
        slowing = self.differences.ends_first.slowing & self.differences.ends_second.slowing
        groups = np.arange(len(self.starts))
        before, distances = self.starts, self.known
        while True:
            angles = before + direction
            left = np.flatnonzero((angles >= 0) & (angles < ANGLES))
            if len(left) == 0:
                return
            groups, angles, distances = groups[left], angles[left], distances.take(left)
            errors = self.errors.take(groups)
            new = self.differences.take(groups).distances(*errors.at(angles))
            largest[groups] = np.maximum(largest[groups], new.sum)
            most = _most_beyond(errors, angles, direction, known=distances, nearer=new)
            # Written so that what is not a number is looked at.
            done = slowing[groups] & (most < largest[groups] * (1 - _ROUNDING))
            kept = np.flatnonzero(~done)
            groups, before, distances = groups[kept], angles[kept], new.take(kept)


def _most_beyond(
    errors: _Errors,
    angles: NDArray[np.intp],
    direction: int,
    *,
    known: Distances,
    nearer: Distances,
) -> Floats:
    """Return what the sums are at most at the angles beyond two where they are known, (groups,).

    They are known at `angles`, one for each group, and at the angles before these.
    """
    first, second, index = errors.log_first, errors.log_second, errors.index
    first_at, second_at = first[angles, index], second[angles, index]
    # How many times the way between the two lies beyond the second of them; shape (angles, groups).
    ways_first = (first[:, index] - first_at) / (first_at - first[angles - direction, index])
    ways_second = (second[:, index] - second_at) / (second_at - second[angles - direction, index])
    lines = (
        nearer.sum
        + ways_first * (nearer.below_first - known.below_first)
        + ways_second * (nearer.above_second - known.above_second)
    )
    is_beyond = direction * (np.arange(ANGLES)[:, None] - angles) > 0
    most: Floats = np.where(is_beyond, lines, -np.inf).max(axis=0)
    return most
