"""What must hold of the counters at the end of a horizon, decided in whole numbers.

Requirements are small and put together, as in ``Provided(Balanced(10), WelfareWithin(0, 1))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, permutations
from math import ceil, lcm
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness import EmptyGroup, Measure, bias
from testsgd.fairness.property import Counts, bias_at_most, rounded_biases, whole_numbers
from testsgd.fairness.shares import Ranges, rounded_share_biases, share_bias, shares_within


class Requirement(Protocol):
    """A condition on the counters at the end of a horizon.

    A state is the counters of all groups after the last event. Classes of this protocol are what a
    :class:`ShieldProblem` asks for; :class:`BiasAtMost` is one of them.

    Examples
    --------
    >>> requirement: Requirement = BiasAtMost(Fraction(1, 4))
    >>> requirement.holds(np.array([[1, 1], [2, 1]]), np.array([[2, 2], [2, 2]])).tolist()
    [True, False]
    """

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states that satisfy the requirement, shape (n,).

        Parameters
        ----------
        numerators, denominators : array of int, shape (n, groups)
            The final counters, a row a state. A group's rate is its numerator over its denominator.

        Returns
        -------
        array of bool, shape (n,)
        """
        ...


@dataclass(frozen=True)
class BiasAtMost:
    """The requirement that the bias is at most a bound.

    The bias is the largest difference between the rates of two groups, or 1 minus the smallest rate
    over the largest. It is compared with the bound in whole numbers, so that no rounding plays a
    part.

    Examples
    --------
    >>> requirement = BiasAtMost(Fraction(1, 10))
    >>> requirement.bias([3, 2], [10, 10])
    Fraction(1, 10)
    >>> requirement.holds(np.array([[3, 2], [3, 1]]), np.array([[10, 10], [10, 10]])).tolist()
    [True, False]
    """

    bound: Fraction  # The largest bias that is allowed.
    # As for :func:`testsgd.fairness.bias`.
    measure: Measure = "difference"
    empty_group: EmptyGroup = "vacuous"
    # Of the measure "share": the lowest and the highest share of each group; the bias is how far
    # one is outside.
    shares: Ranges = ()

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states whose bias is at most the bound, shape (n,).

        Parameters
        ----------
        numerators, denominators : array of int, shape (n, groups)
            The final counters, a row a state.

        Returns
        -------
        array of bool, shape (n,)
        """
        if self.shares:
            return shares_within(numerators, denominators, self.bound, self.shares)
        return bias_at_most(
            numerators,
            denominators,
            self.bound,
            measure=self.measure,
            empty_group=self.empty_group,
        )

    def bias(self, numerators: Sequence[int], denominators: Sequence[int]) -> Fraction:
        """Return the exact bias of one state.

        Parameters
        ----------
        numerators, denominators : sequence of int, length groups
            The counters of each group.

        Returns
        -------
        fractions.Fraction
            0 if fewer than two groups have a rate.
        """
        if self.shares:
            return share_bias(numerators, denominators, self.shares)
        return bias(numerators, denominators, measure=self.measure, empty_group=self.empty_group)

    def rounded_biases(self, numerators: Counts, denominators: Counts) -> NDArray[np.float64]:
        """Return the biases of many states in floating point.

        Parameters
        ----------
        numerators, denominators : array of int, shape (..., groups)
            The counters; the last axis is the groups.

        Returns
        -------
        array of float, shape (...)
        """
        if self.shares:
            return rounded_share_biases(numerators, denominators, self.shares)
        return rounded_biases(
            numerators, denominators, measure=self.measure, empty_group=self.empty_group
        )


@dataclass(frozen=True)
class WelfareWithin:
    """The requirement that the rate of every group lies between two bounds.

    A group whose denominator is 0 has no rate, and is left out.
    """

    low: Fraction  # The lowest rate that is allowed.
    high: Fraction  # The highest one.

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states whose rates lie between the bounds, shape (n,)."""
        numerators, denominators = whole_numbers(numerators, denominators, self.low, self.high)
        at_least_low = numerators * self.low.denominator >= self.low.numerator * denominators
        at_most_high = numerators * self.high.denominator <= self.high.numerator * denominators
        within = (at_least_low & at_most_high) | (denominators == 0)
        return np.asarray(within.astype(bool).all(axis=1))


