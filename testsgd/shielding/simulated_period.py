"""One period of many runs that share a policy, step by step on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.fairness import FairnessProperty
from testsgd.progress import parts_of, tell_answered
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import Requirement
from testsgd.shielding.solving import Policy, WindowedPolicy

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Events:
    """People in the order in which they come, with what is recommended for them.

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
        """Return a part of the events.

        Parameters
        ----------
        where : index
            Any index of numpy: a slice, a mask or an array of places.

        Returns
        -------
        Events
        """
        return Events(
            groups=self.groups[where],
            recommendations=self.recommendations[where],
            costs=self.costs[where],
            labels=None if self.labels is None else self.labels[where],
        )

    def widened(self) -> Events:
        """Return the same events with whole numbers of 64 bits, as counters have.

        Returns
        -------
        Events
        """
        return Events(
            groups=self.groups.astype(np.int64),
            recommendations=self.recommendations.astype(np.int64),
            costs=self.costs.astype(np.float64),
            labels=None if self.labels is None else self.labels.astype(np.int64),
        )


@dataclass(frozen=True)
class PeriodOutcome:
    """The outcome of one period in many runs; the first axis of every array is the runs.

    `counts` has shape (runs, groups, kinds), the others (runs,). Whether there was a shield:
    `active`; whether its assumption held: `assumption_held`; whether it was a shield for the
    smallest bound that can be kept: `closest`. `correct` counts the decisions that are the label;
    it is 0 without labels.
    """

    counts: Ints
    interventions: Ints
    correct: Ints
    cost: NDArray[np.float64]
    active: NDArray[np.bool_]
    assumption_held: NDArray[np.bool_]
    closest: NDArray[np.bool_]

    def take(self, rows: NDArray[np.intp]) -> PeriodOutcome:
        """Return the outcome of a part of the runs."""
        return combined([self], lambda arrays: arrays[0][rows])


def combined(
    parts: Sequence[PeriodOutcome], join: Callable[[Sequence[NDArray[Any]]], NDArray[Any]]
) -> PeriodOutcome:
    """Return outcomes joined field by field, such as by ``np.concatenate``: run after run."""
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
    """Return the outcome of deciding on the people of a period, in many runs at once.

    `events` have shape (runs, horizon). Without a policy recommendations pass.
    """
    runs = len(events.groups)
    if isinstance(policy, WindowedPolicy) and runs > 1:
        # Such a policy has the decisions near one run at a time.
        outcomes = list[PeriodOutcome]()
        counted = parts_of(runs)
        for run in range(runs):
            with counted.asking(1):
                outcome = run_period(
                    fairness,
                    inputs,
                    events.take(np.s_[run : run + 1]),
                    policy,
                    assumption=assumption,
                    closest=closest,
                )
            outcomes.append(outcome)
        return combined(outcomes, np.concatenate)
    decisions, counts = _decide(fairness, inputs, events, policy)
    changed = decisions != events.recommendations
    kinds = np.array(fairness.kinds, dtype=np.int64)
    assumption_held = np.ones(runs, dtype=bool)
    if assumption is not None:
        assumption_held = assumption.holds(counts @ kinds[:, 0], counts @ kinds[:, 1])
    correct = np.zeros(runs, dtype=np.int64)
    if events.labels is not None:
        correct = (decisions == events.labels).sum(axis=1)
    return PeriodOutcome(
        counts=counts,
        interventions=changed.sum(axis=1),
        correct=correct,
        cost=(events.costs * changed).sum(axis=1),
        active=np.full(runs, policy is not None),
        assumption_held=assumption_held,
        closest=np.full(runs, closest),
    )


def _decide(
    fairness: FairnessProperty,
    inputs: InputDistribution,
    events: Events,
    policy: Policy | WindowedPolicy | None,
) -> tuple[Ints, Ints]:
    """Return decisions, shape (runs, horizon), and counts, shape (runs, groups, kinds)."""
    runs, horizon = events.groups.shape
    kinds = len(fairness.kinds)
    groups = len(inputs.groups)
    # By decision and label, shape (2, 2).
    kind_of = np.array(
        [[fairness.kind_of(decision, label) for label in (0, 1)] for decision in (0, 1)]
    )
    rows = np.arange(runs)
    counts = np.zeros((runs, groups * kinds), dtype=np.int64)
    decisions = events.recommendations.copy()
    costs = inputs.cost_places(events.costs)
    for step in range(horizon):
        group = events.groups[:, step]
        recommendation = events.recommendations[:, step]
        if policy is not None:
            changed = costs[:, step] < policy.changes_many(step, counts, group, recommendation)
            decisions[:, step] = np.where(changed, 1 - recommendation, recommendation)
        label = 1 if events.labels is None else events.labels[:, step]
        kind = kind_of[decisions[:, step], label]
        counted = kind >= 0
        counts[rows[counted], (group * kinds + kind)[counted]] += 1
        tell_answered(step + 1, horizon)
    return decisions, counts.reshape(runs, groups, kinds)
