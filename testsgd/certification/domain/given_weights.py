"""Weights of a population that a domain's file gives: by value, or by bands of a range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from testsgd.certification.domain.domain import (
    CategoryInput,
    DomainInput,
    IntegerInput,
    Marginal,
    RealInput,
)
from testsgd.errors import SpecificationError

# Each value of a range of whole numbers has a weight of its own.
_MOST_VALUES = 1_000_000


@dataclass(frozen=True)
class GivenWeights:
    """The weights of one input; their sum may be anything above 0, such as 1, 100 or a count."""

    by_value: Mapping[str, float] = field(default_factory=dict)  # A weight for each value's text.
    # The first and the last value, and what all values from one to the other weigh together.
    bands: tuple[tuple[float, float, float], ...] = ()


def given_marginal(item: DomainInput, given: GivenWeights, *, where: str) -> Marginal | None:
    """Return how the weight of an input lies along its axis.

    Parameters
    ----------
    item : IntegerInput, RealInput or CategoryInput
        The input.
    given : GivenWeights
        Its weights: every value has one, or lies in one band. Within a band all values weigh alike.
    where : str
        What to call the input in messages.

    Returns
    -------
    Marginal or None
        None if all values weigh alike, which is how an input counts without weights.

    Raises
    ------
    SpecificationError
        If a value has no weight or two, a weight is negative, or all are 0.

    Examples
    --------
    >>> weights = GivenWeights(bands=((0, 1, 3.0), (2, 2, 1.0)))
    >>> given_marginal(IntegerInput("debts", 0, 2), weights, where="debts").cumulative.tolist()
    [0.0, 0.375, 0.75, 1.0]
    """
    weights = [*given.by_value.values(), *(weight for _, _, weight in given.bands)]
    if any(weight < 0 for weight in weights) or not math.fsum(weights) > 0:
        raise SpecificationError(
            f"the weights are {weights}", where=where, remedy="give weights of 0 or more, one above"
        )
    if isinstance(item, RealInput):
        if item.size == 1:
            return None
        pieces = _bands(item, given, step=0, where=where)
        edges = [item.low, *(end for _, end, _ in pieces)]
        masses = [Fraction(weight) for _, _, weight in pieces]
        lengths = [Fraction(end) - Fraction(start) for start, end, _ in pieces]
    else:
        if item.size > _MOST_VALUES:
            raise SpecificationError(
                f"the input has {item.size:,} values",
                where=where,
                remedy=f"weight inputs of at most {_MOST_VALUES:,} values, or make it a real one",
            )
        masses = _masses(item, given, where)
        lengths = [Fraction(1)] * len(masses)
        edges = list(range(item.size + 1))
    if len({mass / length for mass, length in zip(masses, lengths, strict=True)}) == 1:
        return None
    # Exact until the last division, so that the end is exactly 1.
    total = sum(masses)
    upto = Fraction(0)
    cumulative = [0.0]
    for mass in masses:
        upto += mass
        cumulative.append(float(upto / total))
    return Marginal(np.array(edges, dtype=np.float64), np.array(cumulative))


def _masses(item: IntegerInput | CategoryInput, given: GivenWeights, where: str) -> list[Fraction]:
    """Return the weight of each value, in order."""
    if given.bands and isinstance(item, IntegerInput):
        masses = []
        for start, end, weight in _bands(item, given, step=1, where=where):
            size = int(end) - int(start) + 1
            masses += [Fraction(weight) / size] * size
        return masses
    if isinstance(item, CategoryInput):
        names = list(item.values)
    else:
        names = [str(value) for value in range(item.low, item.high + 1)]
    missing = [name for name in names if name not in given.by_value]
    unknown = [name for name in given.by_value if name not in names]
    if missing or unknown:
        seen = f"{missing[0]!r} has no weight" if missing else f"{unknown[0]!r} is no value of it"
        raise SpecificationError(
            seen, where=where, remedy=f"give a weight, maybe 0, for each of {item.extent}"
        )
    return [Fraction(given.by_value[name]) for name in names]


def _bands(
    item: IntegerInput | RealInput, given: GivenWeights, *, step: int, where: str
) -> list[tuple[float, float, float]]:
    """Return the bands in order, after a check that they part the range."""
    bands = sorted(given.bands)
    expected: float = item.low
    for start, end, _ in bands:
        whole = step == 0 or (start == math.floor(start) and end == math.floor(end))
        if start != expected or end < start + (1 - step) * math.ulp(start) or not whole:
            raise SpecificationError(
                f"the band from {start:g} to {end:g} does not begin at {expected:g}, or is empty",
                where=where,
                remedy=f"give bands without gaps and overlaps for all {item.extent}",
            )
        expected = end + step
    if not bands or bands[-1][1] != item.high:
        raise SpecificationError(
            f"the bands do not end at {item.high:g}",
            where=where,
            remedy=f"give bands without gaps and overlaps for all {item.extent}",
        )
    return bands
