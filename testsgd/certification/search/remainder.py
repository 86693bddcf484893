"""The undecided region: people drawn from it, and what running the network on them says.

Nobody is drawn from the whole domain. A box is drawn in proportion to its share of the region, and
then a point of that box outside of the half-spaces in which it is certified. Everything that is
counted in a box is a set of points that can be told, so the region is exactly what the shares
leave over:

* the region that is not certified has a known measure, the falsified and the undecided share of the
  open boxes; its points are drawn, all alike;
* a point of it lies in the falsified half-spaces or not; those that do not are draws from the
  undecided region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving import Axes, Prover, counted_points
from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_REAL,
    Floats,
)
from testsgd.certification.search.best_first import BINS, BestFirst

# Draws are tried this many times a box before all of them are given up.
_ROUNDS = 200_000
# Draws at most, as a multiple of those that were asked for.
_MORE = 5
_AT_ONCE = 65536


@dataclass(frozen=True)
class Draws:
    """People drawn from the region that is not certified.

    Attributes
    ----------
    points : numpy.ndarray, shape (n, axes)
    falsified : numpy.ndarray of bool, shape (n,)
        Whether a point lies where unfairness is proved; the others are undecided.
    nodes : numpy.ndarray of int, shape (n,)
        Of the tree, of their boxes.
    measure : float
        The region's share of the domain.
    """

    points: Floats
    falsified: NDArray[np.bool_]
    nodes: NDArray[np.int64]
    measure: float


def draw_uncertified(search: BestFirst, samples: int, generator: np.random.Generator) -> Draws:
    """Draw from the region of open boxes that is not certified.

    Parameters
    ----------
    search : BestFirst
        Where it stopped.
    samples : int
        About how many draws from the undecided region there should be.
    generator : numpy.random.Generator

    Returns
    -------
    Draws
    """
    boxes, axes = search.boxes, search.axes
    left = np.clip(boxes["share"] - boxes["fair"], 0.0, None)
    measure = float(left.sum())
    undecided = float(boxes["undecided"].sum())
    if undecided <= 0 or samples == 0:
        none = np.zeros(0, dtype=np.int64)
        return Draws(np.zeros((0, len(axes.low))), none.astype(bool), none, measure)
    count = round(samples * min(measure / undecided, _MORE))
    chosen = np.repeat(np.arange(len(left)), generator.multinomial(count, left / left.sum()))
    places, of = np.unique(chosen, return_inverse=True)
    forms, thresholds = _half_spaces(search.prover, search, places)
    lo, hi = boxes["lo"][chosen], boxes["hi"][chosen]
    bins = BINS[boxes["level"][chosen].astype(np.int64)].astype(np.float64)

    def held(rows: NDArray[np.intp], points: Floats, space: int) -> NDArray[np.bool_]:
        which = of[rows]
        return counted_points(
            axes, lo[rows], hi[rows], forms[which, space], thresholds[which, space], bins[rows],
            points,
        )  # fmt: skip

    points = np.zeros_like(lo)
    waiting = np.arange(count)
    for _ in range(_ROUNDS):
        if not len(waiting):
            break
        # Several tries at once for the few that need many.
        tries = max(1, _AT_ONCE // len(waiting))
        rows = np.repeat(waiting, tries)
        drawn = draw_points(axes, lo[rows], hi[rows], generator)
        outside = ~(held(rows, drawn, 0) | held(rows, drawn, 1))
        first = np.full(count, -1)
        hits = np.flatnonzero(outside)[::-1]
        first[rows[hits]] = hits  # the first hit of each row is written last
        found = waiting[first[waiting] >= 0]
        points[found] = drawn[first[found]]
        waiting = waiting[first[waiting] < 0]
    done = np.ones(count, dtype=bool)
    done[waiting] = False
    rows = np.flatnonzero(done)
    falsified = held(rows, points[rows], 2) & held(rows, points[rows], 3)
    nodes = boxes["node"][chosen[rows]].astype(np.int64)
    return Draws(points[rows], falsified, nodes, measure)


def _half_spaces(
    prover: Prover, search: BestFirst, places: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Look at open boxes once more, as they were last looked at, and give their half-spaces."""
    boxes = search.boxes
    forms = np.zeros((len(places), 4, search.axes.width))
    thresholds = np.full((len(places), 4), np.inf)
    levels = boxes["level"][places].astype(np.int64)
    for level in np.unique(levels):
        some = np.flatnonzero(levels == level)
        lo, hi = boxes["lo"][places[some]], boxes["hi"][places[some]]
        looked = prover.look(lo, hi, bins=int(BINS[level]), keep=True)
        assert looked.forms is not None
        assert looked.thresholds is not None
        forms[some], thresholds[some] = looked.forms, looked.thresholds
    return forms, thresholds


def draw_points(
    axes: Axes, lo: Floats, hi: Floats, generator: np.random.Generator
) -> Floats:
    """Draw a point of each box, shape (n, axes), by the domain's measure."""
    points = np.empty_like(lo)
    for axis, kind in enumerate(axes.kinds):
        start, end = lo[:, axis], hi[:, axis]
        where = generator.random(len(lo))
        if kind == INTEGER:
            points[:, axis] = np.minimum(np.floor(start + where * (end - start + 1)), end)
        elif kind == REAL:
            points[:, axis] = start + where * (end - start)
        else:
            rows = slice(axes.starts[axis], axes.starts[axis + 1])
            edges, cumulative = axes.edges[rows], axes.cumulative[rows]
            if kind == WEIGHTED_REAL:
                below, upto = (np.interp(side, edges, cumulative) for side in (start, end))
                points[:, axis] = np.interp(below + where * (upto - below), cumulative, edges)
                points[:, axis] = np.clip(points[:, axis], start, end)
                continue
            shift = 0.0 if kind == CATEGORY else axes.shifts[axis]
            below = cumulative[(start - shift).astype(np.intp)]
            upto = cumulative[(end + 1 - shift).astype(np.intp)]
            place = np.searchsorted(cumulative, below + where * (upto - below), side="right") - 1
            points[:, axis] = np.clip(place + shift, start, end)
    return points
