"""What a verdict says of all groups: the worst difference, gaps that grew, accuracy lost."""

from __future__ import annotations

from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.worse_off import Features
from testsgd.mitigation.report import phrases
from testsgd.mitigation.report.fitted_anew import against
from testsgd.mitigation.report.phrases import FEW
from testsgd.mitigation.report.summary import (
    GapSummary,
    LossSummary,
    MitigationSummary,
    SideEffectsSummary,
    WorstSummary,
    WrittenSummary,
)
from testsgd.report.formatting import (
    count,
    interval,
    percent,
    plural,
    points,
    shorten,
    size,
    size_points,
)

RATE_NAMES = {
    "selection_rate": "selection rate",
    "true_positive_rate": "true-positive rate",
    "false_positive_rate": "false-positive rate",
    "accuracy": "accuracy",
}

_GROUP_LIMIT = 160


def side_effect(summary: MitigationSummary, written: WrittenSummary, words: Words) -> str:
    """Write the gap that grew most, the group that lost most, or that the worst difference rose.

    It is the end of a headline.
    """
    effects, settings = written.side_effects, summary.settings
    if effects is None or (not effects.failed and effects.worst is None):
        return ""
    if effects.failed:
        return exceeded_text(
            effects,
            words,
            allowed=settings.max_side_effect,
            allowed_loss=settings.max_group_accuracy_drop,
            features=phrases.features_of(summary.data),
            reference=against(summary),
        )
    assert effects.worst is not None
    worst = effects.worst
    return (
        f"the largest difference of any group rose from {size(worst.before)} to "
        f"{size_points(worst.after)}, for {_worst_groups(worst, summary, words)[1]}"
    )


def _worst_groups(worst: WorstSummary, summary: MitigationSummary, words: Words) -> tuple[str, str]:
    """Write whose the largest difference is, before and after."""
    features = phrases.features_of(summary.data)
    first = phrases.rules_words(worst.rules_before, worst.group_before, features, words)
    last = phrases.rules_words(worst.rules_after, worst.group_after, features, words)
    return shorten(first, _GROUP_LIMIT), shorten(last, _GROUP_LIMIT)


def exceeded_text(
    effects: SideEffectsSummary,
    words: Words,
    *,
    allowed: float,
    allowed_loss: float,
    features: Features,
    reference: str = "",
) -> str:
    """Write the gap that grew most, or else the group that lost most; one of them exceeded.

    `allowed` is a share, `allowed_loss` in points; `features` are for the wording of groups;
    `reference` is written behind growths and losses that are not measured against the original.
    """
    if effects.exceeded:
        limit = size_points(allowed)
        return (
            f"{_gap_grew(effects.exceeded[0], words, features)}{reference}, by more than the "
            f"{limit} allowed"
        )
    limit = phrases.budget(allowed_loss)
    fell = f"{_accuracy_fell(effects.lossy[0], words, features)}{reference}"
    return f"{fell}, by more than the {limit} allowed"


def worst_sentences(summary: MitigationSummary, written: WrittenSummary, words: Words) -> list[str]:
    """Write the largest difference of any group before and after, by observed rates first."""
    effects = written.side_effects
    if effects is None or effects.worst is None:
        return []
    worst, many = effects.worst, words.many
    first, last = _worst_groups(worst, summary, words)
    whose = f"for {last}" if first == last else f"for {first} before and for {last} after"
    by_neighbours, change = "", summary.held_out
    before, after = change.worst_before, change.worst_after
    if written.estimand == "neighbourhood" and before is not None and after is not None:
        how = f"over each {words.one}'s neighbours"
        if words.kind == "texts":
            how = "with terms put in"
        by_neighbours = f"; {how} it {phrases.from_to(before, after)}"
    return [
        f"On the held-out {many} as they are, the largest difference of any of "
        f"{plural(effects.groups, 'group')} in selection rates "
        f"{phrases.from_to(worst.before, worst.after)} (change "
        f"{interval(worst.confidence_interval)}), {whose}{by_neighbours}."
    ]


def gap_sentences(summary: MitigationSummary, written: WrittenSummary, words: Words) -> list[str]:
    """Write what became of gaps and of the accuracy inside of groups."""
    if written.side_effects is None:
        return []
    return effect_sentences(
        written.side_effects,
        words,
        allowed=summary.settings.max_side_effect,
        allowed_loss=summary.settings.max_group_accuracy_drop,
        features=phrases.features_of(summary.data),
        reference=against(summary),
    )


