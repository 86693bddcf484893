"""Fully connected networks, predicted with one matrix product a layer.

The audit asks a network about each row many times, with one feature changed a little, or with the
sensitive values of others. Only the first layer sees that change, and it is linear before its
activation, so :class:`PreparedNetworkRows` keeps the first layer's sums of the unchanged rows and
adds the difference, and :meth:`NetworkModel.decisions_with_values_of` adds the sums of both parts.
Rows that come to lie so near the threshold that rounding could decide are computed again in full,
so that the short cut never changes a decision.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.models.answers import Asked, Output
from testsgd.models.blackbox import PreparedRows
from testsgd.models.encoding import Encoding
from testsgd.models.files import (
    Labels,
    SigmoidOutput,
    WrongLayersError,
    read_layers,
    read_preprocessing,
)

Floats = NDArray[np.float32]

# Rows computed at once: the widest layer of a block then fits into a processor's second cache.
_BLOCK = 4096

# The sums of float32 products here differ by some 1e-5 between two orders of summation.
_NEAR_THRESHOLD = 1e-2


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK))


@dataclass(frozen=True)
class Layer:
    """One fully connected layer: ``activation(x @ weights + bias)``."""

    weights: Floats  # Shape (inputs, units).
    bias: Floats  # Shape (units,).
    activation: Literal["relu", "linear", "sigmoid"]


class SigmoidNetwork(ABC, Generic[Asked]):
    """A network of testsgd's own with one output, a score through a sigmoid.

    `sigmoid` says what the output means and decides, `name` what to call the network in a report.
    """

    kind: str
    output: Output = "scores"
    thread_safe = True

    def __init__(self, *, sigmoid: SigmoidOutput, name: str) -> None:
        self.name = name
        self.sigmoid = sigmoid
        self.threshold: float | None = sigmoid.threshold

    def decisions(self, asked: Asked) -> NDArray[np.bool_]:
        """Return a mask of the rows or texts that get the favourable label, shape (n,)."""
        return self.sigmoid.decide(self._sums(asked))

    def scores(self, asked: Asked) -> NDArray[np.float64]:
        """Return the probability of the favourable label for each row or text, shape (n,)."""
        return self.sigmoid.scores(self._sums(asked))

    @abstractmethod
    def _sums(self, asked: Asked) -> Floats:
        """Compute the output's sums before the sigmoid, shape (n,)."""


