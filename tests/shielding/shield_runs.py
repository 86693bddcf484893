"""Small shields, and what a trace's bias is, worked out from the trace alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from testsgd.shielding.running import Shield
from testsgd.shielding.specification import ShieldSpecification

LABELLED = ("equal_opportunity", "predictive_equality", "custom")
ALL = ("demographic_parity", "disparate_impact", *LABELLED)
# Precision: how many of the accepted have label 1. It cannot be kept by rejecting alone.
CUSTOM = {"numerator": ["accept:1"], "denominator": ["accept:1", "accept:0"]}


def specification(
    *,
    property: str = "demographic_parity",  # noqa: A002
    bound: str = "1/10",
    empty_group: str = "vacuous",
    names: tuple[str, ...] = ("a", "b"),
    unknown: str = "refuse",
    inputs: dict[str, Any] | None = None,
    **horizon: Any,
) -> ShieldSpecification:
    """Specify a shield, of ten decisions if nothing else is said."""
    fairness = {"property": property, "bound": bound, "empty_group": empty_group}
    if property == "custom":
        fairness |= CUSTOM
    return ShieldSpecification.from_dict(
        {
            "fairness": fairness,
            "groups": {"names": list(names), "unknown": unknown},
            "horizon": {"length": 10, **horizon},
            "inputs": inputs or {},
        }
    )


@dataclass(frozen=True)
class Step:
    """One person: who, what was decided, and the true label."""

    group: str
    decision: int
    label: int = 0


def trace_bias(trace: list[Step], shield: Shield) -> Fraction:
    """Compute the bias of a trace by counting people."""
    fairness = shield.specification.fairness
    rates = []
    for name in shield.inputs.groups:
        people = [step for step in trace if step.group == name]
        if fairness.property == "equal_opportunity":
            people = [step for step in people if step.label == 1]
        elif fairness.property == "predictive_equality":
            people = [step for step in people if step.label == 0]
        elif fairness.property == "custom":
            people = [step for step in people if step.decision == 1]
        if fairness.property == "custom":
            hits = sum(step.label for step in people)
        else:
            hits = sum(step.decision for step in people)
        if people:
            rates.append(Fraction(hits, len(people)))
        elif fairness.empty_group == "zero":
            rates.append(Fraction(0))
    if len(rates) < 2:
        return Fraction(0)
    if fairness.property == "disparate_impact":
        return 1 - min(rates) / max(rates) if max(rates) else Fraction(0)
    return max(rates) - min(rates)
