"""Periods run by a policy, written without the package's run time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from exhaustive import Decides, Events, Trace, counts_of

from testsgd.fairness import FairnessProperty

# Events so far in this period, to group, recommendation, place of the cost, and label.
Adversary = Callable[[Trace], tuple[int, int, int, int]]


@dataclass
class Run:
    """Counters of a run, in all and by period."""

    events: Events
    groups: int
    traces: list[Trace] = field(default_factory=list)

    def counters(self, *periods: int) -> tuple[list[int], list[int]]:
        """Of some periods together; of all without a number."""
        chosen = [self.traces[period] for period in periods] if periods else self.traces
        return self.events.counters(sum(chosen, ()), self.groups)


def run_period(
    policy: Decides, fairness: FairnessProperty, adversary: Adversary, *, groups: int, length: int
) -> Trace:
    """Play one period against whoever chooses the inputs and labels."""
    trace: Trace = ()
    for step in range(length):
        group, recommendation, place, label = adversary(trace)
        counts = counts_of(fairness, trace, groups)
        changed = place < policy.changes(step, counts, group, recommendation)
        decision = 1 - recommendation if changed else recommendation
        trace = (*trace, (group, decision, label))
    return trace


def rates(tops: list[int], bottoms: list[int]) -> list[Fraction]:
    """Rates of the groups of which somebody came."""
    return [Fraction(top, bottom) for top, bottom in zip(tops, bottoms, strict=True) if bottom]
