"""The tables of an audit's report: its groups, its rules, its terms, and who is not judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Literal

from testsgd.auditing.report.controls import (
    ControlEffectSummary,
    ControlsSummary,
    contested,
    control_points,
    control_rates,
)
from testsgd.auditing.report.own_effects import own_effect_points
from testsgd.auditing.report.summary import (
    AuditSummary,
    CellRate,
    DataSummary,
    FeatureSummary,
    GroupSummary,
    InferredColumnSummary,
    RuleAlone,
    UndecidedGroup,
)
from testsgd.auditing.report.term_summary import TermSummary
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
from testsgd.report.listing import Listed, listing

# Rows of the ranking and of groups that are not judged, in Markdown; a page folds longer tables.
SHOWN = 20


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
    other = next((group.other for group in groups if group.other), None)
    other_name = f"{other.estimand.capitalize()} difference, points" if other else ""
    effect = Column("Counterfactual effect, points", "strong" if first else "number")
    by_features = any(group.own_effect for group in groups)
    # What groups are ranked by stands in every table, else a compact one has no room for it.
    ranked_by_own = summary.parameters.ranked_by == "counterfactual" and by_features
    own = Column("Own effect, points", "number", view="" if ranked_by_own else page)
    differing = Column(
        "Difference from other texts" if first else "Difference",
        "number" if first else "strong",
        "confidence interval" if compact else "",
    )

    def both(text: str, below: str, *, strong: bool = False) -> Cell:
        return Cell(text, (below,) if compact else (), strong=strong)

    def difference(group: GroupSummary) -> Cell:
        below = interval(group.confidence_interval)
        return both(points(group.difference), below, strong=not first)

    def margin(group: GroupSummary) -> str:
        return "exact" if group.exact else f"± {size_points(group.margin)}"

    def remark(group: GroupSummary) -> str:
        if not group.decided:
            return "not decided"
        return "explains differences" if group.distinct else ""

    def marks(group: GroupSummary) -> str:
        """Add which group has the largest bound, if intervals are simultaneous."""
        largest = guarantee.kind == "simultaneous" and group.rank == guarantee.largest_bound_rank
        remarks = [remark(group), "largest lower confidence bound" * largest]
        return ", ".join(filter(None, remarks))

    sizes = Column(words.many.capitalize(), "number", "share" if compact else "")
    rates = Column(words.rate, "number", "complement" if compact else "")
    ends = Column("Confidence interval, points", "number", view=page)
    bound = Column("Lower confidence bound, points", "number")
    by_bounds = any(group.lower_confidence_bound is not None for group in groups)
    by_bounds &= not q_values and not first
    # Whether a column is shown, its heading, and its cells.
    columns: list[tuple[object, Column, Callable[[GroupSummary], str | Cell]]] = [
        (True, Column("Rank", "number"), lambda group: str(group.rank)),
        (True, Column("Group", "name"), lambda group: group.text),
        (True, sizes, lambda group: both(count(group.n_in), percent(group.support))),
        (True, Column("Share", "number", view=page), lambda group: percent(group.support)),
        (True, rates, lambda group: both(percent(group.rate_in), percent(group.rate_out))),
        (True, Column("Complement", "number", view=page), lambda group: percent(group.rate_out)),
        (first, effect, lambda group: Cell(counterfactual_points(group), strong=True)),
        (True, differing, difference),
        (summary.mode == "sampled", Column("Sampling margin", "number"), margin),
        (True, ends, lambda group: interval(group.confidence_interval)),
        (other, Column(other_name, "number", "interval, rates", view="html"), _other),
        (other, Column(other_name, "number", view="markdown"), _other_points),
        (by_bounds, bound, lambda group: size(group.lower_confidence_bound)),
        (q_values, Column("q-value", "number"), lambda group: q_text(group.q_value)),
        (paired and not first, effect, counterfactual_points),
        (by_features, own, lambda group: own_effect_points(group.own_effect)),
        (not compact, Column("Remark", view="html"), marks),
        (not compact, Column("Remark", view="markdown"), remark),
    ]
    chosen = [(column, write) for shown, column, write in columns if shown]
    rows = [Row(tuple(write(group) for _, write in chosen), **_units(group)) for group in groups]
    headings = tuple(column for column, _ in chosen)
    return Table(label, headings, tuple(rows), fold=fold, open_rows=0, most=SHOWN)


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
    columns: list[Listed[UndecidedGroup]] = [
        Listed("Group", lambda group: group.text, "name"),
        Listed(words.many.capitalize(), lambda group: count(group.n_in)),
        Listed("Why it is not judged", lambda group: group.reason, "text"),
    ]
    return listing("Groups that are too small", groups, columns, row=_units, fold=fold, most=SHOWN)


def inferred_table(data: DataSummary) -> Table:
    """List what columns without a description were taken for."""
    features = {feature.name: feature for feature in data.features}

    def use(column: InferredColumnSummary) -> str:
        if column.name not in features:
            return "never varied, never in a rule"
        return "sensitive" if features[column.name].sensitive else "varied"

    def domain(column: InferredColumnSummary) -> str:
        return features[column.name].domain if column.name in features else ""

    columns: list[Listed[InferredColumnSummary]] = [
        Listed("Column", lambda column: column.name, "name"),
        Listed("Taken for", lambda column: column.kind, "text"),
        Listed("Because of", lambda column: column.why, "text"),
        Listed("Values", domain, "text"),
        Listed("Missing", lambda column: count(column.missing)),
        Listed("Use", use, "text"),
    ]
    return listing("What the columns were taken for", data.inferred, columns)


def undecided_table(groups: Sequence[GroupSummary], words: Words) -> Table:
    """List the groups whose sampling margin stayed too large."""
    columns: list[Listed[GroupSummary]] = [
        Listed("Group", lambda group: group.text, "name"),
        Listed(words.many.capitalize(), lambda group: count(group.n_in)),
        Listed("Difference so far", lambda group: points(group.difference)),
        Listed("Sampling margin", lambda group: sampling_margin(group, words), "text"),
    ]
    return listing("Groups that are not decided", groups, columns, most=SHOWN)


def correlated_table(group: GroupSummary) -> Table:
    """List the other features in which a group differs."""
    headings = ("In the group", "In its complement", "Difference, standard deviations")
    return Table(
        f"Features in which group {group.rank} differs",
        (Column("Feature", "name"), *(Column(heading, "number") for heading in headings)),
        tuple(map(Row, correlated_features(group))),
        title="Correlated features, not causes",
    )


def parts_table(group: GroupSummary, words: Words) -> Table:
    """List what each rule of a group gives on its own, and what all of them together do."""
    parts: list[RuleAlone | GroupSummary] = [*group.rules_alone, group]
    columns: list[Listed[RuleAlone | GroupSummary]] = [
        Listed(
            f"{words.rule.capitalize()} alone",
            lambda part: f"all {words.rule}s together" if part is group else part.text,
            "name",
        ),
        Listed(words.many.capitalize(), lambda part: count(part.n_in)),
        Listed("Selection rate", lambda part: percent(part.rate_in)),
        Listed("Complement", lambda part: percent(part.rate_out)),
        Listed("Difference", lambda part: points(part.difference), "strong"),
    ]
    return listing("Rules alone", parts, columns, row=lambda part: {"emphasis": part is group})


def rates_table(summary: AuditSummary, words: Words) -> Table:
    """List the rates over the values of each feature, or the terms of each category."""
    texts = words.kind == "texts"
    columns: list[Listed[tuple[str, CellRate]]] = [
        Listed("Category" if texts else "Feature", lambda item: item[0], "text"),
        Listed("Term" if texts else "Value", lambda item: shorten(item[1].label, 60), "text"),
        Listed(words.many.capitalize(), lambda item: count(item[1].n)),
        Listed("Rate", lambda item: percent(item[1].rate)),
    ]
    rates = [(rates.feature, cell) for rates in summary.charts.features for cell in rates.cells]
    return listing(f"Rates by {words.feature}", rates, columns)


def controls_table(controls: ControlsSummary) -> Table:
    """List the control effects of categories and of their terms, the surest first."""
    not_compared = {item.category: item.reason for item in controls.not_compared}

    def remark(effect: ControlEffectSummary) -> str:
        significance = "statistically significant" if effect.lower_confidence_bound else ""
        if contested(effect):
            significance = "the controls disagree"
        reason = not_compared.get(effect.category, "")
        alone = f"not compared with other terms: {reason}" if reason else ""
        return "; ".join(filter(None, (significance, alone)))

    columns: list[Listed[ControlEffectSummary]] = [
        Listed("Category", lambda effect: effect.category, "name"),
        Listed("Term", lambda effect: "any" if effect.term is None else effect.term, "text"),
        Listed("Texts", lambda effect: count(effect.texts)),
        Listed("Rate", lambda effect: percent(effect.rate_with)),
        Listed("Rates with controls", control_rates, "text"),
        Listed("Control effect, points", control_points, "strong"),
        Listed("Remark", remark, "text"),
    ]
    ordered = sorted(controls.effects, key=lambda effect: -effect.lower_confidence_bound)
    fold = plural(len(ordered), "control effect")
    return listing("Control effects", ordered, columns, fold=fold, most=SHOWN)


def category_table(name: str, terms: Sequence[TermSummary]) -> Table:
    """List the sensitive terms of one category."""
    columns: list[Listed[TermSummary]] = [
        Listed("Term", lambda term: term.term, "name"),
        Listed("Texts", lambda term: count(term.texts)),
        Listed("Mentions", lambda term: count(term.mentions)),
        Listed("Share", lambda term: Cell(percent(term.share), share=term.share)),
    ]

    def about(term: TermSummary) -> dict[str, str]:
        return {"note": ", ".join(term.forms), "about": doubts(term)}

    return listing(name, terms, columns, row=about)


def features_table(summary: AuditSummary, fold: str) -> Table:
    """List the features of the data."""
    columns: list[Listed[FeatureSummary]] = [
        Listed("Feature", lambda feature: feature.name, "name"),
        Listed("Type", lambda feature: feature.type, "text"),
        Listed("Sensitive", lambda feature: "sensitive" if feature.sensitive else "", "text"),
        Listed("Declared range or values", lambda feature: shorten(feature.domain, 80), "text"),
        Listed("Missing", lambda feature: count(feature.missing)),
    ]
    return listing("Features", summary.data.features, columns, fold=fold)
