"""An input distribution estimated from a log of what was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.data.categories import category_text
from testsgd.errors import DataError, ParameterError
from testsgd.fairness import checked_groups

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Estimated = tuple[tuple[str, ...], tuple[float, ...], Floats, Floats | None]


def estimate(
    groups: Sequence[Any] | NDArray[Any],
    recommendations: ArrayLike,
    *,
    costs: ArrayLike | None,
    labels: ArrayLike | None,
    known_groups: Sequence[str] | None,
    smoothing: float,
    most_costs: int,
) -> Estimated:
    """Estimate probabilities by smoothed shares.

    Parameters
    ----------
    groups, recommendations, costs, labels, known_groups, smoothing, most_costs
        As for :meth:`testsgd.shielding.inputs.distribution.InputDistribution.from_log`.

    Returns
    -------
    groups : tuple of str
    costs : tuple of float
    probabilities : numpy.ndarray, shape (groups, 2, costs)
    labels : numpy.ndarray, shape (groups, 2), or None

    Raises
    ------
    DataError, ParameterError
        As there.
    """
    if not 0 <= smoothing < math.inf:
        raise ParameterError(
            f"the smoothing is {smoothing!r}",
            where="smoothing",
            remedy="give a number of at least 0",
        )
    if most_costs < 1:
        raise ParameterError(
            f"there is room for {most_costs} costs", where="most_costs", remedy="give at least 1"
        )
    people = len(groups)
    if not people:
        raise DataError("the log is empty", where="log", remedy="give a log with rows")
    names, codes = _group_codes(groups, known_groups)
    decided = _whole(recommendations, people, "recommendation")
    if (decided < 0).any():
        row = int(np.flatnonzero(decided < 0)[0])
        raise DataError(
            "the recommendation is missing", where=f"log row {row}", remedy="give 0 or 1", row=row
        )
    values, places = _cost_places(costs, people, most_costs)
    counts = np.zeros((len(names), 2, len(values)))
    np.add.at(counts, (codes, decided, places), 1)
    # As many more people as the smoothing says in each group and recommendation, with costs as
    # they are overall.
    overall = counts.sum(axis=(0, 1)) / people
    probabilities = (counts + smoothing * overall) / (people + 2 * len(names) * smoothing)
    shares = None if labels is None else _label_shares(labels, codes, decided, names, smoothing)
    return names, values, probabilities, shares


def _group_codes(
    groups: Sequence[Any] | NDArray[Any], known: Sequence[str] | None
) -> tuple[tuple[str, ...], Codes]:
    """Give all names, and the place of each row's."""
    seen = [_group_text(group, row) for row, group in enumerate(groups)]
    if known is None and len(set(seen)) < 2:
        raise DataError(
            f"the log has only the group {seen[0]!r}",
            where="log",
            remedy="name all groups, at least two",
        )
    names = checked_groups(sorted(set(seen)) if known is None else known)
    place = {name: at for at, name in enumerate(names)}
    for row, name in enumerate(seen):
        if name not in place:
            raise DataError(
                f"the group {name!r} is unknown",
                where=f"log row {row}",
                remedy=f"the groups are {', '.join(names)}",
                group=name,
                row=row,
            )
    return names, np.array([place[name] for name in seen], dtype=np.int64)


def _group_text(group: Any, row: int) -> str:
    # NaN is the only value that is not itself.
    text = "" if group is None or group != group else category_text(group).strip()
    if not text:
        raise DataError(
            "the group is missing",
            where=f"log row {row}",
            remedy="name the group, or leave out the row",
            row=row,
        )
    return text


def _numbers(values: ArrayLike, people: int, name: str) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a {name} is no number", where="log", remedy="give numbers only"
        ) from error
    if numbers.shape != (people,):
        raise DataError(
            f"there are {numbers.size} {name}s for {people} groups",
            where="log",
            remedy="give one a row",
        )
    return numbers


def _whole(values: ArrayLike, people: int, name: str) -> Codes:
    """Give zeros and ones, and -1 where one is missing."""
    numbers = _numbers(values, people, name)
    missing = np.isnan(numbers)
    bad = np.flatnonzero(~missing & (numbers != 0) & (numbers != 1))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"the {name} is {numbers[row]:g}", where=f"log row {row}", remedy="give 0 or 1", row=row
        )
    return np.where(missing, -1, numbers).astype(np.int64)


def _cost_places(
    costs: ArrayLike | None, people: int, most: int
) -> tuple[tuple[float, ...], Codes]:
    """Give the costs to tell apart, and the place of each row's."""
    if costs is None:
        return (1.0,), np.zeros(people, dtype=np.int64)
    given = _numbers(costs, people, "cost")
    bad = np.flatnonzero(~((given >= 0) & (given < math.inf)))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"the cost is {given[row]:g}",
            where=f"log row {row}",
            remedy="give a number of at least 0",
            row=row,
        )
    given = given + 0.0  # -0.0 is 0.0
    distinct = np.unique(given)
    if len(distinct) > most:
        # Observed values, the largest among them: each row's cost is counted as one not smaller.
        steps = np.arange(1, most + 1) / most
        distinct = np.unique(np.quantile(given, steps, method="inverted_cdf"))
    return tuple(distinct.tolist()), np.searchsorted(distinct, given).astype(np.int64)


def _label_shares(
    labels: ArrayLike,
    codes: Codes,
    decided: Codes,
    names: tuple[str, ...],
    smoothing: float,
) -> Floats:
    truth = _whole(labels, len(codes), "label")
    known = truth >= 0
    if not known.any():
        raise DataError(
            "no label is known", where="log", remedy="give labels, or none of them at all"
        )
    counts = np.zeros((len(names), 2, 2))
    np.add.at(counts, (codes[known], decided[known], truth[known]), 1)
    people = counts.sum(axis=2)
    # Where nobody was seen and nothing is added, either label is as likely.
    added = np.where(people + smoothing > 0, smoothing, 1.0)
    return np.asarray((counts[:, :, 1] + added / 2) / (people + added))
