"""What the numbers of a mitigation mean, in words."""

from __future__ import annotations

from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.mitigation.report.phrases import FEW, budget, estimated
from testsgd.mitigation.report.summary import MitigationSummary
from testsgd.report.blocks import Note
from testsgd.report.formatting import count, plural, size_points

KIND_MEANINGS = {
    "counter": "Samples that the original model itself gives the label wanted, as in the paper; "
    "where it gives too few that label, the nearest to its decision boundary may be relabelled.",
    "odds": "Samples drawn with the chance that the original model gives them the label wanted, "
    "which all of them then carry.",
    "shifted": "Samples as they come, for which what the original model says is moved towards the "
    "label wanted by the same step for all, set by how many decisions the difference asks to "
    "change; those that the step carries across the decision boundary are relabelled, and those "
    "that stay on the other side are anchors.",
    "anchored": "All samples that there are, every time; of those that the original model gives "
    "the other label some are relabelled, nearest to its decision boundary first, and the rest "
    "keep it, as anchors. A number of such samples is that of those relabelled.",
}


def mitigation_notes(summary: MitigationSummary) -> tuple[Note, ...]:
    """Explain the numbers of a mitigation, in the order in which a reader needs them."""
    words = words_for(summary.data.kind)
    many, label, split = words.many, summary.data.label.favourable, summary.split
    limit = budget(summary.settings.max_accuracy_drop)
    tried = {candidate.kind for candidate in summary.candidates}
    kinds = tried | {samples.kind for target in summary.targets for samples in target.samples}
    left_out, whom = "", "people" if words.kind == "rows" else many
    if split.repeats:
        left_out = (
            f" Not held out after all: {plural(split.repeats, words.one)}, because {many} of the "
            "same unit are in another part or held out already; what is there twice is known once."
        )
    return (
        Note(
            "Difference and score",
            f"The difference is how often the model predicts “{label}” for the group, minus how "
            f"often for {words.others}, in percentage points. The score is the difference without "
            "its sign. Both are measured as in an audit, on "
            + (
                f"{many} with the group's terms put into them and {words.others} as they are."
                if words.kind == "texts"
                else f"{many} perturbed by small steps in features that are not sensitive."
            ),
        ),
        Note(
            "Samples",
            f"Samples are drawn as the audit draws them, from training {many} only, to counter the "
            f"difference: where the model gives the group “{label}” too seldom, samples of the "
            f"group are to get that label, samples of {words.others} the other. There may be "
            "samples of both sides or of the smaller one only. A sample can weigh more than a "
            f"training {words.one}: the largest number of some kinds is tried with larger weights "
            "too, and where there are fewer samples than asked for, each weighs more.",
        ),
        *(
            Note(f"Kind of samples: {kind}", meaning)
            for kind, meaning in KIND_MEANINGS.items()
            if kind in kinds
        ),
        *_softened(summary, words),
        Note(
            f"Training, validation and held-out {many}",
            f"The model is retrained on {count(split.training)} training {many} and the samples. "
            f"Candidates may lose at most {limit} of accuracy and "
            f"{budget(summary.settings.max_balanced_drop)} of balanced accuracy, "
            f"{_judged(summary, words)}; the same holds on the training {many}. Nor may they "
            "decide, or be right, one way less than half as often as the original model: where "
            f"all {many} get the same label there is no difference, and no use. Of the others, the "
            f"one with the lowest score on all {many} but the held-out is chosen; of several whose "
            "scores lie in the same half point, or all at two points or less, the one that loses "
            "least accuracy. The "
            f"{count(split.held_out)} held-out {many} are touched once, at the end; the verdict is "
            f"about the model that is written, there.{left_out}",
        ),
        Note(
            f"All {many} and held-out {many}",
            f"All {many} are those of the audit, so their figures compare with it; but the model "
            f"has seen most of them in training. Held-out {many} are fewer, but retraining has "
            f"seen none of them. With fewer than {FEW} on one side they are not used to "
            "tell anything.",
        ),
        Note(
            "Means over runs",
            "A retrained model depends on chance: on the samples drawn, and on the order of "
            "training. So everything is done several times, and means are shown with the lowest "
            "and the highest run. They say what to expect of the recipe, not of the model that is "
            "kept, which is that of one run: of the first, ordered by the differences on the "
            f"{many} not held out, that loses no more than allowed on the held-out {many} and "
            "makes no gap larger; if there is none, of the first that loses no more than allowed, "
            "or else of the first.",
        ),
        Note(
            "Levelling down",
            "A gap can close because those who got the label less often get it more often, or "
            "because those who got it more often get it less. The second is levelling down: nobody "
            "is better off by it. Where it closed at least half of the gap the headline says so.",
        ),
        Note(
            "Best constant model",
            "A model that says the same of all treats no group differently. What is not "
            "significantly better is not called a mitigation.",
        ),
        Note(
            "Groups that grew",
            "Helping one group can hurt another. So the full audit runs again on the retrained "
            "model, and every group whose score grew by more than "
            f"{size_points(summary.least_increase)} is counted. Near copies of a group are listed "
            "once.",
        ),
        Note(
            "Gaps, and accuracy inside of groups",
            f"How far a group and {words.others} are apart in selection rate, true-positive rate, "
            f"false-positive rate or accuracy on held-out {many}, before and after. A gap that "
            f"grew by more than {size_points(summary.settings.max_side_effect)} and by more than "
            "chance explains is a failure. So is a group that lost more than "
            f"{budget(summary.settings.max_group_accuracy_drop)} of accuracy, and more than chance "
            "explains. The lower confidence bounds of all gaps and losses hold at once, by "
            "Bonferroni.",
        ),
        Note(
            "What a smaller difference does not show",
            "Equal rates are not by themselves just, and a smaller difference does not make each "
            f"decision right. The model may give the label to other {whom} than before, "
            "inside the group and outside. Whether that is better is for those who know the field "
            "to judge.",
        ),
    )


def _softened(summary: MitigationSummary, words: Words) -> list[Note]:
    """Write what softened labels are, where a network may have learnt them."""
    settings, many = summary.settings, words.many
    if not settings.soften:
        return []
    start = (
        "Labels are noisy, and a network that is trained for long memorises the noise in those of "
        f"its training {many}, which costs accuracy. "
    )
    rest = "What can learn labels only, such as a classifier of scikit-learn, learns these."
    if words.kind == "texts":
        if settings.from_scratch:
            return []
        what = (
            "So a network that testsgd trained learns its own earlier scores of them in their "
            "place: only samples move it. Other models learn the labels as they are."
        )
        return [Note("Softened labels", f"{start}{what}")]
    what = (
        f"So a network learns probabilities of “{summary.data.label.favourable}” in their place, "
        f"which are cross-fitted: each is by another model, gradient boosting, which was fitted to "
        f"other {many}, so that no label has a part in its own probability. "
    )
    return [Note("Softened labels", f"{start}{what}{rest}")]


def _judged(summary: MitigationSummary, words: Words) -> str:
    """Write how the accuracy that candidates lose was judged, as a phrase."""
    labels = f"the labels of the {count(summary.split.validation)} validation {words.many}"
    if summary.split.evaluated_by == "cross-validation":
        return (
            f"judged by repeated cross-validation on all {words.many} but the held-out: everything "
            "is done again on a part of them, from a new training on, and judged on the others"
        )
    if not estimated(summary.split):
        return f"judged by {labels}"
    return (
        f"judged by {labels}, and by cross-fitted probabilities, that is, by how often their "
        f"decisions on all {words.many} but the held-out are expected to be right; the larger loss "
        "counts, for of many candidates the best by one estimate may be so by chance"
    )
