"""What thresholds of a cell of the sensitive features choose, by the scores of its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Segments of a cell, by rows and by chances; with more the points are nearer to those of all rows.
_SEGMENTS = 20


@dataclass(frozen=True, kw_only=True)
class Segments:
    """The rows of all cells by score; arrays of shape (segments,), ascending within a cell."""

    cell: NDArray[np.intp]
    rows: Floats
    favourable: Floats  # How many of them are expected to have the favourable label.
    chosen: Floats  # How many of them get it today.
    # The lowest score of each; a row of a cell is in the last segment whose limit it reaches.
    limit: Floats


def score_segments(
    scores: Floats, chances: Floats, decisions: NDArray[np.bool_], cells: NDArray[np.intp]
) -> Segments:
    """Put rows into segments by cell and score; all arrays have shape (rows,).

    Rows of equal scores are in one segment.

    Examples
    --------
    >>> cells = np.zeros(4, dtype=np.intp)
    >>> segments = score_segments(
    ...     np.array([0.1, 0.3, 0.3, 0.9]),
    ...     np.array([0.0, 1.0, 0.0, 1.0]),
    ...     np.array([False, False, False, True]),
    ...     cells,
    ... )
    >>> segments.rows.tolist(), segments.favourable.tolist()
    ([1.0, 2.0, 1.0], [0.0, 1.0, 1.0])
    """
    order = np.lexsort((scores, cells))
    cell, score = cells[order], scores[order]
    new_cell = np.r_[True, cell[1:] != cell[:-1]]
    first_of_cell = np.flatnonzero(new_cell)
    size = np.diff(np.r_[first_of_cell, len(cell)])
    place = np.arange(len(cell)) - np.repeat(first_of_cell, size)
    # Parts of as many rows, and of as different chances; and today's decisions are segments whole.
    part = place * _SEGMENTS // np.repeat(size, size)
    chance = (chances[order] * _SEGMENTS).astype(np.intp)
    wanted = new_cell
    for parts in (part, chance, decisions[order]):
        wanted = wanted | np.r_[True, parts[1:] != parts[:-1]]
    # A segment begins where a part does, or behind the rows that score the same there.
    same = np.r_[False, (score[1:] == score[:-1]) & ~new_cell[1:]]
    run = np.cumsum(~same) - 1
    begins_run = np.zeros(run[-1] + 1, dtype=bool)
    begins_run[run[wanted]] = True
    starts = np.flatnonzero(~same & begins_run[run])
    counts = np.diff(np.r_[starts, len(cell)]).astype(np.float64)
    return Segments(
        cell=cell[starts],
        rows=counts,
        favourable=np.add.reduceat(chances[order], starts),
        chosen=np.add.reduceat(decisions[order].astype(np.float64), starts),
        limit=score[starts],
    )


@dataclass(frozen=True, kw_only=True)
class OperatingPoints:
    """What some thresholds of a cell choose; arrays of shape (points,).

    They are the corners of the convex hull, so what lies between two thresholds is between them.
    """

    cell: NDArray[np.intp]
    favourable: Floats  # How many rows with the favourable label are chosen.
    others: Floats  # How many other rows are.


def operating_points(segments: Segments) -> OperatingPoints:
    """Return the corners of what the thresholds of each cell choose, from none to all rows."""
    cells, favourable, others = [], [], []
    for cell in np.unique(segments.cell):
        own = segments.cell == cell
        # From the segment with the highest scores down.
        hits = np.r_[0.0, np.cumsum(segments.favourable[own][::-1])]
        misses = np.r_[0.0, np.cumsum((segments.rows - segments.favourable)[own][::-1])]
        corners = _corners(hits, misses)
        cells.append(np.full(len(corners), cell))
        favourable.append(hits[corners])
        others.append(misses[corners])
    return OperatingPoints(
        cell=np.concatenate(cells),
        favourable=np.concatenate(favourable),
        others=np.concatenate(others),
    )


def _corners(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Return the corners of the convex hull of points, none of whose coordinates ever falls.

    Andrew's monotone chain, once for each side.
    """
    found: set[int] = set()
    for side in (1.0, -1.0):
        chain: list[int] = []
        for point in range(len(x)):
            while len(chain) > 1 and side * _turn(x, y, chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        found |= set(chain)
    return np.array(sorted(found), dtype=np.intp)


def _turn(x: Floats, y: Floats, first: int, middle: int, last: int) -> float:
    """Return a number above 0 if the way over three points turns left, below 0 if right."""
    ahead = (x[middle] - x[first]) * (y[last] - y[first])
    return float(ahead - (y[middle] - y[first]) * (x[last] - x[first]))
