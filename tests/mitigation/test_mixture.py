"""Mixtures of models: expected figures of decisions that are drawn."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from testsgd.data import Table
from testsgd.mitigation.exponentiated_gradient import ConstantModel, Mixture
from testsgd.sampling import explore_neighbourhood


class Older:
    """Favours whoever is older than a limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def decisions(self, people: pd.DataFrame) -> np.ndarray:
        return (people["age"] > self.limit).to_numpy()


def test_probabilities_are_what_drawing_comes_to() -> None:
    people = pd.DataFrame({"age": np.arange(100)})
    mixture = Mixture((Older(20), Older(50), Older(80)), np.array([0.5, 0.3, 0.2]))
    generator = np.random.default_rng(0)
    draws = generator.choice(3, size=40_000, p=mixture.weights)
    decisions = np.array([model.decisions(people) for model in mixture.models])
    shares = np.bincount(draws, minlength=3) / len(draws)
    # The standard error of a share is at most 0.0025.
    assert mixture.probabilities(people) == pytest.approx(shares @ decisions, abs=0.0125)


def test_expected_figures_are_those_of_the_probabilities() -> None:
    people = pd.DataFrame({"age": np.arange(100)})
    labels = np.arange(100) % 3 == 0
    inside = np.arange(100) < 40
    mixture = Mixture((Older(20), Older(70)), np.array([0.25, 0.75]))
    chances = mixture.probabilities(people)
    decisions = [model.decisions(people) for model in mixture.models]

    rates = [float(some[inside].mean()) for some in decisions]
    assert mixture.expected(rates) == pytest.approx(chances[inside].mean())
    accuracies = [float((some == labels).mean()) for some in decisions]
    assert mixture.expected(accuracies) == pytest.approx(
        np.where(labels, chances, 1 - chances).mean()
    )


def test_a_figure_that_is_not_known() -> None:
    mixture = Mixture((Older(20), Older(70)), np.array([0.25, 0.75]))
    assert math.isnan(mixture.expected([0.5, float("nan")]))
    with pytest.raises(ValueError, match="1 figures for 2 models"):
        mixture.expected([0.5])


@pytest.mark.parametrize("weights", [[0.5, 0.4], [1.5, -0.5], [1.0, 0.0], [1.0]])
def test_weights_that_are_no_chances(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Mixture((Older(20), Older(70)), np.array(weights))


@pytest.mark.parametrize("favourable", [True, False])
def test_a_constant_can_be_audited(favourable: bool, demo_table: Table) -> None:
    some = demo_table.sample(100, seed=0)
    found = explore_neighbourhood(ConstantModel(favourable), some)
    assert found.favourable.tolist() == [found.size * favourable] * 100
