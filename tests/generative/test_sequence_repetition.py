"""Eventual and bounded appearance in finite sequences, by the formulas of the definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sequence_formulas import (
    bounded_fair,
    eventually_fair,
    first_missed_deadline,
    value_bounded,
)

from testsgd.errors import DataError, ParameterError
from testsgd.generative.sequences import (
    appears_eventually,
    bounded_repetition,
    related,
    smallest_betas,
)

sequences = st.lists(st.integers(1, 3), max_size=25)
bounds = st.lists(st.integers(1, 12), min_size=3, max_size=3)


@given(labels=sequences)
def test_eventual_appearance_is_equation_2(labels: list[int]) -> None:
    found = appears_eventually(labels, values=3)
    assert found.holds == eventually_fair(labels, 3)
    assert found.missing == [value for value in (1, 2, 3) if value not in labels]
    for value in (1, 2, 3):
        position = labels.index(value) + 1 if value in labels else 0
        assert found.first[value - 1] == position
        assert found.appear[value - 1] == (value in labels)


def test_gender_and_age_in_the_papers_fifth_example() -> None:
    # The sixth output is removed and all values appear, as in the prose; the order is made up.
    poor = [2] * 14
    gender = [2, 2, 1, 2, 2, 0, 2, 2, 1, 2, 2, 2, 2, 2]
    age = [3, 2, 2, 3, 1, 0, 2, 2, 2, 3, 3, 2, 2, 3]
    for labels, values in ((gender, 2), (age, 3)):
        kept = related(poor, 2, labels)
        assert appears_eventually(np.array(labels)[kept], values=values).holds


@given(labels=sequences, betas=bounds)
def test_bounded_repetition_is_definition_10(labels: list[int], betas: list[int]) -> None:
    found = bounded_repetition(labels, betas=betas)
    assert found.holds == bounded_fair(labels, betas)
    assert found.long_enough == (len(labels) > max(betas))
    for value, beta in enumerate(betas, start=1):
        assert found.value_holds[value - 1] == value_bounded(labels, value, beta)
        assert found.deadlines[value - 1] == first_missed_deadline(labels, value, beta)


def test_all_short_sequences_of_two_values() -> None:
    for length in range(8):
        for labels in product((1, 2), repeat=length):
            for betas in product(range(1, length + 3), repeat=2):
                found = bounded_repetition(list(labels), betas=list(betas))
                assert found.holds == bounded_fair(labels, betas)


def test_the_papers_eighth_example() -> None:
    # The prose: eleven outputs after removal, yellow (2) last at the eighth, (6, 6) is kept. The
    # other positions are in a picture only, and chosen here so that 6 is the smallest bound.
    colours = [1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1]
    assert bounded_repetition(colours, betas=[6, 6]).holds
    assert not bounded_repetition(colours, betas=[6, 5]).holds
    assert bounded_repetition(colours, betas=[6, 5]).deadlines.tolist() == [0, 7]
    assert smallest_betas(colours, values=2).betas.tolist() == [2, 6]


def test_the_last_chance_is_the_last_output() -> None:
    # After the appearance at 2 of 5, a bound of 3 ends with the last output, one of 4 beyond it.
    labels = [1, 2, 1, 1, 1]
    assert bounded_repetition(labels, betas=[2, 3]).deadlines.tolist() == [0, 5]
    assert bounded_repetition(labels, betas=[2, 4]).holds


def test_a_value_that_never_appears_holds_for_no_bound() -> None:
    found = bounded_repetition([1, 1, 1], betas=[1, 9])
    assert found.value_holds.tolist() == [True, False]
    assert found.deadlines.tolist() == [0, 9]
    assert not found.long_enough


@given(labels=sequences)
def test_smallest_bounds_are_those_of_a_search(labels: list[int]) -> None:
    found = smallest_betas(labels, values=3)
    length = len(labels)
    for value in (1, 2, 3):
        kept = [beta for beta in range(1, length + 4) if value_bounded(labels, value, beta)]
        assert found.exist[value - 1] == bool(kept)
        assert found.betas[value - 1] == (min(kept) if kept else length + 1)
    assert found.long_enough == (length > found.betas.max())


@given(labels=sequences)
def test_a_larger_bound_is_never_harder_to_keep(labels: list[int]) -> None:
    smallest = smallest_betas(labels, values=3)
    larger = bounded_repetition(labels, betas=smallest.betas + 2)
    assert larger.value_holds.tolist() == smallest.exist.tolist()


@given(labels=st.lists(st.integers(1, 300), min_size=1, max_size=40))
def test_groupings_of_more_than_255_values(labels: list[int]) -> None:
    found = smallest_betas(labels, values=300).betas
    for value in set(labels):
        points = [0, *(m for m, one in enumerate(labels, 1) if one == value), len(labels) + 1]
        assert found[value - 1] == np.diff(points).max()


def test_long_sequences_keep_the_bounds_they_were_made_with() -> None:
    labels = np.tile([1, 2, 1, 1, 3], 20_000)
    assert smallest_betas(labels, values=3).betas.tolist() == [2, 5, 5]


@pytest.mark.parametrize("labels", [[0, 1], [1, 4], [-1]])
def test_a_label_that_is_no_value_is_an_error_with_its_position(labels: list[int]) -> None:
    with pytest.raises(DataError) as caught:
        smallest_betas(labels, values=3)
    position = caught.value.details["position"]
    assert not 1 <= labels[position - 1] <= 3


@pytest.mark.parametrize("betas", [[], [0, 1], [1.5], [[1, 2]], 3])
def test_bounds_that_are_none_are_an_error(betas: object) -> None:
    with pytest.raises(ParameterError):
        bounded_repetition([1], betas=betas)  # type: ignore[arg-type]


def test_no_values_at_all_are_an_error() -> None:
    with pytest.raises(ParameterError):
        appears_eventually([], values=0)
