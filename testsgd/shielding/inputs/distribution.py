"""How likely a shield expects each group, recommendation and cost to be.

Its bound holds whatever is expected; that only says which safe decisions are the cheapest.
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
    """Return costs as floats: at least one, none negative, ascending."""

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
    where, wanted = f"inputs.{name}", f"give an array of the shape {shape}"
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
        cell, label = (row.group, row.recommendation), row.label_probability
        if label is not None and known.setdefault(cell, label) != label:
            what = f"is {label:g} here, and {known[cell]:g} in another row"
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
    """Probabilities of what comes before the shield, each time anew and independently.

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

    groups: tuple[str, ...]  # At least two.
    costs: tuple[float, ...]  # What changing a recommendation can cost, ascending.
    # Probability of each group, recommendation (0 reject, 1 accept) and cost; they add up to 1, and
    # 0 is allowed; shape (groups, 2, costs).
    probabilities: NDArray[np.float64]
    # Probability that the true label is 1, given group and recommendation; None if labels play no
    # part; shape (groups, 2).
    labels: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        groups, costs = checked_groups(self.groups), checked_costs(self.costs)
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
        """Expect every group, recommendation, cost and label equally often (appendix C.5)."""
        groups, costs = checked_groups(groups), checked_costs(sorted(costs))
        shape = (len(groups), 2, len(costs))
        labels = np.full(shape[:2], 0.5) if labelled else None
        return cls(groups, costs, np.full(shape, 1 / math.prod(shape)), labels)

    @classmethod
    def from_table(
        cls, groups: Sequence[str], rows: Sequence[Mapping[str, Any] | TableRow]
    ) -> InputDistribution:
        """Take the probabilities from a table; what has no row has probability 0.

        A row has the keys ``group``, ``recommendation`` and ``probability``, perhaps ``cost`` (1)
        and ``label_probability``, which is the same for all costs of a group and recommendation. A
        SpecificationError says if a row is wrong or stands twice, or if some rows only have a
        label's probability.

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
        read, filled = list[TableRow](), dict[tuple[int, int, float], float]()
        for index, given in enumerate(rows):
            where = f"inputs.table.{index}"
            row = validated(TableRow, given, where=where)
            if row.group not in groups:
                what, known = f"the group {row.group!r} is unknown", ", ".join(groups)
                raise SpecificationError(what, where=where, remedy=f"the groups are {known}")
            cell = groups.index(row.group), row.recommendation, row.cost
            if cell in filled:
                same = f"{row.group!r}, {row.recommendation} and cost {row.cost:g}"
                what, remedy = f"a row of {same} stands there already", "put both in one row"
                raise SpecificationError(what, where=where, remedy=remedy)
            filled[cell] = row.probability
            read.append(row)
        costs = checked_costs(sorted({row.cost for row in read}))
        probabilities = np.zeros((len(groups), 2, len(costs)))
        for (group, recommendation, cost), probability in filled.items():
            probabilities[group, recommendation, costs.index(cost)] = probability
        return cls(groups, costs, probabilities, _label_probabilities(groups, read))

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
        """Estimate the probabilities from what was seen: arrays of shape (n,).

        `costs`: 1 if not given. `labels`: 0 or 1, NaN where one never became known. `known_groups`:
        all groups; left out, those of the log, sorted. `smoothing`: so many people are added to
        each group and recommendation, with costs as overall and either label equally often; 0
        believes that what was not seen cannot come. `most_costs`: more costs than these are put
        together, each counted as the next of so many quantiles that is not smaller, as
        :meth:`cost_places` takes it later. A DataError or a ParameterError says what is wrong.

        >>> inputs = InputDistribution.from_log(["a", "a", "b"], [1, 0, 1])
        >>> inputs.probabilities[:, :, 0].round(3).tolist()
        [[0.286, 0.286], [0.143, 0.286]]
        """
        if not 0 <= smoothing < math.inf:
            what, remedy = f"the smoothing is {smoothing!r}", "give a number of at least 0"
            raise ParameterError(what, where="smoothing", remedy=remedy)
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
        # As many more people as the smoothing says in each group and recommendation, with costs as
        # they are overall.
        overall = counts.sum(axis=(0, 1)) / people
        probabilities = (counts + smoothing * overall) / (people + 2 * len(names) * smoothing)
        shares = None
        if labels is not None:
            shares = log.label_shares(labels, codes, decided, len(names), smoothing)
        return cls(names, levels, probabilities, shares)

    def cost_places(self, costs: ArrayLike) -> NDArray[np.int64]:
        """Return the place of the smallest known cost that is not below each cost, or the last."""
        numbers = np.asarray(costs, dtype=np.float64)
        good = (numbers >= 0) & (numbers < math.inf)
        if not good.all():
            what, remedy = f"a cost is {float(numbers[~good][0])!r}", "give numbers of at least 0"
            raise ParameterError(what, where="costs", remedy=remedy)
        return np.minimum(np.searchsorted(self.costs, numbers), len(self.costs) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution in types that JSON knows, to the last digit."""
        labels = None if self.labels is None else self.labels.tolist()
        parts = {"groups": list(self.groups), "costs": list(self.costs)}
        return parts | {"probabilities": self.probabilities.tolist(), "labels": labels}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> InputDistribution:
        """Take what :meth:`to_dict` gave."""
        for key in ("groups", "costs", "probabilities", "labels"):
            if key not in values:
                what, remedy = f"the key {key!r} is missing", "give what `to_dict` gave"
                raise SpecificationError(what, where="inputs", remedy=remedy)
        return cls(values["groups"], values["costs"], values["probabilities"], values["labels"])