def effect_sentences(
    effects: SideEffectsSummary,
    words: Words,
    *,
    allowed: float,
    allowed_loss: float,
    features: Features,
    reference: str = "",
) -> list[str]:
    """Write how many gaps grew, and how many groups lost, by more than is allowed.

    `allowed` is a share, `allowed_loss` in points; `features` are for the wording of groups;
    `reference` is written behind growths and losses that are not measured against the original.
    """
    if not effects.gaps or effects.largest is None:
        return [
            "Gaps in selection rate, true-positive rate, false-positive rate and accuracy cannot "
            f"be judged: no group has at least {FEW} held-out {words.many} that count on both "
            "sides."
        ]
    certain = count(effects.exceeded_count) if effects.exceeded_count else "none"
    unclear = ""
    if effects.unclear_count:
        unclear = f"; {count(effects.unclear_count)} more did, which chance may explain"
    sentences = [
        f"Of {count(effects.gaps)} gaps between a group and {words.others} in selection rate, "
        f"true-positive rate, false-positive rate or accuracy {certain} grew by more than "
        f"{size_points(allowed)}{reference} and by more than chance explains{unclear}."
    ]
    shown = effects.exceeded[0] if effects.exceeded else effects.largest
    if shown.after > shown.before:
        start = "The clearest: " if effects.exceeded else "Most of all "
        bound = "" if effects.exceeded else f", {_growth_bound(shown)}"
        grew = f"{_gap_grew(shown, words, features)}{_rates(shown, words)}"
        sentences.append(f"{start}{grew}{bound}.")
    return sentences + _loss_sentences(effects, allowed_loss, words, features, reference)


def _loss_sentences(
    effects: SideEffectsSummary, allowed: float, words: Words, features: Features, reference: str
) -> list[str]:
    """Write how many groups lost more accuracy than is allowed, in points, and which lost most."""
    most = effects.largest_loss
    if most is None or most.before <= most.after:
        return []
    certain = count(effects.lossy_count) if effects.lossy_count else "none"
    unclear = ""
    if effects.unclear_losses:
        unclear = f"; {count(effects.unclear_losses)} more did, which chance may explain"
    shown = effects.lossy[0] if effects.lossy else most
    return [
        f"Of {plural(effects.groups, 'group')} {certain} lost more than {phrases.budget(allowed)} "
        f"of accuracy and more than chance explains{unclear}. "
        f"{_accuracy_fell(shown, words, features, start=True)}{reference}."
    ]


def _accuracy_fell(
    loss: LossSummary, words: Words, features: Features, *, start: bool = False
) -> str:
    """Write whose accuracy fell, from what to what."""
    whose = shorten(phrases.rules_words(loss.rules, loss.text, features, words), _GROUP_LIMIT)
    fell = f"accuracy for {whose} fell from {percent(loss.before)} to {percent(loss.after)}"
    return fell[0].upper() + fell[1:] if start else fell


def _gap_grew(gap: GapSummary, words: Words, features: Features) -> str:
    """Write whose gap in which rate grew, from what to what."""
    named = phrases.rules_words(gap.rules, words.target(gap), features, words)
    whose = shorten(named, _GROUP_LIMIT)
    return (
        f"the gap in {RATE_NAMES[gap.rate]} between {whose} and {words.others} grew from "
        f"{size(gap.before)} to {size_points(gap.after)}"
    )


def growth_text(gap: GapSummary) -> str:
    """Write by how much a gap grew, with the lower confidence bound of that."""
    return (
        f"most of all in {RATE_NAMES[gap.rate]}, {shorten(gap.text, _GROUP_LIMIT)}: "
        f"{size(gap.before)} to {size_points(gap.after)}, {_growth_bound(gap)}"
    )


def _growth_bound(gap: GapSummary) -> str:
    return f"lower confidence bound of the growth {points(gap.low)}"


def _rates(gap: GapSummary, words: Words) -> str:
    """Write the rates that a gap is between, before and after."""
    inside, outside = (" to ".join(map(percent, rates)) for rates in (gap.inside, gap.outside))
    return f" (the group went from {inside}, {words.others} from {outside})"
