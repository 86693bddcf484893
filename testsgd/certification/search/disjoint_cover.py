"""The undecided part of an open box as a union of pieces from which points can be drawn exactly.

Certified are the points for which every assumption holds and all persons are above, or all are
below. Falsified are those for which every assumption holds, one person is above and another below.
A point that is neither

- fails an assumption, or
- is outside of "all above" and outside of "all below", or instead, if a share is proved unfair and
  this is less,
- is outside of "all below" and "one above", or outside of "all above" and "another below".

Where two half-spaces cannot be shown to have no common point, as assumptions allow, a piece is what
is outside of one of them, or of "all above" and "all below", whatever share is proved unfair.

The share of a piece is known from the counts, and points of it are drawn without rejection
(:mod:`testsgd.certification.proving.compiled_drawing`). A point is kept only if it was drawn from
the first piece that holds it; that makes draws uniform on the union (Karp and Luby, 1983), and, as
decided points are left out, on the undecided part. The search keeps of a box only its shares. If it
is analysed again from the same units known before, exactly the same half-spaces come out.

Falsified points count for the unfair share of the whole domain. In the boxes with the third kind of
piece all of them lie outside the pieces, elsewhere all lie in them. How the draws complete what is
counted is derived in :meth:`Pieces.uncounted_falsified`.
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
        """Return which half-spaces hold each of n points, shape (n, SPACES).

        Point i, a row of `points` of shape (n, axes), lies in box ``of[i]``. An assumption that was
        not made holds every point.
        """
        membership = np.zeros((len(points), SPACES), dtype=bool)
        for space in range(SPACES):
            threshold = self.bounds.thresholds[of, space]
            membership[threshold == -np.inf, space] = True
            rows = np.flatnonzero(np.isfinite(threshold))
            if len(rows):
                membership[rows, space] = counted_points(
                    self.axes,
                    self.lo[of[rows]],
                    self.hi[of[rows]],
                    self.bounds.forms[of[rows], space],
                    threshold[rows],
                    self.bins[of[rows]],
                    points[rows],
                )
        return membership


def analyse_again(search: BranchAndBound, indices: NDArray[np.intp]) -> Reanalysis:
    """Repeat the last analysis of open boxes, and keep their half-spaces."""
    boxes, prover = search.boxes, search.prover
    lo, hi = boxes.ends(indices)
    levels = boxes["level"][indices].astype(np.int64)
    known = known_before(boxes["known"][indices])
    bounds = prover.unseen(len(indices), keep=True)
    for level in np.unique(levels):
        rows = np.flatnonzero(levels == level)
        analysed = prover.analyse(
            lo[rows], hi[rows], bins=int(BINS[level]), known=known[rows], keep=True
        )
        for name in bounds._fields:
            getattr(bounds, name)[rows] = getattr(analysed, name)
    return Reanalysis(search.axes, lo, hi, BINS[levels].astype(np.float64), bounds)


def decided(membership: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which points are certified and which are falsified, shape (n,) each.

    `membership` is which half-spaces hold each point, shape (n, SPACES).
    """
    assumed = membership[:, 4:].all(axis=1)
    certified = (membership[:, 0] | membership[:, 1]) & assumed
    return certified, membership[:, 2] & membership[:, 3] & assumed


