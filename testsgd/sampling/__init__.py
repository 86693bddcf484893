"""Sampling: variants of real people and real texts, all of them or at random."""

from testsgd.sampling.draws import Draws, decide_draws, draw, drawn_frame
from testsgd.sampling.neighbourhood import (
    Neighbourhood,
    explore_neighbourhood,
    neighbourhood_size,
)
from testsgd.sampling.perturbation import DECIMAL_STEP, moved, perturbation_step
from testsgd.sampling.text import Replacer

__all__ = [
    "DECIMAL_STEP",
    "Draws",
    "Neighbourhood",
    "Replacer",
    "decide_draws",
    "draw",
    "drawn_frame",
    "explore_neighbourhood",
    "moved",
    "neighbourhood_size",
    "perturbation_step",
]
