"""Mixtures: a model that is drawn anew for each decision, by fixed chances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.models import PlainRows, PreparedRows
from testsgd.models.answers import Output


class ConstantModel:
    """A model of rows or of texts that decides the same on all.

    Parameters
    ----------
    favourable : bool
        What it decides.

    Examples
    --------
    >>> ConstantModel(True).decisions(["one text", "another"]).tolist()
    [True, True]
    """

    output: Output = "labels"
    threshold: float | None = None
    thread_safe = True

    def __init__(self, favourable: bool) -> None:
        self.favourable = favourable
        self.name = "always favourable" if favourable else "never favourable"
        self.kind = "constant"

    def decisions(self, inputs: Any) -> NDArray[np.bool_]:
        """Say the same of all."""
        return np.full(len(inputs), self.favourable)

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Get ready to decide on variants of `frame`."""
        return PlainRows(self, frame)


@dataclass(frozen=True)
class Mixture:
    """Some models, one of which is drawn for each decision.

    What a mixture decides is a matter of chance, so it has expected figures. A rate and the
    accuracy are means over decisions, and the expected mean is the mean of the models' own,
    weighted by their chances. So the models are measured one by one, and :meth:`expected` puts the
    figures together.

    Attributes
    ----------
    models : tuple
        The models, of rows or of texts; all have a chance above 0.
    weights : numpy.ndarray of float64, shape (models,)
        Their chances, which sum to 1.
    trainings : int
        How many models were trained to find them.

    Examples
    --------
    >>> mixture = Mixture((ConstantModel(True), ConstantModel(False)), np.array([0.75, 0.25]), 2)
    >>> mixture.probabilities(["a text"]).tolist()
    [0.75]
    >>> mixture.expected([0.5, 0.7])
    0.55
    """

    models: tuple[Any, ...]
    weights: NDArray[np.float64]
    trainings: int = 0

    def __post_init__(self) -> None:
        if len(self.models) != len(self.weights) or not self.models:
            raise ValueError(f"{len(self.models)} models and {len(self.weights)} weights")
        if not (self.weights > 0).all() or not math.isclose(self.weights.sum(), 1.0):
            raise ValueError(f"the weights {self.weights.tolist()} are no chances that sum to 1")

    def __len__(self) -> int:
        return len(self.models)

    def probabilities(self, inputs: Any) -> NDArray[np.float64]:
        """Give each row's or text's chance of the favourable label."""
        decisions = [model.decisions(inputs) for model in self.models]
        chances: NDArray[np.float64] = self.weights @ np.array(decisions, dtype=np.float64)
        return chances

    def expected(self, figures: Sequence[float | None]) -> float | None:
        """Put together a rate, a difference of rates or the accuracy of each model.

        Not a score: it is the size of the expected difference, which is less than the mean size
        where one model favours the group and another everybody else.

        Parameters
        ----------
        figures : sequence of float or None
            One a model, in their order.

        Returns
        -------
        float or None
            None if a model has no figure.
        """
        known = [figure for figure in figures if figure is not None and not math.isnan(figure)]
        if len(figures) != len(self.models):
            raise ValueError(f"{len(figures)} figures for {len(self.models)} models")
        if len(known) < len(figures):
            return None
        return math.fsum(
            weight * figure for weight, figure in zip(self.weights.tolist(), known, strict=True)
        )
