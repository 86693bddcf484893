"""What a network's single output decides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.models.files import Labels


class SigmoidOutput:
    """The output of a network with one sigmoid unit, read for the label that is compared.

    Parameters
    ----------
    labels : Labels
        What the output means.
    favourable : str
        The label whose rate the audit compares. If it is not the positive one, it is decided
        wherever the positive one is not, its score being one minus the other's.
    threshold : float
        Scores of the favourable label above it, in [0, 1), count as favourable.

    Attributes
    ----------
    turning_sum : float
        The output's sum, before the sigmoid, at which the decision turns; 0 is a score of one half.

    Examples
    --------
    >>> output = SigmoidOutput(Labels("yes", "no"), "no", 0.25)
    >>> output.decide(np.array([1.0, 2.0])).tolist(), output.scores(np.array([0.0])).tolist()
    ([True, False], [0.5])
    """

    def __init__(self, labels: Labels, favourable: str, threshold: float) -> None:
        self.labels = labels
        self.favourable = favourable
        self.threshold = threshold
        self._favours_positive = favourable == labels.positive
        odds = math.log(threshold) - math.log1p(-threshold) if threshold > 0 else -math.inf
        self.turning_sum = odds if self._favours_positive else -odds

    def scores(self, sums: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
        """Give the probability of the favourable label."""
        with np.errstate(over="ignore"):
            positive = 1.0 / (1.0 + np.exp(-sums.astype(np.float64)))
        return positive if self._favours_positive else 1.0 - positive

    def decide(self, sums: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Turn the output's sums into decisions."""
        positive = sums > self.turning_sum
        return positive if self._favours_positive else ~positive
