"""The summary of an audit as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.report import formatting
from testsgd.report.formatting import count, interval, number, percent, plural, points, size_points
from testsgd.reporting import explanations, particulars, wording
from testsgd.reporting.behind import (
    conditional_sentence,
    contrasts,
    no_contrasts,
    q_text,
    simplest_sentence,
    trust_facts,
)
from testsgd.reporting.certainty import examined, gate_rule, rows_figure
from testsgd.reporting.estimand_sentences import explaining_lines, unjudged_sentences
from testsgd.reporting.markup import cells, escape, folded, table
from testsgd.reporting.summary import AuditSummary, GroupSummary, Snippet, TermsSummary
from testsgd.reporting.vocabulary import vocabulary
from testsgd.reporting.words import Words

RANKING_SHOWN = 20
UNDECIDED_SHOWN = 20
SNIPPETS_SHOWN = 1
TEXT_LIMIT = 160


def render_markdown(summary: AuditSummary) -> str:
    """Write an audit as GitHub-flavoured Markdown.

    Parameters
    ----------
    summary : AuditSummary
        The audit; everything shown is taken from it, nothing is computed again.

    Returns
    -------
    str
        The rules that explain the differences come first; details are folded away and pictures
        are left out.
    """
    top, words = wording.findings(summary), vocabulary(summary)
    blocks = [
        *_verdict(summary, top, words),
        *_findings(summary, top, words),
        *_unknown(summary, words),
        *folded(f"What each {words.rule} gives on its own", _parts(top, words)),
        *folded("How far each group can be trusted, and leads", _behind(summary, top, words)),
        *folded(f"Rates by {words.feature}", _rates(summary, words)),
        *folded("Sensitive terms in the texts", _terms(summary.terms)),
        *folded("Ranking", _ranking(summary, words)),
        *folded("Data, model and settings", _particulars(summary, words)),
        *folded("What these numbers mean, and what they do not", _meaning(summary)),
        f"*testsgd {escape(summary.versions.get('testsgd', ''))}, "
        f"{escape(formatting.moment(summary.created))}. Charts, heat maps and all groups are in "
        "the HTML report.*",
    ]
    return "\n\n".join(blocks) + "\n"


def _verdict(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> list[str]:
    data, label = summary.data, summary.data.label
    status = wording.STATUS_NAMES[summary.verdict.status]
    meaning = f", that is, {escape(label.meaning)}" if label.meaning else ""
    column = f" in column {escape(label.column)}" if words.kind == "rows" else ""
    note = (
        f"Every rate is the rate of one prediction of the model: predicted "
        f"**“{escape(label.favourable)}”**{column}{meaning}."
    )
    if summary.model.output == "scores" and summary.model.threshold is not None:
        note += f" A score above {number(summary.model.threshold)} counts as this prediction."
    if rule := gate_rule(summary):
        note += f" {rule}"
    figures = {
        rows_figure(summary, words): count(data.rows),
        "Groups examined": count(examined(summary)),
        "Overall rate": percent(summary.overall_rate),
        "Top difference": points(top[0].difference) if top else "none",
        "Mode": wording.mode_name(summary),
        "Model queries": count(summary.model_queries),
    }
    return [
        f"## {status}: {escape(summary.model.name)} on {escape(data.title or data.name)}",
        f"**{escape(summary.verdict.headline)}**",
        *(escape(sentence) for sentence in summary.verdict.sentences),
        note,
        table(figures, [cells(figures.values())], right=range(len(figures))),
    ]


def _findings(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> list[str]:
    heading = "### Largest differences"
    if not top:
        why = "could be decided" if summary.groups else "was large enough to be compared"
        return [heading, f"There is no group to show here: no group {why}."]
    return [
        heading,
        *_rules(summary, words),
        f"{wording.findings_intro(summary)} The difference is the rate in the group minus the rate "
        "outside it.",
        _groups_table(top, words, margins=summary.mode == "sampled"),
    ]


def _rules(summary: AuditSummary, words: Words) -> list[str]:
    """Write the table of the rules that explain how rates differ."""
    if not summary.rules:
        return []
    rows = [
        [
            str(line.rule.rank),
            escape(line.rule.text, TEXT_LIMIT),
            points(line.difference),
            percent(line.rule.share),
            percent(line.together),
            escape(line.near, TEXT_LIMIT),
        ]
        for line in explaining_lines(summary)
    ]
    headings = ["Rank", "Rule", "Difference", "Adds", "Together", "Stands for"]
    return [
        f"The fewest rules that explain {words.variation}:",
        table(headings, rows, right=[0, 2, 3, 4]),
    ]


def _groups_table(
    groups: Sequence[GroupSummary], words: Words, *, margins: bool, remarks: bool = False
) -> str:
    own = any(group.counterfactual for group in groups)
    headings = ["Rank", "Group", words.many.capitalize(), "Share", "In group", "Outside"]
    headings += ["Difference", "Sampling margin"] if margins else ["Difference"]
    headings += ["Population interval, points"]
    other = next((group.other for group in groups if group.other), None)
    headings += [] if other is None else [f"{other.estimand.capitalize()} difference, points"]
    found = any(group.q_value is not None for group in groups)
    assured = not found and any(group.assured is not None for group in groups)
    headings += ["Lower bound, points"] if assured else []
    headings += ["q-value"] if found else []
    headings += ["Terms alone, points"] if own else []
    right = [0, *range(2, len(headings))]
    headings += ["Remark"] if remarks else []
    rows = []
    for group in groups:
        row = [
            str(group.rank),
            escape(group.text, TEXT_LIMIT),
            count(group.n_in),
            percent(group.support),
            percent(group.rate_in),
            percent(group.rate_out),
            f"**{points(group.difference)}**",
        ]
        if margins:
            row.append("exact" if group.exact else f"± {size_points(group.margin)}")
        row.append(interval(group.interval))
        if other is not None:
            row.append(wording.other_points(group.other))
        if assured:
            row.append(formatting.size(group.assured))
        if found:
            row.append(escape(q_text(group.q_value)))
        if own:
            row.append(wording.counterfactual_points(group))
        if remarks:
            row.append(wording.remark(group))
        rows.append(row)
    return table(headings, rows, right=right)


def _unknown(summary: AuditSummary, words: Words) -> list[str]:
    small, counts = summary.undecided, summary.counts
    undecided = [group for group in summary.groups if not group.decided]
    heading = "### Groups that could not be judged"
    if not (small or undecided or counts.undecided_small or counts.undecided_frequent):
        return [heading, "There are none: every group that was looked at could be judged."]
    blocks = [heading, *unjudged_sentences(summary.unjudged, words)]
    blocks.append("These groups are neither fair nor unfair; what the model does is unknown.")
    if small or counts.undecided_small:
        blocks.append(
            f"{plural(counts.undecided_small, 'group is', 'groups are')} too small"
            f"{_listed(min(len(small), UNDECIDED_SHOWN), counts.undecided_small)}."
        )
    if small:
        rows = [
            [escape(group.text, TEXT_LIMIT), count(group.n_in), escape(group.reason, TEXT_LIMIT)]
            for group in small[:UNDECIDED_SHOWN]
        ]
        blocks.append(
            table(["Group", words.many.capitalize(), "Why it is not judged"], rows, right=[1])
        )
    if undecided or counts.undecided_frequent:
        blocks.append(
            f"Large enough, but with a sampling margin above "
            f"{size_points(summary.parameters.error_margin)}: "
            f"{plural(counts.undecided_frequent, 'group')}"
            f"{_listed(min(len(undecided), UNDECIDED_SHOWN), counts.undecided_frequent)}."
        )
    if undecided:
        rows = [
            [
                escape(group.text, TEXT_LIMIT),
                count(group.n_in),
                points(group.difference),
                wording.sampling_margin(group, words),
            ]
            for group in undecided[:UNDECIDED_SHOWN]
        ]
        headings = ["Group", words.many.capitalize(), "Difference so far", "Sampling margin"]
        blocks.append(table(headings, rows, right=[1, 2]))
    return blocks


def _listed(shown: int, of: int) -> str:
    return f", of which {count(shown)} are listed" if 0 < shown < of else ""


def _parts(top: Sequence[GroupSummary], words: Words) -> list[str]:
    rows = []
    for group in top:
        if len(group.rules_alone) < 2:
            continue
        for part in group.rules_alone:
            rates = [count(part.n_in), percent(part.rate_in), percent(part.rate_out)]
            text = escape(part.text, TEXT_LIMIT)
            rows.append([str(group.rank), text, *rates, points(part.difference)])
        together = [count(group.n_in), percent(group.rate_in), percent(group.rate_out)]
        difference = f"**{points(group.difference)}**"
        rows.append([str(group.rank), f"**all {words.rule}s together**", *together, difference])
    if not rows:
        return []
    many = words.many.capitalize()
    headings = ["Rank", f"{words.rule.capitalize()} alone", many, "Rate"]
    headings += ["Rate outside", "Difference"]
    return [table(headings, rows, right=[0, 2, 3, 4, 5])]


def _behind(summary: AuditSummary, top: Sequence[GroupSummary], words: Words) -> list[str]:
    blocks = []
    for group in top:
        facts = [
            f"{name}: {text}"
            for name, text in trust_facts(group, summary, words)
            if name not in ("Lower bound", "q-value")
        ]
        if group.explanation is not None and len(group.explanation.shares) > 1:
            added = [f"{one.text} {points(one.share)}" for one in group.explanation.shares]
            facts.append(f"What each {words.rule} adds: {'; '.join(added)}")
        if leads := contrasts(group):
            differing = [f"{one.feature} ({one.inside} against {one.outside})" for one in leads]
            facts.append(f"Differs in other features, as leads, not causes: {'; '.join(differing)}")
        facts += [no_contrasts(group), simplest_sentence(group, words)]
        facts += [conditional_sentence(group)]
        items = [f"- {escape(fact)}" for fact in facts if fact]
        if items:
            title = f"**{group.rank}. {escape(group.text, TEXT_LIMIT)}**"
            blocks += [title, "\n".join(items)]
    return blocks


def _rates(summary: AuditSummary, words: Words) -> list[str]:
    rows = [
        [escape(feature.feature), escape(cell.label, 60), count(cell.n), percent(cell.rate)]
        for feature in summary.charts.features
        for cell in feature.cells
    ]
    if not rows:
        return []
    overall = f"The overall rate is {percent(summary.overall_rate)}."
    headings = (
        ["Category", "Term", "Texts"] if words.kind == "texts" else ["Feature", "Value", "Rows"]
    )
    return [overall, table([*headings, "Rate"], rows, right=[2, 3])]


def _terms(terms: TermsSummary | None) -> list[str]:
    if terms is None:
        return []
    source = f" ({escape(terms.source)})" if terms.source else ""
    intro = (
        f"The list “{escape(terms.name)}”{source}. {plural(terms.texts, 'text')} mention its terms."
    )
    rows, places = [], []
    for category in terms.categories:
        for term in sorted(category.terms, key=lambda term: -term.mentions):
            numbers = [count(term.texts), count(term.mentions), percent(term.share)]
            names = [escape(category.name), escape(term.term)]
            rows.append([*names, *numbers, escape(wording.doubts(term), TEXT_LIMIT)])
            places += [f"- {_place(place)}" for place in term.snippets[:SNIPPETS_SHOWN]]
    headings = ["Category", "Term", "Texts", "Mentions", "Share of the category", "Remark"]
    blocks = [intro, table(headings, rows, right=[2, 3, 4])]
    if not terms.snippets_shown:
        return [*blocks, "Places in the texts are left out, because the texts are not to be shown."]
    return [*blocks, "\n".join(places)] if places else blocks


def _place(place: Snippet) -> str:
    """Write a place in a text with the term in bold, which must stand as close as it stood."""
    left = " " if place.before.endswith(" ") else ""
    right = " " if place.after.startswith(" ") else ""
    marked = f"{left}**{escape(place.term)}**{right}"
    return f"{escape(place.before)}{marked}{escape(place.after)}"


def _ranking(summary: AuditSummary, words: Words) -> list[str]:
    if not summary.groups:
        return []
    shown = summary.groups[:RANKING_SHOWN]
    return [
        f"The first {plural(len(shown), 'group')} of {count(summary.counts.groups)}, by "
        f"{wording.ranked_by(summary)}.",
        _groups_table(shown, words, margins=summary.mode == "sampled", remarks=True),
    ]


def _particulars(summary: AuditSummary, words: Words) -> list[str]:
    blocks = [
        table([section.title, ""], [cells(fact) for fact in section.facts])
        for section in particulars.particulars(summary)
    ]
    notes = [escape(note) for note in summary.data.notes]
    if words.kind == "texts":
        return [blocks[0], *notes, *blocks[1:]]
    rows = [
        [
            escape(feature.name),
            feature.type,
            "sensitive" if feature.sensitive else "",
            escape(feature.domain, 80),
            count(feature.missing),
        ]
        for feature in summary.data.features
    ]
    headings = ["Feature", "Type", "Sensitive", "Declared range or values", "Missing"]
    return [blocks[0], *notes, table(headings, rows, right=[4]), *blocks[1:]]


def _meaning(summary: AuditSummary) -> list[str]:
    return [f"**{note.term}.** {escape(note.text)}" for note in explanations.meaning_notes(summary)]
