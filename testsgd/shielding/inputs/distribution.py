"""What a shield expects to see: how likely each group, recommendation and cost is.

A shield keeps its bound for every sequence of inputs, whatever is expected. Expectations only say
which of the safe decisions are the cheapest.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.errors import ParameterError, SpecificationError
from testsgd.fairness import checked_groups
from testsgd.shielding.inputs.log import estimate

_TABLE_KEYS = ("group", "recommendation", "probability", "cost", "label_probability")
_NEEDED_KEYS = _TABLE_KEYS[:3]
Arrays = tuple[tuple[float, ...], NDArray[np.float64], NDArray[np.float64] | None]

# How far probabilities may be from adding up to 1, and from where on they are left as they are, so
# that a distribution that is saved and read again is the same.
_TOLERANCE = 1e-9
_ADDS_UP = 1e-12


def checked_costs(costs: Sequence[Any], *, where: str = "inputs.costs") -> tuple[float, ...]:
    """Return costs as floats: at least one, none negative, ascending."""
    numbers = tuple(checked_number(cost, "the cost", where) for cost in costs)
    if not numbers:
        raise SpecificationError("there is no cost", where=where, remedy="give at least one")
    for number in numbers:
        if number < 0:
            raise SpecificationError(
                f"the cost {number:g} is negative", where=where, remedy="give costs of at least 0"
            )
    if twice := [number for number, count in Counter(numbers).items() if count > 1]:
        raise SpecificationError(
            f"the cost {twice[0]:g} stands twice", where=where, remedy="give each cost once"
        )
    if list(numbers) != sorted(numbers):
        raise SpecificationError(
            f"the costs {', '.join(f'{number:g}' for number in numbers)} are not ascending",
            where=where,
            remedy="sort them, and the probabilities with them",
        )
    return numbers


def checked_number(value: Any, name: str, where: str) -> float:
    """Return a finite number as a float."""
    try:
        number = math.nan if isinstance(value, (str, bool)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise SpecificationError(
            f"{name} is {value!r}, no finite number", where=where, remedy="give a number"
        )
    return number


def checked_share(value: Any, name: str, where: str) -> float:
    """Return a probability as a float."""
    number = checked_number(value, name, where)
    if not 0 <= number <= 1:
        raise SpecificationError(
            f"{name} is {number:g}", where=where, remedy="give a number between 0 and 1"
        )
    return number


def checked_shares(values: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return probabilities as an array that cannot be written to, or refuse them."""
    where = f"inputs.{name}"
    try:
        shares = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SpecificationError(
            "these are no numbers", where=where, remedy=f"give an array of the shape {shape}"
        ) from error
    if shares.shape != shape:
        raise SpecificationError(
            f"the shape is {shares.shape}",
            where=where,
            remedy=f"give an array of the shape {shape}: groups, recommendations"
            + (", costs" if len(shape) == 3 else ""),
        )
    bad = np.argwhere(~((shares >= 0) & (shares <= 1)))
    if len(bad):
        index = tuple(int(part) for part in bad[0])
        raise SpecificationError(
            f"the probability is {float(shares[index])!r}",
            where=f"{where}[{', '.join(map(str, index))}]",
            remedy="give numbers between 0 and 1",
        )
    shares.flags.writeable = False
    return shares


def fill_table(groups: tuple[str, ...], rows: Sequence[Mapping[str, Any]]) -> Arrays:
    """Make arrays of the rows that :meth:`InputDistribution.from_table` takes.

    Returns costs, probabilities, shape (groups, 2, costs), and labels, shape (groups, 2), or None.
    A label is as likely as the other where no row says otherwise, which is only where the
    probability is 0.
    """
    if not rows:
        raise SpecificationError(
            "the table has no rows",
            where="inputs.table",
            remedy="add rows, or leave it out to expect everything equally often",
        )
    read = [_Row(groups, row, f"inputs.table.{index}") for index, row in enumerate(rows)]
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
                f"{row!r} is no row",
                where=where,
                remedy=f"give a mapping of {', '.join(_TABLE_KEYS)}",
            )
        for key in row:
            if key not in _TABLE_KEYS:
                raise SpecificationError(
                    f"unknown key {key!r}",
                    where=where,
                    remedy=f"the keys are {', '.join(_TABLE_KEYS)}",
                )
        for key in _NEEDED_KEYS:
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
    for index, share in found.items():
        labels[index] = share
    return labels


