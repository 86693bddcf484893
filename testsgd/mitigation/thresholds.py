"""Thresholds by cell of the sensitive features: the least worst difference that accuracy allows.

Of every cell the rows are put into segments by their scores. A threshold between two segments is an
operating point of the cell: how many rows with the favourable label get it, and how many others. A
linear programme mixes the points of each cell. It makes the worst difference of all groups as small
as possible, with no more errors than the budget allows. The differences are those of selection
rates, or of other rates that are linear in these two numbers. Only the corners of the convex hull
of a cell's points are needed, and few groups bind: so the programme begins with no group and takes
in those that its last answer treats worst. The threshold of a cell is where as many rows are above
it as the mixture has.

Hardt, Price and Srebro (2016), Equality of opportunity in supervised learning, have thresholds by
group; the programme over all groups at once is ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import DataError, ParameterError
from testsgd.mitigation.compared_rates import (
    ACCURACY,
    FALSE_POSITIVE_RATE,
    SELECTION_RATE,
    TRUE_POSITIVE_RATE,
)
from testsgd.mitigation.operating_points import (
    OperatingPoints,
    Segments,
    operating_points,
    score_segments,
)
from testsgd.rules import Contingency, FrequentRuleSets

Floats = NDArray[np.float64]

# Groups that each round takes in, and rounds; it ends when none is worse than the programme knows.
_TAKEN_IN = 50
_MOST_ROUNDS = 40
_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class CellThresholds:
    """A score threshold for each cell, with the worst difference and the errors expected."""

    # A score of at least it gets the favourable label; NaN of a cell without rows, shape (cells,).
    thresholds: Floats
    # The worst difference of any group, if each cell's points are mixed as planned. One threshold
    # a cell can follow the plan for one rate that grows with each decision; accuracies, and several
    # rates at once, may differ by more.
    worst: float
    errors: float  # The share of rows whose label is missed, likewise.
    rounds: int  # Linear programmes that were solved.


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
    """Return a threshold for each cell so that the worst difference of all groups is least.

    A cell is a combination of sensitive values. A linear programme chooses how many rows of each
    cell get the favourable label, with no more errors than the budget allows.

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
    >>> round(found.worst, 2), round(found.errors, 2)
    (0.0, 0.25)
    """
    cells = contingency.cell_of_row.astype(np.intp)
    segments = score_segments(scores, chances, decisions, cells)
    points = operating_points(segments)
    by_rate = rule_sets if isinstance(rule_sets, Mapping) else {SELECTION_RATE: rule_sets}
    rates = [
        _PlannedRate(_counting(name), each, segments, contingency) for name, each in by_rate.items()
    ]
    programme = _Programme(
        segments, points, contingency.cells, budget=budget, no_rate_lowered=no_rate_lowered
    )
    # The differences of all rates stand one after another.
    ends = np.cumsum([len(rate) for rate in rates])
    compared = np.zeros(sum(len(rate) for rate in rates), dtype=bool)
    rounds, worst = 0, 0.0
    plan = programme.solve()
    while rounds < _MOST_ROUNDS:
        rounds += 1
        sizes = np.abs(np.concatenate([np.zeros(0), *(rate.differences(plan) for rate in rates)]))
        worst = float(sizes.max(initial=0.0))
        if worst <= programme.worst + _TOLERANCE:
            break
        order = np.argsort(-np.where(compared, -np.inf, sizes), kind="stable")[:_TAKEN_IN]
        new = order[sizes[order] > programme.worst + _TOLERANCE]
        compared[new] = True
        for rate, end in zip(rates, ends, strict=True):
            first = end - len(rate)
            own = new[(new >= first) & (new < end)] - first
            programme.compare(rate.weights_of_cells(own), rate.counting, rate.constants(own))
        plan = programme.solve()
    return CellThresholds(
        thresholds=_thresholds(
            plan, scores, chances, contingency, [each.counting for each in rates]
        ),
        worst=worst,
        errors=programme.errors(plan),
        rounds=rounds,
    )


@dataclass(frozen=True)
class _Counting:
    """What chosen rows add to the counts of a rate."""

    favourable: float  # To its numerator, a chosen row with the favourable label.
    others: float  # To its numerator, another chosen row.
    counts_favourable: bool  # Whether its denominator has the rows with the favourable label.
    counts_others: bool  # Whether it has the other rows.
    # To its numerator, a row without the favourable label that is not chosen.
    refused: float = 0.0

    def chosen(self, favourable: Floats, others: Floats) -> Floats:
        """Return what chosen rows add to the numerator; all arrays of one shape."""
        return self.favourable * favourable + (self.others - self.refused) * others

    def rows(self, favourable: Floats, others: Floats) -> Floats:
        """Return how many rows the denominator counts; all arrays of one shape."""
        return self.counts_favourable * favourable + self.counts_others * others


_COUNTINGS = {
    SELECTION_RATE: _Counting(1.0, 1.0, True, True),
    TRUE_POSITIVE_RATE: _Counting(1.0, 0.0, True, False),
    FALSE_POSITIVE_RATE: _Counting(0.0, 1.0, False, True),
    ACCURACY: _Counting(1.0, 0.0, True, True, refused=1.0),
}


def _counting(name: str) -> _Counting:
    if name not in _COUNTINGS:
        raise ParameterError(
            f"{name!r} is no rate that can be compared",
            where="rule_sets",
            remedy=f"write one of {', '.join(_COUNTINGS)}",
        )
    return _COUNTINGS[name]


@dataclass(frozen=True)
class _Plan:
    """How many rows of each cell are to be chosen; arrays of shape (cells,)."""

    favourable: Floats
    others: Floats


class _PlannedRate:
    """A rate of all groups, by how many rows of each cell are chosen."""

    def __init__(
        self,
        counting: _Counting,
        rule_sets: FrequentRuleSets,
        segments: Segments,
        contingency: Contingency,
    ) -> None:
        self.counting = counting
        self._rule_sets, self._contingency = rule_sets, contingency
        favourable, rows = (
            np.bincount(segments.cell, values, contingency.cells).astype(np.float64)
            for values in (segments.favourable, segments.rows)
        )
        others = rows - favourable
        self._refused = counting.refused * others
        inside, outside = self._sides(counting.rows(favourable, others))
        # Divided by infinity, the difference of a group that is left out is 0.
        left_out = np.minimum(inside, outside) <= _TOLERANCE
        self._inside = np.where(left_out, np.inf, inside)
        self._outside = np.where(left_out, np.inf, outside)

    def __len__(self) -> int:
        return len(self._rule_sets)

    def differences(self, plan: _Plan) -> Floats:
        """Return each group's rate less that of its complement, shape (groups,)."""
        return self._differences(self.counting.chosen(plan.favourable, plan.others))

    def constants(self, groups: NDArray[np.intp]) -> Floats:
        """Return the differences of some groups if no row is chosen, shape (groups,)."""
        return self._differences(np.zeros(len(self._refused)))[groups]

    def weights_of_cells(self, groups: NDArray[np.intp]) -> Floats:
        """Return what a count of each cell adds to the differences of groups, (groups, cells)."""
        members = self._rule_sets.members(groups, self._contingency)
        complements = self._rule_sets.complement_members(groups, self._contingency)
        weights = members / self._inside[groups, None]
        return np.asarray(weights - complements / self._outside[groups, None])

    def _differences(self, chosen: Floats) -> Floats:
        inside, outside = self._sides(chosen + self._refused)
        return np.asarray(inside / self._inside - outside / self._outside)

    def _sides(self, by_cell: Floats) -> tuple[Floats, Floats]:
        """Sum a quantity of cells over each group, and over its complement."""
        inside = self._rule_sets.sums_of(self._contingency, by_cell[None])[0]
        return inside, self._rule_sets.totals(self._contingency, by_cell[None])[0] - inside


