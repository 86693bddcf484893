"""The tables of a mitigation's report: the same cells in every view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from testsgd.auditing.report.vocabulary import words_for
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.phrases import (
    accuracy,
    accuracy_change,
    largest,
    largest_mean,
    spread_scores,
)
from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.mitigation.report.summary import (
    CandidateSummary,
    ChangeSummary,
    ComparisonSummary,
    GroupChange,
    MitigationSummary,
    RatesSummary,
    TargetSummary,
)
from testsgd.report.blocks import Column, Row, Table
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    percent,
    plural,
    points,
    seconds,
    sentence,
    signed,
    size,
)
from testsgd.report.listing import Listed, listing

# Longer tables are folded away on a page.
_OPEN_ROWS = 12

_STATUS_TEXTS = {
    "not_installed": "not installed",
    "not_possible": "not possible",
    "failed": "failed",
}


def _what(summary: MitigationSummary) -> str:
    """Return whose difference a column has."""
    return "Difference" if len(summary.targets) == 1 else "Worst target"


def targets_table(summary: MitigationSummary) -> Table:
    """List the targets with their differences before and after, for a terminal."""
    label = summary.data.label.favourable
    return listing(
        f"{summary.data.title}: difference in the rate of “{label}”, in points",
        summary.targets,
        (
            Listed("Rank", lambda target: str(target.rank), short="rank"),
            Listed("Before", lambda target: _plain(target.before), short="before"),
            Listed("After", lambda target: _plain(target.after), short="after"),
            Listed("Held out before", lambda target: _plain(target.held_out_before)),
            Listed("Held out after", lambda target: _plain(target.held_out_after)),
            Listed("Group", lambda target: target.text, "text", short="group"),
        ),
    )


def _plain(rates: RatesSummary) -> str:
    """Write a difference as terminals have it; what rounds to nothing has no minus."""
    if rates.difference is None:
        return "unknown"
    return f"{round(100 * rates.difference, 1) + 0.0:+.1f}"


def target_table(target: TargetSummary, summary: MitigationSummary) -> Table:
    """List how the original model and the one that was kept treat a target."""
    words, kept = words_for(summary.data.kind), summary.chosen_run is not None
    many = words.many
    pairs = [
        (f"All {many}", target.before, target.after),
        (f"Held-out {many}", target.held_out_before, target.held_out_after),
    ]
    if summary.written is not None:
        written = summary.written.targets[summary.targets.index(target)]
        if summary.written.estimand == "observed":
            other = "with the terms put in" if words.kind == "texts" else "over neighbours"
            sides = (written.neighbourhood_before, written.neighbourhood_after)
        else:
            other, sides = "as they are", (written.observed_before, written.observed_after)
        pairs.append((f"Held-out {many} {other}", *sides))
    lines = []
    for which, before, after in pairs:
        lines.append((f"{which}, before" if kept else which, before, False))
        if kept:
            lines.append((f"{which}, after", after, True))
    return listing(
        f"Before and after, {target.text}",
        lines,
        (
            Listed("", lambda line: line[0], "name"),
            Listed("Difference", lambda line: points(line[1].difference), "strong"),
            Listed("Confidence interval, points", lambda line: _ends(line[1])),
            Listed("Selection rate", lambda line: percent(line[1].rate_in)),
            Listed("Complement", lambda line: percent(line[1].rate_out)),
            Listed(f"{many.capitalize()} in group", lambda line: count(line[1].n_in)),
            Listed(f"{many.capitalize()} outside", lambda line: count(line[1].n_out)),
        ),
        row=lambda line: {"emphasis": line[2]},
    )


def _ends(rates: RatesSummary) -> str:
    return NOTHING if rates.confidence_interval is None else interval(rates.confidence_interval)


def paying_table(summary: MitigationSummary) -> Table:
    """List who pays: what became of each side of each target on the held-out rows."""
    words = words_for(summary.data.kind)
    written = [] if summary.written is None else summary.written.targets
    return listing(
        "Who pays",
        [
            (who if len(written) == 1 else f"{who}, {target.text}", side)
            for target, both in zip(summary.targets, written, strict=False)
            for who, side in (("the group", both.group), (words.others, both.complement))
        ],
        (
            Listed(f"Held-out {words.many}", lambda line: line[0], "name"),
            Listed("Number", lambda line: count(line[1].rows)),
            Listed(
                "Selection rate",
                lambda line: (
                    f"{_with_ends(line[1].selected.before, line[1].selected_before)} to "
                    f"{_with_ends(line[1].selected.after, line[1].selected_after)}"
                ),
                "strong",
            ),
            Listed(
                "True-positive rate", lambda line: _from_to(percent, line[1].true_positive_rate)
            ),
            Listed(
                "False-positive rate", lambda line: _from_to(percent, line[1].false_positive_rate)
            ),
            Listed("Gain the label", lambda line: count(line[1].gained)),
            Listed("Lose it", lambda line: count(line[1].lost)),
        ),
    )


def _with_ends(rate: float | None, ends: tuple[float, float] | None) -> str:
    """Write a rate with its interval."""
    return percent(rate) + ("" if ends is None else f" ({percent(ends[0])} to {percent(ends[1])})")


def _from_to(write: Callable[[float | None], str], change: ChangeSummary) -> str:
    return f"{write(change.before)} to {write(change.after)}"


def parts_table(summary: MitigationSummary) -> Table:
    """List what became of accuracy on each part of the data, as the guard looks at it."""
    many = words_for(summary.data.kind).many
    return listing(
        "Accuracy on each part",
        (summary.written.parts if summary.written else {}).items(),
        (
            Listed("Part", lambda part: f"{part[0].capitalize()} {many}", "name"),
            Listed("Number", lambda part: count(part[1].rows)),
            Listed("Accuracy", lambda part: _from_to(accuracy, part[1].accuracy)),
            Listed("Change", lambda part: _with_interval(part[1].accuracy), "strong"),
            Listed("Balanced accuracy", lambda part: _from_to(accuracy, part[1].balanced)),
            Listed("Change, balanced", lambda part: _with_interval(part[1].balanced), "strong"),
            Listed(
                "Lost, as the guard counts",
                lambda part: (
                    f"{phrases.lost_points(part[1].accuracy_drop)}, balanced "
                    f"{phrases.lost_points(part[1].balanced_drop)}"
                ),
            ),
            Listed("Best constant model", lambda part: accuracy(part[1].constant)),
            Listed("Above it", lambda part: _with_interval(part[1].above_constant)),
        ),
        row=lambda part: {"emphasis": part[0] == "held-out"},
    )


def _with_interval(change: ChangeSummary) -> str:
    return NOTHING if change.confidence_interval is None else phrases.changed_accuracy(change)


def curves_table(summary: MitigationSummary) -> Table:
    """List what each method reaches with several budgets, on the held-out rows."""
    curves = [("Retraining with samples", summary.curve)]
    curves += [(_method(other), other.curve) for other in summary.comparisons]
    return listing(
        "Difference against accuracy",
        [(name, point) for name, curve in curves for point in curve],
        (
            Listed("Method", lambda line: line[0], "name"),
            Listed("Allowed to lose", lambda line: f"{line[1].budget:.10g}"),
            Listed(
                "Accuracy change, held-out",
                lambda line: "{} ({} to {})".format(
                    accuracy_change(-line[1].accuracy_change),
                    *(accuracy_change(-end) for end in line[1].accuracy_confidence_interval),
                ),
            ),
            Listed("Difference, held-out", lambda line: signed(line[1].difference), "strong"),
            Listed(
                "Confidence interval, points", lambda line: interval(line[1].confidence_interval)
            ),
        ),
    )


def runs_table(summary: MitigationSummary) -> Table:
    """List the runs, one a row, and their means."""
    words, what = words_for(summary.data.kind), _what(summary)
    table = listing(
        "Run by run",
        summary.runs,
        (
            Listed("Run", lambda run: str(run.run), "name"),
            Listed(f"{what}, all {words.many}", lambda run: size(largest(run.scores)), "strong"),
            Listed(f"{what}, held-out", lambda run: size(largest(run.held_out_scores))),
            Listed("Accuracy change, held-out", lambda run: accuracy_change(run.accuracy_drop)),
            Listed(_judged_heading(summary), lambda run: accuracy_change(run.validation_drop)),
            Listed(
                "Samples added", lambda run: "none" if run.samples is None else count(run.samples)
            ),
            Listed(
                "Kind, weight",
                lambda run: f"{run.kind}, {phrases.weight(run.weight)}" if run.kind else NOTHING,
                "text",
            ),
            Listed("Largest of any group", lambda run: size(run.worst)),
            Listed("Differences that grew", lambda run: count(run.increased)),
            Listed("Time", lambda run: seconds(run.seconds), shown=_timed(summary)),
        ),
        row=lambda run: {"emphasis": True, "note": "kept"} if run.run == summary.chosen_run else {},
    )
    if len(table.rows) < 2:
        return table
    # Of several targets, another one may be the worst in each run: then the mean of these figures
    # is none of the means that count.
    means = ["", ""]
    if len(summary.ranges) == 1:
        only = summary.ranges[0]
        means = [
            size(spread.mean) if spread else "" for spread in (only.score, only.held_out_score)
        ]
    cells = ("Mean", *means, accuracy_change(summary.accuracy_drop.mean))
    last = Row((*cells, *[""] * (len(table.columns) - len(cells))))
    return replace(table, rows=(*table.rows, last))


def _judged_heading(summary: MitigationSummary) -> str:
    return f"Accuracy change, {'estimated' if phrases.estimated(summary.split) else 'validation'}"


def groups_table(groups: Sequence[GroupChange], label: str, **options: Any) -> Table:
    """List groups with their differences before and after."""
    return listing(
        label,
        groups,
        (
            Listed("Group", lambda group: group.text, "name"),
            Listed("Difference before", lambda group: signed(group.before.difference)),
            Listed("Difference after", lambda group: signed(group.after.difference), "strong"),
            Listed("Confidence interval, points", lambda group: _ends(group.after)),
            Listed("Selection rate", lambda group: percent(group.after.rate_in)),
            Listed("Complement", lambda group: percent(group.after.rate_out)),
            Listed(
                "Rank before",
                lambda group: NOTHING if group.rank_before is None else count(group.rank_before),
            ),
            Listed("Rank after", lambda group: count(group.rank_after)),
        ),
        row=lambda group: {
            "note": "target" if group.target else "",
            "units": tuple(rule.text for rule in group.rules),
        },
        **options,
    )


def comparisons_table(summary: MitigationSummary) -> Table:
    """List what else one might do, between the original model and this mitigation."""
    words, what, written = words_for(summary.data.kind), _what(summary), summary.written
    columns = (
        Column("Method", "name"),
        Column(f"{what}, all {words.many}", "strong"),
        Column(f"{what}, held-out", "number"),
        Column("Accuracy change, held-out", "number"),
        Column("At equal accuracy", "strong"),
        Column("Time of a run", "number"),
    )
    before = size(largest(target.before.score for target in summary.targets))
    held_out = size(largest(target.held_out_before.score for target in summary.targets))
    own_time = sum(run.seconds or 0.0 for run in summary.runs) / max(len(summary.runs), 1)
    anew, reached = summary.fitted_anew, summary.accuracy_before
    given = reached if anew is None else anew.accuracy_given
    drop = accuracy_change(100 * (reached - given))
    rows = [
        Row(
            ("Original model", before, held_out, drop, NOTHING, NOTHING),
            about=f"As it was, with an accuracy of {accuracy(given)}.",
        )
    ]
    if anew is not None:
        left = size(largest(rates.score for rates in anew.held_out))
        cells = ("Original fitted anew", NOTHING, left, accuracy_change(0.0), NOTHING, NOTHING)
        about = f"To the training {words.many} alone, with an accuracy of {accuracy(reached)}."
        rows.append(Row(cells, about=about))
    part = None if written is None else written.held_out
    if written and part and part.constant is not None and part.accuracy.before is not None:
        # What says the same of all makes no difference at all.
        drop, none = accuracy_change(100 * (part.accuracy.before - part.constant)), size(0.0)
        cells = ("Constant model", none, none, drop, NOTHING, NOTHING)
        rows.append(Row(cells, about=f"“{written.constant_label}” for all."))
    cells = (
        "Retraining with samples",
        spread_scores(largest_mean(spread.score for spread in summary.ranges)),
        spread_scores(largest_mean(spread.held_out_score for spread in summary.ranges)),
        phrases.spread_changes(summary.accuracy_drop),
        _own(summary),
        seconds(own_time),
    )
    about = "This mitigation; at equal accuracy the model that was written."
    rows.append(Row(cells, emphasis=True, about=about))
    table = Table("Methods compared", columns, (*rows, *map(_comparison, summary.comparisons)))
    return table if _timed(summary) else table.without("Time of a run")


def _timed(summary: MitigationSummary) -> bool:
    return any(run.seconds is not None for run in summary.runs)


def _comparison(other: ComparisonSummary) -> Row:
    name, equal = _method(other), _equal(other)
    if other.status != "done":
        why = _STATUS_TEXTS[other.status]
        about = " ".join(sentence(part) for part in (other.about, other.reason) if part)
        return Row((name, why, NOTHING, NOTHING, equal, NOTHING), about=about)
    cells = (
        name,
        spread_scores(largest_mean(other.scores)),
        spread_scores(largest_mean(other.held_out_scores)),
        phrases.spread_changes(other.accuracy_drop),
        equal,
        NOTHING if other.seconds is None else seconds(other.seconds),
    )
    return Row(cells, about=sentence(other.about))


def _method(other: ComparisonSummary) -> str:
    return phrases.method(other.name, first=True)


def _own(summary: MitigationSummary) -> str:
    """Write what the model that was written leaves on the held-out rows."""
    sides = (target.held_out_after for target in summary.targets)
    worst = max(sides, key=lambda side: side.score or 0.0)
    if summary.written is None or worst.confidence_interval is None:
        return NOTHING
    return f"{size(worst.score)} ({interval(worst.confidence_interval)})"


def _equal(other: ComparisonSummary) -> str:
    """Write what a method reaches at the accuracy of the model that was written."""
    reached = other.equal_accuracy
    if reached is None:
        return "loses more" if other.curve else NOTHING
    return f"{size(reached.score)} ({interval(reached.confidence_interval)})"


def samples_table(summary: MitigationSummary) -> Table:
    """List the samples that were generated, by target, run and side."""
    words, single = words_for(summary.data.kind), len(summary.targets) == 1

    def whose(target: TargetSummary, samples: SamplesSummary) -> str:
        if samples.side == "group":
            return "the group" if single else target.text
        return words.others if single else f"outside {target.text}"

    def added(samples: SamplesSummary, number: int) -> str:
        return count(number) if samples.added else NOTHING

    lines = [
        (whose(target, samples), samples)
        for target in summary.targets
        for samples in target.samples
    ]
    lines += [
        (target.text, samples)
        for target in (summary.controls.targets if summary.controls else [])
        for samples in target.samples
    ]
    return listing(
        "Samples",
        lines,
        (
            Listed("Samples of", lambda line: line[0], "name"),
            Listed("Run", lambda line: str(line[1].run)),
            Listed(
                "Kind, weight",
                lambda line: (
                    line[1].kind + (f", {phrases.weight(line[1].weight)}" if line[1].added else "")
                ),
                "text",
            ),
            Listed("Label", lambda line: line[1].label, "text"),
            Listed(f"Training {words.many}", lambda line: count(line[1].seeds)),
            Listed("Drawn", lambda line: count(line[1].drawn)),
            Listed(
                "With that label",
                lambda line: f"{count(line[1].counter_labelled)} of {count(line[1].distinct)}",
            ),
            Listed("Added", lambda line: count(line[1].added), "strong"),
            Listed("By the model", lambda line: added(line[1], phrases.kept_label(line[1]))),
            Listed("Relabelled", lambda line: added(line[1], line[1].relabelled)),
            Listed("Anchors", lambda line: added(line[1], line[1].anchors)),
        ),
        fold=f"{plural(len(lines), 'line')}, by target, run and side",
        open_rows=_OPEN_ROWS,
    )


def candidates_table(summary: MitigationSummary) -> Table:
    """List all candidates, as they were judged."""
    limit = summary.settings.max_accuracy_drop

    def weight(candidate: CandidateSummary) -> str:
        return phrases.weight(candidate.weight) if candidate.samples else NOTHING

    def judgement(candidate: CandidateSummary) -> str:
        if candidate.chosen:
            return "chosen"
        if candidate.allowed:
            return ""
        return "refused" if phrases.within(candidate, limit) else "loses too much"

    return listing(
        "Candidates",
        summary.candidates,
        (
            Listed("Run", lambda candidate: str(candidate.run)),
            Listed("Kind", lambda candidate: candidate.kind, "text"),
            Listed("Samples", lambda candidate: count(candidate.samples)),
            Listed("Weight of each", weight),
            Listed("Stage", lambda candidate: candidate.stage, "name"),
            Listed(
                _judged_heading(summary), lambda candidate: accuracy_change(candidate.accuracy_drop)
            ),
            Listed(
                _what(summary), lambda candidate: size(phrases.candidate_score(candidate)), "strong"
            ),
            Listed("Judged", judgement, "text"),
        ),
        row=lambda candidate: {"emphasis": candidate.chosen},
        fold=f"{plural(len(summary.candidates), 'candidate')} as they were judged",
        open_rows=0,
        printed=False,
    )
