"""Finds other methods' findings among all groups of the audit, of any rank.

There may be millions of groups. The lattice sums the rows of each finding over all of them at once,
block by block, and of each block only the nearest is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from testsgd.auditing import TableFindings
from testsgd.comparison.matching import Rows, alikeness
from testsgd.comparison.outcome import InAuditSummary
from testsgd.rules import FrequentRuleSets, rule_set_sums

# Findings looked up at once, and groups compared with one another.
_LOOKED_UP = 16
_GROUPS = 4096


class _RuleSet(NamedTuple):
    """A rule set: its similarity, its subset of features, its place there, its number of rows."""

    similarity: float
    subset: int = 0
    place: int = 0
    rows: int = 0


def nearest_groups(
    audit: TableFindings, findings: Sequence[tuple[Rows, ...]]
) -> list[InAuditSummary | None]:
    """Find for each finding, given its groups, the frequent group of the audit that is nearest.

    Of a pair the better known one counts. There is none for findings without groups.
    """
    nearest: list[InAuditSummary | None] = [None] * len(findings)
    groups = [(index, rows) for index, pair in enumerate(findings) for rows in pair]
    if not len(audit.rule_sets):
        return nearest
    for start in range(0, len(groups), _LOOKED_UP):
        block = groups[start : start + _LOOKED_UP]
        best = _nearest_rule_sets(audit, [rows for _, rows in block])
        for (index, _), rule_set in zip(block, best, strict=True):
            before = nearest[index]
            if before is None or rule_set.similarity > before.similarity:
                nearest[index] = _in_audit(audit, rule_set)
    return nearest


def _nearest_rule_sets(audit: TableFindings, groups: Sequence[Rows]) -> list[_RuleSet]:
    """Return the frequent rule set that is nearest to each of some groups, shapes (rows,)."""
    contingency = audit.contingency
    rows = len(contingency.cell_of_row)
    quantities = np.vstack(
        [contingency.tally(), *(contingency.tally(group.astype(np.int64)) for group in groups)]
    )
    sizes = np.array([[group.sum()] for group in groups], dtype=np.int64)
    fewest = int(audit.estimates.rows_in.min())
    best = [_RuleSet(-1.0)] * len(groups)
    for block in rule_set_sums(contingency, quantities, audit.parameters.depth):
        counts = block.sums[0]
        kept = np.flatnonzero((counts >= fewest) & (counts < rows))
        if not len(kept):
            continue
        near = alikeness(block.sums[1:, kept], counts[kept], sizes, rows)
        for group, place in enumerate(near.argmax(axis=1)):
            if near[group, place] > best[group].similarity:
                index = kept[place]
                best[group] = _RuleSet(
                    similarity=float(near[group, place]),
                    subset=block.subset,
                    place=block.first + index,
                    rows=counts[index],
                )
    return best


def _in_audit(audit: TableFindings, wanted: _RuleSet) -> InAuditSummary | None:
    """Return the group of the audit with the same rows as a rule set; None if there is none."""
    rule_sets = audit.rule_sets
    contingency = audit.contingency
    members = FrequentRuleSets(
        rule_sets.axes,
        rule_sets.subsets,
        np.array([wanted.subset], dtype=np.int32),
        np.array([wanted.place], dtype=np.int64),
        np.zeros((0, 1), dtype=np.int64),
        0,
        0,
    ).members(np.zeros(1, dtype=np.intp), contingency)
    candidates = np.flatnonzero(audit.estimates.rows_in == wanted.rows)
    for start in range(0, len(candidates), _GROUPS):
        groups = candidates[start : start + _GROUPS]
        same = np.flatnonzero((rule_sets.members(groups, contingency) == members).all(axis=1))
        if len(same):
            group = int(groups[same[0]])
            rank = np.flatnonzero(audit.ranking == group)
            return InAuditSummary(
                text=audit.rule_set(group).text,
                rank=int(rank[0]) + 1 if len(rank) else None,
                similarity=wanted.similarity,
            )
    return None
