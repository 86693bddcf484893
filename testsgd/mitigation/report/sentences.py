"""What the verdict of a mitigation says beside its headline, sentence by sentence.

Everybody who renders a mitigation shows these sentences, so each says which rows it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testsgd.auditing.report.vocabulary import Described, Words
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.fitted_anew import against, reference_name
from testsgd.mitigation.report.phrases import (
    FEW,
    KINDS,
    accuracy,
    accuracy_change,
    kept_label,
    span,
)
from testsgd.mitigation.report.samples_summary import SamplesSummary
from testsgd.mitigation.report.summary import (
    MitigationSummary,
    RatesSummary,
    SplitSummary,
    WrittenSummary,
)
from testsgd.report.formatting import (
    count,
    interval,
    percent,
    plural,
    series,
    shorten,
    signed,
    size,
    size_points,
)

_GROUP_LIMIT = 160

# Of more targets the tables show the figures.
_DESCRIBED_TARGETS = 3

# Why samples of a kind were relabelled, if there are no others.
_WHY = {
    "counter": ", nearest to its decision boundary first, because it gives too few that label",
    "odds": ", as they were drawn by the chance that it gives them that label",
}

# Points of accuracy that are nearer to each other are the same figure.
_SAME = 0.005


def runs_sentence(summary: MitigationSummary, words: Words) -> list[str]:
    """Write what to expect of the recipe: means over the runs, and how far the runs are apart."""
    runs = summary.runs
    reached = [phrases.largest(run.held_out_scores) for run in runs]
    known = [value for value in reached if value is not None]
    if len(runs) < 2 or not known:
        return []
    single = len(summary.targets) == 1
    what = "the difference" if single else "the largest difference of a target"
    low, high = size(min(known)), size(max(known))
    span = f"{low} points in each" if low == high else f"{low} to {high} points"
    mean = phrases.largest_mean(spread.held_out_score for spread in summary.ranges)
    drop = summary.accuracy_drop
    worst, best = accuracy_change(drop.highest), accuracy_change(drop.lowest)
    middle = "" if mean is None or low == high else f", {size(mean.mean)} on average"
    stood_in = sum(run.samples is None for run in runs)
    sentences = [
        f"What to expect of the recipe: over {plural(len(runs), 'run')} {what} on held-out "
        f"{words.many} is {span}{middle}, and accuracy changes by "
        f"{worst if worst == best else f'{worst} to {best}'} points{against(summary)}."
    ]
    if stood_in:
        sentences.append(
            f"In {count(stood_in)} of {plural(len(runs), 'run')} no candidate within the accuracy "
            "budget did better than the original model, which stands in for it."
        )
    return sentences


def few_sentence(summary: MitigationSummary, words: Words) -> list[str]:
    """Write where a target's score hangs on few rows, all of them counted."""
    targets = summary.targets
    few = [target for target in targets if not phrases.enough(target.before)]
    if not few:
        return []
    if len(targets) > 1:
        have = "has" if len(few) == 1 else "have"
        return [
            f"{count(len(few))} of {count(len(targets))} targets {have} fewer than {FEW} "
            f"{words.many} on one side in all: such scores hang on few {words.many}."
        ]
    number, side = phrases.smaller_side(few[0].before)
    return [
        f"The target's score hangs on {plural(number, words.one)}: of all {words.many}, no more "
        f"are {side}."
    ]


def held_out_sentence(split: SplitSummary, written: WrittenSummary, words: Words) -> str:
    """Write what part the held-out rows had."""
    rows = f"The {count(split.held_out)} held-out {words.many}"
    if written.looked_at > 1:
        named = "" if split.unseen else " But the audit that names the group was of them too."
        return (
            f"{rows} played no part in training or in choosing candidates. Of the runs' models "
            f"{count(written.looked_at)} were looked at on them, in the order of their differences "
            f"on the other {words.many}, for one that keeps the guard; so intervals of what became "
            f"of the difference are widened by Bonferroni for {count(written.looked_at)} models, "
            f"and its accuracy on them may flatter it.{named}"
        )
    if split.unseen:
        return f"{rows} played no part in finding the group, in training or in choosing."
    return (
        f"{rows} played no part in training or choosing; but the audit that names the group was of "
        f"all {words.many}, so its difference on them may be overstated before."
    )


