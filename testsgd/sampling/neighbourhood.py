"""The perturbation neighbourhood of rows: all of it, or random draws from it.

Each row has two neighbours for every feature that is not sensitive. They are finitely many, so a
model can be asked about all of them once; what remains for each row is a whole number, how many of
its neighbours get the favourable label, and every group's rate follows without sampling error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table
from testsgd.models import Model, PlainRows, PreparedRows
from testsgd.models.blackbox import Variant
from testsgd.progress import Counter, PhaseProgress, parts_of
from testsgd.sampling.perturbation import moved
from testsgd.single_thread import on_one_thread

# Rows prepared at once. Fixed, so that the result does not depend on the number of jobs.
CHUNK_ROWS = 1 << 14


@dataclass(frozen=True)
class Neighbourhood:
    """Decisions of a model about every row and every row's neighbours, counted by row."""

    # How many of the answers about each row's neighbours are favourable; shape (rows,).
    favourable: NDArray[np.int32]
    # What the model decides about the rows themselves, at the first draw; shape (rows,).
    decisions: NDArray[np.bool_]
    # How many of the answers about each row itself are favourable; there are `draws`; shape
    # (rows,).
    own: NDArray[np.int32]
    # Answers a row: about two neighbours for each feature that is not sensitive, or, where there is
    # none, about the row itself; each as often as it was asked.
    size: int
    draws: int  # How often each question was asked.
    # Rows the model was asked about. A neighbour that is the row itself need not be asked again,
    # but may be where that is faster.
    queries: int
    # For each feature that is not sensitive, how many of the neighbours that differ in it get the
    # favourable label, summed over the rows of each cell; None if no cells were given; shape
    # (features, cells).
    by_feature: NDArray[np.int64] | None = None


def neighbourhood_size(table: Table) -> int:
    """Return the number of neighbours of one row: two for each feature that is not sensitive.

    If all features are sensitive, it is 1: the row itself.

    Parameters
    ----------
    table : Table
        The rows.

    Returns
    -------
    int
    """
    return max(1, 2 * len(table.specification.insensitive))


def explore_neighbourhood(
    model: Model,
    table: Table,
    *,
    jobs: int = 1,
    cell_of_row: NDArray[np.integer] | None = None,
    draws: int = 1,
    progress: PhaseProgress | None = None,
) -> Neighbourhood:
    """Return a model's decisions about every neighbour of every row, counted by row.

    A neighbour differs from its row by one step in one feature that is not sensitive. Rows are
    prepared in chunks of fixed size, so that the result does not depend on the number of threads.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows.
    jobs : int
        Threads that ask at once. The answer does not depend on it.
    cell_of_row : numpy.ndarray of int, shape (rows,), optional
        The cell of each row, to sum what each feature does over.
    draws : int
        How often to ask each question, of a model that answers differently each time.
    progress : callable, optional
        Called with the questions answered and their number: about each row and each neighbour, one
        that is the row itself included.

    Returns
    -------
    Neighbourhood
    """
    favourable = np.zeros(len(table), dtype=np.int32)
    decisions = np.zeros(len(table), dtype=bool)
    cells = 0 if cell_of_row is None else int(cell_of_row.max(initial=-1)) + 1
    by_feature = np.zeros((len(table.specification.insensitive), cells), dtype=np.int64)
    own = np.zeros(len(table), dtype=np.int32)
    queries = done = 0
    questions = draws * len(table) * (1 + 2 * len(table.specification.insensitive))
    counter = Counter(progress, questions)
    # One thread a chunk: the libraries' own threads would split sums by the number of processors.
    with on_one_thread():
        chunks = joblib.Parallel(n_jobs=jobs, prefer="threads", return_as="generator")(
            joblib.delayed(_explore_chunk)(model, table, rows, cell_of_row, cells, counter)
            for _ in range(draws)
            for rows in _chunks(len(table))
        )
        for rows, counts, base, sums, asked in chunks:
            if done < len(table):
                decisions[rows] = base
            favourable[rows] += counts
            own[rows] += base
            by_feature += sums
            queries += asked
            done += len(counts)
    size = neighbourhood_size(table) * draws
    moved_sums = None if cell_of_row is None else by_feature
    return Neighbourhood(favourable, decisions, own, size, draws, queries, moved_sums)


