"""Draws from the open boxes: uniform on what is not certified there, by the domain's measure."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import everybody, truth_of
from numpy.typing import NDArray
from scipy.stats import binom, chisquare
from searched_problems import searched

from testsgd.certification import CertificationParameters, certify_network
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import Axes, Prover, build_problem, counted_points
from testsgd.certification.search import BestFirst, decided_points, draw_open, draw_points
from testsgd.certification.search.best_first import BINS

Floats = NDArray[np.float64]


def searched_for(network: FeedForward, domain: Domain, steps: int) -> BestFirst:
    prover = Prover(build_problem(network, domain), compiled=False)
    search = BestFirst(prover)
    search.begin()
    for _ in range(steps):
        search.step()
    return search


def region(search: BestFirst, people: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say who lies in an open box and is not certified, and who of them is falsified."""
    boxes, axes = search.boxes, search.axes
    uncertified = np.zeros(len(people), dtype=bool)
    falsified = np.zeros(len(people), dtype=bool)
    lows, highs = boxes.ends(np.arange(len(boxes)))
    for lo, hi, level in zip(lows, highs, boxes["level"], strict=True):
        inside = np.flatnonzero(((people >= lo) & (people <= hi)).all(axis=1))
        bins = int(BINS[int(level)])
        looked = search.prover.look(lo[None], hi[None], bins=bins, keep=True)
        assert looked.forms is not None
        assert looked.thresholds is not None
        many = len(inside)
        held = [
            counted_points(
                axes, np.tile(lo, (many, 1)), np.tile(hi, (many, 1)),
                np.tile(form, (many, 1)), np.full(many, threshold), np.full(many, float(bins)),
                people[inside],
            )
            for form, threshold in zip(looked.forms[0], looked.thresholds[0], strict=True)
        ]  # fmt: skip
        uncertified[inside] = ~(held[0] | held[1])
        falsified[inside] = held[2] & held[3]
    return uncertified, falsified


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("steps", [0, 1])
def test_uniform_on_the_region(steps: int, weighted: bool) -> None:
    network, domain = searched(4, size=10, weighted=weighted)
    people, weights = everybody(domain)
    search = searched_for(network, domain, steps)
    uncertified, falsified = region(search, people)
    samples = 40_000
    draws = draw_open(search, samples, np.random.default_rng(5))
    assert draws.measure == pytest.approx(float(search.boxes["share"].sum()))
    # As many of the tries are kept as the measure says.
    share = weights[uncertified].sum() / draws.measure
    assert binom.cdf(len(draws.points), draws.tries, share) > 1e-6
    assert binom.sf(len(draws.points) - 1, draws.tries, share) > 1e-6
    place = {tuple(person): row for row, person in enumerate(people)}
    rows = np.array([place[tuple(point)] for point in draws.points])
    assert uncertified[rows].all()
    assert np.array_equal(falsified[rows], draws.falsified)
    chosen = np.flatnonzero(uncertified & (weights > 0))
    counts = np.bincount(rows, minlength=len(people))[chosen]
    assert counts.sum() == len(rows)  # nobody of no weight was drawn
    expected = weights[chosen] / weights[chosen].sum() * len(rows)
    assert chisquare(counts, expected).pvalue > 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_never_certified(seed: int) -> None:
    network, domain = searched(seed, size=10)
    truth = truth_of(network, domain)
    prover = Prover(build_problem(network, domain))
    search = BestFirst(prover, keep_closed=True)
    search.begin()
    search.step()
    draws = draw_open(search, 2_000, np.random.default_rng(6))
    for lo, hi, _ in search.closed:
        for low, high in zip(lo, hi, strict=True):
            assert not ((draws.points >= low) & (draws.points <= high)).all(axis=1).any()
    place = {tuple(person): row for row, person in enumerate(truth.people)}
    rows = np.array([place[tuple(point)] for point in draws.points], dtype=int)
    # All that are called falsified are unfair, however the machine rounds; and of the open boxes
    # those whom nobody would draw are fair.
    assert truth.surely_unfair[rows[draws.falsified]].all()


def test_the_interval_holds_the_truth() -> None:
    network, domain = searched(7, size=60)
    truth = truth_of(network, domain)
    parameters = CertificationParameters(
        time=None, undecided=0.9, samples=4_000, confidence=0.999_999
    )
    stop = iter((False, False))
    outcome = certify_network(network, domain, parameters, should_stop=lambda: next(stop, True))
    unfair = truth.share(~truth.fair)
    assert outcome.unfair_low <= unfair + 1e-9
    assert outcome.unfair_high >= unfair - 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_points_of_boxes_follow_the_measure(weighted: bool) -> None:
    _, domain = searched(4, size=6, weighted=weighted)
    axes: Axes = searched_for(*searched(4, size=6, weighted=weighted), 0).axes
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
    search = BestFirst(Prover(build_problem(network, domain)))
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
