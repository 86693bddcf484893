"""The six populations of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.rules import IntervalRule, RuleSet, ValueRule
from testsgd.truth.populations import MERITS, Population
from testsgd.truth.traits import CategoryTrait, NumberTrait, Trait

POPULATIONS = ("null", "intersection", "band", "overlap", "proxy", "one-of-twelve")

# Above it lie half of the merits, if all are equally frequent.
_LIMIT = 49

_GENDER = CategoryTrait("gender", ("female", "male"), (0.5, 0.5))
_REGION = CategoryTrait("region", ("north", "east", "south", "west"), (0.40, 0.20, 0.15, 0.25))
AGE = NumberTrait("age", 18, 10, (0.15, 0.20, 0.20, 0.20, 0.15, 0.10))
_AGE_IN_FIVES = NumberTrait(
    "age", 18, 5, tuple(share / 2 for share in AGE.shares for _ in range(2))
)
PEOPLE: tuple[Trait, ...] = (_GENDER, _REGION, AGE)


@lru_cache
def population(name: str) -> Population:
    """Give a population of the benchmark.

    Parameters
    ----------
    name : str
        One of :data:`POPULATIONS`.

    Returns
    -------
    Population

    Raises
    ------
    ParameterError
        If there is none of that name.

    Examples
    --------
    >>> [group.text for group in population("band").planted]
    ['33 <= age < 53']
    """
    if name not in _MAKERS:
        raise ParameterError(
            f"the population {name!r} is unknown",
            where="populations",
            remedy=f"give one of {', '.join(POPULATIONS)}",
            population=name,
        )
    return _MAKERS[name](POPULATIONS.index(name))


def _null(number: int) -> Population:
    return Population(
        name="null",
        title="no discrimination at all",
        traits=PEOPLE,
        limits=limits_of(PEOPLE, {}),
        planted=(),
        number=number,
    )


def _intersection(number: int) -> Population:
    group = RuleSet(
        (
            ValueRule("gender", ("female",)),
            ValueRule("region", ("east", "south")),
            IntervalRule("age", 38, 58),
        )
    )
    return Population(
        name="intersection",
        title="one intersection of three features, 7% of the people, 25 points below the others",
        traits=PEOPLE,
        limits=limits_of(PEOPLE, {group: 25}),
        planted=(group,),
        number=number,
    )


def _band(number: int) -> Population:
    traits: tuple[Trait, ...] = (_GENDER, _REGION, _AGE_IN_FIVES)
    group = RuleSet((IntervalRule("age", 33, 53),))
    return Population(
        name="band",
        title="a band of a continuous feature, four of twelve bins, 15 points below the others",
        traits=traits,
        limits=limits_of(traits, {group: 15}),
        planted=(group,),
        number=number,
    )


def _overlap(number: int) -> Population:
    first = RuleSet(
        (
            ValueRule("gender", ("female",)),
            ValueRule("region", ("east", "south")),
            IntervalRule("age", 38, 58),
        )
    )
    second = RuleSet(
        (
            ValueRule("gender", ("female",)),
            ValueRule("region", ("south", "west")),
            IntervalRule("age", 48, 68),
        )
    )
    return Population(
        name="overlap",
        title="two overlapping intersections of 7% each, 25 points below the others",
        traits=PEOPLE,
        limits=limits_of(PEOPLE, {first: 25, second: 25}),
        planted=(first, second),
        number=number,
    )


def _proxy(number: int) -> Population:
    group = RuleSet((ValueRule("region", ("west",)),))
    merits = np.arange(MERITS)
    level = np.full(MERITS, 1 / MERITS)
    # Low merits are frequent, high ones are rare; nothing else tells the region's people apart.
    falling = level * (1 - 0.8 * (2 * merits - MERITS + 1) / (MERITS - 1))
    inside = inside_cells(PEOPLE, group)
    return Population(
        name="proxy",
        title="through a proxy: the model reads one feature only, which is lower in one region",
        traits=PEOPLE,
        limits=limits_of(PEOPLE, {}),
        planted=(group,),
        merit_of=inside.astype(np.int64),
        merits=np.vstack([level, falling]),
        number=number,
    )


def _one_of_twelve(number: int) -> Population:
    pairs = [(0.5, 0.5), (0.6, 0.4), (0.7, 0.3)]
    traits: tuple[Trait, ...] = tuple(
        CategoryTrait(f"trait_{place + 1}", ("a", "b"), pairs[place % 3])
        if place % 6 != 5
        else CategoryTrait(f"trait_{place + 1}", ("a", "b", "c"), (0.45, 0.30, 0.25))
        for place in range(12)
    )
    group = RuleSet((ValueRule("trait_6", ("c",)),))
    return Population(
        name="one-of-twelve",
        title="in one of twelve sensitive features, a quarter of the people, 15 points below",
        traits=traits,
        limits=limits_of(traits, {group: 15}),
        planted=(group,),
        max_features=2,
        number=number,
    )


def inside_cells(traits: tuple[Trait, ...], group: RuleSet) -> NDArray[np.bool_]:
    """Return which cells are in a group, shape (cells of each trait)."""
    rules = {rule.feature: rule for rule in group.rules}
    inside = np.ones((), dtype=bool)
    for trait in traits:
        rule = rules.get(trait.name)
        part = np.ones(len(trait.shares), dtype=bool) if rule is None else trait.inside(rule)
        inside = np.logical_and.outer(inside, part)
    return inside


def limits_of(traits: tuple[Trait, ...], raised: dict[RuleSet, int]) -> NDArray[np.int64]:
    """Return each cell's limit; where raised groups overlap, the higher one counts."""
    limits = np.full(tuple(len(trait.shares) for trait in traits), _LIMIT, dtype=np.int64)
    for group, step in raised.items():
        limits = np.maximum(limits, np.where(inside_cells(traits, group), _LIMIT + step, _LIMIT))
    return limits


_MAKERS: dict[str, Callable[[int], Population]] = {
    "null": _null,
    "intersection": _intersection,
    "band": _band,
    "overlap": _overlap,
    "proxy": _proxy,
    "one-of-twelve": _one_of_twelve,
}
