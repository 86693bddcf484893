"""The six populations of the benchmark, and ten worlds of any size that try to mislead a verdict.

A world is a population too. What is true of its groups is summed over every row there can be. In
seven of them a group truly differs, as people are, by clearly more than :data:`LIMIT`; the right
headline names a group that differs, and the right gate at that limit fails. In the other three no
group differs; the right headline claims no difference beyond chance, and the right gate passes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.rules import IntervalRule, Rule, RuleSet, ValueRule
from testsgd.truth.populations import (
    MERITS,
    CategoryTrait,
    Floats,
    NumberTrait,
    Population,
    Trait,
    cells_of,
)

# The gate, by how much a planted group is at least beyond it, and what counts as no difference.
LIMIT = 0.2
CLEARLY = 0.1
NOTHING = 0.01

# Above it lie half of the merits, if all are equally frequent.
_MIDDLE = 49

_GENDER = CategoryTrait("gender", ("female", "male"), (0.5, 0.5))
_REGION = CategoryTrait("region", ("north", "east", "south", "west"), (0.40, 0.20, 0.15, 0.25))
_AGE = NumberTrait("age", 18, 10, (0.15, 0.20, 0.20, 0.20, 0.15, 0.10))
_AGE_IN_FIVES = NumberTrait(
    "age", 18, 5, tuple(share / 2 for share in _AGE.shares for _ in range(2))
)
_PEOPLE: tuple[Trait, ...] = (_GENDER, _REGION, _AGE)

# Makes a population, given its name and its number.
_Maker = Callable[..., Population]


def _group(*rules: Rule, **values: tuple[str, ...]) -> RuleSet:
    return RuleSet((*(ValueRule(feature, chosen) for feature, chosen in values.items()), *rules))


_WOMEN = _group(gender=("female",))
_WEST = _group(region=("west",))
_FIRST = _group(IntervalRule("age", 38, 58), gender=("female",), region=("east", "south"))
_SECOND = _group(IntervalRule("age", 48, 68), gender=("female",), region=("south", "west"))


def _cells_inside(traits: tuple[Trait, ...], group: RuleSet) -> NDArray[np.bool_]:
    """Return a mask of the cells in a group, shape (cells of each trait)."""
    inside = np.zeros(tuple(len(trait.shares) for trait in traits), dtype=bool)
    inside[cells_of(traits, group)] = True
    return inside


def _by_limit(
    title: str,
    raised: dict[RuleSet, int],
    traits: tuple[Trait, ...] = _PEOPLE,
    *,
    planted: tuple[RuleSet, ...] | None = None,
    limits: NDArray[np.int64] | None = None,
    **more: Any,
) -> _Maker:
    """Return a maker of populations that have groups with raised limits planted in them.

    Where groups overlap, the higher limit counts. `raised`: by how much each group's limit is
    raised. `planted` and `limits`, if given, take the place of what follows from it.
    """
    if limits is None:
        limits = np.full(tuple(len(trait.shares) for trait in traits), _MIDDLE, dtype=np.int64)
        for group, step in raised.items():
            inside = _cells_inside(traits, group)
            limits = np.maximum(limits, np.where(inside, _MIDDLE + step, _MIDDLE))
    return partial(
        Population,
        title=title,
        traits=traits,
        planted=tuple(raised) if planted is None else planted,
        limits=limits,
        **more,
    )


def _by_merit(title: str, group: RuleSet, merits: Any, limit: int = _MIDDLE, **more: Any) -> _Maker:
    """Return a maker of populations in which a group is planted through a proxy.

    Of the distributions of merit the first holds outside of the group, the second inside.
    """
    inside = _cells_inside(_PEOPLE, group)
    return _by_limit(
        title,
        {},
        planted=(group,),
        limits=np.full(inside.shape, limit, dtype=np.int64),
        merit_of=inside.astype(np.int64),
        merits=np.array(merits),
        **more,
    )


def _falling_merits() -> list[Floats]:
    """Return equally frequent merits, and merits of which the high ones are rare."""
    merits = np.arange(MERITS)
    level = np.full(MERITS, 1 / MERITS)
    return [level, level * (1 - 0.8 * (2 * merits - MERITS + 1) / (MERITS - 1))]


def _twelve_traits() -> tuple[Trait, ...]:
    pairs = [(0.5, 0.5), (0.6, 0.4), (0.7, 0.3)]
    return tuple(
        CategoryTrait(f"trait_{index + 1}", ("a", "b"), pairs[index % 3])
        if index % 6 != 5
        else CategoryTrait(f"trait_{index + 1}", ("a", "b", "c"), (0.45, 0.30, 0.25))
        for index in range(12)
    )


def _redundant_groups() -> _Maker:
    title = CategoryTrait("title", ("Ms", "Mr"), (0.5, 0.5))
    hours = CategoryTrait("hours", ("part", "full"), (0.5, 0.5))
    # Of women, 98% are called Ms, and 90% work part-time; of men, as many are not.
    called, working = (np.array([[share, 1 - share], [1 - share, share]]) for share in (0.98, 0.90))
    return _by_limit(
        "women are 35 points below, and two other features tell nearly all women from men",
        {_WOMEN: 35},
        (_GENDER, title, hours, _REGION),
        joint=np.einsum("gt,gh,r->gthr", 0.5 * called, working, _REGION.shares),
    )


def _blind_model() -> _Maker:
    falling = np.arange(MERITS, 0, -1.0) ** 2
    return _by_merit(
        "the model reads no sensitive feature, but the merits of the women of two regions are "
        "lower; they are 37 points below",
        _group(gender=("female",), region=("east", "south")),
        [np.full(MERITS, 1 / MERITS), falling / falling.sum()],
    )


def _fair_looking() -> _Maker:
    merits = np.arange(MERITS)
    inside = _cells_inside(_PEOPLE, _WOMEN)
    ranges = [((merits >= low) & (merits < low + 80)) / 80 for low in (0, 20)]
    return _by_limit(
        "women have 20 merits more than men, and the model asks women for 20 more: nobody's "
        "selection rate differs, though it does look at gender",
        {},
        limits=np.where(inside, 59, 39),
        merit_of=inside.astype(np.int64),
        merits=np.vstack(ranges),
    )


def _random_answers(name: str, number: int) -> Population:
    # Enough possible rows that hardly any two people of a sample are the same.
    tenures = 1_000
    shape = (*(len(trait.shares) for trait in _PEOPLE), MERITS, tenures)
    coins = np.random.default_rng(number).integers(0, 2, shape)
    title = "the model tosses a coin for every row there can be, once and for all"
    maker = _by_limit(title, {}, answers=coins.astype(bool), tenures=tenures)
    return maker(name=name, number=number)


_POPULATIONS: dict[str, _Maker] = {
    "null": _by_limit("no discrimination at all", {}),
    "intersection": _by_limit(
        "one intersection of three features, 7% of the people, 25 points below the others",
        {_FIRST: 25},
    ),
    "band": _by_limit(
        "a band of a continuous feature, four of twelve bins, 15 points below the others",
        {_group(IntervalRule("age", 33, 53)): 15},
        (_GENDER, _REGION, _AGE_IN_FIVES),
    ),
    "overlap": _by_limit(
        "two overlapping intersections of 7% each, 25 points below the others",
        {_FIRST: 25, _SECOND: 25},
    ),
    "proxy": _by_merit(
        "through a proxy: the model reads one feature only, which is lower in one region",
        _WEST,
        _falling_merits(),
    ),
    "one-of-twelve": _by_limit(
        "in one of twelve sensitive features, a quarter of the people, 15 points below",
        {_group(trait_6=("c",)): 15},
        _twelve_traits(),
        max_features=2,
    ),
}
_WORLDS: dict[str, _Maker] = {
    "binary-proxy": _by_merit(
        "the model reads one feature of two values, which few people of one region have; that "
        "region is 40 points below, and the neighbours show nothing",
        _WEST,
        [[0.5, 0.5], [0.9, 0.1]],
        limit=0,
        tenures=0,
    ),
    "few-valued-proxy": _by_merit(
        "the model reads one feature of four values, and most people of one region are one value "
        "below what it asks for; that region is 35 points below",
        _WEST,
        [[0.25, 0.25, 0.25, 0.25], [0.05, 0.80, 0.15, 0.0]],
        limit=1,
    ),
    "rare-group": _by_limit(
        "one value that 2% of the people have is 40 points below",
        {_group(origin=("far",)): 40},
        (_GENDER, CategoryTrait("origin", ("home", "near", "far"), (0.80, 0.18, 0.02)), _AGE),
    ),
    "rare-intersection": _by_limit(
        "Black women who are disabled, 1.5% of the people, are never selected, everybody else "
        "half of the time",
        {_group(gender=("female",), race=("Black",), disabled=("yes",)): MERITS},
        (
            _GENDER,
            CategoryTrait("race", ("White", "Black", "Asian", "other"), (0.60, 0.20, 0.12, 0.08)),
            CategoryTrait("disabled", ("no", "yes"), (0.85, 0.15)),
        ),
    ),
    "degenerate-complement": _by_limit(
        "one region is 35 points below; and 3 people in 10,000 are outside of an age group, to "
        "whom nothing is done",
        {_WEST: 35},
        (
            _GENDER,
            _REGION,
            NumberTrait("age", 18, 10, (0.0003, 0.2497, 0.30, 0.25, 0.15, 0.05)),
        ),
    ),
    "redundant-groups": _redundant_groups(),
    "blind-model": _blind_model(),
    "fair-looking": _fair_looking(),
    "random-answers": _random_answers,
    "no-difference": _by_limit("the model reads a feature that is the same for all", {}),
}
POPULATIONS = tuple(_POPULATIONS)
WORLDS = tuple(_WORLDS)


@lru_cache
def population(name: str) -> Population:
    """Return a population of the benchmark by its name.

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
        If there is no population of that name.

    Examples
    --------
    >>> [group.text for group in population("band").planted]
    ['33 <= age < 53']
    """
    return _population_named(name, _POPULATIONS, "population")


@lru_cache
def world(name: str) -> Population:
    """Return a world, a population that tries to mislead a verdict, by its name.

    Parameters
    ----------
    name : str
        One of :data:`WORLDS`.

    Returns
    -------
    Population

    Raises
    ------
    ParameterError
        If there is no world of that name.

    Examples
    --------
    >>> from testsgd.truth import truth_of
    >>> people = world("binary-proxy")
    >>> round(truth_of(people, "observed").difference(people.planted[0]), 3)
    -0.4
    >>> truth_of(people, "neighbourhood").largest
    0.0
    """
    # Behind the populations, so that their random numbers differ.
    return _population_named(name, _WORLDS, "world", first=100)


def _population_named(
    name: str, makers: dict[str, _Maker], kind: str, *, first: int = 0
) -> Population:
    """Return the population of a name; their numbers begin with `first`."""
    names = list(makers)
    if name not in makers:
        raise ParameterError(
            f"the {kind} {name!r} is unknown",
            where=f"{kind}s",
            remedy=f"give {'one' if kind == 'population' else 'some'} of {', '.join(names)}",
            **{kind: name},
        )
    return makers[name](name=name, number=first + names.index(name))
