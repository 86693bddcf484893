"""How a mitigation is laid out as a report."""

from __future__ import annotations

from testsgd.auditing.report.provenance import data_facts, model_facts
from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.mitigation.report import charts, phrases
from testsgd.mitigation.report.control_sentences import control_table
from testsgd.mitigation.report.fitted_anew import against
from testsgd.mitigation.report.key_figures import key_figures
from testsgd.mitigation.report.notes import mitigation_notes
from testsgd.mitigation.report.phrases import KINDS, STATUS_NAMES
from testsgd.mitigation.report.summary import MitigationSummary
from testsgd.mitigation.report.tables import (
    candidates_table,
    comparisons_table,
    curves_table,
    groups_table,
    parts_table,
    paying_table,
    runs_table,
    samples_table,
    target_table,
)
from testsgd.report.blocks import (
    Article,
    Block,
    Bullets,
    Details,
    Document,
    Facts,
    Heading,
    Link,
    Only,
    Paragraph,
    Section,
    Standing,
    Status,
    Strong,
    Table,
    Text,
    meaning_section,
)
from testsgd.report.formatting import (
    count,
    moment,
    plural,
    series,
    share,
    shorten,
    size_points,
)
from testsgd.report.summaries import origin, time_facts, version_facts

# More targets, and more groups that grew, than these are folded away on a page.
_OPEN_TARGETS = 4
_OPEN_SHIFTS = 5
# Longer names of targets are cut in headings.
_HEADING = 240

_STANDINGS: dict[str, Standing] = {"mitigated": "good", "not_certain": "open", "too_few": "open"}
_SIDES = {
    "auto": "the smaller side, if it has less than a tenth, or else of both",
    "group": "the group",
    "rest": "everybody else",
    "both": "the group and everybody else",
}
_FALLBACKS = {
    "nearest": "relabel those nearest to the decision boundary",
    "none": "go on with fewer",
}


def mitigation_layout(summary: MitigationSummary) -> Document:
    """Lay a mitigation out as a report; nothing is computed again."""
    words, data, verdict = words_for(summary.data.kind), summary.data, summary.verdict
    status = STATUS_NAMES[verdict.status]
    subject = f"{summary.original.name} on {data.title or data.name}"
    paying = "Who pays, and what it cost" if summary.written else "What it cost"
    return Document(
        what="Mitigation",
        subject=subject,
        heading=f"{status}: {subject}",
        status=Status(status, _STANDINGS.get(verdict.status, "bad")),
        headline=verdict.headline,
        figures=(key_figures(summary),),
        sentences=tuple(verdict.sentences),
        opening=(Paragraph(_definition(summary, words), "definition"),),
        sections=(
            Section("before-after", "Before and after", _before_and_after(summary, words)),
            Section("cost", paying, _paying(summary, words), contents="What it cost"),
            Section("others", "Other groups", _others(summary, words)),
            Section("methods", "Other methods", _methods(summary, words)),
            Section(
                "runs",
                "Run by run",
                _runs(summary, words),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "samples",
                "Samples",
                _samples(summary, words),
                markdown="folded",
                folded=True,
                printed=False,
            ),
            Section(
                "particulars",
                "Data, models and settings",
                _particulars(summary, words),
                contents="Data, models, settings",
                markdown="folded",
                folded=True,
            ),
            meaning_section(mitigation_notes(summary)),
        ),
        closing="All candidates and the drawings are in the HTML report.",
        **origin(summary),
    )


def _definition(summary: MitigationSummary, words: Words) -> Text:
    label = summary.data.label
    column = f" in column {label.column}" if words.kind == "rows" else ""
    meaning = f", that is, {label.meaning}" if label.meaning else ""
    return (
        "Every rate below is the rate of one prediction of a model: predicted ",
        Strong(f"“{label.favourable}”"),
        f"{column}{meaning}. A difference is the rate in a group minus the rate of {words.others}.",
    )


