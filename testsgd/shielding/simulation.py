"""Many simulated runs at once: what a shield does to bias, cost and accuracy.

Runs of a dynamic shield differ in their history; those with the same counters share a policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.fairness import EmptyGroup, FairnessProperty
from testsgd.shielding import running
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import BiasAtMost
from testsgd.shielding.simulated_period import Events, Ints, PeriodOutcome, combined, run_period
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import Solution

# Events held at once; more runs are simulated in parts.
_MOST_EVENTS = 1 << 22


@dataclass(frozen=True)
class Simulation:
    """Simulated runs, period by period; every array begins with (runs, periods)."""

    fairness: FairnessProperty
    bound: Fraction
    empty_group: EmptyGroup
    shield: str  # The kind of shield.
    horizon: int  # Events of a period.
    # What was counted in the period alone, without and with the shield; shape (runs, periods,
    # groups, kinds).
    counts_unshielded: Ints
    counts: Ints
    active: NDArray[np.bool_]  # False where no shield existed, so that recommendations passed.
    # Whether the period met what the kind's theorem assumes, with a shield for the bound; None
    # if it assumes nothing.
    assumption_held: NDArray[np.bool_] | None
    interventions: Ints
    cost: NDArray[np.float64]
    # Decisions that are the label, without and with the shield; None without labels.
    correct_unshielded: Ints | None = None
    correct: Ints | None = None
    # Where no shield for the bound existed, and one for the smallest bound that could be kept
    # decided; None if the specification does not ask for it.
    closest: NDArray[np.bool_] | None = None

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.counts)

    @property
    def periods(self) -> int:
        """How many periods each has."""
        return int(self.counts.shape[1])

    @cached_property
    def bias_unshielded(self) -> NDArray[np.float64]:
        """Bias without a shield at the end of each period."""
        return self._bias(self.counts_unshielded)

    @cached_property
    def bias(self) -> NDArray[np.float64]:
        """Bias with the shield at the end of each period, of all so far (finite: of the period)."""
        return self._bias(self.counts)

    @cached_property
    def above_unshielded(self) -> NDArray[np.bool_]:
        """Whether the bias without a shield is above the bound, decided in whole numbers."""
        return self._above(self.counts_unshielded)

    @cached_property
    def above(self) -> NDArray[np.bool_]:
        """Whether the bias with the shield is above the bound, decided in whole numbers."""
        return self._above(self.counts)

    @property
    def fair(self) -> NDArray[np.bool_]:
        """Whether the bias with the shield is at most the bound."""
        return ~self.above

    @property
    def infeasible(self) -> NDArray[np.bool_]:
        """Whether no shield for the bound existed."""
        return ~self.active if self.closest is None else ~self.active | self.closest

    @property
    def guaranteed(self) -> NDArray[np.bool_]:
        """Whether fairness is guaranteed: the assumption held in all periods so far."""
        if self.assumption_held is None:
            return np.asarray(self.active)
        return np.logical_and.accumulate(self.assumption_held, axis=1)

    @property
    def utility_loss(self) -> NDArray[np.float64] | None:
        """Share of a period's events on which the shield loses accuracy; None without labels."""
        if self.correct is None or self.correct_unshielded is None:
            return None
        return np.asarray((self.correct_unshielded - self.correct) / self.horizon)

    def _totals(self, counts: Ints) -> tuple[Ints, Ints]:
        """Return numerators and denominators of what is judged, shape (runs, periods, groups)."""
        judged = counts if self.shield == "finite" else counts.cumsum(axis=1)
        added = np.array(self.fairness.kinds, dtype=np.int64)
        return judged @ added[:, 0], judged @ added[:, 1]

    def _above(self, counts: Ints) -> NDArray[np.bool_]:
        tops, bottoms = self._totals(counts)
        groups = tops.shape[2]
        holds = self._bound.holds(tops.reshape(-1, groups), bottoms.reshape(-1, groups))
        return ~holds.reshape(tops.shape[:2])

    def _bias(self, counts: Ints) -> NDArray[np.float64]:
        return self._bound.rounded_biases(*self._totals(counts))

    @property
    def _bound(self) -> BiasAtMost:
        return BiasAtMost(self.bound, self.fairness.measure, self.empty_group)


