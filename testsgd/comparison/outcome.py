"""What a comparison gives, as the parts of its document."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from testsgd.auditing import TableFindings
from testsgd.baselines import BaselineResult, Subject
from testsgd.report.summaries import (
    Count,
    Difference,
    Duration,
    Interval,
    Part,
    Positive,
    Share,
)


class Side(Part):
    """How the model treats a group: its decisions on the rows as they are."""

    n_in: Count = Field(description="rows in the group")
    n_out: Count = Field(description="rows of its complement")
    share: float = Field(ge=0, le=1, description="`n_in` as a share of all rows")
    rate_in: Share | None = Field(description="selection rate of the group")
    rate_out: Share | None = Field(description="selection rate of its complement")
    difference: Difference | None = Field(
        description="rate_in - rate_out; null if one side has no rows"
    )


def side_of(
    decisions: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    complement: NDArray[np.bool_] | None = None,
) -> Side:
    """Return the selection rates of a group of rows and of its complement.

    The complement is all others, unless it is given.
    """
    others = ~rows if complement is None else complement
    n_in = int(rows.sum())
    n_out = int(others.sum())
    rate_in = float(decisions[rows].mean()) if n_in else None
    rate_out = float(decisions[others].mean()) if n_out else None
    return Side(
        n_in=n_in,
        n_out=n_out,
        share=n_in / max(len(rows), 1),
        rate_in=rate_in,
        rate_out=rate_out,
        difference=None if rate_in is None or rate_out is None else rate_in - rate_out,
    )


class Nearest(Part):
    """The finding of another method that is nearest to a finding."""

    method: str = Field(description="the other method")
    rank: Count | None = Field(
        description="the rank of its finding; null if it found no group of rows"
    )
    similarity: float = Field(
        ge=0,
        le=1,
        description="Jaccard's index of the rows of both, or of those outside, whichever is "
        "smaller; a group and everybody else count as one division of the rows; of a pair the "
        "better one of its groups",
    )


class InAuditSummary(Part):
    """The frequent group of the audit that is nearest to a finding, whatever its rank."""

    text: str = Field(description="the group")
    rank: Count | None = Field(description="its rank by score; null if it is not ranked")
    similarity: float = Field(ge=0, le=1, description="as that of findings")


class ComparedFindingSummary(Part):
    """One finding of a method, measured as all are, and compared with the others'."""

    rank: Positive = Field(description="its rank among the method's findings")
    text: str = Field(description="the group in words")
    value: float = Field(description="the method's own measure of it")
    confidence_interval: Interval | None = Field(
        None, description="of the audit's findings: of the difference"
    )
    side: Side | None = Field(
        description="the group by the model's decisions; null if the finding is no group of rows"
    )
    other_side: Side | None = Field(
        None, description="of a pair of groups the one with the lower rate"
    )
    nearest: list[Nearest] = Field(description="the nearest finding of each other method")
    only: bool | None = Field(
        description="true: no other method has a finding that near; null if there is none to "
        "compare with"
    )
    in_audit: InAuditSummary | None = Field(
        None, description="the nearest group of the audit; null for the audit's own findings"
    )


class FigureSummary(Part):
    """A number of a method that is not about one group."""

    name: str = Field(description="what it is called")
    value: float | int | str = Field(description="the number; a text where there is none")
    meaning: str = Field(description="what it says, in a sentence")


class MethodSummary(Part):
    """What one method found, and what it took."""

    method: str = Field(description="its short name")
    title: str = Field(description="its name")
    measure: str = Field(description="what the values of its findings are")
    available: bool = Field(description="false: it could not be run here, see `note`")
    note: str = Field("", description="what a reader must know of it")
    findings: list[ComparedFindingSummary] = Field(
        description="its first findings, near copies left out"
    )
    distinct: Count = Field(description="findings without near copies, listed here or not")
    compared: Count = Field(description="of those listed: which could be looked for among others")
    only: Count = Field(description="of those compared: which no other method found")
    widest: Share | None = Field(
        None,
        description="of the audit: the largest size of a difference of all its groups, listed here "
        "or not, by the model's decisions on the rows as they are; null for other methods",
    )
    figures: list[FigureSummary] = Field(description="what else it measured")
    groups: Count | None = Field(description="groups examined; null if it examines none")
    queries: Count = Field(description="rows it asked the model about, beside the rows as they are")
    seconds: Duration = Field(description="wall-clock time")
    groups_per_second: Duration = Field(
        description="groups examined in a second, on average; of the audit those of its search "
        "alone, given the decisions as the other methods are"
    )


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The outcome of several methods on one model and its rows, the audit first.

    :class:`testsgd.comparison.ComparisonSummary` is what is written of it. ``results`` has the rows
    of every finding, as masks over the rows of ``subject``; ``methods`` has the same findings
    measured alike: shares, selection rates and the nearest finding of each other method.
    """

    audit: TableFindings
    subject: Subject  # What all methods were given.
    results: tuple[BaselineResult, ...]  # As each method gave it, with the rows of its findings.
    methods: tuple[MethodSummary, ...]  # The same, measured with one yardstick.
    time_limit: float | None  # Seconds that each of the others might take.
    seconds: dict[str, float] = field(default_factory=dict)  # Wall-clock time of each phase.
