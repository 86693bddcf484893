"""Calls for a shield: synthesise one, load it, simulate what it does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from testsgd.errors import DataError, ParameterError
from testsgd.parameters import declared_parameters
from testsgd.progress import Counter, Progress, named, shown_progress
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.parameters import SimulationParameters
from testsgd.shielding.report.summarise import summarise_simulation, summarise_synthesis
from testsgd.shielding.result import ShieldResult, SimulationResult
from testsgd.shielding.running import Shield, first_solution, period_problem, read_shield
from testsgd.shielding.simulated_period import Events
from testsgd.shielding.simulation import check_simulated, simulate
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import (
    MEMORY_LIMIT,
    ShieldProblem,
    Solution,
    Storage,
    predicted_peak,
)

SpecificationLike: TypeAlias = ShieldSpecification | Mapping[str, Any] | str | Path


@dataclass(frozen=True)
class ShieldPlan:
    """What is going to be synthesised, and the memory that it needs.

    `announce` of :func:`synthesis_result` gets one before the work begins.
    """

    specification: ShieldSpecification
    inputs: InputDistribution
    problem: ShieldProblem  # Of the (first) period.
    storage: Storage
    predicted_bytes: int  # The most memory that the process is expected to take.


def shield_specification(source: SpecificationLike, **changes: Any) -> ShieldSpecification:
    """Return a specification from an object, its keys, or its TOML file, with some keys changed."""
    if isinstance(source, Mapping):
        source = ShieldSpecification.from_dict(source)
    elif not isinstance(source, ShieldSpecification):
        source = ShieldSpecification.read(source)
    return source.with_changes(**changes) if changes else source


def plan_shield(
    source: SpecificationLike, *, storage: Storage = "auto", **changes: Any
) -> ShieldPlan:
    """Return the plan of a synthesis, with the memory that it needs.

    Nothing is solved yet. A ParameterError says that the storage is unknown, a SpecificationError
    that the specification or the inputs are wrong.
    """
    if storage not in ("auto", "whole", "windows"):
        remedy = "choose auto, whole or windows"
        raise ParameterError(f"{storage!r} is unknown", where="storage", remedy=remedy)
    specification = shield_specification(source, **changes)
    inputs = specification.input_distribution()
    problem = period_problem(specification, inputs)
    return ShieldPlan(
        specification=specification,
        inputs=inputs,
        problem=problem,
        storage=storage,
        predicted_bytes=predicted_peak(problem, storage=storage),
    )


def _solved(plan: ShieldPlan, jobs: int, memory_limit: int | None = MEMORY_LIMIT) -> Solution:
    """Return the solution of a plan; a ParameterError if it would need too much memory."""
    if jobs < 1:
        raise ParameterError(f"{jobs} is not at least 1", where="jobs", remedy="give a number")
    return first_solution(
        plan.specification,
        plan.inputs,
        storage=plan.storage,
        jobs=jobs,
        memory_limit=memory_limit,
    )


def logged_events(
    path: str | Path, specification: ShieldSpecification, inputs: InputDistribution
) -> Events:
    """Return the people of a CSV file to simulate, from the columns that the specification names.

    The arrays of the events have shape (n,), a row a person. If the property counts by labels, rows
    without one are left out. Otherwise the labels are used only if all rows have one. A DataError
    says that the log has no costs although the inputs have several.
    """
    log = specification.read_log(path)
    groups = np.array([inputs.groups.index(name) for name in log.groups], dtype=np.int64)
    costs = log.costs
    if costs is None:
        if len(inputs.costs) > 1:
            what = f"the log has no costs, and the shield knows {len(inputs.costs)} of them"
            remedy = "add a column with what changing each recommendation costs"
            raise DataError(what, where=log.where, remedy=remedy)
        costs = np.full(len(groups), inputs.costs[0])
    events = Events(groups=groups, recommendations=log.recommendations, costs=costs)
    if log.labels is None:
        return events
    known = ~np.isnan(log.labels)
    if not specification.fairness_property.labelled and not known.all():
        return events
    return replace(events.take(known), labels=log.labels[known].astype(np.int64))


def synthesize_shield(
    specification: SpecificationLike,
    *,
    storage: Storage = "auto",
    jobs: int = 1,
    memory_limit: int | None = MEMORY_LIMIT,
    journal: str | Path | None = None,
    fsync: bool = False,
    progress: Progress | bool | None = None,
    **changes: Any,
) -> Shield:
    """Return the shield that keeps a bound on the bias at the least expected cost.

    Parameters
    ----------
    specification : ShieldSpecification, mapping, str or path-like
        What is to be kept: an object, its keys, or the TOML file that has them.
    storage : {"auto", "whole", "windows"}
        Whether all decisions are stored, or found again window by window.
    jobs : int
        Processors to work on.
    memory_limit : int or None, default=8 GB
        Bytes; a synthesis for which the process is predicted to take more is refused. None allows
        any.
    journal : path-like, optional
        A file that every decision is written to before it is given; if it is there, the shield goes
        on from it.
    fsync : bool
        Wait until each decision is on the disc: then a power failure loses none either.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **changes
        Keys of the specification to change, such as ``bound="1/20"`` or ``length=50``.

    Returns
    -------
    Shield
        Its ``decide`` takes a recommendation and gives the decision.

    Raises
    ------
    InfeasibleShieldError
        If there is no such shield; names the smallest bound that can be kept.
    TestSGDError
        Another member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    References
    ----------
    Cano, Henzinger, Könighofer, Kueffner and Mallik, Fairness Shields: Safeguarding against Biased
    Decision Makers.

    Examples
    --------
    >>> import testsgd
    >>> shield = testsgd.synthesize_shield({
    ...     "name": "loans",
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}})
    >>> for person in range(4):
    ...     decisions = shield.decide("female", 1), shield.decide("male", 0)
    >>> float(shield.bias), shield.interventions > 0
    (0.25, True)
    """
    plan = plan_shield(specification, storage=storage, **changes)
    with shown_progress(progress) as reporter, _synthesising(reporter):
        solution = _solved(plan, jobs, memory_limit)
    return Shield(
        plan.specification,
        plan.inputs,
        solution,
        journal=None if journal is None else Path(journal),
        fsync=fsync,
        storage=storage,
        jobs=jobs,
    )


def synthesis_result(
    specification: SpecificationLike,
    *,
    out: str | Path | None = None,
    storage: Storage = "auto",
    jobs: int = 1,
    memory_limit: int | None = MEMORY_LIMIT,
    announce: Callable[[ShieldPlan], object] | None = None,
    progress: Progress | bool | None = None,
    **changes: Any,
) -> ShieldResult:
    """Return a shield together with the report of its synthesis.

    The same as :func:`synthesize_shield`, with a summary of what is kept, what it is expected to
    cost, and the time and memory that the synthesis took. The shield keeps no journal.

    Parameters
    ----------
    specification : ShieldSpecification, mapping, str or path-like
        What is to be kept: an object, its keys, or the TOML file that has them.
    out : path-like, optional
        A file to write the shield to, which :func:`load_shield` reads.
    storage : {"auto", "whole", "windows"}
        Whether all decisions are stored, or found again window by window.
    jobs : int
        Processors to work on.
    memory_limit : int or None, default=8 GB
        Bytes; a synthesis for which the process is predicted to take more is refused. None allows
        any.
    announce : callable, optional
        Called with the :class:`ShieldPlan` before the work begins.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **changes
        Keys of the specification to change, such as ``bound="1/20"`` or ``length=50``.

    Returns
    -------
    ShieldResult
        Its ``shield`` decides, and its ``summary`` is the report.

    Raises
    ------
    InfeasibleShieldError
        If there is no such shield; names the smallest bound that can be kept.
    TestSGDError
        Another member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> result = synthesis_result({
    ...     "name": "loans",
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}})
    >>> result.verdict.headline
    'The shield keeps demographic parity of female and male within 0.25 after 8 decisions, \
whoever comes.'
    """
    plan = plan_shield(specification, storage=storage, **changes)
    if announce is not None:
        announce(plan)
    with shown_progress(progress) as reporter, _synthesising(reporter):
        solution = _solved(plan, jobs, memory_limit)
    shield = Shield(plan.specification, plan.inputs, solution, storage=storage, jobs=jobs)
    stored = None if out is None else shield.save(Path(out))
    summary = summarise_synthesis(
        plan.specification,
        plan.inputs,
        solution,
        digest=plan.specification.digest(plan.inputs),
        predicted_bytes=plan.predicted_bytes,
        stored_bytes=stored,
    )
    return ShieldResult(summary, shield)


def load_shield(
    path: str | Path,
    *,
    specification: SpecificationLike | None = None,
    journal: str | Path | None = None,
    fsync: bool = False,
    jobs: int = 1,
) -> Shield:
    """Return a shield that was synthesised before and written to a file.

    Parameters
    ----------
    path : path-like
        The file.
    specification : ShieldSpecification, mapping, str or path-like, optional
        What the shield must have been made for.
    journal : path-like, optional
        A file that every decision is written to before it is given, as for
        :func:`synthesize_shield`.
    fsync : bool
        Wait until each decision is on the disc, as for :func:`synthesize_shield`.
    jobs : int
        Processors to work on, for a shield that is synthesised anew each period.

    Returns
    -------
    Shield
        It has decided nothing yet, or what its journal has.

    Raises
    ------
    ShieldFileError
        If the file is no shield, of another version, or of another specification.
    JournalError
        If the journal is damaged, or is another shield's.

    Examples
    --------
    >>> import tempfile
    >>> import testsgd
    >>> specification = {
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 8}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = testsgd.synthesize_shield(specification).save(Path(folder, "loans.npz"))
    ...     shield = testsgd.load_shield(Path(folder, "loans.npz"))
    >>> shield.specification.bound
    Fraction(1, 4)
    """
    return Shield.load(
        Path(path),
        specification=None if specification is None else shield_specification(specification),
        journal=None if journal is None else Path(journal),
        fsync=fsync,
        jobs=jobs,
    )


def simulate_shield(
    shield: Shield | SpecificationLike,
    log: str | Path | None = None,
    *,
    jobs: int = 1,
    progress: Progress | bool | None = None,
    **options: Any,
) -> SimulationResult:
    """Return what a shield does in simulated runs, compared with the same runs without it.

    Parameters
    ----------
    shield : Shield, ShieldSpecification, mapping, str or path-like
        A shield, the file of one (``.npz``), or a specification to synthesise one for.
    log : path-like, optional
        A CSV file of people to draw from, with replacement; if not given they are drawn from the
        distribution that the shield expects.
    jobs : int
        Processors to work on.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **options
        The parameters of :class:`SimulationParameters`, such as ``runs=200``, and keys of a
        specification to change, as for :func:`synthesize_shield`.

    Returns
    -------
    SimulationResult
        Its ``summary`` is the report, and its ``simulation`` has the arrays of all runs.

    Raises
    ------
    InfeasibleShieldError
        If there is no such shield.
    TestSGDError
        Another member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> import testsgd
    >>> result = testsgd.simulate_shield({
    ...     "name": "loans",
    ...     "fairness": {"property": "demographic_parity", "bound": "1/4"},
    ...     "groups": {"names": ["female", "male"]},
    ...     "horizon": {"length": 20}}, runs=100)
    >>> result.above, result.above_unshielded > 0.1
    (0.0, True)
    """
    names = declared_parameters(SimulationParameters).keys() & options.keys()
    parameters = SimulationParameters(**{name: options.pop(name) for name in names})
    specification, inputs, solution = _subject(shield, options)
    periods = parameters.periods or specification.horizon.periods or 1
    parameters = replace(parameters, periods=periods)
    check_simulated(specification, runs=parameters.runs, periods=periods)
    events = inputs if log is None else logged_events(log, specification, inputs)
    with shown_progress(progress) as reporter:
        if solution is None:
            with _synthesising(reporter):
                solution = _solved(plan_shield(specification), jobs)
        started = time.perf_counter()
        runs = Counter(named("simulating", reporter), parameters.runs)
        with runs.asking(parameters.runs):
            simulation = simulate(
                specification,
                inputs,
                events,
                runs=parameters.runs,
                periods=periods,
                random_state=parameters.random_state,
                jobs=jobs,
                solution=solution,
            )
    summary = summarise_simulation(
        simulation,
        specification,
        inputs,
        parameters,
        logged=None if log is None else len(events.groups),
        seconds=time.perf_counter() - started,
        expected_cost=solution.expected_cost,
    )
    return SimulationResult(summary, simulation)


# Number of parts that a synthesis is reported in.
_PARTS = 10_000


def _synthesising(progress: Progress | None) -> AbstractContextManager[None]:
    """Report the states that a synthesis within the block has solved, as a phase."""
    return Counter(named("synthesising", progress), _PARTS).asking(_PARTS)


def _subject(
    shield: Shield | SpecificationLike, changes: Mapping[str, Any]
) -> tuple[ShieldSpecification, InputDistribution, Solution | None]:
    """Return the specification, the inputs and, of a shield from a file, the solution."""
    file = shield if isinstance(shield, str | Path) and Path(shield).suffix == ".npz" else None
    if isinstance(shield, Shield) or file is not None:
        if changes:
            raise ParameterError(
                "a synthesised shield cannot be changed",
                where=", ".join(changes),
                remedy="give its specification, which can",
            )
        if isinstance(shield, Shield):
            return shield.specification, shield.inputs, None
        saved = read_shield(Path(file or ""))
        return saved.specification, saved.inputs, saved.solution
    plan = plan_shield(shield, **changes)
    return plan.specification, plan.inputs, None
