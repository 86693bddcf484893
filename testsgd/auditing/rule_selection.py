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

# Sums of quantities by cell, shape (q, cells), over all groups, shape (q, groups).
GroupSums = Callable[[Floats], Floats]

# The next rule must explain so much of the variation between cells at least.
LEAST_SHARE = 0.01
# Each rule on one more feature must explain so much more.
FEATURE_COST = 0.02
# Nobody reads more.
MOST_RULES = 10

# Of a group's rows, what the chosen ones leave free; less is rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class CellTable:
    """The rates that are to be explained."""

    rows: Floats  # Weights: rows in each cell; 0 where the rate is not known, shape (cells,)
    rates: Floats  # Selection rate of each cell, shape (cells,)
    # How many independent answers each rate is of; None if they are no rates, shape (cells,)
    answers: Floats | None = None
    # Without `answers`: variance of each rate in samples of rows like these, shape (cells,)
    variances: Floats | None = None

    def most_by_chance(
        self, slopes: Floats, fitted: Floats, critical: float, *, negative: bool
    ) -> float:
        """Return how far from zero a weighted sum of the rates (cells,) gets by chance.

        The answers of a cell are binomial with the fitted rate: taken from its own, their variance
        would be too small, as few answers happen to agree. Sums of rare answers are skewed, which
        is corrected by Cornish and Fisher (1938), Revue de l'Institut International de Statistique
        5.
        """
        if self.answers is None:
            assert self.variances is not None
            return critical * float(np.sqrt(slopes**2 @ self.variances))
        # With one answer more at the rate of all, so that none is 0 or 1.
        answers, fitted = self.answers, np.clip(fitted, 0, 1)
        overall = (answers @ fitted + 1) / (answers.sum() + 2)
        rates = (answers * fitted + overall) / (answers + 1)
        variances = rates * (1 - rates) / answers
        variance = float(slopes**2 @ variances)
        third = float(slopes**3 @ (variances * (1 - 2 * rates) / answers))
        skewed = (critical**2 - 1) / 6 * (-third if negative else third) / variance
        return critical * float(np.sqrt(variance)) + max(0.0, skewed)


@dataclass(frozen=True)
class LeftOut:
    """The cells that are neither in a group nor in its complement, as a number is missing."""

    cells: Members  # Those that each universe leaves out, shape (universes, cells)
    universe: NDArray[np.intp]  # Which universe each group is compared within, shape (groups,)

    @classmethod
    def of(cls, rule_sets: FrequentRuleSets, contingency: Contingency) -> LeftOut | None:
        """Return what groups leave out; None if none of them leaves out any."""
        if len(rule_sets.universes) == 1:
            return None
        return cls(~rule_sets.universes.members(contingency), rule_sets.universe)

    def take(self, groups: NDArray[np.intp], cells: NDArray[np.intp]) -> LeftOut:
        """Return what some groups leave out of some cells."""
        return LeftOut(self.cells[:, cells], self.universe[groups])

    def sums(self, quantities: Floats) -> Floats:
        """Sum quantities (q, cells) over what each group leaves out, shape (q, groups)."""
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
    """Return what is known of each cell's rate (cells,); a cell without samples has no weight."""
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

    Shapes: `rule_counts` (groups,); `basis` (cells,). A group's part is tested as its coefficient
    in the regression is. `critical` is taken from the search over all groups, so the best of them
    is not mistaken for one that was chosen beforehand.

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
    """Do what :func:`select_rules` does, but let the caller sum quantities over all groups.

    Each quantity by cell (q, cells) that is yielded is answered by its sums (q, groups). So the
    caller can sum for many selections at once.
    """
    weights = cells.rows
    total = float(weights.sum())
    if not len(order) or total == 0:
        return ()
    spanned = [np.full(len(weights), 1 / np.sqrt(total))] if basis is None else list(basis)
    left = _without(np.where(weights > 0, cells.rates, 0.0), spanned, weights)
    variation = float(weights @ left**2)
    if variation <= _ROUNDING**2 * total:
        return ()
    wanted = np.vstack([np.ones(len(left)), left, *spanned])
    rows_in, covariance, *along = yield weights * wanted
    squares, filled = rows_in, np.zeros(len(rows_in))
    if left_out is not None:
        missing, *of_missing = left_out.sums(weights * wanted)
        filled = rows_in / np.maximum(total - missing, 1)
        squares = rows_in + filled**2 * missing
        covariance, *along = np.vstack([covariance, *along]) + filled * np.vstack(of_missing)
    # What is left of each group's membership beside the constant and the groups chosen.
    free = squares - np.square(along).sum(axis=0)
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
        coefficient = float(weights @ (part * left))
        chance = cells.most_by_chance(
            weights * part, cells.rates - left, critical, negative=coefficient < 0
        )
        share = coefficient**2 / size / variation
        if share < LEAST_SHARE or abs(coefficient) <= chance:
            break
        chosen.append(ExplainingRule(group, share))
        direction = part / np.sqrt(size)
        spanned.append(direction)
        of_direction = float(weights @ (direction * left))
        left = left - of_direction * direction
        (sums,) = yield (weights * direction)[None]
        if left_out is not None:
            sums = sums + filled * left_out.sums((weights * direction)[None])[0]
        covariance, free = covariance - of_direction * sums, free - sums**2
    return tuple(chosen)


def _best(gain: Floats, order: NDArray[np.intp]) -> int:
    """Return the group that gains most, the first in order of those that gain equally much."""
    ordered = gain[order]
    best = float(ordered.max())
    return int(order[np.argmax(ordered >= best - 1e-9 * abs(best))])


def _without(member: Floats, basis: list[Floats], weights: Floats) -> Floats:
    """Remove the part of a membership that lies in the span of an orthonormal basis."""
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

    `totals` sums over groups and their complements.
    """
    rows_in, both, beyond = group_sums(
        np.vstack([rows, rows * member, rows * complement]).astype(np.float64)
    )
    together, of_group = totals(np.vstack([rows, rows * member]).astype(np.float64))
    size, outside = rows[member].sum(), rows[complement].sum()
    rows_out, only = together - rows_in, of_group - both
    same = both / (rows_in + size - both)
    # Of a small group's complement every large group has nearly all rows, so both sides must agree.
    opposite = np.minimum(beyond / (rows_in + outside - beyond), only / (size + rows_out - only))
    near = np.maximum(same, opposite)[order] >= overlap - 1e-12
    return tuple(int(other) for other in order[near] if other != group)
