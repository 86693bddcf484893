"""How numbers, rules and explanations are worded, in every view of an audit alike.

Rates are written in per cent and differences between rates in percentage points, so that nobody
takes one for the other. A minus is the sign U+2212, which is as wide as a plus.
"""

from __future__ import annotations

from testsgd.report.formatting import (
    NOTHING,
    count,
    how_often,
    interval,
    is_nothing,
    percent,
    plural,
    points,
    shorten,
    signed,
    size_points,
)
from testsgd.reporting.summary import AuditSummary, EstimandRates, GroupSummary, TermSummary
from testsgd.reporting.words import Words

FINDINGS = 10

STATUS_NAMES = {
    "reported": "Reported, no gate set",
    "gate_passed": "Gate passed",
    "gate_failed": "Gate failed",
    "not_enough_evidence": "Not enough evidence",
}
METHOD_NAMES = {"none": "none", "wald": "Wald", "wilson": "Wilson", "anytime": "anytime"}


def counterfactual_points(group: GroupSummary) -> str:
    """Write what the terms of a group change by themselves, with its interval, without unit."""
    found = group.counterfactual
    if found is None:
        return NOTHING
    return f"{signed(found.difference)} ({interval(found.interval)})"


def findings(summary: AuditSummary) -> list[GroupSummary]:
    """Return the groups to show first: the first by rank, and those that explain the differences.

    Parameters
    ----------
    summary : AuditSummary
        The audit.

    Returns
    -------
    list of GroupSummary
        Decided ones, at most :data:`FINDINGS`, by rank.
    """
    decided = [group for group in summary.groups if group.decided]
    return [group for group in decided if group.distinct or group is decided[0]][:FINDINGS]


def findings_intro(summary: AuditSummary) -> str:
    """Write which groups are shown first."""
    shown = findings(summary)
    by = ranked_by(summary)
    if not summary.rules:
        return f"The first group by {by}."
    rules = sum(group.distinct for group in shown)
    if rules == len(shown):
        explaining = plural(rules, "group") if rules > 1 else "one group"
        return f"The {explaining} that explain{'s' if rules == 1 else ''} the differences, by {by}."
    return f"The first group by {by}, and those that explain the differences."


def other_points(other: EstimandRates | None) -> str:
    """Write a group's difference by the other estimand, its interval and rates, without unit."""
    if other is None or other.difference is None or other.interval is None:
        return NOTHING
    return f"{signed(other.difference)} ({interval(other.interval)}; {other_rates(other)})"


def other_rates(other: EstimandRates) -> str:
    """Write a group's rates by the other estimand."""
    return f"{percent(other.rate_in)} against {percent(other.rate_out)}"


def by_terms(summary: AuditSummary) -> bool:
    """Return whether an audit goes by what the terms change by themselves."""
    return summary.parameters.rank_by == "counterfactual"


def top_figure(summary: AuditSummary) -> tuple[str, str]:
    """Return the name and the value of the difference that the headline speaks of."""
    top = findings(summary)
    name = "Top effect of the terms" if by_terms(summary) else "Top difference"
    if not top:
        return name, "none"
    effect = top[0].counterfactual
    if by_terms(summary) and effect is not None:
        return name, points(effect.difference)
    return name, points(top[0].difference)


def compared(group: GroupSummary, label: str, words: Words) -> str:
    """Say in a sentence how often a group is given the favourable label."""
    here, elsewhere = percent(group.rate_in), percent(group.rate_out)
    rates = f"{here} of the group against {elsewhere} of {words.others}"
    if is_nothing(group.score):
        return f"The model predicts “{label}” for {rates}, which is the same to a tenth of a point."
    return f"The model predicts “{label}” for {rates}: {how_often(group.difference)}."


def ranked_by(summary: AuditSummary) -> str:
    """Name what the groups of an audit are ranked by."""
    return {
        "score": "score",
        "lower-bound": "lower confidence bound of the difference",
        "counterfactual": "counterfactual effect of the terms",
    }[summary.parameters.rank_by]


def sampling_margin(group: GroupSummary, words: Words) -> str:
    """Say how far a group's score may be off because the model was asked about samples only."""
    if group.exact:
        return f"exact: {words.exactly}, no sampling error"
    sizes = f"{count(group.samples_in)} samples inside, {count(group.samples_out)} outside"
    method = METHOD_NAMES[group.margin_method]
    return f"± {size_points(group.margin)} ({method}; {sizes})"


def apart(group: GroupSummary, words: Words) -> str:
    """Compare a group with its strongest rule alone; empty if there is nothing to compare."""
    parts = [part for part in group.rules_alone if part.difference is not None]
    if len(group.rules_alone) < 2 or not parts:
        return ""
    strongest = max(parts, key=lambda part: abs(part.difference or 0.0))
    return (
        f"The {words.rule} that does most on its own, {shorten(strongest.text, 120)}, gives "
        f"{points(strongest.difference)}; together the {words.rule}s give "
        f"{points(group.difference)}."
    )


def doubts(term: TermSummary) -> str:
    """Say what is doubtful about a sensitive term; empty if nothing is."""
    found = [f"ambiguous: {term.ambiguous.rstrip('. ')}"] if term.ambiguous else []
    if term.known_to_model is False:
        found.append("not in the vocabulary of the model")
    elif term.as_nonsense:
        found.append("answered like a nonsense word, in every text")
    return "; ".join(found)


def remark(group: GroupSummary) -> str:
    """Say in a word what became of a group in the ranking."""
    if not group.decided:
        return "not decided"
    return "explains differences" if group.distinct else ""


def mode_name(summary: AuditSummary) -> str:
    """Name the mode of an audit, and how samples were drawn if they were."""
    return f"{summary.mode}, {summary.sampling}" if summary.sampling else summary.mode
