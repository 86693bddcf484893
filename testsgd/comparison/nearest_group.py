"""Finds other methods' findings among all groups of the audit, whatever their rank.

There may be millions of groups. The lattice sums the rows of each finding over all of them at once,
block by block, and of each block only the nearest is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import TableFindings
from testsgd.comparison.matching import Split, alikeness
from testsgd.comparison.outcome import InAudit
from testsgd.rules import FrequentRuleSets, rule_set_sums

# Findings looked up at once, and groups compared with one another.
_SPLITS = 16
_GROUPS = 4096


@dataclass(frozen=True)
class _Best:
    """The nearest rule sets of some splits: similarity, subset of features, index and rows."""

    near: NDArray[np.float64]
    subset: NDArray[np.int32]
    index: NDArray[np.int64]
    rows: NDArray[np.int64]


def nearest_groups(
    audit: TableFindings, findings: Sequence[tuple[Split, ...]]
) -> list[InAudit | None]:
    """Find for each finding, given its groups, the frequent group of the audit that is nearest.

    Of a pair the better known one counts. There is none for findings without groups.
    """
    nearest: list[InAudit | None] = [None] * len(findings)
    splits = [(index, split) for index, groups in enumerate(findings) for split in groups]
    if not len(audit.rule_sets):
        return nearest
    for start in range(0, len(splits), _SPLITS):
        block = splits[start : start + _SPLITS]
        best = _nearest_rule_sets(audit, [split for _, split in block])
        for which, (index, _) in enumerate(block):
            before = nearest[index]
            if before is None or best.near[which] > before.similarity:
                nearest[index] = _in_audit(audit, best, which)
    return nearest


def _nearest_rule_sets(audit: TableFindings, splits: Sequence[Split]) -> _Best:
    """Go through all frequent rule sets for some splits at once."""
    contingency = audit.contingency
    rows = len(contingency.cell_of_row)
    quantities = np.vstack(
        [contingency.tally(), *(contingency.tally(split.rows.astype(np.int64)) for split in splits)]
    )
    sizes = np.array([[split.size] for split in splits], dtype=np.int64)
    fewest = int(audit.estimates.rows_in.min())
    each = np.arange(len(splits))
    best = _Best(
        np.full(len(splits), -1.0),
        np.zeros(len(splits), dtype=np.int32),
        np.zeros(len(splits), dtype=np.int64),
        np.zeros(len(splits), dtype=np.int64),
    )
    for block in rule_set_sums(contingency, quantities, audit.parameters.max_features):
        counts = block.sums[0]
        kept = np.flatnonzero((counts >= fewest) & (counts < rows))
        if not len(kept):
            continue
        near = alikeness(block.sums[1:, kept], counts[kept], sizes, rows)
        first = near.argmax(axis=1)
        wins = near[each, first] > best.near
        chosen = kept[first[wins]]
        best.near[wins] = near[each, first][wins]
        best.subset[wins] = block.subset
        best.index[wins] = block.first + chosen
        best.rows[wins] = counts[chosen]
    return best


def _in_audit(audit: TableFindings, best: _Best, which: int) -> InAudit | None:
    """Find the group of the audit that selects the rows of a rule set."""
    rule_sets, contingency = audit.rule_sets, audit.contingency
    wanted = FrequentRuleSets(
        rule_sets.axes,
        rule_sets.subsets,
        best.subset[which : which + 1],
        best.index[which : which + 1],
        np.zeros((0, 1), dtype=np.int64),
        0,
        0,
    ).members(np.zeros(1, dtype=np.intp), contingency)
    candidates = np.flatnonzero(audit.estimates.rows_in == best.rows[which])
    for start in range(0, len(candidates), _GROUPS):
        groups = candidates[start : start + _GROUPS]
        same = np.flatnonzero((rule_sets.members(groups, contingency) == wanted).all(axis=1))
        if len(same):
            group = int(groups[same[0]])
            rank = np.flatnonzero(audit.ranking == group)
            return InAudit(group, int(rank[0]) + 1 if len(rank) else None, float(best.near[which]))
    return None
