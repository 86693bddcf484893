"""The prior beliefs about the rates of one property's groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from testsgd.fairness import EmptyGroup
from testsgd.monitoring.judging.rates import GroupCounts, Prior
from testsgd.monitoring.specification import Belief, FieldRatio


@dataclass(frozen=True)
class Beliefs:
    """The prior belief about each group: `general`, or that of its name in `exceptions`.

    Examples
    --------
    >>> counts = GroupCounts(("a", "b"))
    >>> _ = counts.add("a", (1, 1)), counts.add("b", (1, 1))
    >>> pessimistic = Prior(Fraction(0), Fraction(3))
    >>> beliefs = Beliefs(Prior(Fraction(1, 2), Fraction(2)), {"b": pessimistic})
    >>> tops, bottoms = beliefs.smoothed(counts, "vacuous")
    >>> [str(Fraction(*rate)) for rate in zip(tops, bottoms)]
    ['2/3', '1/4']
    """

    general: Prior
    exceptions: Mapping[str, Prior]

    @classmethod
    def of(
        cls, general: Belief, exceptions: Mapping[str, Belief], values: Mapping[str, Fraction]
    ) -> Beliefs:
        """Return what is specified; `values` are the last ones of the fields that priors are of."""
        return cls(
            _prior(general, values),
            {name: _prior(belief, values) for name, belief in exceptions.items()},
        )

    def smoothed(
        self, counts: GroupCounts, empty_group: EmptyGroup
    ) -> tuple[Sequence[int], Sequence[int]]:
        """Return counters in whole numbers whose quotients are the estimates, one a group."""
        numerators, denominators = counts.numerators, counts.denominators
        if not self.exceptions:
            return self.general.smoothed(numerators, denominators, empty_group)
        total = sum(denominators)
        overall = Fraction(sum(numerators), total) if total else None
        tops: list[int] = []
        bottoms: list[int] = []
        for name, top, bottom in zip(counts.names, numerators, denominators, strict=True):
            prior = self.exceptions.get(name, self.general)
            if bottom or empty_group == "zero":
                top, bottom = prior.smoothed_rate(top, bottom, overall)
            tops.append(top)
            bottoms.append(bottom)
        return tops, bottoms


def _prior(belief: Belief, values: Mapping[str, Fraction]) -> Prior:
    """Return a prior belief of which the rate is known."""
    rate = belief.rate
    return Prior(rate.rate(values) if isinstance(rate, FieldRatio) else rate, belief.strength)
