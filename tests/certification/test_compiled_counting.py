"""Counting in machine code: the same shares as the arrays count."""

from __future__ import annotations

import numpy as np
from counted_by_arrays import round_half_space
from half_space_boxes import Cut, counted_share, cuts
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from testsgd.certification.domain import Domain, IntegerInput, Marginal, RealInput
from testsgd.certification.proving.axes import lay_out


def counted(cut: Cut, bins: int) -> float:
    return counted_share(cut.axes, cut.lo, cut.hi, cut.form, cut.threshold, bins)


def by_arrays(cut: Cut, bins: int) -> float:
    return round_half_space(cut.axes, cut.lo, cut.hi, cut.form, cut.threshold, bins).share


@given(cut=cuts(), bins=st.sampled_from((1, 2, 7, 48, 192)))
@settings(max_examples=300)
def test_never_counts_more_than_there_are(cut: Cut, bins: int) -> None:
    _, weights = cut.points()
    assume(weights.sum() > 0)
    assert counted(cut, bins) <= cut.exact() + 1e-12


@given(cut=cuts(), bins=st.sampled_from((1, 2, 7, 48, 192)))
@settings(max_examples=300)
def test_counts_what_the_arrays_count(cut: Cut, bins: int) -> None:
    _, weights = cut.points()
    assume(weights.sum() > 0)
    # Where the sum of a form's parts is rounded otherwise, a tie may be broken otherwise.
    spread = np.abs(cut.form).sum() * (1 + np.abs(cut.hi).max())
    near = [
        by_arrays(Cut(cut.axes, cut.lo, cut.hi, cut.form, cut.threshold + moved * spread), bins)
        for moved in (1e-13, 0.0, -1e-13)
    ]
    assert min(near) - 1e-11 <= counted(cut, bins) <= max(near) + 1e-11


@given(
    form=st.lists(st.floats(-2, 2), min_size=3, max_size=3),
    place=st.floats(0, 1),
    bins=st.sampled_from((8, 192)),
)
@settings(max_examples=100)
def test_reals_and_weighted_reals_too(form: list[float], place: float, bins: int) -> None:
    measure = Marginal(np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    inputs = (
        RealInput("x", 0.0, 4.0), RealInput("y", -1.0, 2.0), IntegerInput("z", 0, 5),
        IntegerInput("p", 0, 1),
    )  # fmt: skip
    axes = lay_out(Domain("made up", inputs, ("p",), ((0.0,), (1.0,)), {"x": measure}))
    ends = np.stack([np.array(form) * axes.low, np.array(form) * axes.high])
    least, most = ends.min(axis=0).sum(), ends.max(axis=0).sum()
    cut = Cut(axes, axes.low, axes.high, np.array(form), float(least + place * (most - least)))
    near = [
        by_arrays(Cut(axes, cut.lo, cut.hi, cut.form, cut.threshold + moved), bins)
        for moved in (1e-12, 0.0, -1e-12)
    ]
    assert min(near) - 1e-10 <= counted(cut, bins) <= max(near) + 1e-10
