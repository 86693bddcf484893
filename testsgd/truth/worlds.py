"""Ten kinds of worlds that try to fool an audit's verdict, each with its truth by construction.

A world is a population. What is true of its groups is summed over every row there can be. In seven
of them a group truly differs, as people are, by clearly more than :data:`LIMIT`; the right headline
names a group that differs, and the right gate at that limit fails. In the other three no group
differs; the right headline claims no difference beyond chance, and the right gate passes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from testsgd.errors import ParameterError
from testsgd.rules import RuleSet, ValueRule
from testsgd.truth.catalogue import AGE, PEOPLE, inside_cells, limits_of
from testsgd.truth.populations import MERITS, Floats, Population
from testsgd.truth.traits import CategoryTrait, NumberTrait, Trait

# The gate, by how much a planted group is at least beyond it, and what counts as no difference.
LIMIT = 0.2
CLEARLY = 0.1
NOTHING = 0.01

_WEST = RuleSet((ValueRule("region", ("west",)),))
_LEVEL = np.full(MERITS, 1 / MERITS)


def _binary_proxy(number: int) -> Population:
    return Population(
        name="binary-proxy",
        title="the model reads one feature of two values, which few people of one region have; "
        "that region is 40 points below, and the neighbours show nothing",
        traits=PEOPLE,
        limits=np.zeros_like(limits_of(PEOPLE, {})),
        planted=(_WEST,),
        merit_of=inside_cells(PEOPLE, _WEST).astype(np.int64),
        merits=np.array([[0.5, 0.5], [0.9, 0.1]]),
        tenures=0,
        number=number,
    )


def _few_valued_proxy(number: int) -> Population:
    return Population(
        name="few-valued-proxy",
        title="the model reads one feature of four values, and most people of one region are one "
        "value below what it asks for; that region is 35 points below",
        traits=PEOPLE,
        limits=np.ones_like(limits_of(PEOPLE, {})),
        planted=(_WEST,),
        merit_of=inside_cells(PEOPLE, _WEST).astype(np.int64),
        merits=np.array([[0.25, 0.25, 0.25, 0.25], [0.05, 0.80, 0.15, 0.0]]),
        number=number,
    )


def _rare_group(number: int) -> Population:
    origin = CategoryTrait("origin", ("home", "near", "far"), (0.80, 0.18, 0.02))
    traits: tuple[Trait, ...] = (PEOPLE[0], origin, AGE)
    group = RuleSet((ValueRule("origin", ("far",)),))
    return Population(
        name="rare-group",
        title="one value that 2% of the people have is 40 points below",
        traits=traits,
        limits=limits_of(traits, {group: 40}),
        planted=(group,),
        number=number,
    )


def _rare_intersection(number: int) -> Population:
    race = CategoryTrait("race", ("White", "Black", "Asian", "other"), (0.60, 0.20, 0.12, 0.08))
    disabled = CategoryTrait("disabled", ("no", "yes"), (0.85, 0.15))
    traits: tuple[Trait, ...] = (PEOPLE[0], race, disabled)
    group = RuleSet(
        (
            ValueRule("gender", ("female",)),
            ValueRule("race", ("Black",)),
            ValueRule("disabled", ("yes",)),
        )
    )
    return Population(
        name="rare-intersection",
        title="Black women who are disabled, 1.5% of the people, are never selected, everybody "
        "else half of the time",
        traits=traits,
        limits=limits_of(traits, {group: MERITS}),
        planted=(group,),
        number=number,
    )


def _degenerate_complement(number: int) -> Population:
    shares = (0.0003, 0.2497, 0.30, 0.25, 0.15, 0.05)
    traits: tuple[Trait, ...] = (*PEOPLE[:2], NumberTrait("age", 18, 10, shares))
    return Population(
        name="degenerate-complement",
        title="one region is 35 points below; and 3 people in 10,000 are outside of an age group, "
        "to whom nothing is done",
        traits=traits,
        limits=limits_of(traits, {_WEST: 35}),
        planted=(_WEST,),
        number=number,
    )


def _redundant_groups(number: int) -> Population:
    group = RuleSet((ValueRule("gender", ("female",)),))
    traits: tuple[Trait, ...] = (
        PEOPLE[0],
        CategoryTrait("title", ("Ms", "Mr"), (0.5, 0.5)),
        CategoryTrait("hours", ("part", "full"), (0.5, 0.5)),
        PEOPLE[1],
    )
    # Of women, 98% are called Ms, and 90% work part-time; of men, as many are not.
    title, hours = (np.array([[share, 1 - share], [1 - share, share]]) for share in (0.98, 0.90))
    return Population(
        name="redundant-groups",
        title="women are 35 points below, and two other features tell nearly all women from men",
        traits=traits,
        joint=np.einsum("gt,gh,r->gthr", 0.5 * title, hours, PEOPLE[1].shares),
        limits=limits_of(traits, {group: 35}),
        planted=(group,),
        number=number,
    )


def _blind_model(number: int) -> Population:
    group = RuleSet((ValueRule("gender", ("female",)), ValueRule("region", ("east", "south"))))
    falling = np.arange(MERITS, 0, -1.0) ** 2
    return Population(
        name="blind-model",
        title="the model reads no sensitive feature, but the merits of the women of two regions "
        "are lower; they are 37 points below",
        traits=PEOPLE,
        limits=limits_of(PEOPLE, {}),
        planted=(group,),
        merit_of=inside_cells(PEOPLE, group).astype(np.int64),
        merits=np.vstack([_LEVEL, falling / falling.sum()]),
        number=number,
    )


def _fair_looking(number: int) -> Population:
    women = RuleSet((ValueRule("gender", ("female",)),))
    inside = inside_cells(PEOPLE, women)
    return Population(
        name="fair-looking",
        title="women have 20 merits more than men, and the model asks women for 20 more: nobody's "
        "selection rate differs, though it does look at gender",
        traits=PEOPLE,
        limits=np.where(inside, 59, 39),
        planted=(),
        merit_of=inside.astype(np.int64),
        merits=np.vstack([_between(0, 80), _between(20, 100)]),
        number=number,
    )


def _random_answers(number: int) -> Population:
    # So many rows can be that hardly any two people of a sample are the same.
    tenures = 1_000
    limits = limits_of(PEOPLE, {})
    coins = np.random.default_rng(number).integers(0, 2, (*limits.shape, MERITS, tenures))
    return Population(
        name="random-answers",
        title="the model tosses a coin for every row there can be, once and for all",
        traits=PEOPLE,
        limits=limits,
        answers=coins.astype(bool),
        planted=(),
        tenures=tenures,
        number=number,
    )


def _null(number: int) -> Population:
    return Population(
        name="no-difference",
        title="the model reads a feature that is the same for all",
        traits=PEOPLE,
        limits=limits_of(PEOPLE, {}),
        planted=(),
        number=number,
    )


def _between(low: int, high: int) -> Floats:
    merits = np.arange(MERITS)
    return ((merits >= low) & (merits < high)) / (high - low)


_MAKERS: dict[str, Callable[[int], Population]] = {
    "binary-proxy": _binary_proxy,
    "few-valued-proxy": _few_valued_proxy,
    "rare-group": _rare_group,
    "rare-intersection": _rare_intersection,
    "degenerate-complement": _degenerate_complement,
    "redundant-groups": _redundant_groups,
    "blind-model": _blind_model,
    "fair-looking": _fair_looking,
    "random-answers": _random_answers,
    "no-difference": _null,
}
WORLDS = tuple(_MAKERS)


@lru_cache
def world(name: str) -> Population:
    """Return a world.

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
        If there is none of that name.

    Examples
    --------
    >>> from testsgd.truth import truth_of
    >>> people = world("binary-proxy")
    >>> round(truth_of(people, "observed").difference(people.planted[0]), 3)
    -0.4
    >>> truth_of(people, "neighbourhood").largest
    0.0
    """
    if name not in _MAKERS:
        raise ParameterError(
            f"the world {name!r} is unknown",
            where="worlds",
            remedy=f"give some of {', '.join(WORLDS)}",
            world=name,
        )
    # Behind the populations, so that their random numbers differ.
    return _MAKERS[name](100 + WORLDS.index(name))
