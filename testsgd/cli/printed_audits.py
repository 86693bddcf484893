"""What ``testsgd audit`` prints: verdicts, and tables of the first groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from testsgd.cli import console

if TYPE_CHECKING:
    from testsgd.auditing import AuditResult, GroupSummary
    from testsgd.auditing.report.runs import RunsSummary
    from testsgd.metrics import MetricsResult

# Distinct groups of each metric, and of several runs, that the terminal shows.
_PRINTED = 3


def print_audit(result: AuditResult, written: list[Path], *, verbose: bool) -> None:
    """Print an audit: its verdict, the first groups and the files that were written."""
    from testsgd.auditing.report.wording import figure_name, findings

    summary = result.summary
    first = findings(summary)
    if first:
        _print_groups(result, first)
    console.print_verdict(summary.verdict)
    _print_guess(summary.data.notes)
    counts = summary.counts
    asked = f"{summary.model_queries:,} model queries, {summary.mode}"
    if summary.data.predictions_given:
        asked = "no model was asked"
    looked_at = (
        f"{counts.candidates:,} rule sets, {counts.frequent:,} frequent, {counts.groups:,} groups"
    )
    if summary.parameters.groups:
        looked_at = f"{counts.groups:,} of {counts.candidates:,} named groups compared, no search"
    console.print_line(f"{looked_at}; {asked}.")
    if summary.runs is not None:
        _print_runs(summary.runs, figure_name(summary))
    console.print_files(written, summary.seconds if verbose else None)


def print_metrics(result: MetricsResult, written: list[Path], *, verbose: bool) -> None:
    """Print an audit of metrics: its verdict, the first groups and the files written."""
    from testsgd.metrics.report import wording

    summary = result.summary
    measure = summary.parameters.measure
    columns = [
        console.Column("metric"),
        console.Column(measure, numeric=True),
        console.Column("value", numeric=True),
        console.Column("reference", numeric=True),
        console.Column("rows", numeric=True),
        console.Column("group"),
        console.Column("confidence interval", numeric=True, only_if_wide=True),
    ]
    rows = [
        [
            metric.title,
            wording.effect_text(group.effect, metric, measure),
            wording.value_text(group.value, metric),
            wording.value_text(group.reference_value, metric),
            f"{group.counted:,}",
            group.text,
            wording.interval_text(group, metric, measure),
        ]
        for metric in summary.metrics
        for group in [group for group in metric.groups if group.distinct][:_PRINTED]
    ]
    reference = wording.reference_words(summary.parameters.reference)
    if rows:
        title = f"{summary.data.title}: groups against {reference}"
        console.print_table(title, columns, rows)
    console.print_verdict(summary.verdict)
    _print_guess(summary.data.notes)
    model = "no model was asked"
    if summary.model is not None:
        model = f"the model was asked about {summary.model.queries:,} rows"
    console.print_line(f"{summary.groups_compared:,} groups; {model}.")
    console.print_files(written, summary.seconds if verbose else None)


def _print_guess(notes: list[str]) -> None:
    """Print the notes on what was guessed and may well be wrong, if there are any.

    They say that the favourable label is only a guess, and which cells may be meant otherwise.
    """
    from testsgd.data.classes import guess_among
    from testsgd.data.column_notes import column_notes_among

    guess = guess_among(notes)
    if guess is not None:
        console.print_line(f"{guess}.")
    for note in column_notes_among(notes):
        console.print_line(f"{note}.")


def _print_groups(result: AuditResult, groups: list[GroupSummary]) -> None:
    """Print the table of the first groups."""
    from testsgd.auditing.report.vocabulary import vocabulary

    summary = result.summary
    other = "observed" if summary.parameters.estimand == "neighbourhood" else "neighbourhood"
    texts = summary.data.kind == "texts"
    by_terms = summary.parameters.ranked_by == "counterfactual" and texts
    columns = [
        console.Column("rank", numeric=True),
        console.Column("from others" if by_terms else "difference", numeric=True),
        console.Column("rate", numeric=True),
        console.Column("complement", numeric=True),
        console.Column(summary.data.kind, numeric=True),
        console.Column("group"),
        console.Column("confidence interval", numeric=True, only_if_wide=True),
        console.Column("lower bound", numeric=True, only_if_wide=True),
    ]
    with_other = any(group.other is not None for group in groups)
    if with_other:
        columns.insert(-2, console.Column(other, numeric=True))
    if summary.mode == "sampled":
        columns.insert(2, console.Column("margin", numeric=True))
    with_terms = any(group.counterfactual for group in groups)
    # What the audit goes by comes first.
    effect_at = 1 if by_terms else 2
    if with_terms:
        columns.insert(effect_at, console.Column("effect", numeric=True))
    # The report has it always; a terminal, only where it is what groups are ranked by.
    by_own = summary.parameters.ranked_by == "counterfactual" and not by_terms
    with_own = by_own and any(group.own_effect for group in groups)
    if with_own:
        columns.insert(-2, console.Column("own effect", numeric=True))
    rows = []
    for group in groups:
        low, high = group.confidence_interval
        bound = group.lower_confidence_bound
        row = [
            str(group.rank),
            console.points(group.difference),
            f"{group.rate_in:.1%}",
            f"{group.rate_out:.1%}",
            f"{group.n_in:,}",
            group.text,
            f"{console.points(low)} to {console.points(high)}",
            "" if bound is None else f"{100 * bound:.1f}",
        ]
        if with_other:
            row.insert(-2, _other_points(group))
        if summary.mode == "sampled":
            row.insert(2, f"{group.margin * 100:.1f}")
        if with_terms:
            effect = group.counterfactual
            row.insert(effect_at, console.points(effect.difference) if effect else "")
        if with_own:
            own = group.own_effect
            row.insert(-2, console.points(own.difference) if own else "")
        rows.append(row)
    title = vocabulary(summary).differences(
        summary.data.label.favourable, summary.parameters.estimand
    )
    console.print_table(f"{summary.data.title}: {title}", columns, rows)


def _print_runs(runs: RunsSummary, figure: str) -> None:
    """Print how far the first groups differ between runs with several seeds."""
    from testsgd.auditing.report import runs as words

    columns = [
        console.Column("mean", numeric=True),
        console.Column("lowest to highest", numeric=True),
        console.Column("found in", numeric=True),
        console.Column("ranks", numeric=True),
        console.Column("group"),
    ]
    rows = [
        [
            words.mean_text(group),
            words.reach_text(group),
            words.found_text(group),
            words.ranks_text(group),
            group.text,
        ]
        for group in runs.groups[:_PRINTED]
    ]
    if rows:
        console.print_table("The first groups over the runs, in points", columns, rows)
    console.print_line(words.runs_sentence(runs, figure))


def _other_points(group: GroupSummary) -> str:
    other = None if group.other is None else group.other.difference
    return "" if other is None else console.points(other)
