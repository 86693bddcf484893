"""The tables of an audit's report: its groups, its rules, its terms, and who is not judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

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
    correlated_lines,
    counterfactual_points,
    doubts,
    equalised_points,
    other_rates,
    q_text,
    sampling_margin,
    spoken_difference,
)
from testsgd.report.blocks import Cell, Column, Row, Table
from testsgd.report.formatting import (
    NOTHING,
    count,
    cut_inside,
    interval,
    percent,
    plural,
    points,
    share,
    shorten,
    signed,
    size,
    size_points,
)
from testsgd.report.listing import Listed, listing
from testsgd.report.summaries import row_parts, values_of

# Rows of the ranking and of groups that are not judged, in Markdown; a page folds longer tables.
SHOWN = 20


def rules_table(summary: AuditSummary, top: Sequence[GroupSummary]) -> Table:
    """List the rules that explain how rates differ, and which near-duplicates each stands for."""
    shown = {group.rank for group in top}
    listed = {group.rank: group for group in summary.groups}
    values = values_of(summary.groups)
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
        known = listed.get(rule.rank)
        rows.append(Row(cells, **(row_parts(known, values) if known else {})))
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
    """List groups, on a page with the complement, the interval or the share below each number.

    A compact table is of the first groups; others say what became of each group in the ranking, and
    a reader can look for words in them.
    """
    guarantee = summary.guarantee
    paired = any(group.counterfactual for group in groups)
    # What the audit goes by comes first.
    first = paired and by_terms(summary)
    q_values = any(group.q_value is not None for group in groups)
    other = next((group.other for group in groups if group.other), None)
    other_name = f"{other.estimand.capitalize()} difference" if other else ""
    effect = Column("Counterfactual effect, points", "strong" if first else "number")
    explaining = {rule.rank for rule in summary.rules}
    by_features = any(group.own_effect for group in groups)
    # What groups are ranked by stands in every table, else a page has no room for it.
    ranked_by_own = summary.parameters.ranked_by == "counterfactual" and by_features
    own = Column("Own effect, points", "number", view="" if ranked_by_own else "markdown")
    differing = Column(
        "Difference from other texts" if first else "Difference",
        "number" if first else "strong",
        "confidence interval",
    )

    def difference(group: GroupSummary) -> Cell:
        below = interval(group.confidence_interval)
        return Cell(points(group.difference), (below,), strong=not first)

    def margin(group: GroupSummary) -> str:
        return "exact" if group.exact else f"± {size_points(group.margin)}"

    def remark(group: GroupSummary) -> str:
        if not group.decided:
            return "not decided"
        return "explains differences" if group.rank in explaining else ""

    def marks(group: GroupSummary) -> str:
        """Add which group has the largest bound, if intervals are simultaneous."""
        largest = guarantee.kind == "simultaneous" and group.rank == guarantee.largest_bound_rank
        remarks = [remark(group), "largest lower confidence bound" * largest]
        return ", ".join(filter(None, remarks))

    def rate(group: GroupSummary) -> Cell:
        return Cell(percent(group.rate_in), (percent(group.rate_out),))

    def base_rate(group: GroupSummary) -> Cell:
        return Cell(percent(group.base_rate_in), (percent(group.base_rate_out),))

    def rows_and_share(group: GroupSummary) -> Cell:
        return Cell(count(group.n_in), (percent(group.support),))

    # Markdown has no second lines in its cells.
    ends = Column("Confidence interval, points", "number", view="markdown")
    complement = Column("Complement", "number", view="markdown")
    base_outside = Column("Base rate of the complement", "number", view="markdown")
    bound = Column("Lower confidence bound", "number")
    by_bounds = any(group.lower_confidence_bound is not None for group in groups)
    by_bounds &= not q_values and not first
    labelled = any(group.base_rate_in is not None for group in groups)
    # Whether a column is shown, its heading, and its cells.
    columns: list[tuple[object, Column, Callable[[GroupSummary], str | Cell]]] = [
        (True, Column("Rank", "number"), lambda group: str(group.rank)),
        (True, Column("Group", "name"), lambda group: group.text),
        (first, effect, lambda group: Cell(counterfactual_points(group), strong=True)),
        (True, differing, difference),
        (True, ends, lambda group: interval(group.confidence_interval)),
        (by_bounds, bound, lambda group: size(group.lower_confidence_bound)),
        (q_values, Column("q-value", "number"), lambda group: q_text(group.q_value)),
        (summary.mode == "sampled", Column("Sampling margin", "number"), margin),
        (True, Column(words.rate, "number", "complement"), rate),
        (True, complement, lambda group: percent(group.rate_out)),
        (labelled, Column("Base rate", "number", "complement"), base_rate),
        (labelled, base_outside, lambda group: percent(group.base_rate_out)),
        (other, Column(other_name, "number", "confidence interval", view="html"), _other),
        (other, Column(other_name, "number", view="markdown"), _other_points),
        (paired and not first, effect, counterfactual_points),
        (by_features, own, lambda group: own_effect_points(group.own_effect)),
        (True, Column(words.many.capitalize(), "number", "share"), rows_and_share),
        (True, Column("Share", "number", view="markdown"), lambda group: percent(group.support)),
    ]
    chosen = [(column, write) for shown, column, write in columns if shown]
    values = values_of(groups)
    rows = [
        Row(
            tuple(write(group) for _, write in chosen),
            note="" if compact else marks(group),
            **row_parts(group, values),
        )
        for group in groups
    ]
    return Table(
        label,
        tuple(column for column, _ in chosen),
        tuple(rows),
        fold=fold,
        open_rows=0,
        most=SHOWN,
        searchable=not compact,
        of_all=f"{count(summary.counts.groups - summary.counts.undecided_frequent)} judged",
        stacked=compact,
    )


def _other(group: GroupSummary) -> Cell:
    """Write a group's difference by the other estimand, with its interval below."""
    other = group.other
    if other is None or other.difference is None or other.confidence_interval is None:
        return Cell(NOTHING)
    return Cell(signed(other.difference), (interval(other.confidence_interval),))


