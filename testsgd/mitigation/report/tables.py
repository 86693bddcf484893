"""The tables of a mitigation's report: the same cells in every view."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.mitigation.report.phrases import (
    accuracy,
    accuracy_change,
    candidate_score,
    changed_accuracy,
    estimated,
    largest,
    largest_mean,
    lost_points,
    method,
    spread_changes,
    spread_scores,
    weight,
    within,
)
from testsgd.mitigation.report.sentences import kept_label
from testsgd.mitigation.report.summary import (
    AuditChange,
    CandidateSummary,
    ChangeSummary,
    ComparisonSummary,
    MitigationSummary,
    RatesSummary,
    RunRange,
    SamplesSummary,
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

# Longer tables are folded away on a page.
_OPEN_ROWS = 12

_STATUS_TEXTS = {
    "not_installed": "not installed",
    "not_possible": "not possible",
    "failed": "failed",
}


# The cells of a row under their columns.
Cells = dict[Column, str]


def _table(label: str, lines: Iterable[tuple[Cells, Row]], **options: Any) -> Table:
    """Build a table of lines, each its cells and a row with nothing but its marks."""
    known = list(lines)
    columns = tuple(known[0][0]) if known else ()
    rows = tuple(replace(row, cells=tuple(cells.values())) for cells, row in known)
    return Table(label, columns, rows, **options)


# A row without any mark.
_ROW = Row(())


def _what(summary: MitigationSummary) -> str:
    """Return whose difference a column has."""
    return "Difference" if len(summary.targets) == 1 else "Worst target"


def targets_table(summary: MitigationSummary) -> Table:
    """List the targets with their differences before and after, for a terminal."""
    label = f"{summary.data.title}: difference in the rate of “{summary.data.label.favourable}”"
    lines = [
        {
            Column("Rank", "number", short="rank"): str(target.rank),
            Column("Before", "number", short="before"): _plain(target.before),
            Column("After", "number", short="after"): _plain(target.after),
            Column("Held out before", "number"): _plain(target.held_out_before),
            Column("Held out after", "number"): _plain(target.held_out_after),
            Column("Group", short="group"): target.text,
        }
        for target in summary.targets
    ]
    return _table(f"{label}, in points", ((cells, _ROW) for cells in lines))


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

    def line(which: str, rates: RatesSummary) -> Cells:
        return {
            Column("", "name"): which,
            Column("Difference", "strong"): points(rates.difference),
            Column("Confidence interval, points", "number"): _ends(rates),
            Column("Selection rate", "number"): percent(rates.rate_in),
            Column("Complement", "number"): percent(rates.rate_out),
            Column(f"{many.capitalize()} in group", "number"): count(rates.n_in),
            Column(f"{many.capitalize()} outside", "number"): count(rates.n_out),
        }

    lines = []
    for which, before, after in pairs:
        lines.append((line(f"{which}, before" if kept else which, before), _ROW))
        if kept:
            lines.append((line(f"{which}, after", after), Row((), emphasis=True)))
    return _table(f"Before and after, {target.text}", lines)


def _ends(rates: RatesSummary) -> str:
    return NOTHING if rates.confidence_interval is None else interval(rates.confidence_interval)


def paying_table(summary: MitigationSummary) -> Table:
    """List who pays: what became of each side of each target on the held-out rows."""
    words = words_for(summary.data.kind)
    written = [] if summary.written is None else summary.written.targets
    lines = [
        {
            Column("Held-out " + words.many, "name"): who
            if len(written) == 1
            else f"{who}, {target.text}",
            Column("Number", "number"): count(side.rows),
            Column("Selection rate", "strong"): f"{_with_ends(side.selected.before, before)} to "
            f"{_with_ends(side.selected.after, after)}",
            Column("True-positive rate", "number"): _from_to(percent, side.true_positive_rate),
            Column("False-positive rate", "number"): _from_to(percent, side.false_positive_rate),
            Column("Gain the label", "number"): count(side.gained),
            Column("Lose it", "number"): count(side.lost),
        }
        for target, both in zip(summary.targets, written, strict=False)
        for who, side in (("the group", both.group), (words.others, both.complement))
        for before, after in ((side.selected_before, side.selected_after),)
    ]
    return _table("Who pays", ((cells, _ROW) for cells in lines))


def _with_ends(rate: float | None, ends: tuple[float, float] | None) -> str:
    """Write a rate with its interval."""
    return percent(rate) + ("" if ends is None else f" ({percent(ends[0])} to {percent(ends[1])})")


def _from_to(write: Callable[[float | None], str], change: ChangeSummary) -> str:
    return f"{write(change.before)} to {write(change.after)}"


def parts_table(summary: MitigationSummary) -> Table:
    """List what became of accuracy on each part of the data, as the guard looks at it."""
    words = words_for(summary.data.kind)
    lines = [
        (
            {
                Column("Part", "name"): f"{name.capitalize()} {words.many}",
                Column("Number", "number"): count(part.rows),
                Column("Accuracy", "number"): _from_to(accuracy, part.accuracy),
                Column("Change", "strong"): _with_interval(part.accuracy),
                Column("Balanced accuracy", "number"): _from_to(accuracy, part.balanced),
                Column("Change, balanced", "strong"): _with_interval(part.balanced),
                Column("Lost, as the guard counts", "number"): lost_points(part.accuracy_drop)
                + f", balanced {lost_points(part.balanced_drop)}",
                Column("Best constant model", "number"): accuracy(part.constant),
                Column("Above it", "number"): _with_interval(part.above_constant),
            },
            Row((), emphasis=name == "held-out"),
        )
        for name, part in (summary.written.parts if summary.written else {}).items()
    ]
    return _table("Accuracy on each part", lines)


def _with_interval(change: ChangeSummary) -> str:
    return NOTHING if change.confidence_interval is None else changed_accuracy(change)


def curves_table(summary: MitigationSummary) -> Table:
    """List what each method reaches with several budgets, on the held-out rows."""
    curves = [("Retraining with samples", summary.curve)]
    curves += [(method(other.name, first=True), other.curve) for other in summary.comparisons]
    lines = [
        {
            Column("Method", "name"): name,
            Column("Allowed to lose", "number"): f"{point.budget:.10g}",
            Column("Accuracy change, held-out", "number"): f"{change} ({low} to {high})",
            Column("Difference, held-out", "strong"): signed(point.difference),
            Column("Confidence interval, points", "number"): interval(point.confidence_interval),
        }
        for name, curve in curves
        for point in curve
        for change, low, high in (
            [
                accuracy_change(-end)
                for end in (point.accuracy_change, *point.accuracy_confidence_interval)
            ],
        )
    ]
    return _table("Difference against accuracy", ((cells, _ROW) for cells in lines))


def runs_table(summary: MitigationSummary) -> Table:
    """List the runs, one a row, and their means."""
    words, what = words_for(summary.data.kind), _what(summary)
    table = _table(
        "Run by run",
        (
            (
                {
                    Column("Run", "name"): str(run.run),
                    Column(f"{what}, all {words.many}", "strong"): size(largest(run.scores)),
                    Column(f"{what}, held-out", "number"): size(largest(run.held_out_scores)),
                    Column("Accuracy change, held-out", "number"): accuracy_change(
                        run.accuracy_drop
                    ),
                    Column(_judged_heading(summary), "number"): accuracy_change(
                        run.validation_drop
                    ),
                    Column("Samples added", "number"): "none"
                    if run.samples is None
                    else count(run.samples),
                    Column("Kind, weight"): NOTHING
                    if run.kind is None
                    else f"{run.kind}, {weight(run.weight)}",
                    Column("Largest of any group", "number"): size(run.worst),
                    Column("Differences that grew", "number"): count(run.increased),
                    Column("Time", "number"): seconds(run.seconds),
                },
                Row((), emphasis=True, note="kept") if run.run == summary.chosen_run else _ROW,
            )
            for run in summary.runs
        ),
    )
    if len(table.rows) < 2:
        return table
    # Of several targets, another one may be the worst in each run: then the mean of these figures
    # is none of the means that count.
    only = summary.ranges[0] if len(summary.ranges) == 1 else None
    means = (
        _mean(only.score if only else None),
        _mean(only.held_out_score if only else None),
        accuracy_change(summary.accuracy_drop.mean),
    )
    last = Row(("Mean", *means, *[""] * (len(table.columns) - 4)))
    return replace(table, rows=(*table.rows, last))


def _judged_heading(summary: MitigationSummary) -> str:
    return f"Accuracy change, {'estimated' if estimated(summary.split) else 'validation'}"


def _mean(spread: RunRange | None) -> str:
    return "" if spread is None else size(spread.mean)


def groups_table(
    change: AuditChange, label: str, *, increased: bool, fold: str = "", open_rows: int = 0
) -> Table:
    """List groups with their differences before and after."""
    lines = [
        (
            {
                Column("Group", "name"): group.text,
                Column("Difference before", "number"): signed(group.before.difference),
                Column("Difference after", "strong"): signed(group.after.difference),
                Column("Confidence interval, points", "number"): _ends(group.after),
                Column("Selection rate", "number"): percent(group.after.rate_in),
                Column("Complement", "number"): percent(group.after.rate_out),
                Column("Rank before", "number"): NOTHING
                if group.rank_before is None
                else count(group.rank_before),
                Column("Rank after", "number"): count(group.rank_after),
            },
            Row(
                (),
                note="target" if group.target else "",
                units=tuple(rule.text for rule in group.rules),
            ),
        )
        for group in (change.increased if increased else change.worst)
    ]
    return _table(label, lines, fold=fold, open_rows=open_rows)


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
    own_time = sum(run.seconds for run in summary.runs) / max(len(summary.runs), 1)
    rows = [
        Row(
            ("Original model", before, held_out, accuracy_change(0.0), NOTHING, NOTHING),
            about=f"As it was, with an accuracy of {accuracy(summary.accuracy_before)}.",
        )
    ]
    part = None if written is None else written.held_out
    if written and part and part.constant is not None and part.accuracy.before is not None:
        # What says the same of all makes no difference at all.
        drop, none = accuracy_change(100 * (part.accuracy.before - part.constant)), size(0.0)
        rows.append(
            Row(
                ("Constant model", none, none, drop, NOTHING, NOTHING),
                about=f"“{written.constant_label}” for all.",
            )
        )
    rows.append(
        Row(
            (
                "Retraining with samples",
                spread_scores(largest_mean(spread.score for spread in summary.ranges)),
                spread_scores(largest_mean(spread.held_out_score for spread in summary.ranges)),
                spread_changes(summary.accuracy_drop),
                _own(summary),
                seconds(own_time),
            ),
            emphasis=True,
            about="This mitigation; at equal accuracy the model that was written.",
        )
    )
    return Table("Methods compared", columns, (*rows, *map(_comparison, summary.comparisons)))


def _comparison(other: ComparisonSummary) -> Row:
    name, equal = method(other.name, first=True), _equal(other)
    if other.status != "done":
        why = _STATUS_TEXTS[other.status]
        about = " ".join(sentence(part) for part in (other.about, other.reason) if part)
        return Row((name, why, NOTHING, NOTHING, equal, NOTHING), about=about)
    return Row(
        (
            name,
            spread_scores(largest_mean(other.scores)),
            spread_scores(largest_mean(other.held_out_scores)),
            spread_changes(other.accuracy_drop),
            equal,
            NOTHING if other.seconds is None else seconds(other.seconds),
        ),
        about=sentence(other.about),
    )


def _own(summary: MitigationSummary) -> str:
    """Write what the model that was written leaves on the held-out rows."""
    worst = max(
        (target.held_out_after for target in summary.targets), key=lambda side: side.score or 0.0
    )
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
    words = words_for(summary.data.kind)
    lines = [
        {
            Column("Samples of", "name"): _whose(target, samples, words, summary),
            Column("Run", "number"): str(samples.run),
            Column("Kind, weight"): samples.kind
            + (f", {weight(samples.weight)}" if samples.added else ""),
            Column("Label"): samples.label,
            Column(f"Training {words.many}", "number"): count(samples.seeds),
            Column("Drawn", "number"): count(samples.drawn),
            Column("With that label", "number"): f"{count(samples.counter_labelled)} of "
            f"{count(samples.distinct)}",
            Column("Added", "strong"): count(samples.added),
            **{
                Column(name, "number"): count(number) if samples.added else NOTHING
                for name, number in (
                    ("By the model", kept_label(samples)),
                    ("Relabelled", samples.relabelled),
                    ("Anchors", samples.anchors),
                )
            },
        }
        for target in summary.targets
        for samples in target.samples
    ]
    fold = f"{plural(len(lines), 'line')}, by target, run and side"
    return _table("Samples", ((cells, _ROW) for cells in lines), fold=fold, open_rows=_OPEN_ROWS)


def _whose(
    target: TargetSummary, samples: SamplesSummary, words: Words, summary: MitigationSummary
) -> str:
    if len(summary.targets) == 1:
        return "the group" if samples.side == "group" else words.others
    return target.text if samples.side == "group" else f"outside {target.text}"


def candidates_table(summary: MitigationSummary) -> Table:
    """List all candidates, as they were judged."""
    limit = summary.settings.max_accuracy_drop
    lines = [
        (
            {
                Column("Run", "number"): str(candidate.run),
                Column("Kind"): candidate.kind,
                Column("Samples", "number"): count(candidate.samples),
                Column("Weight of each", "number"): weight(candidate.weight)
                if candidate.samples
                else NOTHING,
                Column("Stage", "name"): candidate.stage,
                Column(_judged_heading(summary), "number"): accuracy_change(
                    candidate.accuracy_drop
                ),
                Column(_what(summary), "strong"): size(candidate_score(candidate)),
                Column("Judged"): _judgement(candidate, limit),
            },
            Row((), emphasis=candidate.chosen),
        )
        for candidate in summary.candidates
    ]
    fold = f"{plural(len(lines), 'candidate')} as they were judged"
    return _table("Candidates", lines, fold=fold, open_rows=0, printed=False)


def _judgement(candidate: CandidateSummary, limit: float) -> str:
    if candidate.chosen:
        return "chosen"
    if candidate.allowed:
        return ""
    return "refused" if within(candidate, limit) else "loses too much"
