"""What an analysis gives of boxes, as arrays that the compiled code fills in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import Floats


class BoxBounds(NamedTuple):
    """What is proved of B boxes, and where to split them; all arrays have shape (B,) if not noted.

    Shares are of the box.

    Notes
    -----
    ``1 - fair - unfair`` is the undecided share of a box.
    :meth:`testsgd.certification.proving.Prover.analyse` returns the bounds. Several threads may
    fill the arrays in, each its own rows.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> from testsgd.certification.proving import Prover, build_problem
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> problem = build_problem(find_network(model), find_domain(ranges, protected="man"))
    >>> with Prover(problem) as prover:
    ...     bounds = prover.analyse(np.array([[0.0], [8.0]]), np.array([[7.0], [10.0]]), bins=48)
    >>> bounds.status.tolist()
    [1, 2]
    >>> bounds.rows(np.array([1])).status.tolist()
    [2]
    """

    status: NDArray[np.int8]  # 1 all of it is fair, 2 all of it is unfair, 0 open.
    fair: Floats  # Share of the box that is provably fair,
    unfair: Floats  # and that is provably unfair.
    cover: Floats  # Share of the pieces that cover the rest, see search.disjoint_cover.
    apart: NDArray[np.int8]  # Which half-spaces are disjoint, see count_half_spaces.
    axis: NDArray[np.int64]  # Along which to split; -1 if there is nothing to split.
    expected: Floats  # Roughly the share that finer counting would leave undecided.
    seen: NDArray[np.bool_]  # False if there was no time for the box.
    # Units after the first layer that are surely on (1) or off (2) in it, and in every part of it;
    # shape (B, known units).
    known: NDArray[np.int8]
    # The half-spaces that were counted, shape (B, SPACES, columns), their thresholds and the share
    # counted in each, shape (B, SPACES); without rows if not asked for.
    forms: Floats
    thresholds: Floats
    counted: Floats

    def rows(self, rows: NDArray[np.intp]) -> BoxBounds:
        """Return the bounds of some boxes, without their half-spaces."""
        return BoxBounds(
            status=self.status[rows],
            fair=self.fair[rows],
            unfair=self.unfair[rows],
            cover=self.cover[rows],
            apart=self.apart[rows],
            axis=self.axis[rows],
            expected=self.expected[rows],
            seen=self.seen[rows],
            known=self.known[rows],
            forms=self.forms[:0],
            thresholds=self.thresholds[:0],
            counted=self.counted[:0],
        )
