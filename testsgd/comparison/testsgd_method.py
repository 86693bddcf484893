"""The methods that take part, and our audit as one of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import TableFindings
from testsgd.auditing.findings import Estimated
from testsgd.baselines import (
    METHODS,
    MOST_FINDINGS,
    BaselineFinding,
    BaselineResult,
    Figure,
    Subject,
)
from testsgd.errors import ParameterError
from testsgd.rules import mine

# The audit, among the methods.
AUDIT = "testsgd"


def resolve_methods(methods: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the wanted methods: the audit, then the others in the order of reports.

    `methods` may be one text of names with commas between them; "all" or None for all. Raises a
    ParameterError if a name is unknown, or there is none.
    """
    known = (AUDIT, *METHODS)
    if methods is None or methods == "all":
        return known
    given = methods.split(",") if isinstance(methods, str) else methods
    wanted = [name for name in (str(name).strip() for name in given) if name]
    choices = f"choose from {', '.join(known)}, or all"
    if not wanted:
        raise ParameterError("no method is named", where="methods", remedy=choices)
    for name in wanted:
        if name not in known:
            raise ParameterError(
                f"the method {name!r} is unknown", where="methods", remedy=choices, method=name
            )
    return (AUDIT, *(name for name in METHODS if name in wanted))


def audit_as_method(findings: TableFindings, *, seconds: float) -> BaselineResult:
    """Return an audit's first distinct groups by their score as the result of a method."""
    groups = first_groups(findings)
    cells = findings.rule_sets.members(groups, findings.contingency)
    members = cells[:, findings.contingency.cell_of_row]
    outside = findings.rule_sets.complement_members(groups, findings.contingency)
    others = outside[:, findings.contingency.cell_of_row]
    score = findings.sizes
    return BaselineResult(
        method=AUDIT,
        title="testsgd",
        measure="The score: how much the rate of the favourable label in the group differs from "
        "that of everybody else, over rows and small changes of them.",
        findings=tuple(
            BaselineFinding(
                text=findings.rule_set(int(group)).text,
                value=float(score[group]),
                rows=rows,
                complement=complement,
            )
            for group, rows, complement in zip(groups, members, others, strict=True)
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


def widest_difference(findings: TableFindings) -> float | None:
    """Return the largest size of an observed difference of all groups; None if none is known."""
    first = Estimated(findings.parameters.estimand, findings.estimates, findings.guarantee)
    for estimated in (first, *findings.others):
        sizes = estimated.estimates.score[estimated.estimates.sampled]
        if estimated.estimand == "observed" and len(sizes):
            return float(sizes.max())
    return None


def time_search(subject: Subject) -> tuple[int, float]:
    """Return the number of groups with enough rows, and the seconds that their search takes.

    The time covers the groups, their rates and their order. The model is not asked, because the
    other methods get the decisions too.
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
    return len(groups), time.perf_counter() - start


def first_groups(findings: TableFindings) -> NDArray[np.intp]:
    """Return the groups an audit looks at first, as many as other methods may find."""
    return np.array(findings.highlights[:MOST_FINDINGS], dtype=np.intp)
