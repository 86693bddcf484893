"""The worlds are what they are said to be: their truth is held against every row they can have."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from everybody_written_out import answers, as_table, everybody

from testsgd.errors import ParameterError
from testsgd.rules import RuleSet, ValueRule
from testsgd.truth import WORLDS, Population, baselines_once, truth_of, world
from testsgd.truth.catalogue import CLEARLY, LIMIT, NOTHING

PLANTED = [name for name in WORLDS if world(name).planted]
EMPTY = [name for name in WORLDS if not world(name).planted]
ESTIMANDS = ("observed", "neighbourhood")


@cache
def written_out(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    return everybody(of_few_rows(world(name)))


@cache
def of_few_rows(people: Population) -> Population:
    """Return a world of which not too many rows can be to write them all out."""
    if people.answers is None:
        return people
    return replace(people, answers=people.answers[..., :20], tenures=20)


def some_groups(name: str) -> tuple[RuleSet, ...]:
    people = world(name)
    singles = [
        RuleSet((ValueRule(trait.name, (value,)),))
        for trait in people.traits
        if hasattr(trait, "values")
        for value in trait.values
    ]
    pairs = [
        RuleSet((first.rules[0], second.rules[0]))
        for first in singles
        for second in singles
        if first.rules[0].feature < second.rules[0].feature
    ]
    return (*people.planted, *singles, *pairs)


def test_there_are_ten_kinds() -> None:
    assert len(WORLDS) == len(set(WORLDS)) == 10
    assert len({world(name).number for name in WORLDS}) == 10


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("name", WORLDS)
def test_the_truth_is_the_mean_over_every_row_there_can_be(name: str, estimand: str) -> None:
    people = of_few_rows(world(name))
    frame, weights = written_out(name)
    assert weights.sum() == pytest.approx(1)
    given = answers(people, frame, estimand)
    table = as_table(people, frame)
    truth = truth_of(people, estimand)
    for group in some_groups(name):
        inside = group.matches(table)
        share = weights[inside].sum()
        if share == 0:
            continue
        rates = [weights[side] @ given[side] / weights[side].sum() for side in (inside, ~inside)]
        assert truth.share(group) == pytest.approx(share)
        assert truth.difference(group) == pytest.approx(rates[0] - rates[1], abs=1e-12), group.text


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_clearly_beyond_the_limit_and_nothing_is_larger(name: str) -> None:
    people = world(name)
    truth = truth_of(people, "observed")
    sizes = [abs(truth.difference(group)) for group in people.planted]
    assert min(sizes) >= LIMIT + CLEARLY
    assert truth.largest == pytest.approx(max(sizes))
    for group in some_groups(name):
        if 0 < truth.share(group) < 1:
            assert abs(truth.difference(group)) <= truth.largest + 1e-12


@pytest.mark.parametrize("name", [name for name in EMPTY if name != "random-answers"])
def test_where_nothing_is_planted_nothing_differs_to_the_last_digit(name: str) -> None:
    assert truth_of(world(name), "observed").largest == 0


def test_random_answers_differ_by_next_to_nothing_over_all_rows_there_can_be() -> None:
    # A cell has a hundred merits and a thousand tenures: 0.16 points are one standard error.
    assert 0 < truth_of(world("random-answers"), "observed").largest < NOTHING


def test_asked_twice_random_answers_are_the_same() -> None:
    people = world("random-answers")
    frame = people.people(2_000, seed=0)
    first = people.decide(frame)
    order = np.random.default_rng(1).permutation(2_000)
    assert (people.decide(frame.iloc[order]) == first[order]).all()
    assert 0.4 < first.mean() < 0.6


def test_what_the_neighbours_do_not_show() -> None:
    # The proxy has two values: of everybody, one neighbour in two is on the other side.
    assert truth_of(world("binary-proxy"), "neighbourhood").largest == 0
    # Most of the group are one step below what is asked for.
    few = truth_of(world("few-valued-proxy"), "neighbourhood")
    assert few.largest < LIMIT


def test_the_model_of_the_fair_looking_world_does_look_at_gender() -> None:
    people = world("fair-looking")
    frame = people.people(5_000, seed=0)
    swapped = frame.assign(gender=frame["gender"].map({"female": "male", "male": "female"}))
    changed = people.decide(frame) != people.decide(swapped)
    assert changed.mean() > 0.2
    # Of the same merit, only one of the two gets a yes; and never a woman alone.
    women = (frame["gender"] == "female").to_numpy()
    assert (people.decide(frame)[changed & women] == 0).all()
    # And neither estimand can see it.
    assert truth_of(people, "neighbourhood").largest == 0


def test_methods_that_change_gender_alone_do_see_it() -> None:
    methods = ["themis", "individual"]
    runs = baselines_once(world("fair-looking"), 1_000, 0, seed=0, methods=methods)
    assert all(run.finding for run in runs)


def test_the_blind_model_reads_no_sensitive_feature() -> None:
    people = world("blind-model")
    frame, others = people.people(2_000, seed=3), people.people(2_000, seed=4)
    swapped = frame.assign(**{t.name: others[t.name] for t in people.traits})
    assert (people.decide(swapped) == people.decide(frame)).all()


def test_worked_by_hand() -> None:
    truth = truth_of(world("rare-intersection"), "observed")
    (group,) = world("rare-intersection").planted
    assert truth.share(group) == pytest.approx(0.5 * 0.2 * 0.15)
    assert truth.difference(group) == pytest.approx(-0.5)
    (group,) = world("binary-proxy").planted
    assert truth_of(world("binary-proxy"), "observed").difference(group) == pytest.approx(-0.4)


def test_one_cause_has_many_descriptions() -> None:
    people = world("redundant-groups")
    for trait, axis in zip(people.traits, range(len(people.traits)), strict=True):
        others = tuple(other for other in range(len(people.traits)) if other != axis)
        assert people.masses.sum(axis=others) == pytest.approx(np.array(trait.shares))
    truth = truth_of(people, "observed")
    other = RuleSet((ValueRule("title", ("Ms",)),))
    assert LIMIT < abs(truth.difference(other)) < truth.largest


def test_an_unknown_world_is_named() -> None:
    with pytest.raises(ParameterError, match="'flat' is unknown"):
        world("flat")
