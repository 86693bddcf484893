"""The undecided region: people drawn from it, all alike.

An open box is chosen in proportion to what its pieces have together, then one of these pieces, and
a point of it, see :mod:`testsgd.certification.search.disjoint_cover`. Points that two pieces share
count once, and a draw that is decided though no count says so is left out. So the points that are
kept are uniform on the undecided region, by the domain's measure. The number of draws is fixed
before the first one: the share that is kept estimates how large the region is.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from testsgd.certification.proving import Axes
from testsgd.certification.proving.axes import CATEGORY, INTEGER, REAL, WEIGHTED_REAL, Floats
from testsgd.certification.search.branch_and_bound import BranchAndBound
from testsgd.certification.search.disjoint_cover import (
    Pieces,
    Reanalysis,
    analyse_again,
    cut_boxes,
    decided,
    decided_points,
    draw_from_pieces,
)
from testsgd.scoring import clopper_pearson

# Draws at most, as a multiple of those that were asked for.
_MORE = 16
_AT_ONCE = 8192
# Draws that are thrown away, to learn how many are kept; and the risk that too few will be.
_PILOT = 500
_RISK = 1e-3
# Pieces may together exceed what was said of them by so much of a box: by rounding.
_ROUNDING = 1e-9
# Boxes of another search are looked at again, once; then single ones may be corrected so often.
_CORRECTIONS = 4


@dataclass(frozen=True)
class Draws:
    """People drawn from the undecided region."""

    points: Floats  # Uniform on the undecided region; shape (n, axes).
    nodes: NDArray[np.int64]  # Of the tree, of their boxes; shape (n,).
    tries: int  # How many draws there were, those that are not kept included.
    # Share of the domain that stands for all tries: each part of the undecided region is hit by a
    # try with a probability that is its share of the domain, divided by this.
    measure: float
    falsified: float  # Share of the domain that is proved unfair and that no try can tell of.
    falsified_outside: bool  # Whether some of it is in open boxes, outside the pieces.
    # Points that tell of as many falsified people beyond that share, see
    # :meth:`testsgd.certification.search.disjoint_cover.Pieces.more_falsified`; shape (n,).
    more: NDArray[np.bool_]
    more_left_out: int  # How many of the tries that are not kept do.


# Of each open box what its pieces have together, and what is falsified outside of them; both as
# shares of the domain; shape (boxes, 2).
_Region: TypeAlias = Floats


class _Tried(NamedTuple):
    """What came of some tries: the arrays of :class:`Draws`, and boxes that were told otherwise."""

    points: Floats
    nodes: NDArray[np.int64]
    more: NDArray[np.bool_]
    more_left_out: NDArray[np.int64]
    other: NDArray[np.intp]  # Of these something else is proved than was said, or more is drawn.
    region: _Region  # What is true of them.


def draw_open(search: BranchAndBound, samples: int, generator: np.random.Generator) -> Draws:
    """Draw about so many people from what is undecided in the open boxes.

    There are mostly a few more, and fewer if the undecided region is much smaller than what the
    search can prove of it.
    """
    boxes = search.boxes
    # What the search keeps of its boxes. The pieces, if the falsified are beside them, leave room
    # for these; if not, for none.
    room = boxes["share"] - boxes["fair"] - boxes["cover"]
    falsified_share = np.where(room > boxes["unfair"] / 2, boxes["unfair"], 0.0)
    region = np.stack([boxes["cover"], falsified_share], axis=1)
    for correction in range(_CORRECTIONS + 1):
        measure = float(region[:, 0].sum())
        if measure <= 0 or samples <= 0:
            break
        pilot = _try(search, region, _PILOT, generator)
        tries = _tries(samples, len(pilot.points))
        main = _try(search, region, tries, generator)
        if len(pilot.other) + len(main.other) == 0 or correction == _CORRECTIONS:
            outside = float(region[:, 1].sum())
            return Draws(
                main.points, main.nodes, tries, measure, search.unfair + outside, outside > 0,
                main.more, int(main.more_left_out.sum()),
            )  # fmt: skip
        if correction == 0:
            # A checkpoint, read where boxes are looked at in another way than where it was written.
            region = _measured_again(search)
        else:
            for tried in (pilot, main):
                region[tried.other] = tried.region
    nobody = np.zeros((0, len(search.axes.low)))
    none = np.zeros(0, dtype=bool)
    return Draws(nobody, np.zeros(0, np.int64), 0, measure, search.unfair, False, none, 0)


def _tries(samples: int, kept: int) -> int:
    """Return a number of tries of which enough are kept, nearly for sure, from a pilot's."""
    rate, _ = clopper_pearson(kept, _PILOT, 2 * _RISK)
    most = samples * _MORE
    enough = bisect_left(
        range(samples, most), True, key=lambda n: bool(binom.cdf(samples - 1, n, rate) <= _RISK)
    )
    return samples + enough


