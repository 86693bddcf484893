"""The benchmark: many runs of every population and size, spread over processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib

from testsgd.baselines import METHODS, check_time_limit
from testsgd.errors import ParameterError
from testsgd.parameters import declared_parameters, largest_below
from testsgd.report.formatting import bytes_text
from testsgd.truth.baseline_runs import BaselineRun, baselines_once
from testsgd.truth.cases.catalogue import CASES, case
from testsgd.truth.cases.frame import CaseRun, judge_case
from testsgd.truth.catalogue import POPULATIONS, WORLDS, population, world
from testsgd.truth.measures import (
    Measure,
    measure_baselines,
    measure_cases,
    measure_runs,
    measure_worlds,
)
from testsgd.truth.parameters import RunParameters
from testsgd.truth.runs import Run, audit_once
from testsgd.truth.verdicts import WorldRun, judge_once

# All that an audit's verdict can be tried on: worlds of any size, and cases, which have their own.
EVERY_WORLD = (*WORLDS, *CASES)
SIZES = (1_000, 10_000, 100_000, 1_000_000)
WORLD_SIZES = SIZES[:3]

# With fewer people not every cell has some, and groups of 5% are too small.
_FEWEST_ROWS = 500
# Up to here all runs are made; beyond, as many as take as long, at least the fewest.
_ALL_RUNS_UP_TO = 10_000
_FEWEST_RUNS = 10
# Beyond, some of the baselines take minutes a run.
_MOST_BASELINE_ROWS = 100_000
# A sampling margin is about the rows at hand, so neither how many there are nor whose they are
# matters much; and sampling asks thousands of times for each group.
_MOST_SAMPLED_ROWS = 1_000
_SAMPLED = ("intersection",)

# More runs, or more people in all of them, take days; what one person of a run takes in memory, and
# a run at most.
_MOST_RUNS = 10**6
_MOST_PEOPLE = 10**10
_BYTES_A_PERSON = 200
_MOST_BYTES = 8 * 10**9

# A part of the benchmark in words, how many of its runs are done, and how many there are.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class TruthSettings(RunParameters):
    """Populations, sizes and methods of the benchmark, with the parameters of its runs.

    Raises
    ------
    ParameterError
        If a name is unknown, nothing is named, a size is below 500, a parameter is out of range, or
        the runs would take days or too much memory.

    Examples
    --------
    >>> settings = TruthSettings(populations=("null",), runs=200)
    >>> settings.runs_of(1_000), settings.runs_of(100_000)
    (200, 20)
    """

    populations: Sequence[str] = POPULATIONS  # Names of :data:`testsgd.truth.POPULATIONS`.
    worlds: Sequence[str] = ()  # Names of :data:`testsgd.truth.EVERY_WORLD`.
    sizes: Sequence[int] = SIZES  # People in a run.
    methods: Sequence[str] = METHODS  # Which baselines.

    def __post_init__(self) -> None:
        super().__post_init__()
        for where, named, known in (
            ("populations", (*self.populations, *self.worlds), POPULATIONS),
            ("sizes", self.sizes, SIZES),
            ("methods", self.methods, METHODS),
        ):
            if not named:
                raise ParameterError(
                    "nothing is named",
                    where=where,
                    remedy=f"give some of {', '.join(str(item) for item in known)}",
                )
        for name in self.populations:
            population(name)
        for name in self.worlds:
            if name not in EVERY_WORLD:
                raise ParameterError(
                    f"the world {name!r} is unknown",
                    where="worlds",
                    remedy=f"give all, or some of {', '.join(EVERY_WORLD)}",
                    world=name,
                )
        for method in self.methods:
            if method not in METHODS:
                raise ParameterError(
                    f"the method {method!r} is unknown",
                    where="methods",
                    remedy=f"give one of {', '.join(METHODS)}",
                    method=method,
                )
        if min(self.sizes) < _FEWEST_ROWS:
            raise ParameterError(
                f"{min(self.sizes)} is not at least {_FEWEST_ROWS}",
                where="sizes",
                remedy=f"give {_FEWEST_ROWS} or more",
            )
        check_time_limit(self.time_limit)
        self._check_effort()

    def _check_effort(self) -> None:
        """Refuse runs that take days, or too much memory; say what number would do."""
        largest = max(self.sizes)
        if largest * _BYTES_A_PERSON > _MOST_BYTES:
            raise ParameterError(
                f"a run of {largest:,} people takes more than {bytes_text(_MOST_BYTES)}",
                where="sizes",
                remedy=f"give at most {_MOST_BYTES // _BYTES_A_PERSON}",
            )
        if _is_soon(self, runs=self.runs, baseline_runs=self.baseline_runs):
            return
        where, other = "runs", "baseline_runs"
        kept = self.baseline_runs
        if not _is_soon(self, runs=0, baseline_runs=kept):
            where, other = other, where
            kept = min(self.runs, declared_parameters(RunParameters)["runs"].default)
        given = getattr(self, where)
        most = largest_below(given, lambda runs: _is_soon(self, **{where: runs, other: kept}))
        raise ParameterError(
            f"{given:,} runs of each population and world take days",
            where=where,
            remedy=f"give at most {most}" if most > 1 else "name fewer of them, or smaller sizes",
        )

    def runs_of(self, rows: int) -> int:
        """Return the number of runs of the audit at a size."""
        return _fewer(self.runs, rows)

    def baseline_runs_of(self, rows: int) -> int:
        """Return the number of runs of the baselines at a size."""
        if rows > _MOST_BASELINE_ROWS:
            return 0
        return _fewer(self.baseline_runs, rows)


@dataclass(frozen=True)
class Part:
    """Runs of one population or world at one size, with their measures."""

    runs: list[Run] | list[WorldRun] | list[CaseRun]  # Of the audit.
    baselines: list[BaselineRun]
    measures: list[Measure] = field(default_factory=list)  # Of all these runs.


def run_truth(settings: TruthSettings, *, progress: Progress | None = None) -> Iterator[Part]:
    """Run the benchmark and yield its parts, one population or world and size after another.

    Small sizes come first. Cases have a size of their own, and come last.

    Parameters
    ----------
    settings : TruthSettings
        What is run, how often, and on how many processors.
    progress : callable, optional
        Called after each run with the part's name in words, the runs done and their number.

    Yields
    ------
    Part
    """
    worlds = [name for name in settings.worlds if name not in CASES]
    for rows in settings.sizes:
        for name in settings.populations:
            kinds = {_audit: settings.runs_of(rows), _others: settings.baseline_runs_of(rows)}
            results = _in_parallel(kinds, settings, name, rows, progress)
            runs = [run for run in results if isinstance(run, Run)]
            others = [run for part in results if isinstance(part, list) for run in part]
            yield Part(runs, others, [*measure_runs(runs), *measure_baselines(others)])
        for name in worlds:
            judged = _in_parallel({_judge: settings.runs}, settings, name, rows, progress)
            yield Part(judged, [], measure_worlds(judged))
    for name in settings.worlds:
        if name in CASES:
            rows = case(name).rows
            tried = _in_parallel({_try: settings.runs}, settings, name, rows, progress)
            yield Part(tried, [], measure_cases(tried))


def _in_parallel(
    kinds: Mapping[Callable[..., Any], int],
    settings: TruthSettings,
    name: str,
    rows: int,
    progress: Progress | None,
) -> list[Any]:
    """Return the results of all runs, computed in as many processes as the settings have.

    `kinds` has the number of runs of each function, which is called with the settings, the name,
    the number of rows and the number of the run. Results are in the order of `kinds`.
    """
    tasks = [
        joblib.delayed(run)(settings, name, rows, number)
        for run, runs in kinds.items()
        for number in range(runs)
    ]
    results = []
    workers = joblib.Parallel(n_jobs=settings.jobs, return_as="generator")
    for result in workers(tasks):
        results.append(result)
        if progress is not None:
            progress(f"{name}, {rows:,} people", len(results), len(tasks))
    return results


def _audit(settings: TruthSettings, name: str, rows: int, number: int) -> Run:
    sampled = rows <= _MOST_SAMPLED_ROWS and name in _SAMPLED
    return audit_once(population(name), rows, number, seed=settings.seed, sampled=sampled)


def _judge(settings: TruthSettings, name: str, rows: int, number: int) -> WorldRun:
    return judge_once(world(name), rows, number, seed=settings.seed)


def _try(settings: TruthSettings, name: str, rows: int, number: int) -> CaseRun:
    return judge_case(case(name), number, seed=settings.seed)


def _others(settings: TruthSettings, name: str, rows: int, number: int) -> list[BaselineRun]:
    return baselines_once(
        population(name),
        rows,
        number,
        seed=settings.seed,
        methods=settings.methods,
        time_limit=settings.time_limit,
    )


def _is_soon(settings: TruthSettings, *, runs: int, baseline_runs: int) -> bool:
    """Return whether these runs, of all that is named, take less than days."""
    cases = [name for name in settings.worlds if name in CASES]
    worlds = len(settings.worlds) - len(cases)
    all_runs, people = runs * len(cases), runs * sum(case(name).rows for name in cases)
    for rows in settings.sizes:
        audits = _fewer(runs, rows) * len(settings.populations) + runs * worlds
        others = _fewer(baseline_runs, rows) * len(settings.populations) * len(settings.methods)
        others *= rows <= _MOST_BASELINE_ROWS
        all_runs += audits + others
        people += (audits + others) * rows
    return all_runs <= _MOST_RUNS and people <= _MOST_PEOPLE


def _fewer(runs: int, rows: int) -> int:
    """Return the number of runs at a size: beyond 10,000 rows, as many as take as long."""
    return min(runs, max(_FEWEST_RUNS, runs * _ALL_RUNS_UP_TO // max(rows, _ALL_RUNS_UP_TO)))
