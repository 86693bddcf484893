"""The undecided part of an open box as a union of pieces from which points can be drawn exactly.

Certified are the points for which every assumption holds and everybody is above, or everybody is
below; falsified those for which every assumption holds, one person is above and another below. So
whoever is undecided

- fails an assumption, or
- is outside of everybody above and of everybody below, or, which is less if somebody is surely
  falsified,
- is outside of everybody below and of one above, or of everybody above and another below.

Where two half-spaces cannot be shown to have no common point, as assumptions allow, a piece is what
is outside of one of them, or of everybody above and everybody below, whoever is falsified.

The share of a piece is known from the counts, and points of it are drawn without rejection
(:mod:`testsgd.certification.proving.compiled_drawing`). A point is kept only if it was drawn from
the first piece that holds it; that makes draws uniform on the union (Karp and Luby, 1983), and, as
decided points are left out, on the undecided part. The search keeps of a box only its shares:
analysed again with what was known before, exactly the same half-spaces come out.

Whoever is falsified counts for the unfair share of the whole domain. Where less is drawn because
somebody is surely falsified, all of them lie outside the pieces, elsewhere in them. Pieces tell how
many: one is above and another below for what the shares of these two half-spaces exceed 100% by,
and as much again as is outside of both; of these, falsified are those who fail no assumption.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving import Axes, BoxBounds, Prover, counted_points
from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.half_spaces import SPACES
from testsgd.certification.search.branch_and_bound import BINS, BranchAndBound, known_before

# Groups of draws of one piece of work of a thread.
_GROUPS = 32
# Pieces before those of the assumptions.
_FIRST = 2


@dataclass(frozen=True)
class Reanalysis:
    """What is proved of B boxes, and where.

    The first four half-spaces are everybody above, everybody below, one above, another below; the
    others are assumptions, with a threshold of minus infinity if there is none.
    """

    axes: Axes
    lo: Floats  # The boxes, shape (B, axes).
    hi: Floats
    bins: Floats  # How finely each is counted.
    bounds: BoxBounds  # What is proved of each, with its half-spaces.

    def holds(self, of: NDArray[np.intp], points: Floats) -> NDArray[np.bool_]:
        """Return which half-spaces hold points of boxes `of`; one not assumed holds everybody."""
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


def analyse_again(search: BranchAndBound, indices: NDArray[np.intp]) -> Reanalysis:
    """Look at some open boxes again."""
    boxes, prover = search.boxes, search.prover
    lo, hi = boxes.ends(indices)
    levels = boxes["level"][indices].astype(np.int64)
    known = known_before(boxes["known"][indices])
    bounds = prover.unseen(len(indices), keep=True)
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
    search: BranchAndBound, indices: NDArray[np.intp], points: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which points lie in the certified and in the falsified part of their open box."""
    unique, of = np.unique(indices, return_inverse=True)
    return decided(analyse_again(search, unique).holds(of, points))