@dataclass(frozen=True)
class Balanced:
    """The assumption that the denominator of every group is at least a number."""

    least: int  # That number.

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states with large enough denominators, shape (n,)."""
        return np.asarray((denominators >= self.least).all(axis=1))


def least_counted(welfare: tuple[Fraction, Fraction]) -> int:
    """Return how often each group must be counted so that its rate can be kept between two bounds.

    One over the distance of the bounds, rounded up: Assumption 1 of the paper on fairness shields.
    """
    low, high = welfare
    return ceil(1 / (high - low))


@dataclass(frozen=True)
class EqualDenominators:
    """The assumption that all groups have the same denominator.

    Then the rates of several periods add up with the same weights in every group, so that no
    difference or ratio of them is farther from equal than in the worst period. Theorem 2 of the
    paper on fairness shields is about the largest such denominator, half of a period each. Where
    labels decide who counts, fewer may count, and periods of any length can meet it.
    """

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states with equal denominators, shape (n,)."""
        return np.asarray((denominators == denominators[:, :1]).all(axis=1))


@dataclass(frozen=True)
class SmallSteps:
    """The assumption that every group is so large that one decision moves its rate little enough.

    Two groups' rates can be steered to within a bound if one over the people of each group, added
    up, is at most the bound plus the bias so far (Assumption 2 of the paper on fairness shields).
    The higher rate is kept by rounding down, the lower one by rounding up.

    Of more than two groups each is on the side of the highest or of the lowest rate, whichever is
    nearer. Groups on different sides are as two groups are. On the same side rates move the same
    way: one over the people of the group that moves away from the other is to be at most the bound
    less what is between the two, and of the group that moves towards it, the bound and what is
    between them.

    A group of which nobody has come, and which is left out until then, can start at any rate: it
    counts as if it were in the middle of the others. (Of two groups the bias so far is then 0.)
    """

    bound: Fraction
    # The history's counters, one of each a group.
    past_numerators: tuple[int, ...]
    past_denominators: tuple[int, ...]
    empty_group: EmptyGroup = "vacuous"  # How a group without people counts.

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states that satisfy the assumption, shape (n,).

        `numerators` and `denominators`, shape (n, groups), are the counters of the new period only;
        the history is added here.
        """
        people = denominators + np.array(self.past_denominators, dtype=np.int64)
        mask = (people > 0).all(axis=1)
        for limit, groups in self._limits:
            mask &= _steps_at_most(limit, people[:, groups])
        return np.asarray(mask)

    @cached_property
    def _limits(self) -> list[tuple[Fraction, list[int]]]:
        """Return the largest sums of 1 / people over some groups, with the indices of the groups.

        They follow from the history alone, and are the same at each time of a new period.
        """
        rates = past_rates(self.past_numerators, self.past_denominators, self.empty_group)
        middle = (min(rates) + max(rates)) / 2
        limits = []
        for first, second in combinations(range(len(rates)), 2):
            high, low = (first, second) if rates[first] >= rates[second] else (second, first)
            difference = rates[high] - rates[low]
            if len(rates) == 2 or rates[high] >= middle > rates[low]:
                limits.append((self.bound + difference, [high, low]))
                continue
            away, towards = (low, high) if rates[low] >= middle else (high, low)
            limits.append((self.bound - difference, [away]))
            limits.append((self.bound + difference, [towards]))
        return limits


@dataclass(frozen=True)
class SmallRatioSteps:
    """The assumption that decides for ratios what :class:`SmallSteps` decides for differences.

    Each group whose rate so far is on the lower side of the middle is kept by rounding up, the
    others by rounding down. So the rate r of a group with n people in the end lies between r and
    r + 1 / n, or between r - 1 / n and r; a rate that is a whole number stays as it is. With the
    bound B a ratio is kept if the lowest that each rate can become is at least 1 - B times the
    highest that each other one can. For two groups with the rates x <= y that is
    1 / m + (1 - B) / n <= y - (1 - B) x, n and m being their people.

    Pairs of groups that move towards each other need no people: they are kept if the history is
    within the bound.
    """

    bound: Fraction
    # The history's counters, one of each a group.
    past_numerators: tuple[int, ...]
    past_denominators: tuple[int, ...]
    empty_group: EmptyGroup = "vacuous"  # What becomes of a group of which nobody has come.

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states that satisfy the assumption, shape (n,).

        `numerators` and `denominators`, shape (n, groups), are the counters of the new period only;
        the history is added here.
        """
        people = denominators + np.array(self.past_denominators, dtype=np.int64)
        rates = past_rates(self.past_numerators, self.past_denominators, self.empty_group)
        middle = (min(rates) + max(rates)) / 2
        kept_share = 1 - self.bound
        mask = (people > 0).all(axis=1)
        for low, high in permutations(range(len(rates)), 2):
            falls = rates[low] >= middle and rates[low].denominator > 1
            rises = rates[high] < middle and rates[high].denominator > 1
            if falls or rises:
                room = rates[low] - kept_share * rates[high]
                steps = (Fraction(falls), kept_share * rises)
                mask &= _weighted_steps_at_most(room, steps, people[:, [low, high]])
        return np.asarray(mask)