def caveats(summary: MitigationSummary, written: WrittenSummary, words: Words) -> list[str]:
    """Write what became of the differences that the headline does not speak of."""
    many, sentences, targets = words.many, [], summary.targets
    for target, held_out in list(zip(targets, written.targets, strict=True))[:_DESCRIBED_TARGETS]:
        whose = "" if len(targets) == 1 else f" for {_name(target, words)}"
        if words.kind == "texts":
            sentences.append(
                f"The difference of the texts{whose}, terms and topic together, "
                f"{_moved(target.held_out_before, target.held_out_after)}."
            )
            if held_out.effect is not None and abs(held_out.effect.after or 0) > abs(
                held_out.effect.before or 0
            ):
                sentences.append(
                    "The model makes up with the terms for what such texts are about: their own "
                    "effect is larger than before."
                )
        which, first, last = f"As the {many} are", held_out.observed_before, held_out.observed_after
        if written.estimand == "observed":
            which = (
                "With the terms put in"
                if words.kind == "texts"
                else f"Over each {words.one}'s neighbours, as the paper measures it"
            )
            first, last = held_out.neighbourhood_before, held_out.neighbourhood_after
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
        f" ({interval(rates.confidence_interval)})" if rates.confidence_interval is not None else ""
        for rates in (before, after)
    ]
    return (
        f"went from {signed(before.difference)}{ends[0]} to {signed(after.difference)}{ends[1]} "
        "points"
    )


def paying_sentences(
    summary: MitigationSummary, written: WrittenSummary, words: Words
) -> list[str]:
    """Write who pays: the changes of rates in each target and in its complement."""
    sentences, targets, favourable = [], summary.targets, summary.data.label.favourable
    for target, held_out in list(zip(targets, written.targets, strict=True))[:_DESCRIBED_TARGETS]:
        group = "the group" if len(targets) == 1 else _name(target, words)
        for who, side in ((group, held_out.group), (words.others, held_out.complement)):
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


def guard_sentences(summary: MitigationSummary, written: WrittenSummary, words: Words) -> list[str]:
    """Write what became of both accuracies on each part, and what a constant model reaches."""
    changes = [
        f"on {name} {words.many} by {phrases.changed_accuracy(part.accuracy)} and "
        f"{phrases.changed_accuracy(part.balanced)}"
        for name, part in written.parts.items()
        if part.accuracy.change is not None and part.balanced.change is not None
    ]
    measured = against(summary)
    sentences = [f"Accuracy and balanced accuracy change{measured} {series(changes)} points."]
    drop = written.training.accuracy_drop
    by_labels = -100 * (written.training.accuracy.change or 0.0)
    if abs(drop - by_labels) > _SAME:
        sentences.append(
            f"On training {words.many}, whose labels {reference_name(summary)} may have memorised, "
            f"cross-fitted probabilities expect a change of {accuracy_change(drop)} and "
            f"{accuracy_change(written.training.balanced_drop)}, and the guard goes by these."
        )
    part, original = written.held_out, "the original model is"
    if summary.fitted_anew is not None:
        given = accuracy(summary.fitted_anew.accuracy_given)
        original = f"the original as given is about {given}, {reference_name(summary)}"
    if part.constant is not None:
        sentences.append(
            f"To say “{written.constant_label}” of all would be right about "
            f"{accuracy(part.constant)} of the held-out {words.many}; {original} about "
            f"{accuracy(part.accuracy.before)}, the new one about {accuracy(part.accuracy.after)}."
        )
    return sentences


