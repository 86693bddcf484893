"""One run of the baselines: the same people and model as the audit's, beside the truth.

On the null population a method should report nothing. What its users take for a finding differs, so
each method defines it; :data:`FINDINGS` has it in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.baselines import baselines, run_baseline, subject_of
from testsgd.baselines.registry import find_baseline
from testsgd.truth.populations import Population
from testsgd.truth.runs import Hits, find_hits

# What the methods' users take for a finding.
FINDINGS = {baseline.method: baseline.finding for baseline in baselines()}

# The support threshold of those that have one.
THETA = 0.05


@dataclass(frozen=True, kw_only=True)
class BaselineRun:
    """Outcome of one baseline method on one sample of a population."""

    population: str  # Whose people.
    # How many, and which run.
    rows: int
    number: int
    method: str  # The method's short name.
    available: bool  # False: it could not be run.
    # Whether the planted groups come first; None if nothing is planted or the method names no
    # groups.
    hits: Hits | None
    finding: bool  # It reports something that its users take for a finding.
    seconds: float  # Wall-clock time.


def baselines_once(
    population: Population,
    rows: int,
    number: int,
    *,
    seed: int,
    methods: Sequence[str],
    time_limit: float | None = None,
) -> list[BaselineRun]:
    """Return the outcome of each baseline on one sample of a population.

    The sample is that of :func:`testsgd.truth.audit_once` with the same number and seed.

    Parameters
    ----------
    population : Population
        Whose people.
    rows : int
        How many.
    number : int
        Which run.
    seed : int
        Same number and seed, same people.
    methods : sequence of str
        Names of :data:`testsgd.baselines.METHODS`.
    time_limit : float, optional
        Seconds for one method, if it can be stopped.

    Returns
    -------
    list of BaselineRun
        One a method, in their order.
    """
    table = population.table(rows, seed=seed, run=number)
    subject = subject_of(
        table,
        population.model().model,
        theta=THETA,
        max_features=population.max_features,
        seed=number,
    )
    planted = [group.matches(table) for group in population.planted]
    runs = []
    for method in methods:
        baseline = find_baseline(method)
        result = run_baseline(method, subject, time_limit=time_limit)
        named = [
            [group for group in (finding.rows, finding.rows_other) if group is not None]
            for finding in result.findings
        ]
        findings = [groups for groups in named if groups]
        runs.append(
            BaselineRun(
                population=population.name,
                rows=rows,
                number=number,
                method=method,
                available=result.available,
                hits=find_hits(findings, planted) if planted and baseline.names_groups else None,
                finding=result.available and baseline.is_finding(subject, result),
                seconds=result.seconds,
            )
        )
    return runs
