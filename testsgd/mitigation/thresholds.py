"""Thresholds by cell of the sensitive features: the least worst difference that accuracy allows.

Of every cell the rows are put into segments by their scores, and a linear programme chooses which
share of each segment gets the favourable label. It makes the worst difference of all groups as
small as possible, with no more errors than the budget allows. The share never falls with the score,
so what comes out are thresholds, one a cell. Few groups bind, so the programme begins with none and
takes in those that its last answer treats worst.

Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning, have thresholds by
group; the programme over all groups at once is ours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import DataError
from testsgd.rules import Contingency, FrequentRuleSets

Floats = NDArray[np.float64]

# Segments of a cell, by rows and by chances; with more the programme takes longer.
_SEGMENTS = 20
# Groups that each round takes in, and rounds; it ends when none is worse than the programme knows.
_TAKEN_IN = 50
_MOST_ROUNDS = 40
_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Segments:
    """The rows of all cells by score; arrays of shape (segments,), ascending within a cell."""

    cell: NDArray[np.intp]
    rows: Floats
    favourable: Floats  # How many of them are expected to have the favourable label.
    chosen: Floats  # How many of them get it today.
    # The lowest score of each; a row of a cell is in the last segment whose limit it reaches.
    limit: Floats


@dataclass(frozen=True, kw_only=True)
class CellThresholds:
    """A threshold a cell, and what is expected of them."""

    # A score of at least it gets the favourable label; NaN of a cell without rows, shape (cells,).
    thresholds: Floats
    worst: float  # The worst difference of any group, if segments are divided as planned.
    errors: float  # The share of rows whose label is missed, likewise.
    rounds: int  # Linear programmes that were solved.


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


def fair_thresholds(
    scores: Floats,
    chances: Floats,
    decisions: NDArray[np.bool_],
    contingency: Contingency,
    rule_sets: FrequentRuleSets,
    *,
    budget: float,
    no_rate_lowered: bool = False,
) -> CellThresholds:
    """Choose a threshold a cell so that the worst difference of all groups is least.

    Parameters
    ----------
    scores : numpy.ndarray of float64, shape (rows,)
        What the thresholds are for; more means the favourable label.
    chances : numpy.ndarray of float64, shape (rows,)
        The chance of that label, or 1 and 0 where it is known. Labels of few rows in a cell are
        mostly luck, so calibrated scores keep their promise better on other rows.
    decisions : numpy.ndarray of bool, shape (rows,)
        Who gets the label today: all above some score.
    contingency : Contingency
        The rows' sensitive cells.
    rule_sets : FrequentRuleSets
        The groups whose selection rates are compared with those of their complements.
    budget : float
        The share of rows whose label may be missed besides those that today's decisions miss.
    no_rate_lowered : bool
        Whether the selection rate of every cell has to be at least that of today.

    Returns
    -------
    CellThresholds

    Raises
    ------
    DataError
        If the budget is negative, and no thresholds have so few errors.

    References
    ----------
    Hardt, Price and Srebro, Equality of opportunity in supervised learning, NeurIPS 2016, for
    thresholds by group; that all groups are compared, and taken in as they bind, is ours.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.data import check_table, infer_specification
    >>> from testsgd.rules import lay_out, mine, sensitive_axes
    >>> scores = np.array([0.1, 0.4, 0.6, 0.9, 0.2, 0.3, 0.45, 0.7])
    >>> people = pd.DataFrame({"sex": ["m"] * 4 + ["f"] * 4})
    >>> labels = pd.Series(["no", "yes"] * 4)
    >>> specification = infer_specification(
    ...     people, sensitive=["sex"], label="label", labels=labels, name="people", favourable="yes"
    ... ).specification
    >>> table = check_table(people.assign(label=labels), specification, source="people")
    >>> contingency = lay_out(table, sensitive_axes(table))
    >>> groups = mine(contingency, contingency.tally()[None], min_count=1, max_features=1)
    >>> found = fair_thresholds(scores, scores, scores >= 0.5, contingency, groups, budget=0.02)
    >>> round(found.worst, 2), contingency.axes[0].labels, found.thresholds.tolist()
    (0.0, ('f', 'm'), [0.45, 0.6])
    """
    cells = contingency.cell_of_row.astype(np.intp)
    segments = score_segments(scores, chances, decisions, cells)
    programme = _Programme(
        segments, contingency.cells, budget=budget, no_rate_lowered=no_rate_lowered
    )
    rows = contingency.tally().astype(np.float64)
    inside = rule_sets.sums_of(contingency, rows[None])[0]
    outside = rule_sets.totals(contingency, rows[None])[0] - inside
    taken = np.zeros(len(rule_sets), dtype=bool)
    rounds, worst = 0, 0.0
    shares = programme.solve()
    while rounds < _MOST_ROUNDS:
        rounds += 1
        chosen = np.bincount(segments.cell, segments.rows * shares, contingency.cells)
        of_groups = rule_sets.sums_of(contingency, chosen[None])[0]
        others = rule_sets.totals(contingency, chosen[None])[0] - of_groups
        sizes = np.abs(of_groups / inside - others / outside)
        worst = float(sizes.max(initial=0.0))
        if worst <= programme.worst + _TOLERANCE:
            break
        order = np.argsort(-np.where(taken, -np.inf, sizes), kind="stable")[:_TAKEN_IN]
        new = order[sizes[order] > programme.worst + _TOLERANCE]
        taken[new] = True
        members = rule_sets.members(new, contingency) / inside[new, None]
        members -= rule_sets.complement_members(new, contingency) / outside[new, None]
        programme.compare(members)
        shares = programme.solve()
    return CellThresholds(
        thresholds=_thresholds(segments, shares, scores, contingency),
        worst=worst,
        errors=programme.errors(shares),
        rounds=rounds,
    )


class _Programme:
    """The linear programme: shares of segments, and the worst difference of the groups compared."""

    def __init__(
        self, segments: Segments, cells: int, *, budget: float, no_rate_lowered: bool
    ) -> None:
        from scipy import sparse

        self._segments, self._total = segments, float(segments.rows.sum())
        count = len(segments.rows)
        self._by_cell = sparse.csr_array(
            (segments.rows, (segments.cell, np.arange(count))), shape=(cells, count)
        )
        # Each favourable row that is chosen is an error less, each other one more.
        self._cost = (segments.rows - 2 * segments.favourable) / self._total
        self._missed = float(segments.favourable.sum()) / self._total
        rising = np.flatnonzero(segments.cell[1:] == segments.cell[:-1])
        ones = np.ones(len(rising))
        lines = np.arange(len(rising))
        falls = sparse.csr_array(
            (
                np.r_[ones, -ones],
                (np.r_[lines, lines], np.r_[rising, rising + 1]),
            ),
            shape=(len(rising), count + 1),
        )
        errors = sparse.csr_array(np.r_[self._cost, 0.0][None])
        self._left = [falls, errors]
        today = segments.chosen / segments.rows
        self._right = [np.zeros(len(rising)), np.array([self._cost @ today + budget + 1e-9])]
        if no_rate_lowered:
            self._left.append(sparse.hstack([-self._by_cell, sparse.csr_array((cells, 1))]))
            self._right.append(1e-9 - np.bincount(segments.cell, segments.chosen, cells))
        self.worst = 0.0

    def errors(self, shares: Floats) -> float:
        """Return the share of rows whose label is missed."""
        return self._missed + float(self._cost @ shares)

    def compare(self, members: Floats) -> None:
        """Take in groups whose rates less those of others these weights give, (groups, cells)."""
        from scipy import sparse

        differences = sparse.csr_array(members @ self._by_cell)
        worst = sparse.csr_array(-np.ones((len(members), 1)))
        for sign in (1.0, -1.0):
            self._left.append(sparse.hstack([sign * differences, worst]))
            self._right.append(np.zeros(len(members)))

    def solve(self) -> Floats:
        """Return the share of each segment that is chosen; sets the worst difference."""
        from scipy import sparse
        from scipy.optimize import linprog

        count = len(self._cost)
        # Of the answers that are as fair that with the fewest errors.
        target = np.r_[1e-3 * self._cost, 1.0]
        solved = linprog(
            target,
            A_ub=sparse.vstack(self._left, format="csr"),
            b_ub=np.concatenate(self._right),
            bounds=[(0.0, 1.0)] * count + [(0.0, 1.0)],
            method="highs",
        )
        if solved.x is None:
            raise DataError(
                "no thresholds miss so few labels",
                where="budget",
                remedy="allow more errors",
            )
        self.worst = float(solved.x[-1])
        shares: Floats = np.clip(solved.x[:-1], 0.0, 1.0)
        return shares


def _thresholds(
    segments: Segments, shares: Floats, scores: Floats, contingency: Contingency
) -> Floats:
    """Return the score of each cell above which as many rows are as the programme chooses."""
    cells = contingency.cell_of_row
    chosen = np.bincount(segments.cell, segments.rows * shares, contingency.cells)
    order = np.lexsort((-scores, cells))
    starts = np.searchsorted(cells[order], np.arange(contingency.cells))
    ends = np.searchsorted(cells[order], np.arange(contingency.cells), side="right")
    thresholds = np.where(starts < ends, np.inf, np.nan)
    for cell in np.flatnonzero(chosen > 0.5):
        own = scores[order[starts[cell] : ends[cell]]]
        thresholds[cell] = own[min(len(own), int(np.rint(chosen[cell]))) - 1]
    return thresholds
