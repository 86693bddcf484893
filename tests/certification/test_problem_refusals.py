"""Networks whose bounds would not hold, and numbers that hardly fit: refused or allowed for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from testsgd.certification.domain import Domain, IntegerInput, RealInput
from testsgd.certification.network import (
    Activation,
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
    Precision,
)
from testsgd.certification.proving import build_problem
from testsgd.certification.proving.linear_bounds import bound
from testsgd.errors import ModelError

_NUMBER = NumberColumns(np.ones(1), np.zeros(1))
_DOMAIN = Domain(
    "small", (IntegerInput("a", 0, 1), IntegerInput("p", 0, 1)), ("p",), ((0.0,), (1.0,))
)


def network(
    *factors: float, kind: Activation = "relu", slope: float = 0.0, precision: Precision = "float64"
) -> FeedForward:
    """Chain layers of one unit; the first takes both inputs."""
    layers = [DenseLayer(np.full((2, 1), factors[0]), np.zeros(1), kind, slope)]
    layers += [DenseLayer(np.full((1, 1), f), np.zeros(1), kind, slope) for f in factors[1:]]
    layers[-1] = replace(layers[-1], activation="linear", negative_slope=0.0)
    return FeedForward(
        "chain", "made up", tuple(layers),
        (InputColumns("a", _NUMBER), InputColumns("p", _NUMBER)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), precision,
    )  # fmt: skip


@pytest.mark.parametrize("slope", [1.5, -0.1, float("nan"), float("inf")])
def test_slopes_that_make_a_unit_no_convex_and_rising_function(slope: float) -> None:
    with pytest.raises(ModelError, match=r"slope .* of layer 1 is not between 0 and 1"):
        build_problem(network(1.0, 1.0, kind="leaky_relu", slope=slope), _DOMAIN)


@pytest.mark.parametrize(
    ("factors", "precision"),
    [((1e200, 1e200), "float64"), ((1e30, 1e30), "float32"), ((1e38,), "float32")],
)
def test_sums_that_may_overflow(factors: tuple[float, ...], precision: Precision) -> None:
    with pytest.raises(ModelError, match="sums of the network may grow"):
        build_problem(network(*factors, precision=precision), _DOMAIN)


def test_sums_before_a_sigmoid_that_may_overflow() -> None:
    with pytest.raises(ModelError, match="sums of the network may grow"):
        build_problem(network(1e38, 1.0, kind="sigmoid", precision="float32"), _DOMAIN)


def test_weights_whose_product_overflows_though_no_sum_does() -> None:
    with pytest.raises(ModelError, match="too large to be multiplied"):
        build_problem(network(1e-300, 1e200, 1e200), _DOMAIN)


@pytest.mark.parametrize(
    ("first", "second"),
    # A weight, an activation and a product that a machine may take for 0.
    [(1e6, 1e-39), (1e-39, 1e6), (1e-20, 1e-20)],
)
def test_numbers_that_a_machine_may_take_for_nothing(first: float, second: float) -> None:
    told = build_problem(network(first, second, precision="float32"), _DOMAIN)
    one = np.ones((1, 1))
    bounds = bound(told, one, one)
    for taken in (0.0, first * second):
        assert bounds.low[0, 0, 0] <= taken <= bounds.high[0, 0, 0]


def test_whole_numbers_beyond_what_float32_holds() -> None:
    large = 2**24 + 1
    inputs = (IntegerInput("a", large, large), IntegerInput("p", 0, 1))
    told = build_problem(network(1.0, 1.0, precision="float32"), replace(_DOMAIN, inputs=inputs))
    point = np.array([[float(large)]])
    bounds = bound(told, point, point)
    # 2^24 + 1 is taken for 2^24.
    assert bounds.low[0, 0, 0] <= 2**24
    assert bounds.high[0, 0, 0] >= large


def test_reals_are_rounded_to_float32_too() -> None:
    inputs = (RealInput("a", 0.0, 1.0), IntegerInput("p", 0, 1))
    told = build_problem(network(1.0, 1.0, precision="float32"), replace(_DOMAIN, inputs=inputs))
    for value in (1 / 3, 1e-42, 0.1):
        point = np.array([[value]])
        bounds = bound(told, point, point)
        for taken in (value, float(np.float32(value))):
            assert bounds.low[0, 0, 0] <= taken <= bounds.high[0, 0, 0]
