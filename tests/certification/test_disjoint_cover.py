"""Pieces of open boxes cover what is undecided, and are no more than the search says."""

from __future__ import annotations

import numpy as np
from enumeration import truth_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from stressed_problems import RARE, Given, inside, stressed

from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.proving.prover import can_compile
from testsgd.certification.search import BranchAndBound
from testsgd.certification.search.disjoint_cover import analyse_again, cut_boxes, decided


def check_pieces(problem: Given, rare: tuple[float, ...], steps: int, *, compiled: bool) -> None:
    told = build_problem(*problem)
    if compiled:
        assume(can_compile(told))
    truth = truth_of(*problem)
    with Prover(told, compiled=compiled, rare=rare) as prover:
        search = BranchAndBound(prover)
        search.begin()
        for _ in range(steps):
            search.step()
        again = analyse_again(search, np.arange(len(search.boxes)))
    pieces = cut_boxes(again)
    share = search.boxes["share"]
    together = pieces.together * share
    assert np.all(together <= search.boxes["cover"] + 1e-9 * share)
    # Where falsified points lie in the pieces, these have more than is undecided.
    outside = pieces.falsified_outside | (again.bounds.unfair == 0)
    assert np.all((together <= search.boxes["undecided"] + 1e-9 * share)[outside])
    for box in range(len(share)):
        here = inside(truth, again.lo[box], again.hi[box])
        of = np.full(int(here.sum()), box)
        held = again.holds(of, truth.people[here])
        # Half-spaces that contradict each other have nobody in common, assumptions or not.
        if pieces.shares[box].sum() < 1.0:
            assert not (held[:, 0] & held[:, 1]).any()
            if np.isfinite(again.bounds.thresholds[box, 2:4]).all():
                assert not (held[:, 1] & held[:, 2]).any()
                assert not (held[:, 0] & held[:, 3]).any()
        certified, falsified = decided(held)
        first = pieces.first_holding(of, held)
        weighs = truth.weights[here] > 0
        undecided = ~certified & ~falsified & weighs
        assert (first[undecided] < pieces.shares.shape[1]).all()
        # A piece is as large as the people who are in it, and never smaller.
        whole = truth.weights[here].sum()
        for piece in np.flatnonzero(pieces.shares[box]):
            of_first = truth.weights[here][first == piece].sum() / whole
            assert of_first <= pieces.shares[box, piece] + 1e-9


@given(problem=stressed(), rare=st.sampled_from(RARE), steps=st.integers(0, 3))
@settings(max_examples=80)
def test_in_machine_code(problem: Given, rare: tuple[float, ...], steps: int) -> None:
    check_pieces(problem, rare, steps, compiled=True)


@given(problem=stressed(), steps=st.integers(0, 2))
@settings(max_examples=40)
def test_by_arrays(problem: Given, steps: int) -> None:
    check_pieces(problem, (), steps, compiled=False)
