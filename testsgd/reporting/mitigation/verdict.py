"""The verdict of a mitigation in words, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.reporting.mitigation.phrases import (
    budget,
    cost,
    from_to,
    judged_where,
    score,
    times,
    within,
    worst_target,
)
from testsgd.reporting.mitigation.sample_sentences import sample_sentences
from testsgd.reporting.mitigation.sentences import (
    comparison_sentence,
    few_sentence,
    held_out_sentence,
    kept_sentence,
    no_candidate_sentences,
    other_groups_sentences,
    runs_sentence,
)
from testsgd.reporting.mitigation.summary import (
    AuditChange,
    CandidateSummary,
    ComparisonSummary,
    MitigationSettings,
    MitigationVerdict,
    RunSummary,
    SplitSummary,
    Spread,
    TargetSpread,
    TargetSummary,
)
from testsgd.reporting.summary import DataSummary
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.wording import plural, shorten, size_points
from testsgd.reporting.words import Words

DONE = 0
FAILED = 1

# Sums of points of accuracy carry rounding errors of this size at most.
_ROUNDING = 1e-9
_GROUP_LIMIT = 200


@dataclass(frozen=True)
class _Outcome:
    """What the headline is made of."""

    settings: MitigationSettings
    split: SplitSummary
    targets: Sequence[TargetSummary]
    spreads: Sequence[TargetSpread]
    accuracy_drop: Spread
    words: Words

    @property
    def worst(self) -> int:
        return worst_target(self.targets, self.spreads)

    def name(self, place: int) -> str:
        return shorten(self.words.target(self.targets[place]), _GROUP_LIMIT)

    def before(self, place: int) -> float | None:
        return self.targets[place].before.score

    def after(self, place: int) -> float | None:
        spread = self.spreads[place].score
        return None if spread is None else spread.mean

    @property
    def above(self) -> list[int]:
        """Targets that are still above the threshold, if there is one."""
        limit = self.settings.all_above
        if limit is None:
            return []
        return [
            place
            for place in range(len(self.targets))
            if (after := self.after(place)) is not None and after > limit
        ]

    @property
    def worse(self) -> list[int]:
        """Targets whose score is no lower than it was, or unknown."""
        return [
            place
            for place in range(len(self.targets))
            if (after := self.after(place)) is None or after >= (self.before(place) or 0.0)
        ]


def mitigation_verdict(
    *,
    settings: MitigationSettings,
    data: DataSummary,
    split: SplitSummary,
    targets: Sequence[TargetSummary],
    spreads: Sequence[TargetSpread],
    accuracy_drop: Spread,
    kept_run: int | None,
    runs: Sequence[RunSummary],
    candidates: Sequence[CandidateSummary],
    all_rows: AuditChange,
    risen_by: float,
    comparisons: Sequence[ComparisonSummary],
    beside: Sequence[str] = (),
) -> MitigationVerdict:
    """Say in words what a mitigation reached, and what it cost.

    Parameters
    ----------
    settings, data, split, targets, spreads, accuracy_drop, kept_run, runs, candidates, all_rows, \
    risen_by, comparisons
        Parts of the summary, as its keys of the same names.
    beside : sequence of str
        Further sentences, on what a smaller difference may hide.

    Returns
    -------
    MitigationVerdict
        The first of these that holds: no run met the accuracy budget; more accuracy was lost on
        the held-out rows than allowed, on average; a target is still above the threshold; a target
        is no better than before; mitigated.
    """
    words = words_for(data.kind)
    outcome = _Outcome(settings, split, targets, spreads, accuracy_drop, words)
    doubts = [split.warning] if split.warning else []
    if kept_run is None:
        allowed = any(candidate.allowed for candidate in candidates)
        return MitigationVerdict(
            status="not_better" if allowed else "no_candidate",
            exit_code=FAILED,
            headline=_nothing_kept(outcome, candidates),
            sentences=[
                *no_candidate_sentences(settings, split, targets, runs, candidates, words),
                *few_sentence(targets, words),
                *comparison_sentence(comparisons),
                *doubts,
            ],
        )
    status, headline = _headline(outcome)
    sentences = [
        *runs_sentence(targets, spreads, accuracy_drop, runs),
        *kept_sentence(targets, runs, kept_run, words),
        *few_sentence(targets, words),
        held_out_sentence(targets, spreads, split, words),
        *beside,
        *other_groups_sentences(all_rows, runs, risen_by, words),
        *sample_sentences(targets, kept_run, split, words),
        *comparison_sentence(comparisons),
        *doubts,
    ]
    return MitigationVerdict.model_validate(
        {
            "status": status,
            "exit_code": DONE if status == "mitigated" else FAILED,
            "headline": headline,
            "sentences": sentences,
        }
    )


def _nothing_kept(outcome: _Outcome, candidates: Sequence[CandidateSummary]) -> str:
    limit = outcome.settings.max_accuracy_drop
    near = f"within {budget(limit)} of accuracy {judged_where(outcome.split, outcome.words.many)}"
    stays = "so the original model stays."
    if any(candidate.allowed for candidate in candidates):
        return f"No retrained model {near} has a smaller difference, {stays}"
    if any(within(candidate, limit) for candidate in candidates):
        return (
            f"Each retrained model {near} decides one way less than half as often as the original, "
            f"{stays}"
        )
    return f"No retrained model stayed {near}, {stays}"


def _headline(outcome: _Outcome) -> tuple[str, str]:
    """Find the status of a model that was retrained, and its headline."""
    limit = outcome.settings.max_accuracy_drop
    lost = outcome.accuracy_drop.mean
    if lost > limit + _ROUNDING:
        return "accuracy_lost", (
            f"{_change(outcome)}, but accuracy on held-out {outcome.words.many} fell by "
            f"{lost:.2f} points, more than the {limit:.10g} allowed."
        )
    if outcome.above:
        return "above_threshold", _still_above(outcome)
    if outcome.worse:
        return "not_better", _no_better(outcome)
    several, all_above = len(outcome.targets) > 1, outcome.settings.all_above
    paid = f", {cost(lost)} on held-out {outcome.words.many}."
    if several and all_above is not None:
        change = _change(outcome)
        return "mitigated", (
            f"All {len(outcome.targets)} groups are now at {size_points(all_above)} or less. "
            f"{change}{paid}"
        )
    return "mitigated", f"{_change(outcome)}{paid}"


def _change(outcome: _Outcome) -> str:
    """Say from where to where the difference went; of several targets, the largest difference."""
    if len(outcome.targets) == 1:
        subject = f"The difference for {outcome.name(0)}"
        before, after, factor = outcome.before(0), outcome.after(0), outcome.spreads[0].factor
    else:
        subject, factor = "The largest difference among them", None
        if outcome.settings.all_above is None or outcome.accuracy_drop.mean > (
            outcome.settings.max_accuracy_drop + _ROUNDING
        ):
            subject = f"The largest difference among {len(outcome.targets)} groups"
        places = range(len(outcome.targets))
        before = max((outcome.before(place) or 0.0 for place in places), default=0.0)
        after = outcome.after(outcome.worst)
    if before is None or after is None:
        return f"{subject} is not known"
    smaller = times(factor)
    return f"{subject} {from_to(before, after)}{f' ({smaller})' if smaller else ''}"


def _still_above(outcome: _Outcome) -> str:
    limit, worst = outcome.settings.all_above or 0.0, outcome.worst
    number, targets = len(outcome.above), plural(len(outcome.targets), "group")
    if len(outcome.targets) == 1:
        return f"{_change(outcome)}, which is still above {size_points(limit)}."
    return (
        f"{number} of {targets} {'is' if number == 1 else 'are'} still above {size_points(limit)}: "
        f"the largest difference is {score(outcome.after(worst))} points, for "
        f"{outcome.name(worst)}."
    )


def _no_better(outcome: _Outcome) -> str:
    place = outcome.worse[0]
    before, after = outcome.before(place), outcome.after(place)
    if before is None or after is None:
        return f"Whether retraining helped is not known: {outcome.name(place)} has no other side."
    return (
        f"Retraining did not help: the difference for {outcome.name(place)} "
        f"{from_to(before, after)}."
    )
