"""What is drawn of an audit: differences, rates, heat maps, and all groups by size and score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from testsgd.auditing.report.subject import outcome_is_assumed
from testsgd.auditing.report.summary import (
    FEWEST_SHOWN,
    AuditSummary,
    CellRate,
    CounterfactualSummary,
    GroupSummary,
    HeatMap,
)
from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.wording import by_terms, spoken_difference
from testsgd.data import Outcome
from testsgd.report import charts as shapes
from testsgd.report.blocks import Block, Details, Figure, Only, Paragraph
from testsgd.report.formatting import (
    count,
    interval,
    percent,
    plural,
    points,
    signed,
    size_points,
    tick_points,
)
from testsgd.report.scales import Scale, difference_scale, linear_scale, rate_scale
from testsgd.report.summaries import row_parts, values_of

# What the colours of differences mean, by what the label is for a person. Without a description
# it is not known, and no side is called worse off.
_COLOURS: dict[Outcome, str] = {
    "benefit": "Orange, to the left: less often, worse off. Blue, to the right: more often.",
    "harm": "Orange, to the right: more often, worse off. Blue, to the left: less often.",
    "neither": "Orange, to the left: less often. Blue, to the right: more often.",
}
# Below this many rows a rate says little; heat maps set it apart.
FEW_ROWS = 30
_OPEN_HEAT_MAPS = 3
_STEPS = 4
_STEP_SIZES = (0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.25)


def groups_scale(groups: Sequence[GroupSummary]) -> Scale:
    """Return the one scale on which all that is drawn of the first groups' differences fits."""
    values: list[float] = []
    for group in groups:
        values += [*group.confidence_interval, group.difference - group.margin]
        values.append(group.difference + group.margin)
        values += [part.difference for part in group.rules_alone if part.difference is not None]
        values += [] if group.counterfactual is None else group.counterfactual.confidence_interval
        values += partial_sums(group)
    return difference_scale(values)


def partial_sums(group: GroupSummary) -> list[float]:
    """Return what the first rules of a group add up to, one after the other."""
    added = group.explanation.shapley_values if group.explanation else []
    return list(accumulate(item.value for item in added))


def first_groups(summary: AuditSummary, groups: Sequence[GroupSummary], words: Words) -> Figure:
    """Draw the differences of the first groups with their intervals."""
    guarantee = summary.guarantee
    scope = ""
    if guarantee.kind == "simultaneous":
        scope = f", simultaneous for {plural(guarantee.groups, 'group')}"
    elif guarantee.kind == "fdr":
        scope = ", adjusted for the selection of discoveries"
    leads = by_terms(summary)
    what, ring = "difference", "counterfactual effect of the terms"
    if leads:
        what, ring = ring, "difference from other texts"
    caption = f"In percentage points. The dot, and the number at the right, is the {what}; "
    caption += f"the thin line with ends is the confidence interval{scope}"
    caption += "; the thick band is the sampling margin" * (summary.mode == "sampled") + "."
    if any(group.counterfactual for group in groups):
        caption += f" The ring is the {ring}."
    rows = []
    values = values_of(groups)
    for group in groups:
        effect = group.counterfactual
        marks = [_mark(group, words)]
        titles = [_title(group)]
        if effect is not None:
            marks.append(_effect_mark(effect, words))
            titles.append(_effect_title(effect))
        if leads:
            # The dot is what the groups are ranked by, which the headline speaks of.
            marks.reverse()
            titles.reverse()
        marks[1:] = [replace(mark, shape="ring") for mark in marks[1:]]
        spoken = spoken_difference(group, summary)
        parts = row_parts(group, values)
        rows.append(
            shapes.StripRow(
                " and ".join(parts.get("brief", ())) or group.text,
                points(spoken),
                title="; ".join(titles),
                marks=tuple(marks),
                side=_side(spoken, words),
                levels=effect is not None,
                to=f"group-{group.rank}",
                units=parts.get("brief", parts["units"]),
            )
        )
    return Figure(
        "Differences of the top groups, in percentage points",
        (shapes.Strips((("", tuple(rows)),), groups_scale(groups)),),
        f"{caption} {_COLOURS['neither' if outcome_is_assumed(summary) else words.outcome]}",
    )


