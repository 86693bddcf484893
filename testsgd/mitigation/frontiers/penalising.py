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
from testsgd.mitigation.penalised_networks import PenalisedModel, penalised_models
from testsgd.models import refitter_for
from testsgd.models.refitting import Refitter

Floats = NDArray[np.float64]

# A network is trained against groups of as many rules as leave no more rule sets than these, of
# all rates together.
_MOST_GROUPS = 100_000


def penalty_candidates(problem: Problem) -> list[Candidate]:
    """Train a network on with one strength after another.

    The training rows are learnt by cross-fitted probabilities, since a network that goes on knows
    their labels. Which of them a rate counts is by their true labels. What is lost is expected by
    all rows that are not held out: by the labels of validation rows, and by the cross-fitted
    probabilities of training rows.
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
    for penalised in trained:
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
    return candidates


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
        self._judge = Judge(problem.rates(places), labels, np.full(len(places), 1 / len(places)))
        # How probable it is that each row has the favourable label.
        self._chances = np.where(self.validated, labels, chances[places])

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
        f"a penalty is for networks that can be trained on, and this is a "
        f"{problem.loaded.model.kind}",
        where=f"model {problem.loaded.model.name!r}",
        remedy="write --method play or thresholds",
    )
