"""The gate by ratios: the smaller rate as a part of the larger one, as in the four-fifths rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from testsgd.auditing.findings import UnestimatedGroup
from testsgd.auditing.report.gate import kept_by
from testsgd.auditing.report.summary import AuditSummary
from testsgd.auditing.report.wording import TEXT_LIMIT
from testsgd.report.formatting import series, shorten

GateOutcome = Literal["gate_passed", "gate_failed", "not_enough_evidence"]


@dataclass(frozen=True)
class RatioMeasure:
    """What the gate by ratios looks at."""

    name: str  # What it is a ratio of
    smallest: float | None  # The smallest of any judged group; None if no group could be judged
    # The smallest upper confidence bound, which the gate goes by; None where it goes by `smallest`
    bound: float | None
    # The smallest ratio that an interval still allows; None if it is not known
    allowed: float | None

    # Whether it is of a group that was not estimated on rows held out: it never fails the gate
    is_unestimated: bool = False

    @classmethod
    def of_unestimated(cls, group: UnestimatedGroup) -> RatioMeasure:
        """Return that of a group that was not estimated on rows held out."""
        name = f"{group.measure}, of {shorten(group.text, TEXT_LIMIT)}, which was not estimated"
        return cls(name, group.size, 1.0, None, is_unestimated=True)

    @property
    def decisive(self) -> float:
        """The ratio that the gate goes by."""
        if self.smallest is None:
            return 1.0
        return self.smallest if self.bound is None else self.bound


def ratio_gate_outcome(
    ratios: Sequence[RatioMeasure], limit: float, *, strict: bool = False
) -> GateOutcome:
    """Return how the gate by ratios comes out.

    It fails if an upper confidence bound is below the limit. It passes if every ratio is at least
    the limit; if it is strict, only if no interval allows a smaller one.
    """
    if any(measure.decisive < limit for measure in ratios):
        return "gate_failed"
    enough = [item.smallest is not None and item.smallest >= limit for item in ratios]
    allows_less = any(item.allowed is not None and item.allowed < limit for item in ratios)
    if enough and all(enough) and not (strict and allows_less):
        return "gate_passed"
    return "not_enough_evidence"


def ratio_gate_sentence(
    outcome: GateOutcome,
    summary: AuditSummary,
    ratios: Sequence[RatioMeasure],
    *,
    judged: str,
    passes: bool = True,
) -> str:
    """Write how the gate by ratios came out, by which numbers, and for which groups.

    `passes`: nothing else is in the way of passing.
    """
    kind = summary.guarantee.kind
    limit = summary.parameters.fail_below_ratio
    assert limit is not None
    known = [item for item in ratios if item.smallest is not None]
    if outcome == "gate_failed":
        below = series(
            [f"{item.decisive:.3f} ({item.name})" for item in known if item.decisive < limit]
        )
        what = {
            "simultaneous": "the smallest upper confidence bound",
            "fdr": "the smallest ratio of a discovery",
        }.get(kind, "the smallest")
        return f"The gate by ratios failed: {what} is {below}, below {limit:g}."
    smallest = series([f"{item.smallest:.3f} ({item.name})" for item in known])
    allowed = [item.allowed for item in ratios if item.allowed is not None]
    silent = ""
    if allowed and min(allowed) < limit:
        silent = f" The intervals allow ratios down to {min(allowed):.3f}."
    if outcome == "gate_passed":
        return (
            f"{kept_by(judged, passes=passes, gate='gate by ratios')}: the smallest is "
            f"{smallest}, not below {limit:g}.{silent}"
        )
    if not known:
        return "Not enough evidence for the gate by ratios: no group could be judged."
    if len(known) < len(ratios):
        names = series([item.name for item in ratios if item.smallest is None])
        return f"Not enough evidence for the gate by ratios: no group could be judged by {names}."
    if all(item.smallest is not None and item.smallest >= limit for item in ratios):
        return (
            "Not enough evidence for the gate by ratios, which is strict: none is below "
            f"{limit:g}.{silent}"
        )
    if all(
        item.is_unestimated for item in known if item.smallest is not None and item.smallest < limit
    ):
        return (
            f"Not enough evidence for the gate by ratios: the smallest is {smallest}, and no "
            f"interval is known of one below {limit:g}."
        )
    return (
        f"Not enough evidence for the gate by ratios: the smallest is {smallest}, and one below "
        f"{limit:g} may be chance."
    )
