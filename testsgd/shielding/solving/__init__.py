"""Finding the cheapest decisions: states, backward induction, stored decisions."""

from __future__ import annotations

from testsgd.shielding.solving.backward import NEVER, Transitions, induct
from testsgd.shielding.solving.lattice import CounterLattice
from testsgd.shielding.solving.policy import Policy
from testsgd.shielding.solving.windows import WindowedPolicy, window_width
from testsgd.shielding.solving.worst_case import worst_case

__all__ = [
    "NEVER",
    "CounterLattice",
    "Policy",
    "Transitions",
    "WindowedPolicy",
    "induct",
    "window_width",
    "worst_case",
]
