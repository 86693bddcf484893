"""Coverage of combinations, by itertools; bounds of what is left, by trying everything."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from testsgd.errors import DataError, ParameterError
from testsgd.generative.coverage import (
    Combination,
    combination_coverage,
    covering_plan,
    outputs_needed_at_least,
)

Case = tuple[list[int], int, list[list[int]]]


@st.composite
def cases(
    draw: st.DrawFn, *, largest: int = 3, most: int = 4, least_value: int = 0, outputs: int = 12
) -> Case:
    sizes = draw(st.lists(st.integers(1, largest), min_size=1, max_size=most))
    strength = draw(st.integers(1, len(sizes)))
    row = st.tuples(*(st.integers(least_value, size) for size in sizes)).map(list)
    return sizes, strength, draw(st.lists(row, max_size=outputs))


def every_combination(sizes: list[int], strength: int) -> list[Combination]:
    return [
        Combination(groupings, values)
        for groupings in combinations(range(len(sizes)), strength)
        for values in product(*(range(1, sizes[grouping] + 1) for grouping in groupings))
    ]


def shown(row: list[int], combination: Combination) -> bool:
    return all(
        row[grouping] == value
        for grouping, value in zip(combination.groupings, combination.values, strict=True)
    )


@given(case=cases())
def test_coverage_is_that_of_the_definition(case: Case) -> None:
    sizes, strength, rows = case
    found = combination_coverage(rows, sizes=sizes, strength=strength)
    wanted = every_combination(sizes, strength)
    assert found.total == len(wanted)
    assert found.curve.tolist() == [
        sum(any(shown(row, one) for row in rows[:seen]) for one in wanted)
        for seen in range(1, len(rows) + 1)
    ]
    missing = [one for one in wanted if not any(shown(row, one) for row in rows)]
    assert found.missing() == missing
    assert found.missing(limit=2) == missing[:2]
    assert found.covered == len(wanted) - len(missing)
    assert found.share == found.covered / found.total
    assert found.holds == (not missing)


@given(case=cases())
def test_first_appearances_are_positions_from_one(case: Case) -> None:
    sizes, strength, rows = case
    found = combination_coverage(rows, sizes=sizes, strength=strength)
    for groupings, appeared in zip(found.subsets, found.first, strict=True):
        for place, position in np.ndenumerate(appeared):
            combination = Combination(groupings, tuple(index + 1 for index in place))
            shows = [number for number, row in enumerate(rows, 1) if shown(row, combination)]
            assert position == (shows[0] if shows else 0)


@given(sizes=st.lists(st.integers(1, 6), min_size=2, max_size=5))
def test_pairs_are_counted_as_in_the_papers_third_figure(sizes: list[int]) -> None:
    total = sum(sizes[x] * sizes[y] for x in range(len(sizes)) for y in range(len(sizes)) if y > x)
    assert combination_coverage(np.zeros((0, len(sizes)), int), sizes=sizes).total == total


def test_gender_and_age_need_six_pairs() -> None:
    rows = [[gender, age] for gender in (1, 2) for age in (1, 2, 3)]
    assert combination_coverage(rows, sizes=[2, 3]).holds
    missing = combination_coverage(rows[:-1], sizes=[2, 3]).missing()
    assert missing == [Combination((0, 1), (2, 3))]


@given(case=cases())
def test_a_plan_covers_everything_and_wastes_no_output(case: Case) -> None:
    sizes, strength, rows = case
    found = combination_coverage(rows, sizes=sizes, strength=strength)
    plan = covering_plan(found).tolist()
    assert all(1 <= value <= size for row in plan for value, size in zip(row, sizes, strict=True))
    after = combination_coverage(rows + plan, sizes=sizes, strength=strength)
    assert after.holds
    steps = np.diff([found.covered, *after.curve[len(rows) :].tolist()])
    assert (steps > 0).all()
    assert outputs_needed_at_least(found) <= len(plan)


def shortest(rows: list[list[int]], sizes: list[int], strength: int) -> int:
    """Return the least number of rows that cover the rest, by trying all sets of rows."""
    rest = [
        one
        for one in every_combination(sizes, strength)
        if not any(shown(row, one) for row in rows)
    ]
    candidates = list(product(*(range(1, size + 1) for size in sizes)))
    for number in range(len(candidates) + 1):
        for chosen in combinations(candidates, number):
            if all(any(shown(list(row), one) for row in chosen) for one in rest):
                return number
    raise AssertionError


@given(case=cases(largest=2, most=3, outputs=6))
def test_the_least_number_is_between_bound_and_plan(case: Case) -> None:
    sizes, strength, rows = case
    found = combination_coverage(rows, sizes=sizes, strength=strength)
    least = shortest(rows, sizes, strength)
    assert outputs_needed_at_least(found) <= least <= len(covering_plan(found))
    assert (outputs_needed_at_least(found) == 0) == found.holds


def test_the_bound_can_be_below_the_least_number() -> None:
    # Four binary groupings have an array of five rows, and none of four: no two orthogonal squares.
    found = combination_coverage(np.zeros((0, 4), int), sizes=[2, 2, 2, 2])
    assert outputs_needed_at_least(found) == 4
    assert shortest([], [2, 2, 2, 2], 2) == 5
    assert len(covering_plan(found)) >= 5


def test_a_plan_of_all_groupings_has_each_combination_once() -> None:
    sizes = [2, 3, 2]
    plan = covering_plan(combination_coverage(np.zeros((0, 3), int), sizes=sizes, strength=3))
    assert len(plan) == prod(sizes) == len(np.unique(plan, axis=0))


@pytest.mark.parametrize("strength", [0, 3])
def test_a_strength_out_of_range_is_an_error(strength: int) -> None:
    with pytest.raises(ParameterError):
        combination_coverage([[1, 1]], sizes=[1, 1], strength=strength)


@pytest.mark.parametrize("sizes", [[], [0, 1], [1.5, 2], 3, [100_000, 100_000]])
def test_sizes_that_are_none_or_too_large_are_an_error(sizes: object) -> None:
    with pytest.raises(ParameterError):
        combination_coverage([[1, 1]], sizes=sizes, strength=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [[[1, 3]], [[-1, 1]], [[1]], [1, 1], [[0.5, 1.0]]])
def test_labels_that_do_not_fit_are_an_error(labels: list[object]) -> None:
    with pytest.raises(DataError):
        combination_coverage(labels, sizes=[2, 2])  # type: ignore[arg-type]


LONG_SIZES = [4, 4, 5]


@cache
def long_sequence() -> NDArray[np.int64]:
    random = np.random.default_rng(7)
    labels = random.integers(0, 3, size=(300_000, 3))
    # Some combinations come first at the end of, or behind, the portions that are read together.
    for row in (8_191, 8_192, 24_575, 24_576, 155_648, 299_999):
        labels[row] = (3, 3, 3) if row % 2 else (3, 1, 2)
    labels[24_576] = (4, 4, 4)
    return labels


@cache
def first_in_long_sequence(groupings: tuple[int, ...]) -> list[list[int]]:
    """Return where each combination of some groupings comes first, one after the other."""
    expected = np.zeros([LONG_SIZES[grouping] for grouping in groupings], dtype=np.int64)
    for position, row in enumerate(long_sequence()[:, list(groupings)].tolist(), start=1):
        place = tuple(value - 1 for value in row)
        if min(place) >= 0 and expected[place] == 0:
            expected[place] = position
    found: list[list[int]] = expected.tolist()
    return found


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_first_appearances_in_a_long_sequence_are_the_first_of_all(dtype: type):
    labels = long_sequence().astype(dtype)
    found = combination_coverage(labels, sizes=LONG_SIZES, strength=2)
    assert len(found.subsets) == 3
    for groupings, first in zip(found.subsets, found.first, strict=True):
        assert first.tolist() == first_in_long_sequence(tuple(groupings))
