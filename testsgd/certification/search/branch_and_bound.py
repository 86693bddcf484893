"""Branch and bound, best first: the boxes with the largest undecided share are looked at next.

No box is given up at some depth, nor because somebody in it is treated unfairly. An open one either
counts its half-spaces more finely, if rounding leaves most of it undecided, or is halved along the
axis that does most to the gap between the lines. Its halves replace what was proved of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.outcome import Shares
from testsgd.certification.proving import BoxBounds, Prover
from testsgd.certification.proving.axes import Floats

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


class BranchAndBound:
    """A search that can be continued step by step; for tests it keeps the closed boxes."""

    def __init__(self, prover: Prover, *, keep_closed: bool = False) -> None:
        self.prover = prover
        self.axes = prover.problem.axes
        largest = max(np.abs(self.axes.low).max(), np.abs(self.axes.high).max())
        exact = bool(self.axes.discrete.all() and largest <= 2**24)
        # Boxes that are decided as a whole are in the tree and in the shares `fair` and `unfair`.
        self.boxes = OpenBoxes(len(self.axes.low), prover.known_units, exact=exact)
        self.tree = SplitTree()
        self.fair = 0.0
        self.unfair = 0.0
        self.looks = 0
        # Some boxes that are unfair as a whole.
        self.examples: list[tuple[Floats, Floats]] = []
        self.closed: list[tuple[Floats, Floats, NDArray[np.int8]]] = []
        self._keep_closed = keep_closed

    def begin(self) -> None:
        """Look at the whole domain."""
        lo, hi = self.axes.low[None], self.axes.high[None]
        analysed = self.prover.analyse(lo, hi, bins=int(BINS[0]))
        nodes = np.full(1, ROOT, dtype=np.int64)
        before = np.zeros((1, self.prover.known_units), dtype=np.int8)
        self._add(lo, hi, nodes, np.zeros(1, dtype=np.int64), before, analysed)

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
        self, indices: NDArray[np.intp], in_time: Callable[[], bool] | None
    ) -> NDArray[np.intp]:
        """Look at boxes again, counting more finely; give those that were replaced."""
        boxes = self.boxes
        levels = boxes["level"][indices].astype(np.int64) + 1
        gone = []
        for level in np.unique(levels):
            some = indices[levels == level]
            lo, hi = boxes.ends(some)
            known = known_after(boxes["known"][some])
            analysed = self.prover.analyse(
                lo, hi, bins=int(BINS[level]), known=known.copy(), in_time=in_time
            )
            seen = np.flatnonzero(analysed.seen)
            nodes = boxes["node"][some][seen].astype(np.int64)
            rows = np.full(len(seen), level)
            self._add(lo[seen], hi[seen], nodes, rows, known[seen], analysed.rows(seen))
            gone.append(some[seen])
        return np.concatenate([np.zeros(0, dtype=np.intp), *gone])

    def _split(
        self, indices: NDArray[np.intp], in_time: Callable[[], bool] | None
    ) -> NDArray[np.intp]:
        """Halve boxes; give those that were replaced."""
        boxes = self.boxes
        axis = boxes["axis"][indices].astype(np.int64)
        rows = np.arange(len(indices))
        lows, highs = boxes.ends(indices)
        start, end = lows[rows, axis], highs[rows, axis]
        discrete = self.axes.discrete[axis]
        middle = self.axes.middles(axis, start, end)
        # An interval of real numbers with nothing in between stays as it is.
        stuck = ~discrete & ((middle <= start) | (middle >= end))
        boxes["axis"][indices[stuck]] = -1
        keep = ~stuck
        indices, axis, middle, discrete = indices[keep], axis[keep], middle[keep], discrete[keep]
        rows = np.arange(len(indices))
        known = np.repeat(known_after(boxes["known"][indices]), 2, axis=0)
        after = np.where(discrete, middle + 1, middle)
        lo, hi = np.repeat(lows[keep], 2, axis=0), np.repeat(highs[keep], 2, axis=0)
        hi[2 * rows, axis] = middle
        lo[2 * rows + 1, axis] = after
        levels = np.repeat(boxes["level"][indices].astype(np.int64), 2)
        whole = np.zeros(len(indices), dtype=bool)
        pieces = []
        for level in np.unique(levels):
            some = np.flatnonzero(levels == level)
            analysed = self.prover.analyse(
                lo[some], hi[some], bins=int(BINS[level]), known=known[some], in_time=in_time
            )
            both = analysed.seen.reshape(-1, 2).all(axis=1)
            whole[some[::2] // 2] = both
            pieces.append((some, analysed, np.repeat(both, 2)))
        nodes = np.zeros(len(lo), dtype=np.int64)
        nodes[::2], nodes[1::2] = boxes["node"][indices], boxes["node"][indices]
        left, right = self.tree.split(
            boxes["node"][indices][whole].astype(np.int64), axis[whole], middle[whole], after[whole]
        )
        nodes[2 * rows[whole]], nodes[2 * rows[whole] + 1] = left, right
        for some, analysed, both in pieces:
            chosen = np.flatnonzero(both)
            of = some[chosen]
            self._add(lo[of], hi[of], nodes[of], levels[of], known[of], analysed.rows(chosen))
        return indices[whole]

    def _add(
        self,
        lo: Floats,
        hi: Floats,
        nodes: NDArray[np.int64],
        levels: NDArray[np.int64],
        known: NDArray[np.int8],
        analysed: BoxBounds,
    ) -> None:
        """Close boxes that are decided, keep the others open."""
        self.looks += len(lo)
        share = self.axes.shares(lo, hi)
        self.tree.close(nodes, analysed.status, share)
        self.fair += float(share[analysed.status == 1].sum())
        self.unfair += float(share[analysed.status == 2].sum())
        if self._keep_closed:
            done = analysed.status > 0
            self.closed.append((lo[done], hi[done], analysed.status[done]))
        for index in np.flatnonzero(analysed.status == 2)[: _EXAMPLES - len(self.examples)]:
            self.examples.append((lo[index].copy(), hi[index].copy()))
        left = np.flatnonzero((analysed.status == 0) & (share > 0))
        fair, unfair = analysed.fair[left], analysed.unfair[left]
        share = share[left]
        self.boxes.append(
            {
                "lo": lo[left],
                "hi": hi[left],
                "share": share,
                "fair": fair * share,
                "unfair": unfair * share,
                "undecided": np.clip(1.0 - fair - unfair, 0.0, 1.0) * share,
                "cover": analysed.cover[left] * share,
                "expected": analysed.expected[left] * share,
                "axis": analysed.axis[left],
                "level": levels[left],
                "node": nodes[left],
                "known": _marked(known[left], analysed.known[left]),
            }
        )


def known_before(known: NDArray[Any]) -> NDArray[np.int8]:
    """Return what was known of units before a box's last look, which can so be repeated exactly."""
    return np.where(known > _KNOWN, 0, known).astype(np.int8)


