"""What is drawn of a mitigation: rates and differences before and after, and all candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from testsgd.auditing.report.vocabulary import words_for
from testsgd.data import Outcome
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.phrases import FEW, candidate_score, estimated
from testsgd.mitigation.report.summary import (
    CandidateSummary,
    GroupChange,
    MitigationSummary,
    RatesSummary,
    TargetSummary,
)
from testsgd.report.blocks import Figure
from testsgd.report.charts import (
    Area,
    Highlight,
    Mark,
    Plane,
    Shape,
    Side,
    StripRow,
    Strips,
    Symbol,
    Threshold,
)
from testsgd.report.formatting import MINUS, count, interval, percent, plural, points, size
from testsgd.report.scales import Scale, difference_scale, linear_scale

# What the colours mean, by what the label is for a person who is given it, as in an audit.
_SIDE_COLOURS: dict[Outcome, str] = {
    "benefit": "Orange: the group is given it less often, and is worse off. Blue: more often.",
    "harm": "Orange: the group is given it more often, and is worse off. Blue: less often.",
    "neither": "Orange: the group is given it less often. Blue: more often.",
}
_SHIFT_COLOURS: dict[Outcome, str] = {
    "benefit": "Orange, to the left: less often, worse off. Blue, to the right: more often.",
    "harm": "Orange, to the right: more often, worse off. Blue, to the left: less often.",
    "neither": "Orange, to the left: less often. Blue, to the right: more often.",
}

# Candidates that lose more than this many budgets are not drawn, if others are.
_BUDGETS_SHOWN = 3.0

# The kinds of samples, in the order in which they are tried, with their shapes.
_SHAPES: dict[str, Shape] = {
    "none": "cross",
    "counter": "circle",
    "odds": "square",
    "shifted": "triangle",
    "anchored": "wedge",
}


def gap_scale(targets: Iterable[TargetSummary]) -> Scale:
    """Return the one scale of rates on which all targets are drawn.

    It need not begin at zero: positions are compared, not lengths from zero.
    """
    sides: list[RatesSummary] = []
    for target in targets:
        sides += [target.before, target.after, target.held_out_before, target.held_out_after]
    rates = [rate for side in sides for rate in (side.rate_in, side.rate_out) if rate is not None]
    return linear_scale(min(rates, default=0.0), max(rates, default=1.0), count=5)


def gaps(target: TargetSummary, summary: MitigationSummary, *, caption: bool) -> Figure:
    """Draw a target's rates before and after, on all rows and on the held-out ones."""
    words, kept = words_for(summary.data.kind), summary.chosen_run is not None
    outcome = summary.data.label.outcome
    few = target.held_out_before
    remark = "" if phrases.enough(few) else f"fewer than {FEW} on one side: too few to tell"
    parts = (
        _rates(
            f"All {words.many}",
            target.before,
            target.after if kept else None,
            remark="",
            outcome=outcome,
        ),
        _rates(
            f"Held-out {words.many}",
            few,
            target.held_out_after if kept else None,
            remark=remark,
            outcome=outcome,
        ),
    )
    about = (
        f"How often predicted “{summary.data.label.favourable}”: the filled dot is the group, the "
        f"ring is {words.others}, and the line between them is the difference. "
        f"{_SIDE_COLOURS[outcome]}"
    )
    return Figure(
        "Rates in the group and outside, before and after",
        (Strips(parts, gap_scale(summary.targets), zero=False),),
        about if caption else "",
    )


def _rates(
    label: str,
    before: RatesSummary,
    after: RatesSummary | None,
    *,
    remark: str,
    outcome: Outcome,
) -> tuple[str, tuple[StripRow, ...]]:
    """Draw the rates of one set of rows; what is doubtful about it should not catch the eye."""
    faint = bool(remark)
    drawn = [
        _gap("Before" if after else "Original model", before, faint=faint, outcome=outcome),
        None if after is None else _gap("After", after, faint=faint, outcome=outcome),
    ]
    rows = tuple(row for row in drawn if row is not None)
    remark = remark or ("" if rows else "nobody on one side")
    return f"{label} ({remark})" if remark else label, rows


