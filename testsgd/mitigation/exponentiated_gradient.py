"""Fairlearn's exponentiated gradient, with any model that can be refitted.

The method seeks a mixture of models with the least error among those that give a group the
favourable label as often as everybody else. It asks for one training after another, each with
weights and labels of its own for the training examples. Here the trainings are few: a problem that
is nearly one solved before gets the model found then, and once they are used up each further
problem gets the best of the models that there are. Fairlearn, which only weighs the models, goes on
until it converges.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import DataError, MissingExtraError, ParameterError
from testsgd.models import PlainRows, PreparedRows
from testsgd.models.answers import Output
from testsgd.models.refitting import Examples, Trainer

# Rates of the group and of all may differ by so much.
DIFFERENCE_BOUND = 0.01

# Fairlearn's own rounds cost next to nothing once the trainings are used up.
_ITERATIONS = 50

# Two problems are nearly the same if so small a share of all costs differs.
_SAME = 0.02

# Chances below it are the rounding errors of a linear program.
_LEAST_WEIGHT = 1e-6


def exponentiated_gradients(
    refitter: Trainer[Any],
    training: Examples,
    members: NDArray[np.bool_],
    *,
    bounds: Sequence[float],
    others: NDArray[np.bool_] | None = None,
    max_rounds: int = 10,
    seed: int = 0,
) -> tuple[Mixture, ...]:
    """Find mixtures of models that treat a group and the rest more and more alike.

    `others` are the group's complement, if these are not all others: what belongs to neither is a
    group of its own.

    Source: Agarwal et al., A reductions approach to fair classification, ICML 2018.
    """
    _check(training, members, max_rounds)
    try:
        from fairlearn.reductions import DemographicParity, ErrorRate, ExponentiatedGradient
    except ImportError as error:
        raise MissingExtraError(
            "fairlearn", extra="fairlearn", purpose="the exponentiated gradient"
        ) from error
    chances = training.full_targets()

    class ExpectedError(ErrorRate):  # type: ignore[misc]  # fairlearn has no annotations
        """The error that the targets expect, in place of that by labels."""

        def gamma(self, predictor: Any) -> pd.Series[Any]:
            decided = np.asarray(predictor(self.X), dtype=np.float64).ravel()
            wrong = decided * (1 - chances) + (1 - decided) * chances
            return pd.Series(data=wrong.mean(), index=self.index)

        def signed_weights(self, lambda_vec: Any = None) -> pd.Series[Any]:
            weights = pd.Series(2 * chances - 1)
            return weights if lambda_vec is None else lambda_vec.iloc[0] * weights

    trainings = _Trainings(refitter, training, seed=seed)
    indices = np.arange(len(training))[:, None]
    sides = np.where(members, "group", "rest")
    if others is not None:
        sides = np.where(members | others, sides, "neither")
    mixtures = []
    for number, bound in enumerate(bounds, start=1):
        # Each bound has its share of the trainings, and those of the bounds before.
        trainings.most = math.ceil(max_rounds * number / len(bounds))
        method = ExponentiatedGradient(
            _Learner(trainings),
            DemographicParity(difference_bound=bound),
            objective=ExpectedError(),
            max_iter=_ITERATIONS,
        )
        with warnings.catch_warnings():
            # Fairlearn writes to its data frames in ways that pandas will treat otherwise one day.
            warnings.filterwarnings("ignore", category=pd.errors.Pandas4Warning, module="fairlearn")
            method.fit(indices, training.favourable.astype(np.int64), sensitive_features=sides)
        mixtures.append(_mixture(method.predictors_, method.weights_, trainings))
    return tuple(mixtures)


def _check(training: Examples, members: NDArray[np.bool_], max_rounds: int) -> None:
    if max_rounds < 1:
        raise ParameterError(
            f"{max_rounds} is not at least 1", where="max_rounds", remedy="give a whole number"
        )
    if training.weights is not None:
        raise ParameterError(
            "the training examples have weights, which the exponentiated gradient does not know",
            where="exponentiated gradient",
            remedy="leave the weights out, or leave this comparison out",
        )
    if len(members) != len(training):
        raise ValueError(f"{len(members)} members for {len(training)} training examples")
    if not members.any() or members.all():
        raise DataError(
            f"{int(members.sum())} of the {len(members)} training examples are in the group, so "
            "there is nobody to compare with",
            where="exponentiated gradient",
            remedy="give training examples inside and outside of the group",
        )


def _mixture(predictors: pd.Series[Any], weights: pd.Series[Any], trainings: _Trainings) -> Mixture:
    """Put together what Fairlearn found: predictors, and the chance of each."""
    chances: dict[int, float] = {}
    models: dict[int, Any] = {}
    for predictor, weight in zip(predictors, weights[predictors.index], strict=True):
        chance = float(weight)
        if chance < _LEAST_WEIGHT:
            continue
        if isinstance(predictor, _Learner):
            key, model = predictor.index, trainings.models[predictor.index]
        else:
            # Where all costs speak for one label Fairlearn asks for no training.
            favourable = bool(predictor.predict(np.zeros((1, 1)))[0])
            key, model = -1 - favourable, ConstantModel(favourable)
        chances[key] = chances.get(key, 0.0) + chance
        models[key] = model
    found = np.array(list(chances.values()))
    return Mixture(tuple(models.values()), found / found.sum(), len(trainings.models))


class _Trainings:
    """Solves problems of cost-sensitive learning, with few trainings.

    A problem is a signed cost for each training example: its sign says which label is wanted, its
    size what the other one costs. Costs are scaled to a mean size of 1.
    """

    def __init__(self, refitter: Trainer[Any], training: Examples, *, seed: int) -> None:
        self._refitter = refitter
        self._inputs = training.inputs
        self.most = 1
        self._seed = seed
        self._problems: list[NDArray[np.float64]] = []
        self.models: list[Any] = []
        self.decisions: list[NDArray[np.bool_]] = []

    def solve(self, labels: NDArray[np.bool_], weights: NDArray[np.float64]) -> int:
        """Return the place of a model for a problem among all models."""
        problem = np.where(labels, weights, -weights) / np.mean(weights)
        # Where not one label agrees, the costs differ by 2 on average.
        known = any(np.mean(np.abs(problem - solved)) <= 2 * _SAME for solved in self._problems)
        if not known and len(self.models) < self.most:
            self._train(labels, weights)
            self._problems.append(problem)
        # A model that was trained for another problem may do better at this one.
        costs = [np.mean(np.abs(problem) * (given != labels)) for given in self.decisions]
        return int(np.argmin(costs))

    def _train(self, labels: NDArray[np.bool_], weights: NDArray[np.float64]) -> None:
        stages = self._refitter.refit(None, weights=weights, labels=labels, seed=self._seed)
        *_, last = stages
        model = last.model
        self.models.append(model)
        self.decisions.append(model.decisions(self._inputs))


class _Learner:
    """What Fairlearn takes for an estimator: its rows are the places of the training examples."""

    def __init__(self, trainings: _Trainings) -> None:
        self._trainings = trainings
        self.index = -1

    def __sklearn_clone__(self) -> _Learner:
        return _Learner(self._trainings)

    def fit(self, indices: Any, labels: Any, sample_weight: Any) -> _Learner:
        """Find a model for labels and weights of the training examples."""
        self.index = self._trainings.solve(
            np.asarray(labels, dtype=bool), np.asarray(sample_weight, dtype=np.float64)
        )
        return self

    def predict(self, indices: Any) -> NDArray[np.int64]:
        """Return the model's labels, which are known for each training example."""
        rows = np.asarray(indices, dtype=np.intp)[:, 0]
        return self._trainings.decisions[self.index][rows].astype(np.int64)


