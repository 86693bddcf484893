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
from testsgd.io import process_memory
from testsgd.parameters import largest_below
from testsgd.progress import parts_of
from testsgd.report.formatting import bytes_text, plural
from testsgd.shielding import running
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.requirement import BiasAtMost
from testsgd.shielding.simulated_period import Events, Ints, PeriodOutcome, combined, run_period
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import Solution

# Events held at once; more runs are simulated in parts.
_MOST_EVENTS = 1 << 22
# More events in all take days; what each of those held at once takes in memory, and the most.
_MOST_WORK = 10**11
_BYTES_AN_EVENT = 100
_MOST_BYTES = 8 * 10**9


@dataclass(frozen=True)
class Simulation:
    """The arrays of simulated runs, period by period, without a shield and with it.

    Every array has the shape (runs, periods), or begins with it. Both runs meet the same people.
    :func:`testsgd.simulate_shield` returns one in its result.

    Examples
    --------
    >>> specification = ShieldSpecification.from_dict({
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}})
    >>> inputs = specification.input_distribution()
    >>> simulation = simulate(specification, inputs, inputs, runs=20)
    >>> simulation.counts.shape, bool(simulation.fair.all())
    ((20, 1, 2, 2), True)
    """

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
    interventions: Ints  # Decisions of the period that were changed.
    cost: NDArray[np.float64]  # Cost of these changes.
    # Decisions that are the label, without and with the shield; None without labels.
    correct_unshielded: Ints | None = None
    correct: Ints | None = None
    # Where no shield for the bound existed, and one for the smallest bound that could be kept
    # decided; None if the specification does not ask for it.
    closest: NDArray[np.bool_] | None = None

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self.counts)

    @property
    def periods(self) -> int:
        """Number of periods of each run."""
        return int(self.counts.shape[1])

    @cached_property
    def bias_unshielded(self) -> NDArray[np.float64]:
        """Bias without a shield at the end of each period, of all so far (finite: of the period).

        In floating point, shape (runs, periods).
        """
        return self._bias(self.counts_unshielded)

    @cached_property
    def bias(self) -> NDArray[np.float64]:
        """Bias with the shield at the end of each period, of all so far (finite: of the period).

        In floating point, shape (runs, periods).
        """
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
        """Whether no shield for the specification's bound existed in the period."""
        return ~self.active if self.closest is None else ~self.active | self.closest

    @property
    def guaranteed(self) -> NDArray[np.bool_]:
        """Whether the bound is guaranteed: the assumption held in all periods so far.

        Without an assumption it is guaranteed wherever a shield existed.
        """
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
        """Return the numerators and denominators that are compared, (runs, periods, groups) each.

        They are of the period alone if the horizon is finite, else of all periods so far.
        """
        compared = counts if self.shield == "finite" else counts.cumsum(axis=1)
        kinds = np.array(self.fairness.kinds, dtype=np.int64)
        return compared @ kinds[:, 0], compared @ kinds[:, 1]

    def _above(self, counts: Ints) -> NDArray[np.bool_]:
        numerators, denominators = self._totals(counts)
        groups = numerators.shape[2]
        within = self._requirement.holds(
            numerators.reshape(-1, groups), denominators.reshape(-1, groups)
        )
        return ~within.reshape(numerators.shape[:2])

    def _bias(self, counts: Ints) -> NDArray[np.float64]:
        numerators, denominators = self._totals(counts)
        return self._requirement.rounded_biases(numerators, denominators)

    @property
    def _requirement(self) -> BiasAtMost:
        fairness = self.fairness
        return BiasAtMost(self.bound, fairness.measure, self.empty_group, fairness.shares)


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
    """Return simulated runs with and without a shield, on the same people (section 5 of the paper).

    `inputs` is what the shield expects. `events` are the people who come: rows of shape (n,) that
    are drawn from with replacement, or a distribution. `jobs` processes solve the periods of a
    dynamic shield. `solution` is of the first period, if it is known. The same seed gives the same
    runs, with any number of `jobs`.
    """
    for name, number in (("runs", runs), ("periods", periods)):
        if number < 1:
            what = f"{number} is not at least 1"
            raise ParameterError(what, where=name, remedy="give a whole number")
    _check_periods(specification, periods)
    _check_labels(specification, events)
    if isinstance(events, Events):
        _check(inputs, events, dimensions=1)
    check_simulated(specification, runs=runs, periods=periods)
    length = specification.horizon.length * periods
    runner = _Runner(specification, inputs)
    solution = solution or running.first_solution(specification, inputs)
    at_once = max(1, _MOST_EVENTS // length)
    starts = range(0, runs, at_once)
    seeds = np.random.SeedSequence(random_state).spawn(len(starts))
    shielded = list[PeriodOutcome]()
    unshielded = list[PeriodOutcome]()
    counted = parts_of(runs)
    for start, seed in zip(starts, seeds, strict=True):
        shape = (min(at_once, runs - start), length)
        sample = _draw(events, shape, np.random.default_rng(seed))
        with counted.asking(len(sample.groups)):
            with_shield, without_shield = runner.outcomes(sample, jobs, solution)
        shielded.append(with_shield)
        unshielded.append(without_shield)
    return _simulation(
        specification,
        combined(shielded, np.concatenate),
        combined(unshielded, np.concatenate),
        labelled=events.labels is not None,
    )


def replay_events(
    specification: ShieldSpecification,
    inputs: InputDistribution,
    events: Events,
    *,
    jobs: int = 1,
    solution: Solution | None = None,
) -> Simulation:
    """Return the runs of a shield that decides on given people, in whole periods.

    `events` have shape (runs, events); the number of events must be a multiple of the horizon.
    """
    _check_labels(specification, events)
    _check(inputs, events, dimensions=2)
    length = specification.horizon.length
    total = events.groups.shape[1]
    if total % length or not total:
        what = f"{total} events are no whole number of periods of {length}"
        raise ParameterError(what, where="events", remedy="give sequences of whole periods")
    _check_periods(specification, total // length)
    solution = solution or running.first_solution(specification, inputs)
    shielded, unshielded = _Runner(specification, inputs).outcomes(events, jobs, solution)
    return _simulation(specification, shielded, unshielded, labelled=events.labels is not None)


class _Runner(NamedTuple):
    """The specification of a shield and what it expects, to decide in many runs at once."""

    specification: ShieldSpecification
    inputs: InputDistribution

    def outcomes(
        self, events: Events, jobs: int, solution: Solution
    ) -> tuple[PeriodOutcome, PeriodOutcome]:
        """Return the outcomes with the shield and without it; arrays begin with (runs, periods)."""
        fairness = self.specification.fairness_property
        horizon = self.specification.horizon
        runs, total = events.groups.shape
        past = np.zeros((runs, len(self.inputs.groups), len(fairness.kinds)), dtype=np.int64)
        shielded = list[PeriodOutcome]()
        unshielded = list[PeriodOutcome]()
        periods = range(0, total, horizon.length)
        # Each is decided about with a shield and without it.
        counted = parts_of(2 * len(periods) * runs)
        for start in periods:
            part = events.take(np.s_[:, start : start + horizon.length]).widened()
            with counted.asking(runs):
                if horizon.shield == "dynamic" and start:
                    left = (total - start) // horizon.length
                    outcome = self._after_histories(part, past, jobs, left)
                else:
                    outcome = self._with_solution(part, solution)
            shielded.append(outcome)
            with counted.asking(runs):
                unshielded.append(run_period(fairness, self.inputs, part, None))
            past = past + outcome.counts
        stack_periods = partial(np.stack, axis=1)
        return combined(shielded, stack_periods), combined(unshielded, stack_periods)

    def _after_histories(
        self, events: Events, past: Ints, jobs: int, periods_left: int
    ) -> PeriodOutcome:
        """Return the outcome of a period of a dynamic shield; `past` is (runs, groups, kinds).

        Runs with the same history share its solution. Each of the periods that are left, this one
        too, has about as many histories.
        """
        histories, which = np.unique(past.reshape(len(past), -1), axis=0, return_inverse=True)
        members = [np.flatnonzero(which.ravel() == index) for index in range(len(histories))]
        alike = len(histories) * periods_left
        counted = parts_of(len(past))
        parts = list[PeriodOutcome]()
        if jobs == 1 or len(members) == 1:
            for rows in members:
                with counted.asking(len(rows)):
                    part = self._after_history(events.take(rows), past[rows[0]], alike)
                parts.append(part)
        else:
            from joblib import Parallel, delayed

            solved = Parallel(n_jobs=jobs, return_as="generator")(
                delayed(self._after_history)(events.take(rows), past[rows[0]], alike)
                for rows in members
            )
            for rows, part in zip(members, solved, strict=True):
                counted.add(len(rows))
                parts.append(part)
        # The parts are in the order of the histories; put the runs back into their own order.
        return combined(parts, np.concatenate).take(np.argsort(np.concatenate(members)))

    def _after_history(self, events: Events, past: Ints, alike: int) -> PeriodOutcome:
        """Return the outcome of runs with one history, (groups, kinds), one of many `alike`."""
        fairness = self.specification.fairness_property
        numerators, denominators = (past @ np.array(fairness.kinds)).T.tolist()
        problem = running.period_problem(
            self.specification, self.inputs, tuple(numerators), tuple(denominators)
        )
        solution, promised = running.period_solution(self.specification, problem, alike=alike)
        if promised == self.specification.bound:
            return self._with_solution(events, solution)
        policy = None if promised is None else solution.policy
        return run_period(fairness, self.inputs, events, policy, closest=policy is not None)

    def _with_solution(self, events: Events, solution: Solution) -> PeriodOutcome:
        """Return the outcome of a period decided by a solution; without one nothing is changed."""
        policy = solution.policy if solution.feasible else None
        assumption = running.assumption_of(self.specification.horizon.shield, solution.problem)
        fairness = self.specification.fairness_property
        return run_period(fairness, self.inputs, events, policy, assumption=assumption)


def _simulation(
    specification: ShieldSpecification,
    shielded: PeriodOutcome,
    unshielded: PeriodOutcome,
    *,
    labelled: bool,
) -> Simulation:
    """Return a simulation of the outcomes, whose arrays begin with (runs, periods)."""
    horizon = specification.horizon
    # Without a shield for the bound, after an unfair history, it was not promised either.
    promised = shielded.assumption_held & shielded.active & ~shielded.closest
    return Simulation(
        fairness=specification.fairness_property,
        bound=specification.bound,
        empty_group=specification.fairness.empty_group,
        shield=horizon.shield,
        horizon=horizon.length,
        counts_unshielded=unshielded.counts,
        counts=shielded.counts,
        active=shielded.active,
        assumption_held=None if horizon.shield == "finite" else promised,
        interventions=shielded.interventions,
        cost=shielded.cost,
        correct_unshielded=unshielded.correct if labelled else None,
        correct=shielded.correct if labelled else None,
        closest=shielded.closest if horizon.closest else None,
    )


def _draw(
    events: Events | InputDistribution, shape: tuple[int, int], generator: np.random.Generator
) -> Events:
    """Return events of a shape: rows drawn with replacement, or drawn from a distribution."""
    if isinstance(events, Events):
        return events.take(generator.integers(0, len(events.groups), shape))
    cells = generator.choice(events.probabilities.size, shape, p=events.probabilities.ravel())
    groups, recommendations, costs = np.unravel_index(cells, events.probabilities.shape)
    labels = None
    if events.labels is not None:
        labels = (generator.random(shape) < events.labels[groups, recommendations]).astype(np.int64)
    return Events(
        groups=groups,
        recommendations=recommendations,
        costs=np.array(events.costs)[costs],
        labels=labels,
    )


def check_simulated(specification: ShieldSpecification, *, runs: int, periods: int) -> None:
    """Raise a :class:`ParameterError` if runs would take too much memory, or days.

    It says what number would do.
    """
    counts = len(specification.groups.names) * len(specification.fairness_property.kinds)
    present = process_memory()

    def fits(runs: int, periods: int) -> bool:
        length = specification.horizon.length * periods
        at_once = max(length, min(_MOST_EVENTS, runs * length))
        # Counts with and without a shield, their sums, and what is compared.
        kept = runs * periods * (4 * 8 * counts + 100)
        is_soon = runs * length <= _MOST_WORK
        return is_soon and present + at_once * _BYTES_AN_EVENT + kept <= _MOST_BYTES

    if fits(runs, periods):
        return
    where = "runs"
    most = largest_below(runs, lambda number: fits(number, periods))
    if not most:
        where = "periods"
        most = largest_below(periods, lambda number: fits(runs, number))
    remedy = f"give at most {most}"
    if not most:
        of_one_run = largest_below(periods, lambda number: fits(1, number))
        remedy = f"give at most {of_one_run}, and 1 run"
        if not of_one_run:
            where = "horizon.length"
            remedy = "give a shorter period"
    raise ParameterError(
        f"{runs:,} runs of {plural(periods, 'period')} of {specification.horizon.length:,} events "
        f"take more than {bytes_text(_MOST_BYTES)}, or days",
        where=where,
        remedy=remedy,
    )


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
