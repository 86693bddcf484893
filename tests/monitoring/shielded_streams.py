"""Small shields, the monitors that watch their periods, and biases counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from testsgd.errors import InfeasibleShieldError
from testsgd.monitoring import Monitor, MonitorSpecification
from testsgd.shielding import Shield, ShieldSpecification

LABELLED = ("equal_opportunity", "predictive_equality", "precision")
PROPERTIES: dict[str, dict[str, Any]] = {
    "demographic_parity": {"property": "demographic_parity"},
    "disparate_impact": {"property": "disparate_impact"},
    "equal_opportunity": {"property": "equal_opportunity"},
    "predictive_equality": {"property": "predictive_equality"},
    "precision": {
        "property": "custom",
        "numerator": ["accept:1"],
        "denominator": ["accept:1", "accept:0"],
    },
    "odds": {"property": "custom", "numerator": ["accept"], "denominator": ["reject"]},
}


@dataclass(frozen=True)
class Person:
    """Who comes, what is recommended at what cost, and the true label."""

    group: str
    recommendation: int
    cost: float = 1.0
    label: int = 0


@dataclass(frozen=True)
class Decided:
    """What became of a person."""

    group: str
    decision: int
    label: int


def shield_of(document: dict[str, Any], **keys: Any) -> Shield:
    """The shield, or, where none exists, that of the smallest bound there is."""
    wanted = ShieldSpecification.from_dict(document)
    try:
        return Shield.synthesize(wanted, **keys)
    except InfeasibleShieldError as error:
        smallest = str(error.details["smallest_bound"])
        return Shield.synthesize(wanted.with_changes(bound=smallest), **keys)


def shield_document(
    name: str,
    *,
    bound: str = "1/4",
    empty_group: str = "vacuous",
    groups: Sequence[str] = ("a", "b"),
    length: int = 5,
    costs: Sequence[float] = (),
) -> dict[str, Any]:
    """A shield of a finite horizon, which begins again when it is over."""
    cells = [(group, bit, cost) for group in groups for bit in (0, 1) for cost in costs]
    table = [
        {
            "group": group,
            "recommendation": bit,
            "cost": cost,
            "probability": 1 / len(cells),
            **({"label_probability": 0.5} if name in LABELLED else {}),
        }
        for group, bit, cost in cells
    ]
    return {
        "fairness": PROPERTIES[name] | {"bound": bound, "empty_group": empty_group},
        "groups": {"names": list(groups), "unknown": "pass"},
        "horizon": {"length": length, "after": "next"},
        "inputs": {"table": table} if table else {},
    }


def monitor_of_periods(shield: Shield, **tables: Any) -> Monitor:
    """A monitor that judges each horizon of a shield when it ends."""
    fairness = shield.specification.fairness.model_dump(
        mode="json",
        include={"property", "numerator", "denominator", "empty_group", "measure"},
        exclude_none=True,
        exclude_defaults=True,
    )
    document = {
        "groups": {"names": list(shield.inputs.groups), "unknown": "pass"},
        "window": {"kind": "tumbling", "length": shield.specification.horizon.length},
        "properties": [
            fairness
            | {"bound": str(shield.specification.bound), "rule": "estimate", "check": "end"}
        ],
        **tables,
    }
    return Monitor(MonitorSpecification.from_dict(document))


def bias_of(trace: Sequence[Decided], name: str, groups: Sequence[str], empty: str) -> Fraction:
    """Count people, and nothing else."""
    rates = []
    for group in groups:
        people = [one for one in trace if one.group == group]
        hits = [one for one in people if one.decision == 1]
        if name == "equal_opportunity":
            people = [one for one in people if one.label == 1]
            hits = [one for one in people if one.decision == 1]
        elif name == "predictive_equality":
            people = [one for one in people if one.label == 0]
            hits = [one for one in people if one.decision == 1]
        elif name == "precision":
            people, hits = hits, [one for one in hits if one.label == 1]
        elif name == "odds":
            people = [one for one in people if one.decision == 0]
        if people:
            rates.append(Fraction(len(hits), len(people)))
        elif empty == "zero":
            rates.append(Fraction(0))
    if len(rates) < 2 or max(rates) == 0:
        return Fraction(0)
    if name == "disparate_impact":
        return 1 - min(rates) / max(rates)
    return max(rates) - min(rates)
