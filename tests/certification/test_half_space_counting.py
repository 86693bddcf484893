"""Counting the points of a box in a half-space: never too many, and few too few."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from half_space_boxes import Cut, counted_share, cuts
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from testsgd.certification.domain import Domain, IntegerInput, Marginal, RealInput
from testsgd.certification.proving import Axes, counted_points
from testsgd.certification.proving.axes import lay_out

_SUMMING = 1e-11


def share(cut: Cut, bins: int) -> float:
    return counted_share(cut.axes, cut.lo, cut.hi, cut.form, cut.threshold, bins)


@given(cut=cuts(), bins=st.sampled_from((1, 2, 7, 48, 192)))
@settings(max_examples=300)
def test_never_counts_more_than_there_are(cut: Cut, bins: int) -> None:
    _, weights = cut.points()
    assume(weights.sum() > 0)
    assert share(cut, bins) <= cut.exact() + 1e-12


@pytest.mark.slow
@given(cut=cuts(), bins=st.sampled_from((1, 2, 7, 48, 192)))
@settings(max_examples=300)
def test_the_counted_points_are_the_share(cut: Cut, bins: int) -> None:
    points, weights = cut.points()
    assume(weights.sum() > 0)
    many = len(points)
    held = counted_points(
        cut.axes,
        np.tile(cut.lo, (many, 1)),
        np.tile(cut.hi, (many, 1)),
        np.tile(cut.form, (many, 1)),
        np.full(many, cut.threshold),
        np.full(many, float(bins)),
        points,
    )
    assert weights[held].sum() == pytest.approx(share(cut, bins), abs=_SUMMING)
    # Of the least numbers digits are missing; a problem's bounds leave room for that, too.
    room = 1e-13 * np.abs(cut.form).sum() * (1 + np.abs(points).max()) + 2.0**-1021
    assert np.all(cut.sums(points)[held] > cut.threshold - room)


def test_an_infinite_threshold_holds_nobody() -> None:
    axes = lay_out(_domain(IntegerInput("a", 0, 9)))
    one = np.ones((1, 1))
    held = counted_points(axes, 0 * one, 9 * one, one, np.array([np.inf]), np.array([48.0]), one)
    assert held.tolist() == [False]


def _domain(*inputs: IntegerInput | RealInput, **marginals: Marginal) -> Domain:
    protected = IntegerInput("p", 0, 1)
    return Domain("made up", (*inputs, protected), ("p",), ((0.0,), (1.0,)), marginals)


def _share(axes: Axes, form: list[float], threshold: float, bins: int) -> float:
    return counted_share(axes, axes.low, axes.high, np.array(form), threshold, bins)


@pytest.mark.parametrize("bins", [48, 768, 2048])
def test_many_bins_lose_little(bins: int) -> None:
    axes = lay_out(_domain(*(IntegerInput(f"x{place}", 0, 999) for place in range(3))))
    # Pairs and triples of 0..999 with a sum above t: 1 minus those with a sum of t at most.
    truth = 1 - Fraction(comb(702, 3), 1000**3)
    counted = _share(axes, [1.0, 1.0, 1.0], 699.0, bins)
    assert counted <= truth
    assert counted == pytest.approx(float(truth), abs=2.0 / bins)


@given(
    ends=st.lists(st.floats(0.1, 10), min_size=3, max_size=3),
    place=st.floats(0.01, 0.99),
    signs=st.lists(st.sampled_from((-1.0, 1.0)), min_size=3, max_size=3),
    bins=st.sampled_from((8, 192, 2048)),
)
@settings(max_examples=100)
def test_reals_follow_the_volume_of_a_cut_off_corner(
    ends: list[float], place: float, signs: list[float], bins: int
) -> None:
    inputs = [RealInput(f"x{axis}", -1.0, -1.0 + end) for axis, end in enumerate(ends)]
    axes = lay_out(_domain(*inputs))
    need = place * sum(ends)
    least = sum(
        sign * (-1.0 if sign > 0 else -1.0 + end) for sign, end in zip(signs, ends, strict=True)
    )
    # The volume of a simplex minus those that stick out of the box.
    below = 0.0
    for mask in range(8):
        out = need - sum(end for axis, end in enumerate(ends) if mask >> axis & 1)
        below += (-1) ** mask.bit_count() * max(out, 0.0) ** 3
    truth = 1 - below / (6 * np.prod(ends))
    counted = _share(axes, signs, need + least, bins)
    assert counted <= truth + 1e-9
    assert counted >= truth - 4.0 / bins - 1e-9


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_weighted_reals_with_a_stretch_of_nothing(sign: float) -> None:
    # Half of the weight between 0 and 1, none up to 3, half between 3 and 4.
    measure = Marginal(np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    axes = lay_out(_domain(RealInput("x", 0.0, 4.0), x=measure))
    for threshold, truth in ((0.0, 1.0), (0.5, 0.75), (1.0, 0.5), (2.5, 0.5), (3.5, 0.25)):
        given = threshold if sign > 0 else threshold - 4.0
        assert _share(axes, [sign], given, 48) == pytest.approx(truth, abs=1e-11)
    inside = counted_share(axes, np.array([1.5]), np.array([2.5]), np.array([sign]), 2.0 * sign, 48)
    assert 0 <= inside <= 1  # the box weighs nothing, so any share is true


def test_axes_of_one_value_and_of_no_width() -> None:
    inputs = (RealInput("a", 2.0, 2.0), IntegerInput("b", 5, 5), IntegerInput("c", 0, 3))
    axes = lay_out(_domain(*inputs))
    assert _share(axes, [1.0, 1.0, 1.0], 8.0, 48) == pytest.approx(0.5, abs=1e-11)
    assert _share(axes, [1.0, 1.0, 0.0], 6.9, 48) == 1.0
    assert _share(axes, [1.0, 1.0, 0.0], 7.0, 48) == 0.0


def test_numbers_so_small_that_no_step_fits_between_them() -> None:
    axes = lay_out(_domain(IntegerInput("a", 0, 3), IntegerInput("b", 0, 5)))
    assert _share(axes, [5e-324, 1.0], 3.0, 48) == pytest.approx(1 / 3, abs=1e-11)
    assert _share(axes, [5e-324, 0.0], 0.0, 48) <= 0.75
    assert _share(axes, [1e-300, 1e300], 1e300, 48) <= 5 / 6
