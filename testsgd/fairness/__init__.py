"""What is fair: counters of groups, their rates, and how far they are apart; in whole numbers."""

from __future__ import annotations

from testsgd.fairness.groups import checked_groups
from testsgd.fairness.property import (
    NAMED_PROPERTIES,
    Counts,
    EmptyGroup,
    FairnessProperty,
    Measure,
    bias,
    bias_at_most,
    property_from_events,
    whole_numbers,
)
from testsgd.fairness.specified import FairnessPart, GroupNames, PropertyName, PropertyTable

__all__ = [
    "NAMED_PROPERTIES",
    "Counts",
    "EmptyGroup",
    "FairnessPart",
    "FairnessProperty",
    "GroupNames",
    "Measure",
    "PropertyName",
    "PropertyTable",
    "bias",
    "bias_at_most",
    "checked_groups",
    "property_from_events",
    "whole_numbers",
]
