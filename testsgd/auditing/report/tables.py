"""The tables of an audit's report: its groups, its rules, its terms, and who is not judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar

from testsgd.auditing.report.summary import (
    AuditSummary,
    GroupSummary,
    RuleAlone,
    TermSummary,
    UndecidedGroup,
)
from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.wording import (
    by_terms,
    correlated_features,
    counterfactual_points,
    doubts,
    explaining_lines,
    other_points,
    other_rates,
    q_text,
    remark,
    sampling_margin,
)
from testsgd.report.blocks import Cell, Column, Row, Table
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    percent,
    points,
    shorten,
    signed,
    size,
    size_points,
)

# Rows of the ranking and of groups that are not judged, in Markdown; a page folds longer tables.
SHOWN = 20

Item = TypeVar("Item")
# A column, and what writes its cell of an item.
Written: TypeAlias = tuple[Column, Callable[[Item], str | Cell]]


def table_of(
    label: str,
    items: Iterable[Item],
    columns: Sequence[Written[Item]],
    row: Callable[[Item], dict[str, Any]] = lambda _: {},
    **options: Any,
) -> Table:
    """Return a table with a row an item; `row` gives what else is known of each row."""
    rows = (Row(tuple(write(item) for _, write in columns), **row(item)) for item in items)
    return Table(label, tuple(column for column, _ in columns), tuple(rows), **options)


def _units(group: GroupSummary | UndecidedGroup) -> dict[str, Any]:
    return {"units": tuple(rule.text for rule in group.rules)}


def rules_table(summary: AuditSummary, top: Sequence[GroupSummary]) -> Table:
    """List the rules that explain how rates differ."""
    shown = {group.rank for group in top}
    return table_of(
        "The fewest rules that explain the differences",
        explaining_lines(summary),
        [
            (Column("Rank", "number"), lambda line: str(line.rule.rank)),
            (
                Column("Rule", "name"),
                lambda line: Cell(
                    line.rule.text,
                    (shorten(line.near, 200),) if line.near else (),
                    f"group-{line.rule.rank}" if line.rule.rank in shown else "",
                ),
            ),
            (
                Column("Counterfactual effect" if by_terms(summary) else "Difference", "strong"),
                lambda line: points(line.difference),
            ),
            (Column("Adds", "number"), lambda line: percent(line.rule.share)),
            (Column("Together", "number"), lambda line: percent(line.together)),
            (Column("Stands for", view="markdown"), lambda line: line.near),
        ],
    )


def group_table(
    summary: AuditSummary,
    groups: Sequence[GroupSummary],
    words: Words,
    label: str,
    *,
    compact: bool = False,
    remarks: bool = False,
    fold: str = "",
) -> Table:
    """List groups; a compact table on a page has intervals below the differences."""
    columns = _group_columns(summary, groups, words, compact=compact, remarks=remarks)
    return table_of(label, groups, columns, _units, fold=fold, open_rows=0, most=SHOWN)


def _group_columns(
    summary: AuditSummary,
    groups: Sequence[GroupSummary],
    words: Words,
    *,
    compact: bool,
    remarks: bool,
) -> list[Written[GroupSummary]]:
    """Return the columns of a table of groups."""
    page: Literal["", "markdown"] = "markdown" if compact else ""
    paired = any(group.counterfactual for group in groups)
    # What the audit goes by comes first.
    first = paired and by_terms(summary)
    by_q_values = any(group.q_value is not None for group in groups)
    bounds = (
        not by_q_values
        and not first
        and any(group.lower_confidence_bound is not None for group in groups)
    )
    effect = Column("Counterfactual effect, points", "strong" if first else "number")
    differing = Column(
        "Difference from other texts" if first else "Difference",
        "number" if first else "strong",
        "confidence interval" if compact else "",
    )

    def below(*texts: str) -> tuple[str, ...]:
        return texts if compact else ()

    columns: list[Written[GroupSummary]] = [
        (Column("Rank", "number"), lambda group: str(group.rank)),
        (Column("Group", "name"), lambda group: group.text),
        (
            Column(words.many.capitalize(), "number", "share" if compact else ""),
            lambda group: Cell(count(group.n_in), below(percent(group.support))),
        ),
        (Column("Share", "number", view=page), lambda group: percent(group.support)),
        (
            Column("Selection rate", "number", "complement" if compact else ""),
            lambda group: Cell(percent(group.rate_in), below(percent(group.rate_out))),
        ),
        (Column("Complement", "number", view=page), lambda group: percent(group.rate_out)),
    ]
    if first:
        columns.append((effect, lambda group: Cell(counterfactual_points(group), strong=True)))
    columns.append(
        (
            differing,
            lambda group: Cell(
                points(group.difference),
                below(interval(group.confidence_interval)),
                strong=not first,
            ),
        )
    )
    if summary.mode == "sampled":
        columns.append((Column("Sampling margin", "number"), _margin))
    columns.append(
        (
            Column("Confidence interval, points", "number", view=page),
            lambda group: interval(group.confidence_interval),
        )
    )
    other = next((group.other for group in groups if group.other), None)
    if other is not None:
        name = f"{other.estimand.capitalize()} difference, points"
        columns += [
            (Column(name, "number", "interval, rates", view="html"), _other),
            (Column(name, "number", view="markdown"), lambda group: other_points(group.other)),
        ]
    if bounds:
        columns.append(
            (
                Column("Lower confidence bound, points", "number"),
                lambda group: size(group.lower_confidence_bound),
            )
        )
    if by_q_values:
        columns.append((Column("q-value", "number"), lambda group: q_text(group.q_value)))
    if paired and not first:
        columns.append((effect, counterfactual_points))
    if remarks:
        largest = _largest_bound(summary)
        columns += [
            (Column("Remark", view="html"), lambda group: _marked(group, largest)),
            (Column("Remark", view="markdown"), remark),
        ]
    return columns


def _margin(group: GroupSummary) -> str:
    return "exact" if group.exact else f"± {size_points(group.margin)}"


def _largest_bound(summary: AuditSummary) -> int | None:
    """Return the rank of the group of the largest lower bound, if intervals are simultaneous."""
    guarantee = summary.guarantee
    if guarantee.kind != "simultaneous":
        return None
    return guarantee.largest_bound_rank


def _marked(group: GroupSummary, largest: int | None) -> str:
    marks = [remark(group), "largest lower confidence bound" if group.rank == largest else ""]
    return ", ".join(mark for mark in marks if mark)


def _other(group: GroupSummary) -> Cell:
    """Write a group's difference by the other estimand, with its interval and rates below."""
    other = group.other
    if other is None or other.difference is None or other.confidence_interval is None:
        return Cell(NOTHING)
    return Cell(signed(other.difference), (interval(other.confidence_interval), other_rates(other)))


