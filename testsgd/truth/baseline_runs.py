"""One run of the baselines: the same people and model as the audit's, beside the truth.

On the null population a method's users must be told that there is nothing. What its users take for
a finding differs, so each method has its own line here; :data:`FINDINGS` says it in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines import BaselineResult, Subject, run_baseline, subject_of
from testsgd.truth.hits import Hits, find_hits
from testsgd.truth.populations import Population

# What the methods' users take for a finding.
FINDINGS = {
    "themis": "a group discrimination score of at least 0.1, the threshold in its manual",
    "gerryfair": "a weighted violation above gamma = 0.01, the default of its code",
    "divexplorer": "one of its first 20 groups with a Welch's t above 1.96 in size",
    "bias-scan": "a subset of positive score, that is, any",
    "individual": "a person whose decision changes with the sensitive features alone",
}

# The others' findings are no groups: who is listed has nothing in common but that the decision on
# him can be changed.
_NAME_GROUPS = ("themis", "gerryfair", "divexplorer", "bias-scan")
# The support threshold of those that have one.
THETA = 0.05
_THEMIS_THRESHOLD = 0.1
_GAMMA = 0.01
_T = 1.96


@dataclass(frozen=True, kw_only=True)
class BaselineRun:
    """What came of one method on one sample of people.

    Attributes
    ----------
    population : str
        Whose people.
    rows, number : int
        How many, and which run.
    method : str
        The method's short name.
    available : bool
        False: it could not be run.
    hits : Hits or None
        Whether the planted groups come first; None if nothing is planted or the method names no
        groups.
    finding : bool
        It reports something that its users take for a finding.
    seconds : float
        Wall-clock time.
    """

    population: str
    rows: int
    number: int
    method: str
    available: bool
    hits: Hits | None
    finding: bool
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Give the run as JSON-able data."""
        return asdict(self)


def baselines_once(
    population: Population,
    rows: int,
    number: int,
    *,
    seed: int,
    methods: Sequence[str],
    time_limit: float | None = None,
) -> list[BaselineRun]:
    """Draw people as :func:`testsgd.truth.audit_once` does, and run other methods on them.

    Parameters
    ----------
    population : Population
        Whose people.
    rows : int
        How many.
    number, seed : int
        Same number and seed, same people.
    methods : sequence of str
        Names of :data:`testsgd.baselines.METHODS`.
    time_limit : float, optional
        Seconds for each method.

    Returns
    -------
    list of BaselineRun
        In the order of the methods.
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
                hits=find_hits(findings, planted) if planted and method in _NAME_GROUPS else None,
                finding=result.available and reports(subject, result),
                seconds=result.seconds,
            )
        )
    return runs


def reports(subject: Subject, result: BaselineResult) -> bool:
    """Say whether a method's users would take its result for a finding; see :data:`FINDINGS`."""
    if not result.findings:
        return False
    if result.method == "themis":
        return result.findings[0].value >= _THEMIS_THRESHOLD
    if result.method == "gerryfair":
        return result.findings[0].value > _GAMMA
    if result.method == "divexplorer":
        return any(
            divergence_t(subject.decisions, finding.rows) > _T
            for finding in result.findings
            if finding.rows is not None
        )
    return any(finding.value > 0 for finding in result.findings)


def divergence_t(decisions: NDArray[np.bool_], group: NDArray[np.bool_]) -> float:
    """Compute Welch's t of a group's rate against the rate of everybody, in size.

    Parameters
    ----------
    decisions : numpy.ndarray of bool, shape (rows,)
        Who gets the favourable label.
    group : numpy.ndarray of bool, shape (rows,)
        Who is in the group.

    Returns
    -------
    float
        Infinite where neither side varies and they differ.

    Examples
    --------
    >>> decisions = np.arange(100) < 50
    >>> round(divergence_t(decisions, np.arange(100) < 60), 2)
    4.8
    """
    rate, overall = float(decisions[group].mean()), float(decisions.mean())
    variance = rate * (1 - rate) / int(group.sum()) + overall * (1 - overall) / len(decisions)
    if variance == 0:
        return 0.0 if rate == overall else math.inf
    return abs(rate - overall) / math.sqrt(variance)
