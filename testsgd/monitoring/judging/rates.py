"""Rates of groups with a prior belief, and how far they are apart; in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from testsgd.fairness import EmptyGroup, Measure


@dataclass(frozen=True)
class Prior:
    """What is believed of every group's rate before anybody is seen, and how strongly.

    Attributes
    ----------
    rate : fractions.Fraction or "overall"
        The believed rate; that of all groups together so far.
    strength : fractions.Fraction
        As many people as the belief is worth; 0 for none.

    Notes
    -----
    The estimate is (numerator + rate * strength) / (denominator + strength), the mode of the
    posterior for a beta prior (the paper on stream-based monitoring, section 3.3).
    """

    rate: Fraction | Literal["overall"] = Fraction(1, 2)
    strength: Fraction = Fraction(0)

    def smoothed(
        self, numerators: Sequence[int], denominators: Sequence[int], empty_group: EmptyGroup
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Give counters in whole numbers whose quotients are the estimates.

        Parameters
        ----------
        numerators, denominators : sequence of int
            One of each a group.
        empty_group : {"vacuous", "zero"}
            A group of which nobody was counted stays one without a rate, or has the believed one.

        Returns
        -------
        numerators, denominators : sequence of int
            All multiplied by the same number.

        Examples
        --------
        >>> belief = Prior(Fraction(1, 2), Fraction(24))
        >>> belief.smoothed([10, 4], [10, 10], "vacuous"), belief.smoothed([1, 0], [1, 0], "zero")
        (([22, 16], [34, 34]), ([13, 12], [25, 24]))
        >>> belief.smoothed([1, 0], [1, 0], "vacuous")
        ([13, 0], [25, 0])
        """
        if self._nothing:
            return numerators, denominators
        added = self._added
        if added is None:
            if not (everybody := sum(denominators)):
                return numerators, denominators
            added = self._in_whole_numbers(Fraction(sum(numerators), everybody))
        scale, more_top, more_bottom = added
        tops = [top * scale + more_top for top in numerators]
        bottoms = [bottom * scale + more_bottom for bottom in denominators]
        if empty_group == "vacuous" and 0 in denominators:
            for place, bottom in enumerate(denominators):
                if not bottom:
                    tops[place] = bottoms[place] = 0
        return tops, bottoms

    @cached_property
    def _nothing(self) -> bool:
        return self.strength == 0

    @cached_property
    def _added(self) -> tuple[int, int, int] | None:
        return None if self.rate == "overall" else self._in_whole_numbers(self.rate)

    def _in_whole_numbers(self, rate: Fraction) -> tuple[int, int, int]:
        """Give a scale, and what a belief adds to scaled numerators and denominators."""
        added = rate * self.strength
        scale = added.denominator * self.strength.denominator
        return scale, int(added * scale), int(self.strength * scale)


@dataclass(frozen=True)
class Extremes:
    """The two groups whose rates are farthest apart.

    Attributes
    ----------
    highest, lowest : int
        Their places.
    high, low : tuple of int
        Numerator and denominator of their rates.
    """

    highest: int
    lowest: int
    high: tuple[int, int]
    low: tuple[int, int]

    def above(self, threshold: Fraction, measure: Measure) -> bool:
        """Say whether the bias is above a threshold, in whole numbers.

        Examples
        --------
        >>> extremes([1, 2], [10, 10], "vacuous").above(Fraction(1, 10), "difference")
        False
        >>> extremes([1, 2], [10, 10], "vacuous").above(Fraction(1, 10), "ratio")
        True
        """
        (top, bottom), (low_top, low_bottom) = self.high, self.low
        part, whole = threshold.numerator, threshold.denominator
        first, second = top * low_bottom, low_top * bottom
        if measure == "difference":
            return (first - second) * whole > part * bottom * low_bottom
        return second * whole < (whole - part) * first

    def bias(self, measure: Measure) -> Fraction:
        """Give the bias exactly.

        Examples
        --------
        >>> extremes([1, 2], [10, 10], "vacuous").bias("difference")
        Fraction(1, 10)
        """
        high, low = Fraction(*self.high), Fraction(*self.low)
        if measure == "difference":
            return high - low
        return Fraction(0) if high == 0 else 1 - low / high


def extremes(
    numerators: Sequence[int], denominators: Sequence[int], empty_group: EmptyGroup
) -> Extremes | None:
    """Find the groups with the highest and the lowest rate, the first ones of equals.

    Parameters
    ----------
    numerators, denominators : sequence of int
        One of each a group.
    empty_group : {"vacuous", "zero"}
        A group whose denominator is 0 is left out, or its rate is 0.

    Returns
    -------
    Extremes or None
        None if fewer than two groups have a rate.

    Examples
    --------
    >>> extremes([1, 5, 0], [2, 6, 0], "vacuous")
    Extremes(highest=1, lowest=0, high=(5, 6), low=(1, 2))
    >>> extremes([1, 5, 0], [2, 6, 0], "zero").lowest
    2
    >>> extremes([1, 0], [2, 0], "vacuous") is None
    True
    """
    highest = lowest = -1
    high = low = (0, 1)
    compared = 0
    for place, (top, bottom) in enumerate(zip(numerators, denominators, strict=True)):
        if bottom == 0:
            if empty_group == "vacuous":
                continue
            top, bottom = 0, 1
        compared += 1
        if highest < 0 or top * high[1] > high[0] * bottom:
            highest, high = place, (top, bottom)
        if lowest < 0 or top * low[1] < low[0] * bottom:
            lowest, low = place, (top, bottom)
    return Extremes(highest, lowest, high, low) if compared > 1 else None
