"""Geometry of the drawings of a mitigation; the templates draw them.

As in an audit's report, positions are per cent of the drawing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from testsgd.report.formatting import (
    MINUS,
    count,
    interval,
    percent,
    plural,
    points,
    tick_points,
)
from testsgd.report.labels import Label, place_labels
from testsgd.report.scales import Scale, linear_scale
from testsgd.reporting.geometry import Side, Whisker
from testsgd.reporting.mitigation.phrases import (
    FEW,
    KINDS,
    accuracy_change,
    candidate_score,
    enough,
    largest,
    score,
    weight,
)
from testsgd.reporting.mitigation.summary import (
    CandidateSummary,
    GroupChange,
    MitigationSummary,
    RatesSummary,
    TargetSummary,
)

# Candidates that lose more than this many budgets are not drawn, if others are.
_BUDGETS_SHOWN = 3.0


@dataclass(frozen=True)
class Gap:
    """Two rates on one scale, with the difference as the line between them.

    The rates are written beside its ends, `left` and `right`.
    """

    label: str
    inside: float
    outside: float
    start: float
    width: float
    left: str
    right: str
    side: Side
    after: bool
    value: str
    title: str


@dataclass(frozen=True)
class GapRows:
    """The gaps of one set of rows, before and after.

    `remark` says what is doubtful about it, in which case it should not catch the eye.
    """

    label: str
    gaps: tuple[Gap, ...]
    remark: str


@dataclass(frozen=True)
class Shift:
    """A group's difference before, and after with its interval, on a scale of differences."""

    group: GroupChange | TargetSummary
    before: float | None
    after: Whisker
    start: float
    width: float
    value: str
    title: str


@dataclass(frozen=True)
class Candidate:
    """One candidate of the trade-off chart; `y` counts from the top, `kind` is of its samples."""

    x: float
    y: float
    allowed: bool
    kind: str


@dataclass(frozen=True)
class Chosen:
    """The candidate that a run chose, or the original model."""

    x: float
    y: float
    label: Label
    title: str


@dataclass(frozen=True)
class TradeOff:
    """Accuracy lost against the worst target's score, of all candidates.

    `kinds` are those of the points, to be told apart by their shapes.
    """

    x_scale: Scale
    y_scale: Scale
    points: tuple[Candidate, ...]
    kinds: tuple[str, ...]
    chosen: tuple[Chosen, ...]
    budget: float
    origin: Chosen | None
    beyond: int
    title: str


def gap_scale(targets: Iterable[TargetSummary]) -> Scale:
    """Make the one scale of rates on which all targets are drawn.

    Parameters
    ----------
    targets : iterable of TargetSummary
        The targets; all their rates fit on the scale.

    Returns
    -------
    Scale
        It need not begin at zero: positions are compared, not lengths from zero.
    """
    rates = [
        rate
        for target in targets
        for side in _four(target)
        for rate in (side.rate_in, side.rate_out)
        if rate is not None
    ]
    low, high = min(rates, default=0.0), max(rates, default=1.0)
    return linear_scale(low, high, count=5)


def gap_rows(
    target: TargetSummary, scale: Scale, many: str, *, kept: bool
) -> tuple[GapRows, GapRows]:
    """Place a target's rates before and after, on all rows and on the held-out ones.

    Parameters
    ----------
    target : TargetSummary
        The target.
    scale : Scale
        From :func:`gap_scale`.
    many : str
        What the rows are called.
    kept : bool
        False if the original model stays, and there is no after.

    Returns
    -------
    tuple of GapRows
        Sides without rows have no gap to draw.
    """
    few = target.held_out_before
    remark = "" if enough(few) else f"fewer than {FEW} on one side: too few to tell"
    return (
        _rows(f"All {many}", target.before, target.after if kept else None, scale, ""),
        _rows(f"Held-out {many}", few, target.held_out_after if kept else None, scale, remark),
    )


def _rows(
    label: str, before: RatesSummary, after: RatesSummary | None, scale: Scale, remark: str
) -> GapRows:
    drawn = [_gap("Before" if after else "Original model", before, scale, after=False)]
    drawn += [_gap("After", after, scale, after=True)] if after else []
    gaps = tuple(gap for gap in drawn if gap is not None)
    return GapRows(label, gaps, remark or ("" if gaps else "nobody on one side"))


def _gap(label: str, rates: RatesSummary, scale: Scale, *, after: bool) -> Gap | None:
    if rates.rate_in is None or rates.rate_out is None or rates.difference is None:
        return None
    inside, outside = scale.place(rates.rate_in), scale.place(rates.rate_out)
    title = (
        f"{label}: {percent(rates.rate_in)} in the group, {percent(rates.rate_out)} outside, "
        f"{points(rates.difference)}"
    )
    left, right = percent(rates.rate_in), percent(rates.rate_out)
    if inside > outside:
        left, right = right, left
    return Gap(
        label=label,
        inside=inside,
        outside=outside,
        start=min(inside, outside),
        width=round(abs(inside - outside), 1),
        left=left,
        right=right,
        side="less" if rates.difference < 0 else "more",
        after=after,
        value=points(rates.difference),
        title=title,
    )


