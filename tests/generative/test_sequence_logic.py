"""Definition 10 beside temporal logic on finite traces: where both agree, and where not."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from sequence_formulas import (
    Formula,
    atom,
    conjunction,
    eventually,
    following,
    globally,
    implication,
    negation,
    weak_next,
    within,
)

from testsgd.generative.sequences import appears_eventually, bounded_repetition

sequences = st.lists(st.integers(1, 3), min_size=1, max_size=16)
bounds = st.integers(1, 8)


def repeats(value: int, beta: int) -> Formula:
    """Say that each appearance is followed by another after 1 to `beta` steps of weak next."""
    return globally(implication(atom(value), within(atom(value), beta, start=1)))


def value_holds(labels: list[int], value: int, beta: int) -> bool:
    betas = [10_000, 10_000, 10_000]
    betas[value - 1] = beta
    return bool(bounded_repetition(labels, betas=betas).value_holds[value - 1])


@given(labels=sequences, value=st.integers(1, 3))
def test_next_and_weak_next_are_dual(labels: list[int], value: int) -> None:
    dual = negation(following(negation(atom(value))))
    for position in range(len(labels)):
        assert weak_next(atom(value))(labels, position) == dual(labels, position)


@given(labels=sequences)
def test_eventual_appearance_is_eventually(labels: list[int]) -> None:
    found = appears_eventually(labels, values=3)
    for value in (1, 2, 3):
        assert found.appear[value - 1] == eventually(atom(value))(labels, 0)


@given(labels=sequences, value=st.integers(1, 3), beta=bounds)
def test_the_second_condition_is_the_logics_in_every_sequence(
    labels: list[int], value: int, beta: int
) -> None:
    early = any(one == value for one in labels[:beta])
    assert value_holds(labels, value, beta) == (early and repeats(value, beta)(labels, 0))


@given(labels=sequences, value=st.integers(1, 3), beta=bounds)
def test_both_conditions_are_one_formula_if_the_bound_is_at_most_the_length(
    labels: list[int], value: int, beta: int
) -> None:
    formula = conjunction(within(atom(value), beta - 1), repeats(value, beta))
    shorter = globally(within(atom(value), beta - 1))
    if beta <= len(labels):
        assert value_holds(labels, value, beta) == formula(labels, 0) == shorter(labels, 0)
    else:
        # The logic leaves all open; the definition wants the value in what there is.
        assert formula(labels, 0)
        assert shorter(labels, 0)
        assert value_holds(labels, value, beta) == (value in labels)


@given(labels=sequences, value=st.integers(1, 3), beta=bounds)
def test_a_step_more_is_a_bound_larger_by_one(labels: list[int], value: int, beta: int) -> None:
    if beta + 1 <= len(labels):
        weaker = globally(within(atom(value), beta))(labels, 0)
        assert weaker == value_holds(labels, value, beta + 1)


def test_the_two_readings_differ_in_the_smallest_case() -> None:
    # Twice two outputs apart: a bound of 2 is kept, and "within 1 step" says the same.
    assert value_holds([2, 1, 2, 1], 1, 2)
    assert globally(within(atom(1), 1))([2, 1, 2, 1], 0)
    # Three apart: "always within 2 steps" is true, the bound 2 is broken.
    assert globally(within(atom(1), 2))([1, 2, 2, 1], 0)
    assert not value_holds([1, 2, 2, 1], 1, 2)


def test_every_short_sequence() -> None:
    for length in range(1, 8):
        for labels in product((1, 2), repeat=length):
            for beta in range(1, length + 1):
                formula = globally(within(atom(1), beta - 1))
                assert value_holds(list(labels), 1, beta) == formula(labels, 0)
