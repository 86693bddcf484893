"""Thresholds by cell of the sensitive features: the least worst difference that accuracy allows.

Of every cell the rows are put into segments by their scores, and a linear programme chooses which
share of each segment gets the favourable label. It makes the worst difference of all groups as
small as possible, with no more errors than the budget allows. The differences are those of
selection rates, or of other rates that are linear in the shares. The share never falls with the
score, so what comes out are thresholds, one a cell. Few groups bind, so the programme begins with
none and takes in those that its last answer treats worst.

Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning, have thresholds by
group; the programme over all groups at once is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import DataError, ParameterError
from testsgd.mitigation.compared_rates import (
    ACCURACY,
    FALSE_POSITIVE_RATE,
    SELECTION_RATE,
    TRUE_POSITIVE_RATE,
)
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
    # The worst difference of any group, if segments are divided as planned. One threshold a cell
    # can follow the plan for one rate that grows with each decision; accuracies, and several rates
    # at once, may differ by more.
    worst: float
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
    rule_sets: FrequentRuleSets | Mapping[str, FrequentRuleSets],
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
    rule_sets : FrequentRuleSets, or mapping of str to FrequentRuleSets
        The groups whose selection rates are compared with those of their complements. A mapping
        has the groups of each rate that is compared: ``selection_rate``, ``true_positive_rate``,
        ``false_positive_rate`` or ``accuracy``. Labels are counted as expected by the chances; a
        group is left out of a rate that no rows of it or of its complement are expected to count
        for.
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
    ParameterError
        If a rate is none of these.

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
    >>> true_positive = {"true_positive_rate": groups}
    >>> labels = np.array([0.0, 1.0] * 4)
    >>> found = fair_thresholds(
    ...     scores, labels, scores >= 0.5, contingency, true_positive, budget=0.02
    ... )
    >>> round(found.worst, 2), found.thresholds.tolist()
    (0.0, [0.7, 0.9])
    """
    cells = contingency.cell_of_row.astype(np.intp)
    segments = score_segments(scores, chances, decisions, cells)
    programme = _Programme(
        segments, contingency.cells, budget=budget, no_rate_lowered=no_rate_lowered
    )
    by_rate = rule_sets if isinstance(rule_sets, Mapping) else {SELECTION_RATE: rule_sets}
    rates = [_SegmentRate(name, each, segments, contingency) for name, each in by_rate.items()]
    # What each row counts for, all rates together; as good as nothing is still in order.
    ones = np.ones(len(scores))
    counted = sum((_counted_by(name, ones, chances) for name in by_rate), np.zeros(len(scores)))
    counted = np.maximum(counted, _TOLERANCE)
    # The differences of all rates stand one after another.
    ends = np.cumsum([len(rate) for rate in rates])
    taken = np.zeros(sum(len(rate) for rate in rates), dtype=bool)
    rounds, worst = 0, 0.0
    shares = programme.solve()
    while rounds < _MOST_ROUNDS:
        rounds += 1
        sizes = np.abs(np.concatenate([np.zeros(0), *(rate.differences(shares) for rate in rates)]))
        worst = float(sizes.max(initial=0.0))
        if worst <= programme.worst + _TOLERANCE:
            break
        order = np.argsort(-np.where(taken, -np.inf, sizes), kind="stable")[:_TAKEN_IN]
        new = order[sizes[order] > programme.worst + _TOLERANCE]
        taken[new] = True
        for rate, end in zip(rates, ends, strict=True):
            first = end - len(rate)
            own = new[(new >= first) & (new < end)] - first
            programme.compare(rate.coefficients(own), rate.constants(own))
        shares = programme.solve()
    return CellThresholds(
        thresholds=_thresholds(segments, shares, scores, contingency, counted=counted),
        worst=worst,
        errors=programme.errors(shares),
        rounds=rounds,
    )


def _counted_by(name: str, rows: Floats, favourable: Floats) -> Floats:
    """Return how many rows a rate counts, all arrays of one shape."""
    if name in (SELECTION_RATE, ACCURACY):
        return rows
    if name == TRUE_POSITIVE_RATE:
        return favourable
    if name == FALSE_POSITIVE_RATE:
        return rows - favourable
    known = (SELECTION_RATE, TRUE_POSITIVE_RATE, FALSE_POSITIVE_RATE, ACCURACY)
    raise ParameterError(
        f"{name!r} is no rate that can be compared",
        where="rule_sets",
        remedy=f"write one of {', '.join(known)}",
    )


