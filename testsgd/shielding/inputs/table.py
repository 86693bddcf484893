"""An input distribution from a table: a row a group, recommendation and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import SpecificationError
from testsgd.shielding.inputs.checks import checked_costs, checked_number, checked_share

_KEYS = ("group", "recommendation", "probability", "cost", "label_probability")
_NEEDED = _KEYS[:3]

Arrays = tuple[tuple[float, ...], NDArray[np.float64], NDArray[np.float64] | None]


def fill_table(groups: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> Arrays:
    """Make arrays of rows.

    Parameters
    ----------
    groups : tuple of str
    rows : sequence of mapping
        As for :meth:`testsgd.shielding.inputs.distribution.InputDistribution.from_table`.

    Returns
    -------
    costs : tuple of float
    probabilities : numpy.ndarray, shape (groups, 2, costs)
    labels : numpy.ndarray, shape (groups, 2), or None
        One half where no row says otherwise, which is only where the probability is 0.

    Raises
    ------
    SpecificationError
        If a row is no good, or labels are missing in some rows only.
    """
    if not rows:
        raise SpecificationError(
            "the table has no rows",
            where="inputs.table",
            remedy="add rows, or leave it out to expect everything equally often",
        )
    read = [_Row(groups, row, f"inputs.table.{place}") for place, row in enumerate(rows)]
    costs = checked_costs(sorted({row.cost for row in read}), where="inputs.table")
    probabilities = np.zeros((len(groups), 2, len(costs)))
    seen = set()
    for row in read:
        cell = (row.group, row.recommendation, costs.index(row.cost))
        if cell in seen:
            raise SpecificationError(
                f"a row of {groups[row.group]!r}, {row.recommendation} and cost {row.cost:g} "
                "stands there already",
                where=row.where,
                remedy="put both in one row",
            )
        seen.add(cell)
        probabilities[cell] = row.probability
    return costs, probabilities, _labels(groups, read)


class _Row:
    """The parts of a row, checked."""

    def __init__(self, groups: tuple[str, ...], row: Mapping[str, Any], where: str) -> None:
        if not isinstance(row, Mapping):
            raise SpecificationError(
                f"{row!r} is no row", where=where, remedy=f"give a mapping of {', '.join(_KEYS)}"
            )
        for key in row:
            if key not in _KEYS:
                raise SpecificationError(
                    f"unknown key {key!r}", where=where, remedy=f"the keys are {', '.join(_KEYS)}"
                )
        for key in _NEEDED:
            if row.get(key) is None:
                raise SpecificationError(
                    f"the key {key!r} is missing", where=where, remedy="add it"
                )
        if row["group"] not in groups:
            raise SpecificationError(
                f"the group {row['group']!r} is unknown",
                where=where,
                remedy=f"the groups are {', '.join(groups)}",
                group=row["group"],
            )
        if row["recommendation"] not in (0, 1):
            raise SpecificationError(
                f"the recommendation is {row['recommendation']!r}",
                where=where,
                remedy="give 0 (reject) or 1 (accept)",
            )
        self.where = where
        self.group = groups.index(row["group"])
        self.recommendation = int(row["recommendation"])
        self.probability = checked_share(row["probability"], "the probability", where)
        cost = row.get("cost")
        self.cost = checked_number(1 if cost is None else cost, "the cost", where)
        if self.cost < 0:
            raise SpecificationError(
                f"the cost {self.cost:g} is negative", where=where, remedy="give at least 0"
            )
        label = row.get("label_probability")
        self.label = (
            None if label is None else checked_share(label, "the label's probability", where)
        )


def _labels(groups: tuple[str, ...], rows: Sequence[_Row]) -> NDArray[np.float64] | None:
    if all(row.label is None for row in rows):
        return None
    found: dict[tuple[int, int], float] = {}
    for row in rows:
        if row.label is None:
            continue
        known = found.setdefault((row.group, row.recommendation), row.label)
        if known != row.label:
            raise SpecificationError(
                f"the label's probability of {groups[row.group]!r} and {row.recommendation} is "
                f"{row.label:g} here, and {known:g} in another row",
                where=row.where,
                remedy="give one for all costs",
            )
    for row in rows:
        if row.probability > 0 and (row.group, row.recommendation) not in found:
            raise SpecificationError(
                f"the label's probability of {groups[row.group]!r} and {row.recommendation} is "
                "missing",
                where=row.where,
                remedy="add `label_probability`, or leave it out in all rows",
            )
    labels = np.full((len(groups), 2), 0.5)
    for place, share in found.items():
        labels[place] = share
    return labels
