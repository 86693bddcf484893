"""Run-time shields: decisions are changed as little as possible so that a bound is kept.

A :class:`ShieldSpecification` says what is to be kept and what is expected, :func:`solve` finds the
cheapest decisions, and a :class:`Shield` makes them. :func:`simulate` shows what they do.
"""

from testsgd.fairness import (
    NAMED_PROPERTIES,
    EmptyGroup,
    FairnessProperty,
    Measure,
    bias,
    property_from_events,
)
from testsgd.shielding.inputs import InputDistribution, InputLog, read_log
from testsgd.shielding.requirement import (
    After,
    Balanced,
    BiasAtMost,
    Provided,
    Requirement,
    SmallSteps,
    WelfareWithin,
)
from testsgd.shielding.running import (
    PeriodReport,
    SavedShield,
    Shield,
    infeasible,
    period_problem,
    read_shield,
    write_shield,
)
from testsgd.shielding.simulation import Events, Simulation, replay_events, simulate
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import (
    ShieldProblem,
    Solution,
    Storage,
    dynamic_problem,
    finite_problem,
    predicted_bytes,
    smallest_feasible_threshold,
    solve,
    static_welfare_problem,
)

__all__ = [
    "NAMED_PROPERTIES",
    "After",
    "Balanced",
    "BiasAtMost",
    "EmptyGroup",
    "Events",
    "FairnessProperty",
    "InputDistribution",
    "InputLog",
    "Measure",
    "PeriodReport",
    "Provided",
    "Requirement",
    "SavedShield",
    "Shield",
    "ShieldProblem",
    "ShieldSpecification",
    "Simulation",
    "SmallSteps",
    "Solution",
    "Storage",
    "WelfareWithin",
    "bias",
    "dynamic_problem",
    "finite_problem",
    "infeasible",
    "period_problem",
    "predicted_bytes",
    "property_from_events",
    "read_log",
    "read_shield",
    "replay_events",
    "simulate",
    "smallest_feasible_threshold",
    "solve",
    "static_welfare_problem",
    "write_shield",
]
