"""Sampling: variants of real people, all of them or at random."""

from testsgd.sampling.draws import Draws, decide_draws, draw, drawn_frame
from testsgd.sampling.neighbourhood import (
    Neighbourhood,
    explore_neighbourhood,
    neighbourhood_size,
)
from testsgd.sampling.perturbation import DECIMAL_STEP, moved, perturbation_step

__all__ = [
    "DECIMAL_STEP",
    "Draws",
    "Neighbourhood",
    "decide_draws",
    "draw",
    "drawn_frame",
    "explore_neighbourhood",
    "moved",
    "neighbourhood_size",
    "perturbation_step",
]
