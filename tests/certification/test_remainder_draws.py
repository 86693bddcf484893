"""Draws from the undecided region: uniform on it, by the domain's measure, and nobody else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from enumeration import everybody, truth_of
from numpy.typing import NDArray
from scipy.stats import binom, chisquare
from searched_problems import searched
from searches_far_apart import MACHINE, searched_for
from stressed_problems import rarely_bent

from testsgd.certification import CertificationParameters, certify_network
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import Axes, Prover, build_problem
from testsgd.certification.run import remainder_of
from testsgd.certification.search import (
    BranchAndBound,
    ask,
    decided_points,
    draw_falsified,
    draw_open,
    draw_points,
    fingerprint,
    read_checkpoint,
    write_checkpoint,
)
from testsgd.certification.search.disjoint_cover import analyse_again

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def undecided_of(search: BranchAndBound, people: Floats) -> tuple[Bools, Bools]:
    """Say who lies in an open box, and is neither certified nor falsified; and who is falsified."""
    undecided = np.zeros(len(people), dtype=bool)
    unfair = np.zeros(len(people), dtype=bool)
    lows, highs = search.boxes.ends(np.arange(len(search.boxes)))
    for box, (lo, hi) in enumerate(zip(lows, highs, strict=True)):
        inside = np.flatnonzero(((people >= lo) & (people <= hi)).all(axis=1))
        certified, falsified = decided_points(search, np.full(len(inside), box), people[inside])
        undecided[inside] = ~certified & ~falsified
        unfair[inside] = falsified
    return undecided, unfair


def check_uniform(search: BranchAndBound, domain: Domain, samples: int, seed: int) -> float:
    """Compare draws with everybody; gives which part of the tries was kept."""
    people, weights = everybody(domain)
    undecided, _ = undecided_of(search, people)
    draws = draw_open(search, samples, np.random.default_rng(seed))
    # As many of the tries are kept as the measure says.
    share = min(weights[undecided].sum() / draws.measure, 1.0)
    assert binom.cdf(len(draws.points), draws.tries, share) > 1e-6
    assert binom.sf(len(draws.points) - 1, draws.tries, share) > 1e-6
    place = {tuple(person): row for row, person in enumerate(people)}
    rows = np.array([place[tuple(point)] for point in draws.points], dtype=int)
    assert undecided[rows].all()
    chosen = np.flatnonzero(undecided & (weights > 0))
    counts = np.bincount(rows, minlength=len(people))[chosen]
    assert counts.sum() == len(rows)  # nobody of no weight was drawn
    if len(chosen) > 1:
        expected = weights[chosen] / weights[chosen].sum() * len(rows)
        assert chisquare(counts, expected).pvalue > 1e-6
    if len(draws.points) < samples:  # only where there is hardly anything to draw
        assert draws.tries == 16 * samples or share < 0.9
    return len(draws.points) / max(draws.tries, 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("compiled", [False, MACHINE])
def test_uniform_on_the_region(compiled: bool, steps: int, weighted: bool) -> None:
    problem = searched(4, size=10, weighted=weighted)
    search = searched_for(problem, steps, compiled=compiled)
    if search.boxes["undecided"].sum() > 1e-9:
        check_uniform(search, problem[1], 20_000, 5)


@pytest.mark.parametrize("persons", [2, 3])
@pytest.mark.parametrize("steps", [0, 2])
def test_uniform_under_assumptions(steps: int, persons: int) -> None:
    rates, assumed = [], 0
    for seed in range(5):
        problem = rarely_bent(persons, seed)
        search = searched_for(problem, steps, compiled=True)
        if len(search.boxes) == 0:
            continue
        again = analyse_again(search, np.arange(len(search.boxes)))
        assumed += int(np.isfinite(again.bounds.thresholds[:, 4:]).any(axis=1).sum())
        rates.append(check_uniform(search, problem[1], 20_000, seed))
    assert assumed > 0
    assert np.median(rates) > 0.5


@pytest.mark.parametrize("compiled", [False, MACHINE])
def test_the_second_look_is_as_the_first(compiled: bool) -> None:
    boxes = 0
    for seed in range(6):
        search = searched_for(searched(seed, size=30), 4, compiled=compiled, rare=(0.15,))
        again = analyse_again(search, np.arange(len(search.boxes)))
        share = search.boxes["share"]
        boxes += len(share)
        assert again.bounds.fair * share == pytest.approx(search.boxes["fair"], abs=1e-15)
        assert again.bounds.unfair * share == pytest.approx(search.boxes["unfair"], abs=1e-15)
    assert boxes > 20


@pytest.mark.parametrize("compiled", [False, MACHINE])
@pytest.mark.parametrize("seed", range(3))
def test_nobody_who_is_decided(seed: int, compiled: bool) -> None:
    problem = searched(seed, size=10)
    truth = truth_of(*problem)
    search = BranchAndBound(Prover(build_problem(*problem), compiled=compiled), keep_closed=True)
    search.begin()
    search.step()
    draws = draw_open(search, 500, np.random.default_rng(6))
    for lo, hi, _ in search.closed:
        for low, high in zip(lo, hi, strict=True):
            assert not ((draws.points >= low) & (draws.points <= high)).all(axis=1).any()
    unfair = draw_falsified(search, 200, np.random.default_rng(7))
    place = {tuple(person): row for row, person in enumerate(truth.people)}
    rows = np.array([place[tuple(point)] for point in unfair], dtype=int)
    assert truth.surely_unfair[rows].all()


def test_falsified_people_of_open_boxes_are_found() -> None:
    # Unfair are 8, 9 and 10, and the whole domain is one open box.
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "example", "made up",
        (DenseLayer(np.array([[1.0], [3.0]]), np.array([-10.5]), "linear"),),
        (InputColumns("a", number), InputColumns("p", number)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", 0, 19), IntegerInput("p", 0, 1))
    domain = Domain("example", inputs, ("p",), ((0.0,), (1.0,)))
    people = draw_falsified(searched_for((network, domain), 0), 400, np.random.default_rng(1))
    assert set(people[:, 0]) == {8.0, 9.0, 10.0}


def test_a_checkpoint_of_machine_code_is_drawn_from_without(tmp_path: Path) -> None:
    # Without assumptions more is undecided than the checkpoint says; draws are uniform on that.
    for seed in range(4):
        problem = rarely_bent(2, seed)
        written = searched_for(problem, 1, compiled=True)
        about = fingerprint(*problem)
        write_checkpoint(tmp_path / f"{seed}.npz", written, about, 1.0, [])
        search = BranchAndBound(Prover(build_problem(*problem), compiled=False))
        read_checkpoint(tmp_path / f"{seed}.npz", search, about)
        if len(search.boxes) == 0:
            continue
        check_uniform(search, problem[1], 5_000, seed)
        draws = draw_open(search, 500, np.random.default_rng(seed))
        people, weights = everybody(problem[1])
        undecided, _ = undecided_of(search, people)
        assert draws.measure >= weights[undecided].sum() - 1e-9
        assert draws.falsified <= 1.0 - weights[undecided].sum() + 1e-9


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    problem = searched(7, size=60)
    network, domain = problem
    people, weights = everybody(domain)
    search = searched_for(problem, 2)
    undecided, _ = undecided_of(search, people)
    answers = ask(network, domain, people)
    unfair = float(weights[answers.unfair].sum())
    rate = float(weights[answers.unfair & undecided].sum() / weights[undecided].sum())
    shares, runs = search.shares, 150
    held, held_of_region = {0.8: 0, 0.95: 0}, {0.8: 0, 0.95: 0}
    for seed in range(runs):
        draws = draw_open(search, 200, np.random.default_rng(seed))
        drawn = ask(network, domain, draws.points)
        for confidence in held:
            remainder = remainder_of(drawn, draws, shares, confidence)
            assert remainder is not None
            assert remainder.samples == len(draws.points) >= 200
            low, high = remainder.domain_confidence_interval
            held[confidence] += low <= unfair <= high
            low, high = remainder.confidence_interval
            held_of_region[confidence] += low <= rate <= high
    for confidence in held:
        assert binom.cdf(held[confidence], runs, confidence) > 1e-4
        assert binom.cdf(held_of_region[confidence], runs, confidence) > 1e-4


def test_the_interval_holds_the_truth() -> None:
    network, domain = searched(7, size=60)
    truth = truth_of(network, domain)
    parameters = CertificationParameters(
        time_limit=None, undecided=0.9, samples=4_000, confidence=0.999_999
    )
    stop = iter((False, False))
    outcome = certify_network(network, domain, parameters, should_stop=lambda: next(stop, True))
    unfair = truth.share(~truth.fair)
    assert outcome.unfair_low <= unfair + 1e-9
    assert outcome.unfair_high >= unfair - 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_points_of_boxes_follow_the_measure(weighted: bool) -> None:
    _, domain = searched(4, size=6, weighted=weighted)
    axes: Axes = searched_for(searched(4, size=6, weighted=weighted), 0).axes
    many = 60_000
    lo, hi = np.tile([0.0, 1.0, -3.0], (many, 1)), np.tile([4.0, 2.0, 4.0], (many, 1))
    points = draw_points(axes, lo, hi, np.random.default_rng(8))
    people, weights = everybody(domain)
    inside = ((people >= lo[0]) & (people <= hi[0])).all(axis=1) & (weights > 0)
    place = {tuple(person): row for row, person in enumerate(people)}
    counts = np.bincount([place[tuple(point)] for point in points], minlength=len(people))
    assert counts[inside].sum() == many
    expected = weights[inside] / weights[inside].sum() * many
    assert chisquare(counts[inside], expected).pvalue > 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_whoever_is_called_decided_is(seed: int) -> None:
    network, domain = searched(seed, size=8)
    truth = truth_of(network, domain)
    search = BranchAndBound(Prover(build_problem(network, domain)))
    search.begin()
    search.step()
    lo, hi = search.boxes.ends(np.arange(len(search.boxes)))
    places, rows = [], []
    for box in range(len(lo)):
        inside = np.flatnonzero(((truth.people >= lo[box]) & (truth.people <= hi[box])).all(axis=1))
        places.append(np.full(len(inside), box))
        rows.append(inside)
    of = np.concatenate(rows)
    certified, falsified = decided_points(search, np.concatenate(places), truth.people[of])
    assert truth.surely_fair[of[certified]].all()
    assert truth.surely_unfair[of[falsified]].all()
    # And they are at least as many as the shares say.
    assert truth.weights[of[certified]].sum() >= search.boxes["fair"].sum() - 1e-9
    assert truth.weights[of[falsified]].sum() >= search.boxes["unfair"].sum() - 1e-9


def test_boxes_with_nothing_left_but_rounding_take_no_time() -> None:
    # Everybody of a linear model is counted as fair, up to the rounding of the count.
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "linear", "made up",
        (DenseLayer(np.array([[1.0], [0.0]]), np.array([-7e8 - 0.5]), "linear"),),
        (InputColumns("a", number), InputColumns("p", number)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", 0, 10**9), IntegerInput("p", 0, 1))
    parameters = CertificationParameters(undecided=0.05, samples=100)
    domain = Domain("linear", inputs, ("p",), ((0.0,), (1.0,)))
    outcome = certify_network(network, domain, parameters)
    assert outcome.shares.certified > 0.999_999
    assert outcome.remainder is None
