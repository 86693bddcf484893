"""What the verdict of a mitigation says beside its headline, sentence by sentence.

Everybody who renders a mitigation shows these sentences, so each says which rows it is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.report.formatting import (
    count,
    interval,
    percent,
    plural,
    series,
    shorten,
    signed,
    size_points,
)
from testsgd.reporting.mitigation.phrases import (
    FEW,
    accuracy,
    accuracy_change,
    candidate_score,
    changes_over_runs,
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
    ChangeSummary,
    ComparisonSummary,
    MitigationSettings,
    RatesSummary,
    RunSummary,
    SplitSummary,
    Spread,
    TargetSpread,
    TargetSummary,
    WrittenSummary,
)
from testsgd.reporting.words import Described, Words

_GROUP_LIMIT = 160

# Of more targets the tables tell.
_TOLD = 3

# Points of accuracy that are nearer to each other are the same figure.
_SAME = 0.005


def runs_sentence(
    targets: Sequence[TargetSummary],
    spreads: Sequence[TargetSpread],
    accuracy_drop: Spread,
    runs: Sequence[RunSummary],
    words: Words,
) -> list[str]:
    """Write what to expect of the recipe: means over the runs, and how far the runs are apart."""
    reached = [largest(run.held_out_scores) for run in runs]
    known = [value for value in reached if value is not None]
    if len(runs) < 2 or not known:
        return []
    what = "the difference" if len(targets) == 1 else "the largest difference of a target"
    low, high = score(min(known)), score(max(known))
    span = f"{low} points in each" if low == high else f"{low} to {high} points"
    mean = largest_mean(one.held_out_score for one in spreads)
    middle = "" if mean is None or low == high else f", {score(mean.mean)} on average"
    stood_in = sum(run.samples is None for run in runs)
    sentences = [
        f"What to expect of the recipe: over {plural(len(runs), 'run')} {what} on held-out "
        f"{words.many} is {span}{middle}, and accuracy changes by "
        f"{changes_over_runs(accuracy_drop)} points."
    ]
    if stood_in:
        sentences.append(
            f"In {count(stood_in)} of {plural(len(runs), 'run')} no candidate within the accuracy "
            "budget did better than the original model, which stands in for it."
        )
    return sentences


def few_sentence(targets: Sequence[TargetSummary], words: Words) -> list[str]:
    """Write where a target's score hangs on few rows, all of them counted."""
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


def held_out_sentence(split: SplitSummary, words: Words) -> str:
    """Write what part the held-out rows had."""
    rows = f"The {count(split.held_out)} held-out {words.many}"
    if split.unseen:
        return f"{rows} played no part in finding the group, in training or in choosing."
    return (
        f"{rows} played no part in training or choosing; but the audit that names the group was of "
        f"all {words.many}, so its difference on them may be overstated before."
    )


def beside_sentences(
    targets: Sequence[TargetSummary], written: WrittenSummary, words: Words
) -> list[str]:
    """Write what became of the differences that the headline does not speak of."""
    many, sentences = words.many, []
    for target, one in list(zip(targets, written.targets, strict=True))[:_TOLD]:
        whose = "" if len(targets) == 1 else f" for {_name(target, words)}"
        if words.kind == "texts":
            sentences.append(
                f"The difference of the texts{whose}, terms and topic together, "
                f"{_moved(target.held_out_before, target.held_out_after)}."
            )
            if one.effect is not None and abs(one.effect.after or 0) > abs(one.effect.before or 0):
                sentences.append(
                    "The model makes up with the terms for what such texts are about: their own "
                    "effect is larger than before."
                )
        which, first, last = f"As the {many} are", one.observed_before, one.observed_after
        if written.estimand == "observed":
            which = (
                "With the terms put in"
                if words.kind == "texts"
                else f"Over each {words.one}'s neighbours, as the paper measures it"
            )
            first, last = one.neighbourhood_before, one.neighbourhood_after
        sentences.append(
            f"{which}, the difference{whose} on held-out {many} {_moved(first, last)}."
        )
        sentences.append(
            f"On all {many}, most of which the model has learnt from, the difference{whose} "
            f"{_moved(target.before, target.after)}."
        )
    return sentences


def _moved(before: RatesSummary, after: RatesSummary) -> str:
    """Write from where to where a difference went, with its intervals."""
    if before.difference is None or after.difference is None:
        return "is not known"
    ends = [
        f" ({interval(rates.interval)})" if rates.interval is not None else ""
        for rates in (before, after)
    ]
    return (
        f"went from {signed(before.difference)}{ends[0]} to {signed(after.difference)}{ends[1]} "
        "points"
    )