def known_after(known: NDArray[Any]) -> NDArray[np.int8]:
    """Return what was known afterwards."""
    return np.where(known > _KNOWN, known - _KNOWN, known).astype(np.int8)


def _marked(before: NDArray[np.int8], after: NDArray[np.int8]) -> NDArray[np.int8]:
    """Mark what became known by a look."""
    return np.where(before == after, after, after + np.int8(_KNOWN)).astype(np.int8)


Column = NDArray[np.generic]

# Columns of one number a box.
_COLUMNS: dict[str, type[np.generic]] = {
    "share": np.float64,  # Of the domain; these parts of it:
    "fair": np.float64,
    "unfair": np.float64,
    "undecided": np.float64,
    "cover": np.float64,  # What the pieces that cover the undecided part have together.
    "expected": np.float64,  # Roughly what finer counting would leave undecided.
    "axis": np.int16,  # To split; -1 if there is none.
    "level": np.int8,  # Of counting.
    "node": np.int32,  # Of the tree.
}
_FIRST = 1024


class OpenBoxes:
    """Boxes with what is proved of them; a row a box, in no order."""

    def __init__(self, axes: int, known_units: int = 0, *, exact: bool = False) -> None:
        self._count = 0
        ends = np.float32 if exact else np.float64
        self._columns: dict[str, Column] = {
            # If whole numbers are small, float32 holds every end exactly.
            "lo": np.zeros((_FIRST, axes), dtype=ends),
            "hi": np.zeros((_FIRST, axes), dtype=ends),
            "known": np.zeros((_FIRST, known_units), dtype=np.int8),
        }
        for name, kind in _COLUMNS.items():
            self._columns[name] = np.zeros(_FIRST, dtype=kind)

    def __len__(self) -> int:
        return self._count

    def ends(self, indices: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return some boxes, (n, axes) each."""
        lo, hi = self._columns["lo"][indices], self._columns["hi"][indices]
        return lo.astype(np.float64), hi.astype(np.float64)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a column; a view."""
        column: NDArray[np.float64] = self._columns[name][: self._count]  # type: ignore[assignment]  # a few are ints
        return column

    def append(self, rows: Mapping[str, Column]) -> None:
        """Add boxes."""
        added = len(rows["share"])
        needed = self._count + added
        if needed > len(self._columns["share"]):
            size = max(needed, 2 * len(self._columns["share"]))
            for name, column in self._columns.items():
                grown = np.zeros((size, *column.shape[1:]), dtype=column.dtype)
                grown[: self._count] = column[: self._count]
                self._columns[name] = grown
        for name, column in self._columns.items():
            column[self._count : needed] = rows[name]
        self._count = needed

    def remove(self, indices: NDArray[np.intp]) -> None:
        """Take boxes out; the last ones move into their places."""
        left = self._count - len(indices)
        gone = np.zeros(self._count, dtype=bool)
        gone[indices] = True
        holes = np.flatnonzero(gone[:left])
        movers = left + np.flatnonzero(~gone[left:])
        for column in self._columns.values():
            column[holes] = column[movers]
        self._count = left

    def to_arrays(self) -> dict[str, Column]:
        """Return all columns."""
        return {name: self[name].copy() for name in self._columns}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Column]) -> OpenBoxes:
        """Read what :meth:`to_arrays` gave."""
        lo, known = arrays["lo"], arrays["known"]
        boxes = cls(lo.shape[1], known.shape[1], exact=lo.dtype == np.float32)
        boxes.append({name: arrays[name] for name in boxes._columns})
        return boxes


