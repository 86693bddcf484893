"""The sentence of a report where it is not given what the label is for a person."""

from __future__ import annotations

import re

from testsgd.auditing.report.summary import AuditSummary

# Names of columns and labels that mostly are a harm. They change a sentence, and no figure.
_HARM = re.compile(
    r"(^|[^a-z])(den(ied|ial|y)|reject\w*|refus\w*|arrest\w*|risk|default\w*|fraud\w*)([^a-z]|$)"
)


def outcome_is_assumed(summary: AuditSummary) -> bool:
    """Return whether the label is taken for a benefit because no outcome is given.

    Data with a description have the description's outcome, which has a default.
    """
    return bool(summary.data.inferred) and not summary.data.label.outcome_given


def assumed_outcome(summary: AuditSummary) -> str:
    """Return that sentence, with how to change it; for some names it is a hint."""
    label = summary.data.label.favourable
    how = '--outcome harm or neither (in Python outcome="harm")'
    name = _name_of_harm(summary)
    if name is None:
        return (
            f"“{label}” is taken for a benefit to a person, so that the side which gets it less "
            f"often is named first; if it is not, say so by {how}."
        )
    return (
        f"“{name}” sounds like a harm, but “{label}” is taken for a benefit to a person, so that "
        f"the side which gets it less often is named first; if it is not, say so by {how}."
    )


def _name_of_harm(summary: AuditSummary) -> str | None:
    """Return the name of the label, its column or the predictions that sounds like a harm."""
    label = summary.data.label
    names = [label.favourable, label.column]
    if summary.data.predictions_given:
        names.append(summary.model.name)
    return next((name for name in names if _HARM.search(name.lower())), None)
