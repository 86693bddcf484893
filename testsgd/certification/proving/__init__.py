"""Proofs on boxes: bounds of a network's sums that hold for everybody in a box."""

from testsgd.certification.proving.axes import Axes
from testsgd.certification.proving.counting import (
    RoundedHalfSpace,
    counted_points,
    round_half_space,
)
from testsgd.certification.proving.problem import Problem, build_problem
from testsgd.certification.proving.prover import Looked, Prover

__all__ = [
    "Axes",
    "Looked",
    "Problem",
    "Prover",
    "RoundedHalfSpace",
    "build_problem",
    "counted_points",
    "round_half_space",
]
