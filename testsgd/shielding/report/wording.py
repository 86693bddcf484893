"""How a shield is worded: its parts, and what its report means."""

from __future__ import annotations

from testsgd.fairness.wording import EMPTY_GROUP_NOTES, bound_text, events_text
from testsgd.report.blocks import Note
from testsgd.report.formatting import plural, series
from testsgd.shielding.report.summary import (
    InputsSummary,
    RequirementSummary,
    ShieldSummary,
    SimulationSummary,
)

STATUS_NAMES = {
    "synthesised": "Synthesised",
    "guarantee_kept": "Guarantee kept",
    "guarantee_broken": "Guarantee broken",
    "gate_failed": "Too many runs above the bound",
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
_ACCEPTED = "of the people of the group {}, the share that was accepted"
_RATES = {
    "demographic_parity": _ACCEPTED.format("who came"),
    "disparate_impact": _ACCEPTED.format("who came"),
    "equal_opportunity": _ACCEPTED.format("whose true label is 1"),
    "predictive_equality": _ACCEPTED.format("whose true label is 0"),
}
_LIMITS = (
    "A shield keeps one bound on one set of groups. It says nothing about groups that are not "
    "named, about other properties, or about whether a single decision is right. It changes "
    "decisions for the sake of the bound alone, some of them from right to wrong."
)


def property_name(requirement: RequirementSummary) -> str:
    """Name the fairness property in words."""
    return requirement.property.replace("_", " ")


def cost_text(cost: float) -> str:
    """Write a cost, with four digits that count.

    >>> cost_text(1.00233), cost_text(0.0), cost_text(22.1107)
    ('1.002', '0', '22.11')
    """
    return f"{cost:.4g}"


def bytes_text(size: int) -> str:
    """Write an amount of memory.

    >>> bytes_text(2_300_000), bytes_text(4_000_000_000), bytes_text(120), bytes_text(10**15)
    ('2.3 MB', '4 GB', '120 bytes', '1,000,000 GB')
    """
    for unit, of in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= of:
            amount = size / of
            return f"{amount:,.0f} {unit}" if amount >= 1000 else f"{amount:.3g} {unit}"
    return f"{size} bytes"


def looked_at(requirement: RequirementSummary) -> str:
    """Describe when the bias is looked at."""
    decisions = plural(requirement.horizon, "decision")
    if requirement.shield == "finite":
        return f"after {decisions}" if requirement.after == "stop" else f"in each {decisions}"
    return f"over all decisions so far, after each period of {decisions}"


def requirement_text(requirement: RequirementSummary) -> str:
    """Return what is kept, such as "demographic parity of female and male within 0.1"."""
    groups = (
        series(requirement.groups)
        if len(requirement.groups) <= 4
        else plural(len(requirement.groups), "group")
    )
    subject = (
        "the custom property" if requirement.property == "custom" else property_name(requirement)
    )
    return f"{subject} of {groups} within {bound_text(requirement)}"


def rate_text(requirement: RequirementSummary) -> str:
    """Describe what a group's rate is."""
    own = (
        f"how often {events_text(requirement.numerator)} happened in the group, over how often "
        f"{events_text(requirement.denominator)} did"
    )
    return _RATES.get(requirement.property, own)


def bias_meaning(requirement: RequirementSummary) -> str:
    """Describe what the bias is."""
    if requirement.measure == "ratio":
        return "1 minus the smallest rate of a group over the largest"
    if len(requirement.groups) == 2:
        return "the difference between the rates of the two groups"
    return "the largest difference between the rates of any two groups"


def shield_notes(summary: ShieldSummary) -> tuple[Note, ...]:
    """Explain the numbers of a synthesis."""
    return (
        *_bias_notes(summary.requirement),
        _guarantee(summary.requirement),
        _cost(summary.inputs),
        Note("What a shield does not do", _LIMITS),
    )


def simulation_notes(summary: SimulationSummary) -> tuple[Note, ...]:
    """Explain the numbers of a simulation."""
    drawn = "the distribution that the shield expects"
    if summary.logged is not None:
        drawn = "the rows of the log, each equally likely every time"
    return (
        *_bias_notes(summary.requirement),
        _guarantee(summary.requirement),
        Note(
            "Runs",
            f"People are drawn from {drawn}. Each run is looked at twice: with the recommendations "
            "as they are, and with what the shield decides about the same people. The intervals "
            "for shares of runs are those of Clopper and Pearson, with 95% confidence; they are "
            "about runs drawn like this and no others.",
        ),
        _cost(summary.inputs),
        *_utility(summary),
        Note("What a shield does not do", _LIMITS),
    )


def _bias_notes(requirement: RequirementSummary) -> tuple[Note, ...]:
    return (
        Note(
            "Bias",
            f"The rate of a group is: {rate_text(requirement)}. The bias is "
            f"{bias_meaning(requirement)}. It is looked at "
            f"{looked_at(requirement)}. {EMPTY_GROUP_NOTES[requirement.empty_group]}",
        ),
        Note(
            "Bound",
            f"A bias of exactly {bound_text(requirement)} is within the bound. Whether it is, is "
            "decided with whole numbers, so no rounding plays a part.",
        ),
    )


def _guarantee(requirement: RequirementSummary) -> Note:
    if requirement.shield == "finite":
        return Note(
            "Guarantee",
            "The bound holds for every sequence of people and recommendations, not only for likely "
            "ones. A wrong distribution makes changes more expensive than they need be, and "
            "nothing else.",
        )
    rest = ", and the shield may let recommendations pass."
    if requirement.shield == "static-fair":
        rest = "; each period taken alone keeps the bound always."
    elif requirement.when_infeasible == "closest":
        rest = (
            " of this bound. If then no shield exists for a period, the smallest bound that can be "
            "kept, whoever comes, is kept in it."
        )
    return Note(
        "Guarantee",
        "The bound holds if this assumption does in every period: "
        f"{ASSUMPTIONS[requirement.shield]}. Where it does not, nothing is guaranteed{rest}",
    )


def _cost(inputs: InputsSummary) -> Note:
    expects = (
        "that accept and reject are recommended equally often and that every change costs the same"
        if inputs.source == "uniform"
        else "the distribution that was given"
    )
    return Note(
        "Cost",
        f"Of all ways to keep the bound the shield takes the one of least expected cost, where it "
        f"expects {expects}. If changing a recommendation and keeping it cost the same, it is "
        "kept.",
    )


def _utility(summary: SimulationSummary) -> tuple[Note, ...]:
    if summary.utility is None:
        return ()
    return (
        Note(
            "Correct decisions",
            "A decision is correct if it is the true label: accept for 1, reject for 0. The loss "
            "is how much smaller the share of correct decisions is with the shield, in percentage "
            "points; a minus is a gain.",
        ),
    )
