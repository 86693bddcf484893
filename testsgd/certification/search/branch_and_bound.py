"""Branch and bound, best first: the boxes with the largest undecided share are analysed next.

No box is given up at some depth, nor because it holds a counterexample. In an open box either the
half-spaces are counted more finely, if rounding leaves most of it undecided, or the box is halved
along the axis that does most to the gap between the lines. What is proved of the halves replaces
what was proved of the box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

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
# Added to what is known of a unit if the last analysis of its box found it.
_KNOWN = 2
# Boxes that are unfair as a whole, kept to show people from.
_EXAMPLES = 64


WhenDecided: TypeAlias = Callable[[Floats, Floats, NDArray[np.int8], Floats], None]


_BITS = 24


def without_last_bits(numbers: Floats) -> Floats:
    """Return numbers rounded to their leading 24 bits.

    Machine code may add up in another order than Python does, and so may another processor; what is
    chosen by such sums, and by what is left of them after a subtraction, must not hang on their
    last bits.

    Parameters
    ----------
    numbers : numpy.ndarray of float64

    Returns
    -------
    numpy.ndarray of float64
        Of the same shape.

    Examples
    --------
    >>> sums = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1])
    >>> bool(sums[0] == sums[1]), bool(np.ptp(without_last_bits(sums)) == 0)
    (False, True)
    """
    mantissas, exponents = np.frexp(numbers)
    rounded: Floats = np.ldexp(np.round(np.ldexp(mantissas, _BITS)), exponents - _BITS)
    return rounded


def _largest(worth: Floats, count: int) -> NDArray[np.intp]:
    """Return the indices of the largest numbers, in falling order; of equal ones the first.

    The order decides which boxes go without a look when time is up.
    """
    least = -np.partition(-worth, count - 1)[count - 1]
    above = np.flatnonzero(worth > least)
    equal = np.flatnonzero(worth == least)[: count - len(above)]
    chosen = np.concatenate([above, equal])
    return chosen[np.argsort(-worth[chosen], kind="stable")]


class BranchAndBound:
    """A branch-and-bound search over the boxes of one problem, continued step by step.

    The open boxes, and the boxes that are decided as a whole, cover the domain and do not overlap.

    Parameters
    ----------
    prover : Prover
        The prover of the problem, within its ``with`` statement.
    keep_closed : bool
        Whether the decided boxes are kept one by one in ``closed``, for tests.
    when_decided : callable, optional
        Called with boxes that are decided as a whole: their lower and upper ends, of shape
        (n, axes), their status, 1 for fair and 2 for unfair, and their shares of the domain, of
        shape (n,).

    Attributes
    ----------
    axes : Axes
        The free inputs of the problem.
    boxes : OpenBoxes
        The open boxes.
    tree : SplitTree
        How boxes were split, with the shares of the decided ones.
    fair, unfair : float
        Shares of the domain in boxes that are decided as a whole.
    looks : int
        How many boxes were analysed so far; one that was analysed twice counts twice.
    examples : list of (numpy.ndarray, numpy.ndarray)
        The ends of up to 64 boxes that are unfair as a whole.
    closed : list of (numpy.ndarray, numpy.ndarray, numpy.ndarray)
        The ends and the status of the boxes that each analysis decided; empty without
        `keep_closed`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> from testsgd.certification.proving import build_problem
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> problem = build_problem(find_network(model), find_domain(ranges, protected="man"))
    >>> with Prover(problem) as prover:
    ...     search = BranchAndBound(prover)
    ...     search.begin()
    ...     while search.step():
    ...         pass
    >>> shares = search.shares  # Skills of 8, 9 and 10 out of 20 are enough for men alone.
    >>> round(shares.certified, 9), round(shares.falsified, 9), shares.undecided
    (0.85, 0.15, 0.0)
    """

    def __init__(
        self,
        prover: Prover,
        *,
        keep_closed: bool = False,
        when_decided: WhenDecided | None = None,
    ) -> None:
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
        self._when_decided = when_decided

    def begin(self) -> None:
        """Analyse the whole domain as the first box."""
        lo, hi = self.axes.low[None], self.axes.high[None]
        analysed = self.prover.analyse(lo, hi, bins=int(BINS[0]))
        nodes = np.full(1, ROOT, dtype=np.int64)
        before = np.zeros((1, self.prover.known_units), dtype=np.int8)
        self._add(lo, hi, nodes, np.zeros(1, dtype=np.int64), before, analysed)

    @property
    def shares(self) -> Shares:
        """The shares of the domain that are proved so far, and the undecided rest."""
        certified = self.fair + float(self.boxes["fair"].sum())
        falsified = self.unfair + float(self.boxes["unfair"].sum())
        if not self.boxes["undecided"].any():
            return Shares(1.0 - min(falsified, 1.0), min(falsified, 1.0), 0.0)
        # A rounding error of the sums must not make a proof.
        certified = max(0.0, certified - _SUMS)
        falsified = max(0.0, falsified - _SUMS)
        return Shares(certified, falsified, max(0.0, 1.0 - certified - falsified))

    def step(self, in_time: Callable[[], bool] | None = None) -> bool:
        """Analyse the boxes with the largest undecided shares; return False if there are none.

        `in_time` is asked before each piece of work; once it is False, the other boxes stay as they
        are.
        """
        boxes = self.boxes
        worth = np.where(boxes["axis"] >= 0, boxes["undecided"], 0.0)
        finer = (boxes["level"] < len(BINS) - 1) & (boxes["expected"] < _WORTH * boxes["undecided"])
        worth = np.where(finer, boxes["undecided"], worth)
        # Of boxes that are equal but for the last bits of a sum the first is taken.
        worth = without_last_bits(worth)
        count = min(max(_LEAST, len(boxes) // _PART), _MOST, len(boxes))
        if count == 0:
            return False
        chosen = _largest(worth, count)
        chosen = chosen[worth[chosen] > _NOTHING]
        if not len(chosen):
            return False
        recounted = finer[chosen]
        replaced = [
            self._recount(chosen[recounted], in_time),
            self._split(chosen[~recounted], in_time),
        ]
        boxes.remove(np.concatenate(replaced))
        return True

    def _recount(
        self, indices: NDArray[np.intp], in_time: Callable[[], bool] | None
    ) -> NDArray[np.intp]:
        """Analyse boxes with the next number of bins; return the indices of those replaced."""
        boxes = self.boxes
        levels = boxes["level"][indices].astype(np.int64) + 1
        replaced = []
        for level in np.unique(levels):
            members = indices[levels == level]
            lo, hi = boxes.ends(members)
            known = known_after(boxes["known"][members])
            analysed = self.prover.analyse(
                lo, hi, bins=int(BINS[level]), known=known.copy(), in_time=in_time
            )
            seen = np.flatnonzero(analysed.seen)
            nodes = boxes["node"][members][seen].astype(np.int64)
            rows = np.full(len(seen), level)
            self._add(lo[seen], hi[seen], nodes, rows, known[seen], analysed.rows(seen))
            replaced.append(members[seen])
        return np.concatenate([np.zeros(0, dtype=np.intp), *replaced])

    def _split(
        self, indices: NDArray[np.intp], in_time: Callable[[], bool] | None
    ) -> NDArray[np.intp]:
        """Halve boxes along their axes; return the indices of those replaced.

        A box is replaced only if both halves were analysed in time. Half 2 i is the lower half of
        the i-th box, half 2 i + 1 the upper one.
        """
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
        indices = indices[keep]
        axis = axis[keep]
        middle = middle[keep]
        discrete = discrete[keep]
        rows = np.arange(len(indices))
        known = np.repeat(known_after(boxes["known"][indices]), 2, axis=0)
        after = np.where(discrete, middle + 1, middle)
        lo = np.repeat(lows[keep], 2, axis=0)
        hi = np.repeat(highs[keep], 2, axis=0)
        hi[2 * rows, axis] = middle
        lo[2 * rows + 1, axis] = after
        levels = np.repeat(boxes["level"][indices].astype(np.int64), 2)
        whole = np.zeros(len(indices), dtype=bool)
        pieces = []
        for level in np.unique(levels):
            members = np.flatnonzero(levels == level)
            analysed = self.prover.analyse(
                lo[members],
                hi[members],
                bins=int(BINS[level]),
                known=known[members],
                in_time=in_time,
            )
            both = analysed.seen.reshape(-1, 2).all(axis=1)
            whole[members[::2] // 2] = both
            pieces.append((members, analysed, np.repeat(both, 2)))
        nodes = np.zeros(len(lo), dtype=np.int64)
        nodes[::2] = boxes["node"][indices]
        nodes[1::2] = boxes["node"][indices]
        left, right = self.tree.split(
            boxes["node"][indices][whole].astype(np.int64), axis[whole], middle[whole], after[whole]
        )
        nodes[2 * rows[whole]] = left
        nodes[2 * rows[whole] + 1] = right
        for members, analysed, both in pieces:
            chosen = np.flatnonzero(both)
            of = members[chosen]
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
        """Close boxes that are decided, keep the others open.

        `lo` and `hi` have the shape (n, axes), `known` (n, units), all others (n,). An open box
        keeps its shares of the domain: what is proved within it as `fair` and `unfair`, and what is
        not, ``undecided = (1 - fair - unfair) * share``.
        """
        self.looks += len(lo)
        share = self.axes.shares(lo, hi)
        self.tree.close(nodes, analysed.status, share)
        self.fair += float(share[analysed.status == 1].sum())
        self.unfair += float(share[analysed.status == 2].sum())
        if self._keep_closed:
            done = analysed.status > 0
            self.closed.append((lo[done], hi[done], analysed.status[done]))
        if self._when_decided is not None:
            done = analysed.status > 0
            self._when_decided(lo[done], hi[done], analysed.status[done], share[done])
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
    """Return what was known of units before the last analysis of their boxes.

    From that the analysis can be repeated exactly. `known` has shape (boxes, known units).
    """
    return np.where(known > _KNOWN, 0, known).astype(np.int8)


def known_after(known: NDArray[Any]) -> NDArray[np.int8]:
    """Return what was known of units after the last analysis, shape (boxes, known units)."""
    return np.where(known > _KNOWN, known - _KNOWN, known).astype(np.int8)


def _marked(before: NDArray[np.int8], after: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return what is known after an analysis, with a mark on what became known by it."""
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
    """The open boxes with what is proved of each; a row a box, in no order."""

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
        """Return the lower and upper ends of boxes, shape (n, axes) each."""
        lo, hi = self._columns["lo"][indices], self._columns["hi"][indices]
        return lo.astype(np.float64), hi.astype(np.float64)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return a column of all boxes, a view whose first axis are the boxes."""
        column: NDArray[np.float64] = self._columns[name][: self._count]  # type: ignore[assignment]  # a few are ints
        return column

    def append(self, rows: Mapping[str, Column]) -> None:
        """Append boxes, given as one array for each column."""
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
        """Remove boxes; the last ones move into their places."""
        left = self._count - len(indices)
        gone = np.zeros(self._count, dtype=bool)
        gone[indices] = True
        holes = np.flatnonzero(gone[:left])
        movers = left + np.flatnonzero(~gone[left:])
        for column in self._columns.values():
            column[holes] = column[movers]
        self._count = left

    def to_arrays(self) -> dict[str, Column]:
        """Return copies of all columns by name."""
        return {name: self[name].copy() for name in self._columns}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Column]) -> OpenBoxes:
        """Return the object whose arrays :meth:`to_arrays` returned."""
        lo, known = arrays["lo"], arrays["known"]
        boxes = cls(lo.shape[1], known.shape[1], exact=lo.dtype == np.float32)
        boxes.append({name: arrays[name] for name in boxes._columns})
        return boxes


_DEPTH = 13
_NODES = 2 ** (_DEPTH + 1)
ROOT = 1


class SplitTree:
    """The splits of the search as a binary tree of a fixed depth.

    Node 1 is the whole domain; the halves of node n are 2 n and 2 n + 1. All arrays have one number
    a node.
    """

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
        """Record how n boxes are split, and return the nodes of both halves, shape (n,) each.

        The halves of a node on the last level that is tracked stay in that node.
        """
        tracked = nodes < _NODES // 2
        # A node above the last level belongs to one box, so nothing is noted twice.
        inner = nodes[tracked]
        self.axis[inner] = axis[tracked]
        self.left_end[inner] = left_end[tracked]
        self.right_start[inner] = right_start[tracked]
        return np.where(tracked, 2 * nodes, nodes), np.where(tracked, 2 * nodes + 1, nodes)

    def close(self, nodes: NDArray[np.int64], status: NDArray[np.int8], share: Floats) -> None:
        """Add the shares of boxes that are decided as a whole to their nodes, all of shape (n,)."""
        for shares, decided_status in ((self.fair, 1), (self.unfair, 2)):
            chosen = status == decided_status
            np.add.at(shares, nodes[chosen], share[chosen])

    def totals(self, nodes: NDArray[np.int64], values: Floats, closed: Floats) -> Floats:
        """Return the sum of values over each node and all nodes below it, shape (nodes,).

        Open boxes have their `values` at `nodes`, shape (n,) each; `closed` has those of decided
        boxes by node.
        """
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
        """Return all arrays by name, each name with the prefix ``tree_``."""
        return {f"tree_{name}": value for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.generic]]) -> SplitTree:
        """Return the object whose arrays :meth:`to_arrays` returned."""
        tree = cls()
        for name in vars(tree):
            setattr(tree, name, arrays[f"tree_{name}"].copy())
        return tree
