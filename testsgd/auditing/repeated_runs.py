"""Runs of a sampled audit with several seeds: how far its figures depend on what was drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.auditing.findings import Findings
from testsgd.auditing.outcome import fits_all_rows
from testsgd.auditing.parameters import ROW_QUERIES, AuditParameters
from testsgd.errors import ParameterError
from testsgd.models import PROBE_ROWS
from testsgd.progress import Progress
from testsgd.scoring import Overlaps

# How many distinct groups are followed over the runs, and among how many of each they are found.
FOLLOWED = 10

SomeFindings = TypeVar("SomeFindings", bound=Findings)
SeededAudit = Callable[[AuditParameters, Progress | None], SomeFindings]


@dataclass(frozen=True)
class SeedRun:
    """What one run found of the groups that are followed; arrays have the shape (groups,)."""

    seed: int
    queries: int  # Rows or texts the model was asked about
    # What groups are ranked by, with its sign: the difference of rates, or the counterfactual
    # effect of terms; NaN where a side has no samples
    differences: Floats
    ranks: NDArray[np.intp]  # From 1; 0 where a group has no rank
    # Whether the group or a near copy is among the first distinct groups of the run; None if the
    # user has named the groups, so that none were looked for
    found: NDArray[np.bool_] | None


@dataclass(frozen=True)
class SeedRuns:
    """The first distinct groups of an audit, followed over runs with several seeds."""

    groups: NDArray[np.intp]  # Their places in the audit
    runs: tuple[SeedRun, ...]  # That of the audit itself first


def check_runs(parameters: AuditParameters, *, rows: int | None) -> None:
    """Raise a ParameterError for several runs that would all give the same, or mix other chance.

    `rows` is how many rows of a table are audited; None for texts.
    """
    if parameters.runs == 1:
        return
    if parameters.mode != "sampled":
        raise _refused(
            f"runs differ by what they draw, and mode is {parameters.mode!r}: an audit that asks "
            "about everything gives equal numbers each time",
            "give mode sampled (--mode sampled), or leave it out",
        )
    if parameters.holdout is not None:
        raise _refused(
            "each run would hold out other rows, so that its groups are of other rows",
            "leave holdout out, or give one run",
        )
    asked_of_all = False
    if rows is not None:
        # The model is tried on the first rows before, and asked again about them.
        budget = parameters.budget(ROW_QUERIES)
        tried = min(PROBE_ROWS, rows, budget // 2)
        repeated = min(tried, (budget - tried) // 2)
        left = budget - tried - repeated
        asked_of_all = fits_all_rows(left, rows - tried, parameters)
    if parameters.estimand == "observed" and asked_of_all:
        raise _refused(
            f"observed rates are those of all {rows:,} rows, which are equal in each run",
            "give estimand neighbourhood (--estimand neighbourhood), or leave it out",
        )


def check_one_run(parameters: AuditParameters, why: str) -> None:
    """Raise a ParameterError if several runs are asked for where there is one."""
    if parameters.runs != 1:
        raise _refused(why, "leave it out")


def _refused(what: str, remedy: str) -> ParameterError:
    return ParameterError(what, where="runs", remedy=remedy, name="runs")


def audit_with_seeds(
    audit: SeededAudit[SomeFindings], parameters: AuditParameters, progress: Progress | None
) -> tuple[SomeFindings, SeedRuns | None]:
    """Return the audit with the given seed, and what runs with the next seeds say of its groups.

    Every run searches the same rows or texts, so that a group has the same place in each. The
    second is None if one run is asked for.
    """
    findings = audit(parameters, progress)
    if parameters.runs == 1:
        return findings, None
    groups = _first_distinct(findings)
    overlaps = findings.overlaps()
    runs = [_run_of(findings, parameters.seed, groups, overlaps)]
    for number in range(2, parameters.runs + 1):
        # Stability is of the audit itself, and takes as long as all else.
        further = replace(parameters, seed=parameters.seed + number - 1, stability=0)
        found = audit(further, _of_run(progress, number, parameters.runs))
        runs.append(_run_of(found, further.seed, groups, overlaps))
    return findings, SeedRuns(groups=groups, runs=tuple(runs))


def _first_distinct(findings: Findings) -> NDArray[np.intp]:
    """Return the first decided groups by rank, near copies left out; of named groups the first."""
    decided = findings.ranking[findings.estimates.decided[findings.ranking]]
    if findings.parameters.groups:
        return decided[:FOLLOWED]
    return np.array(findings.first_distinct(decided, FOLLOWED), dtype=np.intp)


def _run_of(findings: Findings, seed: int, groups: NDArray[np.intp], overlaps: Overlaps) -> SeedRun:
    """Return what a run found of groups; near copies are those by `overlaps`."""
    ranks = np.zeros(len(findings.rule_sets), dtype=np.intp)
    ranks[findings.ranking] = np.arange(1, len(findings.ranking) + 1)
    found = None
    if not findings.parameters.groups:
        first = _first_distinct(findings)
        found = np.zeros(len(groups), dtype=bool)
        if len(groups) and len(first):
            near = overlaps(groups, first) >= findings.parameters.overlap
            found = near.any(axis=1) | np.isin(groups, first)
    return SeedRun(
        seed=seed,
        queries=findings.queries,
        differences=findings.effects[groups],
        ranks=ranks[groups],
        found=found,
    )


def _of_run(progress: Progress | None, number: int, runs: int) -> Progress | None:
    """Return the progress of one run, which calls the user's with its number."""
    if progress is None:
        return None
    return lambda phase, done, total: progress(f"{phase}, run {number} of {runs}", done, total)
