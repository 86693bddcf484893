"""The three questions that everybody asks first, each with a figure and what to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from testsgd.reporting.mitigation.phrases import (
    FEW,
    NO_BREAK,
    accuracy,
    accuracy_change,
    budget,
    enough,
    judged_where,
    largest,
    largest_mean,
    over_runs,
    score,
    within,
)
from testsgd.reporting.mitigation.summary import MitigationSummary
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.wording import NOTHING, count, plural, size_points

Tone = Literal["good", "bad", "plain"]

ARROW = "\N{RIGHTWARDS ARROW}"


@dataclass(frozen=True)
class Answer:
    """One question with its figure, and lines that say what the figure is of."""

    question: str
    figure: str
    lines: tuple[str, ...]
    tone: Tone


def answers(summary: MitigationSummary) -> tuple[Answer, Answer, Answer]:
    """Answer whether it helped, what it cost, and whether others got worse.

    Parameters
    ----------
    summary : MitigationSummary
        The mitigation.

    Returns
    -------
    tuple of Answer
        Plain texts, not escaped for any view.
    """
    return _help(summary), _cost(summary), _others(summary)


def _help(summary: MitigationSummary) -> Answer:
    words, targets = words_for(summary.data.kind), summary.targets
    question = "Did it help?"
    before = largest(target.before.score for target in targets)
    one = len(targets) == 1
    what = (
        f"difference between the group and {words.others}"
        if one
        else f"largest difference of {plural(len(targets), 'target')}"
    )
    if summary.kept_run is None:
        return Answer(question, "no", (f"{what}: still {_points(before)}",), "bad")
    after = largest_mean(spread.score for spread in summary.spreads)
    mean = over_runs(len(summary.runs))
    lines = [f"{what}, all {words.many}{f', {mean}' if mean else ''}", _held_out(summary)]
    limit = summary.settings.all_above
    if limit is not None:
        reached = sum(
            spread.score is not None and spread.score.mean <= limit for spread in summary.spreads
        )
        lines.append(f"{count(reached)} of {count(len(targets))} at {size_points(limit)} or less")
    good = summary.verdict.status not in ("not_better", "above_threshold")
    figure = _change(before, None if after is None else after.mean)
    return Answer(question, figure, tuple(lines), "good" if good else "bad")


def _held_out(summary: MitigationSummary) -> str:
    many = words_for(summary.data.kind).many
    pairs = list(zip(summary.targets, summary.spreads, strict=True))
    judged = [(one, spread) for one, spread in pairs if enough(one.held_out_before)]
    if not judged:
        return f"held-out {many}: fewer than {FEW} on one side, too few to tell"
    before = largest(target.held_out_before.score for target, _ in judged)
    after = largest_mean(spread.held_out_score for _, spread in judged)
    return f"held-out {many}: {_change(before, None if after is None else after.mean)}"


def _cost(summary: MitigationSummary) -> Answer:
    question, words = "What did it cost?", words_for(summary.data.kind)
    limit = summary.settings.max_accuracy_drop
    before = accuracy(summary.accuracy_before)
    on = f"{plural(summary.split.held_out, f'held-out {words.one}')}"
    if summary.kept_run is None:
        line = f"the original model is kept: {before} accuracy on {on}"
        where = judged_where(summary.split, words.many)
        tried = f"no candidate lost {budget(limit)} or less {where}"
        if any(candidate.allowed for candidate in summary.candidates):
            tried = f"no candidate within {budget(limit)} {where} had a smaller difference"
        elif any(within(candidate, limit) for candidate in summary.candidates):
            tried = f"each candidate within {budget(limit)} {where} was too one-sided"
        return Answer(question, "nothing", (line, tried), "plain")
    drop = summary.accuracy_drop.mean
    mean = over_runs(len(summary.runs))
    after = accuracy(summary.accuracy_after.mean)
    lines = (
        f"of accuracy: {before} {ARROW} {after} on {on}{f', {mean}' if mean else ''}",
        f"allowed: {budget(limit)}",
    )
    lost = summary.verdict.status == "accuracy_lost"
    return Answer(question, f"{accuracy_change(drop)} points", lines, "bad" if lost else "good")


def _others(summary: MitigationSummary) -> Answer:
    change = summary.all_rows
    rise = size_points(summary.risen_by)
    question = "Did others get worse?"
    if summary.kept_run is None:
        line = f"largest difference of any group: still {_points(change.worst_before)}"
        return Answer(question, "no", (line,), "plain")
    figure = f"{count(change.risen_count)} of {plural(change.groups, 'group')}"
    above = (
        change.worst_after is not None
        and change.worst_before is not None
        and change.worst_after > change.worst_before
    )
    lines = (
        f"have a difference that grew by more than {rise}",
        f"largest difference of any group{', kept model' if len(summary.runs) > 1 else ''}: "
        f"{_change(change.worst_before, change.worst_after)}",
    )
    tone: Tone = "bad" if above else "plain" if change.risen_count else "good"
    return Answer(question, figure, lines, tone)


def _points(size: float | None) -> str:
    return NOTHING if size is None else size_points(size)


def _change(before: float | None, after: float | None) -> str:
    return f"{score(before)}{NO_BREAK}{ARROW}{NO_BREAK}{_points(after)}"
