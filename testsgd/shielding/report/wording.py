"""How a shield is worded: its parts, and what its report means."""

from __future__ import annotations

from testsgd.fairness.wording import EMPTY_GROUP_NOTES, bound_text, exact_number, rate_text
from testsgd.report.blocks import Note
from testsgd.report.formatting import MINUS, plural, series
from testsgd.shielding.report.summary import RequirementSummary, ShieldSummary, SimulationSummary

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
    "share_of_accepted": "of all who were accepted, the share that is of the group",
}


def property_name(requirement: RequirementSummary) -> str:
    """Return the name of the fairness property in words."""
    return requirement.property.replace("_", " ")


def cost_text(cost: float) -> str:
    """Return a cost as text, with four significant digits."""
    return f"{cost:.4g}"


def probability_text(probability: float) -> str:
    """Return a probability with four decimals; what is not 0 or 1 is not rounded to it."""
    if 0.9999 < probability < 1:
        return "above 0.9999"
    return "below 0.0001" if 0 < probability < 0.0001 else f"{probability:.4f}"


def loss_text(loss: float) -> str:
    """Return a loss of accuracy in percentage points as text; a gain has a minus."""
    digits = f"{100 * abs(loss):.1f}"
    return f"{MINUS}{digits}" if loss < 0 and digits != "0.0" else digits


def looked_at(requirement: RequirementSummary) -> str:
    """Return when the bias is compared with the bound, such as "after 100 decisions"."""
    decisions = plural(requirement.horizon, "decision")
    if requirement.shield == "finite":
        return f"after {decisions}" if requirement.after == "stop" else f"in each {decisions}"
    return f"over all decisions so far, after each period of {decisions}"


def requirement_text(requirement: RequirementSummary) -> str:
    """Return what is kept, such as "demographic parity of female and male within 0.1"."""
    number = len(requirement.groups)
    groups = series(requirement.groups) if number <= 4 else plural(number, "group")
    is_custom = requirement.property == "custom"
    if requirement.shares is not None:
        ranges = [
            f"{group} {exact_number(low)} to {exact_number(high)}"
            for group, (low, high) in zip(requirement.groups, requirement.shares, strict=True)
        ]
        tolerance = "" if requirement.bound == 0 else f", give or take {bound_text(requirement)}"
        return f"the shares of those accepted ({series(ranges)}){tolerance}"
    subject = "the custom property" if is_custom else property_name(requirement)
    return f"{subject} of {groups} within {bound_text(requirement)}"


def bias_definition(requirement: RequirementSummary) -> str:
    """Return the definition of the bias, when it is compared, and what is within the bound."""
    bias = "the largest difference between the rates of any two groups"
    if requirement.measure == "ratio":
        bias = "1 minus the smallest rate of a group over the largest"
    elif requirement.measure == "share":
        bias = "how far a group's share of all who are accepted lies outside of its range"
    elif len(requirement.groups) == 2:
        bias = "the difference between the rates of the two groups"
    empty = EMPTY_GROUP_NOTES[requirement.empty_group]
    if requirement.measure == "share":
        empty = "Without an accepted person there is no share, and the bias is 0."
    return (
        f"The bias is {bias}, looked at {looked_at(requirement)}. A group's rate is: "
        f"{rate_text(requirement, _RATES, 'the group')}. "
        f"{empty} At most {bound_text(requirement)} is within "
        "the bound, which is decided with whole numbers, so no rounding plays a part."
    )


def shield_notes(summary: ShieldSummary | SimulationSummary) -> tuple[Note, ...]:
    """Return the notes that explain the numbers of a synthesis or a simulation."""
    requirement = summary.requirement
    expects = "the distribution that was given"
    if summary.inputs.source == "uniform":
        often = "accept and reject are recommended equally often"
        expects = f"that {often} and that every change costs the same"
    cost = Note(
        "Cost",
        "Of all ways to keep the bound the shield takes the one of least expected cost, where it "
        f"expects {expects}. If changing a recommendation and keeping it cost the same, it is "
        "kept.",
    )
    limits = Note(
        "What a shield does not do",
        "A shield keeps one bound on one set of groups. It says nothing about groups that are not "
        "named, about other properties, or about whether a single decision is right. It changes "
        "decisions for the sake of the bound alone, some of them from right to wrong.",
    )
    runs = _runs(summary) if isinstance(summary, SimulationSummary) else ()
    return _guarantee(requirement), *runs, cost, limits


def _runs(summary: SimulationSummary) -> tuple[Note, ...]:
    """Return the notes on simulated runs and, if labels are known, on correct decisions."""
    drawn = "the distribution that the shield expects"
    if summary.logged is not None:
        drawn = "the rows of the log, each equally likely every time"
    runs = Note(
        "Runs",
        f"People are drawn from {drawn}. Each run is looked at twice: with the recommendations "
        "as they are, and with what the shield decides about the same people. The intervals "
        "for shares of runs are those of Clopper and Pearson, with 95% confidence; they are "
        "about runs drawn like this and no others.",
    )
    correct = Note(
        "Correct decisions",
        "A decision is correct if it is the true label: accept for 1, reject for 0. The loss "
        "is how much smaller the share of correct decisions is with the shield, in percentage "
        "points; a minus is a gain.",
    )
    return (runs, correct) if summary.utility is not None else (runs,)


def _guarantee(requirement: RequirementSummary) -> Note:
    """Return the note on what is guaranteed, and under which assumption."""
    rest = ", and the shield may let recommendations pass."
    if requirement.shield == "static-fair":
        rest = "; each period taken alone keeps the bound always."
    elif requirement.when_infeasible == "closest":
        rest = (
            " of this bound. If then no shield exists for a period, the smallest bound that can be "
            "kept, whoever comes, is kept in it."
        )
    text = (
        "The bound holds if this assumption does in every period: "
        f"{ASSUMPTIONS.get(requirement.shield)}. Where it does not, nothing is guaranteed{rest}"
    )
    if requirement.shield == "finite":
        text = (
            "The bound holds for every sequence of people and recommendations, not only for likely "
            "ones. A wrong distribution makes changes more expensive than they need be, and "
            "nothing else."
        )
    return Note("Guarantee", text)
