"""Sampling: variants of real people and real texts, all of them or at random."""

from testsgd.sampling.draws import (
    BATCH_ROWS,
    Draws,
    decide_draws,
    draw,
    drawn_frame,
    drawn_neighbours,
)
from testsgd.sampling.neighbourhood import (
    Neighbourhood,
    explore_neighbourhood,
    neighbourhood_size,
)
from testsgd.sampling.perturbation import DECIMAL_STEP, moved, perturbation_step
from testsgd.sampling.text import Replacer

__all__ = [
    "BATCH_ROWS",
    "DECIMAL_STEP",
    "Draws",
    "Neighbourhood",
    "Replacer",
    "decide_draws",
    "draw",
    "drawn_frame",
    "drawn_neighbours",
    "explore_neighbourhood",
    "moved",
    "neighbourhood_size",
    "perturbation_step",
]
