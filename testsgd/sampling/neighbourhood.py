"""The perturbation neighbourhood of a table, whole.

Each row has two neighbours for every feature that is not sensitive. They are finitely many, so a
model can be asked about all of them once; what remains for each row is a whole number, how many of
its neighbours get the favourable label, and every group's rate follows without sampling error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from testsgd.data import Table
from testsgd.models import Model
from testsgd.sampling.perturbation import moved

# Rows prepared at once. Fixed, so that the result does not depend on the number of jobs.
CHUNK_ROWS = 1 << 14


@dataclass(frozen=True)
class Neighbourhood:
    """How a model decides about every row's neighbours.

    Attributes
    ----------
    favourable : numpy.ndarray of int32, shape (rows,)
        How many of each row's neighbours get the favourable label.
    decisions : numpy.ndarray of bool, shape (rows,)
        What the model decides about the rows themselves.
    size : int
        Neighbours a row: two for each feature that is not sensitive, or, where there is none, the
        row itself.
    queries : int
        Rows the model was asked about. A neighbour that is the row itself need not be asked again,
        but may be where that is faster.
    """

    favourable: NDArray[np.int32]
    decisions: NDArray[np.bool_]
    size: int
    queries: int


def neighbourhood_size(table: Table) -> int:
    """Count the neighbours of one row."""
    return max(1, 2 * len(table.specification.insensitive))


def explore_neighbourhood(
    model: Model,
    table: Table,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Neighbourhood:
    """Ask a model about every neighbour of every row.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows.
    jobs : int
        Threads that ask at once. The answer does not depend on it.
    progress : callable, optional
        Called with the rows done and their number.

    Returns
    -------
    Neighbourhood
    """
    favourable = np.zeros(len(table), dtype=np.int32)
    decisions = np.zeros(len(table), dtype=bool)
    queries = done = 0
    # One thread a chunk: the libraries' own threads would split sums by the number of processors.
    with threadpool_limits(1):
        chunks = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
            joblib.delayed(_explore_chunk)(model, table, rows) for rows in _chunks(len(table))
        )
        for rows, counts, base, asked in chunks:
            favourable[rows] = counts
            decisions[rows] = base
            queries += asked
            done += len(counts)
            if progress is not None:
                progress(done, len(table))
    return Neighbourhood(favourable, decisions, neighbourhood_size(table), queries)


def _chunks(rows: int) -> Iterator[slice]:
    for start in range(0, rows, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, rows))


def _explore_chunk(
    model: Model, table: Table, rows: slice
) -> tuple[slice, NDArray[np.int32], NDArray[np.bool_], int]:
    frame = table.frame.iloc[rows]
    prepared = model.prepare(frame)
    base = prepared.decisions()
    counts = np.zeros(len(frame), dtype=np.int32)
    for name in table.specification.insensitive:
        feature = table.specification.features[name]
        for direction in (-1, 1):
            column, changed = moved(frame[name], feature, name, direction)
            counts += base & ~changed
            counts[changed] += prepared.decisions_with(name, column, changed)
    if not table.specification.insensitive:
        counts += base
    return rows, counts, base, prepared.asked
