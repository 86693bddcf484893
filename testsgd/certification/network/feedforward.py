"""Feed-forward networks as arrays: all readers return them, and all proofs are about them.

What is proved must hold for the model as it runs, so the numbers here are the stored ones. How far
what the model computes may lie from them, beside the rounding of matrix products, is bounded apart:
by the errors of a layer (batch normalisation), of an input's columns (scaling), and the
`tolerance` of a decision (:mod:`testsgd.certification.network.decision_threshold`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Step:
    """One arithmetic operation of a scaling, in the precision of its numbers."""

    operation: Literal["add", "subtract", "multiply", "divide"]  # Which.
    operand: NDArray[np.floating]  # With what, a number a column; shape (width,).

    def apply(self, columns: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return the columns after this step, shape (n, width)."""
        function = getattr(np, self.operation)
        result: NDArray[np.floating] = function(columns.astype(self.operand.dtype), self.operand)
        return result


@dataclass(frozen=True)
class NumberColumns:
    """One number x as columns: ``multiplier * x + constant``, a column each."""

    # As it says; shape (width,).
    multiplier: NDArray[np.float64]
    constant: NDArray[np.float64]
    relative_error: float = 0.0
    # The model's own column lies within ``relative_error * |multiplier * x| + absolute_error`` of
    # the exact one, beside its rounding to the network's precision; shape (width,).
    absolute_error: float | NDArray[np.float64] = 0.0
    # How the model itself computes the columns, if in other steps; only :meth:`FeedForward.encode`
    # needs to know.
    steps: tuple[Step, ...] = ()

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.multiplier)

    def compute(self, values: NDArray[np.float64]) -> NDArray[np.floating]:
        """Compute the columns of values, shape (n,), as the model does before it rounds them."""
        if not self.steps:
            return values[:, None] * self.multiplier + self.constant
        columns: NDArray[np.floating] = np.broadcast_to(values[:, None], (len(values), self.width))
        for step in self.steps:
            columns = step.apply(columns)
        return columns


@dataclass(frozen=True)
class CategoryColumns:
    """A category as columns: value v is row v of a table (one-hot: the identity)."""

    table: NDArray[np.float64]  # The columns of each value; shape (values, width).
    values: tuple[str, ...]  # The values' names.
    # The model's own entries lie within this of those of the table, beside their rounding to the
    # network's precision; shape (values, width).
    absolute_error: float | NDArray[np.float64] = 0.0

    @property
    def width(self) -> int:
        """How many columns there are."""
        return int(self.table.shape[1])

    def compute(self, values: NDArray[np.float64]) -> NDArray[np.floating]:
        """Return the columns of values, shape (n,), which are indices."""
        return self.table[values.astype(np.intp)]


@dataclass(frozen=True)
class InputColumns:
    """One input of the model, and the columns of the first layer that it becomes."""

    name: str  # ``"x0"``, ``"x1"`` and so on if the model has no names.
    columns: NumberColumns | CategoryColumns  # How.


Activation = Literal["linear", "relu", "leaky_relu", "sigmoid", "tanh"]
Precision = Literal["float32", "float64"]

# Rows computed at once, so that wide layers of many rows need little memory.
_BLOCK = 8192


@dataclass(frozen=True)
class DenseLayer:
    """One fully connected layer, ``activation(x @ weights + bias)``."""

    # Each value exactly the stored one (float32 to float64 is exact); shape (inputs, units).
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]  # Likewise; shape (units,).
    activation: Activation  # Of the last layer always ``"linear"``: its sums decide.
    negative_slope: float = 0.0  # Of ``"leaky_relu"``, at least 0.
    relative_error: float = 0.0
    # The model's own sums lie within ``relative_error * (|x| @ |weights|) + absolute_error`` of the
    # sums given here, beside what the rounding of the products and of their sum allows. 0 unless
    # the weights had to be computed from stored numbers; shape (units,).
    absolute_error: float | NDArray[np.float64] = 0.0


@dataclass(frozen=True)
class Decision:
    """What the last layer's sums decide."""

    # One sum against a turning point, or the first of the largest sums.
    kind: Literal["threshold", "argmax"]
    decision_threshold: float  # Threshold: label 1 if the sum is above it.
    # Sums this near to the turning point (argmax: this near to each other) may fall either way,
    # because the output activation is itself rounded.
    tolerance: float
    labels: tuple[str, ...]  # Threshold: below and above. Argmax: a label a class.
    # What the model makes of the sums before it compares. "complement": one minus the sigmoid of
    # the negative sum, which is the sigmoid of the sum but for rounding.
    output: Literal["plain", "sigmoid", "complement", "softmax"] = "plain"
    threshold: float = 0.0  # With what the model's output is compared; label 1 if it is above.


