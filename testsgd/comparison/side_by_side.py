"""What each method finds that the others miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from testsgd.auditing import TableFindings
from testsgd.baselines import BaselineFinding, BaselineResult, Subject
from testsgd.comparison.look_up import look_up
from testsgd.comparison.matching import NEAR, Split, nearness, splits_of
from testsgd.comparison.methods import AUDIT, WITHOUT_GROUPS
from testsgd.comparison.outcome import ComparedFinding, ComparedMethod, InAudit, Nearest
from testsgd.comparison.own import first_groups
from testsgd.comparison.yardstick import side_of

# Findings that are shown of each method.
FIRST_FINDINGS = 10

# A finding's place among all of its method's, and its groups.
_Placed = tuple[int, BaselineFinding, tuple[Split, ...]]


def side_by_side(
    results: Sequence[BaselineResult], subject: Subject, audit: TableFindings
) -> tuple[ComparedMethod, ...]:
    """Measure all findings with one yardstick, and look for each among those of the others.

    Parameters
    ----------
    results : sequence of BaselineResult
        What the methods found, the audit among them.
    subject : Subject
        What they were given.
    audit : TableFindings
        The audit, to look findings up in.

    Returns
    -------
    tuple of ComparedMethod
        In the order of the results.
    """
    placed = {
        result.method: [
            (place, finding, splits_of(finding))
            for place, finding in enumerate(_grouped(result), start=1)
        ]
        for result in results
    }
    return tuple(_compared(result, placed, subject, audit) for result in results)


def _grouped(result: BaselineResult) -> tuple[BaselineFinding, ...]:
    """Give a method's findings, without rows if these are no groups."""
    if result.method not in WITHOUT_GROUPS:
        return result.findings
    return tuple(replace(finding, rows=None, rows_other=None) for finding in result.findings)


def _compared(
    result: BaselineResult,
    placed: dict[str, list[_Placed]],
    subject: Subject,
    audit: TableFindings,
) -> ComparedMethod:
    own = result.method == AUDIT
    distinct = _distinct(placed[result.method], audit.parameters.overlap)
    first = distinct[:FIRST_FINDINGS]
    others = {name: found for name, found in placed.items() if name != result.method and found}
    places = np.array([place for place, _, _ in first], dtype=np.intp)
    intervals: list[tuple[float, float] | None] = [None] * len(first)
    known: list[InAudit | None] = [None] * len(first)
    if own:
        low, high = audit.intervals(first_groups(audit)[places - 1])
        intervals = [*zip(low.tolist(), high.tolist(), strict=True)]
    else:
        known = look_up(audit, [splits for _, _, splits in first])
    findings = tuple(
        _finding(one, others, subject, interval, in_audit)
        for one, interval, in_audit in zip(first, intervals, known, strict=True)
    )
    return ComparedMethod(result, findings, len(distinct))


def _distinct(found: list[_Placed], overlap: float) -> list[_Placed]:
    """Leave out near copies of findings before them; what is no group of rows stays."""
    kept: list[_Placed] = []
    for one in found:
        if not any(_copies(one[2], other[2], overlap) for other in kept):
            kept.append(one)
    return kept


def _copies(one: tuple[Split, ...], other: tuple[Split, ...], overlap: float) -> bool:
    """Say whether all groups of one finding are near copies of those of another."""
    return (
        len(one) == len(other) > 0
        and min(nearness([left], [right]) for left, right in zip(one, other, strict=True))
        >= overlap
    )


def _finding(
    one: _Placed,
    others: dict[str, list[_Placed]],
    subject: Subject,
    interval: tuple[float, float] | None,
    in_audit: InAudit | None,
) -> ComparedFinding:
    place, finding, splits = one
    nearest = tuple(_nearest(name, splits, found) for name, found in others.items())
    measured = [
        None if rows is None else side_of(subject.decisions, rows)
        for rows in (finding.rows, finding.rows_other)
    ]
    comparable = any(near.place is not None for near in nearest)
    return ComparedFinding(
        place=place,
        finding=finding,
        side=measured[0],
        other_side=measured[1],
        nearest=nearest,
        only=all(near.nearness < NEAR for near in nearest) if splits and comparable else None,
        interval=interval,
        in_audit=in_audit,
    )


def _nearest(name: str, splits: tuple[Split, ...], found: list[_Placed]) -> Nearest:
    groups = [(nearness(splits, other), place) for place, _, other in found if other]
    if not groups or not splits:
        return Nearest(name, None, 0.0)
    best, place = max(groups, key=lambda pair: (pair[0], -pair[1]))
    return Nearest(name, place, best)