def _four(target: TargetSummary) -> tuple[RatesSummary, ...]:
    return (target.before, target.after, target.held_out_before, target.held_out_after)


def shift_scale(groups: Iterable[GroupChange | TargetSummary]) -> Scale:
    """Make the scale of differences on which several groups are drawn; zero is on it."""
    values = [-0.01, 0.01]
    for group in groups:
        for side in (group.before, group.after):
            values += [] if side.difference is None else [side.difference]
        values += list(group.after.interval or ())
    return linear_scale(max(min(values), -1.0), min(max(values), 1.0), count=5, write=tick_points)


def shifts(groups: Sequence[GroupChange | TargetSummary], scale: Scale) -> tuple[Shift, ...]:
    """Place groups' differences before and after.

    Parameters
    ----------
    groups : sequence of GroupChange or TargetSummary
        The groups; those without a difference after are left out.
    scale : Scale
        From :func:`shift_scale`.

    Returns
    -------
    tuple of Shift
    """
    return tuple(
        _shift(group, group.after.difference, scale)
        for group in groups
        if group.after.difference is not None
    )


def _shift(group: GroupChange | TargetSummary, after: float, scale: Scale) -> Shift:
    at = scale.place(after)
    ends = group.after.interval
    low, high = (at, at) if ends is None else (scale.place(ends[0]), scale.place(ends[1]))
    title = f"{points(group.before.difference)} before, {points(after)} after"
    if ends is not None:
        title += f", population interval {interval(ends)}"
    before = None if group.before.difference is None else scale.place(group.before.difference)
    side: Side = "less" if after < 0 else "more"
    whisker = Whisker(at, low, round(high - low, 1), at, 0.0, side, title)
    start = at if before is None else min(at, before)
    width = 0.0 if before is None else round(abs(at - before), 1)
    return Shift(group, before, whisker, start, width, points(after), title)


def trade_off(summary: MitigationSummary) -> TradeOff | None:
    """Place all candidates by the accuracy they lose and the score they reach.

    Parameters
    ----------
    summary : MitigationSummary
        The mitigation.

    Returns
    -------
    TradeOff or None
        None if no candidate has a score.
    """
    known = [
        (candidate, reached)
        for candidate in summary.candidates
        if (reached := candidate_score(candidate)) is not None
    ]
    if not known:
        return None
    limit = summary.settings.max_accuracy_drop
    drops = [candidate.accuracy_drop for candidate, _ in known]
    right = max(_BUDGETS_SHOWN * limit, 1.5 * min(drops), 0.6)
    right = min(right, max(*drops, 1.5 * limit, 0.1))
    shown = [(one, reached) for one, reached in known if one.accuracy_drop <= right]
    before = largest(target.choice_before for target in summary.targets)
    x_scale = _lost_scale(min([*drops, 0.0]), right)
    heights = [reached for _, reached in shown] + ([] if before is None else [before])
    y_scale = linear_scale(0.0, max(heights), count=5)
    marked = [
        (_place(one.accuracy_drop, reached, x_scale, y_scale), _label(one, summary), _title(one))
        for one, reached in shown
        if one.chosen
    ]
    if before is not None:
        title = f"The original model, difference {score(before)} points"
        marked.append((_place(0.0, before, x_scale, y_scale), "original", title))
    labels = place_labels([at for at, _, _ in marked], [label for _, label, _ in marked])
    marks = tuple(
        Chosen(*at, label, title) for (at, _, title), label in zip(marked, labels, strict=True)
    )
    dots = tuple(
        Candidate(*_place(one.accuracy_drop, reached, x_scale, y_scale), one.allowed, one.kind)
        for one, reached in shown
        if not one.chosen
    )
    return TradeOff(
        x_scale=x_scale,
        y_scale=y_scale,
        points=dots,
        kinds=tuple(kind for kind in ("none", *KINDS) if any(one.kind == kind for one in dots)),
        chosen=marks if before is None else marks[:-1],
        budget=x_scale.place(limit / 100),
        origin=None if before is None else marks[-1],
        beyond=len(known) - len(shown),
        title=f"Accuracy lost against difference, of {plural(len(known), 'candidate')}; "
        f"{count(sum(one.allowed for one, _ in known))} allowed",
    )


def _place(drop: float, reached: float, x_scale: Scale, y_scale: Scale) -> tuple[float, float]:
    return x_scale.place(drop / 100), round(100 - y_scale.place(reached), 1)


def _label(one: CandidateSummary, summary: MitigationSummary) -> str:
    return f"{one.run}, kept" if one.run == summary.kept_run else str(one.run)


def _title(one: CandidateSummary) -> str:
    return (
        f"Run {one.run}, chosen: {plural(one.samples, 'sample')} of the kind {one.kind}, weight "
        f"{weight(one.weight)}, {one.stage}; accuracy "
        f"{accuracy_change(one.accuracy_drop)} points, difference {score(candidate_score(one))} "
        "points"
    )


def _lost_scale(low: float, high: float) -> Scale:
    """Make a scale of points of accuracy, which are no shares."""
    scale = linear_scale(low / 100, high / 100, count=6)
    ticks = tuple(
        replace(tick, label=tick.label.removesuffix("%").replace("-", MINUS))
        for tick in scale.ticks
    )
    return replace(scale, ticks=ticks)
