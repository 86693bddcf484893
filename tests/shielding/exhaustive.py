"""Shields found by trying everything: traces instead of counters, fractions instead of floats.

Nothing here looks at how the package counts, numbers states or decides: a property is a pair of
lists of events, its counters are found by going through the trace, and the least cost by recursion
over all traces. What cannot be kept costs `None`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Protocol

import numpy as np

from testsgd.fairness import FairnessProperty
from testsgd.fairness.property import property_from_events
from testsgd.shielding.inputs import InputDistribution

# Group, decision and label of each person, in the order they came.
Trace = tuple[tuple[int, int, int], ...]
# Numerators and denominators, one of each a group, to: is this fair?
Judge = Callable[[list[int], list[int]], bool]


@dataclass(frozen=True)
class Events:
    """A property by its events: (decision, label) pairs, twice if it counts twice."""

    numerator: tuple[tuple[int, int], ...]
    denominator: tuple[tuple[int, int], ...]
    measure: str = "difference"

    @property
    def labelled(self) -> bool:
        return any(
            listed.count((decision, 0)) != listed.count((decision, 1))
            for listed in (self.numerator, self.denominator)
            for decision in (0, 1)
        )

    def counters(self, trace: Trace, groups: int) -> tuple[list[int], list[int]]:
        tops, bottoms = [0] * groups, [0] * groups
        for group, decision, label in trace:
            tops[group] += self.numerator.count((decision, label))
            bottoms[group] += self.denominator.count((decision, label))
        return tops, bottoms

    def as_property(self, name: str = "custom") -> FairnessProperty:
        return property_from_events(
            name,
            numerator=[f"{('reject', 'accept')[one]}:{label}" for one, label in self.numerator],
            denominator=[f"{('reject', 'accept')[one]}:{label}" for one, label in self.denominator],
            measure=self.measure,  # type: ignore[arg-type]
        )


_ALL = ((0, 0), (0, 1), (1, 0), (1, 1))
_ACCEPTED = ((1, 0), (1, 1))
NAMED = {
    "demographic_parity": Events(_ACCEPTED, _ALL),
    "disparate_impact": Events(_ACCEPTED, _ALL, "ratio"),
    "equal_opportunity": Events(((1, 1),), ((0, 1), (1, 1))),
    "predictive_equality": Events(((1, 0),), ((0, 0), (1, 0))),
}
CUSTOM = {
    # Of the accepted, those whose label is 1: the decision moves the denominator.
    "precision": Events(((1, 1),), _ACCEPTED),
    # A decision agrees with its label.
    "accuracy": Events(((0, 0), (1, 1)), _ALL),
    # Accepted per rejected: the numerator grows without the denominator.
    "odds": Events(_ACCEPTED, ((0, 0), (0, 1))),
    # An acceptance counts twice.
    "double": Events(_ACCEPTED + _ACCEPTED, _ALL, "ratio"),
    # Nothing that a shield could move.
    "base_rate": Events(((0, 1), (1, 1)), _ALL),
}


def exact_bias(tops: list[int], bottoms: list[int], *, measure: str, empty_group: str) -> Fraction:
    """Bias over one common denominator."""
    counted = [place for place, bottom in enumerate(bottoms) if bottom > 0]
    common = lcm(*(bottoms[place] for place in counted)) if counted else 1
    scaled = [tops[place] * (common // bottoms[place]) for place in counted]
    if empty_group == "zero":
        scaled += [0] * (len(bottoms) - len(counted))
    scaled.sort()
    if len(scaled) < 2:
        return Fraction(0)
    if measure == "difference":
        return Fraction(scaled[-1] - scaled[0], common)
    return Fraction(scaled[-1] - scaled[0], scaled[-1]) if scaled[-1] else Fraction(0)


def bounded(bound: Fraction, *, measure: str, empty_group: str) -> Judge:
    """The bias is at most a bound."""

    def judge(tops: list[int], bottoms: list[int]) -> bool:
        return exact_bias(tops, bottoms, measure=measure, empty_group=empty_group) <= bound

    return judge


@dataclass(frozen=True)
class Inputs:
    """Integer weights of (group, recommendation, cost), and eighths of labels that are 1."""

    weights: tuple[int, ...]
    costs: tuple[int, ...]
    eighths: tuple[int, ...]
    groups: int

    def each(self) -> Iterator[tuple[int, int, int, Fraction]]:
        """Group, recommendation, place of the cost and probability of all inputs, of 0 too."""
        kinds = product(range(self.groups), (0, 1), range(len(self.costs)))
        for (group, recommendation, place), weight in zip(kinds, self.weights, strict=True):
            yield group, recommendation, place, Fraction(weight, sum(self.weights))

    def label(self, group: int, recommendation: int) -> Fraction:
        return Fraction(self.eighths[2 * group + recommendation], 8)

    def distribution(self, *, labelled: bool) -> InputDistribution:
        shape = (self.groups, 2, len(self.costs))
        return InputDistribution(
            groups=tuple("abcdefgh"[: self.groups]),
            costs=tuple(map(float, self.costs)),
            probabilities=np.array(self.weights).reshape(shape) / sum(self.weights),
            labels=np.array(self.eighths).reshape(shape[:2]) / 8 if labelled else None,
        )


@dataclass(frozen=True)
class Game:
    """What is counted, when it is fair, who comes, and for how long."""

    events: Events
    judge: Judge
    inputs: Inputs
    horizon: int

    def fair(self, trace: Trace) -> bool:
        return self.judge(*self.events.counters(trace, self.inputs.groups))

    def labels(self) -> tuple[int, ...]:
        """Labels that must be told apart."""
        return (0, 1) if self.events.labelled else (1,)

    def least_cost(self, trace: Trace = ()) -> Fraction | None:
        """Least expected cost from a trace on, None if the bound cannot be kept for all inputs."""
        if len(trace) == self.horizon:
            return Fraction(0) if self.fair(trace) else None
        total: Fraction | None = Fraction(0)
        branches = {group: self.after(trace, group) for group in range(self.inputs.groups)}
        for group, recommendation, place, probability in self.inputs.each():
            keep = self.expected(branches[group], group, recommendation, recommendation)
            change = self.expected(branches[group], group, recommendation, 1 - recommendation)
            options = [keep] if keep is not None else []
            if change is not None:
                options.append(change + self.inputs.costs[place])
            if not options or total is None:
                total = None
            else:
                total += probability * min(options)
        return total

    def after(self, trace: Trace, group: int) -> dict[tuple[int, int], Fraction | None]:
        """Least costs after somebody of a group, by decision and label."""
        return {
            (decision, label): self.least_cost((*trace, (group, decision, label)))
            for decision in (0, 1)
            for label in self.labels()
        }

    def expected(
        self,
        branches: dict[tuple[int, int], Fraction | None],
        group: int,
        recommendation: int,
        decision: int,
    ) -> Fraction | None:
        """Over the label, which is revealed after the decision; None if either cannot be borne."""
        chance = self.inputs.label(group, recommendation)
        total = Fraction(0)
        for label in self.labels():
            value = branches[decision, label]
            if value is None:
                return None
            if len(self.labels()) == 1:
                return value
            total += (chance if label else 1 - chance) * value
        return total

    def rightful_changes(self, trace: Trace, group: int, recommendation: int) -> int | None:
        """At how many costs, cheapest first, changing is cheaper; None if neither can be borne."""
        branches = self.after(trace, group)
        keep = self.expected(branches, group, recommendation, recommendation)
        change = self.expected(branches, group, recommendation, 1 - recommendation)
        if change is None:
            return None if keep is None else 0
        if keep is None:
            return len(self.inputs.costs)
        return sum(keep > change + cost for cost in self.inputs.costs)

    def traces(self, length: int) -> Iterator[Trace]:
        """All of them."""
        people = list(product(range(self.inputs.groups), (0, 1), self.labels()))
        yield from product(people, repeat=length)


def least_bound(game: Game, empty_group: str, past: tuple[list[int], list[int]]) -> Fraction:
    """The least bias of a history and what follows that can be kept whoever comes."""

    def value(trace: Trace) -> Fraction:
        if len(trace) == game.horizon:
            tops, bottoms = game.events.counters(trace, game.inputs.groups)
            return exact_bias(
                [own + old for own, old in zip(tops, past[0], strict=True)],
                [own + old for own, old in zip(bottoms, past[1], strict=True)],
                measure=game.events.measure,
                empty_group=empty_group,
            )
        return max(
            min(
                max(value((*trace, (group, decision, label))) for label in game.labels())
                for decision in (0, 1)
            )
            for group in range(game.inputs.groups)
        )

    return value(())


class Decides(Protocol):
    """What answers how many of the costs are low enough to change a recommendation."""

    def changes(
        self, step: int, counts: tuple[int, ...], group: int, recommendation: int
    ) -> int: ...


def counts_of(fairness: FairnessProperty, trace: Trace, groups: int) -> tuple[int, ...]:
    """The flat counts that a policy is asked with: how often each kind has happened."""
    kinds = fairness.kinds
    counts = [0] * (groups * len(kinds))
    for group, decision, label in trace:
        added = (fairness.numerator[decision][label], fairness.denominator[decision][label])
        if added != (0, 0):
            counts[group * len(kinds) + kinds.index(added)] += 1
    return tuple(counts)


def cost_under(
    game: Game, fairness: FairnessProperty, policy: Decides, trace: Trace = ()
) -> Fraction:
    """Expected cost of a policy's own decisions; asserts that no sequence of inputs is unfair.

    All inputs and labels are gone through, those of probability 0 too.
    """
    if len(trace) == game.horizon:
        assert game.fair(trace), f"the policy lets {trace} happen"
        return Fraction(0)
    counts = counts_of(fairness, trace, game.inputs.groups)
    total = Fraction(0)
    seen: dict[tuple[int, int, int], Fraction] = {}
    for group, recommendation, place, probability in game.inputs.each():
        changes = policy.changes(len(trace), counts, group, recommendation)
        changed = place < changes
        decision = 1 - recommendation if changed else recommendation
        chance = game.inputs.label(group, recommendation)
        future = Fraction(0)
        for label in game.labels():
            person = (group, decision, label)
            if person not in seen:
                seen[person] = cost_under(game, fairness, policy, (*trace, person))
            share = Fraction(1) if len(game.labels()) == 1 else chance if label else 1 - chance
            future += share * seen[person]
        total += probability * (future + (game.inputs.costs[place] if changed else 0))
    return total
