"""From a problem to the cheapest decisions."""

from __future__ import annotations

from testsgd.shielding.synthesis.closest import closest_problem
from testsgd.shielding.synthesis.problem import (
    ShieldProblem,
    dynamic_problem,
    finite_problem,
    static_welfare_problem,
)
from testsgd.shielding.synthesis.smallest_threshold import smallest_feasible_threshold
from testsgd.shielding.synthesis.solution import Solution, Storage, predicted_bytes, solve

__all__ = [
    "ShieldProblem",
    "Solution",
    "Storage",
    "closest_problem",
    "dynamic_problem",
    "finite_problem",
    "predicted_bytes",
    "smallest_feasible_threshold",
    "solve",
    "static_welfare_problem",
]
