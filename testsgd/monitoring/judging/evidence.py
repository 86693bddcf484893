"""Evidence that groups' rates are farther apart than allowed, however often one looks."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any, TypedDict

from testsgd.fairness import Measure
from testsgd.fairness.property import RateMeasure
from testsgd.monitoring.judging.rates import GroupCounts
from testsgd.scoring import may_be_evident, pair_evidence, pair_interval

# A pair is looked at again after its trials have grown by this part. Any schedule keeps the
# promise; this one finds what there is to find at most so much later.
_GROWTH = 128
Pair = tuple[int, int]


class Bet(TypedDict):
    """The settings of the bets on a pair of rates; see :mod:`testsgd.scoring.pair_sequences`."""

    measure: RateMeasure
    tuned_for: float


def part_of(total: float, number: int) -> float:
    """Return the part of an error probability for claim `number`, from 0, of endlessly many.

    It is total / ((number + 1) (number + 2)); all parts together are the total.
    """
    return total / ((number + 1) * (number + 2))


class PairEvidence:
    """The evidence about each pair of groups of one comparison.

    `error`: probability that any of its claims is wrong, ever. `groups`: how many there will be, if
    known. `tuned_for`: the number of trials of each group after which it is sharpest.

    For each pair it multiplies the wealth of two betting martingales, one against each rate. If the
    rates that they bet against are the true ones, the product is a martingale that begins at 1. So
    if the true rates keep the bound, the least product over all rates that keep it ever exceeds
    1 / error with a probability of at most `error` (Ville's inequality).
    """

    __slots__ = ("_error", "_groups", "_next", "_places", "bet", "bound", "proved")

    def __init__(
        self, error: float, groups: int | None, bound: Fraction, measure: Measure, tuned_for: float
    ) -> None:
        self._error = error
        self._groups = groups
        assert measure != "share", "no monitored property has shares"
        self.bet: Bet = {"measure": measure, "tuned_for": tuned_for}
        # Evidence against a slightly larger bound is evidence against the exact one.
        self.bound = math.nextafter(float(bound), 2.0)
        self._places: dict[Pair, int] = {}
        self._next: dict[Pair, int] = {}
        self.proved: Pair | None = None

    def look(self, counts: GroupCounts, index: int) -> Pair | None:
        """Return the first pair of groups whose bias is proved to be above the bound, once.

        `counts` are those of all groups, after a trial of the group `index` was counted; only its
        pairs are looked at. A pair is looked at again when its trials have grown by a part of 128.
        None if no pair is proved, or if one was proved before.
        """
        bottoms = counts.denominators
        for other in range(len(bottoms)):
            if other == index or not bottoms[other]:
                continue
            pair = (index, other) if index < other else (other, index)
            size = bottoms[index] + bottoms[other]
            if size < self._next.get(pair, 0):
                continue
            self._next[pair] = size + max(1, size // _GROWTH)
            # Every pair gets its part when it first comes up, proved or not.
            error = self._error_of(pair)
            if self.proved is not None:
                continue
            pair_tops = counts.numerators[pair[0]], counts.numerators[pair[1]]
            pair_bottoms = bottoms[pair[0]], bottoms[pair[1]]
            level = -math.log(error)
            if not may_be_evident(pair_tops, pair_bottoms, self.bound, level, **self.bet):
                continue
            if float(pair_evidence(pair_tops, pair_bottoms, self.bound, **self.bet)) >= level:
                self.proved = pair
                return pair
        return None

    def claims(self, counts: GroupCounts) -> list[tuple[Pair, float]]:
        """Return the pairs of counted groups, with the error probability of each interval."""
        counted = [index for index, bottom in enumerate(counts.denominators) if bottom]
        return [(pair, self._error_of(pair)) for pair in combinations(counted, 2)]

    def interval(self, counts: GroupCounts, pair: Pair) -> tuple[float, float]:
        """Return the interval of the bias of one pair; it holds with all others at every time."""
        tops = [counts.numerators[group] for group in pair]
        bottoms = [counts.denominators[group] for group in pair]
        low, high = pair_interval(tops, bottoms, 1 - self._error_of(pair), **self.bet)
        return float(low), float(high)

    def _error_of(self, pair: Pair) -> float:
        """Return the error probability of a pair: an equal part, or the next of endlessly many."""
        if self._groups is not None:
            return self._error / math.comb(self._groups, 2)
        return part_of(self._error, self._places.setdefault(pair, len(self._places)))

    def to_state(self) -> dict[str, Any]:
        """Return all that is kept, as JSON has it."""
        return {
            "pairs": [list(pair) for pair in self._places],
            "next": [[*pair, size] for pair, size in self._next.items()],
            "proved": None if self.proved is None else list(self.proved),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up what :meth:`to_state` gave."""
        self._places = {(low, high): index for index, (low, high) in enumerate(state["pairs"])}
        self._next = {(low, high): size for low, high, size in state["next"]}
        proved = state["proved"]
        self.proved = None if proved is None else (proved[0], proved[1])
