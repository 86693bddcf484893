"""Networks that are trained on with a penalty on the worst differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.mitigation.compared_rates import OBJECTIVES
from testsgd.mitigation.cross_fitted_play import Judge
from testsgd.mitigation.frontier import FrontierPoint, point_of
from testsgd.mitigation.frontiers.candidates import Candidate
from testsgd.mitigation.frontiers.playing import RefittedModel
from testsgd.mitigation.frontiers.problem import Bools, FairModel, Problem
from testsgd.mitigation.penalised_networks import STRENGTHS, PenalisedModel, penalised_models
from testsgd.models import refitter_for
from testsgd.models.refitting import Refitter
from testsgd.progress import PhaseProgress

Floats = NDArray[np.float64]

# A network is trained against groups of as many rules as leave no more rule sets than these, of
# all rates together.
_MOST_GROUPS = 100_000
# Parts of the rows: what makes the probabilities of each right is from the labels of the others.
_FOLDS = 5
# Newton's steps towards an offset; they come to rest after a few.
_STEPS = 20


def penalty_candidates(problem: Problem, *, advance: PhaseProgress) -> list[Candidate]:
    """Train a network on with one strength after another.

    `advance` is called with how many strengths are done, and how many there are.

    The training rows are learnt by cross-fitted probabilities, since a network that goes on knows
    their labels. Which of them a rate counts is by their true labels. What is lost is expected by
    all rows that are not held out: by the labels of validation rows, and by the cross-fitted
    probabilities of training rows, which are made right in each combination of sensitive values.
    """
    material = problem.material
    parts = material.split.parts
    chances = material.probabilities()
    assert chances is not None
    training = replace(material.examples(parts.train), targets=chances[parts.train])
    validation = material.examples(parts.validation)
    refitter: Refitter[Any] = refitter_for(
        problem.loaded, material.specification, training, validation
    )
    compared = len(OBJECTIVES[problem.parameters.objective])
    rates = problem.rates(parts.train, max_features=problem.depth_for(_MOST_GROUPS // compared))
    if not len(rates):
        return []
    expected = _Expected(problem, chances)
    candidates = []
    trained: Iterator[PenalisedModel[Any]] = penalised_models(
        refitter, rates, seed=problem.parameters.seed
    )
    advance(0, len(STRENGTHS))
    for number, penalised in enumerate(trained, start=1):
        kind = f"{refitter.kind}, with a penalty on the worst differences"
        model = RefittedModel(problem, refitter, penalised.model, kind)
        decisions = model.decisions(problem.seen)
        candidates.append(
            Candidate(
                expected.point(penalised.strength, decisions),
                partial(_same, model),
                # The labels of training rows may be known to the original by heart.
                places=parts.validation,
                decisions=decisions[expected.validated],
                before=expected.before[expected.validated],
            )
        )
        advance(number, len(STRENGTHS))
    return candidates


def calibrated_in_cells(
    chances: Floats, labels: Bools, cells: NDArray[np.intp], *, folds: NDArray[np.intp]
) -> Floats:
    """Return probabilities that are right on average in each cell of the sensitive features.

    A model of all rows may miss what happens to few of them, and a discrimination is just that. So
    the log odds of a cell get an offset, the most probable one by the labels of its rows in the
    other folds, where offsets are normal with mean 0 and variance 1 beforehand. No row's own label
    has a part in its probability, and a cell of few rows stays nearly as it is.

    Parameters
    ----------
    chances : numpy.ndarray of shape (rows,)
        Probabilities of the favourable label, above 0 and below 1.
    labels, cells, folds : numpy.ndarray of shape (rows,)
        Which rows have it; the combination of sensitive values of each, and its fold, from 0.

    Returns
    -------
    numpy.ndarray of shape (rows,)

    Examples
    --------
    >>> labels = np.arange(400) % 4 == 0
    >>> cells, folds = np.arange(400) // 200, np.arange(400) // 4 % 5
    >>> calibrated_in_cells(np.full(400, 0.5), labels, cells, folds=folds).round(1)[::200]
    array([0.3, 0.3])
    """
    log_odds = np.log(chances / (1 - chances))
    count = int(cells.max(initial=-1)) + 1
    found = chances.copy()
    for fold in np.unique(folds):
        own, others = folds == fold, folds != fold
        offsets = np.zeros(count)
        for _ in range(_STEPS):
            expected = _sigmoid(log_odds[others] + offsets[cells[others]])
            missing = np.bincount(cells[others], labels[others] - expected, count) - offsets
            slopes = np.bincount(cells[others], expected * (1 - expected), count) + 1
            offsets += missing / slopes
        found[own] = _sigmoid(log_odds[own] + offsets[cells[own]])
    return found


def _sigmoid(log_odds: Floats) -> Floats:
    # By the hyperbolic tangent, which is finite everywhere.
    return np.asarray((1 + np.tanh(log_odds / 2)) / 2)


def _same(model: RefittedModel) -> FairModel:
    return model


class _Expected:
    """What is expected of networks, by rows whose labels they have not learnt."""

    def __init__(self, problem: Problem, chances: Floats) -> None:
        places = problem.seen
        self.before = problem.material.decisions(problem.loaded.model, places)
        self.validated = np.isin(places, problem.material.split.parts.validation)
        if not self.validated.any():
            raise ModelError(
                "there are no validation rows to choose a strength by",
                where=f"model {problem.loaded.model.name!r}",
                remedy="give more rows, or --method thresholds",
            )
        labels = problem.favourable[places]
        cells = problem.contingency.cell_of_row[places].astype(np.intp)
        folds = np.random.default_rng(problem.parameters.seed).permutation(len(places)) % _FOLDS
        right = calibrated_in_cells(chances[places], labels, cells, folds=folds)
        self._judge = Judge(problem.rates(places), labels, np.full(len(places), 1 / len(places)))
        # How probable it is that each row has the favourable label.
        self._chances = np.where(self.validated, labels, right)

    def point(self, strength: float, decisions: Bools) -> FrontierPoint:
        """Return what a strength costs and brings.

        The errors of accuracies are those of the labels: as many rows with labels drawn by their
        probabilities would have them.
        """
        rows, chances = len(decisions), self._chances
        accuracy = float(np.where(decisions, chances, 1 - chances).mean())
        # A changed decision is right by one probability less the other.
        changed = self.before.astype(np.float64) - decisions
        lost = float((changed * (2 * chances - 1)).mean())
        by_label = [weights / weights.sum() for weights in (chances, 1 - chances)]
        return replace(
            point_of(strength, self.before, decisions[None], self._judge),
            accuracy=accuracy,
            accuracy_error=float(np.sqrt(accuracy * (1 - accuracy) / rows)),
            accuracy_drop=lost,
            accuracy_drop_error=float(np.sqrt(((changed**2).mean() - lost**2) / rows)),
            balanced_drop=float(changed @ (by_label[0] - by_label[1]) / 2),
        )


def needs_network(problem: Problem) -> ModelError:
    """Return the error that a penalty is for networks."""
    return ModelError(
        "a penalty is for networks that can be trained on, and the model is of another kind: "
        f"{problem.loaded.model.kind}",
        where=f"model {problem.loaded.model.name!r}",
        remedy="write --method play or thresholds",
    )