def small_table(groups: Sequence[UndecidedGroup], words: Words, fold: str) -> Table:
    """List the groups that are too small to be judged."""
    columns: list[Written[UndecidedGroup]] = [
        (Column("Group", "name"), lambda group: group.text),
        (Column(words.many.capitalize(), "number"), lambda group: count(group.n_in)),
        (Column("Why it is not judged"), lambda group: group.reason),
    ]
    return table_of("Groups that are too small", groups, columns, _units, fold=fold, most=SHOWN)


def undecided_table(groups: Sequence[GroupSummary], words: Words) -> Table:
    """List the groups whose sampling margin stayed too large."""
    columns: list[Written[GroupSummary]] = [
        (Column("Group", "name"), lambda group: group.text),
        (Column(words.many.capitalize(), "number"), lambda group: count(group.n_in)),
        (Column("Difference so far", "number"), lambda group: points(group.difference)),
        (Column("Sampling margin"), lambda group: sampling_margin(group, words)),
    ]
    return table_of("Groups that are not decided", groups, columns, most=SHOWN)


def correlated_table(group: GroupSummary) -> Table:
    """List the other features in which a group differs."""
    return table_of(
        f"Features in which group {group.rank} differs",
        correlated_features(group),
        [
            (Column("Feature", "name"), lambda item: item.feature),
            (Column("In the group", "number"), lambda item: item.mean_in),
            (Column("In its complement", "number"), lambda item: item.mean_out),
            (Column("Difference, standard deviations", "number"), lambda item: item.deviations),
        ],
        title="Correlated features, not causes",
    )