def _other_points(group: GroupSummary) -> str:
    """Write the same in one line, with the rates."""
    cell = _other(group)
    if group.other is None or not cell.under:
        return cell.text
    return f"{cell.text} ({'; '.join(cell.under)}; {other_rates(group.other)})"


def small_table(groups: Sequence[UndecidedGroup], words: Words, fold: str) -> Table:
    """List the groups that are too small to be judged."""
    columns: list[Listed[UndecidedGroup]] = [
        Listed("Group", lambda group: group.text, "name"),
        Listed(words.many.capitalize(), lambda group: count(group.n_in)),
        Listed("Why it is not judged", lambda group: group.reason, "text"),
    ]
    return listing(
        "Groups that are too small", groups, columns, row=row_parts, fold=fold, most=SHOWN
    )


def inferred_table(data: DataSummary) -> Table:
    """List what columns without a description were taken for."""
    features = {feature.name: feature for feature in data.features}
    given = data.predictions_given

    def use(column: InferredColumnSummary) -> str:
        if column.name not in features:
            # There is nothing to vary without a model.
            return "never in a rule" if given else "never varied, never in a rule"
        if features[column.name].sensitive:
            return "sensitive"
        return "described beside groups" if given else "varied"

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
    return listing("What the columns were taken for", data.inferred, columns, stacked=True)


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
    features = correlated_features(group)
    lines = correlated_lines(features)
    headings = ["In the group", "In its complement", "Difference, standard deviations"]
    rows: tuple[Row, ...] = tuple(map(Row, lines))
    if left := equalised_points(group):
        # First, as a narrow screen shows the first columns only.
        headings.insert(0, "Points left at the same mix of it")
        rows = tuple(
            Row((name, left.get(item.feature, NOTHING), *others))
            for (name, *others), item in zip(lines, features, strict=True)
        )
    return Table(
        f"Features in which group {group.rank} differs",
        (Column("Feature", "name"), *(Column(heading, "number") for heading in headings)),
        rows,
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


def rates_tables(summary: AuditSummary, words: Words) -> tuple[Table, ...]:
    """List the rates over the values of each feature, or the terms of each category.

    Values that no row has are left out.
    """
    texts = words.kind == "texts"
    features = summary.charts.features
    every = [cell for feature in features for cell in feature.cells]

    def ends(cell: CellRate) -> str:
        known = cell.confidence_interval
        return NOTHING if known is None else f"{percent(known[0])} to {percent(known[1])}"

    columns: list[Listed[CellRate]] = [
        Listed("Term" if texts else "Value", lambda cell: cut_inside(cell.label, 60), "text"),
        Listed(words.many.capitalize(), lambda cell: count(cell.n)),
        Listed(words.rate, lambda cell: percent(cell.rate), "strong"),
        Listed(
            f"{share(summary.parameters.confidence)} interval",
            ends,
            shown=any(cell.confidence_interval for cell in every),
        ),
        Listed(
            "Base rate",
            lambda cell: percent(cell.base_rate),
            shown=any(cell.base_rate is not None for cell in every),
        ),
    ]
    return tuple(
        listing(
            f"Rates by {feature.feature}",
            [cell for cell in feature.cells if cell.n],
            columns,
            title=feature.feature,
        )
        for feature in features
    )


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
