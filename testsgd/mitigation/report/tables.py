"""The tables of a mitigation's report: the same cells in every view."""

from __future__ import annotations

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
    score,
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
    SamplesSummary,
    SideSummary,
    Spread,
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
)

# Longer tables are folded away on a page.
_OPEN_ROWS = 12

_STATUS_TEXTS = {
    "not_installed": "not installed",
    "not_possible": "not possible",
    "failed": "failed",
}


def targets_table(summary: MitigationSummary) -> Table:
    """List the targets with their differences before and after, for a terminal."""
    columns = (
        Column("Rank", "number", short="rank"),
        Column("Before", "number", short="before"),
        Column("After", "number", short="after"),
        Column("Held out before", "number"),
        Column("Held out after", "number"),
        Column("Group", short="group"),
    )
    rows = []
    for target in summary.targets:
        rates = (target.before, target.after, target.held_out_before, target.held_out_after)
        rows.append(Row((str(target.rank), *(_plain(side) for side in rates), target.text)))
    label = f"{summary.data.title}: difference in the rate of “{summary.data.label.favourable}”"
    return Table(f"{label}, in points", columns, tuple(rows))


def _plain(rates: RatesSummary) -> str:
    """Write a difference as terminals have it; what rounds to nothing has no minus."""
    if rates.difference is None:
        return "unknown"
    return f"{round(100 * rates.difference, 1) + 0.0:+.1f}"


def target_table(target: TargetSummary, summary: MitigationSummary) -> Table:
    """List how the original model and the one that was kept treat a target."""
    words = words_for(summary.data.kind)
    many = words.many
    pairs = [
        (f"All {many}", "before", target.before),
        (f"All {many}", "after", target.after),
        (f"Held-out {many}", "before", target.held_out_before),
        (f"Held-out {many}", "after", target.held_out_after),
    ]
    columns = (
        Column("", "name"),
        Column("Difference", "strong"),
        Column("Population interval, points", "number"),
        Column("Rate in group", "number"),
        Column("Rate outside", "number"),
        Column(f"{many.capitalize()} in group", "number"),
        Column(f"{many.capitalize()} outside", "number"),
    )
    kept = summary.kept_run is not None
    if summary.written is not None:
        written = summary.written.targets[summary.targets.index(target)]
        if summary.written.estimand == "observed":
            other = "over neighbours"
            sides = (written.neighbourhood_before, written.neighbourhood_after)
            if words.kind == "texts":
                other = "with the terms put in"
        else:
            other, sides = "as they are", (written.observed_before, written.observed_after)
        pairs += [
            (f"Held-out {many} {other}", when, side)
            for when, side in zip(("before", "after"), sides, strict=True)
        ]
    rows = tuple(
        Row(
            (f"{which}, {when}" if kept else which, *_rates(rates)),
            emphasis=when == "after",
        )
        for which, when, rates in pairs
        if kept or when == "before"
    )
    return Table(f"Before and after, {target.text}", columns, rows)


def paying_table(summary: MitigationSummary) -> Table:
    """List who pays: what became of each side of each target on the held-out rows."""
    words = words_for(summary.data.kind)
    columns = (
        Column("Held-out " + words.many, "name"),
        Column("Number", "number"),
        Column("Selection rate", "strong"),
        Column("True-positive rate", "number"),
        Column("False-positive rate", "number"),
        Column("Gain the label", "number"),
        Column("Lose it", "number"),
    )
    written = [] if summary.written is None else summary.written.targets
    only = len(written) == 1
    rows = tuple(
        Row(
            (
                who if only else f"{who}, {target.text}",
                count(side.rows),
                _ends(side.selected_before, side.selected.before, side.selected_after, side),
                f"{percent(side.true_positive_rate.before)} to "
                f"{percent(side.true_positive_rate.after)}",
                f"{percent(side.false_positive_rate.before)} to "
                f"{percent(side.false_positive_rate.after)}",
                count(side.gained),
                count(side.lost),
            )
        )
        for target, both in zip(summary.targets, written, strict=False)
        for who, side in (("the group", both.inside), (words.others, both.outside))
    )
    return Table("Who pays", columns, rows)


