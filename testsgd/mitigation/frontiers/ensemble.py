"""Thresholds of the mean score of several learners, in place of the model's own scores.

A boosting, a forest and a logistic regression together may be right about more rows than the model
is alone. What accuracy they gain can be spent on the worst difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import DatasetSpecification
from testsgd.errors import ModelError
from testsgd.mitigation.frontiers.playing import RefittedModel
from testsgd.mitigation.frontiers.problem import Bools, FairModel, Places, Problem
from testsgd.mitigation.frontiers.scored import Scored, chances_of_scores
from testsgd.models import Model, load_model
from testsgd.models.failures import failure_text
from testsgd.models.refitting import Refitter, refitter_for
from testsgd.models.refitting.estimators import EstimatorRefitter

Floats = NDArray[np.float64]

# Parts of the rows, each scored by learners that were fitted to the others.
_FOLDS = 10
# A score above it gets the favourable label.
_THRESHOLD = 0.5
_TREES = 300
# What a card says of the network it was written for, and not of the learners.
_OF_NETWORKS = ("network", "paper accuracy")


@dataclass(frozen=True)
class MeanScore:
    """The mean probability of the favourable label by fitted learners."""

    vote: Any  # A fitted ``VotingClassifier``.
    features: tuple[str, ...]
    column: int  # Which of its classes is the favourable label.
    threshold: float = _THRESHOLD

    def scores(self, frame: pd.DataFrame) -> Floats:
        """Return the scores of rows, shape (rows,)."""
        probabilities = self.vote.predict_proba(frame[list(self.features)])
        return np.asarray(probabilities[:, self.column], dtype=np.float64)


def ensemble_scores(
    problem: Problem, refitter: Refitter[Model] | None
) -> tuple[FairModel, MeanScore, Scored]:
    """Fit the learners; return what writes them, what gives their scores, and those of rows.

    Rows are scored by learners that were not fitted to them. What the original decides about them
    is cross-fitted likewise where it can be fitted again. A network may know the labels of its
    training rows by heart, so that its accuracy counts as expected by the learners' chances.

    Raises
    ------
    ModelError
        If a learner cannot be fitted to the rows.
    """
    table = problem.material.table
    features = tuple(table.specification.features)
    rows = problem.frame(problem.seen)[list(features)]
    vote = _learners(
        table.specification, seed=problem.parameters.seed, jobs=problem.parameters.jobs
    )
    labels = _labels(problem)
    refits = isinstance(refitter, EstimatorRefitter)
    scores, decisions = _cross_fitted(problem, vote, rows, labels, refits=refits)
    vote = _fit(vote, rows, labels)
    writer = _writer(problem, vote)
    kind = "the mean score of a boosting, a forest and a logistic regression"
    base = RefittedModel(problem, writer, writer.reading(vote), kind)
    scored = Scored(
        places=problem.seen,
        scores=scores,
        chances=chances_of_scores(scores, problem.favourable[problem.seen]),
        threshold=_THRESHOLD,
        decisions=decisions,
        learnt_by_heart=not refits,
    )
    return base, _mean_score(vote, features, table.specification.label.favourable), scored


def _labels(problem: Problem) -> NDArray[Any]:
    """Return the favourable label, or one that is not, of all rows that were seen, (rows,)."""
    table = problem.material.table
    label = table.specification.label
    assert table.labels is not None
    known = label.values or np.unique(table.labels.astype(str)).tolist()
    other = next(value for value in known if value != label.favourable)
    return np.where(problem.favourable[problem.seen], label.favourable, other)


def _cross_fitted(
    problem: Problem, vote: Any, rows: pd.DataFrame, labels: NDArray[Any], *, refits: bool
) -> tuple[Floats, Bools]:
    """Return the mean scores of the rows that were seen, and what the original decides, (rows,).

    Each fold is scored by learners that were fitted to the others. With `refits` the original is
    fitted again likewise; else it decides as it is.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    places = problem.seen
    features = tuple(rows.columns)
    label = problem.material.specification.label.favourable
    fewest = int(np.bincount(labels == label, minlength=2).min())
    if fewest < _FOLDS:
        raise ModelError(
            f"only {fewest} of the rows that are not held out have one of the labels",
            where="method ensemble",
            remedy="give more rows, or another method",
        )
    scores = np.zeros(len(places))
    decisions = problem.material.decisions(problem.loaded.model, places)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=problem.parameters.seed)
    for fitted, others in folds.split(rows, labels):
        of_fold = _fit(clone(vote), rows.iloc[fitted], labels[fitted])
        scores[others] = _mean_score(of_fold, features, label).scores(rows.iloc[others])
        if refits:
            decisions[others] = _original_decisions(problem, places[fitted], places[others])
    return scores, decisions


def _learners(specification: DatasetSpecification, *, seed: int, jobs: int | None) -> Any:
    """Return the learners, unfitted, as a vote of scikit-learn's, whose file needs no testsgd."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        VotingClassifier,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    kinds = {name: feature.type for name, feature in specification.features.items()}
    categories = [name for name, kind in kinds.items() if kind == "categorical"]
    numbers = [name for name, kind in kinds.items() if kind != "categorical"]

    def numbered() -> Any:
        codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2
        )
        return make_column_transformer((codes, categories), (SimpleImputer(), numbers))

    spread = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), categories),
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
    )
    boosting = HistGradientBoostingClassifier(
        learning_rate=0.03,
        max_iter=150,
        max_leaf_nodes=8,
        min_samples_leaf=30,
        l2_regularization=1.0,
        random_state=seed,
    )
    forest = RandomForestClassifier(
        _TREES, min_samples_leaf=5, random_state=seed, n_jobs=-1 if jobs is None else jobs
    )
    logistic = LogisticRegression(C=0.3, max_iter=5000)
    named = [
        ("boosting", make_pipeline(numbered(), boosting)),
        ("forest", make_pipeline(numbered(), forest)),
        ("logistic", make_pipeline(spread, logistic)),
    ]
    return VotingClassifier(named, voting="soft")


def _fit(vote: Any, rows: pd.DataFrame, labels: NDArray[Any]) -> Any:
    try:
        vote.fit(rows, labels)
        # Trees that answer side by side are summed in any order, and equal rows must stay equal.
        vote.named_estimators_["forest"].set_params(randomforestclassifier__n_jobs=1)
        return vote
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"a boosting, a forest and a logistic regression cannot be fitted to the rows: "
            f"{failure_text(error)}",
            where="method ensemble",
            remedy="give values of one type in each column, or another method",
        ) from error


def _mean_score(vote: Any, features: tuple[str, ...], favourable: str) -> MeanScore:
    return MeanScore(vote, features, list(vote.classes_).index(favourable))


def _original_decisions(problem: Problem, fitted: Places, asked: Places) -> Bools:
    """Return what the original decides about some rows when it is fitted to others."""
    material = problem.material
    examples = material.examples(fitted)
    refitted = refitter_for(problem.loaded, material.specification, examples, examples)
    [stage] = refitted.refit(None, seed=problem.parameters.seed)
    return material.decisions(stage.model, asked)


def _writer(problem: Problem, vote: Any) -> EstimatorRefitter:
    """Return what writes the fitted learners, with what the card says of data and rows."""
    specification = problem.material.table.specification
    loaded = load_model(vote, specification)
    card: Mapping[str, Any] = {
        key: value for key, value in problem.loaded.card.items() if key not in _OF_NETWORKS
    }
    training = problem.material.examples(problem.seen)
    model: Any = loaded.model
    return EstimatorRefitter(vote, model, specification.label, card, training)
