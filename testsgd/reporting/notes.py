"""Notes on what the numbers mean, as far as they are the same for rows and for texts."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.report.formatting import number, size_points, z_value
from testsgd.reporting.summary import AuditSummary


def sampling_margin_note(summary: AuditSummary, *, exact: str, missing: str) -> Note:
    """Explain the sampling margin.

    Parameters
    ----------
    summary : AuditSummary
        The audit.
    exact : str
        Why there is none in exact mode.
    missing : str
        What the margin says nothing about.

    Returns
    -------
    Note
    """
    text = "How far a score may be off because the model was asked about samples only. "
    draws = summary.parameters.nondeterministic
    if summary.mode == "exact" and draws is not None:
        return Note(
            "Sampling margin",
            "How far a score may be off because the model answers at random. Every question was "
            f"asked {draws} times, and a rate is the mean of all answers. It strays from the mean "
            "of all answers that the model might give by no more than this, if it draws each "
            "answer independently of the others, with a confidence of "
            f"{number(summary.parameters.confidence)} on each side. The margin says nothing about "
            f"the {missing}.",
        )
    if summary.mode == "exact":
        text += (
            f"This audit is exact: {exact}, so there is no sampling error and the margin is zero."
        )
        return Note("Sampling margin", text)
    confidence = summary.parameters.confidence
    anytime = any(group.margin_method == "anytime" for group in summary.groups)
    quantile = "" if anytime else f" (z = {z_value(confidence)})"
    text += (
        "The margins of "
        f"the rate inside and of the rate outside are added. Each side is given a confidence of "
        f"{number(confidence)}{quantile}, so both hold together with a "
        f"confidence of {number(confidence)} squared, which is {number(confidence**2)} (Theorem "
        "4.2 of the TestSGD paper by Zhang, Sun, Wang and Sun). "
    )
    if anytime:
        text += (
            "Sampling stops when the margin is small, and a usual interval that is looked at again "
            "and again covers less than it says. This margin is from a confidence sequence, which "
            "holds whenever sampling stops. "
        )
    text += (
        f"The margin says nothing about the {missing}. A group is decided once its margin is at "
        f"most {size_points(summary.parameters.error_margin)}."
    )
    return Note("Sampling margin", text)


def not_judged_note(many: str) -> Note:
    """Explain what is known of groups that could not be judged."""
    return Note(
        "Groups that are not judged",
        f"A group with too few {many}, or one whose sampling margin stayed too wide, is neither "
        "fair nor unfair here. What the model does to it is unknown.",
    )


def not_shown_note(treated: str, judges: str) -> Note:
    """Explain what a difference does not show, and who can tell what it is."""
    return Note(
        "What a difference does not show",
        "A difference is not by itself wrongdoing, and the TestSGD paper says so too: it may "
        f"have causes, and whether they justify it is for {judges} to judge. "
        f"Nor does a small difference prove that {treated}. This report says "
        "where to look.",
    )
