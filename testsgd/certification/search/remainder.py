"""Uniform draws from the undecided region of a search.

An open box is chosen in proportion to the sum of the shares of its pieces, then one of these
pieces, and a point of it, see :mod:`testsgd.certification.search.disjoint_cover`. A point in
several pieces is kept from the first only, and a draw that turns out to be decided is left out. So
the points that are kept are uniform on the undecided region, by the domain's measure. The number of
draws is fixed before the first one, so the rate of draws with any property has a binomial
distribution.
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
from testsgd.certification.search.branch_and_bound import BranchAndBound, without_last_bits
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
_MOST_DRAWS = 16
# Draws, or boxes, that are worked on at once.
_BATCH = 8192
# Draws that are thrown away, to learn how many are kept; and the risk that too few will be.
_PILOT = 500
_RISK = 1e-3
# The measures of a box and of its new analysis may differ by this share of the box: by rounding.
_ROUNDING = 1e-9
# After how many rounds the measures of boxes may be corrected, see draw_open: once of all open
# boxes, then of single ones.
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
    falsified: float  # Share of the domain that is proved unfair and lies outside all pieces.
    falsified_outside: bool  # Whether a part of it is in open boxes.
    # Points that hit the falsified share that is not in `falsified`, see
    # :meth:`testsgd.certification.search.disjoint_cover.Pieces.uncounted_falsified`; shape (n,).
    more: NDArray[np.bool_]
    more_left_out: int  # How many of the tries that are not kept hit it.


# Measures of open boxes as shares of the domain, shape (boxes, 2): the sum of the shares of the
# pieces, and the share that is counted as falsified and lies outside the pieces.
_Measures: TypeAlias = Floats


class _Batch(NamedTuple):
    """The draws of one batch: the arrays of :class:`Draws`, and boxes of wrong measures."""

    points: Floats  # Kept, shape (n, axes).
    nodes: NDArray[np.int64]  # Shape (n,).
    more: NDArray[np.bool_]  # Shape (n,).
    more_left_out: NDArray[np.int64]  # One number a batch.
    mismatched: NDArray[np.intp]  # Boxes whose measures differ from those of the new analysis.
    measured: _Measures  # Their measures by the new analysis, shape (len(mismatched), 2).


def draw_open(search: BranchAndBound, samples: int, generator: np.random.Generator) -> Draws:
    """Draw about `samples` points from the undecided part of the open boxes.

    There are mostly a few more, and fewer if the undecided region is much smaller than what the
    search can prove of it.

    The draws of a round are right if the measures of the boxes, from which boxes are chosen and of
    which the estimate is made, are those of the pieces that are drawn from. What the search keeps
    of its boxes can differ from that: a checkpoint may have been written by a machine that analyses
    boxes in another way. So each round compares the measures of all boxes that it drew from with
    those of the new analysis. If all agree, its draws are returned. If not, all of its draws are
    thrown away, the measures are corrected (after the first round those of all open boxes, later
    those that differ), and a round begins anew. So no round mixes draws by different measures. The
    loop ends after ``_CORRECTIONS`` corrections at the latest: the draws of the last round are
    returned, even if a box still differs.

    Parameters
    ----------
    search : BranchAndBound
        The search.
    samples : int
        How many points are to be kept.
    generator : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    Draws
        The kept points, and what the estimate of the unfair share needs to know of all draws.

    Notes
    -----
    That a point is kept from the first piece that holds it only is after Karp and Luby (1983).
    """
    boxes = search.boxes
    # Of the falsified share the search keeps no place. Where it lies outside the pieces,
    # share - fair - cover is at least `unfair`; where it lies in them, at most 0.
    beside = boxes["share"] - boxes["fair"] - boxes["cover"]
    falsified_share = np.where(beside > boxes["unfair"] / 2, boxes["unfair"], 0.0)
    measures = np.stack([boxes["cover"], falsified_share], axis=1)
    for correction in range(_CORRECTIONS + 1):
        measure = float(measures[:, 0].sum())
        if measure <= 0 or samples <= 0:
            break
        pilot = _draw(search, measures, _PILOT, generator)
        tries = _tries(samples, len(pilot.points))
        main = _draw(search, measures, tries, generator)
        if len(pilot.mismatched) + len(main.mismatched) == 0 or correction == _CORRECTIONS:
            outside = float(measures[:, 1].sum())
            return Draws(
                points=main.points,
                nodes=main.nodes,
                tries=tries,
                measure=measure,
                falsified=search.unfair + outside,
                falsified_outside=outside > 0,
                more=main.more,
                more_left_out=int(main.more_left_out.sum()),
            )
        if correction == 0:
            # A checkpoint, read where boxes are analysed in another way than where it was written.
            measures = _measured_again(search)
        else:
            for batch in (pilot, main):
                measures[batch.mismatched] = batch.measured
    return Draws(
        points=np.zeros((0, len(search.axes.low))),
        nodes=np.zeros(0, np.int64),
        tries=0,
        measure=measure,
        falsified=search.unfair,
        falsified_outside=False,
        more=np.zeros(0, dtype=bool),
        more_left_out=0,
    )


def _tries(samples: int, kept: int) -> int:
    """Return a number of tries of which `samples` are kept, but for a risk of `_RISK`.

    `kept` is how many of the `_PILOT` tries were kept. The number is at most `_MOST_DRAWS` times
    `samples`, even if that is too few.
    """
    rate, _ = clopper_pearson(kept, _PILOT, 2 * _RISK)
    most = samples * _MOST_DRAWS
    enough = bisect_left(
        range(samples, most), True, key=lambda n: bool(binom.cdf(samples - 1, n, rate) <= _RISK)
    )
    return samples + enough


def _draw(
    search: BranchAndBound, measures: _Measures, tries: int, generator: np.random.Generator
) -> _Batch:
    """Draw `tries` times, each box in proportion to its measure, and keep what is undecided."""
    cover = measures[:, 0]
    counts = generator.multinomial(tries, cover / cover.sum())
    chosen = np.repeat(np.arange(len(cover)), counts)
    batches = [
        _draw_batch(search, measures, chosen[start : start + _BATCH], generator)
        for start in range(0, tries, _BATCH)
    ]
    return _Batch(
        points=np.concatenate([batch.points for batch in batches]),
        nodes=np.concatenate([batch.nodes for batch in batches]),
        more=np.concatenate([batch.more for batch in batches]),
        more_left_out=np.concatenate([batch.more_left_out for batch in batches]),
        mismatched=np.concatenate([batch.mismatched for batch in batches]),
        measured=np.concatenate([batch.measured for batch in batches]),
    )


def _draw_batch(
    search: BranchAndBound,
    measures: _Measures,
    chosen: NDArray[np.intp],
    generator: np.random.Generator,
) -> _Batch:
    """Draw a point of each chosen box; `chosen` are indices of open boxes, shape (tries,).

    A box with the cover c, as a share of the domain, is chosen with a probability in proportion to
    c. Its pieces have the shares p[0], p[1], ... of the box, whose share is s: a piece i is hit if
    ``p[0] + ... + p[i - 1] <= u c / s < p[0] + ... + p[i]`` for a uniform u, and none where their
    sum is less. A point is kept if its first piece is the one that it was drawn from, so that it
    counts once, and if nothing is proved of it.
    """
    unique, of = np.unique(chosen, return_inverse=True)
    share = search.boxes["share"][unique]
    reanalysis = analyse_again(search, unique)
    pieces = cut_boxes(reanalysis)
    measured = _measure_boxes(reanalysis, pieces, share)
    cover, falsified_share = measures[unique].T
    mismatched = measured[:, 0] > cover + _ROUNDING * share
    mismatched |= np.abs(measured[:, 1] - falsified_share) > _ROUNDING * share
    # The pieces of a box may be less than its `cover`: then some tries hit none of them.
    upto = np.cumsum(pieces.shares, axis=1)[of]
    target = generator.random(len(of)) * np.maximum(cover / share, 0.0)[of]
    piece = (upto <= target[:, None]).sum(axis=1)
    hits = piece < upto.shape[1]
    of = of[hits]
    piece = piece[hits]
    points, drawn = draw_from_pieces(search.prover, reanalysis, pieces, of, piece, generator)
    of = of[drawn]
    piece = piece[drawn]
    points = points[drawn]
    membership = reanalysis.holds(of, points)
    certified, falsified = decided(membership)
    first = pieces.first_holding(of, membership) == piece
    kept = ~certified & ~falsified & first
    more = pieces.uncounted_falsified(of, piece, membership, first)
    return _Batch(
        points=points[kept],
        nodes=search.boxes["node"][unique[of[kept]]].astype(np.int64),
        more=more[kept],
        more_left_out=np.array([more[~kept].sum()]),
        mismatched=unique[mismatched],
        measured=measured[mismatched],
    )


def _measure_boxes(reanalysis: Reanalysis, pieces: Pieces, share: Floats) -> _Measures:
    """Return the measures of B boxes by a new analysis; `share` is theirs of the domain, (B,)."""
    # Analysed in another way, a box may turn out to be unfair as a whole.
    outside = pieces.falsified_outside | (reanalysis.bounds.status == 2)
    falsified_share = np.where(outside, reanalysis.bounds.unfair, 0.0)
    return np.stack([pieces.together * share, falsified_share * share], axis=1)


def _measured_again(search: BranchAndBound) -> _Measures:
    """Analyse all open boxes once more, and return their measures."""
    shares = search.boxes["share"]
    parts = []
    for start in range(0, len(shares), _BATCH):
        indices = np.arange(start, min(start + _BATCH, len(shares)))
        reanalysis = analyse_again(search, indices)
        parts.append(_measure_boxes(reanalysis, cut_boxes(reanalysis), shares[indices]))
    return np.concatenate(parts)


def draw_falsified(search: BranchAndBound, tries: int, generator: np.random.Generator) -> Floats:
    """Return points of open boxes that are proved unfair, shape (n, axes); they are no sample.

    Points are drawn from the open boxes, in proportion to the share that is proved unfair; those
    that turn out to be falsified are returned.

    Parameters
    ----------
    search : BranchAndBound
        The search.
    tries : int
        How many points are drawn.
    generator : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    numpy.ndarray, shape (n, axes)
        The falsified points, at most `tries`.
    """
    unfair = without_last_bits(search.boxes["unfair"])
    if not unfair.any():
        return np.zeros((0, len(search.axes.low)))
    chosen = np.repeat(np.arange(len(unfair)), generator.multinomial(tries, unfair / unfair.sum()))
    lo, hi = search.boxes.ends(chosen)
    points = draw_points(search.axes, lo, hi, generator)
    _, falsified = decided_points(search, chosen, points)
    return points[falsified]


def draw_points(axes: Axes, lo: Floats, hi: Floats, generator: np.random.Generator) -> Floats:
    """Draw one point of each of n boxes, by the domain's measure.

    Parameters
    ----------
    axes : Axes
        The axes of the boxes.
    lo, hi : numpy.ndarray, shape (n, axes)
        The ends of the boxes.
    generator : numpy.random.Generator
        The source of random numbers.

    Returns
    -------
    numpy.ndarray, shape (n, axes)
        The points.
    """
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