class NetworkModel(SigmoidNetwork[pd.DataFrame]):
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

    Examples
    --------
    >>> from testsgd.models.encoding import NumberEncoding
    >>> from testsgd.models.files import Labels
    >>> encoding = Encoding((NumberEncoding("age", mean=40.0, scale=10.0),))
    >>> layer = Layer(
    ...     weights=np.array([[1.0], [0.0]], dtype=np.float32),
    ...     bias=np.zeros(1, dtype=np.float32),
    ...     activation="sigmoid",
    ... )
    >>> sigmoid = SigmoidOutput(Labels("yes", "no"), favourable="yes", threshold=0.5)
    >>> network = NetworkModel((layer,), encoding, sigmoid=sigmoid, name="by age")
    >>> network.decisions(pd.DataFrame({"age": [30.0, 50.0]})).tolist()
    [False, True]
    """

    kind = "fully connected network"

    def __init__(
        self, layers: tuple[Layer, ...], encoding: Encoding, *, sigmoid: SigmoidOutput, name: str
    ) -> None:
        super().__init__(sigmoid=sigmoid, name=name)
        self.layers = layers
        self.encoding = encoding

    @property
    def columns(self) -> tuple[str, ...]:
        """The features that the network takes."""
        return tuple(feature.name for feature in self.encoding.features)

    def _sums(self, asked: pd.DataFrame) -> Floats:
        return self.output_sums(self.encoding.encode(asked))

    def prepare(self, frame: pd.DataFrame) -> PreparedRows:
        """Return `frame` as rows on which the network decides with one column replaced."""
        return PreparedNetworkRows(self, frame)

    def output_sums(self, inputs: Floats) -> Floats:
        """Compute the last layer's sums before the sigmoid, shape (n,).

        `inputs`: encoded rows, shape (n, inputs).
        """
        out = np.empty(len(inputs), dtype=np.float32)
        for rows in _blocks(len(inputs)):
            out[rows] = self.after_first(self.first_sums(inputs[rows]))
        return out

    def first_sums(self, inputs: Floats) -> Floats:
        """Compute the first layer's sums before its activation, shape (n, units).

        `inputs`: encoded rows, shape (n, inputs).
        """
        return inputs @ self.layers[0].weights + self.layers[0].bias

    def decisions_with_values_of(
        self,
        frame: pd.DataFrame,
        rows: NDArray[np.intp],
        sources: NDArray[np.intp],
        features: Sequence[str],
    ) -> NDArray[np.bool_]:
        """Return the decisions on rows that have the values of other rows in some features.

        The first layer's sums are those of a row's other features and of the source's `features`,
        each computed once, however many pairs there are.

        Parameters
        ----------
        frame : pandas.DataFrame, shape (n, columns)
            The rows. Not changed.
        rows, sources : numpy.ndarray of int, shape (pairs,)
            The places of the rows that are decided on, and of those whose values they have.
        features : sequence of str
            The features that are replaced; of them the network may take none.

        Returns
        -------
        numpy.ndarray of bool, shape (pairs,)
        """
        row_places, row_index = _distinct(rows, len(frame))
        source_places, source_index = _distinct(sources, len(frame))
        own = self.encoding.encode(frame.iloc[row_places])
        given = self.encoding.encode(frame.iloc[source_places])
        replaced = np.zeros(self.encoding.width, dtype=bool)
        for name in features:
            if self.encoding.takes(name):
                start = self.encoding.offset(name)
                replaced[start : start + self.encoding.of(name).width] = True
        own[:, replaced] = 0
        given[:, ~replaced] = 0
        of_own = self.first_sums(own)
        of_given = given @ self.layers[0].weights
        sums = np.empty(len(rows), dtype=np.float32)
        for block in _blocks(len(rows)):
            first_sums = of_own[row_index[block]]
            first_sums += of_given[source_index[block]]
            sums[block] = self.after_first(first_sums)

        def inputs_of(pairs: NDArray[np.intp]) -> Floats:
            inputs: Floats = own[row_index[pairs]] + given[source_index[pairs]]
            return inputs

        return self.decide(sums, inputs_of)

    def decide(
        self, sums: Floats, inputs_of: Callable[[NDArray[np.intp]], Floats]
    ) -> NDArray[np.bool_]:
        """Return the decisions by the output's sums, shape (n,), as if rows were computed alone.

        `sums` may be of products in another order. Where one is near the threshold, it is computed
        anew, from the inputs that `inputs_of` gives for some of the n.
        """
        distances = np.abs(sums - self.sigmoid.decision_threshold)
        near = np.flatnonzero(distances < _NEAR_THRESHOLD)
        if len(near):
            sums[near] = self.output_sums(inputs_of(near))
        return self.sigmoid.decide(sums)

    def after_first(self, sums: Floats) -> Floats:
        """Compute the output's sums, shape (n,), from the first layer's, shape (n, units).

        `sums` is overwritten.
        """
        for before, layer in zip(self.layers, self.layers[1:], strict=False):
            if before.activation == "relu":
                np.maximum(sums, 0, out=sums)
            sums = sums @ layer.weights
            sums += layer.bias
        return sums[:, 0]


class PreparedNetworkRows:
    """Prepared rows of a network, with the first layer's sums of the unchanged rows.

    With one feature's inputs changed from x to x', the first layer's sums are ``sums + (x' - x) @
    weights`` of these inputs. See the module's text.
    """

    def __init__(self, model: NetworkModel, frame: pd.DataFrame) -> None:
        self._model = model
        self.asked = 0
        self._inputs = model.encoding.encode(frame)
        self._first = np.empty((len(frame), model.layers[0].weights.shape[1]), dtype=np.float32)
        for rows in _blocks(len(frame)):
            self._first[rows] = model.first_sums(self._inputs[rows])

    def decisions(self) -> NDArray[np.bool_]:
        """Return the network's decisions on the rows as they are, shape (n,)."""
        self.asked += len(self._first)
        blocks = _blocks(len(self._first))
        sums = [self._model.after_first(self._first[rows].copy()) for rows in blocks]
        return self._model.sigmoid.decide(np.concatenate(sums))

    def decisions_with(
        self, feature: str, column: pd.Series[Any], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the decisions on the m marked rows with one column replaced, shape (m,)."""
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
        for block in _blocks(len(marked)):
            block_rows = marked[block]
            first_sums = self._first[block_rows]
            first_sums += (changed[block] - self._inputs[block_rows, inputs]) @ weights
            sums[block] = self._model.after_first(first_sums)

        def inputs_of(places: NDArray[np.intp]) -> Floats:
            exact: Floats = self._inputs[marked[places]]
            exact[:, inputs] = changed[places]
            return exact

        return self._model.decide(sums, inputs_of)


def _distinct(places: NDArray[np.intp], rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of `rows` rows are at any of some places, and the index of each among them."""
    occurs = np.zeros(rows, dtype=bool)
    occurs[places] = True
    index = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), index[places]


