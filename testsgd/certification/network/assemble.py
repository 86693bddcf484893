"""From the parts that a reader found to a network whose last sums decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from testsgd.certification.network import parts
from testsgd.certification.network.decision_threshold import (
    plain_decision,
    sigmoid_decision,
    softmax_decision,
)
from testsgd.certification.network.feedforward import (
    CategoryColumns,
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
    Precision,
)
from testsgd.errors import ModelError, ParameterError


def assemble(
    read: parts.ReadNetwork,
    *,
    name: str,
    categories: Mapping[str, Sequence[int]] | None = None,
    file_sha256: str | None = None,
) -> FeedForward:
    """Return the network of parts; scalings before the first layer go into the inputs' columns."""
    inputs: Sequence[InputColumns] = read.inputs
    if not inputs:
        inputs = number_inputs([f"x{n}" for n in range(read.width)])
    rest = list(read.parts)
    while rest and isinstance(part := rest[0], parts.Scaling):
        inputs = scale_inputs(inputs, part)
        del rest[0]
    if categories:
        inputs, order = parts.group_inputs(inputs, categories)
        rest = parts.reorder_columns(rest, order)
    complement = parts.is_complement(rest)
    if complement:
        del rest[-1]
    layers, output = _layers(rest, read.width, name, read.precision)
    if complement:
        # 1 - sigmoid(z) is sigmoid(-z), and that a sum is negated rounds nothing.
        layers[-1] = replace(layers[-1], weights=-layers[-1].weights, bias=-layers[-1].bias)
    decision = _decision(read, layers, output, name, complement=complement)
    return FeedForward(
        name, read.kind, tuple(layers), tuple(inputs), decision, read.precision, file_sha256
    )


def number_inputs(names: Sequence[str]) -> tuple[InputColumns, ...]:
    """Return inputs that are numbers, each one column as it is."""
    return tuple(InputColumns(name, NumberColumns(np.ones(1), np.zeros(1))) for name in names)


def scale_inputs(inputs: Sequence[InputColumns], part: parts.Scaling) -> list[InputColumns]:
    """Return inputs whose columns, side by side, are scaled."""
    ends = parts.starts(inputs)
    whole = part.to(int(ends[-1]))
    return [
        replace(given, columns=scaled_columns(given.columns, whole.cut(slice(start, stop))))
        for given, (start, stop) in zip(inputs, pairwise(ends), strict=True)
    ]


def scaled_columns(
    columns: NumberColumns | CategoryColumns, scaling: parts.Scaling
) -> NumberColumns | CategoryColumns:
    """Scale an input's columns; what errors they had grows with them.

    If the columns are within ``r |a x| + b`` of ``a x + c``, then m times them plus d is within
    ``|m| (r |a x| + b)`` of ``m a x + m c + d``, and the model's own scaling, which takes m times
    what it is given with a relative error of s and adds an error e, gives at most
    ``s |m| (|a x| + |c| + r |a x| + b) + e`` more. The few float64 operations here are covered by
    2^-50 of all.
    """
    tiny = 2.0**-50
    share, size = scaling.relative_error, np.abs(scaling.multiplier)
    rest = scaling.absolute_error + tiny * np.abs(scaling.constant)
    if isinstance(columns, CategoryColumns):
        table = columns.table
        for step in scaling.steps:
            table = step.apply(table).astype(np.float64)
        spread = columns.absolute_error * (1 + share) + (share + tiny) * np.abs(columns.table)
        # Twice the share: the table here is what the steps give, not the exact product.
        return CategoryColumns(table, columns.values, (2 * size * spread + 2 * rest) * (1 + tiny))
    relative = (columns.relative_error * (1 + share) + share) * (1 + tiny) + tiny
    spread = columns.absolute_error * (1 + share) + (share + tiny) * np.abs(columns.constant)
    return NumberColumns(
        columns.multiplier * scaling.multiplier,
        columns.constant * scaling.multiplier + scaling.constant,
        float(relative),
        (size * spread + rest) * (1 + tiny),
        columns.steps + scaling.steps,
    )


def _layers(
    chain: Sequence[parts.Part], width: int, name: str, precision: Precision
) -> tuple[list[DenseLayer], parts.Activate | parts.Softmax | None]:
    """Return the layers of a chain of parts; the output's activation is returned apart."""
    # What comes last, if it is no hidden activation but makes the output.
    output: parts.Activate | parts.Softmax | None = None
    last = chain[-1] if chain else None
    if isinstance(last, parts.Softmax) or (
        isinstance(last, parts.Activate) and last.function == "sigmoid"
    ):
        output = last
    layers: list[DenseLayer] = []
    for part in chain[:-1] if output is not None else chain:
        if isinstance(part, parts.Softmax):
            raise ModelError(
                "a softmax comes before the last layer",
                where=part.where,
                remedy="only a last softmax can be proved",
            )
        if isinstance(part, parts.Activate):
            if part.function != "linear":
                if not layers or layers[-1].activation != "linear":
                    layers.append(_identity(width))
                # The slope that the model multiplies with.
                slope = float(np.asarray(part.negative_slope, dtype=precision))
                layers[-1] = replace(layers[-1], activation=part.function, negative_slope=slope)
            continue
        if isinstance(part, parts.Affine):
            if part.weights.shape[0] != width:
                raise parts.misfit(part.where, width, part.weights.shape[0])
            layers.append(DenseLayer(part.weights, part.bias, "linear"))
        else:
            layers.append(_diagonal(part, width))
        width = layers[-1].weights.shape[1]
        if len(layers) > parts.MAXIMUM_LAYERS:
            raise ModelError(f"there are more than {parts.MAXIMUM_LAYERS} layers", where=name)
    if not layers:
        raise ModelError(
            "there is no fully connected layer",
            where=name,
            remedy="give a network of fully connected layers",
        )
    if layers[-1].activation != "linear":
        # A ReLU or tanh that comes last is a hidden layer before a sum of one term.
        layers.append(_identity(width))
    return layers, output


