"""Whose decision changes if nothing but sensitive features change, among the people of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.coding import Points, RowCoding
from testsgd.baselines.deadline import Deadline
from testsgd.models import Model
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True)
class Flips:
    """Whose decision another combination of sensitive values changes.

    Attributes
    ----------
    changed : numpy.ndarray of bool, shape (people,)
        Whether some combination that was tried changes it.
    tried : int
        Combinations that were tried.
    queries : int
        Rows the model was asked about.
    """

    changed: NDArray[np.bool_]
    tried: int
    queries: int

    @property
    def share(self) -> float:
        """Share of the people whose decision changes."""
        return float(self.changed.mean())


def find_flips(
    model: Model,
    coding: RowCoding,
    points: Points,
    decisions: NDArray[np.bool_],
    places: NDArray[np.intp],
    values: Points,
    deadline: Deadline,
) -> Flips:
    """Put other values into some features of every person, and see whose decision changes.

    Parameters
    ----------
    model : Model
        The black box.
    coding : RowCoding
        Of the people's table.
    points : numpy.ndarray of float64, shape (people, features)
        The people.
    decisions : numpy.ndarray of bool, shape (people,)
        What the model decides about them.
    places : numpy.ndarray of int
        The features that change.
    values : numpy.ndarray of float64, shape (combinations, len(places))
        What they change to.
    deadline : Deadline
        When to stop; at least one combination is tried.

    Returns
    -------
    Flips
    """
    changed = np.zeros(len(points), dtype=bool)
    tried = queries = 0
    for combination in values:
        if tried and deadline.passed:
            break
        # Who is known to be affected need not be asked about again.
        left = np.flatnonzero(~changed)
        for start in range(0, len(left), BATCH_ROWS):
            rows = left[start : start + BATCH_ROWS]
            varied = points[rows]
            varied[:, places] = combination
            changed[rows] = model.decisions(coding.frame(varied)) != decisions[rows]
            queries += len(rows)
        tried += 1
    return Flips(changed, tried, queries)
