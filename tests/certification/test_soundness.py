"""What is proved is true: against everybody of small domains, however early the search stops."""

from __future__ import annotations

from itertools import count

import pytest
from enumeration import Truth, truth_of
from hypothesis import given, settings
from hypothesis import strategies as st
from searched_problems import searched
from small_problems import large_problems, problems, without_idle

from testsgd.certification import Certification, CertificationParameters, Shares, certify_network
from testsgd.certification.domain import Domain
from testsgd.certification.network import FeedForward

# Shares are sums of up to some thousands of float64, and are compared with sums in another order.
_SUMMING = 1e-9

_LINEAR_PIECES = ("relu", "leaky_relu")


def _certified(network: FeedForward, domain: Domain, **settings: float | None) -> Certification:
    parameters = CertificationParameters(**{"time_limit": None, "samples": 0, **settings})  # type: ignore[arg-type]  # settings of all types
    return certify_network(network, domain, parameters)


def _undecidable(outcome: Certification, truth: Truth) -> float:
    """Give the largest share that may depend on how the machine rounds."""
    return outcome.within_rounding * float(truth.weights.max()) + _SUMMING


def _check_below(shares: Shares, truth: Truth, slack: float) -> None:
    assert shares.certified <= truth.share(truth.surely_fair) + slack
    assert shares.falsified <= truth.share(truth.surely_unfair) + slack
    assert shares.undecided >= 0
    assert shares.certified + shares.falsified + shares.undecided == pytest.approx(1, abs=1e-9)


@given(problem=problems(), share=st.sampled_from((0.9, 0.5, 0.1)))
@settings(max_examples=60)
def test_never_exceed_the_truth_when_little_is_asked(
    problem: tuple[FeedForward, Domain], share: float
) -> None:
    outcome = _certified(*problem, undecided=share)
    truth = truth_of(*problem)
    for moment in outcome.moments:
        _check_below(moment.shares, truth, _undecidable(outcome, truth))
    _check_below(outcome.shares, truth, _undecidable(outcome, truth))


@given(problem=problems(), looks=st.integers(0, 6))
@settings(max_examples=60)
def test_never_exceed_the_truth_when_stopped(
    problem: tuple[FeedForward, Domain], looks: int
) -> None:
    asked = count()
    parameters = CertificationParameters(time_limit=None, samples=0)
    outcome = certify_network(*problem, parameters, should_stop=lambda: next(asked) >= looks)
    truth = truth_of(*problem)
    _check_below(outcome.shares, truth, _undecidable(outcome, truth))


@given(problem=problems())
@settings(max_examples=30)
def test_never_exceed_the_truth_without_time(problem: tuple[FeedForward, Domain]) -> None:
    outcome = _certified(*problem, time_limit=1e-9)
    truth = truth_of(*problem)
    _check_below(outcome.shares, truth, _undecidable(outcome, truth))


@pytest.mark.slow
@given(problem=large_problems(weighted=True))
@settings(max_examples=60)
def test_never_exceed_the_truth_of_domains_too_large_to_enumerate(
    problem: tuple[FeedForward, Domain],
) -> None:
    network, domain = problem
    outcome = _certified(network, domain, time_limit=0.02)
    truth = truth_of(network, without_idle(domain))
    assert outcome.method == "bounded"
    for moment in outcome.moments:
        _check_below(moment.shares, truth, _SUMMING)
    _check_below(outcome.shares, truth, _SUMMING)


@given(problem=problems(weighted=True))
@settings(max_examples=60)
def test_the_end_is_the_truth(problem: tuple[FeedForward, Domain]) -> None:
    outcome = _certified(*problem)
    truth = truth_of(*problem)
    slack = _undecidable(outcome, truth)
    _check_below(outcome.shares, truth, slack)
    assert outcome.stopped == "done"
    assert outcome.shares.undecided <= _SUMMING
    assert outcome.shares.certified == pytest.approx(truth.share(truth.fair), abs=slack)
    assert outcome.points == len(truth.people)


@given(problem=problems(activations=_LINEAR_PIECES))
@settings(max_examples=40)
def test_counterexamples_are_people_of_the_domain(problem: tuple[FeedForward, Domain]) -> None:
    outcome = _certified(*problem)
    truth = truth_of(*problem)
    place = {tuple(person): row for row, person in enumerate(truth.people)}
    for example in outcome.counterexamples:
        row = place[example.values]
        assert len(set(example.decisions)) > 1
        if example.proved:
            assert truth.surely_unfair[row] or outcome.within_rounding
        for combination, decision in enumerate(example.decisions):
            assert truth.possible[row, combination, decision]
    assert bool(outcome.counterexamples) or not truth.surely_unfair.any()


def test_a_search_stops_by_its_time_or_by_the_share_that_is_left_open() -> None:
    problem = searched(2, size=3000)
    most, fewer = (_certified(*problem, undecided=share) for share in (0.3, 0.02))
    assert most.stopped == fewer.stopped == "undecided"
    assert fewer.shares.undecided <= 0.02 < most.shares.undecided <= 0.3
    assert most.boxes < fewer.boxes
    assert _certified(*problem, time_limit=1e-9).stopped == "time"
