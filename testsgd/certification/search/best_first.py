"""Best-first search: the boxes with the largest undecided share are looked at next.

There is no depth at which a box is given up, and a box in which somebody is treated unfairly is
split like any other. A box that is open either counts its half-spaces more finely, if rounding is
what leaves most of it undecided, or is halved along the axis that does most to the gap between the
lower and the upper line. What is proved of a box is replaced by what is proved of its halves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.outcome import Shares
from testsgd.certification.proving import Looked, Prover
from testsgd.certification.proving.axes import Floats
from testsgd.certification.search.open_boxes import OpenBoxes
from testsgd.certification.search.tree import ROOT, SplitTree

# How finely half-spaces are counted, level by level.
BINS = np.array([48, 192, 768, 2048])
# Finer counting pays if it leaves less than this share of what is undecided now.
_WORTH = 1 / 1.5
# Boxes of one step: at least, at most, and as a share of the open ones.
_LEAST, _MOST, _PART = 256, 16384, 16
# Undecided shares below this are left alone: sums of shares are not known better.
_NOTHING = 1e-15
# More than the rounding of the sums of all shares: fewer than 1e4 running
# additions, and pairwise sums of the open boxes.
_SUMS = 1e-11
# What became known of a unit by the last look at its box is kept as so much more.
_KNOWN = 2
# Boxes that are unfair as a whole, kept to show people from.
_EXAMPLES = 64


class BestFirst:
    """A search that can be continued step by step.

    Parameters
    ----------
    prover : Prover
        Looks at boxes.
    keep_closed : bool
        Whether to keep the boxes that are decided as a whole, for tests.

    Attributes
    ----------
    boxes : OpenBoxes
    tree : SplitTree
    fair, unfair : float
        Shares of the domain in boxes that are decided as a whole.
    looks : int
        Boxes looked at.
    examples : list of (lo, hi)
        Some boxes that are unfair as a whole.
    closed : list of (lo, hi, status)
        If kept.
    """

    def __init__(self, prover: Prover, *, keep_closed: bool = False) -> None:
        self.prover = prover
        self.axes = prover.problem.axes
        largest = max(np.abs(self.axes.low).max(), np.abs(self.axes.high).max())
        exact = bool(self.axes.discrete.all() and largest <= 2**24)
        self.boxes = OpenBoxes(len(self.axes.low), prover.known_units, exact=exact)
        self.tree = SplitTree()
        self.fair = 0.0
        self.unfair = 0.0
        self.looks = 0
        self.examples: list[tuple[Floats, Floats]] = []
        self.closed: list[tuple[Floats, Floats, NDArray[np.int8]]] = []
        self._keep_closed = keep_closed

    def begin(self) -> None:
        """Look at the whole domain."""
        lo, hi = self.axes.low[None], self.axes.high[None]
        looked = self.prover.look(lo, hi, bins=int(BINS[0]))
        nodes = np.full(1, ROOT, dtype=np.int64)
        before = np.zeros((1, self.prover.known_units), dtype=np.int8)
        self._add(lo, hi, nodes, np.zeros(1, dtype=np.int64), before, looked)

    @property
    def shares(self) -> Shares:
        """What is proved so far."""
        certified = self.fair + float(self.boxes["fair"].sum())
        falsified = self.unfair + float(self.boxes["unfair"].sum())
        if not self.boxes["undecided"].any():
            return Shares(1.0 - min(falsified, 1.0), min(falsified, 1.0), 0.0)
        # A rounding error of the sums must not make a proof.
        certified = max(0.0, certified - _SUMS)
        falsified = max(0.0, falsified - _SUMS)
        return Shares(certified, falsified, max(0.0, 1.0 - certified - falsified))

    def step(self, in_time: Callable[[], bool] | None = None) -> bool:
        """Look at the next boxes; False if there are none."""
        boxes = self.boxes
        worth = np.where(boxes["axis"] >= 0, boxes["undecided"], 0.0)
        finer = (boxes["level"] < len(BINS) - 1) & (boxes["expected"] < _WORTH * boxes["undecided"])
        worth = np.where(finer, boxes["undecided"], worth)
        count = min(max(_LEAST, len(boxes) // _PART), _MOST, len(boxes))
        if count == 0:
            return False
        chosen = np.argpartition(-worth, count - 1)[:count]
        # The order decides which boxes go without a look when time is up.
        chosen = chosen[np.argsort(-worth[chosen], kind="stable")]
        chosen = chosen[worth[chosen] > _NOTHING]
        if not len(chosen):
            return False
        again = finer[chosen]
        gone = [self._recount(chosen[again], in_time), self._split(chosen[~again], in_time)]
        boxes.remove(np.concatenate(gone))
        return True

    def _recount(
        self, places: NDArray[np.intp], in_time: Callable[[], bool] | None
    ) -> NDArray[np.intp]:
        """Look at boxes again, counting more finely; give those that were replaced."""
        boxes = self.boxes
        levels = boxes["level"][places].astype(np.int64) + 1
        gone = []
        for level in np.unique(levels):
            some = places[levels == level]
            lo, hi = boxes.ends(some)
            known = known_after(boxes["known"][some])
            looked = self.prover.look(
                lo, hi, bins=int(BINS[level]), known=known.copy(), in_time=in_time
            )
            seen = np.flatnonzero(looked.seen)
            nodes = boxes["node"][some][seen].astype(np.int64)
            rows = np.full(len(seen), level)
            self._add(lo[seen], hi[seen], nodes, rows, known[seen], _rows(looked, seen))
            gone.append(some[seen])
        return np.concatenate([np.zeros(0, dtype=np.intp), *gone])

    def _split(
        self, places: NDArray[np.intp], in_time: Callable[[], bool] | None
    ) -> NDArray[np.intp]:
        """Halve boxes; give those that were replaced."""
        boxes = self.boxes
        axis = boxes["axis"][places].astype(np.int64)
        rows = np.arange(len(places))
        lows, highs = boxes.ends(places)
        start, end = lows[rows, axis], highs[rows, axis]
        discrete = self.axes.discrete[axis]
        middle = self.axes.middles(axis, start, end)
        # An interval of real numbers with nothing in between stays as it is.
        stuck = ~discrete & ((middle <= start) | (middle >= end))
        boxes["axis"][places[stuck]] = -1
        keep = ~stuck
        places, axis, middle, discrete = places[keep], axis[keep], middle[keep], discrete[keep]
        rows = np.arange(len(places))
        known = np.repeat(known_after(boxes["known"][places]), 2, axis=0)
        after = np.where(discrete, middle + 1, middle)
        lo, hi = np.repeat(lows[keep], 2, axis=0), np.repeat(highs[keep], 2, axis=0)
        hi[2 * rows, axis] = middle
        lo[2 * rows + 1, axis] = after
        levels = np.repeat(boxes["level"][places].astype(np.int64), 2)
        whole = np.zeros(len(places), dtype=bool)
        pieces = []
        for level in np.unique(levels):
            some = np.flatnonzero(levels == level)
            looked = self.prover.look(
                lo[some], hi[some], bins=int(BINS[level]), known=known[some], in_time=in_time
            )
            both = looked.seen.reshape(-1, 2).all(axis=1)
            whole[some[::2] // 2] = both
            pieces.append((some, looked, np.repeat(both, 2)))
        nodes = np.zeros(len(lo), dtype=np.int64)
        nodes[::2], nodes[1::2] = boxes["node"][places], boxes["node"][places]
        left, right = self.tree.split(
            boxes["node"][places][whole].astype(np.int64), axis[whole], middle[whole], after[whole]
        )
        nodes[2 * rows[whole]], nodes[2 * rows[whole] + 1] = left, right
        for some, looked, both in pieces:
            chosen = np.flatnonzero(both)
            of = some[chosen]
            self._add(lo[of], hi[of], nodes[of], levels[of], known[of], _rows(looked, chosen))
        return places[whole]

    def _add(
        self,
        lo: Floats,
        hi: Floats,
        nodes: NDArray[np.int64],
        levels: NDArray[np.int64],
        known: NDArray[np.int8],
        looked: Looked,
    ) -> None:
        """Close boxes that are decided, keep the others open."""
        self.looks += len(lo)
        share = self.axes.shares(lo, hi)
        self.tree.close(nodes, looked.status, share)
        self.fair += float(share[looked.status == 1].sum())
        self.unfair += float(share[looked.status == 2].sum())
        if self._keep_closed:
            done = looked.status > 0
            self.closed.append((lo[done], hi[done], looked.status[done]))
        for place in np.flatnonzero(looked.status == 2)[: _EXAMPLES - len(self.examples)]:
            self.examples.append((lo[place].copy(), hi[place].copy()))
        left = np.flatnonzero((looked.status == 0) & (share > 0))
        fair, unfair = looked.fair[left], looked.unfair[left]
        share = share[left]
        self.boxes.append(
            {
                "lo": lo[left],
                "hi": hi[left],
                "share": share,
                "fair": fair * share,
                "unfair": unfair * share,
                "undecided": np.clip(1.0 - fair - unfair, 0.0, 1.0) * share,
                "cover": looked.cover[left] * share,
                "expected": looked.expected[left] * share,
                "axis": looked.axis[left],
                "level": levels[left],
                "node": nodes[left],
                "known": _marked(known[left], looked.known[left]),
            }
        )


def known_before(known: NDArray[Any]) -> NDArray[np.int8]:
    """Say what was known of a box's units before it was looked at, from the column of the boxes.

    With this the box can be looked at again, and exactly the same comes out.
    """
    return np.where(known > _KNOWN, 0, known).astype(np.int8)


def known_after(known: NDArray[Any]) -> NDArray[np.int8]:
    """Say what was known afterwards."""
    return np.where(known > _KNOWN, known - _KNOWN, known).astype(np.int8)


def _marked(before: NDArray[np.int8], after: NDArray[np.int8]) -> NDArray[np.int8]:
    """Mark what became known by a look."""
    return np.where(before == after, after, after + np.int8(_KNOWN)).astype(np.int8)


def _rows(looked: Looked, rows: NDArray[np.intp]) -> Looked:
    return Looked(
        status=looked.status[rows],
        fair=looked.fair[rows],
        unfair=looked.unfair[rows],
        cover=looked.cover[rows],
        apart=looked.apart[rows],
        axis=looked.axis[rows],
        expected=looked.expected[rows],
        seen=looked.seen[rows],
        known=looked.known[rows],
    )
