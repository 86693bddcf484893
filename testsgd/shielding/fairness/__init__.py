"""What is fair: counters, rates, the bias, and what must hold at the end; in whole numbers."""

from __future__ import annotations

from testsgd.shielding.fairness.property import (
    NAMED_PROPERTIES,
    EmptyGroup,
    FairnessProperty,
    Measure,
    bias,
    bias_at_most,
    property_from_events,
    whole_numbers,
)
from testsgd.shielding.fairness.requirement import (
    After,
    Balanced,
    BiasAtMost,
    Provided,
    Requirement,
    SmallSteps,
    WelfareWithin,
)

__all__ = [
    "NAMED_PROPERTIES",
    "After",
    "Balanced",
    "BiasAtMost",
    "EmptyGroup",
    "FairnessProperty",
    "Measure",
    "Provided",
    "Requirement",
    "SmallSteps",
    "WelfareWithin",
    "bias",
    "bias_at_most",
    "property_from_events",
    "whole_numbers",
]
