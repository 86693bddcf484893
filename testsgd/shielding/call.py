"""Calls for a shield: synthesise one, load it, simulate what it does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from testsgd.errors import DataError, ParameterError
from testsgd.parameters import declared_parameters
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.parameters import SimulationParameters
from testsgd.shielding.report.summarise import summarise_simulation, summarise_synthesis
from testsgd.shielding.report.wording import bytes_text
from testsgd.shielding.result import ShieldResult, SimulationResult
from testsgd.shielding.running import Shield, first_solution, period_problem, read_shield
from testsgd.shielding.simulated_period import Events
from testsgd.shielding.simulation import simulate
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import ShieldProblem, Solution, Storage, predicted_bytes

SpecificationLike: TypeAlias = ShieldSpecification | Mapping[str, Any] | str | Path


@dataclass(frozen=True)
class ShieldPlan:
    """What is going to be synthesised."""

    specification: ShieldSpecification
    inputs: InputDistribution
    problem: ShieldProblem  # Of the (first) period.
    storage: Storage
    predicted_bytes: int  # The most memory that it needs.


def shield_specification(source: SpecificationLike, **changes: Any) -> ShieldSpecification:
    """Read a specification from an object, its keys, or its TOML file, and change some keys."""
    if isinstance(source, Mapping):
        source = ShieldSpecification.from_dict(source)
    elif not isinstance(source, ShieldSpecification):
        source = ShieldSpecification.read(source)
    return source.with_changes(**changes) if changes else source


def plan_shield(
    source: SpecificationLike, *, storage: Storage = "auto", **changes: Any
) -> ShieldPlan:
    """Lay out a synthesis, and predict what it needs."""
    if storage not in ("auto", "whole", "windows"):
        remedy = "choose auto, whole or windows"
        raise ParameterError(f"{storage!r} is unknown", where="storage", remedy=remedy)
    specification = shield_specification(source, **changes)
    inputs = specification.input_distribution()
    problem = period_problem(specification, inputs)
    needed = predicted_bytes(problem, storage=storage)
    return ShieldPlan(specification, inputs, problem, storage, needed)


def _solved(plan: ShieldPlan, jobs: int, memory_limit: int | None = None) -> Solution:
    """Find the shield of a plan, unless that would need more memory than it may."""
    if memory_limit is not None and plan.predicted_bytes > memory_limit:
        remedy = "allow more, or take a shorter horizon, fewer groups or fewer costs"
        if plan.storage == "whole":
            remedy += ', or the storage "windows"'
        needed, allowed = bytes_text(plan.predicted_bytes), bytes_text(memory_limit)
        what = f"the synthesis would need about {needed} of memory, and {allowed} are allowed"
        details = {"predicted": plan.predicted_bytes, "limit": memory_limit}
        raise ParameterError(what, where="memory limit", remedy=remedy, **details)
    if jobs < 1:
        raise ParameterError(f"{jobs} is not at least 1", where="jobs", remedy="give a number")
    return first_solution(plan.specification, plan.inputs, storage=plan.storage, jobs=jobs)


def logged_events(
    path: str | Path, specification: ShieldSpecification, inputs: InputDistribution
) -> Events:
    """Read people to simulate from a CSV file, with the columns that the specification names.

    Where the property goes by labels, rows without one are left out; elsewhere all have one, or
    none.
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
    events = Events(groups, log.recommendations, costs)
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
    memory_limit: int | None = None,
    journal: str | Path | None = None,
    fsync: bool = False,
    **changes: Any,
) -> Shield:
    """Find the shield that keeps a bound on the bias at the least expected cost.

    Parameters
    ----------
    specification : ShieldSpecification, mapping, str or path-like
        What is to be kept: an object, its keys, or the TOML file that has them.
    storage : {"auto", "whole", "windows"}
        Whether all decisions are stored, or found again window by window.
    jobs : int
        Processors to work on.
    memory_limit : int, optional
        Bytes; a synthesis that is predicted to need more is refused.
    journal : path-like, optional
        A file that every decision is written to before it is given; if it is there, the shield goes
        on from it.
    fsync : bool
        Wait until each decision is on the disc: then a power failure loses none either.
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
    made = plan.specification, plan.inputs, _solved(plan, jobs, memory_limit)
    path = None if journal is None else Path(journal)
    return Shield(*made, journal=path, fsync=fsync, storage=storage, jobs=jobs)


def synthesis_result(
    specification: SpecificationLike,
    *,
    out: str | Path | None = None,
    storage: Storage = "auto",
    jobs: int = 1,
    memory_limit: int | None = None,
    announce: Callable[[ShieldPlan], object] | None = None,
    **changes: Any,
) -> ShieldResult:
    """Find a shield, write it to the file `out`, and sum up what was done.

    `announce` is called before the work, with what is going to be done and the memory that it
    needs. The rest is as for :func:`synthesize_shield`.
    """
    plan = plan_shield(specification, storage=storage, **changes)
    if announce is not None:
        announce(plan)
    solution = _solved(plan, jobs, memory_limit)
    shield = Shield(plan.specification, plan.inputs, solution, storage=storage, jobs=jobs)
    if out is not None:
        shield.save(Path(out))
    summary = summarise_synthesis(
        plan.specification,
        plan.inputs,
        solution,
        digest=plan.specification.digest(plan.inputs),
        predicted_bytes=plan.predicted_bytes,
        stored_bytes=None if out is None else Path(out).stat().st_size,
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
    """Load a shield that was synthesised before.

    Parameters
    ----------
    path : path-like
        The file.
    specification : ShieldSpecification, mapping, str or path-like, optional
        What the shield must have been made for.
    journal, fsync
        As for :func:`synthesize_shield`.
    jobs : int
        Processors to work on, for a shield that is synthesised anew each period.

    Returns
    -------
    Shield

    Raises
    ------
    ShieldFileError
        If the file is no shield, of another version, or of another specification.
    JournalError
        If the journal is damaged, or is another shield's.
    """
    expected = None if specification is None else shield_specification(specification)
    kept = None if journal is None else Path(journal)
    return Shield.load(Path(path), specification=expected, journal=kept, fsync=fsync, jobs=jobs)


def simulate_shield(
    shield: Shield | SpecificationLike,
    log: str | Path | None = None,
    *,
    jobs: int = 1,
    **options: Any,
) -> SimulationResult:
    """Simulate runs without a shield and with it.

    Parameters
    ----------
    shield : Shield, ShieldSpecification, mapping, str or path-like
        A shield, the file of one (``.npz``), or a specification to synthesise one for.
    log : path-like, optional
        A CSV file of people to draw from, with replacement; if not given they are drawn from the
        distribution that the shield expects.
    jobs : int
        Processors to work on.
    **options
        The parameters of :class:`SimulationParameters`, such as ``runs=200``, and keys of a
        specification to change, as for :func:`synthesize_shield`.

    Returns
    -------
    SimulationResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

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
    events = inputs if log is None else logged_events(log, specification, inputs)
    if solution is None:
        solution = _solved(plan_shield(specification), jobs)
    started = time.perf_counter()
    subject, seed = (specification, inputs), parameters.random_state
    drawn: dict[str, Any] = {"runs": parameters.runs, "random_state": seed, "jobs": jobs}
    simulation = simulate(*subject, events, periods=periods, solution=solution, **drawn)
    summary = summarise_simulation(
        simulation,
        *subject,
        parameters,
        logged=None if log is None else len(events.groups),
        seconds=time.perf_counter() - started,
        expected_cost=solution.expected_cost,
    )
    return SimulationResult(summary, simulation)


def _subject(
    shield: Shield | SpecificationLike, changes: Mapping[str, Any]
) -> tuple[ShieldSpecification, Any, Solution | None]:
    """Find what to simulate: its specification, what it expects, and its decisions if known."""
    saved = shield if isinstance(shield, str | Path) and Path(shield).suffix == ".npz" else None
    if isinstance(shield, Shield) or saved is not None:
        if changes:
            what, remedy = "a synthesised shield cannot be changed", "give its specification"
            raise ParameterError(what, where=", ".join(changes), remedy=f"{remedy}, which can")
        if isinstance(shield, Shield):
            return shield.specification, shield.inputs, None
        file = read_shield(Path(saved or ""))
        return file.specification, file.inputs, file.solution
    plan = plan_shield(shield, **changes)
    return plan.specification, plan.inputs, None
