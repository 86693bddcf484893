"""The gate of an audit: what it looks at, how it comes out, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from testsgd.auditing.findings import UnestimatedGroup
from testsgd.auditing.report.summary import AuditSummary
from testsgd.auditing.report.wording import TEXT_LIMIT, by_terms
from testsgd.report.formatting import percent, series, share, shorten

Outcome = Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"]

EXIT_CODES: dict[Outcome, Literal[0, 1, 3]] = {
    "reported": 0,
    "gate_passed": 0,
    "gate_failed": 1,
    "not_enough_evidence": 3,
}
"""What the command line leaves with, by the outcome."""


@dataclass(frozen=True)
class GateMeasure:
    """What the gate looks at."""

    name: str  # What it is
    largest: float | None  # The largest of any judged group; None if no group could be judged by it
    # The largest lower confidence bound, which the gate goes by; None where it goes by `largest`
    bound: float | None
    # The largest size that an interval still allows; None if it is not known
    allowed: float | None = None
    # Half the width of the widest interval of a judged group, if no gate may pass by an interval
    # wider than its limit; None if it passes by the differences alone, as that of tables does
    widest: float | None = None
    # Whether `largest` is a lower confidence bound: of very many small groups some differ much by
    # chance, so only what is certain of them counts
    is_bound: bool = False
    # Whether it is of a group that was not estimated on rows held out: it never fails the gate
    is_unestimated: bool = False

    @classmethod
    def of_unestimated(cls, group: UnestimatedGroup, metric: str = "") -> GateMeasure:
        """Return that of a group that was not estimated on rows held out."""
        measure = f"{metric} {group.measure}".strip()
        name = f"{measure}, of {shorten(group.text, TEXT_LIMIT)}, which was not estimated"
        return cls(name, group.size, 0.0, is_unestimated=True)

    @classmethod
    def of_look(cls, name: str, bound: float) -> GateMeasure:
        """Return that of a look beyond the search, which the gate goes by its bound alone."""
        return cls(name, bound, bound, is_bound=True)

    @property
    def largest_name(self) -> str:
        """What `largest` is."""
        return f"lower confidence bound of the {self.name}" if self.is_bound else self.name

    @property
    def decisive(self) -> float:
        """The size that the gate goes by."""
        if self.largest is None:
            return 0.0
        return self.largest if self.bound is None else self.bound


def gate_outcome(measures: Sequence[GateMeasure], gate: float, *, strict: bool = False) -> Outcome:
    """Return how the gate comes out.

    It fails if a lower confidence bound is above it. It passes if there was something to judge,
    everything could be judged and no difference is above it, nor half the width of an interval
    where widths count; if it is strict, only if no interval allows a larger difference.
    """
    if any(measure.decisive > gate for measure in measures if measure.largest is not None):
        return "gate_failed"
    small = [measure.largest is not None and measure.largest <= gate for measure in measures]
    allows_more = any((measure.allowed or 0.0) > gate for measure in measures)
    if small and all(small) and not too_wide(measures, gate) and not (strict and allows_more):
        return "gate_passed"
    return "not_enough_evidence"


def too_wide(measures: Sequence[GateMeasure], gate: float) -> list[GateMeasure]:
    """Return what is known so badly that its intervals are wider than the gate is.

    An interval around zero that reaches further than the limit on both sides tells nothing about
    effects of the size that the limit is about, whatever the estimate. One that is narrower and
    still reaches beyond the limit has an estimate near the limit: that is for a strict gate.
    """
    return [measure for measure in measures if (measure.widest or 0.0) > gate]


def gate_sentence(
    outcome: Outcome,
    summary: AuditSummary,
    measures: Sequence[GateMeasure],
    gate: float,
    *,
    judged: str,
    passes: bool = True,
) -> str:
    """Return how the gate came out, and by which numbers; `judged` names the judged groups.

    `passes`: nothing else is in the way of passing.
    """
    kind = summary.guarantee.kind
    if outcome == "gate_passed":
        largest = series([f"{item.largest:.3f} ({item.largest_name})" for item in measures])
        passed = f"{kept_by(judged, passes=passes)}: the largest is {largest}, not above {gate:g}."
        return f"{passed}{_silent_up_to(measures, gate)}{_rare_label(summary, gate)}"
    of_kind = {
        "simultaneous": "the largest lower confidence bound",
        "fdr": "the largest difference of a discovery",
    }
    if outcome == "gate_failed":
        above = [item for item in measures if item.decisive > gate]
        size = series([f"{item.decisive:.3f} ({item.name})" for item in above])
        return f"The gate failed: {of_kind.get(kind, 'the largest')} is {size}, above {gate:g}."
    unclear = next((item for item in measures if item.largest is None or item.largest > gate), None)
    if unclear is None and not measures:
        return "Not enough evidence for the gate: no group could be judged."
    if unclear is None and (wide := too_wide(measures, gate)):
        names = series([item.name for item in wide])
        silent = max(item.allowed or item.widest or 0.0 for item in wide)
        return (
            f"Not enough evidence for the gate: no difference is above {gate:g}, but intervals "
            f"({names}) are wider than that. The data are silent on effects of up to {silent:.3f}."
        )
    if unclear is None:
        return (
            "Not enough evidence for the gate, which is strict: no difference is above "
            f"{gate:g}.{_silent_up_to(measures, gate)}"
        )
    if unclear.largest is None:
        return f"Not enough evidence for the gate: no group could be judged by {unclear.name}."
    bound = of_kind["simultaneous"]
    known = "no lower confidence bound is above zero"
    if kind == "fdr":
        bound = "the largest of a discovery"
        known = "there is no discovery"
    if unclear.is_unestimated:
        known = "no interval is known of it"
    elif unclear.bound:
        known = f"{bound} is {unclear.bound:.3f}"
    return (
        f"Not enough evidence for the gate: the largest {unclear.name}, {unclear.largest:.3f}, is "
        f"above {gate:g}, but {known}."
    )


def kept_by(judged: str, *, passes: bool, gate: str = "gate") -> str:
    """Write that the judged groups keep a limit, and that the gate passed if it did.

    Examples
    --------
    >>> kept_by("every group", passes=True), kept_by("every group", passes=False)
    ('The gate passed for every group', 'The limit is kept by every group')
    """
    if passes:
        return f"The {gate} passed for {judged}"
    return f"The limit is kept by {judged}"


def unjudged_share_sentences(unjudged: float, allowed: float, people: str) -> list[str]:
    """Write that a strict audit concludes nothing because too many people are unjudged.

    There is nothing to write if they are not. `unjudged` and `allowed` are shares, and `people`
    says of what.
    """
    if unjudged <= allowed:
        return []
    return [
        f"Not enough evidence: {percent(unjudged)} of the {people} could not be judged, more than "
        f"the {share(allowed)} allowed."
    ]


def undescribed_sentences(features: Sequence[str]) -> list[str]:
    """Write that a strict audit concludes nothing as features have no groups; nothing if none."""
    if not features:
        return []
    return [f"Not enough evidence: no group could be described by {series(features)}."]


def _silent_up_to(measures: Sequence[GateMeasure], gate: float) -> str:
    """Write which differences the intervals still allow; empty if none is above the gate."""
    allowed = [measure.allowed for measure in measures if measure.allowed is not None]
    if not allowed or max(allowed) <= gate:
        return ""
    return f" The intervals allow differences of up to {max(allowed):.3f}."


def _rare_label(summary: AuditSummary, gate: float) -> str:
    """Write that a group cannot be selected much less often; empty if it can."""
    rate = summary.overall_rate
    by_ratio = summary.parameters.fail_below_ratio is not None
    if rate is None or rate > gate or by_terms(summary) or by_ratio:
        return ""
    return (
        f" With {percent(rate)} in all no group can be selected {gate:g} less often than others; "
        "set a limit to ratios (--fail-below-ratio 0.8)."
    )