def other_groups_sentences(summary: MitigationSummary, words: Words) -> list[str]:
    """Return whether any group is above the old worst score, and which are worse off."""
    change, runs = summary.all_rows, summary.runs
    before, after = change.worst_before, change.worst_after
    start = "In the model that was kept, "
    sentences = []
    if before is not None and after is not None:
        largest_of_any = f"{start}the largest difference of any group"
        if after > before:
            who = f" (for {_name(change.worst[0], words)})" if change.worst else ""
            sentences.append(
                f"{largest_of_any} is {size_points(after)}{who}, above the {size(before)} before."
            )
        else:
            sentences.append(f"{largest_of_any} {phrases.from_to(before, after)}.")
            above = sum(run.worst is not None and run.worst > before for run in runs)
            if above:
                sentences.append(
                    f"In {count(above)} of {plural(len(runs), 'run')} a group is above the "
                    f"{size(before)} before."
                )
    increased = count(change.increased_count) if change.increased_count else "none"
    most = ""
    if change.increased:
        first = change.increased[0]
        rise = f"from {size(first.before.score)} to {size(first.after.score)} points"
        most = f", most of all for {_name(first, words)} ({rise})"
    sentences.append(
        f"{start}the difference of {increased} of {plural(change.groups, 'group')} grew by more "
        f"than {size_points(summary.least_increase)}{most}."
    )
    return sentences


def _name(group: Described, words: Words) -> str:
    return shorten(words.target(group), _GROUP_LIMIT)


def comparison_sentence(summary: MitigationSummary, written: WrittenSummary | None) -> list[str]:
    """Write what the other methods reach at the same accuracy, whichever is better."""
    comparisons = summary.comparisons
    if not comparisons:
        return []
    if written is None:
        reached = [
            f"{phrases.method(other.name)} leaves {size_points(worst.mean)} (accuracy "
            f"{accuracy_change(other.accuracy_drop.mean)})"
            for other in comparisons
            if other.accuracy_drop is not None
            and (worst := phrases.largest_mean(other.held_out_scores)) is not None
        ]
        return [f"On the same splits, {series(reached)}."] if reached else []
    own = phrases.largest(target.held_out_after.score for target in summary.targets)
    known = [
        f"{phrases.method(other.name)} leaves {size_points(other.equal_accuracy.score)} "
        f"({interval(other.equal_accuracy.confidence_interval)})"
        for other in comparisons
        if other.equal_accuracy is not None
    ]
    never = [other for other in comparisons if other.equal_accuracy is None and other.curve]
    sentences = []
    if known and own is not None:
        sentences.append(
            f"At the same accuracy on held-out data, where this model leaves {size_points(own)}, "
            f"{series(known)}."
        )
    if never:
        names = series([phrases.method(other.name) for other in never])
        sentences.append(f"At no point of its curve so accurate: {names}.")
    return sentences


def no_candidate_sentences(summary: MitigationSummary, words: Words) -> list[str]:
    """Write what was tried where nothing met the accuracy budget, and what else to try."""
    sentences, settings, candidates = [], summary.settings, summary.candidates
    score = phrases.candidate_score
    if candidates:
        allowed = [candidate for candidate in candidates if candidate.allowed]
        best = min(
            allowed or candidates,
            key=lambda item: ((score(item) or 0) if allowed else 0, item.accuracy_drop),
        )
        reached = score(best)
        difference = (
            f" and has a difference of {size_points(reached)}" if reached is not None else ""
        )
        which = "best one within the budget" if allowed else "one that loses least"
        refused = [
            candidate
            for candidate in candidates
            if not candidate.allowed and phrases.within(candidate, settings.max_accuracy_drop)
        ]
        if allowed and refused:
            which = "best one that was not refused"
        sentences.append(
            f"{plural(len(candidates), 'candidate')} of {plural(len(summary.runs), 'run')} were "
            f"judged. The {which} loses {phrases.lost_points(best.accuracy_drop)} "
            f"{phrases.judged_where(summary.split, words.many)}{difference}."
        )
        if refused:
            was = "was" if len(refused) == 1 else "were"
            sentences.append(
                f"{count(len(refused))} {was} refused, though within the budget, for deciding or "
                "being right one way less than half as often as the original model, or for losing "
                "too much of balanced accuracy."
            )
    before = phrases.largest(target.before.score for target in summary.targets)
    if before is not None:
        what = "The difference" if len(summary.targets) == 1 else "The largest difference"
        sentences.append(f"{what} stays at {size_points(before)}.")
    weights = "from the original weights" if settings.from_scratch else "from scratch"
    sentences.append(
        f"A larger accuracy budget, fewer samples in the first step or retraining {weights} may "
        "find a candidate."
    )
    return sentences


