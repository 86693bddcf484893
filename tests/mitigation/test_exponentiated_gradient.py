"""Fairlearn's exponentiated gradient with few trainings: fair, and hardly worse than the best."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from threshold_refitter import (
    LIMIT_PAIRS,
    Decider,
    ThresholdRefitter,
    applicants,
    exponentiated_gradient,
)

from testsgd.errors import DataError, MissingExtraError, ParameterError
from testsgd.mitigation.exponentiated_gradient import (
    DIFFERENCE_BOUND,
    ConstantModel,
    Mixture,
)
from testsgd.models.refitting import Examples

fairlearn = pytest.mark.fairlearn


def least_error(training: Examples, members: NDArray[np.bool_], bound: float) -> float:
    """Solve the problem by linear programming: chances of all deciders there are."""
    decisions = np.array([Decider(pair).decisions(training.inputs) for pair in LIMIT_PAIRS])
    errors = (decisions != training.favourable).mean(axis=1)
    overall = decisions.mean(axis=1)
    gaps = [decisions[:, side].mean(axis=1) - overall for side in (members, ~members)]
    rows = np.array([sign * gap for gap in gaps for sign in (1, -1)])
    solution = linprog(
        errors, A_ub=rows, b_ub=np.full(4, bound), A_eq=np.ones((1, len(errors))), b_eq=[1.0]
    )
    return float(solution.fun)


def error_of(mixture: Mixture, training: Examples) -> float:
    chances = mixture.probabilities(training.inputs)
    return float(np.where(training.favourable, 1 - chances, chances).mean())


def gap_of(mixture: Mixture, training: Examples, members: NDArray[np.bool_]) -> float:
    chances = mixture.probabilities(training.inputs)
    return float(abs(chances[members].mean() - chances.mean()))


@fairlearn
@pytest.mark.parametrize("seed", range(5))
def test_as_good_as_the_linear_program(seed: int) -> None:
    training, members = applicants(600, seed)
    unfair = least_error(training, members, bound=1.0)
    best = least_error(training, members, bound=DIFFERENCE_BOUND)
    assert best > unfair + 0.018

    mixture = exponentiated_gradient(ThresholdRefitter(training), training, members)
    assert mixture.weights.sum() == pytest.approx(1)
    assert mixture.trainings <= 10
    assert gap_of(mixture, training, members) <= DIFFERENCE_BOUND + 1e-6
    # Ten of the trainings that the linear program has 64 of.
    assert error_of(mixture, training) <= best + 0.01


@fairlearn
def test_what_the_refitter_is_asked_for() -> None:
    training, members = applicants(300, seed=1)
    refitter = ThresholdRefitter(training)
    mixture = exponentiated_gradient(refitter, training, members, max_rounds=4, seed=7)

    assert 2 <= len(refitter.calls) <= 4
    assert mixture.trainings == len(refitter.calls)
    first_weights, first_labels, _ = refitter.calls[0]
    # At first nothing is known of the gap: every example counts the same, by its own label.
    assert first_weights == pytest.approx(np.ones(300))
    assert first_labels.tolist() == training.favourable.tolist()
    # Later some members who do not have the label are to get it.
    assert any((labels & ~training.favourable)[members].any() for _, labels, _ in refitter.calls)
    for weights, labels, seed in refitter.calls:
        assert len(weights) == len(labels) == 300
        assert weights.min() >= 0
        assert weights.mean() == pytest.approx(1)
        assert seed == 7
    # The last stage of each training, not the first, which favours all.
    assert Decider((0, 0)) not in mixture.models


@fairlearn
def test_the_same_again() -> None:
    training, members = applicants(300, seed=2)
    first, second = (
        exponentiated_gradient(ThresholdRefitter(training), training, members) for _ in range(2)
    )
    assert first.models == second.models
    assert first.weights.tolist() == second.weights.tolist()


@fairlearn
def test_one_training_is_not_fair_but_the_best() -> None:
    training, members = applicants(600, seed=3)
    mixture = exponentiated_gradient(ThresholdRefitter(training), training, members, max_rounds=1)
    assert mixture.trainings == 1
    assert error_of(mixture, training) == pytest.approx(least_error(training, members, bound=1.0))


@fairlearn
def test_one_label_only_needs_no_training() -> None:
    training, members = applicants(100, seed=4)
    everybody = Examples(training.inputs, np.ones(100, dtype=bool))
    mixture = exponentiated_gradient(ThresholdRefitter(everybody), everybody, members)
    assert mixture.trainings == 0
    assert [type(model) for model in mixture.models] == [ConstantModel]
    assert mixture.probabilities(training.inputs).tolist() == [1.0] * 100


def test_without_fairlearn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fairlearn.reductions", None)
    training, members = applicants(50, seed=0)
    with pytest.raises(MissingExtraError, match=r"pip install 'testsgd\[fairlearn\]'"):
        exponentiated_gradient(ThresholdRefitter(training), training, members)


def test_mistakes() -> None:
    training, members = applicants(50, seed=0)
    refitter = ThresholdRefitter(training)
    with pytest.raises(ParameterError, match="max_rounds: 0 is not at least 1"):
        exponentiated_gradient(refitter, training, members, max_rounds=0)
    with pytest.raises(DataError, match="0 of the 50 training examples are in the group"):
        exponentiated_gradient(refitter, training, np.zeros(50, dtype=bool))
    with pytest.raises(DataError, match="50 of the 50 training examples are in the group"):
        exponentiated_gradient(refitter, training, np.ones(50, dtype=bool))
    with pytest.raises(ValueError, match="49 members for 50"):
        exponentiated_gradient(refitter, training, members[1:])
    weighted = Examples(training.inputs, training.favourable, np.ones(50))
    with pytest.raises(ParameterError, match="the training examples have weights"):
        exponentiated_gradient(refitter, weighted, members)
