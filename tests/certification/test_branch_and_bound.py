"""The search: boxes are a partition, shares never exceed the truth, and the end is the truth."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import Truth, times_covered, truth_of
from hypothesis import given, settings
from hypothesis import strategies as st
from small_problems import problems

from testsgd.certification.domain import Domain, IntegerInput, RealInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.search import BranchAndBound
from testsgd.certification.search.branch_and_bound import ROOT

_SUMMING = 1e-9


def _check(search: BranchAndBound, truth: Truth) -> None:
    shares = search.shares
    assert shares.certified <= truth.share(truth.surely_fair) + _SUMMING
    assert shares.falsified <= truth.share(truth.surely_unfair) + _SUMMING
    assert shares.certified + shares.falsified + shares.undecided == pytest.approx(1)
    lows = np.concatenate([search.boxes["lo"], *(lo for lo, _, _ in search.closed)])
    highs = np.concatenate([search.boxes["hi"], *(hi for _, hi, _ in search.closed)])
    counts = times_covered(truth.people, lows, highs)
    # People who weigh nothing may be left out; nobody is in two boxes.
    assert np.all(counts[truth.weights > 0] == 1)
    assert counts.max(initial=0) <= 1
    for lo, hi, status in search.closed:
        for low, high, kind in zip(lo, hi, status, strict=True):
            inside = ((truth.people >= low) & (truth.people <= high)).all(axis=1)
            proved = truth.surely_fair if kind == 1 else truth.surely_unfair
            assert proved[inside].all()


def _check_tree(search: BranchAndBound) -> None:
    boxes, tree = search.boxes, search.tree
    where = boxes["node"].astype(np.int64)
    fair = tree.totals(where, boxes["fair"], tree.fair.copy())
    unfair = tree.totals(where, boxes["unfair"], tree.unfair.copy())
    open_ = tree.totals(where, boxes["undecided"], np.zeros_like(fair))
    assert fair[ROOT] == pytest.approx(search.fair + boxes["fair"].sum())
    assert unfair[ROOT] == pytest.approx(search.unfair + boxes["unfair"].sum())
    axes = search.axes
    for node in range(1, 200):
        children = tree.children(node)
        if children is None:
            continue
        for total in (fair, unfair, open_):
            assert total[node] >= total[list(children)].sum() - 1e-12
        low, high = tree.box(node, axes.low, axes.high)
        halves = [tree.box(child, axes.low, axes.high) for child in children]
        own = axes.shares(low[None], high[None])[0]
        parts = sum(axes.shares(a[None], b[None])[0] for a, b in halves)
        assert parts == pytest.approx(own)
        # Whatever of a box is decided or open adds up to its share.
        assert fair[node] + unfair[node] + open_[node] == pytest.approx(own, abs=1e-9)


@pytest.mark.slow
@given(problem=problems(weighted=True), compiled=st.sampled_from((False, None)))
@settings(max_examples=60)
def test_every_step(problem: tuple[FeedForward, Domain], compiled: bool | None) -> None:
    truth = truth_of(*problem)
    with Prover(build_problem(*problem), compiled=compiled) as prover:
        search = BranchAndBound(prover, keep_closed=True)
        search.begin()
        _check(search, truth)
        decided = 0.0
        for _ in range(200):
            before = search.looks
            if not search.step():
                break
            _check(search, truth)
            assert search.looks >= before
            # Halving may lose a little of what was counted, not much.
            now = 1 - search.shares.undecided
            assert now >= decided - 0.2
            decided = now
        _check_tree(search)


@given(problem=problems(weighted=True))
@settings(max_examples=60)
def test_the_end_is_the_truth(problem: tuple[FeedForward, Domain]) -> None:
    truth = truth_of(*problem)
    with Prover(build_problem(*problem)) as prover:
        search = BranchAndBound(prover, keep_closed=True)
        search.begin()
        while search.step():
            pass
        # What is left are single people whose decision rounding may change.
        left = search.boxes["undecided"] > 1e-12
        lo, hi = search.boxes.ends(np.flatnonzero(left))
        assert np.array_equal(lo, hi)
        shares = search.shares
    unsure = ~(truth.surely_fair | truth.surely_unfair)
    assert shares.undecided >= truth.share(unsure) - _SUMMING
    if not left.any():
        assert shares.certified == pytest.approx(truth.share(truth.surely_fair), abs=_SUMMING)
        assert shares.falsified == pytest.approx(truth.share(truth.surely_unfair), abs=_SUMMING)


def test_time_that_is_up_leaves_boxes_as_they_are() -> None:
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "example", "made up",
        (
            DenseLayer(np.array([[1.0, -1.0], [0.7, 0.3], [3.0, -2.0]]), np.zeros(2), "relu"),
            DenseLayer(np.array([[1.0], [-1.0]]), np.array([-5.0]), "linear"),
        ),
        tuple(InputColumns(name, number) for name in "abp"),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", -9, 9), RealInput("b", -4.0, 4.0), IntegerInput("p", 0, 1))
    domain = Domain("example", inputs, ("p",), ((0.0,), (1.0,)))
    with Prover(build_problem(network, domain)) as prover:
        search = BranchAndBound(prover)
        search.begin()
        search.step()
        before = {name: value.tolist() for name, value in search.boxes.to_arrays().items()}
        search.step(lambda: False)
        after = {name: value.tolist() for name, value in search.boxes.to_arrays().items()}
    assert before == after
