"""SliceLine on the sensitive features: the slices in which a decision is most frequent.

A slice is a cell of each of some sensitive features, the same bins as the audit's. SliceLine was
made for errors of a model; here unfavourable decisions are the errors of a first run, favourable
ones those of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.baseline import (
    MOST_FINDINGS,
    BaselineResult,
    Deadline,
    ShippedBaseline,
    Subject,
)
from testsgd.baselines.combinations import finding_of

# How much the error counts against the size, as in the experiments of the paper.
_ALPHA = 0.95

# A slice as the cell of each axis, ascending, and its score.
Slice = tuple[dict[int, int], float]


class SliceLine(ShippedBaseline):
    """SliceLine, as it is installed from PyPI.

    Once its time is up the next run is not begun; SliceLine itself cannot be stopped.

    References
    ----------
    Sagadeeva and Boehm, SliceLine: fast, linear-algebra-based slice finding for ML model debugging,
    SIGMOD 2021.
    """

    method = "sliceline"
    title = "SliceLine"
    package = "sliceline"
    measure = (
        "slice score: 0.95 times how far the share of the decision is above that of all rows, as a "
        "part of it, less 0.05 times how many times more rows are outside"
    )
    finding = "any slice with a score above 0"

    def _run(self, subject: Subject, deadline: Deadline) -> BaselineResult:
        with self._calls():
            from sliceline.slicefinder import Slicefinder
        axes, columns = coded_columns(subject)
        slices: list[Slice] = []
        note = ""
        for decision in (~subject.decisions, subject.decisions):
            if deadline.passed:
                note = "time was up before it was done"
                break
            if decision.any() and axes:
                slices += self._slices(Slicefinder, subject, axes, columns, decision)
        best = sorted(slices, key=lambda item: (-item[1], len(item[0]), sorted(item[0].items())))
        return self._result(
            findings=tuple(
                finding_of(subject, cells, score) for cells, score in best[:MOST_FINDINGS]
            ),
            seconds=deadline.seconds,
            note=note,
        )

    def _slices(
        self,
        slice_finder: Any,
        subject: Subject,
        axes: Sequence[int],
        columns: NDArray[np.int64],
        decision: NDArray[np.bool_],
    ) -> list[Slice]:
        """Return the best slices that have rules; more are asked for until there are enough."""
        wanted = MOST_FINDINGS
        while True:
            with self._calls():
                finder = slice_finder(
                    alpha=_ALPHA,
                    k=wanted,
                    max_l=min(subject.max_features, len(axes)),
                    min_sup=subject.min_count,
                    verbose=False,
                )
                finder.fit(columns, decision.astype(np.float64))
            slices = _read(finder, axes)
            if len(slices) >= MOST_FINDINGS or len(finder.top_slices_) < wanted:
                return slices
            wanted *= 2


def coded_columns(subject: Subject) -> tuple[list[int], NDArray[np.int64]]:
    """Return the rows as SliceLine takes them: the cell of each axis as a whole number.

    A cell over which there is no rule is 0, and the others count from 1. An axis without two
    different numbers is left out: with it SliceLine finds each slice several times.

    Returns
    -------
    axes : list of int
        The indices of the axes that are kept.
    columns : numpy.ndarray of int64, shape (rows, axes)
    """
    coordinates = subject.contingency.coordinates[subject.contingency.cell_of_row]
    columns: dict[int, NDArray[np.int64]] = {}
    for index, axis in enumerate(subject.axes):
        ruled = np.array([axis.cell_rule(cell) is not None for cell in range(len(axis.labels))])
        code = np.where(ruled, np.arange(1, len(axis.labels) + 1), 0)
        column = code[coordinates[:, index]].astype(np.int64)
        if len(np.unique(column)) > 1:
            columns[index] = column
    rows = len(coordinates)
    return list(columns), np.array(list(columns.values()), dtype=np.int64).reshape(-1, rows).T


def _read(finder: Any, axes: Sequence[int]) -> list[Slice]:
    """Return the slices of a finder, without those over a cell that has no rule."""
    slices = []
    for codes, statistics in zip(finder.top_slices_, finder.top_slices_statistics_, strict=True):
        cells = {
            axis: int(code) - 1 for axis, code in zip(axes, codes, strict=True) if code is not None
        }
        if min(cells.values()) >= 0:
            slices.append((cells, float(statistics["slice_score"])))
    return slices