def _identity(width: int) -> DenseLayer:
    """Return a layer that leaves its inputs as they are, for an activation that stands alone."""
    if width**2 > parts.MAXIMUM_NUMBERS:
        raise parts.too_large("model")
    return DenseLayer(np.eye(width), np.zeros(width), "linear")


def _diagonal(part: parts.Scaling, width: int) -> DenseLayer:
    if width**2 > parts.MAXIMUM_NUMBERS:
        raise parts.too_large(part.where)
    part = part.to(width)
    return DenseLayer(
        np.diag(part.multiplier),
        part.constant,
        "linear",
        relative_error=part.relative_error,
        absolute_error=part.absolute_error,
    )


def _decision(
    read: parts.ReadNetwork,
    layers: Sequence[DenseLayer],
    output: parts.Activate | parts.Softmax | None,
    name: str,
    *,
    complement: bool,
) -> Decision:
    threshold, precision = read.threshold, read.precision
    units = layers[-1].weights.shape[1]
    labels = read.labels or tuple(str(n) for n in range(max(units, 2)))
    if len(labels) != max(units, 2):
        raise ModelError(
            f"there are {len(labels)} labels, but {units} outputs",
            where=name,
            remedy="give a sound model",
        )
    if units == 1:
        if isinstance(output, parts.Softmax):
            raise ModelError("a softmax of one unit always gives 1", where=output.where)
        if isinstance(output, parts.Activate):
            score = 0.5 if threshold is None else threshold
            return sigmoid_decision(score, labels, precision, complement=complement)
        if threshold is None:
            threshold = _default_threshold(layers)
        return plain_decision(threshold, labels, precision)
    if isinstance(output, parts.Activate):
        raise ModelError(
            f"{units} sigmoid outputs make {units} decisions, not one",
            where=output.where,
            remedy="give a network with one sigmoid output or a softmax",
        )
    if threshold is not None and threshold != 0.5:
        raise ParameterError(
            f"{threshold} does not go with {units} outputs, of which the largest decides",
            where="threshold",
            remedy="leave it out",
        )
    if isinstance(output, parts.Softmax):
        return softmax_decision(labels, precision)
    return Decision("argmax", 0.0, 0.0, labels)


# How far the ends of a range may be moved by the rounding of weights to float32.
_ROUNDED = 1e-6


def _default_threshold(layers: Sequence[DenseLayer]) -> float:
    """Return the threshold of one output: 0.5 of a probability, 0 of a sum of any sign.

    An output with a range that lies within 0 and 1 and has 0.5 inside is a probability, as an audit
    takes it. One that only rescales a sigmoid or tanh of one unit to another range is neither, nor
    is one that no input brings to the other side of 0.5 or 0: then a threshold has to be given.
    """
    reached = _range(layers)
    if reached is None:
        return 0.0
    low, high, units = reached
    if -_ROUNDED <= low < 0.5 - _ROUNDED and 0.5 + _ROUNDED < high <= 1 + _ROUNDED:
        return 0.5
    if units > 1 and low < -_ROUNDED and high > _ROUNDED:
        return 0.0
    raise ParameterError(
        f"none is given, and the output is neither a probability nor an unbounded sum: it lies "
        f"between {low:g} and {high:g}",
        where="threshold",
        remedy="give the value above which the model decides for label 1",
    )


def _range(layers: Sequence[DenseLayer]) -> tuple[float, float, int] | None:
    """Return between which numbers the output lies, and the units of the last sigmoids or tanhs.

    None if there are no such units, as then nothing bounds it.
    """
    bounded = [n for n, layer in enumerate(layers) if layer.activation in ("sigmoid", "tanh")]
    if not bounded:
        return None
    last = layers[bounded[-1]]
    units = last.weights.shape[1]
    low = np.full(units, 0.0 if last.activation == "sigmoid" else -1.0)
    high = np.ones(units)
    for layer in layers[bounded[-1] + 1 :]:
        middle = (low + high) / 2 @ layer.weights + layer.bias
        spread = (high - low) / 2 @ np.abs(layer.weights)
        low, high = middle - spread, middle + spread
        if layer.activation in ("relu", "leaky_relu"):
            slope = layer.negative_slope if layer.activation == "leaky_relu" else 0.0
            low, high = (np.where(end < 0, slope * end, end) for end in (low, high))
    return float(low[0]), float(high[0]), units
