"""One period of many runs that share a policy, step by step on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness import FairnessProperty
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import Requirement
from testsgd.shielding.solving import Policy, WindowedPolicy

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Events:
    """People with what was recommended for them.

    Notes
    -----
    All arrays have one shape: (n,) for rows to draw from, (runs, events) for sequences to replay.

    Examples
    --------
    >>> events = Events(np.array([0, 1]), np.array([1, 1]), np.ones(2))
    >>> events.take([1, 0, 1]).groups
    array([1, 0, 1])
    """

    # Places of the groups, and 0 or 1.
    groups: Ints
    recommendations: Ints
    costs: NDArray[np.float64]  # What it costs to change the recommendation.
    labels: Ints | None = None  # The true labels, 0 or 1.

    def take(self, where: Any) -> Events:
        """Return some of the events, by any index of arrays."""
        labels = None if self.labels is None else self.labels[where]
        return Events(self.groups[where], self.recommendations[where], self.costs[where], labels)

    def widened(self) -> Events:
        """Return the same events with whole numbers of 64 bits, as counters have."""
        labels = None if self.labels is None else self.labels.astype(np.int64)
        whole = self.groups.astype(np.int64), self.recommendations.astype(np.int64)
        return Events(*whole, self.costs.astype(np.float64), labels)


@dataclass(frozen=True)
class PeriodOutcome:
    """What one period came to; the first axis is the runs, counts have shape (runs, groups, kinds).

    `active`, `held`, `closest`: whether there was a shield, its assumption held, and it was one for
    the smallest bound that can be kept. `correct` decisions are the label, 0 without labels.
    """

    counts: Ints
    interventions: Ints
    correct: Ints
    cost: NDArray[np.float64]
    active: NDArray[np.bool_]
    held: NDArray[np.bool_]
    closest: NDArray[np.bool_]

    def take(self, rows: NDArray[np.intp]) -> PeriodOutcome:
        """Return some of the runs."""
        return combined([self], lambda arrays: arrays[0][rows])


def combined(
    parts: Sequence[PeriodOutcome], join: Callable[[Sequence[NDArray[Any]]], NDArray[Any]]
) -> PeriodOutcome:
    """Join the arrays of each name, such as by ``np.concatenate``: run after run."""
    names = [field.name for field in fields(PeriodOutcome)]
    return PeriodOutcome(*(join([getattr(part, name) for part in parts]) for name in names))


def run_period(
    fairness: FairnessProperty,
    inputs: InputDistribution,
    events: Events,
    policy: Policy | WindowedPolicy | None,
    *,
    assumption: Requirement | None = None,
    closest: bool = False,
) -> PeriodOutcome:
    """Decide on the people of a period, shape (runs, horizon), in many runs at once.

    Without a policy recommendations pass.
    """
    runs = len(events.groups)
    if isinstance(policy, WindowedPolicy) and runs > 1:
        # It knows the decisions near one run at a time.
        single = (events.take(np.s_[run : run + 1]) for run in range(runs))
        again = partial(run_period, fairness, inputs, assumption=assumption, closest=closest)
        return combined([again(run_events, policy) for run_events in single], np.concatenate)
    decisions, counts = _decide(fairness, inputs, events, policy)
    changed = decisions != events.recommendations
    kinds = np.array(fairness.kinds, dtype=np.int64)
    held = np.ones(runs, dtype=bool)
    if assumption is not None:
        held = assumption.holds(counts @ kinds[:, 0], counts @ kinds[:, 1])
    correct = np.zeros(runs, dtype=np.int64)
    if events.labels is not None:
        correct = (decisions == events.labels).sum(axis=1)
    active, cost = np.full(runs, policy is not None), (events.costs * changed).sum(axis=1)
    made = counts, changed.sum(axis=1), correct, cost
    return PeriodOutcome(*made, active=active, held=held, closest=np.full(runs, closest))


def _decide(
    fairness: FairnessProperty,
    inputs: InputDistribution,
    events: Events,
    policy: Policy | WindowedPolicy | None,
) -> tuple[Ints, Ints]:
    """Return decisions, shape (runs, horizon), and counts, shape (runs, groups, kinds)."""
    runs, horizon = events.groups.shape
    kinds, groups = len(fairness.kinds), len(inputs.groups)
    # By decision and label.
    kind_of = np.array(
        [[fairness.kind_of(decision, label) for label in (0, 1)] for decision in (0, 1)]
    )
    everyone = np.arange(runs)
    counts = np.zeros((runs, groups * kinds), dtype=np.int64)
    decisions = events.recommendations.copy()
    costs = inputs.cost_places(events.costs)
    for step in range(horizon):
        group, recommendation = events.groups[:, step], events.recommendations[:, step]
        if policy is not None:
            change = costs[:, step] < policy.changes_many(step, counts, group, recommendation)
            decisions[:, step] = np.where(change, 1 - recommendation, recommendation)
        label = 1 if events.labels is None else events.labels[:, step]
        kind = kind_of[decisions[:, step], label]
        counted = kind >= 0
        counts[everyone[counted], (group * kinds + kind)[counted]] += 1
    return decisions, counts.reshape(runs, groups, kinds)