def group_parts(group: GroupSummary, scale: Scale, words: Words) -> Figure:
    """Draw what each rule of a group gives on its own, and all together."""
    rows = []
    for part in group.rules_alone if len(group.rules_alone) > 1 else ():
        against = f"; {words.nothing_outside}"
        if part.rate_out is not None:
            against = f" against {percent(part.rate_out)}"
        detail = f"{plural(part.n_in, words.one)}, {percent(part.rate_in)}{against}"
        mark = None
        if part.difference is not None:
            mark = shapes.Mark(part.difference, side=_side(part.difference, words))
        rows.append(_strip(part.text, part.difference, mark, words=words, detail=detail))
    several = len(group.rules) > 1
    name = f"All {words.rule}s together" if several else "Against other texts"
    detail = f"{plural(group.n_in, words.one)}, {_against(group.rate_in, group.rate_out)}"
    rows.append(
        _strip(
            name,
            group.difference,
            _mark(group, words),
            words=words,
            title=_title(group),
            detail=detail,
            together=True,
        )
    )
    if effect := group.counterfactual:
        name = "Against other terms in the same texts"
        detail = f"{plural(effect.seeds, 'text')}, {_against(effect.rate_with, effect.rate_other)}"
        rows.append(
            _strip(
                name,
                effect.difference,
                _effect_mark(effect, words),
                words=words,
                title=_effect_title(effect),
                detail=detail,
                together=True,
            )
        )
    label = f"Differences of each {words.rule} alone and of all together"
    return Figure(label, (shapes.Strips((("", tuple(rows)),), scale),))


def _strip(
    name: str,
    difference: float | None,
    mark: shapes.Mark | None,
    *,
    words: Words,
    title: str | None = None,
    detail: str = "",
    together: bool = False,
    segments: tuple[shapes.Segment, ...] = (),
) -> shapes.StripRow:
    """Draw one difference, as a mark if it is known; without a title it is the difference."""
    return shapes.StripRow(
        name,
        points(difference),
        title=points(difference) if title is None else title,
        marks=() if mark is None else (mark,),
        side=_side(difference or 0.0, words),
        detail=detail,
        together=together,
        segments=segments,
    )


def _against(rate: float, other: float) -> str:
    return f"{percent(rate)} against {percent(other)}"


def group_steps(group: GroupSummary, scale: Scale, words: Words) -> Figure | None:
    """Draw what each rule of a group adds; None if there are no rules to tell apart."""
    added = group.explanation.shapley_values if group.explanation else []
    if len(added) < 2:
        return None
    ends = [0.0, *partial_sums(group)]
    rows = []
    for item, *both in zip(added, ends, ends[1:], strict=False):
        step = shapes.Segment(min(both), max(both), _side(item.value, words))
        rows.append(_strip(item.text, item.value, None, words=words, segments=(step,)))
    label = f"What each {words.rule} adds to the difference"
    return Figure(label, (shapes.Strips((("", tuple(rows)),), scale),))


def group_rates(group: GroupSummary, scale: Scale, label: str, words: Words) -> Figure:
    """Draw the rates of a group, with other terms, and of its complement, as bars."""
    side = _side(group.difference, words)
    bars = [shapes.RateBar("In the group", group.rate_in, percent(group.rate_in), tone=side)]
    if effect := group.counterfactual:
        bar = shapes.RateBar("Other terms", effect.rate_other, percent(effect.rate_other))
        less = _side(effect.difference, words) == "less"
        bars.append(replace(bar, tone="ring-less" if less else "ring-more"))
    bars.append(shapes.RateBar("Complement", group.rate_out, percent(group.rate_out)))
    title = words.how_often(label)
    return Figure(title, (shapes.RateBars(title, tuple(bars), scale),))


def sides_scale(groups: Sequence[GroupSummary]) -> Scale:
    """Return the scale of the rates of the first groups."""
    rates = [rate for group in groups for rate in (group.rate_in, group.rate_out)]
    rates += [group.counterfactual.rate_other for group in groups if group.counterfactual]
    return rate_scale(rates)