def past_rates(
    numerators: Sequence[int], denominators: Sequence[int], empty_group: EmptyGroup
) -> list[Fraction]:
    """Return the rates of a history, one a group; without one the middle of them, or 0."""
    past = zip(numerators, denominators, strict=True)
    known = [Fraction(numerator, people) for numerator, people in past if people]
    start = Fraction(0)
    if known and empty_group == "vacuous":
        start = (min(known) + max(known)) / 2
    rates = iter(known)
    return [next(rates) if people else start for people in denominators]


def _weighted_steps_at_most(
    limit: Fraction, weights: tuple[Fraction, Fraction], people: Counts
) -> NDArray[np.bool_]:
    """Return a mask of the rows whose weight / people, added up, is at most `limit`, shape (n,).

    `people` has shape (n, 2). Multiplied out, v/a + w/b <= limit is v b + w a <= limit a b.
    """
    common = lcm(limit.denominator, *(weight.denominator for weight in weights))
    first, second, most = (int(number * common) for number in (*weights, limit))
    counts, _ = whole_numbers(people, people, Fraction(max(first, second, abs(most), 1)))
    total = first * counts[:, 1] + second * counts[:, 0]
    return np.asarray(total <= most * counts.prod(axis=1), bool)


def _steps_at_most(limit: Fraction, people: Counts) -> NDArray[np.bool_]:
    """Return a mask of the rows in which the sum of 1 / people is at most `limit`, shape (n,).

    `people` has shape (n, 1) or (n, 2). Multiplied out, 1/a + 1/b <= limit is a + b <= limit a b.
    """
    counts, _ = whole_numbers(people, people, limit)
    total = counts.sum(axis=1) if people.shape[1] == 2 else 1
    # If a group is empty, the left side is above 0 and the right one is not.
    return np.asarray((total * limit.denominator <= limit.numerator * counts.prod(axis=1)), bool)


@dataclass(frozen=True)
class Provided:
    """A requirement that is only due where an assumption holds."""

    assumption: Requirement
    requirement: Requirement

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states without the assumption or with the requirement, (n,)."""
        is_due = self.assumption.holds(numerators, denominators)
        return ~is_due | self.requirement.holds(numerators, denominators)


def can_be_met(
    assumption: Requirement, denominators: Sequence[int], events: int, most_added: int
) -> bool:
    """Return whether an assumption can hold after some more events of any people.

    The assumption is one that more people in any group do not break, as :class:`Balanced`,
    :class:`SmallSteps` and :class:`SmallRatioSteps` are. So it is enough to look at the ways in
    which the events are shared out among the groups, each of them counted as often as it can be.

    Parameters
    ----------
    assumption : Requirement
    denominators : sequence of int, length groups
        The counters so far.
    events : int
        How many are to come.
    most_added : int
        What one event adds to its group's denominator at most.

    Returns
    -------
    bool

    Examples
    --------
    >>> can_be_met(Balanced(2), [3, 0], events=2, most_added=1)
    True
    >>> can_be_met(Balanced(2), [3, 0], events=1, most_added=1)
    False
    """
    more = most_added * _shared_out(events, len(denominators))
    after = np.array(denominators, dtype=np.int64) + more
    return bool(assumption.holds(np.zeros_like(after), after).any())


def _shared_out(events: int, groups: int) -> NDArray[np.int64]:
    """Return all ways in which events can be shared out among groups, shape (n, groups)."""
    if groups == 1:
        return np.full((1, 1), events, dtype=np.int64)
    if groups == 2:
        first = np.arange(events + 1, dtype=np.int64)
        return np.stack([first, events - first], axis=1)
    return np.concatenate(
        [
            np.insert(_shared_out(events - first, groups - 1), 0, first, axis=1)
            for first in range(events + 1)
        ]
    )


@dataclass(frozen=True)
class After:
    """A requirement on the counters of a history and of the new period, added up."""

    # The history's counters, one of each a group.
    past_numerators: tuple[int, ...]
    past_denominators: tuple[int, ...]
    requirement: Requirement

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return a mask of the states that satisfy the requirement after the history, (n,).

        `numerators` and `denominators`, shape (n, groups), are the counters of the new period only.
        """
        numerators, denominators = self.together(numerators, denominators)
        return self.requirement.holds(numerators, denominators)

    def together(self, numerators: Counts, denominators: Counts) -> tuple[Counts, Counts]:
        """Return the counters of the new period and the history, added up; (n, groups) each."""
        past_numerators = np.array(self.past_numerators, dtype=np.int64)
        past_denominators = np.array(self.past_denominators, dtype=np.int64)
        return numerators + past_numerators, denominators + past_denominators
