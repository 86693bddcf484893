"""The first groups of a ranking that are different people.

Thousands of groups may be variants of one: men of 40 to 59, married men of 40 to 59, and so on. A
walk down the ranking takes a group only if it shares few people with every group taken before. A
group and its complement are one finding: so after the first group only those of at most half of the
rows are taken, of a larger first group the people are its complement, and nearly the complement of
a group taken before is not taken either.

How many rows two groups share follows from sums over the cells of one of them, for all others at
once: a step of the walk is one contraction of the lattice, or one product with the members of the
groups that are left. In place of rows these may be sums of their weights, or of those rows that a
metric counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Floats
from testsgd.rules import Contingency, FrequentRuleSets

# From amounts (q, cells) and n groups to the sums over these (q, n).
SumsOfSome = Callable[[Floats, NDArray[np.intp]], Floats]

# The most that two groups may share, as a share of the smaller one.
MOST_SHARED = 0.5
# The least phi coefficient of two groups: below it one is much like the complement of the other.
LEAST_PHI = -0.5

# The most groups that are shown first.
DISTINCT = 6

# Rounding in sums of whole numbers of rows is far smaller.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class SharedRows:
    """The rows that groups share with another one, of those known to be on a side of both.

    All shapes are (groups,).
    """

    both: Floats  # In the group and in the other
    only_here: Floats  # In the group, and in the complement of the other
    only_there: Floats  # In the complement of the group, and in the other
    neither: Floats  # In both complements

    @property
    def of_smaller(self) -> Floats:
        """The rows in both as a share of the smaller one; 0 if that has no rows."""
        smaller = self.both + np.minimum(self.only_here, self.only_there)
        return _quotient(self.both, smaller)

    @property
    def phi(self) -> Floats:
        """The phi coefficient, which is the correlation, of the memberships; 0 if a side is empty.

        See Yule (1912), On the methods of measuring association between two attributes, Journal of
        the Royal Statistical Society 75.
        """
        rows_in, rows_out = self.both + self.only_here, self.only_there + self.neither
        other_in, other_out = self.both + self.only_there, self.only_here + self.neither
        product = self.both * self.neither - self.only_here * self.only_there
        return _quotient(product, np.sqrt(rows_in * rows_out) * np.sqrt(other_in * other_out))


def different_people(
    order: NDArray[np.intp],
    rule_sets: FrequentRuleSets,
    contingency: Contingency,
    *,
    limit: int,
    amounts: Floats | None = None,
    inside: Floats | None = None,
    complements: bool = True,
    sum_groups: SumsOfSome | None = None,
) -> tuple[int, ...]:
    """Return the first groups of an order that are different people.

    The first of the order is taken. Another is taken if it has at most half of the rows and if, for
    every group taken before, both share at most half of the rows of the smaller one, and their phi
    coefficient is at least -0.5. If the first has more than half of the rows, its complement stands
    for it. Rows in which a number is missing that a group has an interval of are on no side of it.

    Parameters
    ----------
    order : numpy.ndarray of int
        The places of the groups, in the order in which they are looked at.
    rule_sets : FrequentRuleSets
        The groups.
    contingency : Contingency
        The cells with their rows.
    limit : int
        The most groups to return.
    amounts : numpy.ndarray of float64, shape (cells,), optional
        What counts in each cell, such as the weights of its rows; by default its rows.
    inside : numpy.ndarray of float64, shape (groups,), optional
        What counts in each group, if that is known already.
    complements : bool
        Whether a group and its complement are one finding. If not, as where groups are compared
        with one other group, they may be of any size, and only shared rows keep one away.
    sum_groups : callable, optional
        Sums amounts (q, cells) over n of the groups (q, n), if one is at hand; see
        :meth:`testsgd.rules.FrequentRuleSets.sums_of_some`.

    Returns
    -------
    tuple of int
        The places of the groups, in this order.
    """
    if amounts is None:
        amounts = contingency.tally().astype(np.float64)
    if sum_groups is None:
        sum_groups = rule_sets.sums_of_some(contingency)
    if len(order) == 0 or limit < 1:
        return ()
    is_small = np.ones(len(order), dtype=bool)
    if complements:
        rows_in = sum_groups(amounts[None], order)[0] if inside is None else inside[order]
        [rows_known] = rule_sets.totals(contingency, amounts[None])[:, order]
        is_small = 2 * rows_in <= rows_known * (1 + _ROUNDING)
    chosen = [int(order[0])]
    turned = not is_small[0]
    left = order[1:][is_small[1:]]
    while len(left) and len(chosen) < limit:
        shared = _shared_rows(
            chosen[-1],
            left,
            rule_sets,
            contingency,
            amounts=amounts,
            turned=turned,
            sum_groups=sum_groups,
        )
        apart = shared.of_smaller <= MOST_SHARED + _ROUNDING
        if complements:
            apart &= shared.phi >= LEAST_PHI - _ROUNDING
        left = left[apart]
        chosen.extend(left[:1].tolist())
        left = left[1:]
        # Only the first may have more than half of the rows.
        turned = False
    return tuple(chosen)


def _shared_rows(
    group: int,
    others: NDArray[np.intp],
    rule_sets: FrequentRuleSets,
    contingency: Contingency,
    *,
    amounts: Floats,
    turned: bool,
    sum_groups: SumsOfSome,
) -> SharedRows:
    """Return the rows that other groups share with one, or with its complement if turned.

    `amounts` is what counts in each cell, shape (cells,); `sum_groups` as in `different_people`.
    """
    place = np.array([group])
    sides = np.vstack(
        [
            amounts * rule_sets.members(place, contingency)[0],
            amounts * rule_sets.complement_members(place, contingency)[0],
        ]
    )
    if turned:
        sides = sides[::-1]
    both, only_here = sum_groups(sides, others)
    other_in, other_out = rule_sets.totals(contingency, sides)[:, others]
    return SharedRows(both, only_here, other_in - both, other_out - only_here)


def _quotient(part: Floats, whole: Floats) -> Floats:
    """Return a part divided by the whole, 0 where the whole is 0."""
    quotient: Floats = np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
    return quotient