class _SegmentRate:
    """A rate of all groups as a linear function of the shares of segments that are chosen."""

    def __init__(
        self,
        name: str,
        rule_sets: FrequentRuleSets,
        segments: Segments,
        contingency: Contingency,
    ) -> None:
        from scipy import sparse

        self._rule_sets, self._contingency = rule_sets, contingency
        rows, favourable = segments.rows, segments.favourable
        counted = _counted_by(name, rows, favourable)
        # For how many rows of each segment the decision counts if none is chosen, and for how many
        # more if all are.
        self._fixed, self._added = np.zeros(len(rows)), counted
        if name == ACCURACY:
            self._fixed, self._added = rows - favourable, 2 * favourable - rows
        self._cell = segments.cell
        inside, outside = self._sides(counted)
        # Divided by infinity, the difference of a group that is left out is 0.
        left_out = np.minimum(inside, outside) <= _TOLERANCE
        self._inside = np.where(left_out, np.inf, inside)
        self._outside = np.where(left_out, np.inf, outside)
        self._by_cell = sparse.csr_array(
            (self._added, (segments.cell, np.arange(len(rows)))),
            shape=(contingency.cells, len(rows)),
        )

    def __len__(self) -> int:
        return len(self._rule_sets)

    def differences(self, shares: Floats) -> Floats:
        """Return each group's rate less that of its complement, shape (groups,)."""
        inside, outside = self._sides(self._added * shares + self._fixed)
        return np.asarray(inside / self._inside - outside / self._outside)

    def constants(self, groups: NDArray[np.intp]) -> Floats:
        """Return the differences of some groups if no segment is chosen, shape (groups,)."""
        return self.differences(np.zeros(len(self._cell)))[groups]

    def coefficients(self, groups: NDArray[np.intp]) -> Floats:
        """Return what each segment adds to the differences of some groups, (groups, segments)."""
        members = self._rule_sets.members(groups, self._contingency) / self._inside[groups, None]
        members -= (
            self._rule_sets.complement_members(groups, self._contingency)
            / self._outside[groups, None]
        )
        return np.asarray(members @ self._by_cell)

    def _sides(self, of_segments: Floats) -> tuple[Floats, Floats]:
        """Sum a quantity of segments over each group, and over its complement."""
        by_cell = np.bincount(self._cell, of_segments, self._contingency.cells)[None]
        inside = self._rule_sets.sums_of(self._contingency, by_cell)[0]
        return inside, self._rule_sets.totals(self._contingency, by_cell)[0] - inside


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

    def compare(self, coefficients: Floats, constants: Floats) -> None:
        """Take in groups by their differences: coefficients (groups, segments) and constants."""
        from scipy import sparse

        differences = sparse.csr_array(coefficients)
        worst = sparse.csr_array(-np.ones((len(constants), 1)))
        for sign in (1.0, -1.0):
            self._left.append(sparse.hstack([sign * differences, worst]))
            self._right.append(-sign * constants)

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
    segments: Segments, shares: Floats, scores: Floats, contingency: Contingency, *, counted: Floats
) -> Floats:
    """Return the score of each cell above which as much is counted as the programme chooses.

    `counted`: what each row counts for, above 0, shape (rows,); of selection rates 1.
    """
    cells = contingency.cell_of_row
    ascending = np.lexsort((scores, cells))
    share_of_row = np.repeat(shares, segments.rows.astype(np.intp))
    chosen = np.bincount(cells[ascending], counted[ascending] * share_of_row, contingency.cells)
    order = np.lexsort((-scores, cells))
    starts = np.searchsorted(cells[order], np.arange(contingency.cells))
    ends = np.searchsorted(cells[order], np.arange(contingency.cells), side="right")
    thresholds = np.where(starts < ends, np.inf, np.nan)
    for cell in np.flatnonzero(chosen > 0):
        own = order[starts[cell] : ends[cell]]
        reached = np.r_[0.0, np.cumsum(counted[own])]
        number = int(np.rint(np.interp(chosen[cell], reached, np.arange(len(reached)))))
        if number:
            thresholds[cell] = scores[own[number - 1]]
    return thresholds
