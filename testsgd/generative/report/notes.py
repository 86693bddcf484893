"""What the numbers of an assessment mean, and what they do not."""

from __future__ import annotations

from testsgd.generative.report.summary import GenerativeSummary
from testsgd.report.blocks import Note
from testsgd.report.formatting import share


def generative_notes(summary: GenerativeSummary) -> tuple[Note, ...]:
    """Return the notes below a report."""
    confidence = share(summary.settings.confidence)
    return (
        Note(
            "Related outputs",
            "Outputs that fulfil the condition and have a value of the grouping. All others are "
            "left out before anything is counted, so a wait is a number of related outputs.",
        ),
        Note(
            "Longest wait",
            "The smallest number within which a value came first and came again each time. The "
            "outputs after its last appearance count too: the value is taken to come with the "
            "very next output, so the true wait may be longer, and never shorter.",
        ),
        Note(
            "Intervals",
            f"The exact interval is Clopper's and Pearson's, for this number of outputs. The other "
            f"one holds for every number of outputs at once. Together the intervals of one "
            f"requirement hold with a confidence of {confidence}, if outputs are independent and "
            f"shares do not change. Outputs of an enforced sequence are not independent: of these "
            f"the intervals only describe how long the sequence is.",
        ),
        Note(
            "Kept and broken",
            "A requirement is kept if every value came within its number of outputs, from the "
            "start and after each appearance, and if there are more outputs than that number. "
            "This is the worst case of this sequence, no average, and says nothing about outputs "
            "that are still to come.",
        ),
        Note(
            "The model itself",
            "Outputs can be fair because prompts ask for it. Only outputs of neutral prompts, "
            "which have no word of a value, say something of the model itself. A prompt may hint "
            "at a value without such a word.",
        ),
        Note(
            "Who is counted",
            "Values are those that the specification names, as read from words, by a function or "
            "by a chat model, which may err. Two values of gender, say, are a simplification that "
            "the specification makes.",
        ),
    )
