"""A second look at groups of more features than the search goes deep, by single values.

Where there are many sensitive features the search ends at a few of them. Conjunctions of single
values are looked at beyond that, all that have enough rows, with a tenth of the error shared among
all of them (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.compared_rates import ComparedRates, surest
from testsgd.auditing.estimates import Floats
from testsgd.rules import Contingency, RuleSet
from testsgd.rules.conjunctions import Conditions, Level

# Conjunctions of one level, at most; levels of more are not compared, and the report says so.
_MOST = 1_000_000
# The share of the error that this look gets.
_SHARE_OF_ERROR = 0.1


@dataclass(frozen=True, kw_only=True)
class DeeperSearch:
    """The conjunction of more features with the largest bound, and how many were compared."""

    depth: int  # Features of the longest conjunctions that were compared.
    complete: bool  # Whether all with enough rows were.
    compared: int  # Conjunctions that were compared.
    confidence: float  # With which all intervals hold at once.
    rule_set: RuleSet  # That with the largest lower bound.
    rates: ComparedRates


def search_deeper(
    contingency: Contingency,
    favourable: NDArray[np.bool_],
    *,
    searched: int,
    min_rows: int,
    confidence: float,
) -> DeeperSearch | None:
    """Compare conjunctions of single values of more features than were searched.

    Parameters
    ----------
    contingency : Contingency
        The sensitive features of the rows.
    favourable : numpy.ndarray of bool, shape (rows,)
        Whether the answer about each row is favourable.
    searched : int
        How many features groups of the search have at most.
    min_rows : int
        Fewest rows on each side of a group.
    confidence : float
        That of the audit.

    Returns
    -------
    DeeperSearch or None
        None if no conjunction of more features has enough rows on both sides.
    """
    conditions = Conditions.of(contingency, min_rows=min_rows)
    levels, complete = conditions.levels(min_rows=min_rows, most=_MOST)
    deeper = levels[searched:]
    if not deeper:
        return None
    sums = [_sums(conditions, level, favourable) for level in deeper]
    together = np.concatenate(sums, axis=1)
    compared = np.flatnonzero(together[2] >= min_rows)
    if not len(compared):
        return None
    error = (1 - confidence) * _SHARE_OF_ERROR
    [(index, rates)] = surest(together[:, compared], error=error / len(compared), most=1)
    return DeeperSearch(
        depth=len(levels),
        complete=complete,
        compared=len(compared),
        confidence=1 - error,
        rule_set=_rule_set(conditions, deeper, int(compared[index])),
        rates=rates,
    )


def _sums(conditions: Conditions, level: Level, favourable: NDArray[np.bool_]) -> Floats:
    """Return rows and favourable answers inside, then outside, of a level: (4, n)."""
    rows = level.rows
    favourable_in = conditions.count(level, favourable)
    all_rows = conditions.count_together(level, np.ones(len(favourable), dtype=bool))
    all_favourable = conditions.count_together(level, favourable)
    return np.array(
        [rows, favourable_in, all_rows - rows, all_favourable - favourable_in], dtype=np.float64
    )


def _rule_set(conditions: Conditions, levels: list[Level], index: int) -> RuleSet:
    """Return the conjunction with a number; those of several levels are numbered in their order."""
    for level in levels:
        if index < len(level.rows):
            return conditions.rule_set(level.conditions[index])
        index -= len(level.rows)
    raise IndexError(index)
