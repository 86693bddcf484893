"""The tolerance: outside of it a rounded sigmoid or softmax decides as exact arithmetic does."""

from __future__ import annotations

import math
import os
import warnings
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax

from testsgd.certification.network.decision_threshold import (
    plain_decision,
    sigmoid_decision,
    softmax_decision,
)
from testsgd.certification.network.feedforward import Decision, FeedForward, logistic
from testsgd.errors import ParameterError

LABELS = ("no", "yes")
getcontext().prec = 60


def _neighbourhood(decision: Decision, dtype: str) -> Any:
    """Give sums just outside of the tolerance, and further out."""
    steps = np.concatenate([np.linspace(1, 3, 4000), np.geomspace(3, 1e6, 2000)])
    away = decision.tolerance * steps
    sums = np.concatenate(
        [decision.decision_threshold - away, decision.decision_threshold + away]
    ).astype(dtype)
    outside = np.abs(sums.astype(np.float64) - decision.decision_threshold) > decision.tolerance
    return sums[outside]


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.9, 0.01, 1e-5, 0.9999])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_outside_of_the_tolerance_rounding_decides_nothing(threshold: float, dtype: str) -> None:
    decision = sigmoid_decision(threshold, LABELS, dtype)  # type: ignore[arg-type]  # a parameter
    sums = _neighbourhood(decision, dtype)
    exact = sums.astype(np.float64) > decision.decision_threshold
    for scores in (logistic(sums), expit(sums)):
        assert scores.dtype == dtype
        for compared in (np.asarray(threshold, dtype=dtype), np.float64(threshold)):
            assert ((scores > compared) == exact).all()


@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.9, 0.01, 1e-5, 0.9999])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nor_does_it_of_one_minus_a_sigmoid(threshold: float, dtype: str) -> None:
    decision = sigmoid_decision(threshold, LABELS, dtype, complement=True)  # type: ignore[arg-type]
    assert decision.tolerance > sigmoid_decision(threshold, LABELS, dtype).tolerance  # type: ignore[arg-type]
    sums = _neighbourhood(decision, dtype)
    exact = sums.astype(np.float64) > decision.decision_threshold
    for scores in (1 - logistic(-sums), 1 - expit(-sums)):
        assert scores.dtype == dtype
        for compared in (np.asarray(threshold, dtype=dtype), np.float64(threshold)):
            assert ((scores > compared) == exact).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inside_of_it_rounding_does_decide(dtype: str) -> None:
    decision = sigmoid_decision(0.5, LABELS, dtype)  # type: ignore[arg-type]  # a parameter
    above = np.asarray(decision.tolerance / 1000, dtype=dtype)
    assert above > 0
    assert not logistic(above) > 0.5


@given(st.floats(1e-9, 1 - 1e-9))
def test_the_bound_holds_in_long_decimals(threshold: float) -> None:
    """The proof's third and fourth steps, without float64's own rounding."""
    decision = sigmoid_decision(threshold, LABELS, "float64")
    exact = Decimal(threshold)
    allowed = 13 * Decimal(2) ** -53

    def logit(share: Decimal) -> Decimal:
        return (share / (1 - share)).ln()

    low, high = logit(exact - allowed), logit(exact + allowed)
    turning, tolerance = Decimal(decision.decision_threshold), Decimal(decision.tolerance)
    assert turning - tolerance <= low < high <= turning + tolerance


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0, 1e-9, 1 - 1e-9, math.nan])
def test_thresholds_without_a_bound_are_refused(threshold: float) -> None:
    with pytest.raises(ParameterError, match="threshold"):
        sigmoid_decision(threshold, LABELS, "float32")


def test_a_plain_sum_is_off_by_the_rounding_of_the_threshold_only() -> None:
    assert plain_decision(0.0, LABELS, "float32").tolerance == 0
    assert plain_decision(0.1, LABELS, "float64").tolerance == 0
    assert plain_decision(0.1, LABELS, "float32").tolerance == abs(float(np.float32(0.1)) - 0.1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_further_apart_than_the_tolerance_keep_their_order(dtype: str) -> None:
    decision = softmax_decision(("a", "b", "c"), dtype)  # type: ignore[arg-type]  # a parameter
    rng = np.random.default_rng(0)
    tops = rng.normal(size=200_000) * rng.choice([0.1, 1, 50], 200_000)
    apart = decision.tolerance * rng.uniform(1, 4, 200_000)
    sums = np.column_stack([tops - apart, tops, tops - rng.exponential(size=200_000)]).astype(dtype)
    ordered = np.sort(sums.astype(np.float64), axis=1)
    clear = ordered[:, 2] - ordered[:, 1] > decision.tolerance
    assert clear.mean() > 0.2
    exact = np.argmax(sums, axis=1)
    assert (np.argmax(softmax(sums, axis=1), axis=1)[clear] == exact[clear]).all()
    network = FeedForward("", "", (), (), decision, dtype)  # type: ignore[arg-type]  # a parameter
    assert (network.decide(sums)[clear] == exact[clear]).all()


@pytest.mark.tensorflow
def test_the_sigmoid_of_tensorflow_keeps_to_the_assumed_bound() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensorflow = pytest.importorskip("tensorflow")
    sums = np.concatenate(
        [
            np.linspace(-30, 30, 1_000_000),
            np.geomspace(1e-9, 1, 250_000),
            -np.geomspace(1e-9, 1, 250_000),
        ]
    ).astype("f4")
    single = tensorflow.sigmoid(sums).numpy()
    assert np.abs(single - expit(sums.astype("f8"))).max() < 6 * 2.0**-24
    double = tensorflow.sigmoid(sums.astype("f8")).numpy()
    assert np.abs(double - expit(sums.astype("f8"))).max() < 6 * 2.0**-53