@dataclass(frozen=True)
class FeedForward:
    """A feed-forward network with the encoding of its inputs and its decision.

    All numbers are those that are stored in the model's file, as float64.

    Examples
    --------
    >>> layer = DenseLayer(np.array([[1.0], [3.0]]), np.array([-10.5]), "linear")
    >>> column = NumberColumns(np.ones(1), np.zeros(1))
    >>> network = FeedForward(
    ...     "linear", "made by hand", (layer,),
    ...     (InputColumns("skill", column), InputColumns("man", column)),
    ...     Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64")
    >>> people = np.array([[9.0, 0.0], [9.0, 1.0]])
    >>> network.sums(people).tolist(), network.decisions(people).tolist()
    ([[-1.5], [1.5]], [0, 1])
    """

    # For reports: what it is called and what it is.
    name: str
    kind: str
    layers: tuple[DenseLayer, ...]  # In order; the last one's activation is ``"linear"``.
    inputs: tuple[InputColumns, ...]  # Their columns, side by side, are what the first layer takes.
    decision: Decision  # What the sums decide.
    precision: Precision  # The arithmetic that the model itself runs in.
    file_sha256: str | None = None  # Of the file it was read from.
    # The layers' numbers in the model's precision.
    _own: tuple[tuple[NDArray[np.floating], NDArray[np.floating]], ...] = field(
        init=False, repr=False, compare=False, default=()
    )

    def __post_init__(self) -> None:
        own = tuple(
            (layer.weights.astype(self.precision), layer.bias.astype(self.precision))
            for layer in self.layers
        )
        object.__setattr__(self, "_own", own)

    @property
    def width(self) -> int:
        """How many columns the first layer takes."""
        return int(self.layers[0].weights.shape[0])

    @property
    def outputs(self) -> int:
        """How many sums the last layer gives."""
        return int(self.layers[-1].weights.shape[1])

    def encode(self, values: NDArray[np.float64]) -> NDArray[np.floating]:
        """Return the columns of the first layer, shape (n, width), of inputs, shape (n, inputs).

        A category is given by the index of its value.
        """
        values = np.asarray(values, dtype=np.float64)
        out = np.empty((len(values), self.width), dtype=self.precision)
        start = 0
        for position, given in enumerate(self.inputs):
            stop = start + given.columns.width
            out[:, start:stop] = given.columns.compute(values[:, position])
            start = stop
        return out

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.floating]:
        """Compute the last layer's sums, shape (n, outputs), in the precision of the model.

        `values` are the inputs, shape (n, inputs), a category by its index.
        """
        values = np.asarray(values, dtype=np.float64)
        out = np.empty((len(values), self.outputs), dtype=self.precision)
        for start in range(0, len(values), _BLOCK):
            rows = slice(start, start + _BLOCK)
            current = self.encode(values[rows])
            for layer, (weights, bias) in zip(self.layers, self._own, strict=True):
                current = current @ weights
                current += bias
                _activate(current, layer)
            out[rows] = current
        return out

    def decisions(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the index of each row's label, shape (n,), for inputs of shape (n, inputs)."""
        return self.decide(self.sums(values))

    def decide(self, sums: NDArray[np.floating]) -> NDArray[np.intp]:
        """Return the index of each row's label, shape (n,), for sums of shape (n, outputs).

        The model's output is computed from the sums in its precision, and compared as the model
        does.
        """
        if self.decision.output == "sigmoid":
            scores = logistic(sums)
        elif self.decision.output == "complement":
            scores = 1 - logistic(-sums)
        elif self.decision.output == "softmax":
            with np.errstate(under="ignore"):
                scores = np.exp(sums - sums.max(axis=1, keepdims=True))
        else:
            scores = sums
        if self.decision.kind == "argmax":
            return np.asarray(np.argmax(scores, axis=1), dtype=np.intp)
        threshold = np.asarray(self.decision.threshold, dtype=self.precision)
        return (scores[:, 0] > threshold).astype(np.intp)


def logistic(sums: NDArray[np.floating]) -> NDArray[np.floating]:
    """Compute ``1 / (1 + exp(-sums))`` in the precision of `sums`."""
    with np.errstate(over="ignore", under="ignore"):
        result: NDArray[np.floating] = 1 / (1 + np.exp(-sums))
    return result


def _activate(sums: NDArray[np.floating], layer: DenseLayer) -> None:
    """Apply a layer's activation in place."""
    if layer.activation == "relu":
        np.maximum(sums, 0, out=sums)
    elif layer.activation == "leaky_relu":
        slope = np.asarray(layer.negative_slope, dtype=sums.dtype)
        np.copyto(sums, sums * slope, where=sums < 0)
    elif layer.activation == "sigmoid":
        sums[...] = logistic(sums)
    elif layer.activation == "tanh":
        np.tanh(sums, out=sums)
