"""Open boxes analysed once more, to tell which of their points are decided.

The search keeps of an open box only how much of it is proved. Analysed again with what was known
before its last analysis, exactly the same half-spaces come out, and whether a point is counted in
them can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving import Axes, BoxBounds, counted_points
from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.half_spaces import SPACES
from testsgd.certification.search.branch_and_bound import BINS, BranchAndBound, known_before


@dataclass(frozen=True)
class Reanalysis:
    """What is proved of B boxes, and where.

    `lo`, `hi`: shape (B, axes), the boxes; `bins`: shape (B,), how finely each is counted;
    `bounds`: what is proved of each, with its half-spaces. The first four of these are everybody
    above, everybody below, one above, another below; the others are assumptions, with a threshold
    of minus infinity if there is none.
    """

    axes: Axes
    lo: Floats
    hi: Floats
    bins: Floats
    bounds: BoxBounds

    def holds(self, of: NDArray[np.intp], points: Floats) -> NDArray[np.bool_]:
        """Return which half-spaces hold points of boxes `of`, shape (n, half-spaces).

        An assumption that is not made holds for everybody.
        """
        held = np.zeros((len(points), SPACES), dtype=bool)
        for space in range(SPACES):
            threshold = self.bounds.thresholds[of, space]
            held[threshold == -np.inf, space] = True
            some = np.flatnonzero(np.isfinite(threshold))
            if len(some):
                held[some, space] = counted_points(
                    self.axes,
                    self.lo[of[some]],
                    self.hi[of[some]],
                    self.bounds.forms[of[some], space],
                    threshold[some],
                    self.bins[of[some]],
                    points[some],
                )
        return held


def analyse_again(search: BranchAndBound, places: NDArray[np.intp]) -> Reanalysis:
    """Look at some open boxes again."""
    boxes, prover = search.boxes, search.prover
    lo, hi = boxes.ends(places)
    levels = boxes["level"][places].astype(np.int64)
    known = known_before(boxes["known"][places])
    bounds = prover.unseen(len(places), keep=True)
    for level in np.unique(levels):
        some = np.flatnonzero(levels == level)
        analysed = prover.analyse(
            lo[some], hi[some], bins=int(BINS[level]), known=known[some], keep=True
        )
        for name in bounds._fields:
            getattr(bounds, name)[some] = getattr(analysed, name)
    return Reanalysis(search.axes, lo, hi, BINS[levels].astype(np.float64), bounds)


def decided(held: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return who is certified and who is falsified, from the half-spaces that hold each point."""
    assumed = held[:, 4:].all(axis=1)
    return (held[:, 0] | held[:, 1]) & assumed, held[:, 2] & held[:, 3] & assumed


def decided_points(
    search: BranchAndBound, places: NDArray[np.intp], points: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which points lie in the certified and in the falsified part of their open box.

    Parameters
    ----------
    search : BranchAndBound
    places : numpy.ndarray of int, shape (n,)
        A box a point.
    points : numpy.ndarray, shape (n, axes)

    Returns
    -------
    certified, falsified : numpy.ndarray of bool, shape (n,)
    """
    unique, of = np.unique(places, return_inverse=True)
    return decided(analyse_again(search, unique).holds(of, points))
