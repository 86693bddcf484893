"""Judging a candidate: what it costs, what it brings, and whether it is a model at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testsgd.mitigation.material import Material
from testsgd.mitigation.soft_labels import expected_accuracy

# Rows or texts to ask a candidate about, at most, before its score is measured on draws.
CANDIDATE_QUERIES = 200_000

# A candidate must decide either way at least so often, as a share of how often the original does.
LEAST_SHARE = 0.5


class Judge:
    """Judges candidates on the rows that are not held out.

    Parameters
    ----------
    original : Model or TextModel
        The model that they are compared with.
    material : Material
        The rows or texts.
    max_accuracy_drop : float
        The budget, in percentage points.
    reference : Model or TextModel, optional
        The model whose accuracy is not to be lost, if that is not the original.

    Attributes
    ----------
    before : Estimates
        The original's rates for the targets.
    by_probabilities : bool
        True: one validation row is worth more than the budget, so that the few labels alone cannot
        say whether it is kept. The accuracy lost is then the larger of two estimates: by these
        labels, and by the cross-fitted probabilities of all rows that are not held out.
    """

    def __init__(
        self,
        original: Any,
        material: Material,
        max_accuracy_drop: float,
        *,
        reference: Any = None,
    ) -> None:
        self._material = material
        self._measure = material.measure(material.seen, max_queries=CANDIDATE_QUERIES)
        validation = material.validation
        few = max_accuracy_drop * len(validation) < 100
        self._chances = material.probabilities() if few else None
        self.by_probabilities = self._chances is not None
        self._accuracies = self._estimates_of(original if reference is None else reference)
        self._shares = self._decided(original)
        self.before = self._measure(original)

    def __call__(self, model: Any) -> tuple[float, Sequence[float]]:
        """Give the points of accuracy lost, and the targets' scores."""
        estimates = self._estimates_of(model)
        lost = max(
            before - after for before, after in zip(self._accuracies, estimates, strict=True)
        )
        return 100 * lost, self._measure(model).score.tolist()

    def one_sided(self, model: Any) -> bool:
        """Say whether a model decides one way less than half as often as the original.

        If everybody gets the same label no group is treated differently, at little accuracy where
        nearly all have that label anyway. It is no better model.
        """
        now = self._decided(model)
        return any(
            after < LEAST_SHARE * before for before, after in zip(self._shares, now, strict=True)
        )

    def _decided(self, model: Any) -> tuple[float, float]:
        """Give the shares of favourable and of other decisions on the validation rows."""
        validation = self._material.validation
        share = float(self._material.decisions(model, validation).mean())
        return share, 1 - share

    def _estimates_of(self, model: Any) -> list[float]:
        """Estimate a model's accuracy: by labels and, if these are few, by probabilities too."""
        material = self._material
        by_labels = material.accuracy(model, material.validation)
        if self._chances is None:
            return [by_labels]
        decisions = material.decisions(model, material.seen)
        return [by_labels, expected_accuracy(decisions, self._chances[material.seen])]