class ConstantModel:
    """A model of rows or of texts that decides the same on all."""

    output: Output = "labels"
    threshold: float | None = None
    thread_safe = True

    def __init__(self, favourable: bool) -> None:
        self.favourable = favourable
        self.name = "always favourable" if favourable else "never favourable"
        self.kind = "constant"

    def decisions(self, inputs: Any) -> NDArray[np.bool_]:
        """Decide the same on all."""
        return np.full(len(inputs), self.favourable)

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Prepare to decide on variants of `frame`."""
        return PlainRows(self, frame)


@dataclass(frozen=True)
class Mixture:
    """Some models, one of which is drawn for each decision; its figures are expected ones.

    A rate and the accuracy are means over decisions, and the expected mean is the mean of the
    models' own, weighted by their chances: :meth:`expected` puts them together.
    """

    # The models, of rows or of texts; all have a chance above 0.
    models: tuple[Any, ...]
    # Their chances, which sum to 1.
    weights: NDArray[np.float64]
    # How many models were trained to find them.
    trainings: int = 0

    def __post_init__(self) -> None:
        if len(self.models) != len(self.weights) or not self.models:
            raise ValueError(f"{len(self.models)} models and {len(self.weights)} weights")
        if not (self.weights > 0).all() or not math.isclose(self.weights.sum(), 1.0):
            raise ValueError(f"the weights {self.weights.tolist()} are no chances that sum to 1")

    @classmethod
    def of(cls, model: Any) -> Mixture:
        """Return one model, which makes all decisions."""
        return cls((model,), np.ones(1))

    def __len__(self) -> int:
        return len(self.models)

    def probabilities(self, inputs: Any) -> NDArray[np.float64]:
        """Return each row's or text's chance of the favourable label."""
        decisions = [model.decisions(inputs) for model in self.models]
        chances: NDArray[np.float64] = self.weights @ np.array(decisions, dtype=np.float64)
        return chances

    def expected(self, figures: Sequence[float]) -> float:
        """Put together a rate, a difference of rates or the accuracy of each model.

        Not a score: it is the size of the expected difference, which is less than the mean size
        where one model favours the group and another everybody else. NaN if one is not known.
        """
        if len(figures) != len(self.models):
            raise ValueError(f"{len(figures)} figures for {len(self.models)} models")
        return math.fsum(
            weight * figure for weight, figure in zip(self.weights.tolist(), figures, strict=True)
        )
