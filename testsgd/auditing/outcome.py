"""What the three ways of finding the rates have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Estimates
from testsgd.rules import Contingency, FrequentRuleSets

# How much of a phase is done, and how much there is.
Progress = Callable[[int, int], None]

# Sums quantities, given by cell with the rows first, over the groups that are wanted: all frequent
# ones, or some that are known already.
Search = Callable[[Counts], FrequentRuleSets]


@dataclass(frozen=True)
class Answers:
    """What a model answered, for one estimand.

    Attributes
    ----------
    estimates : Estimates
        The groups' rates.
    cell_samples, cell_favourable : numpy.ndarray of int64, shape (cells,)
        Samples from each cell of the contingency table that all groups share, and how many of them
        got the favourable label.
    row_samples : int
        Answers about each row, if all rows, or all their neighbours, were asked about.
    row_favourable : numpy.ndarray of int, shape (rows,), or None
        How many of these got the favourable label; None if samples were drawn.
    cell_independent : numpy.ndarray of float64, shape (cells,), or None
        How many independent rows those of each cell are worth; None if all are independent.
    """

    estimates: Estimates
    cell_samples: Counts
    cell_favourable: Counts
    row_samples: int = 1
    row_favourable: NDArray[np.integer] | None = None
    cell_independent: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Outcome:
    """Groups and their rates, however they were found.

    Attributes
    ----------
    rule_sets : FrequentRuleSets
        The groups.
    neighbourhood, observed : Answers
        What the model answered about the rows' neighbours, and about the rows as they are.
    queries : int
        Rows the model was asked about.
    by_feature : numpy.ndarray of int64, shape (features, cells), or None
        For each feature that is not sensitive, how many of the neighbours that differ in it get
        the favourable label; None if samples were drawn.
    """

    rule_sets: FrequentRuleSets
    neighbourhood: Answers
    observed: Answers
    queries: int
    by_feature: Counts | None = None


def sides_of(
    rule_sets: FrequentRuleSets, group: int, contingency: Contingency
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give the rows inside a group and those outside."""
    members = rule_sets.members(np.array([group]), contingency)[0]
    inside = members[contingency.cell_of_row]
    return np.flatnonzero(inside), np.flatnonzero(~inside)