def parts_table(top: Sequence[GroupSummary], words: Words) -> Table:
    """List what each rule of each group gives on its own, and what all of them together do."""
    rows = []
    for group in top:
        if len(group.rules_alone) < 2:
            continue
        parts: list[RuleAlone | GroupSummary] = [*group.rules_alone, group]
        for part in parts:
            together = part is group
            cells = (
                str(group.rank),
                f"all {words.rule}s together" if together else part.text,
                count(part.n_in),
                percent(part.rate_in),
                percent(part.rate_out),
                points(part.difference),
            )
            rows.append(Row(cells, emphasis=together))
    columns = (
        Column("Rank", "number"),
        Column(f"{words.rule.capitalize()} alone", "name"),
        Column(words.many.capitalize(), "number"),
        Column("Selection rate", "number"),
        Column("Complement", "number"),
        Column("Difference", "strong"),
    )
    return Table("Rules alone", columns, tuple(rows))


def rates_table(summary: AuditSummary, words: Words) -> Table:
    """List the rates over the values of each feature, or the terms of each category."""
    headings = (
        ("Category", "Term", "Texts") if words.kind == "texts" else ("Feature", "Value", "Rows")
    )
    return table_of(
        f"Rates by {words.feature}",
        [(rates.feature, cell) for rates in summary.charts.features for cell in rates.cells],
        [
            (Column(headings[0]), lambda item: item[0]),
            (Column(headings[1]), lambda item: shorten(item[1].label, 60)),
            (Column(headings[2], "number"), lambda item: count(item[1].n)),
            (Column("Rate", "number"), lambda item: percent(item[1].rate)),
        ],
    )


def terms_table(terms: Sequence[tuple[str, TermSummary]]) -> Table:
    """List the sensitive terms, each with its category."""
    return table_of(
        "Sensitive terms",
        terms,
        [
            (Column("Category"), lambda item: item[0]),
            (Column("Term"), lambda item: item[1].term),
            (Column("Texts", "number"), lambda item: count(item[1].texts)),
            (Column("Mentions", "number"), lambda item: count(item[1].mentions)),
            (Column("Share of the category", "number"), lambda item: percent(item[1].share)),
            (Column("Remark"), lambda item: doubts(item[1])),
        ],
    )


def category_table(name: str, terms: Sequence[TermSummary]) -> Table:
    """List the sensitive terms of one category."""
    return table_of(
        name,
        terms,
        [
            (Column("Term", "name"), lambda term: term.term),
            (Column("Texts", "number"), lambda term: count(term.texts)),
            (Column("Mentions", "number"), lambda term: count(term.mentions)),
            (
                Column("Share", "number"),
                lambda term: Cell(percent(term.share), share=term.share),
            ),
        ],
        lambda term: {"note": ", ".join(term.forms), "about": doubts(term)},
    )


def features_table(summary: AuditSummary, fold: str) -> Table:
    """List the features of the data."""
    return table_of(
        "Features",
        summary.data.features,
        [
            (Column("Feature", "name"), lambda feature: feature.name),
            (Column("Type"), lambda feature: feature.type),
            (Column("Sensitive"), lambda feature: "sensitive" if feature.sensitive else ""),
            (Column("Declared range or values"), lambda feature: shorten(feature.domain, 80)),
            (Column("Missing", "number"), lambda feature: count(feature.missing)),
        ],
        fold=fold,
    )
