"""Where boxes are halved: against trying every cut of an interval."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, Marginal, RealInput
from testsgd.certification.proving import Axes
from testsgd.certification.proving.axes import lay_out

Counts = list[int]

# Measures are differences of sums that end at 1.
_SUMMING = 1e-12


def rising(counts: Counts) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(counts)]) / sum(counts)


def laid_out(
    item: IntegerInput | CategoryInput | RealInput, marginal: Marginal | None = None
) -> Axes:
    # Another axis before it, so that nothing starts at 0.
    other = CategoryInput("other", ("a", "b", "c"))
    marginals = {"other": Marginal(np.arange(4.0), rising([1, 0, 2]))}
    if marginal is not None:
        marginals[item.name] = marginal
    inputs = (other, item, IntegerInput("p", 0, 1))
    return lay_out(Domain("made up", inputs, ("p",), ((0.0,), (1.0,)), marginals))


def one_middle(axes: Axes, start: float, end: float) -> float:
    return float(axes.middles(np.array([1]), np.array([start]), np.array([end]))[0])


# Many zeros: stretches that weigh nothing.
_COUNTS = st.lists(
    st.one_of(st.just(0), st.integers(0, 9), st.just(10**6)), min_size=2, max_size=12
).filter(any)


@given(
    counts=_COUNTS, low=st.sampled_from((0, -5, 17)), category=st.booleans(), weighted=st.booleans()
)
def test_no_cut_of_single_values_is_better(
    counts: Counts, low: int, category: bool, weighted: bool
) -> None:
    size = len(counts)
    marginal = Marginal(np.arange(size + 1.0), rising(counts)) if weighted else None
    if category:
        low = 0
        axes = laid_out(CategoryInput("x", tuple("abcdefghijkl"[:size])), marginal)
    else:
        axes = laid_out(IntegerInput("x", low, low + size - 1), marginal)
    weights = np.array(counts) / sum(counts) if weighted else np.full(size, 1 / size)
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    start, end = (np.array(side, dtype=float) + low for side in zip(*pairs, strict=True))
    middles = axes.middles(np.ones(len(pairs), dtype=np.int64), start, end)
    assert np.array_equal(middles, np.rint(middles))
    for (a, b), middle in zip(pairs, middles - low, strict=True):
        # Neither half is empty.
        assert a <= middle < b
        smaller = [min(weights[a : m + 1].sum(), weights[m + 1 : b + 1].sum()) for m in range(a, b)]
        assert smaller[int(middle) - a] >= max(smaller) - _SUMMING


@given(
    counts=_COUNTS,
    low=st.floats(-100, 100),
    widths=st.lists(st.floats(0.01, 50), min_size=12, max_size=12),
    where=st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_real_numbers_are_halved_by_their_measure(
    counts: Counts, low: float, widths: list[float], where: tuple[float, float]
) -> None:
    positions = low + np.concatenate([[0.0], np.cumsum(widths[: len(counts)])])
    item = RealInput("x", float(positions[0]), float(positions[-1]))
    axes = laid_out(item, Marginal(positions, rising(counts)))
    start, end = (item.low + part * (item.high - item.low) for part in sorted(where))
    end = min(end, item.high)
    if end - start < 1e-6:
        return
    middle = one_middle(axes, start, end)
    assert start < middle < end

    def measure(a: float, b: float) -> float:
        """Add up what each bin has of an interval, in proportion to its part of the bin."""
        parts = [
            count / sum(counts) * max(0.0, min(b, right) - max(a, left)) / (right - left)
            for count, (left, right) in zip(counts, pairwise(positions), strict=True)
        ]
        return float(sum(parts))

    whole = measure(start, end)
    # Where hardly anything is, the place is lost to rounding; that it is inside is enough.
    if whole > 1e-6:
        assert measure(start, middle) == pytest.approx(whole / 2, abs=1e-9)
    if whole == 0.0:
        assert middle == pytest.approx((start + end) / 2)


@given(low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), part=st.floats(0.01, 1.0))
def test_real_numbers_without_a_measure_are_halved(low: float, width: float, part: float) -> None:
    axes = laid_out(RealInput("x", low, low + width))
    end = low + part * width
    assert one_middle(axes, low, end) == pytest.approx((low + end) / 2)


def test_stretches_that_weigh_nothing_are_halved_all_the_same() -> None:
    counts = [0, 0, 0, 5, 0, 0, 0, 0, 5, 0, 0]
    axes = laid_out(IntegerInput("x", 10, 20), Marginal(np.arange(12.0), rising(counts)))
    for start, end in [(10, 12), (14, 17), (19, 20), (10, 11)]:
        assert start <= one_middle(axes, start, end) < end
    # Between the two values that have all the weight, wherever that is.
    assert 13 <= one_middle(axes, 10, 20) < 18
    # One value has all the weight: it is in one half, whichever.
    assert 10 <= one_middle(axes, 10, 14) < 14


def test_intervals_of_several_axes_go_their_own_ways() -> None:
    heavy = Marginal(np.arange(11.0), rising([90, 1, 1, 1, 1, 1, 1, 1, 1, 2]))
    inputs = (
        IntegerInput("a", 0, 9), IntegerInput("b", 100, 109), RealInput("c", 0.0, 1.0),
        IntegerInput("p", 0, 1),
    )  # fmt: skip
    axes = lay_out(Domain("made up", inputs, ("p",), ((0.0,), (1.0,)), {"b": heavy}))
    which = np.array([2, 1, 0, 1])
    start, end = np.array([0.0, 100.0, 0.0, 101.0]), np.array([0.5, 109.0, 9.0, 102.0])
    assert axes.middles(which, start, end).tolist() == [0.25, 100.0, 4.0, 101.0]