def _try(
    search: BranchAndBound, region: _Region, tries: int, generator: np.random.Generator
) -> _Tried:
    """Draw so many times, and keep what is undecided."""
    cover = region[:, 0]
    counts = generator.multinomial(tries, cover / cover.sum())
    chosen = np.repeat(np.arange(len(cover)), counts)
    tried = [
        _try_at_once(search, region, chosen[start : start + _AT_ONCE], generator)
        for start in range(0, tries, _AT_ONCE)
    ]
    return _Tried(*map(np.concatenate, zip(*tried, strict=True)))


def _try_at_once(
    search: BranchAndBound,
    region: _Region,
    chosen: NDArray[np.intp],
    generator: np.random.Generator,
) -> _Tried:
    """Draw from some boxes, once for each time that they are chosen."""
    unique, of = np.unique(chosen, return_inverse=True)
    share = search.boxes["share"][unique]
    again = analyse_again(search, unique)
    pieces = cut_boxes(again)
    seen = _region(again, pieces, share)
    cover, falsified_share = region[unique].T
    other = seen[:, 0] > cover + _ROUNDING * share
    other |= np.abs(seen[:, 1] - falsified_share) > _ROUNDING * share
    # The piece, or none: they may be less than what was said.
    upto = np.cumsum(pieces.shares, axis=1)[of]
    target = generator.random(len(of)) * np.maximum(cover / share, 0.0)[of]
    piece = (upto <= target[:, None]).sum(axis=1)
    of, piece = of[piece < upto.shape[1]], piece[piece < upto.shape[1]]
    drawn, ones = draw_from_pieces(search.prover, again, pieces, of, piece, generator)
    of, piece, drawn = of[ones], piece[ones], drawn[ones]
    held = again.holds(of, drawn)
    certified, falsified = decided(held)
    first = pieces.first_holding(of, held) == piece
    kept = ~certified & ~falsified & first
    more = pieces.more_falsified(of, piece, held, first)
    nodes = search.boxes["node"][unique[of[kept]]].astype(np.int64)
    left_out = np.array([more[~kept].sum()])
    return _Tried(drawn[kept], nodes, more[kept], left_out, unique[other], seen[other])


def _region(again: Reanalysis, pieces: Pieces, share: Floats) -> _Region:
    # Analysed in another way, a box may turn out to be unfair as a whole.
    outside = pieces.falsified_outside | (again.bounds.status == 2)
    falsified_share = np.where(outside, again.bounds.unfair, 0.0)
    return np.stack([pieces.together * share, falsified_share * share], axis=1)


def _measured_again(search: BranchAndBound) -> _Region:
    """Look at all open boxes, and say what is proved of them now."""
    shares, parts = search.boxes["share"], []
    for start in range(0, len(shares), _AT_ONCE):
        indices = np.arange(start, min(start + _AT_ONCE, len(shares)))
        again = analyse_again(search, indices)
        parts.append(_region(again, cut_boxes(again), shares[indices]))
    return np.concatenate(parts)


def draw_falsified(search: BranchAndBound, tries: int, generator: np.random.Generator) -> Floats:
    """Draw some people of open boxes for whom unfairness is proved; they are no sample."""
    unfair = search.boxes["unfair"]
    if not unfair.any():
        return np.zeros((0, len(search.axes.low)))
    chosen = np.repeat(np.arange(len(unfair)), generator.multinomial(tries, unfair / unfair.sum()))
    lo, hi = search.boxes.ends(chosen)
    points = draw_points(search.axes, lo, hi, generator)
    _, falsified = decided_points(search, chosen, points)
    return points[falsified]


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
            index = np.searchsorted(cumulative, below + where * (upto - below), side="right") - 1
            points[:, axis] = np.clip(index + shift, start, end)
    return points
