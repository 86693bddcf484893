"""Judging a candidate: what it costs, what it brings, and whether it is a model at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from testsgd.mitigation.material import Material
from testsgd.mitigation.written import PartFigures, part_figures

# Rows or texts to ask a candidate about, at most, before its score is measured on draws.
CANDIDATE_QUERIES = 200_000

# Of more training rows or texts so many are drawn to judge candidates by.
_MOST_TRAINING = 5_000


class Judge:
    """Judges candidates on the rows that are not held out.

    Parameters
    ----------
    original : Model or TextModel
        The model that they are compared with.
    material : Material
        The rows or texts.
    max_accuracy_drop, max_balanced_drop : float
        The budgets, in percentage points.
    reference : Model or TextModel, optional
        The model whose accuracy is not to be lost, if that is not the original.

    Attributes
    ----------
    before : Estimates
        The original's rates for the targets.
    before_scores : list of float
        The sizes of the differences that candidates are to make smaller.
    by_probabilities : bool
        True: one validation row is worth more than the budget, so that the few labels alone cannot
        say whether it is kept. What cross-fitted probabilities expect is then judged on all rows
        that are not held out; else on the training rows only, whose labels the model may have
        learnt by heart. Where there are no probabilities the training rows' labels count.
    """

    def __init__(
        self,
        original: Any,
        material: Material,
        max_accuracy_drop: float,
        *,
        max_balanced_drop: float = 100.0,
        reference: Any = None,
    ) -> None:
        self._material = material
        self._budget, self._balanced_budget = max_accuracy_drop, max_balanced_drop
        self._measure = material.measure(material.seen, max_queries=CANDIDATE_QUERIES)
        self._chances = material.probabilities()
        few = max_accuracy_drop * len(material.validation) < 100
        self.by_probabilities = few and self._chances is not None
        training = material.seen if self.by_probabilities else material.trained
        if len(training) > _MOST_TRAINING:
            generator = np.random.default_rng([material.audit_parameters.seed, 5])
            training = np.sort(generator.choice(training, _MOST_TRAINING, replace=False))
        self._training = training
        reference = original if reference is None else reference
        self._before = [
            material.decisions(reference, places) for places in (training, material.validation)
        ]
        self._last: tuple[Any, tuple[PartFigures, PartFigures]] | None = None
        self.before = self._measure(original)
        self._rates = (
            self._measure
            if material.estimand == "neighbourhood"
            else material.observed(material.seen)
        )
        self.before_scores = self._scores(original)

    def __call__(self, model: Any) -> tuple[float, Sequence[float]]:
        """Return the points of accuracy lost, and the targets' scores.

        What is lost is the larger of what is lost on the validation rows and on the training rows.
        """
        drop = max(part.accuracy_drop for part in self._parts(model))
        return drop, self._scores(model)

    def refuses(self, model: Any) -> bool:
        """Return whether a model is not to be taken, however accurate it is.

        It loses too much of balanced accuracy, or decides or is right one way less than half as
        often as the original.
        """
        return any(
            part.counts.one_sided or part.balanced_drop > self._balanced_budget + 1e-9
            for part in self._parts(model)
        )

    def refuses_trained(self, model: Any) -> bool:
        """Return the same of the training rows alone, and whether too much accuracy is lost there.

        For models whose figures on other rows are known from a cross-validation.
        """
        part = self._parts(model)[0]
        return (
            part.counts.one_sided
            or part.balanced_drop > self._balanced_budget + 1e-9
            or part.accuracy_drop > self._budget + 1e-9
        )

    def _scores(self, model: Any) -> list[float]:
        """Return the sizes of the targets' differences, of the kind that the audit speaks of."""
        return [float(score) for score in self._rates(model).score]

    def _parts(self, model: Any) -> tuple[PartFigures, PartFigures]:
        """Compare a model with the reference on the training and on the validation rows."""
        if self._last is None or self._last[0] is not model:
            material = self._material
            figures = (
                part_figures(self._before[0], model, material, self._training, self._chances),
                part_figures(self._before[1], model, material, material.validation),
            )
            self._last = model, figures
        return self._last[1]