def _ends(
    before: tuple[float, float] | None,
    rate: float | None,
    after: tuple[float, float] | None,
    side: SideSummary,
) -> str:
    """Write a rate before and after, each with its interval."""
    parts = []
    for share, ends in ((rate, before), (side.selected.after, after)):
        known = "" if ends is None else f" ({percent(ends[0])} to {percent(ends[1])})"
        parts.append(f"{percent(share)}{known}")
    return " to ".join(parts)


def parts_table(summary: MitigationSummary) -> Table:
    """List what became of accuracy on each part of the data, as the guard looks at it."""
    words = words_for(summary.data.kind)
    columns = (
        Column("Part", "name"),
        Column("Number", "number"),
        Column("Accuracy", "number"),
        Column("Change", "strong"),
        Column("Balanced accuracy", "number"),
        Column("Change, balanced", "strong"),
        Column("Lost, as the guard counts", "number"),
        Column("Best constant model", "number"),
        Column("Above it", "number"),
    )
    written = summary.written
    parts = (
        ()
        if written is None
        else (
            ("Held-out", written.held_out),
            ("Validation", written.validation),
            ("Training", written.training),
        )
    )
    rows = tuple(
        Row(
            (
                f"{name} {words.many}",
                count(part.rows),
                f"{accuracy(part.accuracy.before)} to {accuracy(part.accuracy.after)}",
                _with_interval(part.accuracy),
                f"{accuracy(part.balanced.before)} to {accuracy(part.balanced.after)}",
                _with_interval(part.balanced),
                f"{lost_points(part.accuracy_drop)}, balanced {lost_points(part.balanced_drop)}",
                accuracy(part.constant),
                _with_interval(part.above_constant),
            ),
            emphasis=name == "Held-out",
        )
        for name, part in parts
    )
    return Table("Accuracy on each part", columns, rows)


def _with_interval(change: ChangeSummary) -> str:
    return NOTHING if change.interval is None else changed_accuracy(change)


def curves_table(summary: MitigationSummary) -> Table:
    """List what each method reaches with several budgets, on the held-out rows."""
    columns = (
        Column("Method", "name"),
        Column("Allowed to lose", "number"),
        Column("Accuracy change, held-out", "number"),
        Column("Difference, held-out", "strong"),
        Column("Population interval, points", "number"),
    )
    curves = [("Retraining with samples", summary.curve)]
    curves += [(method(other.name, first=True), other.curve) for other in summary.comparisons]
    rows = tuple(
        Row(
            (
                name,
                f"{point.budget:.10g}",
                f"{accuracy_change(-point.accuracy_change)} "
                f"({accuracy_change(-point.accuracy_interval[0])} to "
                f"{accuracy_change(-point.accuracy_interval[1])})",
                signed(point.difference),
                interval(point.interval),
            )
        )
        for name, curve in curves
        for point in curve
    )
    return Table("Difference against accuracy", columns, rows)


def _rates(rates: RatesSummary) -> tuple[str, ...]:
    return (
        points(rates.difference),
        NOTHING if rates.interval is None else interval(rates.interval),
        percent(rates.rate_in),
        percent(rates.rate_out),
        count(rates.n_in),
        count(rates.n_out),
    )


