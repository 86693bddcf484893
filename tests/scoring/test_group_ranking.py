"""The ranking: decided groups first, by score, then by support, then the shorter rule set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.scoring import rank_groups

# Few values of each, so that there are ties.
GROUPS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.1, 0.25, 1.0]),
        st.integers(1, 3),
        st.integers(1, 3),
        st.booleans(),
    ),
    max_size=30,
)


def ranked(groups):
    score, support, rules, decided = (np.array(column) for column in zip(*groups, strict=True))
    return rank_groups(score, support, rules, decided).tolist()


@given(GROUPS.filter(len))
def test_order_is_that_of_sorting_by_the_keys(groups):
    def key(place):
        score, support, rules, decided = groups[place]
        # Groups that are equal in everything keep the order in which they were found.
        return not decided, -score, -support, rules, place

    assert ranked(groups) == sorted(range(len(groups)), key=key)


@given(GROUPS.filter(len), st.randoms(use_true_random=False))
def test_order_of_the_input_matters_for_equal_groups_only(groups, random):
    shuffled = list(groups)
    random.shuffle(shuffled)
    assert [groups[place] for place in ranked(groups)] == [
        shuffled[place] for place in ranked(shuffled)
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0.3, 50, 1, True), (0.2, 99, 1, True)),
        ((0.3, 60, 2, True), (0.3, 50, 1, True)),
        ((0.3, 60, 1, True), (0.3, 60, 2, True)),
        ((0.1, 50, 3, True), (0.9, 99, 1, False)),
        ((0.1, 50, 3, False), (np.nan, 99, 1, False)),
    ],
)
def test_first_group_comes_first(first, second):
    assert ranked([first, second]) == [0, 1]
    assert ranked([second, first]) == [1, 0]


def test_no_groups_have_an_empty_ranking():
    nothing = np.zeros(0)
    order = rank_groups(nothing, nothing.astype(int), nothing.astype(int), nothing.astype(bool))
    assert order.tolist() == []


def test_of_a_group_and_its_complement_the_harmed_one_comes_first() -> None:
    score, rules = np.array([0.3, 0.3, 0.1]), np.array([1, 1, 1])
    support, harmed = np.array([900, 100, 500]), np.array([False, True, True])
    decided = np.ones(3, dtype=bool)
    assert rank_groups(score, support, rules, decided, harmed=harmed).tolist() == [1, 0, 2]
    assert rank_groups(score, support, rules, decided).tolist() == [0, 1, 2]


def test_of_equal_figures_the_next_one_decides_before_the_score():
    score, alike = np.array([0.3, 0.2, 0.1]), np.ones(3, dtype=int)
    first_by, then_by = np.array([0.0, 0.0, 0.4]), np.array([0.1, 0.5, 0.0])
    order = rank_groups(
        score, alike, alike, np.ones(3, dtype=bool), first_by=first_by, then_by=then_by
    )
    assert order.tolist() == [2, 1, 0]
