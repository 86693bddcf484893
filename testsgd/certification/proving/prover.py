"""The analysis of boxes: what is proved of each, and along which axis to split it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.box_bounds import BoxBounds
from testsgd.certification.proving.half_spaces import SPACES
from testsgd.certification.proving.linear_bounds import Bounds, bound, settled
from testsgd.certification.proving.problem import Problem
from testsgd.single_thread import on_one_thread

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


class Prover:
    """Analyses boxes of one problem with `jobs` threads; used in a ``with`` statement.

    By default (`compiled` is None) machine code runs if numba is installed and
    :func:`can_compile` allows the network. With it, a unit is assumed to be on one side of 0 if
    less than a part in `rare`, of what is undecided, is on the other; see
    :mod:`testsgd.certification.proving.compiled_bounds`. An empty `rare`: no assumptions.

    Parameters
    ----------
    problem : Problem
        The network on a domain, of :func:`build_problem`.
    jobs : int
        The number of threads.
    compiled : bool, optional
        Whether machine code analyses the boxes.
    rare : tuple of float
        The parts that are tried.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> from testsgd.certification.proving import build_problem
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> problem = build_problem(find_network(model), find_domain(ranges, protected="man"))
    >>> with Prover(problem) as prover:
    ...     bounds = prover.analyse(np.array([[0.0], [8.0]]), np.array([[7.0], [10.0]]), bins=48)
    >>> bounds.status.tolist()  # Fair for skills up to 7, unfair for skills from 8 to 10.
    [1, 2]
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
        self._limits = on_one_thread("blas")
        self._limits.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if self._limits is not None:
            self._limits.__exit__(*exception)

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
        """Return what is proved of B boxes.

        Parameters
        ----------
        lo, hi : numpy.ndarray, shape (B, axes)
            The ends of the boxes.
        bins : int
            How many steps the rounded axes of a half-space make together.
        known : numpy.ndarray of int8, shape (B, known units), optional
            What is known of units in larger boxes. A contiguous array is filled in.
        keep : bool
            Whether the half-spaces are returned too.
        in_time : callable, optional
            Asked before each piece of the boxes; if it is False, that piece is left unseen.

        Returns
        -------
        BoxBounds
            The bounds of the boxes, in their order.
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
        """Return arrays for `boxes` boxes of which nothing is proved yet."""
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
        """Call `piece` once for each of `starts`, on all threads."""
        if self._pool is None or len(starts) < 2:
            for start in starts:
                piece(start)
        else:
            list(self._pool.map(piece, starts))

    def _piece(self, count: int) -> int:
        """Return how many boxes a thread analyses in one piece of work, of `count` boxes in all."""
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
        """Analyse the boxes from `start` to `stop` by machine code, as `_array_work` does."""
        # Imported here: the machine code takes a second to load.
        from testsgd.certification.proving.compiled_analysis import analyse_boxes

        analyse_boxes(self._flat, lo, hi, start, stop, bins, self.rare, analysed)

    def _array_work(
        self, lo: Floats, hi: Floats, start: int, stop: int, bins: int, analysed: BoxBounds
    ) -> None:
        """Analyse the boxes from `start` to `stop` by arrays, and write what is proved of them.

        `lo` and `hi` have the shape (B, axes), the arrays of `analysed` (B,). An undecided box is
        split along the axis with the largest score, or the widest one where no score is above 0.
        Where no pairs of classes are compared, the shares of undecided boxes that are fair and
        unfair are counted too, in `bins` steps.
        """
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
        # The first person's own change is 0, not the rounding noise around it.
        forms = machine.Forms(
            low=np.ascontiguousarray(bounds.lower_form[box, :, 0]),
            high=np.ascontiguousarray(bounds.upper_form[box, :, 0]),
            low_constant=np.ascontiguousarray(bounds.lower_constant[box, :, 0]),
            high_constant=np.ascontiguousarray(bounds.upper_constant[box, :, 0]),
            least_change=np.append(0.0, bounds.least_change[box, 1:, 0]),
            most_change=np.append(0.0, bounds.most_change[box, 1:, 0]),
        )
        spaces = machine.make_spaces(problem.axes.width)
        whole = counting.make_box(problem.axes.arrays, lo, hi)
        analysed.expected[box] = machine.choose_half_spaces(
            problem.above, problem.below, whole, forms, spaces
        )
        fair, unfair, cover, _ = machine.count_half_spaces(
            whole, bins, spaces, counting.make_histogram(len(lo), bins)
        )
        analysed.fair[box] = fair
        analysed.unfair[box] = unfair
        analysed.cover[box] = cover
        if len(analysed.forms):
            analysed.forms[box] = spaces.forms
            analysed.thresholds[box] = spaces.thresholds
            analysed.counted[box] = spaces.counted


def can_compile(problem: Problem) -> bool:
    """Return whether the compiled code can analyse the network of a problem."""
    return (
        len(problem.maps) > 1
        and len(problem.maps[-1].bias) == 1
        and all(kind == "leaky_relu" and slope in (0.0, 1.0) for kind, slope in problem.activations)
        and problem.widest <= _WIDEST_COMPILED
        and problem.persons <= _MOST_PERSONS
    )


def _flatten(problem: Problem) -> Any:
    """Return a problem as the arrays that the compiled code reads, a `Flat`."""
    from testsgd.certification.proving.compiled_bounds import Flat

    axes, maps = problem.axes, problem.maps
    sizes = np.array([axes.width, *(layer.weights.shape[1] for layer in maps)])
    lengths = [layer.weights.size for layer in maps]
    return Flat(
        sizes=sizes,
        weights=np.concatenate([np.ascontiguousarray(layer.weights.T).ravel() for layer in maps]),
        weight_at=np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
        neuron_at=np.concatenate([[0], np.cumsum(sizes[1:])]).astype(np.int64),
        biases=np.concatenate([layer.bias for layer in maps]),
        extra=np.concatenate([layer.extra for layer in maps]),
        slopes=np.array([slope for _, slope in problem.activations]),
        rounding=np.array([layer.rounding for layer in maps]),
        offsets=problem.offsets,
        offset_noise=problem.offset_noise,
        first_absolute=np.ascontiguousarray(maps[0].absolute.T).ravel(),
        last_absolute=np.concatenate([maps[-1].absolute[:, 0], maps[-1].bias_absolute]),
        above=problem.above,
        below=problem.below,
        axes=axes.arrays,
    )
