"""The interval for the unfair share of the whole domain: held as often as it says, and narrow."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of
from numpy.typing import NDArray
from scipy.stats import beta, binom
from searched_problems import searched
from searches_far_apart import far_apart, searched_for
from stressed_problems import Given, rarely_bent

from testsgd.certification import CertificationParameters, Shares, certify_network
from testsgd.certification.outcome import Remainder
from testsgd.certification.run import remainder_of
from testsgd.certification.search import Answers, BranchAndBound, Draws, ask, draw_open

Bools = NDArray[np.bool_]


def found_in(
    problem: Given, search: BranchAndBound, seed: int, confidences: tuple[float, ...]
) -> list[Remainder]:
    """Estimate from one sample what is found of it at each confidence."""
    draws = draw_open(search, 200, np.random.default_rng(seed))
    answers = ask(*problem, draws.points)
    of_each = []
    for confidence in confidences:
        found = remainder_of(answers, draws, search.shares, confidence)
        assert found is not None
        of_each.append(found)
    return of_each


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "distance", "steps"), [(2, 16, 2), (17, 8, 4), (10, 8, 2)])
def test_intervals_hold_the_truth_and_estimates_have_no_bias(
    seed: int, distance: int, steps: int
) -> None:
    problem = far_apart(rarely_bent(2, seed), distance)
    truth = truth_of(*problem)
    unfair = truth.share(~truth.fair)
    search = searched_for(problem, steps, compiled=True)
    assert search.boxes["unfair"].any()
    runs, confidences = 150, (0.8, 0.95)
    samples = [found_in(problem, search, run, confidences) for run in range(runs)]
    for confidence, found in zip(confidences, zip(*samples, strict=True), strict=True):
        held = sum(
            one.domain_confidence_interval[0] <= unfair <= one.domain_confidence_interval[1]
            for one in found
        )
        assert binom.cdf(held, runs, confidence) > 1e-4
        middles = np.array([one.domain_unfair for one in found])
        assert abs(middles.mean() - unfair) <= 4.5 * middles.std() / np.sqrt(runs) + 1e-12
        for one in found:
            low, high = one.domain_confidence_interval
            assert low <= one.domain_unfair <= high


def answered(draws: Draws, unfair: Bools) -> Answers:
    """Give answers of two persons, different for whom it is unfair."""
    decisions = np.column_stack([np.zeros(len(draws.points)), unfair]).astype(np.intp)
    return Answers(np.zeros((len(unfair), 1)), decisions, np.zeros((len(unfair), 2, 1)))


def made_draws(count: int, more: Bools, left_out: int, *, beside: bool) -> Draws:
    return Draws(
        np.zeros((count, 1)), np.zeros(count, np.int64), 1000, 0.2, 0.01, beside, more, left_out
    )


def test_ends_are_those_of_clopper_and_pearson() -> None:
    more = np.zeros(800, dtype=bool)
    unfair = np.arange(800) < 90
    shares = Shares(0.7, 0.02, 0.28)
    draws = made_draws(800, more, 10, beside=False)
    found = remainder_of(answered(draws, unfair), draws, shares, 0.95)
    assert found is not None
    assert found.domain_unfair == pytest.approx(0.01 + 0.2 * 0.1)
    assert found.domain_confidence_interval[0] == pytest.approx(
        0.01 + 0.2 * beta.ppf(0.025, 100, 901)
    )
    assert found.domain_confidence_interval[1] == pytest.approx(
        0.01 + 0.2 * beta.ppf(0.975, 101, 900)
    )
    # Five are told of twice: half of the risk for these.
    more[85:105] = True
    draws = made_draws(800, more, 10, beside=True)
    found = remainder_of(answered(draws, unfair), draws, shares, 0.95)
    assert found is not None
    assert found.domain_unfair == pytest.approx(0.01 + 0.2 * (0.115 + 0.005))
    low = beta.ppf(0.0125, 115, 886) + beta.ppf(0.0125, 5, 996)
    high = beta.ppf(0.9875, 116, 885) + beta.ppf(0.9875, 6, 995)
    assert found.domain_confidence_interval == pytest.approx((0.01 + 0.2 * low,
                                                                   0.01 + 0.2 * high))  # fmt: skip


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_less_is_left_open_than_by_counting_the_fair(steps: int) -> None:
    """Before, whoever is not counted as fair and not drawn as fair passed as possibly unfair."""
    for seed in range(6):
        problem = searched(seed, size=40)
        search = searched_for(problem, steps)
        shares = search.shares
        if search.boxes["cover"].sum() < 1e-6:
            continue
        draws = draw_open(search, 2000, np.random.default_rng(seed))
        answers = ask(*problem, draws.points)
        found = remainder_of(answers, draws, shares, 0.95)
        assert found is not None
        fair = int((~answers.unfair).sum())
        for risk in (0.025, 0.0125):  # the first without its price
            before = 1 - shares.certified - draws.measure * beta.ppf(risk, fair, draws.tries)
        assert found.domain_confidence_interval[1] <= max(before, shares.falsified) + 1e-9


def test_of_a_domain_that_is_decided_nothing_is_estimated() -> None:
    network, domain = searched(4, size=10)
    truth = truth_of(network, domain)
    outcome = certify_network(
        network, domain, CertificationParameters(time_limit=None, undecided=0)
    )
    assert outcome.remainder is None
    assert outcome.shares.falsified == pytest.approx(truth.share(~truth.fair))
    assert outcome.shares.undecided == 0
