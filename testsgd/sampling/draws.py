"""Random draws from the perturbation neighbourhood of some rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.models import Model
from testsgd.sampling.perturbation import moved

# Drawn rows predicted at once.
BATCH_ROWS = 1 << 16


@dataclass(frozen=True)
class Draws:
    """Which neighbours were drawn.

    Attributes
    ----------
    rows : numpy.ndarray of int64, shape (m,)
        The seed row of each draw.
    features : numpy.ndarray of int64, shape (m,)
        Which of the features that are not sensitive is moved.
    directions : numpy.ndarray of int64, shape (m,)
        1 for up, -1 for down.
    """

    rows: NDArray[np.int64]
    features: NDArray[np.int64]
    directions: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)


def draw(
    generator: np.random.Generator, candidates: NDArray[np.intp] | int, features: int, count: int
) -> Draws:
    """Draw seed rows, features and directions, each uniformly and independently.

    Parameters
    ----------
    generator : numpy.random.Generator
        The source of randomness.
    candidates : numpy.ndarray of int, or int
        The rows that may be a seed; a number n stands for all of 0, ..., n - 1.
    features : int
        How many features may be moved.
    count : int
        How many draws.

    Returns
    -------
    Draws
    """
    if isinstance(candidates, int):
        rows = generator.integers(0, candidates, count)
    else:
        rows = candidates[generator.integers(0, len(candidates), count)].astype(np.int64)
    moved_features = generator.integers(0, max(features, 1), count)
    directions = 2 * generator.integers(0, 2, count) - 1
    return Draws(rows, moved_features, directions)


def drawn_frame(table: Table, draws: Draws) -> pd.DataFrame:
    """Build the drawn neighbours as rows of a data frame."""
    return drawn_neighbours(table, draws)[0]


def drawn_neighbours(table: Table, draws: Draws) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Build the drawn neighbours, and say which of them differ from their seed rows.

    Parameters
    ----------
    table : Table
        The rows; never changed.
    draws : Draws
        Which neighbours.

    Returns
    -------
    frame : pandas.DataFrame
        One row a draw.
    changed : numpy.ndarray of bool, shape (m,)
        False where the move would leave the domain, or the cell is missing.
    """
    frame = table.frame.iloc[draws.rows].reset_index(drop=True)
    columns = {}
    changed = np.zeros(len(draws), dtype=bool)
    for place, name in enumerate(table.specification.insensitive):
        chosen = draws.features == place
        if not chosen.any():
            continue
        # Where the feature is not the one drawn, the direction is 0: the cell stays.
        directions = np.where(chosen, draws.directions, 0)
        feature = table.specification.features[name]
        columns[name], moved_here = moved(frame[name], feature, name, directions)
        changed |= moved_here
    return frame.assign(**columns), changed


def decide_draws(model: Model, table: Table, draws: Draws) -> NDArray[np.bool_]:
    """Ask a model about drawn neighbours, in batches.

    Returns
    -------
    numpy.ndarray of bool, shape (m,)
        Which draws get the favourable label.
    """
    decisions = np.zeros(len(draws), dtype=bool)
    for start in range(0, len(draws), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        batch = Draws(draws.rows[part], draws.features[part], draws.directions[part])
        decisions[part] = model.decisions(drawn_frame(table, batch))
    return decisions
