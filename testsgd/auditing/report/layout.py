"""How an audit is laid out as a report."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.auditing.report import charts, tables
from testsgd.auditing.report.notes import meaning_notes
from testsgd.auditing.report.provenance import particulars
from testsgd.auditing.report.summary import (
    AuditSummary,
    GroupSummary,
    TermCategorySummary,
    TermsSummary,
    TermSummary,
)
from testsgd.auditing.report.vocabulary import Words, vocabulary
from testsgd.auditing.report.wording import (
    STATUS_NAMES,
    apart,
    by_terms,
    compared,
    conditional_sentence,
    correlated_features,
    doubts,
    examined,
    findings,
    findings_intro,
    gate_rule,
    mode_name,
    no_correlated_features,
    other_rates,
    ranked_by,
    rows_figure,
    sampling_margin,
    simplest_sentence,
    top_figure,
    trust_facts,
    unjudged_sentences,
)
from testsgd.report.blocks import (
    GATE_STANDINGS,
    Article,
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
    Status,
    Strong,
    meaning_section,
)
from testsgd.report.formatting import (
    count,
    interval,
    number,
    percent,
    plural,
    points,
    shorten,
    size_points,
)
from testsgd.report.summaries import origin

# A long list of groups that nothing is known about helps nobody; the JSON document has them all.
_UNDECIDED_SHOWN = 200


def audit_layout(summary: AuditSummary) -> Document:
    """Lay an audit out as a report; nothing is computed again."""
    words, data = vocabulary(summary), summary.data
    top = findings(summary)
    status = STATUS_NAMES[summary.verdict.status]
    subject = f"{summary.model.name} on {data.title or data.name}"
    standing = GATE_STANDINGS.get(summary.verdict.status, "")
    return Document(
        what="Group fairness audit",
        subject=subject,
        heading=f"{status}: {subject}",
        status=Status(status, standing),
        headline=summary.verdict.headline,
        sentences=tuple(summary.verdict.sentences),
        listed=False,
        opening=(Paragraph(_definition(summary, words), "definition"), _figures(summary, top)),
        sections=(
            Section("differences", "Largest differences", _differences(summary, top, words)),
            Section(
                "all-groups",
                "All groups by size and score",
                (charts.all_groups(summary, top, words),) if summary.charts.scatter or top else (),
                contents="Size and score",
                markdown="blocks",
            ),
            Section(
                "unknown",
                "Groups that could not be judged",
                _unknown(summary, words),
                contents="Not judged",
            ),
            Section("groups", "Group by group", _groups(summary, top, words), markdown="blocks"),
            Section(
                "parts",
                f"What each {words.rule} gives on its own",
                _parts(top, words),
                markdown="folded",
            ),
            Section(
                "uncertainty",
                "Uncertainty and correlated features",
                _uncertainty(summary, top, words),
                markdown="folded",
            ),
            Section(
                "rates", f"Rates by {words.feature}", _rates(summary, words), markdown="folded"
            ),
            Section(
                "terms",
                "Sensitive terms in the texts",
                _terms(summary),
                contents="Sensitive terms",
                markdown="folded",
            ),
            Section("ranking", "Ranking", _ranking(summary, words), markdown="folded"),
            Section(
                "particulars",
                "Data, model and settings",
                _particulars(summary, words),
                contents="Data, model, settings",
                markdown="folded",
            ),
            meaning_section(meaning_notes(summary)),
        ),
        **origin(summary),
        closing="Charts, heat maps and all groups are in the HTML report.",
    )


def _definition(summary: AuditSummary, words: Words) -> tuple[str | Strong, ...]:
    label = summary.data.label
    column = f" in column {label.column}" if words.kind == "rows" else ""
    meaning = f", that is, {label.meaning}" if label.meaning else ""
    rest = f"{column}{meaning}."
    if summary.model.output == "scores" and summary.model.threshold is not None:
        rest += f" A score above {number(summary.model.threshold)} counts as this prediction."
    rule = gate_rule(summary)
    return (
        "Every rate is the rate of one prediction of the model: predicted ",
        Strong(f"“{label.favourable}”"),
        f"{rest}{' ' * bool(rule)}{rule}",
    )


def _figures(summary: AuditSummary, top: Sequence[GroupSummary]) -> KeyFigures:
    words = vocabulary(summary)
    figures = {
        rows_figure(summary, words): count(summary.data.rows),
        "Groups examined": count(examined(summary)),
        "Overall rate": percent(summary.overall_rate),
        **dict([top_figure(summary)]),
        "Mode": mode_name(summary),
        "Model queries": count(summary.model_queries),
    }
    return KeyFigures(tuple(KeyFigure(name, value) for name, value in figures.items()))


def _differences(
    summary: AuditSummary, top: Sequence[GroupSummary], words: Words
) -> tuple[Block, ...]:
    if not top:
        why = "could be decided" if summary.groups else "was large enough to be compared"
        return (Paragraph(f"There is no group to show here: no group {why}."),)
    intro, label = findings_intro(summary), summary.data.label.favourable
    estimand = ""
    if words.kind == "rows":
        name = words.estimands[summary.parameters.estimand]
        estimand = f", {name[0].lower()}{name[1:]}"
    drawn = (
        f"{intro} Each dot shows the selection rate of the group minus that of its complement"
        f"{estimand}: left of zero the group is predicted “{label}” less often than "
        f"{words.others}, right of zero more often."
    )
    if any(group.counterfactual for group in top):
        drawn += " The ring below a dot shows the counterfactual effect of the terms"
        drawn += ", and so does the number at the right." if by_terms(summary) else "."
    ranking = Link("full ranking", "ranking")
    listed = (
        f"{intro} The difference is the selection rate of the group minus that of its complement."
    )
    rules = (
        Paragraph(f"The fewest rules that explain {words.variation}:"),
        tables.rules_table(summary, top),
    )
    return (
        *(rules if summary.rules else ()),
        Only("html", (Paragraph(drawn), charts.first_groups(summary, top))),
        Only("markdown", (Paragraph(listed),)),
        tables.group_table(summary, top, words, "First groups", compact=True),
        Only("html", (Paragraph(("All others are in the ", ranking, "."), "soft"),)),
    )


def _unknown(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    small, counts = summary.undecided[:_UNDECIDED_SHOWN], summary.counts
    undecided = [group for group in summary.groups if not group.decided]
    if not (small or undecided or counts.undecided_small or counts.undecided_frequent):
        return (Paragraph("There are none: every group that was looked at could be judged."),)
    blocks: list[Block] = [Paragraph(item) for item in unjudged_sentences(summary.unjudged, words)]
    blocks.append(
        Paragraph("These groups are neither fair nor unfair; what the model does is unknown.")
    )
    if small or counts.undecided_small:
        too = f"{plural(counts.undecided_small, 'group is', 'groups are')} too small"
        fold = f"{plural(len(small), 'group')}, each with the reason"
        blocks += _listed(too, len(small), counts.undecided_small)
        blocks.append(tables.small_table(small, words, fold))
    if undecided or counts.undecided_frequent:
        large = (
            "Large enough, but with a sampling margin above "
            f"{size_points(summary.parameters.error_margin)}: "
            f"{plural(counts.undecided_frequent, 'group')}"
        )
        blocks += _listed(large, len(undecided), counts.undecided_frequent)
        blocks.append(tables.undecided_table(undecided, words))
    return tuple(blocks)


def _listed(text: str, listed: int, of: int) -> tuple[Block, ...]:
    """Write how many groups there are, and how many of them a view lists."""

    def written(shown: int) -> Paragraph:
        part = f", of which {count(shown)} are listed" if 0 < shown < of else ""
        return Paragraph(f"{text}{part}.")

    return (
        Only("html", (written(listed),)),
        Only("markdown", (written(min(listed, tables.SHOWN)),)),
    )


def _groups(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> tuple[Block, ...]:
    """Show the first groups one after the other; a page only."""
    if not top:
        return ()
    differences, rates = charts.groups_scale(top), charts.sides_scale(top)
    about = (
        f"The same groups one after the other. Bars of rates run from 0 to {rates.ticks[-1].label}."
    )
    label = summary.data.label.favourable
    doubtful = _doubtful(summary)
    articles = []
    for group in top:
        effect = words.effect(group, label)
        rules = Bullets(
            tuple(
                f"{words.rule_in_words(rule)}{doubtful.get((rule.feature, rule.text), '')}"
                for rule in group.rules
            )
        )
        steps = charts.group_steps(group, differences, words)
        blocks: list[Block | None] = [
            Paragraph(compared(group, label, words), "lead"),
            Paragraph(effect) if effect else None,
            Heading(words.members),
            rules,
            Paragraph(words.size(group), "soft"),
            charts.group_rates(group, rates, label),
            Facts("Difference and uncertainty", _group_facts(group, summary, words)),
            *_alone(group, words, charts.group_parts(group, differences, words)),
            *((Heading(f"What each {words.rule} adds"), steps) if steps else ()),
            *_texts(simplest_sentence(group, words)),
            *_correlated(group),
        ]
        articles.append(
            Article(
                f"group-{group.rank}",
                shorten(group.text, 240),
                tuple(block for block in blocks if block is not None),
                rank=str(group.rank),
            )
        )
    return (Only("html", (Paragraph(about), *articles)),)


def _doubtful(summary: AuditSummary) -> dict[tuple[str, str], str]:
    """Return for each category and text of a rule what is doubtful about its term."""
    categories = summary.terms.categories if summary.terms is not None else []
    return {
        (category.name, f"“{term.term}”"): f" ({doubts(term)})"
        for category in categories
        for term in category.terms
        if doubts(term)
    }


def _group_facts(
    group: GroupSummary, summary: AuditSummary, words: Words
) -> tuple[tuple[str, str], ...]:
    other, effect = group.other, group.counterfactual
    facts = [
        ("Score", size_points(group.score)),
        ("Difference", points(group.difference)),
        ("Sampling margin", sampling_margin(group, words)),
        ("Confidence interval", f"{interval(group.confidence_interval)} points"),
    ]
    if other is not None and other.difference is not None and other.confidence_interval is not None:
        ends = interval(other.confidence_interval)
        rates = f"{other_rates(other)}: {points(other.difference)}, confidence interval {ends}"
        facts.append((f"{other.estimand.capitalize()} rates", rates))
    if effect is not None:
        ends = interval(effect.confidence_interval)
        measured = f"{points(effect.difference)}, confidence interval {ends}"
        pairs = f"{plural(effect.seeds, 'text')} in both forms"
        facts.append(("Counterfactual effect", f"{measured}; {pairs}"))
    return (*facts, *trust_facts(group, summary, words))


def _alone(group: GroupSummary, words: Words, figure: Block) -> tuple[Block, ...]:
    if len(group.rules_alone) > 1 or group.counterfactual:
        several = len(group.rules_alone) > 1
        title = f"What each {words.rule} gives on its own" if several else "Compared in two ways"
        return Heading(title), figure, *_texts(apart(group, words))
    if len(group.rules) == 1:
        single = f"The group is described by a single {words.rule}, so there are no parts to "
        return (Paragraph(f"{single}compare it with.", "soft"),)
    return ()


def _correlated(group: GroupSummary) -> tuple[Block, ...]:
    """Show the features that go with a group, and the conditional difference."""
    conditional, none = conditional_sentence(group), no_correlated_features(group)
    return (
        tables.correlated_table(group),
        *((Paragraph(none, "soft"),) if none else ()),
        *((Paragraph(("Conditional difference. ", conditional)),) if conditional else ()),
    )


def _texts(text: str) -> tuple[Block, ...]:
    return (Paragraph(text),) if text else ()


def _parts(top: Sequence[GroupSummary], words: Words) -> tuple[Block, ...]:
    """List what each rule gives on its own; a page draws it."""
    table = tables.parts_table(top, words)
    return (Only("markdown", (table,)),) if table.rows else ()


def _uncertainty(
    summary: AuditSummary, top: Sequence[GroupSummary], words: Words
) -> tuple[Block, ...]:
    """List how certain each group is, and what goes with it; a page says it group by group."""
    blocks: list[Block] = []
    for group in top:
        facts = [
            f"{name}: {text}"
            for name, text in trust_facts(group, summary, words)
            if name not in ("Lower confidence bound", "q-value")
        ]
        if group.explanation is not None and len(group.explanation.shapley_values) > 1:
            added = [
                f"{item.text} {points(item.value)}" for item in group.explanation.shapley_values
            ]
            facts.append(f"What each {words.rule} adds (Shapley value): {'; '.join(added)}")
        if differing := [
            f"{item.feature} ({item.mean_in} against {item.mean_out})"
            for item in correlated_features(group)
        ]:
            facts.append(f"Correlated features, not causes: {'; '.join(differing)}")
        facts += [
            no_correlated_features(group),
            simplest_sentence(group, words),
            conditional_sentence(group),
        ]
        items = tuple(fact for fact in facts if fact)
        if items:
            blocks += [
                Paragraph((Strong(f"{group.rank}. {shorten(group.text, 160)}"),)),
                Bullets(items),
            ]
    return (Only("markdown", tuple(blocks)),) if blocks else ()


def _rates(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if summary.charts.features:
        figure, scale = charts.feature_bars(summary, words)
        about = Paragraph(_about_rates(summary, scale.ticks[-1].label))
        blocks.append(Only("html", (about, figure)))
        overall = Paragraph(f"The overall rate is {percent(summary.overall_rate)}.")
        table = tables.rates_table(summary, words)
        if table.rows:
            blocks.append(Only("markdown", (overall, table)))
    if summary.charts.heat_maps:
        about = Paragraph(_about_heat(summary, words))
        blocks.append(Only("html", (about, *charts.heat_maps(summary, words))))
    return tuple(blocks)


def _about_rates(summary: AuditSummary, end: str) -> str:
    label, overall = summary.data.label.favourable, percent(summary.overall_rate)
    if summary.data.kind == "texts":
        return (
            f"How often the model predicts “{label}” where one term stands in place of every term "
            "of its category. All terms of a category are put into the same texts: what differs "
            "between them is the effect of the terms. The upright line is the rate of all texts as "
            f"they are, {overall}; the bars run from 0 to {end}."
        )
    return (
        f"How often the model predicts “{label}” for each value of each sensitive feature. The "
        f"upright line is the overall rate, {overall}; the bars run from 0 to {end}."
    )


def _about_heat(summary: AuditSummary, words: Words) -> str:
    sampled = summary.mode == "sampled"
    if words.kind == "texts":
        hatched = " Hatched cells were not sampled." * sampled
        return (
            "Two categories at a time. Each number is a rate in per cent. All pairs of terms of a "
            "map are put into the same texts. The colour says how far a rate is from the mean of "
            "its map, so it shows the terms and not what the texts are about. Pointing at a cell "
            f"shows the difference.{hatched}"
        )
    none = ", or none that was sampled" * sampled
    return (
        "Two features at a time. Each number is a rate in per cent. The colour says how far it is "
        f"from the overall rate, {percent(summary.overall_rate)}. Slanted numbers rest on fewer "
        f"than {charts.FEW_ROWS} rows; hatched cells have no rows{none}. Pointing at a cell shows "
        "its rows."
    )


def _terms(summary: AuditSummary) -> tuple[Block, ...]:
    terms = summary.terms
    if terms is None:
        return ()
    source = f" ({terms.source})" if terms.source else ""
    intro = f"The list “{terms.name}”{source}. {plural(terms.texts, 'text')}"
    page, listed = _terms_page(summary, terms, intro), _terms_listed(terms, intro)
    return Only("html", page), Only("markdown", listed)


def _terms_listed(terms: TermsSummary, intro: str) -> tuple[Block, ...]:
    listed = [
        (category.name, term)
        for category in terms.categories
        for term in sorted(category.terms, key=lambda term: -term.mentions)
    ]
    left_out = "Places in the texts are left out, because the texts are not to be shown."
    places = _places([term for _, term in listed]) if terms.snippets_shown else Paragraph(left_out)
    about = Paragraph(f"{intro} mention its terms.")
    return about, tables.terms_table(listed), *((places,) if places else ())


def _terms_page(summary: AuditSummary, terms: TermsSummary, intro: str) -> tuple[Block, ...]:
    shown = (
        "the table says so, and the places show how it is used here."
        if terms.snippets_shown
        else "the table says so. Places in the texts are left out, because the texts are not to "
        "be shown."
    )
    about = (
        f"{intro} of {count(summary.data.rows)} mention at least one of its terms. A term is found "
        f"by its letters, not by its meaning: where it is known to be ambiguous, {shown}"
    )
    return Paragraph(about), *(_category(summary, category) for category in terms.categories)


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
    return Article(
        f"category-{category.name}",
        category.name,
        (
            Paragraph(about),
            tables.category_table(category.name, terms),
            *((Details(title, (places,)),) if places else ()),
        ),
    )


def _places(terms: Sequence[TermSummary]) -> Quotes | None:
    places = tuple(
        (term.term, tuple((place.before, place.term, place.after) for place in term.snippets))
        for term in terms
        if term.snippets
    )
    return Quotes(places) if places else None


def _ranking(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    if not summary.groups:
        return ()
    shown, by = min(len(summary.groups), tables.SHOWN), ranked_by(summary)
    first = f"The first {plural(shown, 'group')} of {count(summary.counts.groups)}, by {by}."
    every = (
        f"By {by}, of {plural(summary.counts.groups, 'group')}. The rules that explain how the "
        "rates differ are marked."
    )
    return (
        Only("markdown", (Paragraph(first),)),
        Only("html", (Paragraph(every),)),
        tables.group_table(
            summary,
            summary.groups,
            words,
            "Full ranking",
            remarks=True,
            fold=f"{plural(len(summary.groups), 'group')} by rank",
        ),
    )


def _particulars(summary: AuditSummary, words: Words) -> tuple[Block, ...]:
    data, *rest = particulars(summary)
    notes = tuple(summary.data.notes)
    blocks: list[Block] = [data]
    if notes:
        blocks.append(Only("html", (Bullets(notes),)))
        blocks.append(Only("markdown", tuple(Paragraph(note) for note in notes)))
    if words.kind == "rows":
        fold = plural(len(summary.data.features), "feature")
        blocks.append(tables.features_table(summary, fold))
    return (*blocks, *rest)
