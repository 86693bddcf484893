"""Runs the methods on one model and its rows, and finds what each has that the others miss."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from testsgd.auditing import AuditParameters, Progress, TableFindings, run_audit
from testsgd.baselines import BaselineFinding, BaselineResult, Subject, run_baseline, subject_of
from testsgd.baselines.registry import find_baseline
from testsgd.comparison.matching import NEAR, Split, similarity, splits_of
from testsgd.comparison.nearest_group import nearest_groups
from testsgd.comparison.outcome import (
    ComparedFinding,
    ComparedMethod,
    Comparison,
    InAudit,
    Nearest,
    side_of,
)
from testsgd.comparison.testsgd_method import (
    AUDIT,
    audit_as_method,
    first_groups,
    resolve_methods,
    time_search,
)
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import LoadedModel, Model

# Findings that are shown of each method.
FIRST_FINDINGS = 10


class _Placed(NamedTuple):
    """A finding with its rank among all of its method's, from 1, and its groups."""

    rank: int
    finding: BaselineFinding
    splits: tuple[Split, ...]


def side_by_side(
    results: Sequence[BaselineResult], subject: Subject, audit: TableFindings
) -> tuple[ComparedMethod, ...]:
    """Measure all findings with one yardstick, and look for each among those of the others.

    The audit is among the results, and given to look findings up in. The order stays.
    """
    placed = {
        result.method: [
            _Placed(index, finding, splits_of(finding))
            for index, finding in enumerate(_grouped(result), start=1)
        ]
        for result in results
    }
    return tuple(_compared(result, placed, subject, audit) for result in results)


def _grouped(result: BaselineResult) -> tuple[BaselineFinding, ...]:
    """Return a method's findings, without rows if these are no groups."""
    if result.method == AUDIT or find_baseline(result.method).names_groups:
        return result.findings
    return tuple(replace(finding, rows=None, rows_other=None) for finding in result.findings)


def _compared(
    result: BaselineResult,
    placed: dict[str, list[_Placed]],
    subject: Subject,
    audit: TableFindings,
) -> ComparedMethod:
    distinct = _distinct(placed[result.method], audit.parameters.overlap)
    first = distinct[:FIRST_FINDINGS]
    others = {name: items for name, items in placed.items() if name != result.method and items}
    intervals: list[tuple[float, float] | None] = [None] * len(first)
    in_audit: list[InAudit | None] = [None] * len(first)
    if result.method == AUDIT:
        indices = np.array([item.rank for item in first], dtype=np.intp)
        low, high = audit.confidence_intervals(first_groups(audit)[indices - 1])
        intervals = [*zip(low.tolist(), high.tolist(), strict=True)]
    else:
        in_audit = nearest_groups(audit, [item.splits for item in first])
    findings = tuple(
        _finding(*each, others, subject) for each in zip(first, intervals, in_audit, strict=True)
    )
    return ComparedMethod(result, findings, len(distinct))


def _distinct(findings: list[_Placed], overlap: float) -> list[_Placed]:
    """Leave out near copies of findings before them; what is no group of rows stays."""
    kept: list[_Placed] = []
    for placed in findings:
        if not any(_copies(placed.splits, other.splits, overlap) for other in kept):
            kept.append(placed)
    return kept


def _copies(splits: tuple[Split, ...], others: tuple[Split, ...], overlap: float) -> bool:
    """Return whether all groups of one finding are near copies of those of another."""
    return (
        len(splits) == len(others) > 0
        and min(similarity([left], [right]) for left, right in zip(splits, others, strict=True))
        >= overlap
    )


def _finding(
    placed: _Placed,
    confidence_interval: tuple[float, float] | None,
    in_audit: InAudit | None,
    others: dict[str, list[_Placed]],
    subject: Subject,
) -> ComparedFinding:
    index, finding, splits = placed
    nearest = tuple(_nearest(name, splits, findings) for name, findings in others.items())
    measured = [
        None if rows is None else side_of(subject.decisions, rows)
        for rows in (finding.rows, finding.rows_other)
    ]
    comparable = any(near.rank is not None for near in nearest)
    return ComparedFinding(
        rank=index,
        finding=finding,
        side=measured[0],
        other_side=measured[1],
        nearest=nearest,
        only=all(near.similarity < NEAR for near in nearest) if splits and comparable else None,
        confidence_interval=confidence_interval,
        in_audit=in_audit,
    )


def _nearest(name: str, splits: tuple[Split, ...], others: list[_Placed]) -> Nearest:
    groups = [(similarity(splits, other.splits), other.rank) for other in others if other.splits]
    if not groups or not splits:
        return Nearest(method=name, rank=None, similarity=0.0)
    best, index = max(groups, key=lambda pair: (pair[0], -pair[1]))
    return Nearest(method=name, rank=index, similarity=best)


def compare_methods(
    model: LoadedModel[Model],
    table: Table,
    parameters: AuditParameters,
    *,
    methods: str | Sequence[str] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run the audit and the other methods, one after another, and compare what they find.

    Parameters
    ----------
    model : LoadedModel
        The black box.
    table : Table
        The rows.
    parameters : AuditParameters
        What the audit does; support, features, bins and seed hold for all methods that have them.
    methods : str, sequence of str or None
        Which, see :func:`resolve_methods`.
    time_limit : float or None
        Seconds that each of the others may take.
    progress : callable, optional
        Called with a phase's name, how much is done and how much there is.

    Returns
    -------
    Comparison

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If a method is unknown, or rows are to be held out.
    """
    names = resolve_methods(methods)
    if parameters.holdout is not None:
        raise ParameterError(
            "the methods of a comparison look at the same rows, all of them",
            where="holdout",
            remedy="leave it out",
        )
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    audit = run_audit(model, table, parameters, progress=progress)
    seconds[AUDIT] = time.perf_counter() - start
    subject = subject_of(
        table,
        model.model,
        theta=parameters.fewest_rows(len(table)) / len(table),
        max_features=parameters.max_features,
        bins=parameters.bins,
        seed=parameters.seed,
    )
    results = [audit_as_method(audit, seconds=seconds[AUDIT])]
    search = time_search(subject)
    others = [name for name in names if name != AUDIT]
    for done, name in enumerate(others):
        if progress is not None:
            progress("other methods", done, len(others))
        start = time.perf_counter()
        results.append(run_baseline(name, subject, time_limit=time_limit))
        seconds[name] = time.perf_counter() - start
    if progress is not None and others:
        progress("other methods", len(others), len(others))
    start = time.perf_counter()
    compared = side_by_side(results, subject, audit)
    seconds["side by side"] = time.perf_counter() - start
    return Comparison(
        audit=audit,
        subject=subject,
        methods=compared,
        search=search,
        time_limit=time_limit,
        seconds=seconds,
    )
