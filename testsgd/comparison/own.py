"""Our audit as one of the methods."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import TableFindings
from testsgd.baselines import MOST_FINDINGS, BaselineFinding, BaselineResult, Figure, Subject
from testsgd.comparison.methods import AUDIT
from testsgd.comparison.outcome import Search
from testsgd.rules import mine


def audit_as_method(findings: TableFindings, *, seconds: float) -> BaselineResult:
    """Put an audit's findings into the form of the others.

    Parameters
    ----------
    findings : TableFindings
        The audit.
    seconds : float
        How long it took.

    Returns
    -------
    BaselineResult
        Its first distinct groups by their score.
    """
    groups = first_groups(findings)
    members = group_rows(findings, groups)
    score = findings.sizes
    return BaselineResult(
        method=AUDIT,
        title="testsgd",
        measure="The score: how much the rate of the favourable label in the group differs from "
        "that of everybody else, over rows and small changes of them.",
        findings=tuple(
            BaselineFinding(
                text=findings.rule_set(int(group)).text, value=float(score[group]), rows=rows
            )
            for group, rows in zip(groups, members, strict=True)
        ),
        figures=(
            Figure(
                "rule sets",
                findings.rule_sets.candidates,
                "all that the sensitive features allow; examined are those with enough rows, each "
                "group of rows once",
            ),
        ),
        groups=len(findings.rule_sets),
        queries=findings.queries,
        seconds=seconds,
        note="" if findings.mode == "exact" else "The rates are estimated from samples.",
    )


def time_search(subject: Subject) -> Search:
    """Take the time of the audit's search alone, given what the other methods are given.

    Parameters
    ----------
    subject : Subject
        The rows and the decisions about them.

    Returns
    -------
    Search
        The groups with enough rows, and how long it took to find them with their rates.
    """
    start = time.perf_counter()
    contingency = subject.contingency
    tallies = [contingency.tally(), contingency.tally(subject.decisions.astype(np.int64))]
    groups = mine(
        contingency,
        np.vstack(tallies),
        min_count=subject.min_count,
        min_outside=subject.min_count,
        max_features=subject.max_features,
    )
    inside, favourable = groups.sums.astype(np.float64)
    outside = len(subject.decisions) - inside
    difference = favourable / inside - (subject.decisions.sum() - favourable) / outside
    np.argsort(-np.abs(difference), kind="stable")
    return Search(len(groups), time.perf_counter() - start)


def first_groups(findings: TableFindings) -> NDArray[np.intp]:
    """Return the groups an audit looks at first, as many as other methods may find."""
    return np.array(findings.highlights[:MOST_FINDINGS], dtype=np.intp)


def group_rows(findings: TableFindings, groups: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Say which rows belong to each of some groups, shape (groups, rows)."""
    cells = findings.rule_sets.members(groups, findings.contingency)
    rows: NDArray[np.bool_] = cells[:, findings.contingency.cell_of_row]
    return rows
