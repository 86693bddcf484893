"""Scores of rows by models that were not fitted to them, and the chances that they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.mitigation.frontiers.problem import Places, Problem
from testsgd.models import Model

Floats = NDArray[np.float64]

# Parts of the rows, each scored by a model that was fitted to the others.
_FOLDS = 4
# From places of rows to a model fitted to them.
Fit = Callable[[Places], Model]


@dataclass(frozen=True)
class Scored:
    """Rows with their scores; arrays of shape (rows,)."""

    places: Places  # Ascending.
    scores: Floats  # More means the favourable label.
    chances: Floats  # Of the favourable label.
    threshold: float  # A score above it gets the label where no other threshold is chosen.
    decisions: NDArray[np.bool_]  # Who gets it by the original.
    # Whether the original may have learnt these rows' labels by heart, and the scores not.
    learnt_by_heart: bool = False


def scores_of(problem: Problem, model: Any, places: Places) -> Floats | None:
    """Return a model's scores of some rows; None if it gives labels only."""
    scores = getattr(model, "scores", None)
    if scores is None:
        return None
    found = scores(problem.frame(places))
    return None if found is None else np.asarray(found, dtype=np.float64)


def cross_fitted_scores(problem: Problem, model: Model, fit: Fit) -> Scored | None:
    """Score all rows that were seen by models fitted to the other ones.

    The chances are the scores, calibrated by isotonic regression.
    """
    from sklearn.model_selection import StratifiedKFold

    places, labels = problem.seen, problem.favourable[problem.seen]
    fewest = int(np.bincount(labels, minlength=2).min())
    if fewest < _FOLDS or scores_of(problem, model, places[:1]) is None:
        return None
    scores = np.zeros(len(places))
    splitter = StratifiedKFold(_FOLDS, shuffle=True, random_state=problem.parameters.seed)
    for fitted, others in splitter.split(places, labels):
        found = scores_of(problem, fit(places[fitted]), places[others])
        if found is None:
            return None
        scores[others] = found
    threshold = _threshold(model)
    return Scored(
        places=places,
        scores=scores,
        chances=chances_of_scores(scores, labels),
        threshold=threshold,
        decisions=scores > threshold,
    )


def own_scores(problem: Problem, model: Model) -> Scored | None:
    """Score all rows that were seen by a model that was fitted to the training rows.

    It may know the labels of these by heart, so the chances are cross-fitted probabilities.
    """
    scores = scores_of(problem, model, problem.seen)
    chances = problem.material.probabilities()
    if scores is None or chances is None:
        return None
    threshold = _threshold(model)
    return Scored(
        places=problem.seen,
        scores=scores,
        chances=chances[problem.seen],
        threshold=threshold,
        decisions=scores > threshold,
    )


def chances_of_scores(scores: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Return the chances of the favourable label that scores mean, by isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    regression = IsotonicRegression(out_of_bounds="clip").fit(scores, labels)
    return np.asarray(regression.predict(scores), dtype=np.float64)


def _threshold(model: Any) -> float:
    """Return the score above which a row gets the favourable label; one half of probabilities."""
    given = getattr(model, "threshold", None)
    return 0.5 if given is None else float(given)
