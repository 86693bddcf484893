"""The verdict of a mitigation: its status, its exit code, and both in words.

It is about the model that was written. Everything is decided on the held-out rows. The guard, what
may be lost, holds on the training and the validation rows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.mitigation.parameters import ROUNDING
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.control_sentences import (
    control_change_sentences,
    control_moved,
    control_too_few,
    deciding_control,
)
from testsgd.mitigation.report.fitted_anew import (
    against,
    fitted_anew_sentences,
    left_by_fitting,
    reference_name,
)
from testsgd.mitigation.report.phrases import FEW, accuracy, budget, enough, judged_where
from testsgd.mitigation.report.sentences import (
    caveats,
    comparison_sentence,
    few_sentence,
    guard_sentences,
    held_out_sentence,
    no_candidate_sentences,
    other_groups_sentences,
    paying_sentences,
    runs_sentence,
    sample_sentences,
)
from testsgd.mitigation.report.side_effects import (
    gap_sentences,
    side_effect,
    worst_sentences,
)
from testsgd.mitigation.report.summary import (
    ChangeSummary,
    MitigationSummary,
    MitigationVerdict,
    PartName,
    Status,
    TargetSummary,
    WorstSummary,
    WrittenSummary,
    WrittenTarget,
)
from testsgd.report.formatting import (
    count,
    interval,
    percent,
    plural,
    points,
    shorten,
    signed,
    size,
    size_points,
)

# Not enough evidence is told from failure, whose exit code is 1.
EXIT_CODES: dict[str, Literal[0, 1, 3]] = {"mitigated": 0, "not_certain": 3, "too_few": 3}

# Terms that change so little the other way round are not said to be turned round.
TURNED = 0.02

_GROUP_LIMIT = 200

# From this share of a closed gap on, levelling down is what closed it.
_MOSTLY, _ALL = 0.5, 0.9


class Loss(NamedTuple):
    """Points of accuracy lost on a part of the data beyond what was allowed."""

    part: PartName
    balanced: bool
    drop: float
    limit: float


@dataclass(frozen=True)
class _Outcome:
    """What became of the targets by the model that was written."""

    summary: MitigationSummary
    written: WrittenSummary
    words: Words

    @property
    def texts(self) -> bool:
        return self.words.kind == "texts"

    @property
    def both(self) -> list[tuple[TargetSummary, WrittenTarget]]:
        """Each target, with what became of it on the held-out rows."""
        return list(zip(self.summary.targets, self.written.targets, strict=True))

    @property
    def worst(self) -> int:
        """The index of the target whose difference is the largest after."""
        return max(range(len(self.both)), key=lambda index: abs(self.ends(index)[1] or 0.0))

    @property
    def cross_validated(self) -> bool:
        """Whether the validation part is too small to judge by."""
        return self.summary.split.evaluated_by == "cross-validation"

    def losses(self) -> list[Loss]:
        """Find where more was lost than allowed; accuracy before balanced accuracy.

        A validation part that is too small to judge by is judged by the cross-validation.
        """
        settings, losses = self.summary.settings, []
        limits = {False: settings.max_accuracy_drop, True: settings.max_balanced_drop}
        for balanced, limit in limits.items():
            for name, part in self.written.parts.items():
                drop = part.balanced_drop if balanced else part.accuracy_drop
                if name == "validation" and self.cross_validated:
                    if balanced:
                        continue
                    runs = {run.run: run.validation_drop for run in self.summary.runs}
                    drop = runs[self.written.run]
                if drop > limit + ROUNDING:
                    losses.append(Loss(name, balanced, drop, limit))
        return losses

    def one_sided(self) -> PartName | None:
        """Find a part where the model decides, or is right, one way less than half as often."""
        for name, part in self.written.parts.items():
            if part.one_sided and not (name == "validation" and self.cross_validated):
                return name
        return None

    def change(self, target: TargetSummary, written: WrittenTarget) -> ChangeSummary | None:
        """Return the change that decides; for texts that of the counterfactual effect."""
        if not (enough(target.held_out_before) and enough(target.held_out_after)):
            return None
        by_rates = written.deciding(self.written.estimand)
        decisive = written.effect if self.texts else by_rates
        if decisive is None:
            return None
        figures = decisive.before, decisive.after, decisive.confidence_interval
        return None if None in figures else decisive

    def above(self) -> list[int]:
        """Find the targets whose difference on held-out rows is still above a threshold."""
        limit = self.summary.settings.all_above
        if limit is None:
            return []
        scores = [target.held_out_after.score or 0.0 for target in self.summary.targets]
        return [index for index, score in enumerate(scores) if score > limit]

    def name(self, index: int) -> str:
        """Write who is in a target, in words."""
        named = phrases.group_words(self.summary.targets[index], self.summary.data, self.words)
        return shorten(named, _GROUP_LIMIT)

    def ends(self, index: int) -> tuple[float | None, float | None]:
        """Return the signed figure that decides, before and after."""
        target, written = self.both[index]
        if self.texts:
            effect = written.effect
            return (None, None) if effect is None else (effect.before, effect.after)
        return target.held_out_before.difference, target.held_out_after.difference

    def status(self) -> Status:
        """Decide what became of the targets: the first of these that holds."""
        if self.losses():
            return "accuracy_lost"
        if self.one_sided() is not None:
            return "one_sided"
        gain = self.written.held_out.above_constant.confidence_interval
        if gain is not None and gain[0] <= 0:
            return "no_better_than_constant"
        effects = self.written.side_effects
        if effects is not None and effects.failed:
            return "side_effect"
        if effects is not None and effects.worst is not None and worst_rose(effects.worst):
            return "worst_rose"
        if self.by_control:
            return self._control_status()
        changes = [self.change(*both) for both in self.both]
        known = [change for change in changes if change is not None]
        if len(known) < len(changes):
            return "too_few"
        if self.texts and any(
            turned_round(change, written)
            for change, written in zip(known, self.written.targets, strict=True)
        ):
            return "reversed"
        if any(abs(change.after or 0.0) >= abs(change.before or 0.0) for change in known):
            return "not_better"
        if self.above():
            return "above_threshold"
        if not all(certainly_smaller(change) for change in known):
            return "not_certain"
        return "mitigated"

    @property
    def by_control(self) -> bool:
        """Whether the verdict goes by a control effect in place of the groups."""
        return self.summary.controls is not None and self.summary.controls.decides

    def _control_status(self) -> Status:
        """Decide what became of the control effect that the verdict goes by."""
        change = deciding_control(self.summary)
        if change is None or change.after is None or change.change is None or change.texts < FEW:
            return "too_few"
        before, after = change.before.difference, change.after.difference
        low, high = change.after.confidence_interval
        if before * after < 0 and (low > 0 or high < 0 or abs(after) > TURNED):
            return "reversed"
        if abs(after) >= abs(before):
            return "not_better"
        figures = ChangeSummary(
            before=before,
            after=after,
            change=change.change,
            confidence_interval=change.change_interval,
        )
        return "mitigated" if certainly_smaller(figures) else "not_certain"


def worst_rose(worst: WorstSummary) -> bool:
    """Return whether the largest difference of any group rose by more than chance explains."""
    return worst.after > worst.before and worst.confidence_interval[0] > 0


def turned_round(change: ChangeSummary, written: WrittenTarget) -> bool:
    """Return whether an effect is reversed, significantly or by more than two points."""
    before, after = change.before or 0.0, change.after or 0.0
    if before * after >= 0:
        return False
    ends = written.effect_after.confidence_interval if written.effect_after is not None else None
    significant = ends is not None and (ends[0] > 0 or ends[1] < 0)
    return significant or abs(after) > TURNED


def certainly_smaller(change: ChangeSummary) -> bool:
    """Return whether a difference came significantly nearer to zero."""
    if change.confidence_interval is None or change.before is None:
        return False
    low, high = change.confidence_interval
    return high < 0 if change.before > 0 else low > 0


def mitigation_verdict(summary: MitigationSummary) -> MitigationVerdict:
    """Return the verdict on the model that was written: what it reached, and what it cost.

    Everything is decided on the held-out rows; the guard holds on the training and the validation
    rows too.

    Parameters
    ----------
    summary : MitigationSummary
        The document; the verdict that it has is not used.

    Returns
    -------
    MitigationVerdict
        The status, the exit code of the command line, a headline and sentences.
    """
    words, written = words_for(summary.data.kind), summary.written
    doubts = [summary.split.warning] if summary.split.warning else []
    if summary.chosen_run is None or written is None:
        allowed = any(candidate.allowed for candidate in summary.candidates)
        return MitigationVerdict(
            status="not_better" if allowed else "no_candidate",
            exit_code=1,
            headline=_nothing_kept(summary, words),
            sentences=[
                *no_candidate_sentences(summary, words),
                *control_change_sentences(summary),
                *few_sentence(summary, words),
                *fitted_anew_sentences(summary, words),
                *comparison_sentence(summary, None),
                *doubts,
            ],
        )
    outcome = _Outcome(summary, written, words)
    status = outcome.status()
    # What fitting anew leaves of control effects is not measured.
    left = "" if outcome.by_control else left_by_fitting(summary, words)
    return MitigationVerdict(
        status=status,
        exit_code=EXIT_CODES.get(status, 1),
        headline=_headline(status, outcome) + left + _besides(status, outcome),
        sentences=[
            *control_change_sentences(summary),
            *worst_sentences(summary, written, words),
            *fitted_anew_sentences(summary, words),
            *gap_sentences(summary, written, words),
            held_out_sentence(summary.split, written, words),
            *caveats(summary, written, words),
            *paying_sentences(summary, written, words),
            *guard_sentences(summary, written, words),
            *few_sentence(summary, words),
            *runs_sentence(summary, words),
            *other_groups_sentences(summary, words),
            *sample_sentences(summary, words),
            *comparison_sentence(summary, written),
            *doubts,
        ],
    )


def _nothing_kept(summary: MitigationSummary, words: Words) -> str:
    limit = summary.settings.max_accuracy_drop
    near = f"within {budget(limit)} of accuracy {judged_where(summary.split, words.many)}"
    stays = "so the original model stays."
    if any(candidate.allowed for candidate in summary.candidates):
        return f"No retrained model {near} has a smaller difference, {stays}"
    if any(phrases.within(candidate, limit) for candidate in summary.candidates):
        return (
            f"Each retrained model {near} decides or is right one way less than half as often as "
            f"{reference_name(summary)}, or loses too much of balanced accuracy, {stays}"
        )
    return f"No retrained model stayed {near}, {stays}"


def _headline(status: Status, outcome: _Outcome) -> str:
    """Write the status in a sentence or two."""
    change, words = _change(outcome), outcome.words
    # Levelling down is known of groups alone.
    down = "" if outcome.by_control else _levelled_down(outcome)
    held_out = outcome.written.held_out.accuracy
    paid = f"{phrases.cost(-100 * (held_out.change or 0.0))}{_ends(held_out)}"
    paid += against(outcome.summary)
    match status:
        case "accuracy_lost":
            return f"{change}, but {_lost(outcome.losses()[0], outcome)}.{down}"
        case "one_sided":
            return f"{change}, but the new model is one-sided: {_one_sided(outcome)}.{down}"
        case "no_better_than_constant":
            return f"{change}, but {_constant(outcome)}.{down}"
        case "side_effect" | "worst_rose":
            return f"{change}, but {side_effect(outcome.summary, outcome.written, words)}.{down}"
        case "too_few":
            return _too_few(outcome)
        case "reversed":
            return f"{change}: that is turned round, not removed.{down}"
        case "not_better":
            return f"Retraining did not help: {change[:1].lower()}{change[1:]}.{down}"
        case "above_threshold":
            return f"{_still_above(outcome)}{down}"
        case "not_certain":
            return f"{change}, not statistically significant, {paid}.{down}"
    every, limit = "", outcome.summary.settings.all_above
    if len(outcome.both) > 1 and limit is not None:
        every = f"All {len(outcome.both)} groups are now at {size_points(limit)} or less. "
    return f"{every}{change}, {paid}.{down}"


def _besides(status: Status, outcome: _Outcome) -> str:
    """Write that gaps grew too much, where the headline speaks of something else that is wrong."""
    effects = outcome.written.side_effects
    if status == "side_effect" or effects is None or not effects.failed:
        return ""
    return f" Besides, {side_effect(outcome.summary, outcome.written, outcome.words)}."


def _change(outcome: _Outcome) -> str:
    """Write from where to where the difference went; of several targets, the largest difference."""
    if outcome.by_control:
        control = deciding_control(outcome.summary)
        if control is None:
            return control_too_few(outcome.summary).rstrip(".")
        moved = control_moved(control)
        return f"{moved[:1].upper()}{moved[1:]}"
    number = len(outcome.both)
    where = f"On {count(outcome.summary.split.held_out)} held-out {outcome.words.many}"
    what = "counterfactual effect" if outcome.texts else "difference"
    if number > 1:
        ends = [outcome.ends(index) for index in range(number)]
        before, after = (
            phrases.largest(None if pair[side] is None else abs(pair[side] or 0.0) for pair in ends)
            for side in (0, 1)
        )
        if before is None or after is None:
            return f"{where} what became of {number} groups is not known"
        return f"{where} the largest {what} among {number} groups {phrases.from_to(before, after)}"
    first, last = outcome.ends(0)
    name = outcome.summary.targets[0].text if outcome.texts else outcome.name(0)
    subject = f"the {what} {'of' if outcome.texts else 'for'} {name}"
    if first is None or last is None:
        return f"{where} what became of {subject} is not known"
    if outcome.texts or first * last < 0:
        return f"{where} {subject} went from {signed(first)} to {points(last)}{_by(outcome)}"
    factor = abs(first) / abs(last) if last else 0.0
    smaller = ""
    # A factor near 1, or beyond all measure, says nothing.
    if 1.1 <= factor < 1000:
        smaller = f" ({factor:.{1 if factor < 10 else 0}f} times smaller)"
    return f"{where} {subject} {phrases.from_to(abs(first), abs(last))}{smaller}{_by(outcome)}"


def _by(outcome: _Outcome) -> str:
    """Write the interval of the change of the only target."""
    change = outcome.change(*outcome.both[0])
    if change is None or change.confidence_interval is None:
        return ""
    if abs(change.after or 0.0) >= abs(change.before or 0.0):
        return f", a change of {interval(change.confidence_interval)} points"
    # By how much it came nearer to zero.
    low, high = change.confidence_interval
    ends = (low, high) if (change.before or 0.0) < 0 else (-high, -low)
    if ends[0] > 0:
        return f", by {size(ends[0])} to {size_points(ends[1])}"
    return f", by {interval(ends)} points"


def _levelled_down(outcome: _Outcome) -> str:
    """Write that the gap closed by giving the favoured side less, if it did."""
    target, written = outcome.both[outcome.worst]
    if written.levelled_down is None or written.levelled_down < _MOSTLY:
        return ""
    before, after = target.held_out_before, target.held_out_after
    sides = [("the group", before.rate_in, after.rate_in)]
    sides.append((outcome.words.others, before.rate_out, after.rate_out))
    if (before.difference or 0.0) <= 0:
        sides.reverse()
    (who, *favoured), (whom, *rest) = sides
    start = "Levelling down" if written.levelled_down >= _ALL else "Mostly levelling down"
    return (
        f" {start}: {who} went from {percent(favoured[0])} to {percent(favoured[1])} "
        f"“{outcome.summary.data.label.favourable}”, {whom} from {percent(rest[0])} to "
        f"{percent(rest[1])}."
    )


def _ends(change: ChangeSummary) -> str:
    ends = phrases.accuracy_ends(change)
    return f" ({ends})" if ends else ""


def _where(part: str, outcome: _Outcome) -> str:
    if part == "validation" and outcome.cross_validated:
        return "by repeated cross-validation"
    return f"on {part} {outcome.words.many}"


def _lost(loss: Loss, outcome: _Outcome) -> str:
    what = "balanced accuracy" if loss.balanced else "accuracy"
    part = outcome.written.parts[loss.part]
    change = part.balanced if loss.balanced else part.accuracy
    ends = _ends(change) if loss.part == "held-out" else ""
    return (
        f"{what} {_where(loss.part, outcome)} fell by {loss.drop:.2f} points{ends}"
        f"{against(outcome.summary)}, more than the {loss.limit:.10g} allowed"
    )


def _one_sided(outcome: _Outcome) -> str:
    """Write which way the new model decides, or is right, less than half as often."""
    favourable = outcome.summary.data.label.favourable
    name: PartName = outcome.one_sided() or "held-out"
    part = outcome.written.parts[name]
    right = (
        (part.true_positives, f"with “{favourable}”", part.positives),
        (part.true_negatives, f"without “{favourable}”", part.rows - part.positives),
    )
    (before, after), whose, of = min(
        right, key=lambda item: item[0][1] / item[0][0] if item[0][0] else float("inf")
    )
    return (
        f"{_where(name, outcome)}, of {count(of)} {whose} it is right about {count(after)}, "
        f"{reference_name(outcome.summary)} about {count(before)}"
    )


def _constant(outcome: _Outcome) -> str:
    part = outcome.written.held_out
    chance = _ends(part.above_constant)
    return (
        f"it is no better than to say “{outcome.written.constant_label}” of all: accuracy "
        f"{accuracy(part.accuracy.after)} in place of {accuracy(part.constant)}{chance}"
    )


def _too_few(outcome: _Outcome) -> str:
    if outcome.by_control:
        return control_too_few(outcome.summary)
    words, held_out = outcome.words, count(outcome.summary.split.held_out)
    for index, target in enumerate(outcome.summary.targets):
        number, side = phrases.smaller_side(target.held_out_before)
        if number < FEW:
            are = "is" if number == 1 else "are"
            return (
                f"What became of the difference for {outcome.name(index)} is not known: "
                f"of {held_out} held-out {words.many} "
                f"{number or 'none'} {are} {side}, and at least {FEW} are needed on both sides."
            )
    return (
        f"What became of the counterfactual effect cannot be told from {held_out} held-out "
        f"{words.many}: there is nothing to compare them with."
    )


def _still_above(outcome: _Outcome) -> str:
    limit, worst = outcome.summary.settings.all_above or 0.0, outcome.worst
    targets, number = outcome.summary.targets, len(outcome.above())
    if len(targets) == 1:
        return f"{_change(outcome)}, which is still above {size_points(limit)}."
    return (
        f"{number} of {plural(len(targets), 'group')} {'is' if number == 1 else 'are'} "
        f"still above {size_points(limit)} on held-out {outcome.words.many}: the largest "
        f"difference is {size(targets[worst].held_out_after.score)} points, for "
        f"{outcome.name(worst)}."
    )