def simulate(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    events: Events | InputDistribution,
    *,
    runs: int,
    periods: int = 1,
    random_state: int = 0,
    jobs: int = 1,
    solution: Solution | None = None,
) -> Simulation:
    """Simulate runs with and without a shield, on the same people (section 5 of the paper).

    `inputs`: what the shield expects. `events`: whom it meets, rows drawn with replacement, or a
    distribution. `jobs`: processes for the periods of a dynamic shield. `solution`: of the first
    period, if known. Same seed, same runs, whatever `jobs` is.
    """
    for name, number in (("runs", runs), ("periods", periods)):
        if number < 1:
            what = f"{number} is not at least 1"
            raise ParameterError(what, where=name, remedy="give a whole number")
    _check_periods(specification, periods)
    _check_labels(specification, events)
    if isinstance(events, Events):
        _check(inputs, events, dimensions=1)
    length = specification.horizon.length * periods
    shield = _Shielded(specification, inputs)
    solution = solution or running.first_solution(specification, inputs)
    at_once = max(1, _MOST_EVENTS // length)
    starts = range(0, runs, at_once)
    seeds = np.random.SeedSequence(random_state).spawn(len(starts))
    parts = []
    for start, seed in zip(starts, seeds, strict=True):
        shape = (min(at_once, runs - start), length)
        drawn = _draw(events, shape, np.random.default_rng(seed))
        parts.append(shield.outcomes(drawn, jobs, solution))
    shielded, plain = (combined(outcomes, np.concatenate) for outcomes in zip(*parts, strict=True))
    return _simulation(specification, shielded, plain, labelled=events.labels is not None)


def replay_events(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    events: Events,
    *,
    jobs: int = 1,
    solution: Solution | None = None,
) -> Simulation:
    """Let a shield decide on given people, of shape (runs, events), in whole periods."""
    _check_labels(specification, events)
    _check(inputs, events, dimensions=2)
    length, total = specification.horizon.length, events.groups.shape[1]
    if total % length or not total:
        what = f"{total} events are no whole number of periods of {length}"
        raise ParameterError(what, where="events", remedy="give sequences of whole periods")
    _check_periods(specification, total // length)
    solution = solution or running.first_solution(specification, inputs)
    outcomes = _Shielded(specification, inputs).outcomes(events, jobs, solution)
    return _simulation(specification, *outcomes, labelled=events.labels is not None)


class _Shielded(NamedTuple):
    """What a shield is of, and what it expects; it decides for many runs at once."""

    specification: ShieldSpecification
    inputs: InputDistribution

    def outcomes(
        self, events: Events, jobs: int, solution: Solution
    ) -> tuple[PeriodOutcome, PeriodOutcome]:
        """Run all periods with the shield and without it; arrays begin with (runs, periods)."""
        fairness, horizon = self.specification.fairness_property, self.specification.horizon
        runs, total = events.groups.shape
        past = np.zeros((runs, len(self.inputs.groups), len(fairness.kinds)), dtype=np.int64)
        shielded, plain = list[PeriodOutcome](), list[PeriodOutcome]()
        for start in range(0, total, horizon.length):
            part = events.take(np.s_[:, start : start + horizon.length]).widened()
            if horizon.shield == "dynamic" and start:
                outcome = self._after_histories(part, past, jobs)
            else:
                outcome = self._with_solution(part, solution)
            shielded.append(outcome)
            plain.append(run_period(fairness, self.inputs, part, None))
            past = past + outcome.counts
        side_by_side = partial(np.stack, axis=1)
        return combined(shielded, side_by_side), combined(plain, side_by_side)

    def _after_histories(self, events: Events, past: Ints, jobs: int) -> PeriodOutcome:
        """Run a period of a dynamic shield; runs with the same history share its solution."""
        histories, which = np.unique(past.reshape(len(past), -1), axis=0, return_inverse=True)
        members = [np.flatnonzero(which.ravel() == index) for index in range(len(histories))]
        tasks = [(events.take(rows), past[rows[0]], len(histories)) for rows in members]
        if jobs == 1 or len(tasks) == 1:
            parts = [self._after_history(*task) for task in tasks]
        else:
            from joblib import Parallel, delayed

            parts = Parallel(n_jobs=jobs)(delayed(self._after_history)(*task) for task in tasks)
        return combined(parts, np.concatenate).take(np.argsort(np.concatenate(members)))

    def _after_history(self, events: Events, past: Ints, many: int) -> PeriodOutcome:
        fairness, bound = self.specification.fairness_property, self.specification.bound
        tops, bottoms = (tuple(column.tolist()) for column in (past @ np.array(fairness.kinds)).T)
        problem = running.period_problem(*self, tops, bottoms)
        solution, promised = running.period_solution(self.specification, problem, alike=many)
        if promised == bound:
            return self._with_solution(events, solution)
        policy = None if promised is None else solution.policy
        return run_period(fairness, self.inputs, events, policy, closest=policy is not None)

    def _with_solution(self, events: Events, solution: Solution) -> PeriodOutcome:
        policy = solution.policy if solution.feasible else None
        assumption = running.assumption_of(self.specification.horizon.shield, solution.problem)
        fairness = self.specification.fairness_property
        return run_period(fairness, self.inputs, events, policy, assumption=assumption)


def _simulation(
    specification: ShieldSpecification,
    shielded: PeriodOutcome,
    plain: PeriodOutcome,
    *,
    labelled: bool,
) -> Simulation:
    horizon = specification.horizon
    # Without a shield for the bound, after an unfair history, it was not promised either.
    promised = shielded.held & shielded.active & ~shielded.closest
    return Simulation(
        fairness=specification.fairness_property,
        bound=specification.bound,
        empty_group=specification.fairness.empty_group,
        shield=horizon.shield,
        horizon=horizon.length,
        counts_unshielded=plain.counts,
        counts=shielded.counts,
        active=shielded.active,
        assumption_held=None if horizon.shield == "finite" else promised,
        interventions=shielded.interventions,
        cost=shielded.cost,
        correct_unshielded=plain.correct if labelled else None,
        correct=shielded.correct if labelled else None,
        closest=shielded.closest if horizon.closest else None,
    )


def _draw(
    events: Events | InputDistribution, shape: tuple[int, int], generator: np.random.Generator
) -> Events:
    if isinstance(events, Events):
        return events.take(generator.integers(0, len(events.groups), shape))
    cells = generator.choice(events.probabilities.size, shape, p=events.probabilities.ravel())
    groups, recommendations, costs = np.unravel_index(cells, events.probabilities.shape)
    labels = None
    if events.labels is not None:
        labels = (generator.random(shape) < events.labels[groups, recommendations]).astype(np.int64)
    return Events(groups, recommendations, np.array(events.costs)[costs], labels)


def _check_periods(specification: ShieldSpecification, periods: int) -> None:
    most = running.most_periods(specification)
    if most is not None and periods > most:
        what = f"{periods} periods are more than the {most} of the specification"
        remedy = 'give fewer, or change "periods", or "after" of a finite shield'
        raise ParameterError(what, where="periods", remedy=remedy)


def _check_labels(specification: ShieldSpecification, events: Events | InputDistribution) -> None:
    fairness = specification.fairness_property
    if fairness.labelled and events.labels is None:
        what = f"{fairness.name} counts by true labels, and there are none"
        raise ParameterError(what, where="events.labels", remedy="give the labels")


def _check(inputs: InputDistribution, events: Events, *, dimensions: int) -> None:
    """Raise a :class:`ParameterError` if events cannot be simulated."""

    def refused(name: str, what: str, remedy: str) -> ParameterError:
        return ParameterError(what, where=f"events{name}", remedy=remedy)

    shape = events.groups.shape
    if len(shape) != dimensions or 0 in shape or events.costs.shape != shape:
        what = f"groups have shape {shape} and costs {events.costs.shape}"
        remedy = f"give arrays of one shape with {dimensions} axes, none of them empty"
        raise refused("", what, remedy)
    if not (np.isfinite(events.costs) & (events.costs >= 0)).all():
        raise refused(".costs", "a cost is negative or no number", "correct it")
    for name, values, most in (
        ("groups", events.groups, len(inputs.groups)),
        ("recommendations", events.recommendations, 2),
        ("labels", events.labels, 2),
    ):
        if values is None:
            continue
        if values.shape != shape or values.dtype.kind not in "iu":
            what = f"{name} have shape {values.shape} and type {values.dtype}"
            raise refused(f".{name}", what, f"give whole numbers of shape {shape}")
        if values.min() < 0 or values.max() >= most:
            what = f"{name} are between {values.min()} and {values.max()}"
            raise refused(f".{name}", what, f"give whole numbers from 0 to {most - 1}")