def _chunks(rows: int) -> Iterator[slice]:
    """Yield slices of at most `CHUNK_ROWS` rows that cover all rows."""
    for start in range(0, rows, CHUNK_ROWS):
        yield slice(start, min(start + CHUNK_ROWS, rows))


def _explore_chunk(
    model: Model,
    table: Table,
    rows: slice,
    cell_of_row: NDArray[np.integer] | None,
    cells: int,
    counter: Counter,
) -> tuple[slice, NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64], int]:
    """Return a model's decisions about some rows and their neighbours.

    Returned are the rows; the favourable answers about each row's neighbours, shape (chunk,); the
    decisions about the rows themselves, shape (chunk,); favourable answers by moved feature and
    cell, shape (features, cells); and the number of rows that the model was asked about.
    """
    frame = table.frame.iloc[rows]
    prepared = model.prepare(frame)
    with counter.asking(len(frame)):
        base = prepared.decisions()
    counts = np.zeros(len(frame), dtype=np.int32)
    sums = np.zeros((len(table.specification.insensitive), cells), dtype=np.int64)
    insensitive = table.specification.insensitive
    moves = [(index, direction) for index in range(len(insensitive)) for direction in (-1, 1)]
    by_move = np.zeros((len(insensitive), len(frame)), dtype=np.int32)
    # Of few rows several moves fit in one chunk.
    at_once = max(1, CHUNK_ROWS // max(1, len(frame)))
    for start in range(0, len(moves), at_once):
        variants = []
        for index, direction in moves[start : start + at_once]:
            name = insensitive[index]
            feature = table.specification.features[name]
            column, changed = moved(frame[name], feature, name, direction)
            variants.append((name, column, changed))
        with counter.asking(len(frame) * len(variants)):
            decided = _decisions_with_each(prepared, variants)
        for (index, _), (_, _, changed), decisions in zip(
            moves[start : start + at_once], variants, decided, strict=True
        ):
            by_move[index] += base & ~changed
            by_move[index, changed] += decisions
    counts += by_move.sum(axis=0, dtype=np.int32)
    if cell_of_row is not None:
        for index, answers in enumerate(by_move):
            sums[index] = np.bincount(cell_of_row[rows], weights=answers, minlength=cells)
    if not insensitive:
        counts += base
    return rows, counts, base, sums, prepared.asked


def _decisions_with_each(
    prepared: PreparedRows, variants: Sequence[Variant]
) -> list[NDArray[np.bool_]]:
    """Return the decisions on each variant of prepared rows, in one call where that is faster."""
    if isinstance(prepared, PlainRows):
        return prepared.decisions_with_each(variants)
    return [prepared.decisions_with(*variant) for variant in variants]


# Drawn rows predicted at once.
BATCH_ROWS = 1 << 16


def decisions_about(
    model: Model,
    table: Table,
    rows: NDArray[np.intp],
    answers: NDArray[np.int8],
    counter: Counter,
) -> NDArray[np.bool_]:
    """Return a model's decisions about some rows as they are, asking only where none is known.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The n rows of which these are some.
    rows : numpy.ndarray of int, shape (m,)
        The positions of the rows to decide on.
    answers : numpy.ndarray of int, shape (n,)
        What it answered before, as :meth:`Table.answered_by` returns it. The answers that are
        found here are written into it.
    counter : Counter
        It counts the rows that are asked about.

    Returns
    -------
    numpy.ndarray of bool, shape (m,)
    """
    missing = rows[answers[rows] < 0]
    for start in range(0, len(missing), BATCH_ROWS):
        part = missing[start : start + BATCH_ROWS]
        with counter.asking(len(part)):
            answers[part] = model.decisions(table.frame.iloc[part])
    decided: NDArray[np.bool_] = answers[rows] == 1
    return decided


@dataclass(frozen=True)
class Draws:
    """Neighbours that were drawn: a seed row, a feature and a direction for each of m draws.

    Examples
    --------
    >>> draws = draw(np.random.default_rng(0), 100, 3, 5)
    >>> len(draws), bool(np.isin(draws.directions, (-1, 1)).all())
    (5, True)
    """

    rows: NDArray[np.int64]  # The seed row of each draw; shape (m,).
    # Which of the features that are not sensitive is moved; shape (m,).
    features: NDArray[np.int64]
    directions: NDArray[np.int64]  # 1 for up, -1 for down; shape (m,).

    def __len__(self) -> int:
        return len(self.rows)


def draw(
    generator: np.random.Generator, candidates: NDArray[np.intp] | int, features: int, count: int
) -> Draws:
    """Draw seed rows, features and directions, each uniformly and independently.

    Parameters
    ----------
    generator : numpy.random.Generator
        The source of randomness.
    candidates : numpy.ndarray of int, or int
        The rows that may be a seed; a number n stands for all of 0, ..., n - 1.
    features : int
        How many features may be moved.
    count : int
        How many draws.

    Returns
    -------
    Draws
    """
    if isinstance(candidates, int):
        rows = generator.integers(0, candidates, count)
    else:
        rows = candidates[generator.integers(0, len(candidates), count)].astype(np.int64)
    moved_features = generator.integers(0, max(features, 1), count)
    directions = 2 * generator.integers(0, 2, count) - 1
    return Draws(rows, moved_features, directions)


def drawn_frame(table: Table, draws: Draws) -> pd.DataFrame:
    """Return the drawn neighbours as a data frame, one row a draw.

    Parameters
    ----------
    table : Table
        The rows; never changed.
    draws : Draws
        Which neighbours.

    Returns
    -------
    pandas.DataFrame
    """
    return drawn_neighbours(table, draws)[0]


def drawn_neighbours(table: Table, draws: Draws) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Return the drawn neighbours, and which of them differ from their seed rows.

    Parameters
    ----------
    table : Table
        The rows; never changed.
    draws : Draws
        Which neighbours.

    Returns
    -------
    frame : pandas.DataFrame
        One row a draw.
    changed : numpy.ndarray of bool, shape (m,)
        False where the move would leave the domain, or the cell is missing.
    """
    frame = table.frame.iloc[draws.rows].reset_index(drop=True)
    columns = {}
    changed = np.zeros(len(draws), dtype=bool)
    for index, name in enumerate(table.specification.insensitive):
        chosen = draws.features == index
        if not chosen.any():
            continue
        # Where the feature is not the one drawn, the direction is 0: the cell stays.
        directions = np.where(chosen, draws.directions, 0)
        feature = table.specification.features[name]
        columns[name], moved_here = moved(frame[name], feature, name, directions)
        changed |= moved_here
    return frame.assign(**columns), changed


def decide_draws(model: Model, table: Table, draws: Draws) -> NDArray[np.bool_]:
    """Return a model's decisions about drawn neighbours, asked in batches.

    Parameters
    ----------
    model : Model
        The black box.
    table : Table
        The rows that neighbours were drawn of.
    draws : Draws
        Which neighbours.

    Returns
    -------
    numpy.ndarray of bool, shape (m,)
        Which draws get the favourable label.
    """
    decisions = np.zeros(len(draws), dtype=bool)
    parts = parts_of(len(draws))
    for start in range(0, len(draws), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        batch = Draws(draws.rows[part], draws.features[part], draws.directions[part])
        frame = drawn_frame(table, batch)
        with parts.asking(len(batch)):
            decisions[part] = model.decisions(frame)
    return decisions
