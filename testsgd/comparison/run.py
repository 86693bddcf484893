"""Runs the methods on one model and its rows, and finds what each has that the others miss."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.baselines import BaselineFinding, BaselineResult, Subject, run_baseline, subject_of
from testsgd.baselines.registry import find_baseline
from testsgd.comparison.matching import NEAR, Rows, groups_of, similarity
from testsgd.comparison.nearest_group import nearest_groups
from testsgd.comparison.outcome import (
    ComparedFindingSummary,
    Comparison,
    InAuditSummary,
    MethodSummary,
    Nearest,
    side_of,
)
from testsgd.comparison.testsgd_method import (
    AUDIT,
    audit_as_method,
    first_groups,
    time_search,
    widest_difference,
)
from testsgd.data import Table
from testsgd.errors import ParameterError
from testsgd.models import LoadedModel, Model
from testsgd.progress import Progress

# Findings that are shown of each method.
FIRST_FINDINGS = 10


class _Placed(NamedTuple):
    """A finding with its rank among all of its method's, from 1, and the rows of its groups."""

    rank: int
    finding: BaselineFinding
    groups: tuple[Rows, ...]


def side_by_side(
    results: Sequence[BaselineResult],
    subject: Subject,
    audit: TableFindings,
    *,
    search: tuple[int, float] = (0, 0.0),
) -> tuple[MethodSummary, ...]:
    """Measure all findings with one yardstick, and look for each among those of the others.

    The audit is among the results, and given to look findings up in; `search` is how many groups
    its search alone examines in how many seconds. The order stays.
    """
    placed = {result.method: _placed(result) for result in results}
    return tuple(_compared(result, placed, subject, audit, search) for result in results)


def _placed(result: BaselineResult) -> list[_Placed]:
    """Return a method's findings, without rows if these are no groups."""
    findings = result.findings
    if result.method != AUDIT and not find_baseline(result.method).names_groups:
        findings = tuple(replace(finding, rows=None, rows_other=None) for finding in findings)
    return [_Placed(rank, each, groups_of(each)) for rank, each in enumerate(findings, start=1)]


def _compared(
    result: BaselineResult,
    placed: dict[str, list[_Placed]],
    subject: Subject,
    audit: TableFindings,
    search: tuple[int, float],
) -> MethodSummary:
    """Return a method's summary: its first distinct findings, each measured as all are.

    `placed` are the findings of every method; `search` are the groups and seconds of the audit's
    search.
    """
    distinct = _distinct(placed[result.method], audit.parameters.overlap)
    first = distinct[:FIRST_FINDINGS]
    others = {name: items for name, items in placed.items() if name != result.method and items}
    groups = result.groups
    seconds = result.seconds
    intervals: list[tuple[float, float] | None] = [None] * len(first)
    in_audit: list[InAuditSummary | None] = [None] * len(first)
    if result.method == AUDIT:
        groups, seconds = search
        indices = np.array([item.rank for item in first], dtype=np.intp)
        low, high = audit.confidence_intervals(first_groups(audit)[indices - 1])
        intervals = [*zip(low.tolist(), high.tolist(), strict=True)]
    else:
        in_audit = nearest_groups(audit, [item.groups for item in first])
    findings = [
        _finding(placed_finding, interval, in_audit_group, others, subject)
        for placed_finding, interval, in_audit_group in zip(first, intervals, in_audit, strict=True)
    ]
    return MethodSummary.of(
        result,
        findings=findings,
        distinct=len(distinct),
        compared=sum(finding.only is not None for finding in findings),
        only=sum(finding.only is True for finding in findings),
        groups_per_second=groups / seconds if groups and seconds > 0 else None,
        widest=widest_difference(audit) if result.method == AUDIT else None,
    )


def _distinct(findings: list[_Placed], overlap: float) -> list[_Placed]:
    """Return findings without near copies of earlier ones; those without rows stay."""
    kept: list[_Placed] = []
    for placed in findings:
        if not any(_copies(placed.groups, other.groups, overlap) for other in kept):
            kept.append(placed)
    return kept


def _copies(groups: tuple[Rows, ...], others: tuple[Rows, ...], overlap: float) -> bool:
    """Return whether all groups of one finding are near copies of those of another."""
    return len(groups) == len(others) > 0 and all(
        similarity([left], [right]) >= overlap for left, right in zip(groups, others, strict=True)
    )


def _finding(
    placed: _Placed,
    confidence_interval: tuple[float, float] | None,
    in_audit: InAuditSummary | None,
    others: dict[str, list[_Placed]],
    subject: Subject,
) -> ComparedFindingSummary:
    """Return one finding with its selection rates and the nearest finding of each other method."""
    rank, finding, groups = placed
    nearest = [_nearest(name, groups, findings) for name, findings in others.items()]
    comparable = any(near.rank is not None for near in nearest)
    side, other_side = (
        None if rows is None else side_of(subject.decisions, rows, complement)
        for rows, complement in ((finding.rows, finding.complement), (finding.rows_other, None))
    )
    return ComparedFindingSummary(
        rank=rank,
        text=finding.text,
        value=finding.value,
        side=side,
        other_side=other_side,
        nearest=nearest,
        only=all(near.similarity < NEAR for near in nearest) if groups and comparable else None,
        confidence_interval=confidence_interval,
        in_audit=in_audit,
    )


def _nearest(name: str, groups: tuple[Rows, ...], others: list[_Placed]) -> Nearest:
    found = [(similarity(groups, other.groups), -other.rank) for other in others if other.groups]
    if not found or not groups:
        return Nearest(method=name, rank=None, similarity=0.0)
    best, rank = max(found)
    return Nearest(method=name, rank=-rank, similarity=best)


def compare_methods(
    model: LoadedModel[Model],
    table: Table,
    parameters: AuditParameters,
    names: Sequence[str],
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run the audit and the other named methods, one after another, and compare what they find.

    Support, features, bins and seed of the audit's parameters hold for all methods that have them.
    """
    if parameters.holdout is not None:
        raise ParameterError(
            "the methods of a comparison look at the same rows, all of them",
            where="holdout",
            remedy="leave it out",
        )
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    # No other method asks for the own effects of sensitive features.
    audit = run_audit(model, table, parameters, progress=progress, own_effects=False)
    seconds[AUDIT] = time.perf_counter() - start
    subject = subject_of(
        table,
        model.model,
        theta=parameters.fewest_rows(len(table)) / len(table),
        max_features=audit.parameters.depth,
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
    methods = side_by_side(results, subject, audit, search=search)
    seconds["side by side"] = time.perf_counter() - start
    return Comparison(
        audit=audit,
        subject=subject,
        results=tuple(results),
        methods=methods,
        time_limit=time_limit,
        seconds=seconds,
    )