def _side(difference: float, outcome: Outcome) -> Side:
    """Return the colour of a difference: orange, that of "less", for those who are worse off."""
    worse = difference > 0 if outcome == "harm" else difference < 0
    return "less" if worse else "more"


def _gap(label: str, rates: RatesSummary, *, faint: bool, outcome: Outcome) -> StripRow | None:
    inside, outside = rates.rate_in, rates.rate_out
    if inside is None or outside is None or rates.difference is None:
        return None
    return StripRow(
        label,
        points(rates.difference),
        title=f"{label}: {percent(inside)} in the group, {percent(outside)} outside, "
        f"{points(rates.difference)}",
        marks=(
            Mark(outside, shape="rest", text=percent(outside)),
            Mark(inside, text=percent(inside)),
        ),
        line=(outside, inside),
        side=_side(rates.difference, outcome),
        faint=faint,
    )


def shift_scale(groups: Iterable[GroupChange | TargetSummary]) -> Scale:
    """Return the scale of differences on which several groups are drawn; zero is on it."""
    values: list[float | None] = []
    for group in groups:
        values += [group.before.difference, group.after.difference]
        values += group.after.confidence_interval or ()
    return difference_scale([value for value in values if value is not None])


def shifts(
    groups: Sequence[GroupChange | TargetSummary],
    scale: Scale,
    label: str,
    *,
    outcome: Outcome = "benefit",
    links: bool = False,
    caption: bool = True,
) -> Figure:
    """Draw groups' differences before and after; those that are not known after are left out."""
    rows = tuple(
        _shift(group, group.after.difference, outcome=outcome, links=links)
        for group in groups
        if group.after.difference is not None
    )
    about = (
        "Difference in percentage points. The grey ring is the difference before; the dot is the "
        "difference after, with its confidence interval as a thin line. "
        f"{_SHIFT_COLOURS[outcome]}"
    )
    return Figure(label, (Strips((("", rows),), scale),), about if caption else "")


def _shift(
    group: GroupChange | TargetSummary, after: float, *, outcome: Outcome, links: bool
) -> StripRow:
    before, ends = group.before.difference, group.after.confidence_interval
    title = f"{points(before)} before, {points(after)} after"
    if ends is not None:
        title += f", confidence interval {interval(ends)}"
    side = _side(after, outcome)
    marks = () if before is None else (Mark(before, shape="was", side=_side(before, outcome)),)
    is_target = isinstance(group, GroupChange) and group.target
    return StripRow(
        group.text,
        points(after),
        title=title,
        marks=(*marks, Mark(after, interval=ends, side=side)),
        line=None if before is None else (before, after),
        side=side,
        note="target" if is_target else "",
        to=f"target-{group.rank}" if links and isinstance(group, TargetSummary) else "",
        units=tuple(rule.text for rule in group.rules),
    )


