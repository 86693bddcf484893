"""Rates of groups with a prior belief, and how far they are apart; in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from testsgd.fairness import EmptyGroup, Measure


class GroupCounts:
    """Counters of each group, in the order of `names`, and the number of trials counted."""

    __slots__ = ("_places", "denominators", "names", "numerators", "trials")

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = list(names)
        self._places = {name: index for index, name in enumerate(names)}
        self.numerators = [0] * len(names)
        self.denominators = [0] * len(names)
        self.trials = 0

    def add(self, group: str, added: tuple[int, int]) -> int:
        """Count a trial; return the index of its group."""
        index = self._places.get(group)
        if index is None:
            index = self._places[group] = len(self.names)
            self.names.append(group)
            self.numerators.append(0)
            self.denominators.append(0)
        self.numerators[index] += added[0]
        self.denominators[index] += added[1]
        self.trials += 1
        return index

    def remove(self, group: str, added: tuple[int, int]) -> None:
        """Take back a trial that was counted."""
        index = self._places[group]
        self.numerators[index] -= added[0]
        self.denominators[index] -= added[1]
        self.trials -= 1

    def to_state(self) -> list[Any]:
        """Return the counters, as JSON has them."""
        return [[*self.names], [*self.numerators], [*self.denominators], self.trials]

    @classmethod
    def from_state(cls, state: list[Any]) -> GroupCounts:
        """Return the counters that :meth:`to_state` wrote."""
        counts = cls(tuple(state[0]))
        numerators, denominators, counts.trials = state[1:]
        counts.numerators, counts.denominators = list(numerators), list(denominators)
        return counts


@dataclass(frozen=True)
class Prior:
    """A prior belief about every group's rate, worth `strength` trials.

    "overall": the rate of all groups so far. The estimate is (numerator + rate * strength) /
    (denominator + strength), the mode for a beta prior (the paper, section 3.3).
    """

    rate: Fraction | Literal["overall"] = Fraction(1, 2)
    strength: Fraction = Fraction(0)

    def smoothed(
        self, numerators: Sequence[int], denominators: Sequence[int], empty_group: EmptyGroup
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Return counters in whole numbers whose quotients are the estimates.

        Both have one entry a group. With rate r and strength s, numerator n and denominator d
        become (n + r s) c and (d + s) c, where the scale c makes both whole. A group with
        denominator 0 has no rate (vacuous), or the rate r (zero).
        """
        if not self.strength:
            return numerators, denominators
        added = self._added
        if added is None:
            total = sum(denominators)
            if not total:
                return numerators, denominators
            added = self._in_whole_numbers(Fraction(sum(numerators), total))
        scale, added_top, added_bottom = added
        tops = [top * scale + added_top for top in numerators]
        bottoms = [bottom * scale + added_bottom for bottom in denominators]
        if empty_group == "vacuous" and 0 in denominators:
            for index, bottom in enumerate(denominators):
                if not bottom:
                    tops[index] = bottoms[index] = 0
        return tops, bottoms

    def smoothed_rate(self, top: int, bottom: int, overall: Fraction | None) -> tuple[int, int]:
        """Return a numerator and a denominator in whole numbers whose quotient is the estimate.

        `overall`: the rate of all groups so far; None before the first trial.
        """
        added = self._added
        if added is None and overall is not None:
            added = self._in_whole_numbers(overall)
        if added is None or not self.strength:
            return top, bottom
        scale, added_top, added_bottom = added
        return top * scale + added_top, bottom * scale + added_bottom

    @cached_property
    def _added(self) -> tuple[int, int, int] | None:
        return None if self.rate == "overall" else self._in_whole_numbers(self.rate)

    def _in_whole_numbers(self, rate: Fraction) -> tuple[int, int, int]:
        """Return a scale, and what a belief adds to scaled numerators and denominators."""
        added = rate * self.strength
        scale = added.denominator * self.strength.denominator
        return scale, int(added * scale), int(self.strength * scale)


@dataclass(frozen=True)
class Extremes:
    """The indices of the two groups whose rates are farthest apart, and these rates."""

    highest: int
    lowest: int
    high: tuple[int, int]
    low: tuple[int, int]

    def above(self, bound: Fraction, measure: Measure) -> bool:
        """Return whether the bias is above a bound, in whole numbers."""
        (top, bottom), (low_top, low_bottom) = self.high, self.low
        part, whole = bound.numerator, bound.denominator
        first, second = top * low_bottom, low_top * bottom
        if measure == "difference":
            return (first - second) * whole > part * bottom * low_bottom
        return second * whole < (whole - part) * first

    def bias(self, measure: Measure) -> Fraction:
        """Return the bias exactly."""
        high, low = Fraction(*self.high), Fraction(*self.low)
        if measure == "difference":
            return high - low
        return Fraction(0) if high == 0 else 1 - low / high


def extremes(
    numerators: Sequence[int], denominators: Sequence[int], empty_group: EmptyGroup
) -> Extremes | None:
    """Return the groups with the highest and the lowest rate, the first ones of equals.

    Both arguments have one entry a group. A group with denominator 0 is left out (vacuous), or has
    rate 0 (zero). None if there are not two groups to compare.
    """
    highest = lowest = -1
    high = low = (0, 1)
    compared = 0
    for index, (top, bottom) in enumerate(zip(numerators, denominators, strict=True)):
        if bottom == 0:
            if empty_group == "vacuous":
                continue
            top, bottom = 0, 1
        compared += 1
        if highest < 0 or top * high[1] > high[0] * bottom:
            highest, high = index, (top, bottom)
        if lowest < 0 or top * low[1] < low[0] * bottom:
            lowest, low = index, (top, bottom)
    return Extremes(highest, lowest, high, low) if compared > 1 else None
