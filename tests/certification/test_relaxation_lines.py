"""The lines around an activation: above and below it everywhere, on a grid and at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from testsgd.certification.proving.linear_bounds import relax

Floats = NDArray[np.float64]

# The lines' own evaluation in float64 is rounded; who uses them adds for that.
_ROUNDING = 1e-14

_ENDS = st.one_of(
    st.floats(-50, 50),
    st.sampled_from((0.0, 1e-12, -1e-12, 1e-300, -1e-300, 1e6, -1e6, 20.0, -20.0, 700.0, -700.0)),
)
_WIDTHS = st.one_of(st.floats(0, 100), st.sampled_from((0.0, 1e-15, 1e-9, 2e-9, 1e-6, 1e6)))
_KINDS = st.sampled_from(
    (
        ("leaky_relu", 0.0),
        ("leaky_relu", 0.01),
        ("leaky_relu", 0.3),
        ("leaky_relu", 1.0),
        ("sigmoid", 0.0),
        ("tanh", 0.0),
    )
)


def activation(kind: str, slope: float, sums: Floats) -> Floats:
    if kind == "leaky_relu":
        return np.where(sums > 0, sums, slope * sums)
    if kind == "tanh":
        # By another formula than numpy's.
        small = np.exp(-2 * np.abs(sums))
        return np.sign(sums) * (1 - small) / (1 + small)
    small = np.exp(-np.abs(sums))
    return np.where(sums > 0, 1 / (1 + small), small / (1 + small))


@given(
    kind=_KINDS, low=_ENDS, width=_WIDTHS, error=st.sampled_from((0.0, 1e-6)),
    noise=st.sampled_from((0.0, 1e-7, 0.1)),
)  # fmt: skip
@settings(max_examples=400)
def test_enclose_what_the_model_computes(
    kind: tuple[str, float], low: float, width: float, error: float, noise: float
) -> None:
    function, slope = kind
    high = low + width
    lines = relax(
        function, slope, error, np.array([low]), np.array([high]), np.array([noise])
    )  # fmt: skip
    sums = np.unique(np.clip(np.concatenate([np.linspace(low, high, 201), [0.0]]), low, high))
    exact = activation(function, slope, sums)
    # What the model itself may compute: a sigmoid is wrong by so much, a leaky product by a share.
    wrong = np.full_like(sums, error)
    if function == "leaky_relu":
        inexact = slope not in (0.0, 1.0)
        wrong = np.where(sums < 0, error * slope * np.abs(sums), 0.0) if inexact else 0 * sums
    for moved in (-noise, noise):
        # The line's argument is the exact sum, from which the model's own lies this far.
        argument = sums + moved
        slack = _ROUNDING * (1 + np.abs(argument) + np.abs(sums))
        below = lines.lower_slope * argument + lines.lower
        above = lines.upper_slope * argument + lines.upper
        assert np.all(below <= exact - wrong + slack)
        assert np.all(above >= exact + wrong - slack)
    assert np.all(lines.minimum <= exact - wrong + slack)
    assert np.all(lines.maximum >= exact + wrong - slack)
    assert lines.lower_slope >= 0
    assert lines.upper_slope >= 0
    # A gap says that there is something to be had from splitting.
    assert lines.gap >= 0


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_unit_that_cannot_bend_is_a_straight_line(slope: float) -> None:
    low, high = np.array([0.0, -2.0]), np.array([2.0, 0.0])
    lines = relax("leaky_relu", slope, 0.0, low, high, np.zeros(2))
    assert lines.lower_slope.tolist() == lines.upper_slope.tolist() == [1.0, slope]
    assert lines.gap.tolist() == [0.0, 0.0]
