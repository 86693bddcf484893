"""Notes on what the numbers mean, as far as they are the same for rows and for texts."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.reporting.summary import AuditSummary
from testsgd.reporting.wording import count, number, size_points, z_value


@dataclass(frozen=True)
class Note:
    """One thing a reader must know.

    Attributes
    ----------
    term : str
        What the note is about.
    text : str
        Plain text, not escaped for any view.
    """

    term: str
    text: str


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
    if summary.mode == "exact":
        text += (
            f"This audit is exact: {exact}, so there is no sampling error and the margin is zero."
        )
        return Note("Sampling margin", text)
    confidence = summary.parameters.confidence
    text += (
        "The margins of "
        f"the rate inside and of the rate outside are added. Each side is given a confidence of "
        f"{number(confidence)} (z = {z_value(confidence)}), so both hold together with a "
        f"confidence of {number(confidence)} squared, which is {number(confidence**2)} (Theorem "
        "4.2 of the TestSGD paper by Zhang, Sun, Wang and Sun). The margin says nothing about the "
        f"{missing}. A group is decided once its margin is at most "
        f"{size_points(summary.parameters.error_margin)}."
    )
    return Note("Sampling margin", text)


def many_groups_note(summary: AuditSummary, many: str) -> Note:
    """Explain what searching many groups does to the numbers of the first."""
    return Note(
        "Searching many groups",
        f"{count(summary.counts.groups)} groups were compared and the list begins with the "
        "largest differences. A group at the top is there partly by luck, so its difference is "
        "likely to be somewhat smaller in other data. Every interval is meant for one group; "
        f"they do not hold for all groups at once. {many.capitalize()} that played no part in this "
        "audit are the way to confirm a finding.",
    )


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
