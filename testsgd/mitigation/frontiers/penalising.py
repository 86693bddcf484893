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
    their labels. Which of them a rate counts is by their true labels. What is lost is the mean of
    two estimates: by the labels of the validation rows, and by the cross-fitted probabilities of
    all rows that are not held out, which are many more.
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
        self._labels = problem.favourable[places]
        self._chances = chances[places]
        self.before = problem.material.decisions(problem.loaded.model, places)
        self._rates = problem.rates(places)
        self.validated = np.isin(places, problem.material.split.parts.validation)
        if not self.validated.any():
            raise ModelError(
                "there are no validation rows to choose a strength by",
                where=f"model {problem.loaded.model.name!r}",
                remedy="give more rows, or --method thresholds",
            )
        self._of_validation = Judge(
            self._rates, self._labels, self.validated / self.validated.sum()
        )

    def point(self, strength: float, decisions: Bools) -> FrontierPoint:
        """Return what a strength costs and brings."""
        validated = point_of(strength, self.before, decisions[None], self._of_validation)
        # A changed decision is right by one probability less the other.
        changed = self.before.astype(np.float64) - decisions
        gain = 2 * self._chances - 1
        lost = float((changed * gain).mean())
        by_label = [weights / weights.sum() for weights in (self._chances, 1 - self._chances)]
        balanced = float(changed @ (by_label[0] - by_label[1]) / 2)
        return replace(
            validated,
            accuracy_drop=(validated.accuracy_drop + lost) / 2,
            balanced_drop=(validated.balanced_drop + balanced) / 2,
        )


def needs_network(problem: Problem) -> ModelError:
    """Return the error that a penalty is for networks."""
    return ModelError(
        f"a penalty is for networks that can be trained on, and this is a "
        f"{problem.loaded.model.kind}",
        where=f"model {problem.loaded.model.name!r}",
        remedy="write --method play or thresholds",
    )
