"""A shield at run time: decisions, labels, periods, the journal and the file."""

from __future__ import annotations

from testsgd.shielding.running.assumptions import assumption_of
from testsgd.shielding.running.period_policy import infeasible
from testsgd.shielding.running.periods import (
    PeriodReport,
    most_periods,
    period_problem,
    period_solution,
)
from testsgd.shielding.running.shield import Shield
from testsgd.shielding.running.shield_file import SavedShield, read_shield, write_shield

__all__ = [
    "PeriodReport",
    "SavedShield",
    "Shield",
    "assumption_of",
    "infeasible",
    "most_periods",
    "period_problem",
    "period_solution",
    "read_shield",
    "write_shield",
]
