"""What the numbers of a mitigation mean, in words."""

from __future__ import annotations

from testsgd.reporting.mitigation.phrases import FEW_HELD_OUT, budget
from testsgd.reporting.mitigation.summary import MitigationSummary
from testsgd.reporting.notes import Note
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.wording import count, size_points
from testsgd.reporting.words import Words


def mitigation_notes(summary: MitigationSummary) -> tuple[Note, ...]:
    """Explain the numbers of a mitigation, in the order in which a reader needs them."""
    words = words_for(summary.data.kind)
    many, label, split = words.many, summary.data.label.favourable, summary.split
    limit = budget(summary.settings.max_accuracy_drop)
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
            "Counter-labelled samples",
            "Samples are drawn as the audit draws them, from training "
            f"{many} only, and labelled against the difference: where the model gives the group "
            f"“{label}” too seldom, samples of the group carry that label, or samples of "
            f"{words.others} carry the other. Kept are those that the original model itself labels "
            "so. Where they are too few, the nearest to the decision boundary may be relabelled; "
            "the table of samples counts them.",
        ),
        Note(
            f"Three kinds of {many}",
            f"The model is retrained on {count(split.training)} training {many}. Candidates are "
            f"compared on {count(split.validation)} validation {many}, and the one with the lowest "
            f"score among those that lose at most {limit} of accuracy there is chosen. The "
            f"{count(split.held_out)} held-out {many} are touched once, at the end.",
        ),
        Note(
            f"All {many} and held-out {many}",
            f"All {many} are those of the audit, so their figures compare with it; but the model "
            f"has seen most of them in training. Held-out {many} are fewer, but retraining has "
            f"seen none of them. With fewer than {FEW_HELD_OUT} on one side they are not used to "
            "tell anything.",
        ),
        Note(
            "Means over runs",
            "A retrained model depends on chance: on the samples drawn, and on the order of "
            "training. So everything is done several times, and means are shown with the lowest "
            "and the highest run. The model that is kept is that of one run.",
        ),
        Note(
            "Groups that grew",
            "Helping one group can hurt another. So the full audit runs again on the retrained "
            f"model, and every group whose score grew by more than {size_points(summary.risen_by)} "
            "is counted. Near copies of a group are listed once.",
        ),
        Note(
            "What a smaller difference does not show",
            "Equal rates are not by themselves just, and a smaller difference does not make each "
            f"decision right. The model may give the label to other {_whom(words)} than before, "
            "inside the group and outside. Whether that is better is for those who know the field "
            "to judge.",
        ),
    )


def _whom(words: Words) -> str:
    return "people" if words.kind == "rows" else words.many
