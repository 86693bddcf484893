"""Looking at boxes in machine code and by arrays: the same verdicts, up to what is known to differ.

Machine code does not substitute backwards for units that plain intervals show to be on one side, so
its bounds may be a little wider. Without assumptions it counts the same half-spaces.
"""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_problems import problems

from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward
from testsgd.certification.proving import BoxBounds, Prover, build_problem
from testsgd.certification.proving.prover import can_compile


def both(
    problem: tuple[FeedForward, Domain], data: st.DataObject, bins: int
) -> tuple[BoxBounds, BoxBounds]:
    told = build_problem(*problem)
    assume(can_compile(told))
    many = 6
    lo, hi = np.empty((many, len(told.axes.low))), np.empty((many, len(told.axes.low)))
    for axis, (low, high) in enumerate(zip(told.axes.low, told.axes.high, strict=True)):
        for box in range(many):
            ends = data.draw(st.tuples(*[st.integers(int(low), int(high))] * 2))
            lo[box, axis], hi[box, axis] = min(ends), max(ends)
    with Prover(told, compiled=False) as arrays, Prover(told, compiled=True, rare=()) as machine:
        return arrays.analyse(lo, hi, bins=bins), machine.analyse(lo, hi, bins=bins)


@pytest.mark.slow
@given(problem=problems(activations=("relu",)), data=st.data())
@settings(max_examples=100)
def test_verdicts_agree(problem: tuple[FeedForward, Domain], data: st.DataObject) -> None:
    arrays, machine = both(problem, data, 48)
    # Neither says the opposite of the other, and a box has an axis to split or has not.
    assert not np.any((arrays.status == 1) & (machine.status == 2))
    assert not np.any((arrays.status == 2) & (machine.status == 1))
    same = arrays.status == machine.status
    wider = (arrays.status > 0) & (machine.status == 0)
    assert np.all(same | wider | (machine.status > 0))
    both_open = (arrays.status == 0) & (machine.status == 0)
    assert np.array_equal(arrays.axis[both_open] < 0, machine.axis[both_open] < 0)


@pytest.mark.slow
@given(problem=problems(activations=("relu",), weighted=True), data=st.data())
@settings(max_examples=100)
def test_shares_agree_where_one_layer_is_bounded(
    problem: tuple[FeedForward, Domain], data: st.DataObject
) -> None:
    network, _ = problem
    # With one hidden layer nothing is skipped, so the bounds are the same, and so is the choice.
    assume(len(network.layers) == 2)
    assume(network.outputs == 1)
    arrays, machine = both(problem, data, 48)
    assert np.array_equal(arrays.status, machine.status)
    # Ties between half-spaces may be broken otherwise; then both are right, and differ.
    near = np.isclose(arrays.fair + arrays.unfair, machine.fair + machine.unfair, atol=1e-9)
    tied = ~np.isclose(arrays.expected, machine.expected, atol=1e-9)
    assert np.mean(near | tied) >= 0.5


@given(problem=problems(activations=("relu",), weighted=True), data=st.data())
@settings(max_examples=60)
def test_neither_exceeds_the_truth_of_the_domain(
    problem: tuple[FeedForward, Domain], data: st.DataObject
) -> None:
    told = build_problem(*problem)
    assume(can_compile(told))
    truth = truth_of(*problem)
    lo, hi = told.axes.low[None], told.axes.high[None]
    rare = data.draw(st.sampled_from(((), (0.06,), (0.5, 2.0))))
    for compiled in (False, True):
        with Prover(told, compiled=compiled, rare=rare) as prover:
            analysed = prover.analyse(lo, hi, bins=48)
        assert analysed.fair[0] <= truth.share(truth.surely_fair) + 1e-9
        assert analysed.unfair[0] <= truth.share(truth.surely_unfair) + 1e-9