def _before_and_after(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    """Show target by target how it is treated; a page draws all of several first."""
    targets, intro = summary.targets, list[Block]()
    if summary.chosen_run is None:
        groups = "the group" if len(targets) == 1 else "the groups"
        kept = "The original model was kept, so nothing has changed. This is how it treats "
        intro.append(Paragraph(f"{kept}{groups}."))
    elif len(summary.runs) > 1:
        shown = f"Shown here is the model that was kept, that of run {summary.chosen_run}; how the "
        further = (f"{shown}runs differ is ", Link("further below", "runs"), ".")
        intro.append(Paragraph(further))
    if len(targets) > 1:
        label = "Differences of the targets, before and after, in percentage points"
        intro += [
            Heading(f"All {plural(len(targets), 'target')}, on all {words.many}"),
            charts.shifts(
                targets,
                charts.shift_scale(targets),
                label,
                outcome=summary.data.label.outcome,
                links=True,
            ),
        ]
    if summary.controls is not None and summary.controls.largest_before is not None:
        intro += [
            Heading("Groups, and terms against neutral words"),
            Paragraph(
                "A control effect is what a term, or any term of a category, changes against the "
                "same texts with neutral words in its place. In points, with intervals."
            ),
            control_table(summary),
        ]
    articles = tuple(_target(summary, index, words) for index in range(len(targets)))
    more = articles[_OPEN_TARGETS:]
    folded = f"{plural(len(more), 'more target')}"
    return (*intro, *articles[:_OPEN_TARGETS], *((Details(folded, more),) if more else ()))


def _target(summary: MitigationSummary, index: int, words: Words) -> Article:
    target, spread = summary.targets[index], summary.ranges[index]
    blocks: list[Block] = [
        charts.gaps(target, summary, caption=index == 0),
        target_table(target, summary),
    ]
    if spread.score and len(summary.runs) > 1 and summary.chosen_run is not None:
        held_out = ""
        if spread.held_out_score:
            reached = phrases.spread_scores(spread.held_out_score)
            held_out = f" and {reached} points on held-out {words.many}"
        over_runs = (
            f"Over {plural(len(summary.runs), 'run')} the difference is "
            f"{phrases.spread_scores(spread.score)} points on all {words.many}{held_out}."
        )
        blocks.append(Paragraph(over_runs, "soft"))
    return Article(
        f"target-{target.rank}",
        shorten(target.text, _HEADING),
        tuple(blocks),
        rank=str(target.rank),
    )


def _paying(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    """Show what became of both sides and of accuracy, and all candidates on a page."""
    blocks: list[Block] = []
    if summary.written:
        who = f"What became of the held-out {words.many} as they are, before and after."
        changes = (
            f"Changes are in points{against(summary)}, with intervals of pairs: both models decide "
            "on each of "
        )
        about = Heading("Accuracy of the model that was written")
        blocks = [
            Heading("Who pays"),
            Paragraph(f"{who} In brackets are intervals."),
            paying_table(summary),
            about,
            Paragraph(f"{changes}the {words.many}."),
            parts_table(summary),
        ]
    if figure := charts.trade_off(summary):
        candidates = Paragraph(_about_candidates(summary)), figure, candidates_table(summary)
        heading = (Heading("Candidates"),) if summary.written else ()
        blocks.append(Only("html", (*heading, *candidates)))
    return tuple(blocks)


def _about_candidates(summary: MitigationSummary) -> str:
    limit, worst = summary.settings.max_accuracy_drop, charts.of_the_worst(summary)
    about = (
        f"Each point is a retrained model: the lower, the smaller the difference{worst}; the "
        "further right, the more accuracy it loses. Models in the shaded part lose more than the "
        f"{phrases.budget(limit)} allowed"
    )
    candidates = summary.candidates
    if any(not candidate.allowed and phrases.within(candidate, limit) for candidate in candidates):
        about += (
            "; grey ones elsewhere were refused, for they decide or are right one way less than "
            "half as often as the original, or lose too much of balanced accuracy"
        )
    about += ". Of the others each run chose the lowest"
    if not any(candidate.chosen for candidate in candidates):
        return f"{about}, but there was none."
    return (
        f"{about}, a numbered diamond; of those within the same half point, or all up to two "
        "points, the one that loses least."
    )


def _others(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    """Show what became of other groups."""
    change = summary.all_rows
    if summary.chosen_run is None:
        kept = f"so each of the {plural(change.groups, 'group')} is treated as it was in the audit"
        return (Paragraph(f"The original model was kept, {kept}."),)
    audited_again = (
        "The full audit ran again on the retrained model, over all "
        f"{plural(change.rows, words.one)} and {plural(change.groups, 'group')}."
    )
    outcome = summary.data.label.outcome
    scale = charts.shift_scale([*change.worst, *change.increased])
    blocks: list[Block] = [Paragraph(audited_again), Heading("Largest differences that are left")]
    if any(group.after.difference is not None for group in change.worst):
        label = "Largest differences after retraining, in percentage points"
        blocks.append(charts.shifts(change.worst, scale, label, outcome=outcome))
        blocks.append(groups_table(change.worst, "Largest differences after"))
    else:
        blocks.append(Paragraph("There is no group to show."))
    blocks += [Heading("Differences that grew"), Paragraph(_grown(summary))]
    increased = [group for group in change.increased if group.after.difference is not None]
    if change.increased_count and increased:
        label = "Differences that grew, in percentage points"
        drawn = increased[:_OPEN_SHIFTS]
        blocks.append(charts.shifts(drawn, scale, label, outcome=outcome, caption=False))
        fold = f"{plural(len(change.increased), 'group')} whose difference grew, with rates"
        folded = {"fold": fold, "open_rows": _OPEN_SHIFTS}
        blocks.append(groups_table(change.increased, "Differences that grew", **folded))
    return (*blocks, _held_out(summary, words))


def _grown(summary: MitigationSummary) -> str:
    """Write how many differences grew, and which of them are drawn."""
    change, by = summary.all_rows, size_points(summary.least_increase)
    if not change.increased_count:
        return f"No group's difference grew by more than {by}."
    increased = sum(group.after.difference is not None for group in change.increased)
    these = f"These are the {min(increased, _OPEN_SHIFTS)} that"
    shown = ""
    if increased:
        shown = f". {'This is the one that' if increased == 1 else these} grew most"
        shown += ", without near copies" if change.increased_count > increased else ""
    grew = f"{plural(change.increased_count, 'difference')} of {count(change.groups)} grew"
    return f"{grew} by more than {by}{shown}."


def _held_out(summary: MitigationSummary, words: Words) -> Details:
    change = summary.held_out
    fewer = (
        f"Among fewer {words.many} differences vary more by chance. Of "
        f"{plural(change.groups, 'group')}, {count(change.increased_count)} grew by more than "
        f"{size_points(summary.least_increase)} there."
    )
    on, grew = f", held-out {words.many}", "Differences that grew"
    return Details(
        f"The same on the {plural(change.rows, f'held-out {words.one}')}",
        (
            Paragraph(fewer),
            groups_table(change.worst, f"Largest differences{on}"),
            groups_table(change.increased, f"{grew}{on}", title=grew),
        ),
    )


def _methods(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    """Show what else one might do."""
    if not summary.comparisons:
        return ()
    over = ": the mean over the runs, and in brackets the lowest and the highest"
    about = (
        "What else one might do, on the same splits. Differences are in points, and so are changes "
        f"of accuracy{against(summary)}{over if len(summary.runs) > 1 else ''}."
    )
    curves = curves_table(summary)
    budgets = (
        "Each method with several budgets: of its models that lose no more on the "
        f"{words.many} that are not held out the one with the smallest difference there, measured "
        "on the held-out ones. At equal accuracy means at the change of the model that was "
        "written, read between two points of a curve where there is none."
    )
    title = "Difference against accuracy, held out"
    more = (Details(title, (Paragraph(budgets), curves)),) if curves.rows else ()
    return (Paragraph(about), comparisons_table(summary), *more)


def _runs(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    runs = len(summary.runs)
    times = f"Everything was done {runs} times, each time with random choices of its own. "
    about: Text = (
        f"{times if runs > 1 else ''}Differences are in points, and so are changes of accuracy"
        f"{against(summary)}. The models were chosen without the held-out {words.many}, which were "
        "looked at once, at the end. "
        "The kinds of samples are explained ",
        Link("below", "meaning"),
        ".",
    )
    return Paragraph(about), runs_table(summary)


def _samples(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    table: Table = samples_table(summary)
    if not table.rows:
        return ()
    about: Text = (
        f"Samples are made from training {words.many} only. “With that label” are those that get "
        "it from the original model, of the different ones drawn. Added are those that the chosen "
        "model was trained on: some of these carry the label because the original model gives it "
        "(“by the model”), some were relabelled, and anchors keep the other label, as the original "
        f"model has it. A training {words.one} has the weight 1. The kinds are explained ",
        Link("below", "meaning"),
        ".",
    )
    return Paragraph(about), table


def _particulars(summary: MitigationSummary, words: Words) -> tuple[Block, ...]:
    """List the particulars of the data, the split, the settings, the models and the run."""
    split, many, notes = summary.split, words.many, tuple(summary.data.notes)
    found_on = f"the {many} that are not held out" if split.unseen else f"all {many}"
    retrained, repeats = summary.retrained, count(split.repeats) if split.repeats else ""
    return (
        data_facts(summary.data, words),
        *((Bullets(notes),) if notes else ()),
        Facts(
            "Split",
            (
                (f"Training {many}", count(split.training)),
                (f"Validation {many}", count(split.validation)),
                (f"Held-out {many}", count(split.held_out)),
                ("Left out, as they repeat others", repeats),
                ("Where the split is from", split.source),
                ("The group was found on", found_on),
                ("What candidates lose is judged by", _judged_by(summary, words)),
                ("What is doubtful about it", split.warning),
            ),
        ),
        _settings(summary, words),
        model_facts("Original model", summary.original, words),
        *(() if retrained is None else (model_facts("Retrained model", retrained, words),)),
        Facts(
            "Run",
            (("Written", moment(summary.created)), *time_facts(summary), *version_facts(summary)),
        ),
    )


def _settings(summary: MitigationSummary, words: Words) -> Facts:
    chosen = summary.settings
    group = "" if chosen.group is None else f"rank {chosen.group} of the audit"
    above = "" if chosen.all_above is None else size_points(chosen.all_above)
    kinds: str = chosen.samples
    if kinds == "auto":
        tried = {candidate.kind for candidate in summary.candidates}
        kinds = series([kind for kind in KINDS if kind in tried])
    return Facts(
        "Settings",
        (
            ("Group", group),
            ("All groups above", above),
            ("Accuracy that may be lost", phrases.budget(chosen.max_accuracy_drop)),
            ("Balanced accuracy that may be lost", phrases.budget(chosen.max_balanced_drop)),
            ("Runs", count(chosen.runs)),
            ("Kinds of samples tried", kinds),
            ("Numbers of samples tried in a run", count(chosen.steps)),
            ("Samples in the first step", count(chosen.fewest_samples)),
            (f"In the last step, of the training {words.many}", share(chosen.largest_share)),
            ("Samples are of", _SIDES[chosen.side].replace("everybody else", words.others)),
            ("If there are too few", _FALLBACKS[chosen.fallback]),
            ("Samples drawn for a target, at most", count(chosen.max_draws)),
            ("Retrained", summary.refitted_as),
            ("Networks learn", "softened labels" if chosen.soften else "the labels as they are"),
            ("Seed", str(chosen.seed)),
        ),
    )


def _judged_by(summary: MitigationSummary, words: Words) -> str:
    labels = f"labels of validation {words.many}"
    return {
        "labels": f"the {labels}",
        "probabilities": f"the larger loss by {labels} and by cross-fitted probabilities",
        "cross-validation": f"repeated cross-validation on all {words.many} but the held-out",
    }[summary.split.evaluated_by]
