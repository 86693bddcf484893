"""Bias, and whether it is at most a bound, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exhaustive import exact_bias
from hypothesis import given
from hypothesis import strategies as st

from testsgd.fairness import EmptyGroup, Measure, bias
from testsgd.fairness.property import bias_at_most, whole_numbers

MEASURES = pytest.mark.parametrize("measure", ["difference", "ratio"])
EMPTY = pytest.mark.parametrize("empty_group", ["vacuous", "zero"])


@st.composite
def _states(draw: st.DrawFn, largest: int) -> tuple[list[list[int]], list[list[int]]]:
    groups = draw(st.integers(2, 4))
    row = st.lists(st.integers(0, largest), min_size=groups, max_size=groups)
    count = draw(st.integers(1, 5))
    bottoms = draw(st.lists(row, min_size=count, max_size=count))
    tops = draw(st.lists(row, min_size=count, max_size=count))
    if draw(st.booleans()):  # rates up to 1, as those of named properties
        tops = [list(map(min, *pair)) for pair in zip(tops, bottoms, strict=True)]
    return tops, bottoms


@MEASURES
@EMPTY
@given(data=st.data())
def test_small_and_large_counters(
    measure: Measure, empty_group: EmptyGroup, data: st.DataObject
) -> None:
    """Thresholds are often one of the biases, which is then at most it, or just below one."""
    largest = data.draw(st.sampled_from([3, 12, 1000, 2**31, 2**40, 2**62]))
    tops, bottoms = data.draw(_states(largest))
    truth = [
        exact_bias(*state, measure=measure, empty_group=empty_group)
        for state in zip(tops, bottoms, strict=True)
    ]
    found = [
        bias(*state, measure=measure, empty_group=empty_group)
        for state in zip(tops, bottoms, strict=True)
    ]
    assert found == truth
    bound = data.draw(
        st.one_of(
            st.sampled_from(truth),
            st.sampled_from(truth).map(lambda one: max(one - Fraction(1, 10**30), Fraction(0))),
            st.fractions(0, 2, max_denominator=10),
            st.fractions(0, 1),
        )
    )
    held = bias_at_most(
        np.array(tops), np.array(bottoms), bound, measure=measure, empty_group=empty_group
    )
    assert held.dtype == bool
    assert held.tolist() == [one <= bound for one in truth]


@pytest.mark.parametrize("factor", [1, 10**6, 2**31 + 1, 2**60 // 11])
def test_hit_exactly_and_missed_by_one(factor: int) -> None:
    """5/10 against 4/10 is a tenth, however large; one more accepted is above."""
    tops = np.array([[5 * factor, 4 * factor], [5 * factor + 1, 4 * factor]])
    bottoms = np.full((2, 2), 10 * factor)
    held = bias_at_most(tops, bottoms, Fraction(1, 10), measure="difference", empty_group="vacuous")
    assert held.tolist() == [True, False]


@pytest.mark.parametrize("factor", [1, 10**6, 2**31 + 1, 2**60 // 11])
def test_four_fifths_rule_hit_exactly_and_missed_by_one(factor: int) -> None:
    tops = np.array([[5 * factor, 4 * factor], [5 * factor + 1, 4 * factor]])
    bottoms = np.full((2, 2), 10 * factor)
    held = bias_at_most(tops, bottoms, Fraction(1, 5), measure="ratio", empty_group="zero")
    assert held.tolist() == [True, False]


@MEASURES
def test_empty_groups(measure: Measure) -> None:
    tops, bottoms = [3, 0], [4, 0]
    assert bias(tops, bottoms, measure=measure, empty_group="vacuous") == 0
    expected = Fraction(3, 4) if measure == "difference" else 1
    assert bias(tops, bottoms, measure=measure, empty_group="zero") == expected
    assert bias([0, 0], [0, 0], measure=measure, empty_group="zero") == 0
    assert bias([0, 0], [0, 0], measure=measure, empty_group="vacuous") == 0


def test_arrays_are_left_as_they_are() -> None:
    tops, bottoms = np.array([[1, 0]]), np.array([[2, 0]])
    bias_at_most(tops, bottoms, Fraction(0), measure="ratio", empty_group="zero")
    assert (tops.tolist(), bottoms.tolist()) == ([[1, 0]], [[2, 0]])


@given(
    counters=st.lists(st.integers(0, 2**62), min_size=2, max_size=2),
    fraction=st.fractions(0, 3),
)
def test_products_in_the_given_type_are_exact(counters: list[int], fraction: Fraction) -> None:
    one, other = counters
    tops, bottoms = whole_numbers(np.array([[one]]), np.array([[other]]), fraction)
    for factor in (fraction.numerator, fraction.denominator):
        assert int((tops * bottoms * factor)[0, 0]) == one * other * factor
        assert int(((tops + bottoms) * factor)[0, 0]) == (one + other) * factor


def test_no_states() -> None:
    none = np.zeros((0, 3), dtype=np.int64)
    held = bias_at_most(none, none, Fraction(1, 10), measure="difference", empty_group="zero")
    assert held.shape == (0,)