@dataclass(frozen=True, eq=False)
class InputDistribution:
    """Probabilities of what comes before the shield, each time anew and independently.

    Attributes
    ----------
    groups : tuple of str
        At least two.
    costs : tuple of float
        What changing a recommendation can cost, ascending.
    probabilities : numpy.ndarray of float, shape (groups, 2, costs)
        Probability of each group, recommendation (0 reject, 1 accept) and cost; they add up to 1,
        and 0 is allowed.
    labels : numpy.ndarray of float, shape (groups, 2), optional
        Probability that the true label is 1, given group and recommendation; None if labels play
        no part.

    Raises
    ------
    SpecificationError
        If these are no probabilities, do not add up to 1 (to 1e-9), groups or costs stand twice,
        or a cost is negative.

    Notes
    -----
    Section 3 and appendix C.5 of the paper on fairness shields.

    Examples
    --------
    >>> inputs = InputDistribution.uniform(["female", "male"])
    >>> inputs.probabilities.shape, float(inputs.probabilities[0, 1, 0])
    ((2, 2, 1), 0.25)
    """

    groups: tuple[str, ...]
    costs: tuple[float, ...]
    probabilities: NDArray[np.float64]
    labels: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        groups, costs = checked_groups(self.groups), checked_costs(self.costs)
        shares = checked_shares(self.probabilities, "probabilities", (len(groups), 2, len(costs)))
        total = math.fsum(shares.ravel())
        if abs(total - 1) > _TOLERANCE:
            raise SpecificationError(
                f"the probabilities add up to {total:.10g}, not to 1",
                where="inputs",
                remedy="correct them",
                total=total,
            )
        if abs(total - 1) > _ADDS_UP:
            shares = shares / total
            shares.flags.writeable = False
        labels = self.labels
        if labels is not None:
            labels = checked_shares(labels, "labels", (len(groups), 2))
        for name, value in (
            ("groups", groups),
            ("costs", costs),
            ("probabilities", shares),
            ("labels", labels),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def uniform(
        cls, groups: Sequence[str], *, costs: Sequence[float] = (1.0,), labelled: bool = False
    ) -> InputDistribution:
        """Expect every group, recommendation and cost equally often.

        Parameters
        ----------
        groups : sequence of str
        costs : sequence of float
        labelled : bool
            Whether labels play a part; each is then as likely as the other.

        Returns
        -------
        InputDistribution

        Raises
        ------
        SpecificationError
            If groups or costs are no good.

        Notes
        -----
        What the paper takes where nothing is known of the classifier (appendix C.5).
        """
        groups, costs = checked_groups(groups), checked_costs(sorted(costs))
        shape = (len(groups), 2, len(costs))
        return cls(
            groups,
            costs,
            np.full(shape, 1 / math.prod(shape)),
            np.full(shape[:2], 0.5) if labelled else None,
        )

    @classmethod
    def from_table(
        cls, groups: Sequence[str], rows: Sequence[Mapping[str, Any]]
    ) -> InputDistribution:
        """Take the probabilities from a table.

        Parameters
        ----------
        groups : sequence of str
        rows : sequence of mapping
            With the keys ``group``, ``recommendation`` and ``probability``, perhaps ``cost`` (1 if
            not given) and ``label_probability``, which must be the same for all costs of a group
            and recommendation. What has no row has probability 0.

        Returns
        -------
        InputDistribution
            With labels if a row has a probability of labels.

        Raises
        ------
        SpecificationError
            If a row is about an unknown group, stands twice, or lacks a number, if the label's
            probability is missing in some rows only, or the probabilities do not add up to 1.

        Examples
        --------
        >>> inputs = InputDistribution.from_table(["a", "b"], [
        ...     {"group": "a", "recommendation": 1, "probability": 0.5},
        ...     {"group": "b", "recommendation": 0, "probability": 0.5, "cost": 2}])
        >>> inputs.costs
        (1.0, 2.0)
        """
        groups = checked_groups(groups)
        return cls(groups, *fill_table(groups, rows))

    @classmethod
    def from_log(
        cls,
        groups: Sequence[Any] | NDArray[Any],
        recommendations: ArrayLike,
        *,
        costs: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        known_groups: Sequence[str] | None = None,
        smoothing: float = 1.0,
        most_costs: int = 8,
    ) -> InputDistribution:
        """Estimate the probabilities from what was seen.

        Parameters
        ----------
        groups : sequence, shape (n,)
        recommendations : array-like of int, shape (n,)
            0 or 1.
        costs : array-like of float, shape (n,), optional
            1 if not given.
        labels : array-like of float, shape (n,), optional
            0 or 1, NaN where the label never became known.
        known_groups : sequence of str, optional
            All groups; those of the log, sorted, if not given.
        smoothing : float
            So many people are added to each group and recommendation, with costs as overall and
            either label equally often. 0 believes that what was not seen cannot come.
        most_costs : int
            More different costs than these are put together: each counts as the next of so many
            quantiles that is not smaller, as :meth:`cost_place` takes it later.

        Returns
        -------
        InputDistribution

        Raises
        ------
        DataError
            If the log is empty, a group is unknown, a recommendation or label is neither 0 nor 1,
            a cost is negative or no number, or no label is known at all.
        ParameterError
            If the smoothing is negative or there is no room for a cost.

        Examples
        --------
        >>> inputs = InputDistribution.from_log(["a", "a", "b"], [1, 0, 1])
        >>> inputs.probabilities[:, :, 0].round(3).tolist()
        [[0.286, 0.286], [0.143, 0.286]]
        """
        return cls(
            *estimate(
                groups,
                recommendations,
                costs=costs,
                labels=labels,
                known_groups=known_groups,
                smoothing=smoothing,
                most_costs=most_costs,
            )
        )

    def cost_place(self, cost: float) -> int:
        """Return the place of the smallest known cost that is not below a cost.

        Parameters
        ----------
        cost : float

        Returns
        -------
        int
            Place in `costs`; the last if the cost is above all.

        Raises
        ------
        ParameterError
            If the cost is negative or no number.

        Examples
        --------
        >>> inputs = InputDistribution.uniform(["a", "b"], costs=[1, 2])
        >>> inputs.cost_place(0), inputs.cost_place(1.5), inputs.cost_place(9)
        (0, 1, 1)
        """
        if not 0 <= cost < math.inf:
            raise ParameterError(
                f"the cost is {cost!r}", where="cost", remedy="give a number of at least 0"
            )
        return min(bisect_left(self.costs, cost), len(self.costs) - 1)

    def cost_places(self, costs: ArrayLike) -> NDArray[np.int64]:
        """Do as :meth:`cost_place` for many costs.

        Parameters
        ----------
        costs : array-like of float, shape (n,)

        Returns
        -------
        numpy.ndarray of int, shape (n,)

        Raises
        ------
        ParameterError
            If a cost is negative or no number.
        """
        given = np.asarray(costs, dtype=np.float64)
        good = (given >= 0) & (given < math.inf)
        if not good.all():
            bad = float(given[~good][0])
            raise ParameterError(
                f"a cost is {bad!r}", where="costs", remedy="give numbers of at least 0"
            )
        return np.minimum(np.searchsorted(self.costs, given), len(self.costs) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution in types that JSON knows, to the last digit."""
        return {
            "groups": list(self.groups),
            "costs": list(self.costs),
            "probabilities": self.probabilities.tolist(),
            "labels": None if self.labels is None else self.labels.tolist(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> InputDistribution:
        """Take what :meth:`to_dict` gave.

        Raises
        ------
        SpecificationError
            If it is none.
        """
        try:
            parts = [values[key] for key in ("groups", "costs", "probabilities", "labels")]
        except KeyError as error:
            raise SpecificationError(
                f"the key {error.args[0]!r} is missing",
                where="inputs",
                remedy="give what `to_dict` gave",
            ) from error
        return cls(*parts)