def runs_table(summary: MitigationSummary) -> Table:
    """List the runs, one a row, and their means."""
    words = words_for(summary.data.kind)
    what = "Difference" if len(summary.targets) == 1 else "Worst target"
    columns = (
        Column("Run", "name"),
        Column(f"{what}, all {words.many}", "strong"),
        Column(f"{what}, held-out", "number"),
        Column("Accuracy change, held-out", "number"),
        Column(_judged_heading(summary), "number"),
        Column("Samples added", "number"),
        Column("Kind, weight"),
        Column("Largest of any group", "number"),
        Column("Differences that grew", "number"),
        Column("Time", "number"),
    )
    rows = [
        Row(
            (
                str(run.run),
                score(largest(run.scores)),
                score(largest(run.held_out_scores)),
                accuracy_change(run.accuracy_drop),
                accuracy_change(run.validation_drop),
                "none" if run.samples is None else count(run.samples),
                NOTHING if run.kind is None else f"{run.kind}, {weight(run.weight)}",
                score(run.worst),
                count(run.risen),
                seconds(run.seconds),
            ),
            emphasis=run.run == summary.kept_run,
            note="kept" if run.run == summary.kept_run else "",
        )
        for run in summary.runs
    ]
    if len(rows) > 1:
        # Of several targets, another one may be the worst in each run: then the mean of these
        # figures is none of the means that count.
        only = summary.spreads[0] if len(summary.spreads) == 1 else None
        means = (
            _mean(only.score if only else None),
            _mean(only.held_out_score if only else None),
            accuracy_change(summary.accuracy_drop.mean),
        )
        rows.append(Row(("Mean", *means, *[""] * (len(columns) - 4))))
    return Table("Run by run", columns, tuple(rows))


def _judged_heading(summary: MitigationSummary) -> str:
    return f"Accuracy change, {'estimated' if estimated(summary.split) else 'validation'}"


def _mean(spread: Spread | None) -> str:
    return "" if spread is None else score(spread.mean)


def groups_table(
    change: AuditChange, label: str, *, risen: bool, fold: str = "", open_rows: int = 0
) -> Table:
    """List groups with their differences before and after."""
    groups = change.risen if risen else change.worst
    columns = (
        Column("Group", "name"),
        Column("Difference before", "number"),
        Column("Difference after", "strong"),
        Column("Population interval, points", "number"),
        Column("Rate in group", "number"),
        Column("Rate outside", "number"),
        Column("Rank before", "number"),
        Column("Rank after", "number"),
    )
    rows = tuple(
        Row(
            (
                group.text,
                signed(group.before.difference),
                signed(group.after.difference),
                NOTHING if group.after.interval is None else interval(group.after.interval),
                percent(group.after.rate_in),
                percent(group.after.rate_out),
                NOTHING if group.rank_before is None else count(group.rank_before),
                count(group.rank_after),
            ),
            note="target" if group.target else "",
            units=tuple(rule.text for rule in group.rules),
        )
        for group in groups
    )
    return Table(label, columns, rows, fold=fold, open_rows=open_rows)


def comparisons_table(summary: MitigationSummary) -> Table:
    """List what else one might do, between the original model and this mitigation."""
    words = words_for(summary.data.kind)
    what = "Difference" if len(summary.targets) == 1 else "Worst target"
    columns = (
        Column("Method", "name"),
        Column(f"{what}, all {words.many}", "strong"),
        Column(f"{what}, held-out", "number"),
        Column("Accuracy change, held-out", "number"),
        Column("At equal accuracy", "strong"),
        Column("Time of a run", "number"),
    )
    before = largest(target.before.score for target in summary.targets)
    held_out = largest(target.held_out_before.score for target in summary.targets)
    own_time = sum(run.seconds for run in summary.runs) / max(len(summary.runs), 1)
    rows = [
        Row(
            (
                "Original model",
                score(before),
                score(held_out),
                accuracy_change(0.0),
                NOTHING,
                NOTHING,
            ),
            about=f"As it was, with an accuracy of {accuracy(summary.accuracy_before)}.",
        ),
        *_constant(summary),
        Row(
            (
                "Retraining with samples",
                spread_scores(largest_mean(spread.score for spread in summary.spreads)),
                spread_scores(largest_mean(spread.held_out_score for spread in summary.spreads)),
                spread_changes(summary.accuracy_drop),
                _own(summary),
                seconds(own_time),
            ),
            emphasis=True,
            about="This mitigation; at equal accuracy the model that was written.",
        ),
        *(_comparison(other) for other in summary.comparisons),
    ]
    return Table("Methods compared", columns, tuple(rows))


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