class _Programme:
    """The linear programme: the shares of a cell's operating points, and the worst difference.

    Its variables are these shares, then how many rows with the favourable label of each cell are
    chosen, how many others, and the worst difference.
    """

    def __init__(
        self,
        segments: Segments,
        points: OperatingPoints,
        cells: int,
        *,
        budget: float,
        no_rate_lowered: bool,
    ) -> None:
        from scipy import sparse

        self._total = float(segments.rows.sum())
        self._cells = cells
        self._points = len(points.cell)
        self._missed = float(segments.favourable.sum()) / self._total
        shares, each_cell = np.arange(self._points), sparse.csr_array(sparse.eye(cells))
        no_cell, no_worst = sparse.csr_array((cells, cells)), sparse.csr_array((cells, 1))

        def by_cell(values: Floats) -> Any:
            return sparse.csr_array((values, (points.cell, shares)), shape=(cells, self._points))

        # The shares of a cell make 1, and the rows that are chosen are those of its points.
        blocks: Any = [
            [by_cell(np.ones(self._points)), no_cell, no_cell, no_worst],
            [by_cell(points.favourable), -each_cell, no_cell, None],
            [by_cell(points.others), no_cell, -each_cell, None],
        ]
        self._equal = sparse.bmat(blocks, format="csr")
        present = np.bincount(points.cell, minlength=cells) > 0
        self._equal_to = np.r_[present.astype(np.float64), np.zeros(2 * cells)]
        # Each favourable row that is chosen is an error less, each other one more.
        self._cost = (
            np.r_[np.zeros(self._points), np.full(cells, -1.0), np.full(cells, 1.0), 0.0]
            / self._total
        )
        today = segments.chosen / segments.rows
        errors = float((segments.rows - 2 * segments.favourable) @ today) / self._total
        self._left = [sparse.csr_array(self._cost[None])]
        self._right = [np.array([errors + budget + 1e-9])]
        if no_rate_lowered:
            no_share = sparse.csr_array((cells, self._points))
            self._left.append(sparse.hstack([no_share, -each_cell, -each_cell, no_worst]))
            self._right.append(1e-9 - np.bincount(segments.cell, segments.chosen, cells))
        self.worst = 0.0

    def errors(self, plan: _Plan) -> float:
        """Return the share of rows whose label is missed."""
        return self._missed + float((plan.others - plan.favourable).sum()) / self._total

    def compare(self, weights: Floats, counting: _Counting, constants: Floats) -> None:
        """Take in groups: the weights of cells (groups, cells), and differences without choice."""
        from scipy import sparse

        ones, none = np.ones(self._cells), np.zeros(self._cells)
        differences = np.hstack(
            [
                np.zeros((len(weights), self._points)),
                weights * counting.chosen(ones, none),
                weights * counting.chosen(none, ones),
            ]
        )
        worst = -np.ones((len(weights), 1))
        for sign in (1.0, -1.0):
            self._left.append(sparse.csr_array(np.hstack([sign * differences, worst])))
            self._right.append(-sign * constants)

    def solve(self) -> _Plan:
        """Return how many rows of each cell are to be chosen; sets the worst difference."""
        from scipy import sparse
        from scipy.optimize import linprog

        # Of the answers that are as fair that with the fewest errors.
        target = 1e-3 * self._cost
        target[-1] = 1.0
        bounds: list[tuple[float | None, float | None]] = [(0.0, None)] * len(target)
        # SciPy's hints know no sparse matrices of both kinds together.
        limited: Any = sparse.vstack(self._left, format="csr")
        equal: Any = self._equal
        solved = linprog(
            target,
            A_ub=limited,
            b_ub=np.concatenate(self._right),
            A_eq=equal,
            b_eq=self._equal_to,
            bounds=bounds,
            method="highs",
        )
        if solved.x is None:
            raise DataError(
                "no thresholds miss so few labels",
                where="budget",
                remedy="allow more errors",
            )
        self.worst = float(solved.x[-1])
        favourable, others = np.split(solved.x[self._points : -1], 2)
        return _Plan(favourable=favourable, others=others)


def _thresholds(
    plan: _Plan,
    scores: Floats,
    chances: Floats,
    contingency: Contingency,
    countings: Sequence[_Counting],
) -> Floats:
    """Return the score of each cell above which as many counted rows are as planned."""
    cells = contingency.cell_of_row
    none = np.zeros(contingency.cells)
    wanted = sum((each.rows(plan.favourable, plan.others) for each in countings), none)
    # As good as nothing is still in order.
    of_rows = sum((each.rows(chances, 1 - chances) for each in countings), np.zeros(len(scores)))
    of_rows = np.maximum(of_rows, _TOLERANCE)
    order = np.lexsort((-scores, cells))
    starts = np.searchsorted(cells[order], np.arange(contingency.cells))
    ends = np.searchsorted(cells[order], np.arange(contingency.cells), side="right")
    thresholds = np.where(starts < ends, np.inf, np.nan)
    for cell in np.flatnonzero(wanted > 0):
        own = order[starts[cell] : ends[cell]]
        reached = np.r_[0.0, np.cumsum(of_rows[own])]
        number = int(np.rint(np.interp(wanted[cell], reached, np.arange(len(reached)))))
        if number:
            thresholds[cell] = scores[own[number - 1]]
    return thresholds