def sample_sentences(summary: MitigationSummary, words: Words) -> list[str]:
    """Write how many samples were added, of which kind, and why they carry their labels."""
    targets, chosen_run = summary.targets, summary.chosen_run
    controls = summary.controls.targets if summary.controls else []
    against = [entry for control in controls for entry in control.samples if entry.added]
    samples = [entry for target in targets for entry in target.samples if entry.added] + against
    if not samples:
        return []
    label, of = "the label that counters the difference", ""
    if len({entry.label for entry in samples}) == 1:
        label = f"the label “{samples[0].label}”"
    if len({entry.side for entry in samples}) == 1 and len(targets) == 1 and not against:
        of = f" of {'the group' if samples[0].side == 'group' else words.others}"
    added = _added(samples, of, summary.split, words)
    if len({entry.kind for entry in samples}) == 1:
        return [added, f"The original model {_labels(samples, label)}."]
    # From one kind to another the numbers differ too much to be told together.
    kept = [entry for entry in samples if entry.run == chosen_run]
    if not kept:
        return [added]
    which = f"In run {chosen_run}, which was kept,"
    return [added, f"{which} the original model {_labels(kept, label)}."]


def _by_run(
    samples: Sequence[SamplesSummary], number: Callable[[SamplesSummary], int]
) -> list[int]:
    """Sum a number up in each run."""
    runs = sorted({entry.run for entry in samples})
    return [sum(number(entry) for entry in samples if entry.run == run) for run in runs]


def _added(samples: Sequence[SamplesSummary], of: str, split: SplitSummary, words: Words) -> str:
    added = _by_run(samples, lambda entry: entry.added)
    low, high = min(added), max(added)
    number = plural(low, "sample") if low == high else f"{span(added)} samples"
    each = ""
    if len(added) > 1:
        each = " in each run" if low == high else ", depending on the run"
    return (
        f"{number}{of} {'was' if low == high == 1 else 'were'} added to the "
        f"{count(split.training)} training {words.many}{each}, {_kind(samples)}"
        f"{_weights(samples, words)}."
    )


def _kind(samples: Sequence[SamplesSummary]) -> str:
    """Write of which kind they are; of several, in how many runs each was the best."""
    kind_of = {entry.run: entry.kind for entry in samples}
    if len(set(kind_of.values())) == 1:
        return f"of the kind “{samples[0].kind}”"
    chosen = [*kind_of.values()]
    parts = [f"“{kind}” in {plural(chosen.count(kind), 'run')}" for kind in KINDS if kind in chosen]
    return f"of the kind {series(parts)}"


def _weights(samples: Sequence[SamplesSummary], words: Words) -> str:
    low, high = (phrases.weight(end(entry.weight for entry in samples)) for end in (min, max))
    if low == high == "1":
        return ""
    much = low if low == high else f"{low} to {high}"
    return f", and each counts as much as {much} training {words.many}"


def _labels(samples: Sequence[SamplesSummary], label: str) -> str:
    """Write how many carry the counter label of themselves, were relabelled, or are anchors."""
    kept = _by_run(samples, kept_label)
    relabelled = _by_run(samples, lambda entry: entry.relabelled)
    anchors = _by_run(samples, lambda entry: entry.anchors)
    if not any(relabelled) and not any(anchors):
        return f"gives all of them {label}, which they carry"
    parts = [f"gives {span(kept)} of them {label} by itself"]
    if any(relabelled):
        was = "was" if max(relabelled) == 1 else "were"
        kinds = {entry.kind for entry in samples if entry.relabelled}
        why = _WHY.get(kinds.pop(), "") if len(kinds) == 1 else ""
        parts.append(f"{span(relabelled)} {was} relabelled{why}")
    if any(anchors):
        are = "is an anchor, which keeps" if max(anchors) == 1 else "are anchors, which keep"
        parts.append(f"{span(anchors)} {are} the label that it gives")
    return series(parts)
