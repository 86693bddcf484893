"""Phrases of a shield's reports that several views use."""

from __future__ import annotations

from testsgd.report.formatting import plural, series
from testsgd.reporting.bias_words import events_text, exact_number
from testsgd.reporting.shielding.parts import BoundSummary

STATUS_NAMES = {
    "synthesised": "Synthesised",
    "guarantee_kept": "Guarantee kept",
    "guarantee_broken": "Guarantee broken",
    "gate_failed": "Too many runs above the threshold",
    "observed": "Observed, nothing guaranteed",
}
KIND_NAMES = {
    "finite": "fixed horizon",
    "static-fair": "periodic, static-fair",
    "static-bounded-welfare": "periodic, static with bounded welfare",
    "dynamic": "periodic, dynamic",
}
ASSUMPTIONS = {
    "static-fair": "all groups' denominators are equal in every period",
    "static-bounded-welfare": "enough people of every group come in every period",
    "dynamic": "enough people of every group have come by the end of the period",
}
# What a dynamic shield does in a period for which no shield exists.
WHEN_INFEASIBLE = {
    "pass": "recommendations pass",
    "closest": "the smallest bound that can be kept is kept",
}
SOURCES = {
    "uniform": "recommendations equally likely, constant cost",
    "table": "a table in the specification",
    "log": "estimated from a log",
}


def property_name(bound: BoundSummary) -> str:
    """Name the fairness property in words."""
    return bound.property.replace("_", " ")


def threshold_text(bound: BoundSummary) -> str:
    """Write the threshold."""
    return exact_number(bound.threshold_exact)


def cost_text(cost: float) -> str:
    """Write a cost, with four digits that count.

    Examples
    --------
    >>> cost_text(1.00233), cost_text(0.0), cost_text(22.1107)
    ('1.002', '0', '22.11')
    """
    return f"{cost:.4g}"


def bytes_text(size: int) -> str:
    """Write an amount of memory.

    Examples
    --------
    >>> bytes_text(2_300_000), bytes_text(4_000_000_000), bytes_text(120), bytes_text(10**15)
    ('2.3 MB', '4 GB', '120 bytes', '1,000,000 GB')
    """
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            amount = size / of
            return f"{amount:,.0f} {unit}" if amount >= 1000 else f"{amount:.3g} {unit}"
    return f"{size} bytes"


def looked_at(bound: BoundSummary) -> str:
    """Say when the bias is looked at."""
    decisions = plural(bound.horizon, "decision")
    if bound.shield == "finite":
        return f"after {decisions}" if bound.after == "stop" else f"in each {decisions}"
    return f"over all decisions so far, after each period of {decisions}"


def bound_text(bound: BoundSummary) -> str:
    """Say in a phrase what is kept.

    Returns
    -------
    str
        Such as "demographic parity of female and male within 0.1".
    """
    groups = series(bound.groups) if len(bound.groups) <= 4 else plural(len(bound.groups), "group")
    subject = "the custom property" if bound.property == "custom" else property_name(bound)
    return f"{subject} of {groups} within {threshold_text(bound)}"


def rate_text(bound: BoundSummary) -> str:
    """Say what a group's rate is."""
    rates = {
        "demographic_parity": "of the people of the group who came, the share that was accepted",
        "disparate_impact": "of the people of the group who came, the share that was accepted",
        "equal_opportunity": "of the people of the group whose true label is 1, the share that "
        "was accepted",
        "predictive_equality": "of the people of the group whose true label is 0, the share that "
        "was accepted",
    }
    own = (
        f"how often {events_text(bound.numerator)} happened in the group, over how often "
        f"{events_text(bound.denominator)} did"
    )
    return rates.get(bound.property, own)


def bias_meaning(bound: BoundSummary) -> str:
    """Say what the bias is."""
    if bound.measure == "ratio":
        return "1 minus the smallest rate of a group over the largest"
    if len(bound.groups) == 2:
        return "the difference between the rates of the two groups"
    return "the largest difference between the rates of any two groups"
