"""Two audits of the same rows or texts side by side: who is worst off now, and whose score rose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testsgd.auditing.findings import Findings

# A report lists so many of the groups that are worst off, and of those whose score rose.
WORST_SHOWN = 5
RISEN_SHOWN = 10

# Of millions of groups, near copies of a few may come first; nobody waits for them to be compared.
_WALKED = 5_000


@dataclass(frozen=True)
class AuditComparison:
    """The audits of two models on the same data, and the groups that a report lists."""

    # The audits; a group has the same place in both.
    before: Findings
    after: Findings
    # The groups with the largest scores after, near copies left out, at most five.
    worst: tuple[int, ...]
    # The groups whose score rose most, if by more than asked for, near copies left out, at most
    # ten.
    increased: tuple[int, ...]
    increased_count: int  # How many groups' score rose by more, near copies counted.


def compare_audits(before: Findings, after: Findings, *, least_increase: float) -> AuditComparison:
    """Compare the audits of two models, made of the same data with the same parameters.

    Who is in a group and which groups are frequent depends on the data alone, so the groups of both
    audits are the same, in the same order. How much a score rose is known of the groups that are
    decided, and have samples on both sides, in both audits.

    Parameters
    ----------
    before, after : Findings
        The audits.
    least_increase : float
        A group is listed if its score, between 0 and 1, rises by more than this.

    Returns
    -------
    AuditComparison
        The groups with the largest scores after, and those whose score rose most; without near
        copies of groups before them.

    Raises
    ------
    ValueError
        If the audits have different numbers of groups.
    """
    if len(before.rule_sets) != len(after.rule_sets):
        raise ValueError(f"{len(before.rule_sets)} and {len(after.rule_sets)} groups")
    known = before.estimates.decided & after.estimates.decided
    known &= before.estimates.sampled & after.estimates.sampled
    rise = np.where(known, after.estimates.score - before.estimates.score, -np.inf)
    order = np.argsort(-rise, kind="stable")
    order = order[: int((rise > least_increase).sum())]
    increased = after.first_distinct(order[:_WALKED], RISEN_SHOWN)
    worst = worst_groups(after, WORST_SHOWN)
    return AuditComparison(before, after, worst, tuple(increased), len(order))


def worst_groups(findings: Findings, limit: int) -> tuple[int, ...]:
    """Return the decided groups with the largest scores, near copies of one before left out.

    Parameters
    ----------
    findings : Findings
        The audit.
    limit : int
        The most groups to return.

    Returns
    -------
    tuple of int
        The places of the groups, the largest score first.
    """
    order = findings.ranking[findings.estimates.decided[findings.ranking]]
    # Of equal scores the first of the ranking is first.
    order = order[np.argsort(-findings.estimates.score[order], kind="stable")]
    return tuple(findings.first_distinct(order[:_WALKED], limit))
