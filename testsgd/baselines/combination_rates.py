"""Rates of the favourable label when rows are given every combination of sensitive values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.coding import Points, RowCoding
from testsgd.baselines.combinations import Combinations, drawn_values
from testsgd.baselines.deadline import Deadline
from testsgd.models import Model
from testsgd.sampling import BATCH_ROWS


@dataclass(frozen=True)
class CombinationRates:
    """How the same rows fare under every combination.

    Attributes
    ----------
    rates : numpy.ndarray of float64, shape (combinations,)
        Share of the rows that get the favourable label.
    causal : float
        Share of the rows about which some two combinations are decided differently.
    rows : int
        How many rows were tried.
    """

    rates: NDArray[np.float64]
    causal: float
    rows: int

    @property
    def group(self) -> float:
        """Largest rate minus smallest."""
        return float(np.ptp(self.rates))


def combination_rates(
    model: Model,
    coding: RowCoding,
    combinations: Combinations,
    base: Callable[[int], Points],
    *,
    wanted: int,
    generator: np.random.Generator,
    deadline: Deadline,
) -> CombinationRates:
    """Give rows every combination of sensitive values and ask a model about all of them.

    A number is drawn uniformly within its bin, once for each row and bin: combinations that share a
    bin share the number, so that a row under them differs in nothing else.

    Parameters
    ----------
    model : Model
        The black box.
    coding : RowCoding
        Writes the rows.
    combinations : Combinations
        What they are given; at least one.
    base : callable
        Gives so many more rows as points; their sensitive features are replaced.
    wanted : int
        How many rows to try.
    generator : numpy.random.Generator
        Draws the numbers within bins.
    deadline : Deadline
        When to stop; a first block of rows is always tried.

    Returns
    -------
    CombinationRates
    """
    favourable = np.zeros(len(combinations), dtype=np.int64)
    done = differing = 0
    block = max(1, BATCH_ROWS // len(combinations))
    while done < wanted and not (done and deadline.passed):
        points = base(min(block, wanted - done))
        frame = coding.frame(_varied(points, coding, combinations, generator))
        decisions = model.decisions(frame).reshape(len(points), len(combinations))
        favourable += decisions.sum(axis=0)
        differing += int((decisions != decisions[:, :1]).any(axis=1).sum())
        done += len(points)
    return CombinationRates(favourable / done, differing / done, done)


def _varied(
    points: Points, coding: RowCoding, combinations: Combinations, generator: np.random.Generator
) -> Points:
    """Give every point every combination; those of the first point come first."""
    varied = np.repeat(points, len(combinations), axis=0)
    for place, axis in enumerate(combinations.axes):
        feature = coding.place(axis.feature)
        values = drawn_values(axis, coding.feature(feature), len(points), generator)
        varied[:, feature] = values[combinations.cells[:, place]].T.ravel()
    return varied
