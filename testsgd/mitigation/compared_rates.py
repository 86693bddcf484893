"""The rates whose differences a fair classifier lowers: each with the rows that it counts.

A rate is the share of some rows for which a decision counts: the favourable ones among all rows are
the selection rate, among the rows whose label is favourable the true-positive rate, and the right
ones among all are the accuracy. Several rates can be compared at once, as equalised odds are.

References
----------
Hardt, Price and Srebro, Equality of opportunity in supervised learning, NeurIPS 2016, section 2,
for equalised odds and equal opportunity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from testsgd.mitigation.play import Bools, ComparedGroups, Floats
from testsgd.rules import Contingency

SELECTION_RATE = "selection_rate"
TRUE_POSITIVE_RATE = "true_positive_rate"
FALSE_POSITIVE_RATE = "false_positive_rate"
ACCURACY = "accuracy"
# What can be compared, and which rates that are.
OBJECTIVES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        SELECTION_RATE: (SELECTION_RATE,),
        TRUE_POSITIVE_RATE: (TRUE_POSITIVE_RATE,),
        FALSE_POSITIVE_RATE: (FALSE_POSITIVE_RATE,),
        "equalized_odds": (TRUE_POSITIVE_RATE, FALSE_POSITIVE_RATE),
        ACCURACY: (ACCURACY,),
    }
)


@dataclass(frozen=True, kw_only=True)
class ComparedRate:
    """A rate, and the groups that have enough of the rows that it counts on both sides."""

    name: str
    groups: ComparedGroups
    # Rows for which the favourable decision does not count, but the other; shape (rows,).
    other_counts: Bools

    def differences(self, decisions: Floats | Bools) -> Floats:
        """Return each group's rate less that of its complement, shape (q, groups)."""
        given = np.atleast_2d(decisions).astype(np.float64)
        return self.groups.differences(np.where(self.other_counts, 1.0 - given, given))

    def derivative(self, weights: Floats) -> Floats:
        """Return what each row's decision adds to the weighed sum of differences, shape (rows,)."""
        of_rows = self.groups.derivative(weights)[self.groups.contingency.cell_of_row]
        return np.where(self.other_counts, -of_rows, of_rows) * self.groups.counted


@dataclass(frozen=True)
class ComparedRates:
    """One rate, or several that are compared together; their groups one after another."""

    rates: tuple[ComparedRate, ...]

    @classmethod
    def of(
        cls,
        objective: str,
        contingency: Contingency,
        favourable: Bools,
        counted: Bools,
        *,
        min_rows: float,
        max_rules: int | None = None,
    ) -> ComparedRates:
        """Find the groups of each rate of an objective.

        Parameters
        ----------
        objective : str
            A name in `OBJECTIVES`.
        contingency : Contingency
            The rows' sensitive cells.
        favourable : numpy.ndarray of bool, shape (rows,)
            The labels.
        counted : numpy.ndarray of bool, shape (rows,)
            The rows that are compared at all.
        min_rows : int or float
            Rows that a group and its complement have at least; a float is a share of those that
            the rate counts.
        max_rules : int, optional
            Rules that a group has at most.
        """
        of_labels = {TRUE_POSITIVE_RATE: favourable, FALSE_POSITIVE_RATE: ~favourable}
        rates = []
        for name in OBJECTIVES[objective]:
            rows = counted & of_labels[name] if name in of_labels else counted
            least = np.ceil(min_rows * rows.sum()) if isinstance(min_rows, float) else min_rows
            groups = ComparedGroups.of(
                contingency, rows, min_rows=max(1, int(least)), max_rules=max_rules
            )
            other = ~favourable if name == ACCURACY else np.zeros(len(favourable), dtype=bool)
            rates.append(ComparedRate(name=name, groups=groups, other_counts=other))
        return cls(tuple(each for each in rates if len(each.groups)))

    def __len__(self) -> int:
        return sum(len(each.groups) for each in self.rates)

    def differences(self, decisions: Floats | Bools) -> Floats:
        """Return the differences of all groups; shape (q, groups) for decisions (q, rows)."""
        return np.concatenate([each.differences(decisions) for each in self.rates], axis=1)

    def derivative(self, weights: Floats) -> Floats:
        """Return what each row's decision adds to the weighed sum of differences, shape (rows,)."""
        parts = np.split(weights, self._ends()[:-1])
        found = [rate.derivative(part) for rate, part in zip(self.rates, parts, strict=True)]
        return np.asarray(np.sum(found, axis=0))

    def described(self, index: int) -> tuple[str, str]:
        """Return the name of a group's rate, and its rules."""
        rate, group = self.place(index)
        return rate.name, str(rate.groups.rule_sets.texts(np.array([group]))[0])

    def place(self, index: int) -> tuple[ComparedRate, int]:
        """Return the rate of a difference, and the group's place among those of the rate."""
        ends = self._ends()
        number = int(np.searchsorted(ends, index, side="right"))
        rate = self.rates[number]
        return rate, index - (int(ends[number]) - len(rate.groups))

    def _ends(self) -> NDArray[np.intp]:
        return np.cumsum([len(each.groups) for each in self.rates])
