"""How an audit is laid out as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from testsgd.auditing.report import charts, tables, wording
from testsgd.auditing.report.further_looks import within_blocks
from testsgd.auditing.report.leading import (
    larger_look,
    leading_control,
    leading_difference,
    leading_look,
    leads_by_own_effect,
)
from testsgd.auditing.report.notes import limits, meaning_notes
from testsgd.auditing.report.own_effects import own_effect_sentence
from testsgd.auditing.report.provenance import particulars
from testsgd.auditing.report.runs import runs_blocks
from testsgd.auditing.report.subject import assumed_outcome, outcome_is_assumed
from testsgd.auditing.report.summary import (
    FEWEST_SHOWN,
    AuditSummary,
    DataSummary,
    GroupSummary,
)
from testsgd.auditing.report.term_summary import TermCategorySummary, TermsSummary, TermSummary
from testsgd.auditing.report.vocabulary import Words, vocabulary
from testsgd.report.blocks import (
    GATE_STANDINGS,
    Article,
    Beside,
    Block,
    Bullets,
    Details,
    Document,
    Facts,
    Heading,
    KeyFigure,
    KeyFigures,
    Link,
    Only,
    Paragraph,
    Quotes,
    Section,
    Signature,
    Status,
    Strong,
    Table,
    meaning_section,
)
from testsgd.report.formatting import (
    count,
    interval,
    number,
    percent,
    plural,
    points,
    share,
    size_points,
)
from testsgd.report.summaries import brief_group, origin

# A long list of groups that nothing is known about helps nobody; the JSON document has them all.
_UNDECIDED_SHOWN = 200
_FEW_PEOPLE = (
    f" There is no rate of values that fewer than {FEWEST_SHOWN} rows have: it would say what was "
    "decided about single people."
)
# Sentences of the verdict, and lines of tables of rates, that the page to be signed has room for;
# a table has two lines beside its rows, and each of the first groups takes the room of three.
_FIRST_SENTENCES = 5
_FIRST_LINES = 56
_LINES_OF_TABLE = 2
_LINES_OF_GROUP = 3
# Characters of a group's rules below a key figure.
_FIGURE_TEXT = 120
# Characters of a group's rules in its heading, which Markdown has room for.
_TITLE_TEXT = 150
_STATUS_NAMES = {
    "reported": "Reported, no gate set",
    "gate_passed": "Gate passed",
    "gate_failed": "Gate failed",
    "not_enough_evidence": "Not enough evidence",
}


def audit_layout(summary: AuditSummary) -> Document:
    """Lay an audit out as a report; nothing is computed again."""
    words = vocabulary(summary)
    data = summary.data
    top = wording.findings(summary)
    status = _STATUS_NAMES[summary.verdict.status]
    sentences = summary.verdict.sentences
    # A section for a single sentence is longer than the sentence.
    first = len(sentences) if len(sentences) <= _FIRST_SENTENCES + 1 else _FIRST_SENTENCES
    rates, further_rates = _rates(summary, top, words)
    subject = f"{summary.model.name} on {data.title or data.name}"
    plane = (charts.all_groups(summary, top, words),) if summary.charts.scatter or top else ()
    within = () if summary.within is None else within_blocks(summary.within)
    terms = () if summary.terms is None else _terms(summary, summary.terms)
    settings = _particulars(summary, words)
    return Document(
        what="Group fairness audit",
        subject=subject,
        heading=f"{status}: {subject}",
        status=Status(status, GATE_STANDINGS.get(summary.verdict.status, "")),
        headline=summary.verdict.headline,
        sentences=tuple(sentences[:first]),
        listed=False,
        opening=(
            *_more_sentences(len(sentences) - first),
            Paragraph(_definition(summary), "definition"),
            _figures(summary, top, words),
            # Here and not at the end, so that it is on the first page, however long the tables.
            _on_page(Signature(("Audited by", "Date", "Signature"))),
        ),
        sections=(
            Section("rates", f"Rates by {words.feature}", rates, markdown="folded"),
            Section("differences", "Largest differences", _first(summary, top, words)),
            Section(
                "unknown", "Groups that could not be judged", _unknown_in_short(summary, words)
            ),
            Section("limits", "What this does not say", _limits(summary), markdown="folded"),
            Section("more", "More on the verdict", tuple(map(Paragraph, sentences[first:]))),
            Section(
                "further-rates",
                f"Rates by further {words.features}",
                further_rates,
                f"Further {words.features}",
                folded=True,
            ),
            Section(
                "intervals", "Differences with their intervals", _intervals(summary, top, words)
            ),
            Section("controls", "Terms against neutral words", _controls(summary), "Controls"),
            Section("rules", "Rules that explain the differences", _rules(summary, top, words)),
            Section("within", "Within slices of other features", within, "Within slices"),
            Section(
                "groups",
                "Group by group",
                _groups(summary, top, words),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "all-groups",
                "All groups by size and score",
                plane,
                "Size and score",
                "blocks",
                folded=True,
            ),
            Section(
                "pairs",
                f"Rates by pairs of {words.features}",
                _pairs(summary, words),
                f"Pairs of {words.features}",
                folded=True,
                printed=False,
            ),
            Section(
                "terms",
                "Sensitive terms in the texts",
                terms,
                "Sensitive terms",
                "folded",
                folded=True,
                printed=False,
            ),
            Section(
                "ranking",
                "Ranking",
                _ranking(summary, words),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "runs",
                "Over several seeds",
                runs_blocks(summary.runs, wording.figure_name(summary)),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "small",
                "Each group that could not be judged",
                _unknown(summary, words),
                "Not judged, each",
                "folded",
                folded=True,
                printed=False,
            ),
            Section(
                "columns",
                "What the columns are",
                inferred_columns(data),
                markdown="folded",
                folded=True,
            ),
            Section(
                "particulars",
                "Data, model and settings",
                settings,
                "Data, model, settings",
                "folded",
                folded=True,
            ),
            replace(meaning_section(meaning_notes(summary)), folded=True),
        ),
        **origin(summary),
        closing="Charts, heat maps and all groups are in the HTML report.",
    )


def _on_page(*blocks: Block) -> Only:
    return Only("html", blocks)


def _in_markdown(*blocks: Block) -> Only:
    return Only("markdown", blocks)


def _definition(summary: AuditSummary) -> tuple[str | Strong, ...]:
    """Write which prediction rates are of, and what the gate fails on."""
    label = summary.data.label
    gate = summary.parameters.fail_above
    by_metric = summary.parameters.metric != "selection_rate"
    # Predictions that exist stand in a column of their own, beside that of the true labels.
    has_column = summary.data.kind == "rows" and not summary.data.predictions_given
    rest = f" in column {label.column}" if has_column and not by_metric else ""
    rest += f", that is, {label.meaning}." if label.meaning else "."
    if summary.model.output == "scores" and summary.model.threshold is not None:
        rest += f" A score above {number(summary.model.threshold)} counts as this prediction."
    if gate is not None:
        what = "a difference"
        kind = summary.guarantee.kind
        if kind == "simultaneous":
            what = "a lower confidence bound"
        elif kind == "fdr" and not wording.by_terms(summary):
            what = "the difference of a discovery"
        rest += f" The gate fails if {what} exceeds {size_points(gate)}."
    ratio = summary.parameters.fail_below_ratio
    if ratio is not None:
        what = "an upper confidence bound of a ratio"
        if summary.guarantee.kind != "simultaneous":
            what = "a ratio"
        rest += f" The gate by ratios fails if {what} is below {number(ratio)}."
    if outcome_is_assumed(summary):
        rest += f" {assumed_outcome(summary)}"
    prediction = Strong(f"“{label.favourable}”")
    words = vocabulary(summary)
    if by_metric:
        rows = words.observed(label.favourable)
        whose = f"the share of which it holds that {words.predicate(label.favourable)}"
        article = "an" if words.rate.startswith("A") else "a"
        rate = f"{article} {words.rate.lower()}"
        return (f"Every rate is {rate}: {rows[0].lower()}{rows[1:]}, {whose}{rest}",)
    of_prediction = words.of_prediction
    return f"Every rate is the rate of {of_prediction}: predicted ", prediction, rest


def _figures(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> KeyFigures:
    holdout = summary.holdout
    rows = words.rows_figure
    compared = summary.counts.groups
    if holdout is not None:
        rows = f"{words.many.capitalize()} held out"
        compared = holdout.groups
    what = wording.figure_name(summary)
    known = points(leading_difference(summary, top[0])) if top else "none"
    if top and leads_by_own_effect(summary, top[0]):
        what, own = "own effect", top[0].own_effect
        known = points(own.difference) if own is not None else known
    # Groups are in the order of a bound, so that the first may have no largest difference.
    another = leading_control(summary) or (top and leading_look(summary, top[0]))
    whose = "Headline" if another else "First group"
    figures = [
        KeyFigure(rows, count(summary.data.rows)),
        KeyFigure("Groups examined", count(compared)),
        KeyFigure("Overall rate", percent(summary.overall_rate)),
        KeyFigure(f"{whose}'s {what}", known, _whose_difference(summary, top)),
        KeyFigure("Mode", wording.mode_name(summary)),
    ]
    if not summary.data.predictions_given:
        figures.append(KeyFigure("Model queries", count(summary.model_queries)))
    return KeyFigures(tuple(figures))


def _whose_difference(summary: AuditSummary, top: Sequence[GroupSummary]) -> tuple[str, ...]:
    """Write whose the top difference of rows is: its sign is that of the group, as in lists."""
    if not top or summary.data.kind == "texts":
        return ()
    leading = leading_look(summary, top[0]) or top[0]
    return (f"of {brief_group(leading, _FIGURE_TEXT)}, less its complement",)


def _first(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> tuple[Block, ...]:
    """List the first group and those that explain the differences."""
    if not top:
        why = "could be decided" if summary.groups else "was large enough to be compared"
        return (Paragraph(f"There is no group to show here: no group {why}."),)
    return (
        *_beyond(summary, top[0]),
        Paragraph(wording.findings_intro(summary)),
        tables.group_table(summary, top, words, "First groups", compact=True),
        _on_page(Paragraph(_where_others_are(summary), "soft")),
    )


def _where_others_are(summary: AuditSummary) -> tuple[str | Link, ...]:
    """Write where the other groups are, and how many of them if a report has not all."""
    listed = len(summary.groups)
    groups = summary.counts.groups
    if listed >= groups:
        return "All others are in the ", Link("full ranking", "ranking"), "."
    return "The ", Link("ranking", "ranking"), f" has {count(listed)} of {count(groups)} groups."


def _intervals(
    summary: AuditSummary, top: Sequence[GroupSummary], words: Words
) -> tuple[Block, ...]:
    """Draw the differences of the first groups with their intervals, on a page only."""
    if not top:
        return ()
    label = summary.data.label.favourable
    name = words.estimands[summary.parameters.estimand]
    if summary.parameters.estimand == "observed":
        name = words.observed(label)
    estimand = f", {name[0].lower()}{name[1:]}" if words.kind == "rows" else ""
    difference = (
        f"the {words.rate.lower()} of the group minus that of its complement{estimand}: "
        f"{words.sides_of_zero(label)}."
    )
    effect = "the counterfactual effect of the terms"
    if wording.by_terms(summary):
        drawn = f"Each dot, like the number at the right, shows {effect}."
        drawn += f" The ring below a dot shows {difference}"
    else:
        drawn = f"Each dot shows {difference}"
        if any(group.counterfactual for group in top):
            drawn += f" The ring below a dot shows {effect}."
    return (_on_page(Paragraph(drawn), charts.first_groups(summary, top, words)),)


def _rules(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> tuple[Block, ...]:
    """List the fewest rules that explain how rates differ."""
    if not summary.rules or not top:
        return ()
    fewest = Paragraph(f"The fewest rules that explain {words.variation}:")
    return (fewest, tables.rules_table(summary, top))


def _beyond(summary: AuditSummary, top: GroupSummary) -> tuple[Block, ...]:
    """Write which group a look beyond the search found, if that is the larger finding."""
    look = leading_look(summary, top)
    if look is None:
        larger = larger_look(summary, top)
        if larger is None:
            return ()
        name = brief_group(larger, wording.TEXT_LIMIT)
        found = f"{name}, {points(larger.difference)}"
        ends = interval(larger.confidence_interval)
        return (
            Paragraph(f"A look beyond the search found a larger difference: {found} ({ends})."),
        )
    text = brief_group(look, wording.TEXT_LIMIT)
    about = "These are groups of the search. The headline is about a group that a look beyond it"
    return (Paragraph(f"{about} found: {text}, {points(look.difference)}."),)


def _unknown_in_short(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    """Write how many groups could not be judged, and that nothing follows for them."""
    counts = summary.counts
    undecided = counts.undecided_small + counts.undecided_frequent
    if not undecided:
        return (Paragraph("There are none: every group that was looked at could be judged."),)
    if summary.parameters.groups:
        named = f"{count(undecided)} of {plural(counts.candidates, 'named group')}"
        return (Paragraph(f"{named}: neither fair nor unfair; what {words.deciding} is unknown."),)
    who = wording.unjudged_in_short(summary.unjudged, words)
    listed = " They are ", Link("listed one by one", "small"), "."
    return (_on_page(Paragraph((who, *listed))), _in_markdown(Paragraph(who)))


def _limits(summary: AuditSummary) -> tuple[Block, ...]:
    """Write what does not follow from an audit."""
    return (Bullets(limits(summary)),)


def _unknown(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    small = summary.undecided[:_UNDECIDED_SHOWN]
    counts = summary.counts
    undecided = [group for group in summary.groups if not group.decided]
    blocks: list[Block] = []
    if small or counts.undecided_small:
        too = f"{plural(counts.undecided_small, 'group is', 'groups are')} too small"
        fold = f"{plural(len(small), 'group')}, each with the reason"
        blocks += _listed(too, len(small), counts.undecided_small)
        blocks.append(tables.small_table(small, words, fold))
    if undecided or counts.undecided_frequent:
        margin = size_points(summary.parameters.error_margin)
        number = plural(counts.undecided_frequent, "group")
        large = f"Large enough, but with a sampling margin above {margin}: {number}"
        blocks += _listed(large, len(undecided), counts.undecided_frequent)
        blocks.append(tables.undecided_table(undecided, words))
    return tuple(blocks)


def _listed(text: str, listed: int, of: int) -> tuple[Block, ...]:
    """Write how many groups there are, and how many of them a view lists."""

    def written(shown: int) -> Paragraph:
        part = f", of which {count(shown)} are listed" if 0 < shown < of else ""
        return Paragraph(f"{text}{part}.")

    return _on_page(written(listed)), _in_markdown(written(min(listed, tables.SHOWN)))


def _groups(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> tuple[Block, ...]:
    """Show the first groups one after the other."""
    if not top:
        return ()
    differences = charts.groups_scale(top)
    rates = charts.sides_scale(top)
    end = rates.ticks[-1].label
    about = _on_page(Paragraph(f"The same groups. Bars of rates run from 0 to {end}."))
    label = summary.data.label.favourable
    # What is doubtful about the terms, by category and text of a rule.
    doubtful = {
        (category.name, f"“{term.term}”"): f" ({wording.doubts(term)})"
        for category in (summary.terms.categories if summary.terms is not None else ())
        for term in category.terms
        if wording.doubts(term)
    }
    articles = []
    for group in top:
        rules = [
            f"{words.rule_in_words(rule)}{doubtful.get((rule.feature, rule.text), '')}"
            for rule in group.rules
        ]
        none = wording.no_correlated_features(group)
        conditional = wording.conditional_sentence(group)
        blocks = (
            Paragraph(wording.compared(group, label, words), "lead"),
            *_texts(words.effect(group, label)),
            *_texts(own_effect_sentence(group.own_effect)),
            *_texts(wording.carried_sentence(group)),
            Heading(words.members),
            Bullets(tuple(rules)),
            Paragraph(words.size(group), "soft"),
            charts.group_rates(group, rates, label, words),
            Facts("Difference and uncertainty", _group_facts(group, summary, words)),
            *_alone(group, words, charts.group_parts(group, differences, words)),
            *_added(group, words, charts.group_steps(group, differences, words)),
            *_texts(wording.simplest_sentence(group, words)),
            tables.correlated_table(group),
            *((Paragraph(none, "soft"),) if none else ()),
            *_texts(f"Conditional difference. {conditional}" if conditional else ""),
        )
        title = brief_group(group, _TITLE_TEXT)
        articles.append(Article(f"group-{group.rank}", title, blocks, rank=str(group.rank)))
    return (about, *articles)


def _group_facts(
    group: GroupSummary, summary: AuditSummary, words: Words
) -> tuple[tuple[str, str], ...]:
    other = group.other
    effect = group.counterfactual
    facts = [
        ("Score", size_points(group.score)),
        ("Difference", points(group.difference)),
        ("Sampling margin", wording.sampling_margin(group, words)),
        ("Confidence interval", f"{interval(group.confidence_interval)} points"),
    ]
    if group.ratio is not None and group.ratio_interval is not None:
        facts.append(("Ratio of the smaller rate to the larger", wording.ratio_text(group)))
    if other is not None and other.difference is not None and other.confidence_interval is not None:
        ends = interval(other.confidence_interval)
        rates = f"{wording.other_rates(other)}: {points(other.difference)}"
        name = f"{other.estimand.capitalize()} rates"
        facts.append((name, f"{rates}, confidence interval {ends}"))
    if effect is not None:
        ends = interval(effect.confidence_interval)
        measured = f"{points(effect.difference)}, confidence interval {ends}"
        pairs = f"{plural(effect.seeds, 'text')} in both forms"
        facts.append(("Counterfactual effect", f"{measured}; {pairs}"))
    return (*facts, *wording.trust_facts(group, summary, words))


def _alone(group: GroupSummary, words: Words, figure: Block) -> tuple[Block, ...]:
    several = len(group.rules_alone) > 1
    if several or group.counterfactual:
        title = f"What each {words.rule} gives on its own" if several else "Compared in two ways"
        table = (_in_markdown(tables.parts_table(group, words)),) if several else ()
        return Heading(title), figure, *table, *_texts(wording.apart(group, words))
    if len(group.rules) == 1:
        single = f"The group is described by a single {words.rule}, so there are no parts to "
        return (Paragraph(f"{single}compare it with.", "soft"),)
    return ()


def _texts(text: str) -> tuple[Block, ...]:
    return (Paragraph(text),) if text else ()


def _added(group: GroupSummary, words: Words, figure: Block | None) -> tuple[Block, ...]:
    """Show what each rule adds; Markdown, which has no figures, writes it."""
    if figure is None or group.explanation is None:
        return ()
    items = [f"{item.text}: {points(item.value)}" for item in group.explanation.shapley_values]
    heading = Heading(f"What each {words.rule} adds (Shapley value)")
    return heading, figure, _in_markdown(Bullets(tuple(items)))


def inferred_columns(data: DataSummary) -> tuple[Block, ...]:
    """Show what the columns were taken for, if there was no description."""
    if not data.inferred:
        return ()
    about = (
        "There was no description; what the columns are was guessed from their cells. Numbers "
        "are cut where about as many rows are on each side. Correct a guess by a keyword, an "
        "option or a description."
    )
    return (Paragraph(about), tables.inferred_table(data))


def _rates(
    summary: AuditSummary, top: Sequence[GroupSummary], words: Words
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Show the rates by feature, or by the terms of each category: the first, and all others."""
    if not summary.charts.features:
        return (), ()
    label = summary.data.label.favourable
    overall = percent(summary.overall_rate)
    listed = tables.rates_tables(summary, words)
    in_markdown: tuple[Block, ...] = ()
    if any(table.rows for table in listed):
        in_markdown = (_in_markdown(Paragraph(f"The overall rate is {overall}."), *listed),)
    if words.kind == "texts":
        figure, scale = charts.feature_bars(summary, words)
        about = (
            f"How often the model predicts “{label}” where one term stands in place of every "
            "term of its category. All terms of a category are put into the same texts: what "
            "differs between them is the effect of the terms. The upright line is the rate of "
            f"all texts as they are, {overall}; the bars run from 0 to {scale.ticks[-1].label}."
        )
        if any(cell.confidence_interval for item in summary.charts.features for cell in item.cells):
            sure = share(summary.parameters.confidence)
            about += f" Beside each rate is its {sure} confidence interval, of that rate by itself."
        return (_on_page(Paragraph(about), figure), *in_markdown), ()
    about = (
        f"How often {words.predicate(label)} for each value of each sensitive feature; overall "
        f"{overall}."
    )
    cells = [cell for feature in summary.charts.features for cell in feature.cells]
    if any(cell.confidence_interval for cell in cells):
        about += " Each interval is of its own rate, by itself."
    if any(cell.n and cell.rate is None for cell in cells):
        about += _FEW_PEOPLE
    if any(cell.base_rate is not None for cell in cells):
        about += f" The base rate is how often the file itself says “{label}”."
    first, further = _first_features(summary, top, listed)
    if further:
        rest = plural(len(further), words.feature, words.features)
        about += f" {rest} more {'is' if len(further) == 1 else 'are'} further down."
    shown = (_on_page(Paragraph(about), Beside(first)), *in_markdown)
    return shown, (_on_page(Beside(further)),) if further else ()


