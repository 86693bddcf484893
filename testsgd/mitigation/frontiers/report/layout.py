"""How a frontier is laid out as a report: the picture first."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.auditing.report.provenance import data_facts
from testsgd.auditing.report.vocabulary import words_for
from testsgd.mitigation.compared_rates import SELECTION_RATE
from testsgd.mitigation.frontiers.report.summary import FrontierSummary, PointSummary
from testsgd.mitigation.frontiers.report.verdict import (
    accuracy_points,
    best_of_ceiling,
    has_base_rates,
    improved,
    least_rows,
    status_name,
)
from testsgd.mitigation.report.charts import lost_scale
from testsgd.mitigation.report.phrases import budget
from testsgd.mitigation.report.side_effects import growth_text
from testsgd.report.blocks import (
    Block,
    Column,
    Document,
    Facts,
    Figure,
    KeyFigure,
    KeyFigures,
    Note,
    Paragraph,
    Row,
    Section,
    Standing,
    Status,
    Strong,
    Table,
    Text,
    meaning_section,
)
from testsgd.report.charts import Area, Highlight, Plane, Shape, Symbol, Threshold
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    moment,
    number,
    percent,
    plural,
    points,
    shorten,
    size,
    size_points,
)
from testsgd.report.scales import linear_scale
from testsgd.report.summaries import origin, time_facts, version_facts

_STANDINGS: dict[int, Standing] = {0: "good", 1: "bad", 3: "open"}
_METHODS = {
    "play": "play: refits with weights against the groups that are worst",
    "thresholds": "thresholds for each combination of sensitive values",
    "ensemble": "ensemble: thresholds for each combination of sensitive values, of the mean score "
    "of a boosting, a forest and a logistic regression",
    "penalty": "penalty: a network trained on against the worst difference",
}
_GROUP_LIMIT = 120
# What tables of points say of each, behind its name.
_OF_POINT = (
    Column("worst difference", "strong", under="held out", short="worst"),
    Column("accuracy", "number", under="change, held out", short="accuracy"),
    Column("interval", "number", under="of that change"),
    Column("balanced", "number", under="change, held out", short="balanced"),
    Column("worst expected", "number", under="before held out", short="expected"),
    Column("accuracy expected", "number", under="change"),
    Column("the worst group", "text"),
)


def frontier_layout(summary: FrontierSummary) -> Document:
    """Lay a frontier out as a report; nothing is computed again."""
    verdict, data = summary.verdict, summary.data
    name = status_name(summary)
    subject = f"{summary.original.name} on {data.title or data.name}"
    return Document(
        what="Mitigation",
        subject=subject,
        heading=f"{name}: {subject}",
        status=Status(name, _STANDINGS[verdict.exit_code]),
        headline=verdict.headline,
        figures=(key_figures(summary),),
        sentences=tuple(verdict.sentences),
        opening=(Paragraph(_definition(summary), "definition"),),
        sections=(
            Section("frontier", "The frontier", _frontier(summary)),
            Section("cost", "Who pays", _paying(summary)),
            Section(
                "particulars",
                "Data, model and settings",
                _particulars(summary),
                contents="Data, model, settings",
                markdown="folded",
                folded=True,
            ),
            meaning_section(_notes(summary)),
        ),
        closing="The picture is in the HTML report." if _has_picture(summary) else "",
        **origin(summary),
    )


def key_figures(summary: FrontierSummary) -> KeyFigures:
    """Answer whether it helped, what it cost, and whether a group pays."""
    point, effects = summary.point, summary.effects
    cost = None if point is None else _cost_figure(summary, point)
    if not summary.groups:
        compared = KeyFigure("Worst difference of all groups", NOTHING, ("no group is compared",))
        return KeyFigures((compared,) if cost is None else (compared, cost))
    before = size_points(summary.worst_before.size)
    if point is None or cost is None:
        return KeyFigures((KeyFigure("Worst difference", before, ("nothing was changed",), "bad"),))
    change = "" if summary.worst_change is None else f"change: {interval(summary.worst_change)}"
    better = improved(summary)
    doubt = "" if better else "no improvement"
    if better and summary.verdict.status == "not_certain":
        doubt = "which chance may explain"
    worst = KeyFigure(
        "Worst difference of all groups",
        f"{size(summary.worst_before.size)} \N{RIGHTWARDS ARROW} {size_points(point.worst.size)}",
        (
            f"of {plural(summary.groups, 'group')}, {count(summary.split.held_out)} held-out rows",
            *filter(None, ("; ".join(filter(None, (change, doubt))),)),
        ),
        "bad" if not better else "" if doubt else "good",
    )
    if effects is None:
        return KeyFigures((worst, cost))
    paying = effects.exceeded_count + effects.lossy_count
    unclear = effects.unclear_count + effects.unclear_losses
    pays = KeyFigure(
        "Does a group pay?",
        "yes" if paying else "not certain" if unclear else "none found",
        (
            f"gaps that grew too much: {count(effects.exceeded_count)} of {count(effects.gaps)}"
            f"{_by_chance(effects.unclear_count)}",
            f"groups that lost too much accuracy: {count(effects.lossy_count)} of "
            f"{count(effects.groups)}{_by_chance(effects.unclear_losses)}",
            *([growth_text(effects.largest)] if unclear and effects.largest else []),
        ),
        "bad" if paying else "" if unclear else "good",
    )
    return KeyFigures((worst, cost, pays))


def _cost_figure(summary: FrontierSummary, point: PointSummary) -> KeyFigure:
    """Write what the point that is written costs in accuracy."""
    low, high = point.accuracy.drop_interval
    return KeyFigure(
        "Accuracy",
        f"{accuracy_points(-point.accuracy.drop)} points",
        (
            f"{percent(summary.before.accuracy)} before, {percent(point.accuracy.accuracy)} after",
            f"balanced: {accuracy_points(-point.accuracy.balanced_drop)} points",
            f"interval: {accuracy_points(-high)} to {accuracy_points(-low)}",
        ),
        "bad" if summary.verdict.status == "accuracy_lost" else "",
    )


def _by_chance(unclear: int) -> str:
    """Write how many more there are that chance may explain; empty if there are none."""
    return f"; {count(unclear)} more, which chance may explain" if unclear else ""


def _definition(summary: FrontierSummary) -> Text:
    label = summary.data.label
    compared = {
        "selection_rate": "selection rate: the share of rows",
        "true_positive_rate": "true-positive rate: of the rows with the label, the share",
        "false_positive_rate": "false-positive rate: of the rows without the label, the share",
        "equalized_odds": "true- and false-positive rate: of the rows with the label, and of those "
        "without, the share",
        "accuracy": "accuracy: the share of rows rightly predicted, or rightly not",
    }[summary.settings.objective]
    return (
        f"Compared is the {compared} predicted ",
        Strong(f"“{label.favourable}”"),
        f" in column {label.column}. A difference is the rate in a group less that of its "
        "complement; the worst is the largest of all groups of at most "
        f"{plural(summary.depth, 'rule')} with {least_rows(summary.settings)} of the held-out "
        "rows on both sides.",
    )


def _frontier(summary: FrontierSummary) -> tuple[Block, ...]:
    """Show all points, in a picture and in a table."""
    if not summary.points:
        return (Paragraph(f"There are no points: {summary.reason}."),)
    picture = [frontier_figure(summary)] if _has_picture(summary) else []
    blocks: list[Block] = [*picture, points_table(summary)]
    if summary.ceiling:
        blocks.append(ceiling_table(summary))
    return tuple(blocks)


def _has_picture(summary: FrontierSummary) -> bool:
    """Return whether points can be drawn; without groups they have no heights."""
    return bool(summary.points and summary.groups)


def frontier_figure(summary: FrontierSummary) -> Figure:
    """Draw the points by the accuracy they lost and their worst difference, held out."""
    drawn = [*summary.points, *summary.ceiling]
    limit = summary.settings.budget
    losses = [point.accuracy.drop for point in drawn]
    across = lost_scale(min([*losses, 0.0]), max([*losses, 1.5 * limit, 0.001]))
    heights = [point.worst.size for point in drawn] + [summary.worst_before.size]
    upwards = linear_scale(0.0, max(heights), count=5)
    marked = [
        Highlight(
            0.0,
            summary.worst_before.size,
            "original",
            f"The original, worst difference {size_points(summary.worst_before.size)}",
            "more",
            shape="ring",
        )
    ]
    if summary.point is not None:
        point = summary.point
        title = f"Written: {_point_text(point)}"
        place = (point.accuracy.drop, point.worst.size)
        marked.append(Highlight(*place, "written", title, "more"))
    others = [point for point in summary.points if point is not summary.point]
    symbols = [Symbol(point.accuracy.drop, point.worst.size, "circle", "more") for point in others]
    symbols += [
        Symbol(point.accuracy.drop, point.worst.size, "triangle", "soft")
        for point in summary.ceiling
    ]
    keys: tuple[tuple[Shape, str], ...] = (("circle", _METHODS[summary.method].partition(":")[0]),)
    if summary.ceiling:
        keys = (*keys, ("triangle", "thresholds by combination"))
    corners = ((limit, 0.0), (across.high, 0.0), (across.high, upwards.high), (limit, upwards.high))
    chart = Plane(
        title=f"Worst difference against accuracy lost, {plural(len(summary.points), 'point')}",
        about=" ".join(f"{_point_text(point)}." for point in summary.points),
        across=across,
        upwards=upwards,
        name="Worst difference of all groups, percentage points",
        below="Points of accuracy lost, held-out rows",
        areas=(Area(corners),),
        thresholds=(
            Threshold(limit, f"{budget(summary.settings.max_accuracy_drop)} allowed", upright=True),
        ),
        symbols=tuple(symbols),
        highlights=tuple(marked),
        keys=keys,
        keys_name="Points:",
    )
    caption = (
        "Down and left is better. All points are measured on rows that no model was fitted to; "
        "which one is written was chosen without them."
    )
    return Figure("The frontier", (chart,), caption)


def _point_text(point: PointSummary) -> str:
    change = accuracy_points(-point.accuracy.drop)
    return f"{size_points(point.worst.size)} with {change} points of accuracy"


def points_table(summary: FrontierSummary) -> Table:
    """List the points, with what was expected of them and what the held-out rows show."""
    return Table(
        "Points of the frontier",
        (Column("strength", "name", short="strength"), *_OF_POINT),
        _point_rows(summary.points, chosen=summary.point, note="written"),
    )


def ceiling_table(summary: FrontierSummary) -> Table:
    """List thresholds by combination of sensitive values, beside the points."""
    best = best_of_ceiling(summary)
    return Table(
        "Thresholds for each combination of sensitive values",
        (Column("allowed", "name", short="allowed"), *_OF_POINT),
        _point_rows(summary.ceiling, chosen=best, note=""),
        title="About the most that the original's scores allow",
    )


def _point_rows(
    listed: Sequence[PointSummary], *, chosen: PointSummary | None, note: str
) -> tuple[Row, ...]:
    """Write points as rows; a group that is that of the row above is not written again."""
    rows, above = [], ""
    for point in listed:
        low, high = point.accuracy.drop_interval
        expected, group = point.expected, point.worst.group
        rows.append(
            Row(
                (
                    f"{point.strength:.3g}",
                    points(point.worst.known),
                    accuracy_points(-point.accuracy.drop),
                    f"{accuracy_points(-high)} to {accuracy_points(-low)}",
                    accuracy_points(-point.accuracy.balanced_drop),
                    # Its group is not named, so a sign would say nothing.
                    size_points(abs(expected.worst_after)),
                    accuracy_points(-expected.accuracy_drop),
                    _group_text(group, above),
                ),
                emphasis=point is chosen,
                note=note if point is chosen else "",
            )
        )
        above = group
    return tuple(rows)


def _group_text(group: str, above: str) -> str:
    """Write a group, unless the row above has it already; a dash if none is compared."""
    if not group:
        return NOTHING
    return "as above" if group == above else shorten(group, _GROUP_LIMIT)


def _paying(summary: FrontierSummary) -> tuple[Block, ...]:
    """Show the rates of the worst groups before and after, and gaps that grew."""
    if summary.point is None:
        return (Paragraph("Nothing was changed, so no group pays."),)
    if not summary.groups:
        return (Paragraph("No group is compared, so nothing is known of who pays."),)
    blocks: list[Block] = [paying_table(summary)]
    effects = summary.effects
    if effects is not None and effects.exceeded:
        blocks.append(
            Table(
                "Gaps that grew too much",
                (
                    Column("group", "name"),
                    Column("rate", "text"),
                    Column("gap before", "number"),
                    Column("gap after", "number"),
                    Column("grew by at least", "number"),
                ),
                tuple(
                    Row(
                        (
                            gap.text,
                            gap.rate.replace("_", " "),
                            size(gap.before),
                            size(gap.after),
                            size(gap.low),
                        )
                    )
                    for gap in effects.exceeded
                ),
                title="Gaps that grew by more than is allowed, and than chance explains",
            )
        )
    if effects is not None and effects.lossy:
        blocks.append(
            Table(
                "Groups that lost too much accuracy",
                (
                    Column("group", "name"),
                    Column("rows", "number"),
                    Column("accuracy before", "number"),
                    Column("accuracy after", "number"),
                ),
                tuple(
                    Row((loss.text, count(loss.rows), percent(loss.before), percent(loss.after)))
                    for loss in effects.lossy
                ),
                title="Groups that lost more accuracy than is allowed, and than chance explains",
            )
        )
    return tuple(blocks)


def paying_table(summary: FrontierSummary) -> Table:
    """List the rates of the worst groups and of their complements, before and after."""
    # Of rates that count rows of one label only, the file's own rates are 0 or 100%.
    in_the_file = any(has_base_rates(sides) for sides in summary.paying)
    names = sorted({sides.rate.replace("_", " ") for sides in summary.paying})
    several = len(names) > 1
    rows = []
    for sides in summary.paying:
        for place, name in enumerate((sides.text, "all others")):
            of_row = (sides.rate.replace("_", " "),) if several else ()
            base = (percent(sides.base_rates[place]),) if in_the_file else ()
            rates = (percent(sides.before[place]), percent(sides.after[place]))
            rows.append(Row((name, *of_row, count(sides.rows[place]), *base, *rates)))
    label = summary.data.label.favourable
    rate = " or ".join(names)
    under = "" if several else rate
    base_column = Column(f"“{label}” in the file", "number", short="in the file")
    return Table(
        f"The {rate} before and after",
        (
            Column("group", "name", short="group"),
            *((Column("rate", short="rate"),) if several else ()),
            Column("rows", "number", under="held out", short="rows"),
            *((base_column,) if in_the_file else ()),
            Column("before", "number", under=under, short="before"),
            Column("after", "strong", under=under, short="after"),
        ),
        tuple(rows),
        title="The groups that are worst before and after",
    )


def _particulars(summary: FrontierSummary) -> tuple[Block, ...]:
    settings, split, original = summary.settings, summary.split, summary.original
    return (
        data_facts(summary.data, words_for("rows")),
        Facts(
            "Model",
            (
                ("Name", original.name),
                ("What it is", original.kind),
                ("Fitted again", original.fitting),
                ("Written", "" if summary.point is None else summary.point.kind),
            ),
        ),
        Facts(
            "Settings",
            (
                ("Method", _METHODS[summary.method]),
                ("Accuracy that may be lost", budget(settings.max_accuracy_drop)),
                ("Balanced accuracy that may be lost", budget(settings.max_balanced_drop)),
                ("Gaps may grow by", size_points(settings.max_side_effect)),
                ("A group may lose", f"{budget(settings.max_group_accuracy_drop)} of accuracy"),
                ("Strengths tried", count(summary.tried)),
                ("Rules of a group", f"at most {summary.depth}"),
                ("Rows of a group", f"{least_rows(settings)}, on both sides"),
                ("Sensitive features left out", "yes" if settings.blind else ""),
                ("No combination may be lowered", "yes" if settings.no_rate_lowered else ""),
                ("Rows seen", count(split.seen)),
                ("Rows held out", count(split.held_out)),
                ("Split", split.source),
                ("Seed", number(settings.seed)),
                ("Made", moment(summary.created)),
                *time_facts(summary),
                *version_facts(summary),
            ),
        ),
    )


def _notes(summary: FrontierSummary) -> tuple[Note, ...]:
    settings = summary.settings
    return (
        Note(
            "The frontier",
            "Each point is a model that trades accuracy against the worst difference with another "
            "strength; strengths that another one beats in both, as expected, are left out. The "
            "point that is written lowers the worst difference most among those that were expected "
            f"to lose at most {budget(settings.max_accuracy_drop)}, by rows that its models were "
            "not fitted to, and without side effects there.",
        ),
        Note(
            "Expected and held out",
            "What is expected of a point is a little too good, because the points were made and "
            "chosen by the same rows. The held-out rows had no part in that; the verdict goes by "
            "them alone.",
        ),
        Note(
            "Who pays",
            "Gaps in selection rate, true-positive rate, false-positive rate and accuracy of all "
            "groups with at least 30 held-out rows on both sides are compared before and after, "
            "and so is the accuracy inside of each. What grew or fell by more than is allowed, and "
            "by more than chance explains (bounds that hold at once, by Bonferroni), is a failure.",
        ),
        Note(
            "What a smaller difference does not show",
            _what_is_not_shown(settings.objective),
        ),
    )


def _what_is_not_shown(objective: str) -> str:
    if objective == SELECTION_RATE:
        return (
            "Equal selection rates are not by themselves just: where the label itself is more "
            "frequent in one group they make error rates differ. Read the rates above beside "
            "those in the file."
        )
    return (
        f"Groups that are alike in {objective.replace('_', ' ')} may differ in other rates. "
        "Labels count as true here: where they are biased themselves, so are error rates."
    )
