"""What the verdict of a mitigation says beside its headline, sentence by sentence.

Everybody who renders a mitigation shows these sentences, so each says which rows it is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.reporting.mitigation.phrases import (
    FEW,
    accuracy_change,
    candidate_score,
    changes_over_runs,
    cost,
    enough,
    from_to,
    judged_where,
    largest,
    largest_mean,
    lost_points,
    method,
    score,
    smaller_side,
    within,
)
from testsgd.reporting.mitigation.summary import (
    AuditChange,
    CandidateSummary,
    ComparisonSummary,
    MitigationSettings,
    RunSummary,
    SplitSummary,
    Spread,
    TargetSpread,
    TargetSummary,
)
from testsgd.reporting.wording import count, plural, series, shorten, size_points
from testsgd.reporting.words import Described, Words

_GROUP_LIMIT = 160


def runs_sentence(
    targets: Sequence[TargetSummary],
    spreads: Sequence[TargetSpread],
    accuracy_drop: Spread,
    runs: Sequence[RunSummary],
) -> list[str]:
    """Say that figures are means over the runs, and how far the runs are apart."""
    reached = [largest(run.scores) for run in runs]
    known = [value for value in reached if value is not None]
    if len(runs) < 2 or not known:
        return []
    what = "the difference" if len(targets) == 1 else "the largest difference of a target"
    low, high = score(min(known)), score(max(known))
    span = f"{low} points in each" if low == high else f"{low} to {high} points"
    stood_in = sum(run.samples is None for run in runs)
    sentences = [
        f"These are means over {plural(len(runs), 'run')}: {what} is {span}, and accuracy changes "
        f"by {changes_over_runs(accuracy_drop)} points."
    ]
    if stood_in:
        sentences.append(
            f"In {count(stood_in)} of {plural(len(runs), 'run')} no candidate within the accuracy "
            "budget did better than the original model, which stands in for it."
        )
    return sentences


def kept_sentence(
    targets: Sequence[TargetSummary],
    runs: Sequence[RunSummary],
    kept_run: int,
    words: Words,
) -> list[str]:
    """Say which run's model was kept, and what it reaches by itself."""
    kept = next((run for run in runs if run.run == kept_run), None)
    if kept is None or len(runs) < 2:
        return []
    reached = largest(target.after.score for target in targets)
    if reached is None:
        return []
    return [
        f"The model that was kept is that of run {kept_run}: {size_points(reached)}, "
        f"{cost(kept.accuracy_drop)} on held-out {words.many}."
    ]


def few_sentence(targets: Sequence[TargetSummary], words: Words) -> list[str]:
    """Say where a target's score hangs on few rows, all of them counted."""
    few = [target for target in targets if not enough(target.before)]
    if not few:
        return []
    if len(targets) > 1:
        have = "has" if len(few) == 1 else "have"
        return [
            f"{count(len(few))} of {count(len(targets))} targets {have} fewer than {FEW} "
            f"{words.many} on one side in all: such scores hang on few {words.many}."
        ]
    number, side = smaller_side(few[0].before)
    return [
        f"The target's score hangs on {plural(number, words.one)}: of all {words.many}, no more "
        f"are {side}."
    ]


def held_out_sentence(
    targets: Sequence[TargetSummary],
    spreads: Sequence[TargetSpread],
    split: SplitSummary,
    words: Words,
) -> str:
    """Say what the held-out rows show, or that there are too few of them to tell."""
    start = f"On the {count(split.held_out)} held-out {words.many}"
    judged = [
        place
        for place, target in enumerate(targets)
        if enough(target.held_out_before) and target.held_out_before.score is not None
    ]
    if not judged and len(targets) == 1:
        number, side = smaller_side(targets[0].held_out_before)
        are = "is" if number == 1 else "are"
        return f"{start} nothing can be told: {number or 'none'} of them {are} {side}."
    if not judged:
        return f"{start} nothing can be told: each target has fewer than {FEW} on one side."
    before = largest(targets[place].held_out_before.score for place in judged)
    after = largest_mean(spreads[place].held_out_score for place in judged)
    what = "the difference" if len(targets) == 1 else "the largest difference of a target"
    few = len(targets) - len(judged)
    rest = f" ({count(few)} of {count(len(targets))} targets have too few of them)" if few else ""
    if before is None or after is None:
        return f"{start} nothing can be told: there is no difference to compare."
    return (
        f"{start}, which played no part in training or choosing, {what} "
        f"{from_to(before, after.mean)}{rest}."
    )