def trade_off(summary: MitigationSummary) -> Figure | None:
    """Draw all candidates by the accuracy they lose and the score they reach, if they have any."""
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
    shown = [pair for pair in known if pair[0].accuracy_drop <= right]
    before = phrases.largest(target.choice_before for target in summary.targets)
    across = lost_scale(min([*drops, 0.0]) / 100, right / 100)
    heights = [reached for _, reached in shown] + ([] if before is None else [before])
    upwards = linear_scale(0.0, max(heights), count=5)
    chosen = [pair for pair in shown if pair[0].chosen]
    others = [pair for pair in shown if not pair[0].chosen]
    marked = []
    for candidate, reached in chosen:
        kept = ", kept" if candidate.run == summary.chosen_run else ""
        place = candidate.accuracy_drop / 100, reached
        marked.append(Highlight(*place, f"{candidate.run}{kept}", _chosen(candidate), "more"))
    if before is not None:
        title = f"The original model, difference {size(before)} points"
        if summary.fitted_anew is not None:
            title += "; accuracy is that of the original fitted anew"
        marked.append(Highlight(0.0, before, "original", title, "more", shape="ring"))
    words, lost = words_for(summary.data.kind), limit / 100
    where = "estimated" if estimated(summary.split) else f"validation {words.many}"
    kinds = [kind for kind in _SHAPES if any(candidate.kind == kind for candidate, _ in others)]
    forbidden = ((lost, 0.0), (across.high, 0.0), (across.high, upwards.high), (lost, upwards.high))
    chart = Plane(
        title=f"Accuracy lost against difference, of {plural(len(known), 'candidate')}; "
        f"{count(sum(candidate.allowed for candidate, _ in known))} allowed",
        about=" ".join(f"{_chosen(candidate)}." for candidate, _ in chosen)
        or "No candidate was chosen.",
        across=across,
        upwards=upwards,
        name=f"Difference{of_the_worst(summary)}, percentage points",
        below=f"Points of accuracy lost, {where}",
        areas=(Area(forbidden),),
        thresholds=(Threshold(lost, f"{phrases.budget(limit)} allowed", upright=True),),
        symbols=tuple(
            Symbol(
                candidate.accuracy_drop / 100,
                reached,
                _SHAPES[candidate.kind],
                "more" if candidate.allowed else "soft",
            )
            for candidate, reached in others
        ),
        highlights=tuple(marked),
        keys=tuple((_SHAPES[kind], kind) for kind in kinds) if len(kinds) > 1 else (),
        keys_name="Samples:",
    )
    return Figure("All candidates", (chart,), _about(summary, beyond=len(known) - len(shown)))


def of_the_worst(summary: MitigationSummary) -> str:
    """Return whose difference candidates are judged by, if there are several targets."""
    return " of the worst target" if len(summary.targets) > 1 else ""


def _chosen(candidate: CandidateSummary) -> str:
    return (
        f"Run {candidate.run}, chosen: {plural(candidate.samples, 'sample')} of the kind "
        f"{candidate.kind}, weight {phrases.weight(candidate.weight)}, {candidate.stage}; accuracy "
        f"{phrases.accuracy_change(candidate.accuracy_drop)} points, difference "
        f"{size(candidate_score(candidate))} points"
    )


def _about(summary: MitigationSummary, *, beyond: int) -> str:
    """Write by which data the drawing is, and what is not in it."""
    words, split = words_for(summary.data.kind), summary.split
    validation = plural(split.validation, f"validation {words.one}")
    everything = f"all {words.many} but the held-out ones"
    gain = f"; left of zero is a gain. Differences are those on {everything}."
    judged = {
        "labels": f"Accuracy is that on the {validation}{gain}",
        "probabilities": f"Accuracy lost is the larger of two estimates: on the {validation}, and "
        f"as cross-fitted probabilities expect it on {everything}{gain}",
        "cross-validation": "Accuracy lost is that of repeated cross-validation on "
        f"{everything}, and so are differences; left of zero is a gain.",
    }[split.evaluated_by]
    if summary.fitted_anew is not None:
        judged += (
            " Zero is the accuracy of the original fitted anew; the ring is the difference of the "
            "original as given."
        )
    if beyond:
        are = "is" if beyond == 1 else "are"
        judged += f" {plural(beyond, 'model')} further right {are} not drawn."
    return judged


def lost_scale(low: float, high: float) -> Scale:
    """Return a scale of accuracy lost, given as shares, whose labels are points."""
    scale = linear_scale(low, high, count=6)
    ticks = tuple(
        replace(tick, label=tick.label.removesuffix("%").replace("-", MINUS))
        for tick in scale.ticks
    )
    return replace(scale, ticks=ticks)
