"""Particulars of a shield and of a simulation, as facts with names."""

from __future__ import annotations

from testsgd.report.formatting import count, moment, number, plural, seconds, series, share
from testsgd.reporting.bias_words import events_text
from testsgd.reporting.particulars import Section, section
from testsgd.reporting.shielding.parts import BoundSummary
from testsgd.reporting.shielding.phrases import (
    ASSUMPTIONS,
    KIND_NAMES,
    SOURCES,
    WHEN_INFEASIBLE,
    bytes_text,
    cost_text,
    property_name,
    threshold_text,
)
from testsgd.reporting.shielding.simulation_summary import SimulationSummary
from testsgd.reporting.shielding.summary import ShieldSummary

_STORAGE = {
    "whole": "all decisions",
    "windows": "some layers of values; the decisions between are found again when needed",
}


def shield_particulars(summary: ShieldSummary) -> tuple[Section, ...]:
    """List the particulars of a shield and of its synthesis."""
    made = summary.synthesis
    size = "" if made.stored_bytes is None else bytes_text(made.stored_bytes)
    return (
        _bound_section(summary.bound),
        section(
            "Synthesis",
            ("Written", moment(summary.created)),
            ("Expected cost", cost_text(made.expected_cost)),
            ("Inputs", SOURCES[summary.inputs.source]),
            ("Memory, as predicted", bytes_text(made.predicted_bytes)),
            ("Time", seconds(made.seconds)),
            ("Stored", _STORAGE[made.storage]),
            ("Size of the file", size),
            ("Specification (sha256)", summary.digest),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )


def simulation_particulars(summary: SimulationSummary) -> tuple[Section, ...]:
    """List the particulars of the shield and of the simulation."""
    asked = summary.settings
    drawn = "from the distribution that the shield expects"
    if asked.logged is not None:
        drawn = f"from the {plural(asked.logged, 'row')} of a log, with replacement"
    return (
        _bound_section(summary.bound),
        section(
            "Simulation",
            ("Written", moment(summary.created)),
            ("Runs", count(asked.runs)),
            ("Periods of a run", count(asked.periods)),
            ("People are drawn", drawn),
            ("The shield expects", SOURCES[summary.inputs.source]),
            ("Seed", str(asked.random_state)),
            ("Gate: runs above at most", "" if asked.max_above is None else share(asked.max_above)),
            ("Time", seconds(summary.seconds)),
            *((f"Version: {name}", version) for name, version in summary.versions.items()),
        ),
    )


def _bound_section(bound: BoundSummary) -> Section:
    empty = "left out of the comparison" if bound.empty_group == "vacuous" else "has rate 0"
    welfare = "" if bound.welfare is None else " to ".join(number(end) for end in bound.welfare)
    once = bound.shield == "finite" and bound.after == "stop"
    return section(
        "Shield",
        ("Name", bound.name),
        ("Property", property_name(bound)),
        ("Numerator of a rate counts", events_text(bound.numerator)),
        ("Denominator counts", events_text(bound.denominator)),
        ("Threshold", threshold_text(bound)),
        ("A group without a rate", f"is {empty}" if empty.startswith("left") else empty),
        ("Groups", series(bound.groups)),
        ("Other groups", "refused" if bound.unknown == "refuse" else "passed through"),
        ("Kind", KIND_NAMES[bound.shield]),
        ("Horizon" if once else "Period", plural(bound.horizon, "decision")),
        ("Periods at most", "" if bound.periods is None else count(bound.periods)),
        ("Welfare bounds", welfare),
        ("Assumption", ASSUMPTIONS.get(bound.shield, "")),
        ("If no shield exists for a period", WHEN_INFEASIBLE.get(bound.when_infeasible or "", "")),
    )