def decided_points(
    search: BranchAndBound, indices: NDArray[np.intp], points: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which points lie in the certified and in the falsified part of their open box.

    Parameters
    ----------
    search : BranchAndBound
        The search.
    indices : numpy.ndarray of int, shape (n,)
        The open box of each point.
    points : numpy.ndarray, shape (n, axes)
        The points.

    Returns
    -------
    tuple of two numpy.ndarray of bool, shape (n,) each
        Which points are certified, and which are falsified.
    """
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
        """In which boxes a share is falsified, all of it outside the pieces; shape (B,)."""
        return np.asarray(self.pairs[:, 1, 0] >= 0)

    @property
    def together(self) -> Floats:
        """The sum of the shares of a box's pieces, where common parts count repeatedly; (B,)."""
        return np.asarray(self.shares.sum(axis=1))

    def spaces(
        self, of: NDArray[np.intp], piece: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the one or two half-spaces that each piece lies outside of, shape (n,) each.

        Piece ``piece[i]`` is one of box ``of[i]``. The second is -1 if there is one only; both are
        -1 if the piece is the whole box.
        """
        assumption = piece >= _FIRST
        pair = self.pairs[of, np.where(assumption, 0, piece)]
        first = np.where(assumption, piece + (4 - _FIRST), pair[:, 0])
        return first, np.where(assumption, -1, pair[:, 1])

    def uncounted_falsified(
        self,
        of: NDArray[np.intp],
        piece: NDArray[np.intp],
        membership: NDArray[np.bool_],
        first: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return which draws hit the falsified share that the counts leave out, shape (n,).

        Of n draws, draw i is a point of piece ``piece[i]`` of box ``of[i]``; ``membership[i]`` is
        which half-spaces hold it, and ``first[i]`` whether no earlier piece of its box does.

        Notes
        -----
        All measures are shares of one box. Let

        - S2 and S3 be the counted half-spaces "one above" and "another below", c2 and c3 their
          counted shares,
        - Aj the half-space of assumption j, and aj = 1 - (its counted share), the piece outside it,
        - F the falsified points: those in S2, S3 and every Aj,
        - N the points in neither S2 nor S3,
        - Ej the points of S2 and S3 that fail assumption j and no earlier one.

        The share that the search counts is u = c2 + c3 - 1 - sum_j aj. By inclusion and exclusion
        S2 and S3 have ``c2 + c3 - 1 + |N|`` in common, of which ``sum_j |Ej|`` fail an assumption::

            |F| = u + |N| + sum_j (aj - |Ej|)

        Where F lies outside the pieces (`falsified_outside`), this returns the draws from N and
        those from an assumption's piece that are not in its Ej. N lies in the first two pieces, and
        each point counts for the first that holds it. A point of S2 and S3 is in neither of these
        two, so the first piece that holds one of Ej is that of assumption j. The measure of the
        returned draws, added over pieces, is therefore ``|F| - u``. Elsewhere nothing of F is taken
        from the counts, u is replaced by 0, all of F lies in the pieces, and the draws from it are
        returned, each point for the first piece that holds it: again their measure is ``|F| - u``.

        With M the sum of the shares of all pieces of all boxes, as shares of the domain, a draw
        hits a part of a piece of measure m with probability m / M. So M times the rate of returned
        draws estimates the sum over boxes of what is missing, without bias, but for the rounding of
        the counts (10^-12 of a box each).
        """
        neither = first & ~membership[:, 2] & ~membership[:, 3]
        in_both = membership[:, 2] & membership[:, 3]
        failing = (piece >= _FIRST) & ~(first & in_both)
        inside = first & decided(membership)[1]
        return np.where(self.falsified_outside[of], neither | failing, inside)

    def first_holding(
        self, of: NDArray[np.intp], membership: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        """Return the first piece that holds each point, shape (n,); the number of pieces if none.

        Point i lies in box ``of[i]`` and in the half-spaces ``membership[i]``.
        """
        rows = np.arange(len(of))
        pieces = self.shares.shape[1]
        first = np.full(len(of), pieces, dtype=np.intp)
        for piece in reversed(range(pieces)):
            space, other_space = self.spaces(of, np.full(len(of), piece, dtype=np.intp))
            outside = (space < 0) | ~membership[rows, space]
            outside &= (other_space < 0) | ~membership[rows, other_space]
            first[outside & (self.shares[of, piece] > 0)] = piece
        return first


def cut_boxes(reanalysis: Reanalysis) -> Pieces:
    """Return pieces that cover the undecided part of each box, with a small sum of shares.

    With c0 to c3 the counted shares of the first four half-spaces, the first two pieces have the
    shares 1 - c0 - c1 and 0, or 1 - c1 - c2 and 1 - c0 - c3 if that is less together and a share is
    proved unfair. Without a proof that "all above" and "all below" are disjoint, the first piece is
    outside of the larger one only. If all pieces together have at least the box, one piece is all
    of it.
    """
    bounds = reanalysis.bounds
    counted = bounds.counted
    lost = np.where(bounds.thresholds[:, 4:] > -np.inf, 1.0 - counted[:, 4:], 0.0)
    alone = bounds.apart % 2 == 0
    larger = np.where(counted[:, 0] >= counted[:, 1], 0, 1)
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
    pairs[alone, 0, 0] = larger[alone]
    pairs[alone, 0, 1] = -1
    # Nothing is gained over the whole box.
    whole = shares.sum(axis=1) >= 1.0
    shares[whole] = 0.0
    pairs[whole] = -1
    shares[whole, 0] = 1.0
    shares[bounds.status > 0] = 0.0
    return Pieces(shares, pairs)


def draw_from_pieces(
    prover: Prover,
    reanalysis: Reanalysis,
    pieces: Pieces,
    of: NDArray[np.intp],
    piece: NDArray[np.intp],
    generator: np.random.Generator,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw one point of each of n pieces, by the domain's measure.

    Draw i is from piece ``piece[i]`` of box ``of[i]``. Returns the points, shape (n, axes), and
    which of them were drawn, shape (n,). A draw fails with the probability by which the share of
    the piece, which is rounded up, exceeds the piece.
    """
    # Imported here: the machine code takes a second to load.
    from testsgd.certification.proving.compiled_drawing import draw_outside

    count, width = reanalysis.lo[of].shape
    points = np.zeros((count, width))
    drawn = np.zeros(count)
    if count == 0:
        return points, drawn > 0
    uniforms = generator.random((count, width + 1, 2))
    order = np.lexsort((piece, of))
    of = of[order]
    piece = piece[order]
    starts_group = np.concatenate([[True], (of[1:] != of[:-1]) | (piece[1:] != piece[:-1])])
    firsts = np.concatenate([np.flatnonzero(starts_group), [count]]).astype(np.int64)
    of = of[starts_group]
    piece = piece[starts_group]
    spaces = np.stack(pieces.spaces(of, piece), axis=1)
    forms = reanalysis.bounds.forms[of[:, None], spaces]
    thresholds = np.where(spaces < 0, np.inf, reanalysis.bounds.thresholds[of[:, None], spaces])
    masses = pieces.shares[of, piece]
    bins = reanalysis.bins[of]
    lo = reanalysis.lo[of]
    hi = reanalysis.hi[of]
    axes = reanalysis.axes.arrays

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
