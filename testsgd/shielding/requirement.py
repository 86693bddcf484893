"""What must hold of the counters at the end of a horizon, decided in whole numbers.

Requirements are small and put together, as in ``Provided(Balanced(10), WelfareWithin(0, 1))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness import EmptyGroup, Measure, bias
from testsgd.fairness.property import Counts, bias_at_most, rounded_biases, whole_numbers


class Requirement(Protocol):
    """Says of many final counters whether they will do."""

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows will do; both arrays have shape (n, groups)."""
        ...


@dataclass(frozen=True)
class BiasAtMost:
    """The bias is at most a bound."""

    bound: Fraction
    # As for :func:`testsgd.shielding.bias`.
    measure: Measure = "difference"
    empty_group: EmptyGroup = "vacuous"

    @property
    def _rules(self) -> dict[str, Any]:
        return {"measure": self.measure, "empty_group": self.empty_group}

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows will do."""
        return bias_at_most(numerators, denominators, self.bound, **self._rules)

    def bias(self, numerators: Sequence[int], denominators: Sequence[int]) -> Fraction:
        """Return the exact bias of counters, one of each a group."""
        return bias(numerators, denominators, **self._rules)

    def rounded_biases(self, numerators: Counts, denominators: Counts) -> NDArray[np.float64]:
        """Return the biases of many counters; the last axis is the groups."""
        return rounded_biases(numerators, denominators, **self._rules)


@dataclass(frozen=True)
class WelfareWithin:
    """The rate of every group of which somebody came lies between two bounds."""

    low: Fraction
    high: Fraction

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows will do."""
        tops, bottoms = whole_numbers(numerators, denominators, self.low, self.high)
        above = tops * self.low.denominator >= self.low.numerator * bottoms
        below = tops * self.high.denominator <= self.high.numerator * bottoms
        kept = (above & below) | (bottoms == 0)
        return np.asarray(kept.astype(bool).all(axis=1))


@dataclass(frozen=True)
class Balanced:
    """Of every group at least so many have come."""

    least: int

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows will do."""
        return np.asarray((denominators >= self.least).all(axis=1))


@dataclass(frozen=True)
class SmallSteps:
    """So many have come that one decision more or less moves the rates little enough.

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
    empty_group: EmptyGroup = "vacuous"  # What becomes of a group of which nobody has come.

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows, of the new period's counters, will do."""
        people = denominators + np.array(self.past_denominators, dtype=np.int64)
        rates = self._past_rates()
        middle = (min(rates) + max(rates)) / 2
        kept = (people > 0).all(axis=1)
        for one, other in combinations(range(len(rates)), 2):
            high, low = (one, other) if rates[one] >= rates[other] else (other, one)
            apart = rates[high] - rates[low]
            if len(rates) == 2 or rates[high] >= middle > rates[low]:
                kept &= _steps_at_most(self.bound + apart, people[:, [high, low]])
                continue
            away, towards = (low, high) if rates[low] >= middle else (high, low)
            kept &= _steps_at_most(self.bound - apart, people[:, [away]])
            kept &= _steps_at_most(self.bound + apart, people[:, [towards]])
        return np.asarray(kept)

    def _past_rates(self) -> list[Fraction]:
        """Rates to stay near to, one a group."""
        past = zip(self.past_numerators, self.past_denominators, strict=True)
        known = [Fraction(top, people) for top, people in past if people]
        start = Fraction(0)
        if known and self.empty_group == "vacuous":
            start = (min(known) + max(known)) / 2
        rates = iter(known)
        return [next(rates) if people else start for people in self.past_denominators]


def _steps_at_most(room: Fraction, people: Counts) -> NDArray[np.bool_]:
    """Describe where one over the people of one or two groups, added up, is at most `room`."""
    counted, _ = whole_numbers(people, people, room)
    together = counted.sum(axis=1) if people.shape[1] == 2 else 1
    # Nobody has come of a group: the left side is above 0, the right one is not.
    return np.asarray((together * room.denominator <= room.numerator * counted.prod(axis=1)), bool)


@dataclass(frozen=True)
class Provided:
    """A requirement that is only due where an assumption holds."""

    assumption: Requirement
    requirement: Requirement

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows will do."""
        due = self.assumption.holds(numerators, denominators)
        return ~due | self.requirement.holds(numerators, denominators)


@dataclass(frozen=True)
class After:
    """A requirement on a history and what comes now, together."""

    # The history's counters, one of each a group.
    past_numerators: tuple[int, ...]
    past_denominators: tuple[int, ...]
    requirement: Requirement

    def holds(self, numerators: Counts, denominators: Counts) -> NDArray[np.bool_]:
        """Return which rows, of the counters of what comes now, will do."""
        return self.requirement.holds(*self.together(numerators, denominators))

    def together(self, numerators: Counts, denominators: Counts) -> tuple[Counts, Counts]:
        """Return the counters of what comes now and of the history, added up."""
        tops = numerators + np.array(self.past_numerators, dtype=np.int64)
        return tops, denominators + np.array(self.past_denominators, dtype=np.int64)
