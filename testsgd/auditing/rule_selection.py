"""The fewest rules that explain how selection rates differ between subgroups.

Thousands of groups may have one cause: if a model is hard on women, so it is on women below 60.
Forward selection regresses the rates of the cells of the contingency table on the membership in
groups, weighted by rows: first the group that explains most of the variation, then the one that
explains most of what is left, while that is statistically significant. How much a group would
explain follows from sums over its cells, so a step is one contraction of the lattice.

Cells in which a number is missing are neither in a group by this number nor in its complement.
Their membership is taken for the group's share of the two, so that they explain nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.rules import Contingency, FrequentRuleSets

Members = NDArray[np.bool_]

# From quantities by cell, shape (q, cells), to their sums over all groups, shape (q, groups).
GroupSums = Callable[[Floats], Floats]

# The least share of the variation between cells that the next rule must explain.
LEAST_SHARE = 0.01
# The share by which what a rule set explains is reduced for each rule after its first.
FEATURE_COST = 0.02
# The most rules that are chosen.
MOST_RULES = 10

# The least share of all rows that is not taken for rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CellTable:
    """The selection rates of the cells, which are to be explained, with their weights."""

    rows: Floats  # Weights: rows in each cell; 0 where the rate is not known, shape (cells,)
    rates: Floats  # Selection rate of each cell, shape (cells,)
    # How many independent answers each rate is of; None if they are no rates, shape (cells,)
    answers: Floats | None = None
    # Without `answers`: variance of each rate in samples of rows like these, shape (cells,)
    variances: Floats | None = None

    def most_by_chance(
        self, slopes: Floats, fitted: Floats, critical: float, *, negative: bool
    ) -> float:
        """Return how far from zero a weighted sum of the rates gets by chance.

        Shapes: `slopes`, the weights, and `fitted`, the fitted rates (cells,). It is c
        sqrt(v) + max(0, (c^2 - 1) k / (6 v)), where c is `critical`, v the variance and k the third
        central moment of the sum, of -1 times the sum if it is `negative`. Without `answers` it is
        c sqrt(v).

        The answers of a cell are binomial with the fitted rate: taken from its own, their variance
        would be too small, as few answers happen to agree. Sums of rare answers are skewed, which
        is corrected by Cornish and Fisher (1938), Revue de l'Institut International de Statistique
        5.
        """
        if self.answers is None:
            assert self.variances is not None
            return critical * float(np.sqrt(slopes**2 @ self.variances))
        # With one answer more at the rate of all, so that none is 0 or 1.
        answers = self.answers
        fitted = np.clip(fitted, 0, 1)
        overall = (answers @ fitted + 1) / (answers.sum() + 2)
        rates = (answers * fitted + overall) / (answers + 1)
        variances = rates * (1 - rates) / answers
        variance = float(slopes**2 @ variances)
        third_moment = float(slopes**3 @ (variances * (1 - 2 * rates) / answers))
        if negative:
            third_moment = -third_moment
        correction = (critical**2 - 1) / 6 * third_moment / variance
        return critical * float(np.sqrt(variance)) + max(0.0, correction)


@dataclass(frozen=True)
class LeftOut:
    """The cells that are neither in a group nor in its complement, as a number is missing."""

    cells: Members  # Those that each universe leaves out, shape (universes, cells)
    universe: NDArray[np.intp]  # Which universe each group is compared within, shape (groups,)

    @classmethod
    def of(cls, rule_sets: FrequentRuleSets, contingency: Contingency) -> LeftOut | None:
        """Return the cells that groups leave out; None if no group leaves out any."""
        if len(rule_sets.universes) == 1:
            return None
        return cls(~rule_sets.universes.members(contingency), rule_sets.universe)

    def take(self, groups: NDArray[np.intp], cells: NDArray[np.intp]) -> LeftOut:
        """Return the same for some of the groups and some of the cells, in the order given."""
        return LeftOut(self.cells[:, cells], self.universe[groups])

    def sums(self, quantities: Floats) -> Floats:
        """Sum quantities (q, cells) over the cells that each group leaves out: (q, groups)."""
        sums: Floats = (quantities @ self.cells.T.astype(np.float64))[:, self.universe]
        return sums


@dataclass(frozen=True)
class ExplainingRule:
    """A group that forward selection chose."""

    group: int  # Which group
    # Share of the variation between cells that it adds to that explained by those before it
    share: float
    # Groups of nearly the same rows, or of nearly all others, in the order of the ranking
    near_duplicates: tuple[int, ...] = ()


def cell_table(
    rows: Counts, samples: Counts, favourable: Counts, independent: Floats | None = None
) -> CellTable:
    """Return the cells' rates with their weights; a cell without samples has no weight.

    Shapes: all (cells,). `independent` are effective numbers of rows, if rows are clustered. A rate
    counts as one of as many answers as the cell has rows or samples, whichever are fewer.
    """
    known = samples > 0
    # Rows vary, and where they are sampled the samples do.
    answers = np.maximum(1, np.minimum(rows if independent is None else independent, samples))
    return CellTable(
        np.where(known, rows, 0).astype(np.float64),
        np.where(known, favourable / np.maximum(samples, 1), 0.0),
        answers=answers.astype(np.float64),
    )


def select_rules(
    cells: CellTable,
    group_sums: GroupSums,
    members: Callable[[int], Members],
    rule_counts: Counts,
    order: NDArray[np.intp],
    *,
    critical: float,
    basis: Sequence[Floats] | None = None,
    left_out: LeftOut | None = None,
) -> tuple[ExplainingRule, ...]:
    """Choose groups by forward selection; none if no group's part is significant.

    A group gains the squared covariance of its membership with what is left of the rates, divided
    by the weighted square of what is left of its membership: (w . (m r))^2 / (w . m^2), where w are
    the weights of the cells, r are the rates and m the membership without their parts in the span
    of the groups chosen before. A group's part is tested as its coefficient in the regression is.
    `critical` is taken from the search over all groups, so the best of them is not mistaken for one
    that was chosen beforehand.

    Shapes: `rule_counts`, the number of rules of each group (groups,); `order`, the places of the
    groups that may be chosen, by rank; each vector of `basis` (cells,), orthonormal by the weights
    and by default the constant alone. `members` returns the cells of a group (cells,).

    See Miller (2002), Subset Selection in Regression, chapter 3, for forward selection; Pati,
    Rezaiifar and Krishnaprasad (1993), Orthogonal matching pursuit, for the update of what is left.
    """
    steps = selection_steps(
        cells, members, rule_counts, order, critical=critical, basis=basis, left_out=left_out
    )
    try:
        quantities = next(steps)
        while True:
            quantities = steps.send(group_sums(quantities))
    except StopIteration as ended:
        chosen: tuple[ExplainingRule, ...] = ended.value
        return chosen


def selection_steps(
    cells: CellTable,
    members: Callable[[int], Members],
    rule_counts: Counts,
    order: NDArray[np.intp],
    *,
    critical: float,
    basis: Sequence[Floats] | None = None,
    left_out: LeftOut | None = None,
) -> Generator[Floats, Floats, tuple[ExplainingRule, ...]]:
    """Choose groups as :func:`select_rules` does, with sums over the groups by the caller.

    Quantities by cell (q, cells) are yielded, and their sums over all groups (q, groups) are to be
    sent back. So the caller can sum for many selections at once. Returned are the rules chosen.
    """
    weights = cells.rows
    total = float(weights.sum())
    if not len(order) or total == 0:
        return ()
    spanned = [np.full(len(weights), 1 / np.sqrt(total))] if basis is None else list(basis)
    residual = _without(np.where(weights > 0, cells.rates, 0.0), spanned, weights)
    variation = float(weights @ residual**2)
    if variation <= _ROUNDING**2 * total:
        return ()
    wanted = np.vstack([np.ones(len(residual)), residual, *spanned])
    # Of each group, shape (groups,): its rows, and the weighted products of its membership with the
    # residual and with each vector of the basis.
    rows_in, covariance, *projections = yield weights * wanted
    squares = rows_in
    filled = np.zeros(len(rows_in))  # The membership that stands for cells that are left out
    if left_out is not None:
        missing, *sums_of_missing = left_out.sums(weights * wanted)
        filled = rows_in / np.maximum(total - missing, 1)
        squares = rows_in + filled**2 * missing
        covariance, *projections = np.vstack([covariance, *projections]) + filled * np.vstack(
            sums_of_missing
        )
    # The weighted square of what is left of each group's membership beside the constant and the
    # groups chosen.
    free = squares - np.square(projections).sum(axis=0)
    chosen: list[ExplainingRule] = []
    while len(chosen) < MOST_RULES:
        gain = np.zeros(len(free))
        usable = np.zeros(len(free), dtype=bool)
        usable[order] = True
        usable &= free > _ROUNDING * total
        gain[usable] = covariance[usable] ** 2 / free[usable]
        group = _best(gain * (1 - FEATURE_COST * (rule_counts - 1)), order)
        member = members(group).astype(np.float64)
        if left_out is not None:
            member[left_out.cells[left_out.universe[group]]] = filled[group]
        part = _without(member, spanned, weights)
        size = float(weights @ part**2)
        if not usable[group] or size <= _ROUNDING * total:
            break
        coefficient = float(weights @ (part * residual))
        chance = cells.most_by_chance(
            weights * part, cells.rates - residual, critical, negative=coefficient < 0
        )
        share = coefficient**2 / size / variation
        if share < LEAST_SHARE or abs(coefficient) <= chance:
            break
        chosen.append(ExplainingRule(group, share))
        direction = part / np.sqrt(size)
        spanned.append(direction)
        projection = float(weights @ (direction * residual))
        residual = residual - projection * direction
        (sums,) = yield (weights * direction)[None]
        if left_out is not None:
            sums = sums + filled * left_out.sums((weights * direction)[None])[0]
        covariance = covariance - projection * sums
        free = free - sums**2
    return tuple(chosen)


def _best(gain: Floats, order: NDArray[np.intp]) -> int:
    """Return the group of the largest gain (groups,), the first in order of equally large ones."""
    ordered = gain[order]
    best = float(ordered.max())
    return int(order[np.argmax(ordered >= best - 1e-9 * abs(best))])


def _without(member: Floats, basis: list[Floats], weights: Floats) -> Floats:
    """Return a membership (cells,) less its part in the span of an orthonormal basis.

    The inner product of u and v is the sum of weights * u * v over the cells.
    """
    # Twice, because once leaves rounding errors that grow with the basis.
    for _ in range(2):
        for direction in basis:
            member = member - (weights @ (direction * member)) * direction
    return member


def near_duplicates(
    group: int,
    member: Members,
    complement: Members,
    rows: Counts,
    group_sums: GroupSums,
    totals: GroupSums,
    order: NDArray[np.intp],
    overlap: float,
) -> tuple[int, ...]:
    """Return the groups of nearly the same rows as one, or of nearly those of its complement.

    Shapes: `member`, `complement`, `rows` (cells,). `group_sums` sums over groups, `totals` over
    groups and their complements. A group is near if Jaccard's index of its rows and those of the
    group is at least `overlap`, or if both of these are: the index of its rows and the complement,
    and that of its complement and the rows of the group.
    """
    # Of each other group the rows in both, and those that it shares with the complement.
    rows_in, both, beyond = group_sums(
        np.vstack([rows, rows * member, rows * complement]).astype(np.float64)
    )
    together, member_rows = totals(np.vstack([rows, rows * member]).astype(np.float64))
    size = rows[member].sum()
    outside = rows[complement].sum()
    rows_out = together - rows_in
    only = member_rows - both
    same = both / (rows_in + size - both)
    # Of a small group's complement every large group has nearly all rows, so both sides must agree.
    opposite = np.minimum(beyond / (rows_in + outside - beyond), only / (size + rows_out - only))
    near = np.maximum(same, opposite)[order] >= overlap - 1e-12
    return tuple(int(other) for other in order[near] if other != group)
