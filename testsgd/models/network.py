"""Fully connected networks, predicted with one matrix product a layer.

The audit asks a network about each row many times, with one feature changed a little. Only the
first layer sees that change, and it is linear before its activation, so
:class:`PreparedNetworkRows` keeps the first layer's sums of the unchanged rows and adds the
difference. Rows that come to lie so near the threshold that rounding could decide are computed
again in full, so that the short cut never changes a decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.models.answers import Output
from testsgd.models.blackbox import PreparedRows
from testsgd.models.encoding import Encoding
from testsgd.models.output import SigmoidOutput

Floats = NDArray[np.float32]

# Rows computed at once: the widest layer of a block then fits into a processor's second cache.
_BLOCK = 4096

# The sums of float32 products here differ by some 1e-5 between two orders of summation.
_NEAR_THRESHOLD = 1e-2


@dataclass(frozen=True)
class Layer:
    """One fully connected layer: ``activation(x @ weights + bias)``."""

    weights: Floats
    bias: Floats
    activation: Literal["relu", "linear", "sigmoid"]


class NetworkModel:
    """A fully connected network with ReLU layers and one output, and its preprocessing.

    Parameters
    ----------
    layers : tuple of Layer
        The last one has a single output, a score through a sigmoid.
    encoding : Encoding
        From rows to the first layer's inputs.
    sigmoid : SigmoidOutput
        What the output means and decides.
    name : str
        What to call the network in a report.
    """

    kind = "fully connected network"
    output: Output = "scores"
    thread_safe = True

    def __init__(
        self,
        layers: tuple[Layer, ...],
        encoding: Encoding,
        *,
        sigmoid: SigmoidOutput,
        name: str,
    ) -> None:
        self.layers = layers
        self.encoding = encoding
        self.name = name
        self.threshold: float | None = sigmoid.threshold
        self.sigmoid = sigmoid

    @property
    def columns(self) -> tuple[str, ...]:
        """The features that the network takes."""
        return tuple(feature.name for feature in self.encoding.features)

    def scores(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Give each row's probability of the favourable label."""
        return self.sigmoid.scores(self.output_sums(self.encoding.encode(frame)))

    def decisions(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Say for each row whether the network gives it the favourable label."""
        return self.sigmoid.decide(self.output_sums(self.encoding.encode(frame)))

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Get ready to decide on variants of `frame` that differ in one column."""
        return PreparedNetworkRows(self, frame)

    def output_sums(self, inputs: Floats) -> Floats:
        """Compute the last layer's sums before the sigmoid, shape (n,)."""
        out = np.empty(len(inputs), dtype=np.float32)
        for start in range(0, len(inputs), _BLOCK):
            rows = slice(start, start + _BLOCK)
            out[rows] = self.after_first(self.first_sums(inputs[rows]))
        return out

    def first_sums(self, inputs: Floats) -> Floats:
        """Compute the first layer's sums before its activation."""
        return inputs @ self.layers[0].weights + self.layers[0].bias

    def after_first(self, sums: Floats) -> Floats:
        """Go on from the first layer's sums, which are overwritten, to the output's, shape (n,)."""
        for before, layer in zip(self.layers, self.layers[1:], strict=False):
            if before.activation == "relu":
                np.maximum(sums, 0, out=sums)
            sums = sums @ layer.weights
            sums += layer.bias
        return sums[:, 0]


class PreparedNetworkRows:
    """Rows whose first-layer sums are known, see the module's text."""

    def __init__(self, model: NetworkModel, frame: pd.DataFrame) -> None:
        self._model = model
        self.asked = 0
        self._inputs = model.encoding.encode(frame)
        self._first = np.empty((len(frame), model.layers[0].weights.shape[1]), dtype=np.float32)
        for start in range(0, len(frame), _BLOCK):
            rows = slice(start, start + _BLOCK)
            self._first[rows] = model.first_sums(self._inputs[rows])

    def decisions(self) -> NDArray[np.bool_]:
        """Decide on the rows as they are."""
        self.asked += len(self._first)
        sums = np.concatenate(
            [
                self._model.after_first(self._first[start : start + _BLOCK].copy())
                for start in range(0, len(self._first), _BLOCK)
            ]
        )
        return self._model.sigmoid.decide(sums)

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Decide on the marked rows with one column replaced."""
        if not self._model.encoding.takes(feature):
            return self.decisions()[rows]
        encoding = self._model.encoding.of(feature)
        offset = self._model.encoding.offset(feature)
        inputs = slice(offset, offset + encoding.width)
        weights = self._model.layers[0].weights[inputs]
        marked = np.flatnonzero(rows)
        self.asked += len(marked)
        changed = np.zeros((len(marked), encoding.width), dtype=np.float32)
        encoding.fill(column if len(marked) == len(rows) else column[rows], changed)

        sums = np.empty(len(marked), dtype=np.float32)
        for start in range(0, len(marked), _BLOCK):
            block = slice(start, start + _BLOCK)
            places = marked[block]
            first = self._first[places]
            first += (changed[block] - self._inputs[places, inputs]) @ weights
            sums[block] = self._model.after_first(first)
        near = np.flatnonzero(np.abs(sums - self._model.sigmoid.turning_sum) < _NEAR_THRESHOLD)
        if len(near):
            again = self._inputs[marked[near]]
            again[:, inputs] = changed[near]
            sums[near] = self._model.output_sums(again)
        return self._model.sigmoid.decide(sums)
