"""What the numbers of an audit of rows mean."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import count, percent
from testsgd.reporting.notes import not_judged_note, not_shown_note, sampling_margin_note
from testsgd.reporting.summary import AuditSummary
from testsgd.reporting.trust_notes import behind_notes, interval_confidence, searching_notes


def row_notes(summary: AuditSummary) -> tuple[Note, ...]:
    """Explain the numbers of an audit of rows, in the order in which a reader needs them."""
    label = summary.data.label.favourable
    overlap = percent(summary.parameters.overlap)
    by = "it" if summary.parameters.rank_by == "score" else "the lower confidence bound of its size"
    return (
        Note(
            "Observed and neighbourhood rates",
            f"How often the model predicts “{label}”: observed, over the rows of the file as they "
            "are; neighbourhood, over perturbed rows, which are copies in which one feature that "
            "is not sensitive has moved by one small step. Sensitive features stay as they are, so "
            "a row never changes its group. The first says how people are treated. The second says "
            "what remains if small things about them change: where few values make a feature, a "
            "step may take a proxy away, and a difference with it. This audit ranks by the "
            f"{summary.parameters.estimand} rates; the gate, if there is one, looks at both.",
        ),
        Note(
            "Difference and score",
            "The difference is the rate in the group minus the rate outside it. A negative "
            "difference means that the group is given the favourable label less often. Outside are "
            "all other rows, not a chosen reference group. The score is the difference without its "
            f"sign; groups are ranked by {by}. One point is one percentage point.",
        ),
        sampling_margin_note(
            summary,
            exact=f"all {count(summary.neighbourhood)} perturbed rows were predicted",
            missing="people who are missing from the file",
        ),
        Note("Population interval", _population_interval(summary)),
        *searching_notes(summary, "rows"),
        Note(
            "Explaining rules",
            "Many rule sets describe one cause. Forward selection regresses the rates of all "
            "combinations of sensitive values on membership in groups, weighted by rows: first the "
            "group that explains most of the variation, then the one that explains most of what "
            "is left, while that is statistically significant and above 1%. What a rule adds is "
            "its share of the variation. Near-duplicates are groups whose rows overlap with the "
            f"rule's (Jaccard) by at least {overlap}, or that are nearly everybody else: the rows "
            "on both sides overlap so with those of the other.",
        ),
        not_judged_note("rows"),
        *behind_notes(summary, "rows"),
        not_shown_note("a group is treated rightly", "people who know the field"),
        Note(
            "Decisions, not outcomes",
            "The rates describe what the model decides. They do not say what became of the people, "
            "and they do not say whether the decisions are right.",
        ),
    )


def _population_interval(summary: AuditSummary) -> str:
    text = (
        "The people in the file are themselves a sample. The interval says"
        f"{interval_confidence(summary)} where the difference may lie in the population "
        "they come from, if they were drawn from it at random. How wide it is depends on how many "
        "rows there are on each side. "
    )
    if summary.mode == "exact" and summary.parameters.nondeterministic is None:
        return text + "Asking the model more often would not narrow it."
    return text + (
        "The error of sampling is part of it, so more queries of the model narrow it somewhat, "
        "but never below what the number of rows allows."
    )
