"""Assumptions about units prove nothing that is not so: against everybody of boxes."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from searched_problems import searched
from stressed_problems import (
    MANY,
    RARE,
    SUMMING,
    Floats,
    Given,
    check_shares,
    inside,
    random_boxes,
    rarely_bent,
    stressed,
)

from testsgd.certification.proving import BoxBounds, Problem, Prover, build_problem
from testsgd.certification.proving.prover import can_compile
from testsgd.certification.search import BranchAndBound, decided_points
from testsgd.certification.search.branch_and_bound import BINS


def assumed(analysed: BoxBounds) -> NDArray[np.int_]:
    """Count the assumptions of each box that is open."""
    assert analysed.thresholds is not None
    made: NDArray[np.int_] = np.isfinite(analysed.thresholds[:, 4:]).sum(axis=1)
    return np.where(analysed.status == 0, made, 0)


@given(
    problem=stressed(),
    rare=st.sampled_from(RARE),
    bins=st.sampled_from((3, 48, 768)),
    seed=st.integers(0, 99),
)
@pytest.mark.slow
@example(problem=rarely_bent(2, 2), rare=MANY, bins=768, seed=0)
@example(problem=rarely_bent(3, 3), rare=(0.05,), bins=768, seed=0)
@settings(max_examples=150)
def test_shares_of_boxes_never_exceed_the_truth(
    problem: Given, rare: tuple[float, ...], bins: int, seed: int
) -> None:
    told = build_problem(*problem)
    assume(can_compile(told))
    truth = truth_of(*problem)
    lo, hi = random_boxes(told, 12, seed)
    with Prover(told, compiled=True, rare=rare) as prover:
        analysed = prover.analyse(lo, hi, bins=bins, keep=True)
    check_shares(truth, lo, hi, analysed)


@pytest.mark.slow
@given(problem=stressed(), rare=st.sampled_from(RARE), steps=st.integers(0, 4))
@example(problem=rarely_bent(2, 2), rare=MANY, steps=0)
@example(problem=rarely_bent(3, 1), rare=MANY, steps=0)
@settings(max_examples=100)
def test_people_who_are_told_to_be_decided_are(
    problem: Given, rare: tuple[float, ...], steps: int
) -> None:
    told = build_problem(*problem)
    assume(can_compile(told))
    truth = truth_of(*problem)
    with Prover(told, compiled=True, rare=rare) as prover:
        search = BranchAndBound(prover)
        search.begin()
        for _ in range(steps):
            search.step()
        boxes = search.boxes
        lo, hi = boxes.ends(np.arange(len(boxes)))
        held = [np.flatnonzero(inside(truth, lo[box], hi[box])) for box in range(len(boxes))]
        who = np.concatenate([np.zeros(0, dtype=np.intp), *held])
        of = np.repeat(np.arange(len(boxes)), [len(some) for some in held])
        if not len(who):
            return
        certified, falsified = decided_points(search, of, truth.people[who])
    assert truth.surely_fair[who[certified]].all()
    assert truth.surely_unfair[who[falsified]].all()
    # All that is counted can be told: a box has at least as many such people.
    many = len(boxes)
    told_fair = np.bincount(of, truth.weights[who] * certified, minlength=many)
    told_unfair = np.bincount(of, truth.weights[who] * falsified, minlength=many)
    fair, unfair = looked_again(search)
    assert np.all(fair <= told_fair + SUMMING)
    assert np.all(unfair <= told_unfair + SUMMING)


def looked_again(search: BranchAndBound) -> tuple[Floats, Floats]:
    """Look at the open boxes once more; shares of the domain that are fair and unfair."""
    boxes = search.boxes
    fair, unfair = np.zeros(len(boxes)), np.zeros(len(boxes))
    for level in np.unique(boxes["level"]):
        some = np.flatnonzero(boxes["level"] == level)
        lo, hi = boxes.ends(some)
        known = boxes["known"][some].astype(np.int8)
        analysed = search.prover.analyse(lo, hi, bins=int(BINS[int(level)]), known=known)
        fair[some] = analysed.fair * boxes["share"][some]
        unfair[some] = analysed.unfair * boxes["share"][some]
    return fair, unfair


def test_looking_again_tells_nearly_as_much() -> None:
    # Units that are known by now are bounded by intervals only, so a little less may come out.
    again, before = 0.0, 0.0
    for seed in range(8):
        with Prover(build_problem(*searched(seed, size=40)), compiled=True, rare=()) as prover:
            search = BranchAndBound(prover)
            search.begin()
            for _ in range(3):
                search.step()
            fair, unfair = looked_again(search)
        again += float(fair.sum() + unfair.sum())
        before += float(search.boxes["fair"].sum() + search.boxes["unfair"].sum())
    assert 0.98 * before <= again <= before + 1e-9


@pytest.mark.parametrize("persons", [2, 3])
def test_assumptions_are_made_and_fail_for_some(persons: int) -> None:
    boxes, useful, broken = 0, 0, 0
    for seed in range(12):
        problem = rarely_bent(persons, seed)
        told, truth = build_problem(*problem), truth_of(*problem)
        lo, hi = random_boxes(told, 30, seed)
        with Prover(told, compiled=True, rare=MANY) as prover:
            analysed = prover.analyse(lo, hi, bins=768, keep=True)
        with Prover(told, compiled=True, rare=()) as prover:
            without = prover.analyse(lo, hi, bins=768, keep=True)
        assert not assumed(without).any()
        assert np.array_equal(analysed.known, without.known)
        made = assumed(analysed)
        boxes += int((made > 0).sum())
        useful += int(
            (analysed.fair + analysed.unfair > without.fair + without.unfair + 1e-6).sum()
        )
        check_shares(truth, lo, hi, analysed)
        assert analysed.forms is not None
        assert analysed.thresholds is not None
        for box in np.flatnonzero(made):
            here = truth.people[inside(truth, lo[box], hi[box])]
            columns = _columns(told, here)
            sums = columns @ analysed.forms[box, 4 : 4 + made[box]].T
            broken += int((sums <= analysed.thresholds[box, 4 : 4 + made[box]]).any())
    # What is tested here must not quietly go away.
    assert boxes > 40
    assert useful > 40
    assert broken > 40


def _columns(told: Problem, people: Floats) -> Floats:
    """Lay people out as forms have them: a column a number, one a value of a category."""
    columns = np.zeros((len(people), told.axes.width))
    for axis, column in enumerate(told.axes.columns):
        if told.axes.kinds[axis] == 2:
            columns[np.arange(len(people)), column + people[:, axis].astype(int)] = 1.0
        else:
            columns[:, column] = people[:, axis]
    return columns
