"""Analyse boxes: what of them is proved, and where to split them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.half_spaces import SPACES
from testsgd.certification.proving.linear_bounds import Bounds, bound, settled
from testsgd.certification.proving.problem import Problem

# Wider layers go through matrix products of many boxes at once.
_WIDEST_COMPILED = 160
_MOST_PERSONS = 128
# Numbers of the largest array that is worked on at once.
_BLOCK = 2_000_000
# A unit is assumed to be on one side of 0 if what is on the other is less than one of these parts
# of what is undecided without; each is tried.
RARE = (0.15,)
# Boxes of one piece of work of a thread, at most and at least: some milliseconds, and some tenths.
_PIECE, _LEAST_PIECE = 64, 4
# Pieces for each thread, so that none waits long for another.
_PIECES = 8


class BoxBounds(NamedTuple):
    """What is proved of B boxes, and where to split them."""

    status: NDArray[np.int8]  # 1 all of it is fair, 2 all of it is unfair, 0 open.
    fair: Floats  # Share of the box that is provably fair,
    unfair: Floats  # and that is provably unfair.
    cover: Floats  # Share of the pieces that cover the rest, see search.disjoint_cover.
    apart: NDArray[np.int8]  # Which half-spaces are disjoint, see count_half_spaces.
    axis: NDArray[np.int64]  # Along which to split; -1 if there is nothing to split.
    expected: Floats  # Roughly the share that finer counting would leave undecided.
    seen: NDArray[np.bool_]  # False if there was no time for the box.
    # Units after the first layer that are surely on (1) or off (2) in it, and in every part of it.
    known: NDArray[np.int8]
    # The half-spaces that were counted, and the share counted in each; empty if not asked for.
    forms: Floats
    thresholds: Floats
    counted: Floats

    def rows(self, rows: NDArray[np.intp]) -> BoxBounds:
        """Keep some boxes, without their half-spaces."""
        dropped = ("forms", "thresholds", "counted")
        columns = self._asdict().items()
        return BoxBounds(**{name: x[:0] if name in dropped else x[rows] for name, x in columns})


class Prover:
    """Analyses boxes of one problem, with so many threads (`jobs`).

    By default machine code runs if numba is installed and the network is one for it. With it, a
    unit is assumed to be on one side of 0 if less than a part in `rare`, of what is undecided, is
    on the other; see :mod:`testsgd.certification.proving.compiled_bounds`. None: no assumptions.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        jobs: int = 1,
        compiled: bool | None = None,
        rare: tuple[float, ...] = RARE,
    ) -> None:
        self.problem = problem
        self.jobs = jobs
        self.rare = np.array(rare, dtype=np.float64)
        if compiled is None:
            compiled = can_compile(problem) and find_spec("numba") is not None
        self._flat: Any = _flatten(problem) if compiled else None
        units = sum(layer.weights.shape[1] for layer in problem.maps[1:-1])
        self.known_units = problem.persons * units if compiled else 0
        self._pool = ThreadPoolExecutor(jobs) if jobs > 1 else None
        self._limits: Any = None

    def __enter__(self) -> Prover:
        # As many threads as were asked for: the matrix products take none of their own.
        self._limits = threadpool_limits(1, user_api="blas")
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._limits is not None:
            self._limits.restore_original_limits()

    def analyse(
        self,
        lo: Floats,
        hi: Floats,
        *,
        bins: int,
        known: NDArray[np.int8] | None = None,
        keep: bool = False,
        in_time: Callable[[], bool] | None = None,
    ) -> BoxBounds:
        """Bound B boxes, shape (B, axes), and count with so many bins what is proved of them.

        `known` is what was known of units in larger boxes; `keep` gives the half-spaces; `in_time`
        is asked before each piece, and False leaves the rest unseen.
        """
        # Machine code is made for arrays of one layout.
        lo, hi = np.ascontiguousarray(lo), np.ascontiguousarray(hi)
        analysed = self.unseen(len(lo), known=known, keep=keep)
        work = self._array_work if self._flat is None else self._machine_work
        size = self._piece(len(lo))

        def piece(start: int) -> None:
            if in_time is None or in_time():
                stop = min(start + size, len(lo))
                work(lo, hi, start, stop, bins, analysed)
                analysed.seen[start:stop] = True

        self.spread(piece, range(0, len(lo), size))
        return analysed

    def unseen(
        self, boxes: int, *, known: NDArray[np.int8] | None = None, keep: bool = False
    ) -> BoxBounds:
        """Return the bounds of boxes of which nothing is proved yet."""
        if known is None:
            known = np.zeros((boxes, self.known_units), dtype=np.int8)
        kept = boxes if keep else 0
        return BoxBounds(
            status=np.zeros(boxes, dtype=np.int8),
            fair=np.zeros(boxes),
            unfair=np.zeros(boxes),
            cover=np.zeros(boxes),
            apart=np.full(boxes, 3, dtype=np.int8),
            axis=np.full(boxes, -1, dtype=np.int64),
            expected=np.zeros(boxes),
            seen=np.zeros(boxes, dtype=np.bool_),
            known=np.ascontiguousarray(known),
            forms=np.zeros((kept, SPACES, self.problem.axes.width)),
            thresholds=np.full((kept, SPACES), np.inf),
            counted=np.zeros((kept, SPACES)),
        )

    def spread(self, piece: Callable[[int], None], starts: range) -> None:
        """Do pieces of work that start at some places, by all threads."""
        if self._pool is None or len(starts) < 2:
            for start in starts:
                piece(start)
        else:
            list(self._pool.map(piece, starts))

    def _piece(self, count: int) -> int:
        """Return the size of the pieces that so many boxes are cut into."""
        if self._flat is None:
            units = sum(layer.weights.shape[1] for layer in self.problem.maps)
            forms = self.problem.persons * units * max(self.problem.widest, 1)
            return max(1, min(256, int(_BLOCK // forms)))
        if self._pool is None:
            return _PIECE
        return min(max(-(-count // (self.jobs * _PIECES)), _LEAST_PIECE), _PIECE)

    def _machine_work(
        self, lo: Floats, hi: Floats, start: int, stop: int, bins: int, analysed: BoxBounds
    ) -> None:
        # Imported here: the machine code takes a second to load.
        from testsgd.certification.proving.compiled_analysis import analyse_boxes

        analyse_boxes(self._flat, lo, hi, start, stop, bins, self.rare, analysed)

    def _array_work(
        self, lo: Floats, hi: Floats, start: int, stop: int, bins: int, analysed: BoxBounds
    ) -> None:
        problem = self.problem
        lo, hi = lo[start:stop], hi[start:stop]
        analysed = BoxBounds._make(array[start:stop] for array in analysed)
        bounds = bound(problem, lo, hi)
        status = settled(problem, bounds)
        analysed.status[:] = status
        analysed.fair[:] = status == 1
        analysed.unfair[:] = status == 2
        analysed.cover[:] = status == 0
        score = np.where(hi > lo, bounds.score, -1.0)
        none = score.max(axis=1) == 0
        widths = np.where(
            hi > lo, (hi - lo) / np.maximum(problem.axes.high - problem.axes.low, 1e-300), -1.0
        )
        score[none] = widths[none]
        axis = score.argmax(axis=1)
        axis[(hi <= lo).all(axis=1)] = -1
        analysed.axis[:] = axis
        analysed.expected[:] = 1.0
        if not problem.pairs:
            for box in map(int, np.flatnonzero(status == 0)):
                self._count(bounds, box, lo[box], hi[box], bins, analysed)

    def _count(
        self, bounds: Bounds, box: int, lo: Floats, hi: Floats, bins: int, analysed: BoxBounds
    ) -> None:
        """Choose and count the half-spaces of one of the boxes; nothing is assumed."""
        from testsgd.certification.proving import compiled_counting as counting
        from testsgd.certification.proving import compiled_half_spaces as machine

        problem = self.problem
        lines = (bounds.lower_form, bounds.upper_form, bounds.lower_constant, bounds.upper_constant)
        # The first person's own change is 0, not the rounding noise around it.
        changes = (bounds.least_change[box, 1:, 0], bounds.most_change[box, 1:, 0])
        forms = machine.Forms(
            *(np.ascontiguousarray(line[box, :, 0]) for line in lines),
            *(np.append(0.0, change) for change in changes),
        )
        spaces = machine.make_spaces(problem.axes.width)
        whole = counting.make_box(problem.axes.arrays, lo, hi)
        analysed.expected[box] = machine.choose_half_spaces(
            problem.above, problem.below, whole, forms, spaces
        )
        fair, unfair, cover, _ = machine.count_half_spaces(
            whole, bins, spaces, counting.make_histogram(len(lo), bins)
        )
        analysed.fair[box], analysed.unfair[box], analysed.cover[box] = fair, unfair, cover
        if len(analysed.forms):
            analysed.forms[box] = spaces.forms
            analysed.thresholds[box] = spaces.thresholds
            analysed.counted[box] = spaces.counted


def can_compile(problem: Problem) -> bool:
    """Return whether the compiled code knows such a network."""
    return (
        len(problem.maps) > 1
        and len(problem.maps[-1].bias) == 1
        and all(kind == "leaky_relu" and slope in (0.0, 1.0) for kind, slope in problem.activations)
        and problem.widest <= _WIDEST_COMPILED
        and problem.persons <= _MOST_PERSONS
    )


def _flatten(problem: Problem) -> Any:
    """Lay out a problem for the compiled code."""
    from testsgd.certification.proving.compiled_bounds import Flat

    axes, maps = problem.axes, problem.maps
    sizes = np.array([axes.width, *(layer.weights.shape[1] for layer in maps)])
    lengths = [layer.weights.size for layer in maps]
    return Flat(
        sizes,
        np.concatenate([np.ascontiguousarray(layer.weights.T).ravel() for layer in maps]),
        np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
        np.concatenate([[0], np.cumsum(sizes[1:])]).astype(np.int64),
        np.concatenate([layer.bias for layer in maps]),
        np.concatenate([layer.extra for layer in maps]),
        np.array([slope for _, slope in problem.activations]),
        np.array([layer.rounding for layer in maps]),
        problem.offsets,
        problem.offset_noise,
        np.ascontiguousarray(maps[0].absolute.T).ravel(),
        np.concatenate([maps[-1].absolute[:, 0], maps[-1].bias_absolute]),
        problem.above,
        problem.below,
        axes.arrays,
    )