def _constant(summary: MitigationSummary) -> list[Row]:
    """Write what the best constant model reaches: no difference at all."""
    if summary.written is None:
        return []
    part = summary.written.held_out
    if part.constant is None or part.accuracy.before is None:
        return []
    drop = 100 * (part.accuracy.before - part.constant)
    return [
        Row(
            (
                "Constant model",
                score(0.0),
                score(0.0),
                accuracy_change(drop),
                NOTHING,
                NOTHING,
            ),
            about=f"“{summary.written.constant_label}” for all.",
        )
    ]


def _own(summary: MitigationSummary) -> str:
    """Write what the model that was written leaves on the held-out rows."""
    worst = max(
        (target.held_out_after for target in summary.targets), key=lambda side: side.score or 0.0
    )
    if summary.written is None or worst.interval is None:
        return NOTHING
    return f"{score(worst.score)} ({interval(worst.interval)})"


def _equal(other: ComparisonSummary) -> str:
    """Write what a method reaches at the accuracy of the model that was written."""
    reached = other.equal_accuracy
    if reached is None:
        return "loses more" if other.curve else NOTHING
    return f"{score(reached.score)} ({interval(reached.interval)})"


def samples_table(summary: MitigationSummary) -> Table:
    """List the samples that were generated, by target, run and side."""
    words = words_for(summary.data.kind)
    columns = (
        Column("Samples of", "name"),
        Column("Run", "number"),
        Column("Kind, weight"),
        Column("Label"),
        Column(f"Training {words.many}", "number"),
        Column("Drawn", "number"),
        Column("With that label", "number"),
        Column("Added", "strong"),
        Column("By the model", "number"),
        Column("Relabelled", "number"),
        Column("Anchors", "number"),
    )
    rows = tuple(
        Row(
            (
                _whose(target, samples, words, only=len(summary.targets) == 1),
                str(samples.run),
                f"{samples.kind}, {weight(samples.weight)}" if samples.added else samples.kind,
                samples.label,
                count(samples.seeds),
                count(samples.drawn),
                f"{count(samples.counter_labelled)} of {count(samples.distinct)}",
                count(samples.added),
                *_added(samples),
            )
        )
        for target in summary.targets
        for samples in target.samples
    )
    fold = f"{plural(len(rows), 'line')}, by target, run and side"
    return Table("Samples", columns, rows, fold=fold, open_rows=_OPEN_ROWS)


def _added(samples: SamplesSummary) -> tuple[str, ...]:
    if not samples.added:
        return (NOTHING,) * 3
    parts = (kept_label(samples), samples.relabelled, samples.anchors)
    return tuple(count(number) for number in parts)


def _whose(target: TargetSummary, samples: SamplesSummary, words: Words, *, only: bool) -> str:
    if only:
        return "the group" if samples.side == "group" else words.others
    return target.text if samples.side == "group" else f"outside {target.text}"


def candidates_table(summary: MitigationSummary) -> Table:
    """List all candidates, as they were judged."""
    what = "Difference" if len(summary.targets) == 1 else "Worst target"
    columns = (
        Column("Run", "number"),
        Column("Kind"),
        Column("Samples", "number"),
        Column("Weight of each", "number"),
        Column("Stage", "name"),
        Column(_judged_heading(summary), "number"),
        Column(what, "strong"),
        Column("Judged"),
    )
    rows = tuple(
        Row(
            (
                str(candidate.run),
                candidate.kind,
                count(candidate.samples),
                weight(candidate.weight) if candidate.samples else NOTHING,
                candidate.stage,
                accuracy_change(candidate.accuracy_drop),
                score(candidate_score(candidate)),
                _judgement(candidate, summary.settings.max_accuracy_drop),
            ),
            emphasis=candidate.chosen,
        )
        for candidate in summary.candidates
    )
    fold = f"{plural(len(rows), 'candidate')} as they were judged"
    return Table("Candidates", columns, rows, fold=fold, open_rows=0, printed=False)


def _judgement(candidate: CandidateSummary, limit: float) -> str:
    if candidate.chosen:
        return "chosen"
    if candidate.allowed:
        return ""
    return "refused" if within(candidate, limit) else "loses too much"
