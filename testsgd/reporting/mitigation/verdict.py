"""The verdict of a mitigation in words, and its exit code: of the model that was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.report.formatting import count, interval, percent, plural, shorten, size, size_points
from testsgd.reporting.mitigation.outcome import (
    EXIT_CODES,
    Loss,
    above,
    judged,
    losses,
    one_sided_part,
    spoken,
    status_of,
)
from testsgd.reporting.mitigation.phrases import (
    FEW,
    accuracy,
    accuracy_change,
    budget,
    cost,
    from_to,
    judged_where,
    largest,
    score,
    signed_from_to,
    smaller_side,
    times,
    within,
)
from testsgd.reporting.mitigation.sample_sentences import sample_sentences
from testsgd.reporting.mitigation.sentences import (
    beside_sentences,
    comparison_sentence,
    few_sentence,
    guard_sentences,
    held_out_sentence,
    no_candidate_sentences,
    other_groups_sentences,
    paying_sentences,
    runs_sentence,
)
from testsgd.reporting.mitigation.summary import (
    AuditChange,
    CandidateSummary,
    ChangeSummary,
    ComparisonSummary,
    MitigationSettings,
    MitigationVerdict,
    PartSummary,
    RunSummary,
    SplitSummary,
    Spread,
    Status,
    TargetSpread,
    TargetSummary,
    WrittenSummary,
)
from testsgd.reporting.summary import DataSummary
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.words import Words

FAILED = 1

_GROUP_LIMIT = 200

# From this share of a closed gap on, levelling down is what closed it.
_MOSTLY, _ALL = 0.5, 0.9


@dataclass(frozen=True)
class _Outcome:
    """What the headline is made of."""

    settings: MitigationSettings
    split: SplitSummary
    targets: Sequence[TargetSummary]
    written: WrittenSummary
    runs: Sequence[RunSummary]
    words: Words
    favourable: str

    @property
    def texts(self) -> bool:
        return self.words.kind == "texts"

    @property
    def worst(self) -> int:
        """The target whose difference is the largest after."""
        return max(range(len(self.targets)), key=lambda place: abs(self.ends(place)[1] or 0.0))

    def name(self, place: int) -> str:
        return shorten(self.words.target(self.targets[place]), _GROUP_LIMIT)

    def ends(self, place: int) -> tuple[float | None, float | None]:
        """Return the signed figure that decides, before and after."""
        target, written = self.targets[place], self.written.targets[place]
        if self.texts:
            effect = written.effect
            return (None, None) if effect is None else (effect.before, effect.after)
        before, after, _ = spoken(target, written, self.written.estimand)
        return before.difference, after.difference


def mitigation_verdict(
    *,
    settings: MitigationSettings,
    data: DataSummary,
    split: SplitSummary,
    targets: Sequence[TargetSummary],
    spreads: Sequence[TargetSpread],
    accuracy_drop: Spread,
    written: WrittenSummary | None,
    kept_run: int | None,
    runs: Sequence[RunSummary],
    candidates: Sequence[CandidateSummary],
    all_rows: AuditChange,
    risen_by: float,
    comparisons: Sequence[ComparisonSummary],
) -> MitigationVerdict:
    """Write in words what the model that was written reached, and what it cost.

    Parameters
    ----------
    settings, data, split, targets, spreads, accuracy_drop, written, kept_run, runs, candidates, \
    all_rows, risen_by, comparisons
        Parts of the summary, as its keys of the same names.

    Returns
    -------
    MitigationVerdict
        Its status is that of :func:`testsgd.reporting.mitigation.outcome.status_of`, unless the
        original model is kept.
    """
    words = words_for(data.kind)
    doubts = [split.warning] if split.warning else []
    if kept_run is None or written is None:
        allowed = any(candidate.allowed for candidate in candidates)
        return MitigationVerdict(
            status="not_better" if allowed else "no_candidate",
            exit_code=FAILED,
            headline=_nothing_kept(settings, split, candidates, words),
            sentences=[
                *no_candidate_sentences(settings, split, targets, runs, candidates, words),
                *few_sentence(targets, words),
                *comparison_sentence(comparisons, targets, None),
                *doubts,
            ],
        )
    favourable = data.label.favourable
    outcome = _Outcome(settings, split, targets, written, runs, words, favourable)
    status = status_of(
        settings=settings,
        split=split,
        targets=targets,
        written=written,
        runs=runs,
        kind=words.kind,
    )
    return MitigationVerdict(
        status=status,
        exit_code=EXIT_CODES.get(status, FAILED),
        headline=_headline(status, outcome),
        sentences=[
            held_out_sentence(split, words),
            *beside_sentences(targets, written, words),
            *paying_sentences(targets, written, favourable, words),
            *guard_sentences(written, words),
            *few_sentence(targets, words),
            *runs_sentence(targets, spreads, accuracy_drop, runs, words),
            *other_groups_sentences(all_rows, runs, risen_by, words),
            *sample_sentences(targets, kept_run, split, words),
            *comparison_sentence(comparisons, targets, written),
            *doubts,
        ],
    )


def _nothing_kept(
    settings: MitigationSettings,
    split: SplitSummary,
    candidates: Sequence[CandidateSummary],
    words: Words,
) -> str:
    limit = settings.max_accuracy_drop
    near = f"within {budget(limit)} of accuracy {judged_where(split, words.many)}"
    stays = "so the original model stays."
    if any(candidate.allowed for candidate in candidates):
        return f"No retrained model {near} has a smaller difference, {stays}"
    if any(within(candidate, limit) for candidate in candidates):
        return (
            f"Each retrained model {near} decides or is right one way less than half as often as "
            f"the original, or loses too much of balanced accuracy, {stays}"
        )
    return f"No retrained model stayed {near}, {stays}"


def _headline(status: Status, outcome: _Outcome) -> str:
    """Write the status in a sentence or two."""
    change, down = _change(outcome), _levelled_down(outcome)
    if status == "accuracy_lost":
        loss = losses(outcome.written, outcome.settings, outcome.split, outcome.runs)[0]
        return f"{change}, but {_lost(loss, outcome)}.{down}"
    if status == "one_sided":
        return f"{change}, but the new model is one-sided: {_one_sided(outcome)}.{down}"
    if status == "no_better_than_constant":
        return f"{change}, but {_constant(outcome)}.{down}"
    if status == "too_few":
        return _too_few(outcome)
    if status == "reversed":
        return f"{change}: that is turned round, not removed.{down}"
    if status == "not_better":
        return f"Retraining did not help: {change[:1].lower()}{change[1:]}.{down}"
    if status == "above_threshold":
        return f"{_still_above(outcome)}{down}"
    held_out = outcome.written.held_out.accuracy
    paid = f"{cost(-100 * (held_out.change or 0.0))}{_ends(held_out)}"
    if status == "not_certain":
        return f"{change}, which chance may explain, {paid}.{down}"
    every = ""
    if len(outcome.targets) > 1 and outcome.settings.all_above is not None:
        every = (
            f"All {len(outcome.targets)} groups are now at "
            f"{size_points(outcome.settings.all_above)} or less. "
        )
    return f"{every}{change}, {paid}.{down}"


def _change(outcome: _Outcome) -> str:
    """Write from where to where the difference went; of several targets, the largest difference."""
    words, several = outcome.words, len(outcome.targets) > 1
    where = f"On {count(outcome.split.held_out)} held-out {words.many}"
    what = "own effect" if outcome.texts else "difference"
    places = range(len(outcome.targets))
    if several:
        before = largest(
            abs(one) for place in places if (one := outcome.ends(place)[0]) is not None
        )
        after = largest(abs(one) for place in places if (one := outcome.ends(place)[1]) is not None)
        if before is None or after is None:
            return f"{where} what became of {len(outcome.targets)} groups is not known"
        return (
            f"{where} the largest {what} among {len(outcome.targets)} groups "
            f"{from_to(before, after)}"
        )
    first, last = outcome.ends(0)
    subject = (
        f"the {what} of {outcome.targets[0].text}"
        if outcome.texts
        else f"the {what} for {outcome.name(0)}"
    )
    if first is None or last is None:
        return f"{where} what became of {subject} is not known"
    if outcome.texts or first * last < 0:
        return f"{where} {subject} {signed_from_to(first, last)}{_by(outcome)}"
    smaller = times(abs(first) / abs(last) if last else None)
    return (
        f"{where} {subject} {from_to(abs(first), abs(last))}"
        f"{f' ({smaller})' if smaller else ''}{_by(outcome)}"
    )


def _by(outcome: _Outcome) -> str:
    """Write the interval of the change of the only target."""
    change = judged(
        outcome.targets[0], outcome.written.targets[0], outcome.written.estimand, outcome.words.kind
    )
    if change is None or change.interval is None:
        return ""
    low, high = change.interval
    if abs(change.after or 0.0) >= abs(change.before or 0.0):
        return f", a change of {interval(change.interval)} points"
    # By how much it came nearer to zero.
    ends = (low, high) if (change.before or 0.0) < 0 else (-high, -low)
    if ends[0] > 0:
        return f", by {size(ends[0])} to {size_points(ends[1])}"
    return f", by {interval(ends)} points"


def _levelled_down(outcome: _Outcome) -> str:
    """Write that the gap closed by giving the favoured side less, if it did."""
    place = outcome.worst
    target, written = outcome.targets[place], outcome.written.targets[place]
    if written.levelled_down is None or written.levelled_down < _MOSTLY:
        return ""
    before, after, _ = spoken(target, written, outcome.written.estimand)
    group = (before.rate_in, after.rate_in)
    others = (before.rate_out, after.rate_out)
    inside = (before.difference or 0.0) > 0
    favoured, rest = (group, others) if inside else (others, group)
    who, whom = "the group", outcome.words.others
    if not inside:
        who, whom = whom, who
    much = "" if written.levelled_down >= _ALL else "Mostly "
    start = f"{much}levelling down" if much else "Levelling down"
    return (
        f" {start}: {who} went from {percent(favoured[0])} to {percent(favoured[1])} "
        f"“{outcome.favourable}”, {whom} from {percent(rest[0])} to {percent(rest[1])}."
    )


def _ends(change: ChangeSummary) -> str:
    """Write the interval of a change of accuracy, in points; empty if there is none."""
    if change.interval is None:
        return ""
    low, high = (accuracy_change(-100 * end) for end in change.interval)
    return f" ({low} to {high})"


def _where(part: str, outcome: _Outcome) -> str:
    if part == "validation" and outcome.split.judged_by == "cross-validation":
        return "by repeated cross-validation"
    return f"on {part.replace('_', '-')} {outcome.words.many}"


def _lost(loss: Loss, outcome: _Outcome) -> str:
    what = "balanced accuracy" if loss.balanced else "accuracy"
    part: PartSummary = getattr(outcome.written, loss.part)
    change = part.balanced if loss.balanced else part.accuracy
    ends = _ends(change) if loss.part == "held_out" else ""
    return (
        f"{what} {_where(loss.part, outcome)} fell by {loss.drop:.2f} points{ends}, more than the "
        f"{loss.limit:.10g} allowed"
    )


def _one_sided(outcome: _Outcome) -> str:
    """Write which way the new model decides, or is right, less than half as often."""
    name = one_sided_part(outcome.written, outcome.split) or "held_out"
    part: PartSummary = getattr(outcome.written, name)
    negatives = part.rows - part.positives
    right = (
        (part.true_positives, f"with “{outcome.favourable}”", part.positives),
        (part.true_negatives, f"without “{outcome.favourable}”", negatives),
    )
    (before, after), whose, of = min(
        right, key=lambda one: one[0][1] / one[0][0] if one[0][0] else float("inf")
    )
    return (
        f"{_where(name, outcome)}, of {count(of)} {whose} it is right about {count(after)}, the "
        f"original about {count(before)}"
    )


def _constant(outcome: _Outcome) -> str:
    part = outcome.written.held_out
    chance = _ends(part.above_constant)
    return (
        f"it is no better than to say “{outcome.written.constant_label}” of all: accuracy "
        f"{accuracy(part.accuracy.after)} in place of {accuracy(part.constant)}{chance}"
    )


def _too_few(outcome: _Outcome) -> str:
    for target, written in zip(outcome.targets, outcome.written.targets, strict=True):
        rates = spoken(target, written, outcome.written.estimand)[0]
        number, side = smaller_side(rates)
        if number < FEW:
            are = "is" if number == 1 else "are"
            return (
                f"What became of the difference for {outcome.words.target(target)} cannot be told: "
                f"of {count(outcome.split.held_out)} held-out {outcome.words.many} "
                f"{number or 'none'} {are} {side}, and at least {FEW} are needed on both sides."
            )
    return (
        "What became of the terms' own effect cannot be told from "
        f"{count(outcome.split.held_out)} held-out {outcome.words.many}: there is nothing to "
        "compare them with."
    )


def _still_above(outcome: _Outcome) -> str:
    limit, worst = outcome.settings.all_above or 0.0, outcome.worst
    if len(outcome.targets) == 1:
        return f"{_change(outcome)}, which is still above {size_points(limit)}."
    number = len(above(outcome.targets, outcome.written, limit))
    target, written = outcome.targets[worst], outcome.written.targets[worst]
    reached = spoken(target, written, outcome.written.estimand)[1].score
    return (
        f"{number} of {plural(len(outcome.targets), 'group')} {'is' if number == 1 else 'are'} "
        f"still above {size_points(limit)} on held-out {outcome.words.many}: the largest "
        f"difference is {score(reached)} points, for {outcome.name(worst)}."
    )