def paying_sentences(
    targets: Sequence[TargetSummary], written: WrittenSummary, favourable: str, words: Words
) -> list[str]:
    """Write who pays: what became of those in each target and of everybody else."""
    sentences = []
    for target, one in list(zip(targets, written.targets, strict=True))[:_TOLD]:
        group = "the group" if len(targets) == 1 else _name(target, words)
        for who, side in ((group, one.inside), (words.others, one.outside)):
            if not side.rows:
                continue
            rates = [
                f"{name} {percent(rate.before)} to {percent(rate.after)}"
                for name, rate in (
                    ("true-positive rate", side.true_positive_rate),
                    ("false-positive rate", side.false_positive_rate),
                )
                if rate.before is not None
            ]
            sentences.append(
                f"Of {count(side.rows)} held-out {words.many} of {who} {count(side.lost)} lose and "
                f"{count(side.gained)} gain “{favourable}”: {percent(side.selected.before)} get it "
                f"before and {percent(side.selected.after)} now"
                f"{''.join(f', {rate}' for rate in rates)}."
            )
    return sentences


def guard_sentences(written: WrittenSummary, words: Words) -> list[str]:
    """Write what became of both accuracies on each part, and what a constant model reaches."""
    changes = []
    for name, part in (
        ("held-out", written.held_out),
        ("validation", written.validation),
        ("training", written.training),
    ):
        if part.accuracy.change is None or part.balanced.change is None:
            continue
        changes.append(
            f"on {name} {words.many} by {_changed(part.accuracy)} and {_changed(part.balanced)}"
        )
    sentences = [f"Accuracy and balanced accuracy change {series(changes)} points."]
    drop = written.training.accuracy_drop
    by_labels = -100 * (written.training.accuracy.change or 0.0)
    if abs(drop - by_labels) > _SAME:
        sentences.append(
            f"On training {words.many}, whose labels the original may have learnt by heart, "
            f"cross-fitted probabilities expect a change of {accuracy_change(drop)} and "
            f"{accuracy_change(written.training.balanced_drop)}, and the guard goes by these."
        )
    part = written.held_out
    if part.constant is not None:
        sentences.append(
            f"To say “{written.constant_label}” of all would be right about "
            f"{accuracy(part.constant)} of the held-out {words.many}; the original model is about "
            f"{accuracy(part.accuracy.before)}, the new one about {accuracy(part.accuracy.after)}."
        )
    return sentences


def _changed(change: ChangeSummary) -> str:
    """Write a change of accuracy with its interval, in points with two digits."""
    drop = None if change.change is None else -100 * change.change
    if change.interval is None:
        return accuracy_change(drop)
    low, high = (accuracy_change(-100 * end) for end in change.interval)
    return f"{accuracy_change(drop)} ({low} to {high})"


def other_groups_sentences(
    change: AuditChange, runs: Sequence[RunSummary], risen_by: float, words: Words
) -> list[str]:
    """Return whether any group is above the old worst score, and which are worse off."""
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


def comparison_sentence(
    comparisons: Sequence[ComparisonSummary],
    targets: Sequence[TargetSummary],
    written: WrittenSummary | None,
) -> list[str]:
    """Write what the other methods reach at the same accuracy, whichever is better."""
    if not comparisons:
        return []
    if written is None:
        reached = [
            f"{method(one.name)} leaves {size_points(worst.mean)} ({_accuracy(one.accuracy_drop)})"
            for one in comparisons
            if one.accuracy_drop is not None
            and (worst := largest_mean(one.held_out_scores)) is not None
        ]
        return [f"On the same splits, {series(reached)}."] if reached else []
    own = largest(target.held_out_after.score for target in targets)
    known = [
        f"{method(one.name)} leaves {size_points(one.equal_accuracy.score)} "
        f"({interval(one.equal_accuracy.interval)})"
        for one in comparisons
        if one.equal_accuracy is not None
    ]
    none = [method(one.name) for one in comparisons if one.equal_accuracy is None and one.curve]
    sentences = []
    if known and own is not None:
        sentences.append(
            f"At the same accuracy on held-out data, where this model leaves {size_points(own)}, "
            f"{series(known)}."
        )
    if none:
        sentences.append(f"At no point of its curve so accurate: {series(none)}.")
    return sentences


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
    """Write what was tried where nothing met the accuracy budget, and what else to try."""
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
                f"{count(len(refused))} {was} refused, though within the budget, for deciding or "
                "being right one way less than half as often as the original model, or for losing "
                "too much of balanced accuracy."
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
