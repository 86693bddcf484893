"""What the numbers of a shield's reports mean, and what they do not."""

from __future__ import annotations

from testsgd.report.blocks import Note
from testsgd.reporting.shielding.parts import BoundSummary, InputsSummary
from testsgd.reporting.shielding.phrases import (
    ASSUMPTIONS,
    bias_meaning,
    looked_at,
    rate_text,
    threshold_text,
)
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import ShieldSummary


def shield_notes(summary: ShieldSummary) -> tuple[Note, ...]:
    """Explain the numbers of a synthesis."""
    return (
        *_bias_notes(summary.bound),
        _guarantee(summary.bound),
        _cost(summary.inputs),
        Note("What a shield does not do", _LIMITS),
    )


def simulation_notes(summary: SimulationSummary) -> tuple[Note, ...]:
    """Explain the numbers of a simulation."""
    drawn = "the distribution that the shield expects"
    if summary.settings.logged is not None:
        drawn = "the rows of the log, each equally likely every time"
    return (
        *_bias_notes(summary.bound),
        _guarantee(summary.bound),
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


_LIMITS = (
    "A shield keeps one bound on one set of groups. It says nothing about groups that are not "
    "named, about other properties, or about whether a single decision is right. It changes "
    "decisions for the sake of the bound alone, some of them from right to wrong."
)


def _bias_notes(bound: BoundSummary) -> tuple[Note, ...]:
    empty = (
        "A group that has no rate yet is left out of the comparison."
        if bound.empty_group == "vacuous"
        else "A group that has no rate yet counts as one with rate 0."
    )
    return (
        Note(
            "Bias",
            f"The rate of a group is: {rate_text(bound)}. The bias is {bias_meaning(bound)}. It is "
            f"looked at {looked_at(bound)}. {empty}",
        ),
        Note(
            "Threshold",
            f"A bias of exactly {threshold_text(bound)} is within the threshold. Whether it is, is "
            "decided with whole numbers, so no rounding plays a part.",
        ),
    )


def _guarantee(bound: BoundSummary) -> Note:
    if bound.shield == "finite":
        return Note(
            "Guarantee",
            "The bound holds for every sequence of people and recommendations, not only for likely "
            "ones. A wrong distribution makes changes more expensive than they need be, and "
            "nothing else.",
        )
    text = (
        f"The bound holds if this assumption does in every period: {ASSUMPTIONS[bound.shield]}. "
        "Where it does not, nothing is guaranteed"
    )
    if bound.shield == "static-fair":
        return Note("Guarantee", f"{text}; each period taken alone keeps the bound always.")
    if bound.when_infeasible == "closest":
        return Note(
            "Guarantee",
            f"{text} of this bound. If then no shield exists for a period, the smallest bound that "
            "can be kept, whoever comes, is kept in it.",
        )
    return Note("Guarantee", f"{text}, and the shield may let recommendations pass.")


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
