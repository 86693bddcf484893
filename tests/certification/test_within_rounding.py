"""Enumeration: people whose decision another order of summation may change are counted."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of
from hypothesis import given, settings
from small_problems import problems

from testsgd.certification import CertificationParameters, certify_network
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import build_problem
from testsgd.certification.search import enumerate_people


@given(problem=problems(weighted=True))
@settings(max_examples=100)
def test_whoever_differs_between_two_orders_is_counted(
    problem: tuple[FeedForward, Domain],
) -> None:
    everybody = enumerate_people(*problem, build_problem(*problem))
    truth = truth_of(*problem)
    assert np.array_equal(everybody.answers.points, truth.people)
    assert np.allclose(everybody.weights, truth.weights)
    unsure = (truth.possible.sum(axis=2) > 1).any(axis=1)
    assert everybody.within_rounding >= int(unsure.sum())
    # All others decide as the model does when it is run by hand.
    same = (everybody.answers.decisions == truth.answers).all(axis=1)
    assert (~same).sum() <= everybody.within_rounding


def _summed(bias: float) -> tuple[FeedForward, Domain]:
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "summed", "made up",
        (DenseLayer(np.array([[0.1], [0.2], [0.0]]), np.array([bias]), "linear"),),
        tuple(InputColumns(name, number) for name in "abp"),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", 0, 9), IntegerInput("b", 0, 9), IntegerInput("p", 0, 1))
    return network, Domain("summed", inputs, ("p",), ((0.0,), (1.0,)))


def test_ties_are_counted_and_only_they() -> None:
    # 0.1 a + 0.2 b is 0.9 for a = 1, 3, 5, 7, 9 and one b each; not for the others.
    parameters = CertificationParameters()
    assert certify_network(*_summed(-0.9), parameters).within_rounding == 5
    assert certify_network(*_summed(-0.95), parameters).within_rounding == 0


def test_steep_sums_before_a_sigmoid_raise_no_warning() -> None:
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "steep", "made up",
        (
            DenseLayer(np.array([[-1e3], [7.0]]), np.zeros(1), "sigmoid"),
            DenseLayer(np.ones((1, 1)), np.array([-0.5]), "linear"),
        ),
        (InputColumns("a", number), InputColumns("p", number)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", -5, 5), IntegerInput("p", 0, 1))
    domain = Domain("steep", inputs, ("p",), ((0.0,), (1.0,)))
    shares = certify_network(network, domain, CertificationParameters()).shares
    # At 0 the first is at the threshold, so not above it, and the second is far above.
    assert shares.certified == pytest.approx(10 / 11)