@dataclass(frozen=True)
class Pieces:
    """Pieces of B boxes: the first two, and then one an assumption."""

    shares: Floats  # Of the box, at least; 0 where there is no such piece; shape (B, pieces).
    # Outside of which half-spaces the first two pieces are, -1 if of none; shape (B, 2, 2).
    pairs: NDArray[np.int64]

    @property
    def falsified_outside(self) -> NDArray[np.bool_]:
        """In which boxes somebody is falsified, and nobody of them in a piece; (B,)."""
        return np.asarray(self.pairs[:, 1, 0] >= 0)

    @property
    def together(self) -> Floats:
        """Share of each box, with common parts counted as often as there are pieces; (B,)."""
        return np.asarray(self.shares.sum(axis=1))

    def spaces(
        self, of: NDArray[np.intp], piece: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return outside of which half-spaces some pieces of boxes `of` are; -1 if of none."""
        assumption = piece >= _FIRST
        pair = self.pairs[of, np.where(assumption, 0, piece)]
        first = np.where(assumption, piece + (4 - _FIRST), pair[:, 0])
        return first, np.where(assumption, -1, pair[:, 1])

    def more_falsified(
        self,
        of: NDArray[np.intp],
        piece: NDArray[np.intp],
        held: NDArray[np.bool_],
        first: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return which points tell of falsified people beyond those that are known.

        Known is what is counted where the falsified lie outside the pieces: what the two shares
        exceed 100% by, less the shares of all failures of assumptions. It lacks what is outside of
        both half-spaces, and takes off more than it should for whoever fails an assumption and is
        not in both half-spaces, or fails several. Elsewhere the falsified are drawn themselves. The
        measure of these points, by pieces, is the share that is falsified and not known; `first`:
        no earlier piece holds it.
        """
        neither = first & ~held[:, 2] & ~held[:, 3]
        failing = (piece >= _FIRST) & ~(first & held[:, 2] & held[:, 3])
        inside = first & decided(held)[1]
        return np.where(self.falsified_outside[of], neither | failing, inside)

    def first_holding(self, of: NDArray[np.intp], held: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the first piece of boxes `of` that holds each point; the one after all if none."""
        rows = np.arange(len(of))
        pieces = self.shares.shape[1]
        first = np.full(len(of), pieces, dtype=np.intp)
        for piece in reversed(range(pieces)):
            one, two = self.spaces(of, np.full(len(of), piece, dtype=np.intp))
            outside = (one < 0) | ~held[rows, one]
            outside &= (two < 0) | ~held[rows, two]
            first[outside & (self.shares[of, piece] > 0)] = piece
        return first


def cut_boxes(again: Reanalysis) -> Pieces:
    """Cover the undecided part of each box with the pieces that have the least share together."""
    bounds = again.bounds
    counted = bounds.counted
    lost = np.where(bounds.thresholds[:, 4:] > -np.inf, 1.0 - counted[:, 4:], 0.0)
    alone = bounds.apart % 2 == 0
    more = np.where(counted[:, 0] >= counted[:, 1], 0, 1)
    neither = np.maximum(1.0 - counted[:, 0] - counted[:, 1], 0.0)
    neither[alone] = 1.0 - counted[alone, :2].max(axis=1)
    not_below = np.maximum(1.0 - counted[:, 1] - counted[:, 2], 0.0)
    not_above = np.maximum(1.0 - counted[:, 0] - counted[:, 3], 0.0)
    both = np.isfinite(bounds.thresholds[:, 2:4]).all(axis=1) & (bounds.apart == 3)
    both &= (not_below + not_above < neither) & (bounds.unfair > 0)
    shares = np.zeros((len(counted), _FIRST + lost.shape[1]))
    pairs = np.full((len(counted), 2, 2), -1, dtype=np.int64)
    shares[:, 0] = np.where(both, not_below, neither)
    shares[:, 1] = np.where(both, not_above, 0.0)
    shares[:, _FIRST:] = lost
    pairs[:, 0] = np.where(both[:, None], [1, 2], [0, 1])
    pairs[both, 1] = [0, 3]
    pairs[alone, 0, 0], pairs[alone, 0, 1] = more[alone], -1
    # Nothing is gained over the whole box.
    whole = shares.sum(axis=1) >= 1.0
    shares[whole], pairs[whole] = 0.0, -1
    shares[whole, 0] = 1.0
    shares[bounds.status > 0] = 0.0
    return Pieces(shares, pairs)


def draw_from_pieces(
    prover: Prover,
    again: Reanalysis,
    pieces: Pieces,
    of: NDArray[np.intp],
    piece: NDArray[np.intp],
    generator: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw a point of piece `piece` of box `of`, by the domain's measure, and say which were drawn.

    None is where the share of the piece, which is rounded up, is larger than the piece.
    """
    # Imported here: the machine code takes a second to load.
    from testsgd.certification.proving.compiled_drawing import draw_outside

    many, width = again.lo[of].shape
    points, drawn = np.zeros((many, width)), np.zeros(many)
    if many == 0:
        return points, drawn > 0
    uniforms = generator.random((many, width + 1, 2))
    order = np.lexsort((piece, of))
    of, piece = of[order], piece[order]
    new = np.concatenate([[True], (of[1:] != of[:-1]) | (piece[1:] != piece[:-1])])
    firsts = np.concatenate([np.flatnonzero(new), [many]]).astype(np.int64)
    of, piece = of[new], piece[new]
    spaces = np.stack(pieces.spaces(of, piece), axis=1)
    forms = again.bounds.forms[of[:, None], spaces]
    thresholds = np.where(spaces < 0, np.inf, again.bounds.thresholds[of[:, None], spaces])
    masses, bins = pieces.shares[of, piece], again.bins[of]
    lo, hi = again.lo[of], again.hi[of]
    axes = again.axes.arrays

    def work(start: int) -> None:
        stop = min(start + _GROUPS, len(of))
        draw_outside(
            axes, lo, hi, forms, thresholds, bins, masses, firsts, start, stop, uniforms, points,
            drawn,
        )  # fmt: skip

    prover.spread(work, range(0, len(of), _GROUPS))
    # Back to the order that was asked for.
    back = np.argsort(order)
    return points[back], drawn[back] > 0
