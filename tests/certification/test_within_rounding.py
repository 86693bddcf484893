"""Enumeration: people whose decision another order of summation may change are counted."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of
from hypothesis import given, settings
from sklearn.linear_model import LogisticRegression
from small_problems import problems

import testsgd
from testsgd.certification import CertificationParameters, certify_network
from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import build_problem
from testsgd.certification.report.layout import certification_layout
from testsgd.certification.report.summarise import summarise_certification
from testsgd.certification.report.summary import CertificationSummary, CertificationVerdict
from testsgd.certification.search import enumerate_people


@given(problem=problems(weighted=True))
@settings(max_examples=100)
def test_whoever_differs_between_two_orders_is_counted(
    problem: tuple[FeedForward, Domain],
) -> None:
    everybody = enumerate_people(*problem, build_problem(*problem))
    truth = truth_of(*problem)
    assert np.array_equal(everybody.answers.points, truth.people)
    assert np.allclose(everybody.weights, truth.weights)
    unsure = (truth.possible.sum(axis=2) > 1).any(axis=1)
    assert everybody.within_rounding >= int(unsure.sum())
    unfair = (truth.answers != truth.answers[:, :1]).any(axis=1)
    # Fairness that no order changes: one decision is possible for all, or two differ surely.
    same_for_all = everybody.surely_fair
    assert not (same_for_all & (unsure | unfair)).any()
    assert unfair[everybody.surely_unfair].all()
    # All others decide as the model does when it is run by hand.
    same = (everybody.answers.decisions == truth.answers).all(axis=1)
    assert (~same).sum() <= everybody.within_rounding


def _summed(bias: float) -> tuple[FeedForward, Domain]:
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "summed", "made up",
        (DenseLayer(np.array([[0.1], [0.2], [0.0]]), np.array([bias]), "linear"),),
        tuple(InputColumns(name, number) for name in "abp"),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", 0, 9), IntegerInput("b", 0, 9), IntegerInput("p", 0, 1))
    return network, Domain("summed", inputs, ("p",), ((0.0,), (1.0,)))


def test_ties_are_counted_and_only_they() -> None:
    # 0.1 a + 0.2 b is 0.9 for a = 1, 3, 5, 7, 9 and one b each; not for the others.
    parameters = CertificationParameters()
    assert certify_network(*_summed(-0.9), parameters).within_rounding == 5
    assert certify_network(*_summed(-0.95), parameters).within_rounding == 0


def test_steep_sums_before_a_sigmoid_raise_no_warning() -> None:
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "steep", "made up",
        (
            DenseLayer(np.array([[-1e3], [7.0]]), np.zeros(1), "sigmoid"),
            DenseLayer(np.ones((1, 1)), np.array([-0.5]), "linear"),
        ),
        (InputColumns("a", number), InputColumns("p", number)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", -5, 5), IntegerInput("p", 0, 1))
    domain = Domain("steep", inputs, ("p",), ((0.0,), (1.0,)))
    shares = certify_network(network, domain, CertificationParameters()).shares
    # At 0 the first is at the threshold, so not above it, and the second is far above.
    assert shares.certified == pytest.approx(10 / 11)


def _certified(man: float, **gates: float) -> CertificationSummary:
    """Return what is certified of a score 0.1 a + 0.2 b + man * p that says yes above 0.9."""
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "gated", "made up",
        (DenseLayer(np.array([[0.1], [0.2], [man]]), np.array([-0.9]), "linear"),),
        tuple(InputColumns(name, number) for name in "abp"),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    inputs = (IntegerInput("a", 0, 9), IntegerInput("b", 0, 9), IntegerInput("p", 0, 1))
    domain = Domain("gated", inputs, ("p",), ((0.0,), (1.0,)))
    certification = certify_network(network, domain, CertificationParameters(**gates))  # type: ignore[arg-type]
    return summarise_certification(certification)


def _gated(man: float, **gates: float) -> CertificationVerdict:
    return _certified(man, **gates).verdict


def test_a_gate_that_rounding_decides_lacks_evidence() -> None:
    # As a man everybody has 0.1 more. With 0.9 as a woman or as a man it hangs on rounding whether
    # both get one decision. There are five people of each kind, and all others are fair.
    for limit in (0.0, 0.01, 0.04, 0.06, 0.09):
        verdict = _gated(0.1, fail_above=limit)
        assert (verdict.status, verdict.exit_code) == ("not_enough_evidence", 3)
        assert "up to 10" in verdict.rules[0].sentence
        assert "More time" not in verdict.rules[0].sentence
        assert "provably" not in verdict.headline
    assert _gated(0.1, fail_above=0.1).exit_code == 0
    assert _gated(0.1, fail_below=0.9).exit_code == 0
    assert _gated(0.1, fail_below=0.91).exit_code == 3


def test_people_who_are_surely_unfair_count_though_one_of_their_sums_is_near() -> None:
    # From 0.5 to 0.8 as a woman, and so above 0.9 as a man, is surely unfair; 0.4 and 0.9 are near.
    surely = sum(4 < a + 2 * b < 9 for a in range(10) for b in range(10)) / 100
    assert _gated(0.5, fail_above=surely).exit_code == 3
    assert _gated(0.5, fail_above=surely - 0.01).exit_code == 1


def test_a_gate_that_holds_however_sums_are_rounded_passes() -> None:
    # Only the five people with 0.9 as a woman are near, and surely get a yes as a man.
    assert _gated(0.05, fail_above=0.0).exit_code == 3
    assert _gated(0.05, fail_above=0.05).exit_code == 0


@pytest.mark.parametrize("is_near", [True, False])
def test_a_report_calls_nothing_proved_that_rounding_decides(is_near: bool) -> None:
    summary = _certified(0.1)
    if not is_near:
        summary = summary.model_copy(update={"within_rounding": 0, "however_rounded": None})
    text = str(certification_layout(summary).figures)
    assert ("Proved fair" in text) is not is_near
    assert ("rounding" in text) is is_near


@pytest.mark.parametrize(("intercept", "decision"), [(0.0, None), (1.0, "1")])
def test_one_decision_for_all_is_named_only_if_rounding_cannot_change_it(
    intercept: float, decision: str | None
) -> None:
    model = LogisticRegression().fit([[0, 0], [9, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[0.0, 0.0]], [intercept]
    people = [[skill, man] for skill in range(10) for man in (0, 1)]
    assert len(set(model.predict(people).tolist())) == 1
    ranges = {"inputs": {"skill": {"integer": [0, 9]}, "man": {"integer": [0, 1]}}}
    summary = testsgd.certify(model, ranges, protected="man").summary
    assert summary.within_rounding == (0 if decision else 10)
    assert summary.only_decision == decision
    same = [text for text in summary.verdict.sentences if "the same decision" in text]
    assert len(same) == (decision is not None)