def feature_bars(summary: AuditSummary, words: Words) -> tuple[Figure, Scale]:
    """Draw the rates over the values of each feature, or the terms of each category."""
    features = summary.charts.features
    cells = [cell.rate for feature in features for cell in feature.cells]
    scale = rate_scale([*cells, summary.overall_rate])
    texts = words.kind == "texts"
    charts = []
    for feature in features:
        about = f"in {plural(feature.cells[0].n, 'text')}" if texts else ""
        named = [
            (cell, _between(cell) if texts else plural(cell.n, "row")) for cell in feature.cells
        ]
        bars = tuple(
            shapes.RateBar(cell.label, cell.rate, percent(cell.rate), rows) for cell, rows in named
        )
        charts.append(shapes.RateBars(feature.feature, bars, scale, summary.overall_rate, about))
    return Figure(f"Rates by {words.feature}", tuple(charts)), scale


def _between(cell: CellRate) -> str:
    """Write the interval of a rate; empty if it is not known."""
    known = cell.confidence_interval
    return "" if known is None else f"{percent(known[0])} to {percent(known[1])}"


def heat_maps(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    """Draw the rates over pairs of features, or of categories of terms.

    Rows are shaded from the overall rate. Texts are shaded from the mean of each map, whose cells
    all come from the same texts: their distance from the overall rate is mostly that of these.
    """
    maps = summary.charts.heat_maps
    centre = summary.overall_rate or 0.0
    what = "features"
    where = "overall rate"
    # Orange is for those who are worse off.
    sign = -1 if words.outcome == "harm" else 1
    orange, blue = ("above", "below") if words.outcome == "harm" else ("below", "above")
    centres = [centre] * len(maps)
    step = _step(maps, centre)
    if words.kind == "texts":
        what = "categories"
        where = "mean of the map"
        centres = [_mean_rate(item) for item in maps]
        step = max(_step([item], mean) for item, mean in zip(maps, centres, strict=True))

    def cell(rate: float | None, rows: int, centre: float) -> shapes.HeatCell:
        if rate is None:
            none = f"no {words.many}" if not rows else f"no samples of {plural(rows, words.one)}"
            if words.kind == "rows" and 0 < rows < FEWEST_SHOWN:
                none = f"no rate of fewer than {FEWEST_SHOWN} {words.many}"
            return shapes.HeatCell("", None, none)
        text = f"{100 * rate:.0f}" if rate == 0 or rate >= 0.0995 else f"{100 * rate:.1f}"
        title = f"{percent(rate)}, {signed(rate - centre)}, {plural(rows, words.one)}"
        steps = round(sign * (rate - centre) / step)
        return shapes.HeatCell(text, steps, title, few=rows < FEW_ROWS)

    charts = []
    for item, mean in zip(maps, centres, strict=True):
        most = max((rows for line in item.counts for rows in line), default=0)
        about = f", {plural(most, 'text')}, mean {percent(mean)}" if words.kind == "texts" else ""
        cells = []
        for label, *line in zip(item.row_labels, item.rates, item.counts, strict=True):
            known = zip(*line, strict=True)
            cells.append((label, tuple(cell(rate, rows, mean) for rate, rows in known)))
        names = (item.row_feature, item.column_feature)
        columns = tuple(item.column_labels)
        charts.append(shapes.HeatMap(*names, columns, tuple(cells), about))
    labels = tuple(tick_points(sign * index * step) for index in range(-_STEPS, _STEPS + 1))
    keys = Figure(
        f"Colours: orange {orange} the {where}, blue {blue} it",
        (shapes.HeatKeys(f"points from the {where}", labels),),
    )
    shown = tuple(charts[:_OPEN_HEAT_MAPS])
    more = tuple(charts[_OPEN_HEAT_MAPS:])
    pairs = f"Rates over pairs of {what}"
    folded = Details(f"{plural(len(more), 'more pair')} of {what}", (Figure(pairs, more),))
    return keys, Figure(pairs, shown), *((folded,) if more else ())


def all_groups(summary: AuditSummary, marked: Sequence[GroupSummary], words: Words) -> Block:
    """Draw all frequent groups by support and score, some of them singled out."""
    charts = summary.charts
    gate = summary.parameters.fail_above
    fewest = summary.unjudged.fewest
    smallest = fewest / max(1, summary.data.rows)
    supports = [cell.support for cell in charts.scatter] + [group.support for group in marked]
    scores = [cell.score for cell in charts.scatter] + [group.score for group in marked]
    largest = max((cell.n for cell in charts.scatter), default=1)
    binned = charts.scatter_binned
    gates = () if gate is None else (shapes.Threshold(gate),)
    chart = shapes.Plane(
        title=f"Support against score of {plural(summary.counts.groups, 'group')}; "
        f"{len(marked)} marked, with their numbers in the table above",
        name="Score, percentage points",
        across=linear_scale(0.0, max([*supports, smallest]), count=5),
        upwards=linear_scale(0.0, max([*scores, gate or 0.0]), count=5),
        points=() if binned else tuple((cell.support, cell.score) for cell in charts.scatter),
        tiles=tuple(
            shapes.Tile(cell.support, cell.score, math.log(cell.n + 1) / math.log(largest + 1))
            for cell in charts.scatter
            if binned
        ),
        highlights=tuple(
            shapes.Highlight(
                group.support,
                group.score,
                str(group.rank),
                f"{group.rank}. {group.text}: {points(group.difference)}, "
                f"{percent(group.support)} of the {words.many}",
                _side(group.difference, words),
            )
            for group in marked
        ),
        thresholds=(shapes.Threshold(smallest, upright=True), *gates),
        below="",
    )
    about = (
        "Large groups are to the right, groups that the model treats very differently are at the "
        "top. Each point is a group."
    )
    if binned:
        about = (
            "Large groups are to the right, groups that the model treats very differently are at "
            "the top. There are too many groups for a point each: a tile stands for groups of "
            "about the same size and score. The darker it is, the more groups there are, at most "
            f"{count(largest)} in a tile."
        )
    if marked:
        about += " Diamonds are the groups shown first."
    caption = (
        f"Across: support, {words.support}. The upright dashed line is the smallest support that "
        f"was looked at, {plural(fewest, words.one, words.many)}."
    )
    if gate is not None:
        caption += f" The level dashed line is the gate, {size_points(gate)}."
    return Only("html", (Paragraph(about), Figure("All groups", (chart,), caption)))


def _mark(group: GroupSummary, words: Words) -> shapes.Mark:
    margin = (group.difference - group.margin, group.difference + group.margin)
    return shapes.Mark(
        group.difference,
        group.confidence_interval,
        margin if group.margin else None,
        side=_side(group.difference, words),
    )


def _effect_mark(effect: CounterfactualSummary, words: Words) -> shapes.Mark:
    return shapes.Mark(
        effect.difference,
        effect.confidence_interval,
        side=_side(effect.difference, words),
    )


def _title(group: GroupSummary) -> str:
    title = f"{points(group.difference)}; confidence interval {interval(group.confidence_interval)}"
    return title if group.exact else f"{title}; sampling margin {size_points(group.margin)}"


def _effect_title(effect: CounterfactualSummary) -> str:
    ends = interval(effect.confidence_interval)
    return f"counterfactual effect: {points(effect.difference)}; confidence interval {ends}"


def _side(difference: float, words: Words) -> shapes.Side:
    """Return the colour of a difference: that of "less" for those who are worse off by it."""
    worse = difference > 0 if words.outcome == "harm" else difference < 0
    return "less" if worse else "more"


def _step(maps: Sequence[HeatMap], centre: float) -> float:
    """Return how large a difference from the centre one shade stands for."""
    every = [
        (abs(rate - centre), rows)
        for heat_map in maps
        for rates, counts in zip(heat_map.rates, heat_map.counts, strict=True)
        for rate, rows in zip(rates, counts, strict=True)
        if rate is not None
    ]
    # A rate over three rows would stretch the colours for all others.
    reliable = [size for size, rows in every if rows >= FEW_ROWS] or [size for size, _ in every]
    needed = max(reliable, default=0.0) / _STEPS
    return next((size for size in _STEP_SIZES if size >= needed - 1e-9), _STEP_SIZES[-1])


def _mean_rate(heat_map: HeatMap) -> float:
    """Return the mean of a heat map's rates, every cell counted once; 0 if it has none."""
    rates = [rate for line in heat_map.rates for rate in line if rate is not None]
    return sum(rates) / len(rates) if rates else 0.0