def other_groups_sentences(
    change: AuditChange, runs: Sequence[RunSummary], risen_by: float, words: Words
) -> list[str]:
    """Say whether any group is above the old worst score, and which are worse off."""
    before, after = change.worst_before, change.worst_after
    start = "In the model that was kept, "
    sentences = []
    if before is not None and after is not None:
        largest_of_any = f"{start}the largest difference of any group"
        if after > before:
            who = f" (for {_name(change.worst[0], words)})" if change.worst else ""
            sentences.append(
                f"{largest_of_any} is {size_points(after)}{who}, above the {score(before)} before."
            )
        else:
            sentences.append(f"{largest_of_any} {from_to(before, after)}.")
            above = sum(run.worst is not None and run.worst > before for run in runs)
            if above:
                sentences.append(
                    f"In {count(above)} of {plural(len(runs), 'run')} a group is above the "
                    f"{score(before)} before."
                )
    risen = count(change.risen_count) if change.risen_count else "none"
    sentences.append(
        f"{start}the difference of {risen} of {plural(change.groups, 'group')} grew by more than "
        f"{size_points(risen_by)}{_most_risen(change, words)}."
    )
    return sentences


def _most_risen(change: AuditChange, words: Words) -> str:
    if not change.risen:
        return ""
    most = change.risen[0]
    rise = f"from {score(most.before.score)} to {score(most.after.score)} points"
    return f", most of all for {_name(most, words)} ({rise})"


def _name(group: Described, words: Words) -> str:
    return shorten(words.target(group), _GROUP_LIMIT)


def comparison_sentence(comparisons: Sequence[ComparisonSummary]) -> list[str]:
    """Say what the other methods reached, whichever is better."""
    reached = [
        f"{method(one.name)} leaves {size_points(worst.mean)} ({_accuracy(one.accuracy_drop)})"
        for one in comparisons
        if one.accuracy_drop is not None and (worst := largest_mean(one.scores)) is not None
    ]
    return [f"On the same splits, {series(reached)}."] if reached else []


def _accuracy(drop: Spread) -> str:
    return f"accuracy {accuracy_change(drop.mean)}"


def no_candidate_sentences(
    settings: MitigationSettings,
    split: SplitSummary,
    targets: Sequence[TargetSummary],
    runs: Sequence[RunSummary],
    candidates: Sequence[CandidateSummary],
    words: Words,
) -> list[str]:
    """Say what was tried where nothing met the accuracy budget, and what else to try."""
    sentences = []
    if candidates:
        allowed = [one for one in candidates if one.allowed]
        best = min(
            allowed or candidates,
            key=lambda one: ((candidate_score(one) or 0.0) if allowed else 0.0, one.accuracy_drop),
        )
        reached = candidate_score(best)
        there = f" and has a difference of {size_points(reached)}" if reached is not None else ""
        which = "best one within the budget" if allowed else "one that loses least"
        refused = [
            one for one in candidates if not one.allowed and within(one, settings.max_accuracy_drop)
        ]
        if allowed and refused:
            which = "best one that was not refused"
        sentences.append(
            f"{plural(len(candidates), 'candidate')} of {plural(len(runs), 'run')} were judged. "
            f"The {which} loses {lost_points(best.accuracy_drop)} "
            f"{judged_where(split, words.many)}{there}."
        )
        if refused:
            was = "was" if len(refused) == 1 else "were"
            sentences.append(
                f"{count(len(refused))} {was} refused, though within the budget, for deciding one "
                "way less than half as often as the original model."
            )
    before = largest(target.before.score for target in targets)
    if before is not None:
        what = "The difference" if len(targets) == 1 else "The largest difference"
        sentences.append(f"{what} stays at {size_points(before)}.")
    sentences.append(
        "A larger accuracy budget, fewer samples in the first step or retraining from scratch may "
        "find a candidate."
        if not settings.from_scratch
        else "A larger accuracy budget, fewer samples in the first step or retraining from the "
        "original weights may find a candidate."
    )
    return sentences
