"""What a comparison gives, before anything is rendered."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from testsgd.auditing import TableFindings
from testsgd.baselines import BaselineFinding, BaselineResult, Subject
from testsgd.report.summaries import Part


class Side(Part):
    """How the model treats a group: its decisions on the rows as they are."""

    n_in: int = Field(description="rows in the group")
    n_out: int = Field(description="rows of its complement")
    share: float = Field(ge=0, le=1, description="`n_in` as a share of all rows")
    rate_in: float | None = Field(description="selection rate of the group")
    rate_out: float | None = Field(description="selection rate of its complement")
    difference: float | None = Field(description="rate_in - rate_out; null if one side has no rows")


def side_of(decisions: NDArray[np.bool_], rows: NDArray[np.bool_]) -> Side:
    """Measure how a model treats a group of rows, given who gets the favourable label.

    Examples
    --------
    >>> side = side_of(np.array([True, True, False, False]), np.array([True, True, True, False]))
    >>> side.n_in, side.rate_out, side.share
    (3, 0.0, 0.75)
    """
    n_in = int(rows.sum())
    n_out = len(rows) - n_in
    favourable_in = int((decisions & rows).sum())
    favourable_out = int(decisions.sum()) - favourable_in
    rate_in = favourable_in / n_in if n_in else None
    rate_out = favourable_out / n_out if n_out else None
    return Side(
        n_in=n_in,
        n_out=n_out,
        share=n_in / max(n_in + n_out, 1),
        rate_in=rate_in,
        rate_out=rate_out,
        difference=None if rate_in is None or rate_out is None else rate_in - rate_out,
    )


class Nearest(Part):
    """The finding of another method that is nearest to a finding."""

    method: str = Field(description="the other method")
    rank: int | None = Field(
        description="the rank of its finding; null if it found no group of rows"
    )
    similarity: float = Field(
        ge=0,
        le=1,
        description="Jaccard's index of the rows of both, or of those outside, whichever is "
        "smaller; a group and everybody else count as one division of the rows; of a pair the "
        "better one of its groups",
    )


@dataclass(frozen=True)
class InAudit:
    """The frequent group of the audit that is nearest to a finding."""

    group: int  # The group's place in the findings of the audit.
    rank: int | None  # Its rank by score; None if it is not ranked.
    similarity: float  # See :func:`testsgd.comparison.alikeness`.


@dataclass(frozen=True)
class ComparedFinding:
    """One finding of a method, compared with those of the others."""

    rank: int  # Its rank among the method's findings, from 1.
    finding: BaselineFinding  # As the method gave it.
    # On the common yardstick: its group, and of a pair the group with the lower rate; None if it is
    # no group of rows.
    side: Side | None
    other_side: Side | None
    nearest: tuple[Nearest, ...]  # The nearest finding of each other method that took part.
    # True if no other method has a finding near it; None if it is no group of rows, or nothing else
    # was found.
    only: bool | None
    # Of the audit's own findings: the interval of the difference.
    confidence_interval: tuple[float, float] | None = None
    # The audit's nearest group, whatever its rank; None for the audit's own findings.
    in_audit: InAudit | None = None


@dataclass(frozen=True)
class ComparedMethod:
    """A method with its first distinct findings."""

    result: BaselineResult  # As the method gave it.
    findings: tuple[ComparedFinding, ...]  # The first that are no near copies of one before them.
    distinct: int  # How many of its findings are no near copies, shown here or not.


@dataclass(frozen=True)
class Search:
    """How fast the audit's search is, without its questions to the model."""

    groups: int  # Groups with enough rows.
    seconds: float  # How long it took to find them, with their rates and their order.


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several methods on one model and its rows."""

    audit: TableFindings  # The audit.
    subject: Subject  # What all methods were given.
    methods: tuple[ComparedMethod, ...]  # The audit first.
    search: Search  # The audit's search alone, given the decisions, as the other methods are.
    time_limit: float | None  # Seconds that each of the others might take.
    seconds: dict[str, float] = field(default_factory=dict)  # Wall-clock time of each phase.
