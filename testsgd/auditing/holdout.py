"""Find groups on one part of the rows, and estimate them on the other.

The worst of thousands of groups looks worse than it is, because it was chosen for looking bad. On
rows that had no say in the choice it shows what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from testsgd.auditing.clock import Clock
from testsgd.auditing.findings import Findings, Found, Holdout, TableFindings
from testsgd.auditing.outcome import Progress
from testsgd.auditing.rows import RowAudit, audit_rows
from testsgd.auditing.rule_selection import ExplainingRule
from testsgd.data import Table
from testsgd.errors import ParameterError


def audit_held_out(
    audit: RowAudit, share: float, clock: Clock, progress: Progress | None
) -> TableFindings:
    """Find groups on one part of the rows and estimate them on the other.

    Parameters
    ----------
    audit : RowAudit
        What to audit, and how. The parts share its queries by their rows.
    share : float
        Share of the rows that are kept for estimating.
    clock : Clock
        Takes down how long each phase takes; both parts' times are added.
    progress : callable or None
        Called with the rows done and their number, for one part and then for the other.

    Returns
    -------
    TableFindings
        Of the rows kept for estimating; only the groups that an audit of the others looks at first
        are in it, so that a guarantee for all of them is one for few.

    Raises
    ------
    ParameterError
        If a part would have no rows.
    """
    searched, kept = split_rows(audit.table, share, audit.parameters.seed)
    search_parameters = replace(audit.parameters, guarantee="per-group", condition_on=())
    found = audit_rows(
        _of_part(replace(audit, parameters=search_parameters), searched), clock, progress
    )
    chosen = np.array(found.highlights, dtype=np.intp)
    estimated = audit_rows(
        _of_part(replace(audit, given=found.rule_sets.take(chosen)), kept), clock, progress
    )
    rank = {int(group): place for place, group in enumerate(found.ranking, start=1)}
    # In the estimated part the groups are numbered in the order in which they were found.
    return replace(
        estimated,
        parameters=audit.parameters,
        queries=found.queries + estimated.queries,
        neighbourhood=found.neighbourhood + estimated.neighbourhood,
        rules=renumbered_rules(found),
        unjudged=found.unjudged,
        stability=_renumbered(found.stability, found.highlights),
        stability_samples=found.stability_samples,
        holdout=Holdout(
            share=share,
            searched=len(searched),
            estimated=len(kept),
            groups=len(found.rule_sets),
            missing=int((~estimated.estimates.sampled).sum()),
            found={
                place: Found(
                    rank=rank[group],
                    score=float(found.estimates.score[group]),
                    n_in=int(found.estimates.rows_in[group]),
                )
                for place, group in enumerate(found.highlights)
            },
        ),
    )


def split_rows(table: Table, share: float, seed: int) -> tuple[Table, Table]:
    """Split rows at random; both parts keep their order, and a note says which part it is.

    Parameters
    ----------
    table : Table
        The rows.
    share : float
        Share of them in the second part.
    seed : int
        Same seed, same split.

    Returns
    -------
    searched, kept : Table

    Raises
    ------
    ParameterError
        If a part would have no rows.
    """
    rows = len(table)
    size = round(share * rows)
    if not 0 < size < rows:
        raise ParameterError(
            f"{share:g} of {rows:,} rows leaves one part without rows",
            where="holdout",
            remedy="give a share such as 0.5, or bring more rows",
        )
    order = np.random.default_rng([seed, 6]).permutation(rows)
    inside = np.zeros(rows, dtype=bool)
    inside[order[:size]] = True
    if table.clusters is not None:
        # Rows of one person stay together, where the first of them in that order is.
        _, first = np.unique(table.clusters[order], return_index=True)
        inside = (first < size)[np.unique(table.clusters, return_inverse=True)[1]]
        size = int(inside.sum())
        if not 0 < size < rows:
            raise ParameterError(
                f"{share:g} of {rows:,} rows leaves one part without rows",
                where="holdout",
                remedy="give another share, or bring rows of more people",
            )
    searched, kept = table.take(np.flatnonzero(~inside)), table.take(np.flatnonzero(inside))
    note = (
        f"groups were found on {rows - size:,} rows and estimated on {size:,} others, split at "
        f"random with seed {seed}"
    )
    return searched, replace(kept, notes=(*kept.notes, note))


def _of_part(audit: RowAudit, part: Table) -> RowAudit:
    """Audit a part of the rows, with its part of the queries."""
    allowed = audit.parameters.budget(0)
    queries = max(2, allowed * len(part) // len(audit.table))
    return replace(audit, table=part, parameters=replace(audit.parameters, max_queries=queries))


def renumbered_rules(found: Findings) -> tuple[ExplainingRule, ...]:
    """Return the explaining rules with the numbers of the groups that are estimated."""
    number = {group: index for index, group in enumerate(found.highlights)}
    return tuple(
        replace(rule, group=number[rule.group], near_duplicates=()) for rule in found.rules
    )


def _renumbered(stability: Mapping[int, float], groups: tuple[int, ...]) -> dict[int, float]:
    number = {group: index for index, group in enumerate(groups)}
    return {number[group]: share for group, share in stability.items()}