def network_labels(path: Path) -> Labels:
    """Return the labels that a network of rows knows, by the preprocessing beside it."""
    labels, _ = read_preprocessing(path, "tables", favourable=None, read=lambda document: document)
    return labels


def read_network(path: Path, *, favourable: str, name: str, threshold: float = 0.5) -> NetworkModel:
    """Read a network of rows that ``testsgd train`` wrote, with its preprocessing beside it.

    Scores of the favourable label above `threshold` count as favourable. A :class:`ModelError` is
    raised if a file is missing or is not what it should be, or the network is of another kind.
    """
    path = Path(path)

    def read(document: dict[str, Any]) -> Encoding:
        return Encoding.from_json(document["features"])

    labels, encoding = read_preprocessing(path, "tables", favourable=favourable, read=read)
    kind = "of fully connected ReLU layers with one sigmoid output"
    layers = read_layers(path, _dense_layers, kind=kind)
    width = layers[0].weights.shape[0]
    if width != encoding.width:
        raise ModelError(
            f"the network takes {width} inputs, its preprocessing gives {encoding.width}",
            where=str(path),
            remedy="keep the .keras file beside the preprocessing.json it was written with",
        )
    sigmoid = SigmoidOutput(labels, favourable, threshold)
    return NetworkModel(layers, encoding, sigmoid=sigmoid, name=name)


def _dense_layers(
    layers: list[dict[str, Any]], arrays: Callable[[str], list[NDArray[np.float32]]]
) -> tuple[Layer, ...]:
    """Return the layers of a file; a :class:`WrongLayersError` if they are no ReLU network.

    `layers`: the layers' configurations. `arrays`: from a key of the file to its arrays.
    """
    activations = [layer.get("activation") for layer in layers]
    plain = (
        bool(layers)
        and all(layer["class"] == "Dense" and layer["use_bias"] for layer in layers)
        and all(activation == "relu" for activation in activations[:-1])
        and activations[-1] == "sigmoid"
        and layers[-1]["units"] == 1
    )
    if not plain:
        raise WrongLayersError
    read: list[Layer] = []
    for layer in layers:
        weights, bias = arrays(f"{layer['name']}/vars")
        width = len(read[-1].bias) if read else len(weights)
        if weights.shape != (width, len(bias)) or bias.ndim != 1:
            raise ValueError(weights.shape)
        read.append(Layer(weights, bias, layer["activation"]))
    return tuple(read)