_DEPTH = 13
_NODES = 2 ** (_DEPTH + 1)
ROOT = 1


class SplitTree:
    """Nodes 1 (the root), and 2 n and 2 n + 1 below node n, down to a fixed depth."""

    def __init__(self) -> None:
        # Along which axis a node was split (-1 if it was not), and where.
        self.axis = np.full(_NODES, -1, dtype=np.int64)
        self.left_end = np.zeros(_NODES)
        self.right_start = np.zeros(_NODES)
        # Shares of the domain in boxes decided as a whole, by the deepest node they are in.
        self.fair = np.zeros(_NODES)
        self.unfair = np.zeros(_NODES)

    def split(
        self,
        nodes: NDArray[np.int64],
        axis: NDArray[np.int64],
        left_end: Floats,
        right_start: Floats,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Note splits of boxes and give the nodes of the halves; deep ones stay where they are."""
        told = nodes < _NODES // 2
        # A node that is told belongs to one box, so nothing is noted twice.
        inner = nodes[told]
        self.axis[inner] = axis[told]
        self.left_end[inner] = left_end[told]
        self.right_start[inner] = right_start[told]
        return np.where(told, 2 * nodes, nodes), np.where(told, 2 * nodes + 1, nodes)

    def close(self, nodes: NDArray[np.int64], status: NDArray[np.int8], share: Floats) -> None:
        """Note boxes that are decided as a whole."""
        for of, kind in ((self.fair, 1), (self.unfair, 2)):
            chosen = status == kind
            np.add.at(of, nodes[chosen], share[chosen])

    def totals(self, nodes: NDArray[np.int64], values: Floats, closed: Floats) -> Floats:
        """Sum values of open boxes and of closed ones over each node and all below it."""
        total = closed + np.bincount(nodes, values, minlength=_NODES)
        for node in range(_NODES - 1, 1, -1):
            total[node // 2] += total[node]
        return np.asarray(total)

    def children(self, node: int) -> tuple[int, int] | None:
        """Return the two nodes below one, if it was split."""
        return (2 * node, 2 * node + 1) if self.axis[node] >= 0 else None

    def box(self, node: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return a node's box; `low` and `high` are the domain's."""
        low, high = low.copy(), high.copy()
        for level in range(node.bit_length() - 2, -1, -1):
            parent = node >> (level + 1)
            axis = self.axis[parent]
            if (node >> level) & 1:
                low[axis] = self.right_start[parent]
            else:
                high[axis] = self.left_end[parent]
        return low, high

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return all arrays."""
        return {f"tree_{name}": value for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> SplitTree:
        """Read what :meth:`to_arrays` gave."""
        tree = cls()
        for name in vars(tree):
            setattr(tree, name, arrays[f"tree_{name}"].copy())
        return tree
