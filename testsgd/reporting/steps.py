"""What the rules of a group add up to, as steps of a chart."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.report.formatting import points
from testsgd.report.scales import Scale, position
from testsgd.reporting.geometry import Side, partial_sums
from testsgd.reporting.summary import GroupSummary


@dataclass(frozen=True)
class Step:
    """What a rule adds, drawn from where the rules before it have led."""

    text: str
    share: float
    start: float
    width: float
    side: Side
    title: str


def steps(group: GroupSummary, scale: Scale) -> tuple[Step, ...]:
    """Place what each rule of a group adds.

    Parameters
    ----------
    group : GroupSummary
        The group.
    scale : Scale
        A scale of differences that holds :func:`~testsgd.reporting.geometry.partial_sums`.

    Returns
    -------
    tuple of Step
        From zero to the group's difference; none if there are no rules to tell apart.
    """
    explanation = group.explanation
    if explanation is None or len(explanation.shares) < 2:
        return ()
    drawn, before = [], 0.0
    for one, after in zip(explanation.shares, partial_sums(group), strict=True):
        low, high = sorted((scale.place(before), scale.place(after)))
        side: Side = "less" if one.share < 0 else "more"
        drawn.append(Step(one.text, one.share, low, position(high - low), side, points(one.share)))
        before = after
    return tuple(drawn)
