"""The tables of an audit's report: its groups, its rules, its terms, and who is not judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
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
    other_rates,
    q_text,
    sampling_margin,
    spoken_difference,
)
from testsgd.report.blocks import Cell, Column, Row, Table
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    percent,
    plural,
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
    """List the rules that explain how rates differ, and which near-duplicates each stands for."""
    shown = {group.rank for group in top}
    differences = {group.rank: spoken_difference(group, summary) for group in summary.groups}
    rows = []
    for rule, together in zip(
        summary.rules, accumulate(rule.share or 0.0 for rule in summary.rules), strict=True
    ):
        near = ""
        if rule.near_duplicates:
            near = f"and {plural(rule.near_duplicates, 'near-duplicate')}"
            near += f", such as {rule.examples[0]}" if rule.examples else ""
        below = (shorten(near, 200),) if near else ()
        to = f"group-{rule.rank}" if rule.rank in shown else ""
        explained = None if rule.share is None else min(together, 1.0)
        cells = (
            str(rule.rank),
            Cell(rule.text, below, to),
            points(differences.get(rule.rank)),
            percent(rule.share),
            percent(explained),
            near,
        )
        rows.append(Row(cells))
    columns = (
        Column("Rank", "number"),
        Column("Rule", "name"),
        Column("Counterfactual effect" if by_terms(summary) else "Difference", "strong"),
        Column("Adds", "number"),
        Column("Together", "number"),
        Column("Stands for", view="markdown"),
    )
    return Table("The fewest rules that explain the differences", columns, tuple(rows))


def group_table(
    summary: AuditSummary,
    groups: Sequence[GroupSummary],
    words: Words,
    label: str,
    *,
    compact: bool = False,
    fold: str = "",
) -> Table:
    """List groups.

    A compact table has on a page intervals below the differences; others say what became of each
    group in the ranking.
    """
    page: Literal["", "markdown"] = "markdown" if compact else ""
    guarantee = summary.guarantee
    paired = any(group.counterfactual for group in groups)
    # What the audit goes by comes first.
    first = paired and by_terms(summary)
    q_values = any(group.q_value is not None for group in groups)
    bounds = any(group.lower_confidence_bound is not None for group in groups)
    other = next((group.other for group in groups if group.other), None)
    other_name = f"{other.estimand.capitalize()} difference, points" if other else ""
    effect = Column("Counterfactual effect, points", "strong" if first else "number")
    differing = Column(
        "Difference from other texts" if first else "Difference",
        "number" if first else "strong",
        "confidence interval" if compact else "",
    )

    def both(text: str, below: str, *, strong: bool = False) -> Cell:
        return Cell(text, (below,) if compact else (), strong=strong)

    def remark(group: GroupSummary) -> str:
        if not group.decided:
            return "not decided"
        return "explains differences" if group.distinct else ""

    def marks(group: GroupSummary) -> str:
        """Add which group has the largest bound, if intervals are simultaneous."""
        largest = guarantee.kind == "simultaneous" and group.rank == guarantee.largest_bound_rank
        told = [remark(group), "largest lower confidence bound" * largest]
        return ", ".join(filter(None, told))

    # Whether a column is shown, its heading, and its cells.
    columns: list[tuple[object, Column, Callable[[GroupSummary], str | Cell]]] = [
        (True, Column("Rank", "number"), lambda group: str(group.rank)),
        (True, Column("Group", "name"), lambda group: group.text),
        (
            True,
            Column(words.many.capitalize(), "number", "share" if compact else ""),
            lambda group: both(count(group.n_in), percent(group.support)),
        ),
        (True, Column("Share", "number", view=page), lambda group: percent(group.support)),
        (
            True,
            Column("Selection rate", "number", "complement" if compact else ""),
            lambda group: both(percent(group.rate_in), percent(group.rate_out)),
        ),
        (True, Column("Complement", "number", view=page), lambda group: percent(group.rate_out)),
        (first, effect, lambda group: Cell(counterfactual_points(group), strong=True)),
        (
            True,
            differing,
            lambda group: both(
                points(group.difference), interval(group.confidence_interval), strong=not first
            ),
        ),
        (
            summary.mode == "sampled",
            Column("Sampling margin", "number"),
            lambda group: "exact" if group.exact else f"± {size_points(group.margin)}",
        ),
        (
            True,
            Column("Confidence interval, points", "number", view=page),
            lambda group: interval(group.confidence_interval),
        ),
        (other, Column(other_name, "number", "interval, rates", view="html"), _other),
        (other, Column(other_name, "number", view="markdown"), _other_points),
        (
            bounds and not q_values and not first,
            Column("Lower confidence bound, points", "number"),
            lambda group: size(group.lower_confidence_bound),
        ),
        (q_values, Column("q-value", "number"), lambda group: q_text(group.q_value)),
        (paired and not first, effect, counterfactual_points),
        (not compact, Column("Remark", view="html"), marks),
        (not compact, Column("Remark", view="markdown"), remark),
    ]
    chosen = [(column, write) for shown, column, write in columns if shown]
    return table_of(label, groups, chosen, _units, fold=fold, open_rows=0, most=SHOWN)


def _other(group: GroupSummary) -> Cell:
    """Write a group's difference by the other estimand, with its interval and rates below."""
    other = group.other
    if other is None or other.difference is None or other.confidence_interval is None:
        return Cell(NOTHING)
    return Cell(signed(other.difference), (interval(other.confidence_interval), other_rates(other)))


def _other_points(group: GroupSummary) -> str:
    """Write the same in one line."""
    cell = _other(group)
    return f"{cell.text} ({'; '.join(cell.under)})" if cell.under else cell.text


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
    headings = ("In the group", "In its complement", "Difference, standard deviations")
    return Table(
        f"Features in which group {group.rank} differs",
        (Column("Feature", "name"), *(Column(heading, "number") for heading in headings)),
        tuple(map(Row, correlated_features(group))),
        title="Correlated features, not causes",
    )


def parts_table(top: Sequence[GroupSummary], words: Words) -> Table:
    """List what each rule of each group gives on its own, and what all of them together do."""
    parts: list[tuple[GroupSummary, RuleAlone | GroupSummary]] = []
    for group in top:
        if len(group.rules_alone) > 1:
            parts += [*((group, part) for part in group.rules_alone), (group, group)]
    together = f"all {words.rule}s together"
    return table_of(
        "Rules alone",
        parts,
        [
            (Column("Rank", "number"), lambda item: str(item[0].rank)),
            (
                Column(f"{words.rule.capitalize()} alone", "name"),
                lambda item: together if item[0] is item[1] else item[1].text,
            ),
            (Column(words.many.capitalize(), "number"), lambda item: count(item[1].n_in)),
            (Column("Selection rate", "number"), lambda item: percent(item[1].rate_in)),
            (Column("Complement", "number"), lambda item: percent(item[1].rate_out)),
            (Column("Difference", "strong"), lambda item: points(item[1].difference)),
        ],
        lambda item: {"emphasis": item[0] is item[1]},
    )


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
            (Column("Share", "number"), lambda term: Cell(percent(term.share), share=term.share)),
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