def _first_features(
    summary: AuditSummary, top: Sequence[GroupSummary], listed: Sequence[Table]
) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
    """Part the rates of features: those that the first page has room for, and all others.

    If it has no room for all, those of the headline's group come first.
    """
    leading = (leading_look(summary, top[0]) or top[0]) if top else None
    named = {rule.feature for rule in leading.rules} if leading else set()
    ordered = sorted(listed, key=lambda table: table.title not in named)
    lines = accumulate(len(table.rows) + _LINES_OF_TABLE for table in ordered)
    room = _FIRST_LINES - _LINES_OF_GROUP * len(top)
    kept = max(1, sum(together <= room for together in lines))
    if kept == len(listed):
        return tuple(listed), ()
    return tuple(ordered[:kept]), tuple(ordered[kept:])


def _more_sentences(left: int) -> tuple[Block, ...]:
    """Write that the verdict has more sentences than stand above, if it has."""
    if not left:
        return ()
    what = f"{plural(left, 'sentence')} more on the verdict"
    return (_on_page(Paragraph((Link(what, "more"), " further down."), "soft")),)


def _pairs(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    """Draw the rates by pairs of features or of categories of terms, on a page only."""
    if not summary.charts.heat_maps:
        return ()
    overall = percent(summary.overall_rate)
    sampled = summary.mode == "sampled"
    none = f", or fewer than {FEWEST_SHOWN}"
    none += ", or none that was sampled" * sampled
    about = (
        "Two features at a time. Each number is a rate in per cent. The colour says how far it "
        f"is from the overall rate, {overall}. Slanted numbers rest on fewer than "
        f"{charts.FEW_ROWS} rows; hatched cells have no rows{none}. Pointing at a cell shows "
        "its rows."
    )
    if words.kind == "texts":
        about = (
            "Two categories at a time. Each number is a rate in per cent. All pairs of terms "
            "of a map are put into the same texts. The colour says how far a rate is from the "
            "mean of its map, so it shows the terms and not what the texts are about. Pointing "
            f"at a cell shows the difference.{' Hatched cells were not sampled.' * sampled}"
        )
    return (_on_page(Paragraph(about), *charts.heat_maps(summary, words)),)


def _terms(summary: AuditSummary, terms: TermsSummary) -> tuple[Block, ...]:
    """Show the sensitive terms and places in the texts: on a page category by category."""
    source = f" ({terms.source})" if terms.source else ""
    intro = f"The list “{terms.name}”{source}. {plural(terms.texts, 'text')}"
    left_out = (
        "Places in the texts are left out, as they are pieces of the data; --snippets 3, in "
        "Python snippets=3, shows up to three of each term."
    )
    shown = ", and the places show how it is used here."
    if not terms.snippets_shown:
        shown = f". {left_out}"
    about = (
        f"{intro} of {count(summary.data.rows)} mention at least one of its terms. A term is found "
        "by its letters, not by its meaning: where it is known to be ambiguous, the table says "
        f"so{shown}"
    )
    return (Paragraph(about), *(_category(summary, item) for item in terms.categories))


def _controls(summary: AuditSummary) -> tuple[Block, ...]:
    """Show what the terms change against neutral words."""
    controls = None if summary.terms is None else summary.terms.controls
    if controls is None or not controls.effects:
        return ()
    about = (
        "The same texts with the terms and with neutral words, or nothing, in their place. The "
        "control effect is the difference from the control that is nearest to zero; its interval "
        "leaves out zero only if every control does."
    )
    return Paragraph(about), tables.controls_table(controls)


def _category(summary: AuditSummary, category: TermCategorySummary) -> Article:
    about = (
        f"{plural(category.texts, 'text')}, {percent(category.share)} of all, with "
        f"{plural(category.mentions, 'mention')} of {plural(len(category.terms), 'term')}."
    )
    if category.texts < summary.unjudged.fewest:
        fewest = plural(summary.unjudged.fewest, "text")
        about += f" That is fewer than {fewest}: the terms are not judged."
    terms = sorted(category.terms, key=lambda term: -term.mentions)
    places = _places(terms)
    title = f"Places in the texts with a term of {category.name}"
    table = tables.category_table(category.name, terms)
    folded = (Details(title, places),) if places else ()
    return Article(f"category-{category.name}", category.name, (Paragraph(about), table, *folded))


def _places(terms: Sequence[TermSummary]) -> tuple[Quotes, ...]:
    places = tuple(
        (term.term, tuple((place.before, place.term, place.after) for place in term.snippets))
        for term in terms
        if term.snippets
    )
    return (Quotes(places),) if places else ()


def _ranking(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    if not summary.groups:
        return ()
    groups = summary.counts.groups
    by = wording.ranked_by(summary)
    shown = min(len(summary.groups), tables.SHOWN)
    first = f"The first {plural(shown, 'group')} of {count(groups)}, by {by}."
    marked = "The rules that explain how the rates differ are marked."
    listed = len(summary.groups)
    of_all = f"of {plural(groups, 'group')}"
    if listed < groups:
        of_all = f"{count(listed)} {of_all}: the first, and those that explain the differences"
    every = f"By {by}, {of_all}. {marked}"
    name = "Full ranking" if listed >= groups else "Ranking"
    fold = f"{plural(len(summary.groups), 'group')} by rank"
    table = tables.group_table(summary, summary.groups, words, name, fold=fold)
    return _in_markdown(Paragraph(first)), _on_page(Paragraph(every)), table


def _particulars(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    data, *rest = particulars(summary)
    blocks: list[Block] = [data]
    if notes := tuple(summary.data.notes):
        blocks.append(Bullets(notes))
    if words.kind == "rows":
        fold = plural(len(summary.data.features), "feature")
        blocks.append(tables.features_table(summary, fold))
    return (*blocks, *rest)
