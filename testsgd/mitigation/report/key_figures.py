"""The key figures of a mitigation: three questions, each with a figure and its context."""

from __future__ import annotations

from testsgd.auditing.report.vocabulary import words_for
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.control_sentences import deciding_control
from testsgd.mitigation.report.fitted_anew import against
from testsgd.mitigation.report.phrases import FEW, NO_BREAK, accuracy, budget, largest
from testsgd.mitigation.report.summary import ChangeSummary, MitigationSummary
from testsgd.report.blocks import KeyFigure, KeyFigures, Standing
from testsgd.report.formatting import (
    NOTHING,
    count,
    interval,
    plural,
    points,
    signed,
    size,
    size_points,
)

_ARROW = "\N{RIGHTWARDS ARROW}"
# With these the difference is smaller, but at a price.
_AT_A_PRICE = (
    "accuracy_lost",
    "one_sided",
    "no_better_than_constant",
    "side_effect",
    "worst_rose",
)


def key_figures(summary: MitigationSummary) -> KeyFigures:
    """Answer whether it helped, what it cost, and whether others got worse."""
    return KeyFigures((_help(summary), _cost(summary), _others_worse(summary)))


def _help(summary: MitigationSummary) -> KeyFigure:
    words, targets = words_for(summary.data.kind), summary.targets
    question, single = "Did it help?", len(summary.targets) == 1
    between = f"difference between the group and {words.others}"
    before = largest(target.held_out_before.score for target in targets)
    after = largest(target.held_out_after.score for target in targets)
    if summary.chosen_run is None:
        what = between if single else "largest difference"
        everywhere = largest(target.before.score for target in targets)
        return KeyFigure(question, "no", (f"{what}: still {_points(everywhere)}",), "bad")
    what = between if single else f"largest difference of {plural(len(targets), 'target')}"
    lines = [f"{what}, {count(summary.split.held_out)} held-out {words.many}"]
    written = summary.written
    if written is not None:
        effects = [target.effect for target in written.targets if target.effect is not None]
        lines += [f"the counterfactual effect: {_arrow(effect)}" for effect in effects[:1]]
        change = written.targets[0].deciding(written.estimand)
        if single and change.confidence_interval is not None:
            lines.append(f"change: {interval(change.confidence_interval)}")
    if not all(phrases.enough(target.held_out_before) for target in targets):
        lines.append(f"fewer than {FEW} on one side: too few to tell")
    limit = summary.settings.all_above
    if limit is not None:
        reached = sum((target.held_out_after.score or 0.0) <= limit for target in targets)
        lines.append(f"{count(reached)} of {count(len(targets))} at {size_points(limit)} or less")
    figure, control = _change(before, after), deciding_control(summary)
    if control is not None and control.after is not None:
        lines = [
            f"control effect of {control.text}, {plural(control.texts, 'held-out text')}",
            *(
                []
                if control.change_interval is None
                else [f"change: {interval(control.change_interval)}"]
            ),
            f"difference between groups: {figure}",
        ]
        figure = _change(abs(control.before.difference), abs(control.after.difference))
    good = summary.verdict.exit_code == 0 or summary.verdict.status in _AT_A_PRICE
    return KeyFigure(question, figure, tuple(lines), "good" if good else "bad")


def _cost(summary: MitigationSummary) -> KeyFigure:
    question, words = "What did it cost?", words_for(summary.data.kind)
    limit = summary.settings.max_accuracy_drop
    before, anew = accuracy(summary.accuracy_before), summary.fitted_anew
    given = before if anew is None else accuracy(anew.accuracy_given)
    on = plural(summary.split.held_out, f"held-out {words.one}")
    if summary.chosen_run is None:
        line = f"the original model is kept: {given} accuracy on {on}"
        where = phrases.judged_where(summary.split, words.many)
        tried = f"no candidate lost {budget(limit)} or less {where}"
        if any(candidate.allowed for candidate in summary.candidates):
            tried = f"no candidate within {budget(limit)} {where} had a smaller difference"
        elif any(phrases.within(candidate, limit) for candidate in summary.candidates):
            tried = f"each candidate within {budget(limit)} {where} was refused"
        return KeyFigure(question, "nothing", (line, tried))
    kept = next((run for run in summary.runs if run.run == summary.chosen_run), None)
    if kept is None:
        return KeyFigure(question, NOTHING)
    lines = [
        f"of accuracy: {before} {_ARROW} {accuracy(kept.accuracy)} on {on}{against(summary)}",
        f"allowed: {budget(limit)}",
    ]
    if anew is not None:
        lines.append(f"accuracy of the original as given: {given}")
    written = summary.written
    if written is not None:
        ends = phrases.accuracy_ends(written.held_out.accuracy)
        if ends:
            lines[1] = f"{ends}; allowed: {budget(limit)}"
        balanced = written.held_out.balanced
        lines.append(
            f"balanced accuracy: {accuracy(balanced.before)} {_ARROW} {accuracy(balanced.after)}"
        )
        lines.append(
            f"best constant model: {accuracy(written.held_out.constant)}, "
            f"“{written.constant_label}” for all"
        )
    judgement: Standing = "bad" if summary.verdict.status in _AT_A_PRICE else "good"
    figure = f"{phrases.accuracy_change(kept.accuracy_drop)} points"
    return KeyFigure(question, figure, tuple(lines), judgement)


def _others_worse(summary: MitigationSummary) -> KeyFigure:
    question, change = "Did others get worse?", summary.all_rows
    if summary.chosen_run is None:
        line = f"largest difference of any group: still {_points(change.worst_before)}"
        return KeyFigure(question, "no", (line,))
    effects = None if summary.written is None else summary.written.side_effects
    more, failed = list[str](), summary.verdict.status in ("side_effect", "worst_rose")
    if effects is not None and effects.worst is not None:
        worst = effects.worst
        more.append(f"in observed rates, held out: {_change(worst.before, worst.after)}")
    if effects is not None and effects.gaps:
        allowed = size_points(summary.settings.max_side_effect)
        more.append(
            f"gaps that grew by more than {allowed} and than chance explains: "
            f"{count(effects.exceeded_count)} of {count(effects.gaps)}"
        )
        if effects.lossy:
            most = phrases.budget(summary.settings.max_group_accuracy_drop)
            more.append(f"{plural(effects.lossy_count, 'group')} lost more than {most} of accuracy")
        failed = failed or effects.failed
    above = failed or (
        change.worst_after is not None
        and change.worst_before is not None
        and change.worst_after > change.worst_before
    )
    lines = (
        f"have a difference that grew by more than {size_points(summary.least_increase)}",
        f"largest difference of any group{', kept model' if len(summary.runs) > 1 else ''}: "
        f"{_change(change.worst_before, change.worst_after)}",
        *more,
    )
    figure = f"{count(change.increased_count)} of {plural(change.groups, 'group')}"
    return KeyFigure(
        question, figure, lines, "bad" if above else "" if change.increased_count else "good"
    )


def _arrow(change: ChangeSummary) -> str:
    """Write a signed change with an arrow."""
    return f"{signed(change.before)}{NO_BREAK}{_ARROW}{NO_BREAK}{points(change.after)}"


def _points(size: float | None) -> str:
    return NOTHING if size is None else size_points(size)


def _change(before: float | None, after: float | None) -> str:
    return f"{size(before)}{NO_BREAK}{_ARROW}{NO_BREAK}{_points(after)}"
