"""The undecided region: people drawn from it, and what running the network on them says.

Nobody is drawn from boxes that are decided as a whole. An open box is drawn in proportion to its
share, and then a point of it; so all points are drawn alike, from a region whose share is known. A
point's place says whether it is certified, falsified or undecided: what is counted in a box is a
set of points that can be told. Those that are undecided are draws, all alike, from the undecided
region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving import Axes, counted_points
from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_REAL,
    Floats,
)
from testsgd.certification.search.best_first import BINS, BestFirst

# Draws at most, as a multiple of those that were asked for.
_MORE = 16
_AT_ONCE = 8192


@dataclass(frozen=True)
class Draws:
    """People drawn from the open boxes.

    Attributes
    ----------
    points : numpy.ndarray, shape (n, axes)
        Those that are not certified.
    falsified : numpy.ndarray of bool, shape (n,)
        Whether a point lies where unfairness is proved; the others are undecided.
    nodes : numpy.ndarray of int, shape (n,)
        Of the tree, of their boxes.
    tries : int
        How many were drawn, those that are certified included.
    measure : float
        Share of the domain that they were drawn from.
    """

    points: Floats
    falsified: NDArray[np.bool_]
    nodes: NDArray[np.int64]
    tries: int
    measure: float


def draw_open(search: BestFirst, samples: int, generator: np.random.Generator) -> Draws:
    """Draw from the open boxes.

    Parameters
    ----------
    search : BestFirst
        Where it stopped.
    samples : int
        About how many draws from the undecided region there should be; there are fewer if it is a
        small part of the open boxes.
    generator : numpy.random.Generator

    Returns
    -------
    Draws
    """
    boxes, axes = search.boxes, search.axes
    share = boxes["share"]
    measure = float(share.sum())
    undecided = float(boxes["undecided"].sum())
    tries = 0
    if undecided > 0 and samples > 0:
        tries = round(samples * min(measure / undecided, _MORE))
    chosen = np.zeros(0, dtype=np.intp)
    if tries:
        chosen = np.repeat(np.arange(len(share)), generator.multinomial(tries, share / measure))
    points, falsified, nodes = [np.zeros((0, len(axes.low)))], [chosen[:0] > 0], [chosen[:0]]
    for start in range(0, len(chosen), _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        lo, hi = boxes.ends(some)
        drawn = draw_points(axes, lo, hi, generator)
        certified, unfair = decided_points(search, some, drawn)
        left = ~certified
        points.append(drawn[left])
        falsified.append(unfair[left])
        nodes.append(boxes["node"][some][left].astype(np.intp))
    return Draws(
        np.concatenate(points),
        np.concatenate(falsified),
        np.concatenate(nodes).astype(np.int64),
        len(chosen),
        measure,
    )


def decided_points(
    search: BestFirst, places: NDArray[np.intp], points: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which points lie in the certified and in the falsified part of their open box.

    Parameters
    ----------
    search : BestFirst
    places : numpy.ndarray of int, shape (n,), ascending
        A box a point.
    points : numpy.ndarray, shape (n, axes)

    Returns
    -------
    certified, falsified : numpy.ndarray of bool, shape (n,)
    """
    boxes = search.boxes
    unique, of = np.unique(places, return_inverse=True)
    certified = np.zeros(len(places), dtype=bool)
    falsified = np.zeros(len(places), dtype=bool)
    levels = boxes["level"][unique].astype(np.int64)
    for level in np.unique(levels):
        some = np.flatnonzero(levels == level)
        lo, hi = boxes.ends(unique[some])
        known = boxes["known"][unique[some]].astype(np.int8)
        # As the boxes were last looked at, so that the same half-spaces come out.
        looked = search.prover.look(lo, hi, bins=int(BINS[level]), known=known, keep=True)
        assert looked.forms is not None
        assert looked.thresholds is not None
        rows = np.flatnonzero(levels[of] == level)
        which = np.searchsorted(some, of[rows])
        held = [
            counted_points(
                search.axes,
                lo[which],
                hi[which],
                looked.forms[which, space],
                looked.thresholds[which, space],
                np.full(len(rows), float(BINS[level])),
                points[rows],
            )
            for space in range(4)
        ]
        assumed = np.ones(len(rows), dtype=bool)
        for space in range(4, looked.forms.shape[1]):
            made = np.flatnonzero(looked.thresholds[which, space] > -np.inf)
            if not len(made):
                break
            assumed[made] &= counted_points(
                search.axes,
                lo[which[made]],
                hi[which[made]],
                looked.forms[which[made], space],
                looked.thresholds[which[made], space],
                np.full(len(made), float(BINS[level])),
                points[rows[made]],
            )
        certified[rows] = (held[0] | held[1]) & assumed
        falsified[rows] = held[2] & held[3] & assumed
    return certified, falsified


def draw_points(axes: Axes, lo: Floats, hi: Floats, generator: np.random.Generator) -> Floats:
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
