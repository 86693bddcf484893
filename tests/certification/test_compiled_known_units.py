"""What is known of units in a box holds for everybody in it, and in its halves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from enumeration import Truth, run, truth_of
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stressed_problems import (
    MANY,
    RARE,
    Floats,
    Given,
    check_shares,
    inside,
    random_boxes,
    rarely_bent,
    stressed,
)

from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward
from testsgd.certification.proving import Prover, build_problem
from testsgd.certification.proving.prover import can_compile


def unit_sums(network: FeedForward, domain: Domain, people: Floats, person: int) -> list[Floats]:
    """Run a network up to the sums of its hidden units after the first layer, thrice rounded."""
    values = np.empty((len(people), len(domain.inputs)))
    values[:, [domain.names.index(item.name) for item in domain.free]] = people
    protected = [domain.names.index(name) for name in domain.protected]
    values[:, protected] = domain.protected_values[person]
    runs = []
    for precision, backwards in (
        (network.precision, False),
        (network.precision, True),
        ("float64", False),
    ):
        parts = [np.zeros((len(people), 0))]
        for last in range(1, len(network.layers) - 1):
            plain = replace(network.layers[last], activation="linear")
            shorter = replace(network, layers=(*network.layers[:last], plain))
            parts.append(run(shorter, values, precision, backwards=backwards).astype(float))
        runs.append(np.concatenate(parts, axis=1))
    return runs


def check_known(
    problem: Given, truth: Truth, lo: Floats, hi: Floats, known: NDArray[np.int8]
) -> None:
    network, domain = problem
    persons = len(domain.protected_values)
    for person in range(persons):
        for sums in unit_sums(network, domain, truth.people, person):
            units = sums.shape[1]
            for box in range(len(lo)):
                here = sums[inside(truth, lo[box], hi[box])]
                marks = known[box, person * units : (person + 1) * units]
                assert np.all(here[:, marks == 1] >= 0.0)
                assert np.all(here[:, marks == 2] <= 0.0)


@pytest.mark.slow
@given(problem=stressed(), rare=st.sampled_from(RARE), seed=st.integers(0, 99))
@example(problem=rarely_bent(2, 2), rare=MANY, seed=0)
@example(problem=rarely_bent(3, 1), rare=MANY, seed=0)
@settings(max_examples=80)
def test_what_is_known_of_units_holds_in_halves_too(
    problem: Given, rare: tuple[float, ...], seed: int
) -> None:
    told = build_problem(*problem)
    assume(can_compile(told))
    truth = truth_of(*problem)
    lo, hi = random_boxes(told, 6, seed)
    with Prover(told, compiled=True, rare=rare) as prover:
        analysed = prover.analyse(lo, hi, bins=192)
        check_known(problem, truth, lo, hi, analysed.known)
        # Halves, and halves of these, each with what was known before.
        for _ in range(2):
            cut = np.flatnonzero((analysed.status == 0) & (analysed.axis >= 0))
            axis = analysed.axis[cut]
            middle = told.axes.middles(axis, lo[cut, axis], hi[cut, axis])
            before = np.repeat(analysed.known[cut], 2, axis=0)
            lo, hi = np.repeat(lo[cut], 2, axis=0), np.repeat(hi[cut], 2, axis=0)
            hi[np.arange(0, len(hi), 2), axis] = middle
            lo[np.arange(1, len(lo), 2), axis] = middle + 1
            analysed = prover.analyse(lo, hi, bins=192, known=before)
            # Nothing is forgotten.
            assert np.all((before == 0) | (analysed.known == before))
            check_shares(truth, lo, hi, analysed)
            check_known(problem, truth, lo, hi, analysed.known)


def test_something_is_known_of_units() -> None:
    marks = np.zeros(3, dtype=int)
    for seed in range(5):
        told = build_problem(*rarely_bent(2, seed))
        lo, hi = random_boxes(told, 30, seed)
        with Prover(told, compiled=True) as prover:
            marks += np.bincount(prover.analyse(lo, hi, bins=48).known.ravel(), minlength=3)
    assert np.all(marks > 50)
