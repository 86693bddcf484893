"""How likely a shield expects each group, recommendation and cost to be.

The bound of a shield holds for all inputs. The probabilities decide only which of the safe
decisions are the cheapest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from testsgd.data.schema_parts import Decision, NotNegative, Part, Probability
from testsgd.data.toml_document import validated
from testsgd.errors import DataError, ParameterError, SpecificationError
from testsgd.fairness.property import checked_groups
from testsgd.shielding.inputs import log

# How far probabilities may be from adding up to 1, and from where on they are left as they are, so
# that a distribution that is saved and read again is the same.
_TOLERANCE = 1e-9
_ADDS_UP = 1e-12


class TableRow(Part):
    """How likely a group, recommendation and cost is."""

    group: str = Field(description="one of groups.names")
    recommendation: Decision = Field(description="0 reject, 1 accept")
    probability: Probability = Field(description="of this group, recommendation and cost")
    cost: NotNegative = Field(1.0, description="of changing the recommendation")
    label_probability: Probability | None = Field(
        None, description="probability that the true label is 1, given group and recommendation"
    )


def checked_costs(costs: Sequence[Any]) -> tuple[float, ...]:
    """Return costs as floats, after a check.

    Parameters
    ----------
    costs : sequence of object
        At least one finite number, none negative, ascending.

    Returns
    -------
    tuple of float

    Raises
    ------
    SpecificationError
        If they are not so.

    Examples
    --------
    >>> checked_costs([0, 2.5])
    (0.0, 2.5)
    """

    def refused(what: str, remedy: str) -> SpecificationError:
        return SpecificationError(what, where="inputs.costs", remedy=remedy)

    numbers = list[float]()
    for cost in costs:
        try:
            numbers.append(math.nan if isinstance(cost, str | bool) else float(cost))
        except (TypeError, ValueError, OverflowError):
            numbers.append(math.nan)
        if not math.isfinite(numbers[-1]):
            raise refused(f"the cost is {cost!r}, no finite number", "give a number")
        if numbers[-1] < 0:
            raise refused(f"the cost {numbers[-1]:g} is negative", "give costs of at least 0")
    if not numbers:
        raise refused("there is no cost", "give at least one")
    for first, second in pairwise(numbers):
        if first == second:
            raise refused(f"the cost {first:g} stands twice", "give each cost once")
        if first > second:
            listed = ", ".join(f"{number:g}" for number in numbers)
            remedy = "sort them, and the probabilities with them"
            raise refused(f"the costs {listed} are not ascending", remedy)
    return tuple(numbers)


def _shares(values: ArrayLike, name: str, shape: tuple[int, ...]) -> log.Floats:
    """Return probabilities as an array that cannot be written to, or refuse them."""
    where = f"inputs.{name}"
    wanted = f"give an array of the shape {shape}"
    try:
        shares = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SpecificationError("these are no numbers", where=where, remedy=wanted) from error
    if shares.shape != shape:
        axes = ": groups, recommendations" + (", costs" if len(shape) == 3 else "")
        raise SpecificationError(f"the shape is {shares.shape}", where=where, remedy=wanted + axes)
    bad = np.argwhere(~((shares >= 0) & (shares <= 1)))
    if len(bad):
        index = tuple(map(int, bad[0]))
        what = f"the probability is {float(shares[index])!r}"
        where = f"{where}[{', '.join(map(str, index))}]"
        raise SpecificationError(what, where=where, remedy="give numbers between 0 and 1")
    shares.flags.writeable = False
    return shares


def _label_probabilities(groups: tuple[str, ...], rows: Sequence[TableRow]) -> log.Floats | None:
    """Return the probabilities of label 1, shape (groups, 2); None if no row has one."""
    if all(row.label_probability is None for row in rows):
        return None
    known: dict[tuple[str, int], float] = {}
    for index, row in enumerate(rows):
        cell = (row.group, row.recommendation)
        probability = row.label_probability
        if probability is not None and known.setdefault(cell, probability) != probability:
            what = f"is {probability:g} here, and {known[cell]:g} in another row"
            raise _bad_label(index, row, what, "give one for all costs")
    for index, row in enumerate(rows):
        if row.probability > 0 and (row.group, row.recommendation) not in known:
            remedy = "add `label_probability`, or leave it out in all rows"
            raise _bad_label(index, row, "is missing", remedy)
    return np.array([[known.get((name, decision), 0.5) for decision in (0, 1)] for name in groups])


def _bad_label(index: int, row: TableRow, what: str, remedy: str) -> SpecificationError:
    what = f"the label's probability of {row.group!r} and {row.recommendation} {what}"
    return SpecificationError(what, where=f"inputs.table.{index}", remedy=remedy)


@dataclass(frozen=True, eq=False)
class InputDistribution:
    """Probabilities of the group, recommendation and cost of each event, and of its label.

    Events are independent of each other and have the same distribution. :func:`solve` minimises the
    expected cost under it; what a shield guarantees does not depend on it.

    Raises
    ------
    SpecificationError
        If these are no probabilities or have another shape, do not add up to 1 (to 1e-9), there are
        fewer than two groups, groups or costs stand twice, or a cost is negative.

    Notes
    -----
    Section 3 and appendix C.5 of the paper on fairness shields.

    Examples
    --------
    >>> inputs = InputDistribution.uniform(["female", "male"])
    >>> inputs.probabilities.shape, float(inputs.probabilities[0, 1, 0])
    ((2, 2, 1), 0.25)
    """

    groups: tuple[str, ...]  # At least two.
    costs: tuple[float, ...]  # What changing a recommendation can cost, ascending.
    # Probability of each group, recommendation (0 reject, 1 accept) and cost; they add up to 1, and
    # 0 is allowed; shape (groups, 2, costs).
    probabilities: NDArray[np.float64]
    # Probability that the true label is 1, given group and recommendation; None if labels play no
    # part; shape (groups, 2).
    labels: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        groups = checked_groups(self.groups)
        costs = checked_costs(self.costs)
        shares = _shares(self.probabilities, "probabilities", (len(groups), 2, len(costs)))
        total = math.fsum(shares.ravel())
        if abs(total - 1) > _TOLERANCE:
            what = f"the probabilities add up to {total:.10g}, not to 1"
            raise SpecificationError(what, where="inputs", remedy="correct them", total=total)
        if abs(total - 1) > _ADDS_UP:
            shares = shares / total
            shares.flags.writeable = False
        labels = self.labels
        if labels is not None:
            labels = _shares(labels, "labels", (len(groups), 2))
        vars(self).update(groups=groups, costs=costs, probabilities=shares, labels=labels)

    @classmethod
    def uniform(
        cls, groups: Sequence[str], *, costs: Sequence[float] = (1.0,), labelled: bool = False
    ) -> InputDistribution:
        """Return the distribution in which everything is equally likely (appendix C.5).

        Parameters
        ----------
        groups : sequence of str
            At least two.
        costs : sequence of float
            What changing a recommendation can cost; they are sorted.
        labelled : bool
            Whether there are labels; label 1 then has the probability 1/2.

        Returns
        -------
        InputDistribution

        Raises
        ------
        SpecificationError
            If there are fewer than two groups, groups or costs stand twice, or a cost is negative.
        """
        groups = checked_groups(groups)
        costs = checked_costs(sorted(costs))
        shape = (len(groups), 2, len(costs))
        return cls(
            groups=groups,
            costs=costs,
            probabilities=np.full(shape, 1 / math.prod(shape)),
            labels=np.full(shape[:2], 0.5) if labelled else None,
        )

    @classmethod
    def from_table(
        cls, groups: Sequence[str], rows: Sequence[Mapping[str, Any] | TableRow]
    ) -> InputDistribution:
        """Return the distribution of a table; what has no row has probability 0.

        Parameters
        ----------
        groups : sequence of str
            All groups, at least two.
        rows : sequence of mapping
            Each has the keys ``group``, ``recommendation`` and ``probability``, and may have
            ``cost`` (1 if left out) and ``label_probability``, which is the same for all costs of a
            group and recommendation.

        Returns
        -------
        InputDistribution

        Raises
        ------
        SpecificationError
            If a row is wrong or stands twice, the probabilities do not add up to 1, or only some
            rows have a label's probability.

        Examples
        --------
        >>> inputs = InputDistribution.from_table(["a", "b"], [
        ...     {"group": "a", "recommendation": 1, "probability": 0.5},
        ...     {"group": "b", "recommendation": 0, "probability": 0.5, "cost": 2}])
        >>> inputs.costs
        (1.0, 2.0)
        """
        groups = checked_groups(groups)
        if not rows:
            remedy = "add rows, or leave it out to expect everything equally often"
            raise SpecificationError("the table has no rows", where="inputs.table", remedy=remedy)
        checked = list[TableRow]()
        cells = dict[tuple[int, int, float], float]()
        for index, given in enumerate(rows):
            where = f"inputs.table.{index}"
            row = validated(TableRow, given, where=where)
            if row.group not in groups:
                raise SpecificationError(
                    f"the group {row.group!r} is unknown",
                    where=where,
                    remedy=f"the groups are {', '.join(groups)}",
                )
            cell = (groups.index(row.group), row.recommendation, row.cost)
            if cell in cells:
                same = f"{row.group!r}, {row.recommendation} and cost {row.cost:g}"
                raise SpecificationError(
                    f"a row of {same} stands there already",
                    where=where,
                    remedy="put both in one row",
                )
            cells[cell] = row.probability
            checked.append(row)
        costs = checked_costs(sorted({row.cost for row in checked}))
        probabilities = np.zeros((len(groups), 2, len(costs)))
        for (group, recommendation, cost), probability in cells.items():
            probabilities[group, recommendation, costs.index(cost)] = probability
        return cls(
            groups=groups,
            costs=costs,
            probabilities=probabilities,
            labels=_label_probabilities(groups, checked),
        )

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
        """Return the distribution that is estimated from a log, a row a person.

        With n rows, G groups and the smoothing s, the probability of a group, recommendation and
        cost is ``(count + s * share of the cost) / (n + 2 * G * s)``.

        Parameters
        ----------
        groups : sequence, shape (n,)
            The group of each row.
        recommendations : array of {0, 1}, shape (n,)
            0 rejects, 1 accepts.
        costs : array of float, shape (n,), optional
            What changing each recommendation costs; 1 if not given.
        labels : array of float, shape (n,), optional
            The true labels, 0 or 1; NaN where one never became known.
        known_groups : sequence of str, optional
            All groups; if not given, those of the log, sorted.
        smoothing : float
            The number of people added to each group and recommendation, with costs as overall and
            either label equally often. With 0, what was not seen has probability 0.
        most_costs : int
            If the log has more different costs, this many quantiles of them are used instead. Each
            cost counts as the next quantile that is not smaller, as in :meth:`cost_places`.

        Returns
        -------
        InputDistribution

        Raises
        ------
        DataError
            If the log is empty, has fewer than two groups, or a value is wrong or missing.
        SpecificationError
            If `known_groups` are fewer than two, or one stands twice.
        ParameterError
            If `smoothing` is negative or not finite, or `most_costs` is below 1.

        Examples
        --------
        >>> inputs = InputDistribution.from_log(["a", "a", "b"], [1, 0, 1])
        >>> inputs.probabilities[:, :, 0].round(3).tolist()
        [[0.286, 0.286], [0.143, 0.286]]
        """
        if not 0 <= smoothing < math.inf:
            raise ParameterError(
                f"the smoothing is {smoothing!r}",
                where="smoothing",
                remedy="give a number of at least 0",
            )
        if most_costs < 1:
            what = f"there is room for {most_costs} costs"
            raise ParameterError(what, where="most_costs", remedy="give at least 1")
        people = len(groups)
        if not people:
            raise DataError("the log is empty", where="log", remedy="give a log with rows")
        names, codes = log.group_codes(groups, known_groups)
        decided = log.numbers_of(recommendations, people, "recommendation").astype(np.int64)
        levels, cost_codes = log.cost_levels(costs, people, most_costs)
        counts = np.zeros((len(names), 2, len(levels)))
        np.add.at(counts, (codes, decided, cost_codes), 1)
        # The smoothing adds people to each group and recommendation, with costs as they are
        # overall.
        cost_shares = counts.sum(axis=(0, 1)) / people
        probabilities = (counts + smoothing * cost_shares) / (people + 2 * len(names) * smoothing)
        label_probabilities = None
        if labels is not None:
            label_probabilities = log.label_shares(labels, codes, decided, len(names), smoothing)
        return cls(
            groups=names, costs=levels, probabilities=probabilities, labels=label_probabilities
        )

    def cost_places(self, costs: ArrayLike) -> NDArray[np.int64]:
        """Return the place of the smallest known cost that is not below each cost, or the last.

        Parameters
        ----------
        costs : array of float, any shape
            Finite and at least 0.

        Returns
        -------
        array of int, of the same shape
            Places in the costs of the distribution.

        Raises
        ------
        ParameterError
            If a cost is negative or not finite.

        Examples
        --------
        >>> inputs = InputDistribution.uniform(["a", "b"], costs=(1.0, 2.0))
        >>> inputs.cost_places([0.5, 2, 9]).tolist()
        [0, 1, 1]
        """
        numbers = np.asarray(costs, dtype=np.float64)
        valid = (numbers >= 0) & (numbers < math.inf)
        if not valid.all():
            raise ParameterError(
                f"a cost is {float(numbers[~valid][0])!r}",
                where="costs",
                remedy="give numbers of at least 0",
            )
        return np.minimum(np.searchsorted(self.costs, numbers), len(self.costs) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution in types that JSON knows, to the last digit.

        Returns
        -------
        dict
            With the keys ``groups``, ``costs``, ``probabilities`` and ``labels``, which
            :meth:`from_dict` reads.
        """
        return {
            "groups": list(self.groups),
            "costs": list(self.costs),
            "probabilities": self.probabilities.tolist(),
            "labels": None if self.labels is None else self.labels.tolist(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> InputDistribution:
        """Return the distribution that :meth:`to_dict` wrote.

        Parameters
        ----------
        values : mapping
            With the keys ``groups``, ``costs``, ``probabilities`` and ``labels``.

        Returns
        -------
        InputDistribution

        Raises
        ------
        SpecificationError
            If a key is missing or a value is wrong.
        """
        for key in ("groups", "costs", "probabilities", "labels"):
            if key not in values:
                raise SpecificationError(
                    f"the key {key!r} is missing",
                    where="inputs",
                    remedy="give what `to_dict` gave",
                )
        return cls(
            groups=values["groups"],
            costs=values["costs"],
            probabilities=values["probabilities"],
            labels=values["labels"],
        )
