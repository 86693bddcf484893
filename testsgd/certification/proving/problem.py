"""A network on a domain as plain arrays, with the errors that rounding may cause.

Protected inputs take only the values that are compared, so they turn into constants: one offset of
the first layer's sums for each compared person. The rest of the first layer is the same for all.

The bounds hold for the sums that the model computes in its own arithmetic, in whatever order. A sum
of n products, and a bias, is wrong by at most ``(n + 1) u / (1 - (n + 1) u)`` times the sum of the
absolute terms (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). What is
computed here is rounded too: each number comes from fewer than ``4 * (units + columns) + 64``
operations of float64 on terms whose absolute sum is bounded by the same quantity, so a multiple of
that number is added to the model's own factor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from testsgd.certification.domain import CategoryInput, Domain
from testsgd.certification.network import (
    CategoryColumns,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving.axes import Axes, Floats, lay_out
from testsgd.errors import ModelError

# Beyond these a sum may overflow.
_MOST = {"float32": 1e37, "float64": 1e300}


def _largest_inputs(network: FeedForward, domain: Domain) -> list[Floats]:
    """Bound the absolute inputs of each layer, and last the absolute sums that decide."""
    columns = []
    for given, wanted in zip(network.inputs, domain.inputs, strict=True):
        own = given.columns
        if isinstance(own, CategoryColumns):
            columns.append(np.abs(own.table).max(axis=0) + np.max(own.absolute_error))
        else:
            assert not isinstance(wanted, CategoryInput)
            end = float(max(abs(wanted.low), abs(wanted.high)))
            scaled = np.abs(own.multiplier) * end + np.abs(own.constant)
            columns.append(scaled + own.absolute_error)
    reach = [np.concatenate(columns)]
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in network.layers:
            sums = reach[-1] @ np.abs(layer.weights) + np.abs(layer.bias)
            if layer.activation in ("sigmoid", "tanh"):
                # The sums themselves may be too large, too.
                sums = np.where(sums < _MOST[network.precision], 1.0, np.inf)
            reach.append(sums)
    return reach


def _check_range(network: FeedForward, largest: list[Floats]) -> None:
    """Raise a ModelError if a sum, or a coefficient of the bounds, may overflow."""
    most = max(float(reach.max(initial=0.0)) for reach in largest)
    if not most < _MOST[network.precision]:
        raise ModelError(
            f"sums of the network may grow to {most:.1e}, beyond what {network.precision} holds",
            where="model",
            remedy="scale its inputs, or certify a smaller domain",
        )
    growth = np.ones(network.outputs)
    with np.errstate(over="ignore", invalid="ignore"):
        for layer in reversed(network.layers):
            growth = np.abs(layer.weights) @ np.maximum(growth, 1.0)
            if not growth.max(initial=0.0) < _MOST["float64"]:
                raise ModelError(
                    "the weights of the network's layers are too large to be multiplied",
                    where="model",
                    remedy="scale them",
                )


# Products of two errors, each far below 0.001, are covered by one per cent more.
_MORE = 1.01
# Numbers this small may be taken for 0, once for each term of a sum.
_VANISHING = {"float32": 2.0**-125, "float64": 2.0**-1021}
_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
# Of sigmoid and tanh as libraries compute them: far more units in the last place than they promise.
_ACTIVATION_UNITS = 16


@dataclass(frozen=True)
class Map:
    """One layer's sums, from the activations before it."""

    weights: Floats  # Of the first layer a row a column of the axes; shape (inputs, units).
    absolute: Floats  # What the model multiplies at most, without signs.
    bias: Floats  # Of the first layer 0: its biases are in the problem's offsets.
    bias_absolute: Floats
    rounding: float  # Errors are at most this times the sum of the absolute terms,
    extra: Floats  # plus this; shape (units,).


@dataclass(frozen=True)
class Problem:
    """A network on a domain, as the arrays that boxes are analysed with."""

    axes: Axes  # The free inputs.
    maps: tuple[Map, ...]  # The first from the axes' columns, the last to the deciding sums.
    # Between them: "leaky_relu", "sigmoid" or "tanh", and the slope below 0; a ReLU is leaky with
    # slope 0, a linear unit with slope 1.
    activations: tuple[tuple[str, float], ...]
    # Absolute error of a sigmoid or tanh; relative error of a leaky unit below 0.
    activation_errors: tuple[float, ...]
    # Constants of each compared person, and how far the model's own may lie from them; shape
    # (persons, units of the first layer).
    offsets: Floats
    offset_noise: Floats
    # One deciding sum: above `above` is label 1, below `below` is label 0. Sums between pairs of
    # classes: above `above` the first class wins, below `below` the second.
    above: float
    below: float
    # The classes that each deciding sum compares; empty: one sum against a threshold.
    pairs: tuple[tuple[int, int], ...]
    classes: int  # How many decisions there are.

    @property
    def persons(self) -> int:
        """How many combinations of protected values are compared."""
        return len(self.offsets)

    @property
    def widest(self) -> int:
        """Units of the widest layer."""
        return int(max(max(layer.weights.shape) for layer in self.maps))

    @property
    def work(self) -> int:
        """Multiplications of one run of the network."""
        return sum(layer.weights.size for layer in self.maps)


def build_problem(network: FeedForward, domain: Domain) -> Problem:
    """Return a network on a domain as the arrays that boxes are analysed with.

    Parameters
    ----------
    network : FeedForward
        The network.
    domain : Domain
        A domain with the inputs of the network, in its order.

    Returns
    -------
    Problem
        The layers' sums as maps from the axes on, with bounds on the model's rounding.

    Raises
    ------
    ModelError
        If sums of the network, or coefficients of the bounds, may leave the range of the
        arithmetic, or a leaky unit has a slope that is not between 0 and 1.

    Notes
    -----
    The bound on the rounding of sums is that of Higham, Accuracy and Stability of Numerical
    Algorithms, section 3.1; see the module.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from testsgd.certification import find_domain, find_network
    >>> model = LogisticRegression().fit([[0, 0], [19, 1]], [0, 1])
    >>> model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-10.5]
    >>> ranges = {"inputs": {"skill": {"integer": [0, 19]}, "man": {"integer": [0, 1]}}}
    >>> problem = build_problem(find_network(model), find_domain(ranges, protected="man"))
    >>> problem.persons, problem.offsets.tolist()
    (2, [[-10.5], [-7.5]])
    """
    for number, layer in enumerate(network.layers, start=1):
        # The lines assume an activation that is convex and rising.
        if not 0 <= layer.negative_slope <= 1:
            raise ModelError(
                f"the slope {layer.negative_slope} of layer {number} is not between 0 and 1",
                where="model",
                remedy="certify a network with ReLU or leaky ReLU units",
            )
    largest = _largest_inputs(network, domain)
    _check_range(network, largest)
    axes = lay_out(domain)
    units = sum(layer.weights.shape[1] for layer in network.layers)
    guard = 4 * (4 * (units + axes.width + network.width) + 64) * 2.0**-53
    terms = [(len(layer.weights) + 2) * _UNIT[network.precision] for layer in network.layers]
    roundings = [
        _MORE * (product / (1.0 - product) + layer.relative_error) + guard
        for product, layer in zip(terms, network.layers, strict=True)
    ]
    first, offsets, noise = _first_layer(network, domain, axes, roundings[0], largest[0])
    maps = [first]
    for layer, rounding, reach in zip(
        network.layers[1:], roundings[1:], largest[1:-1], strict=True
    ):
        maps.append(
            Map(
                layer.weights,
                np.abs(layer.weights),
                layer.bias,
                np.abs(layer.bias),
                rounding,
                _extra(layer, reach, network.precision),
            )
        )
    pairs: tuple[tuple[int, int], ...] = ()
    above = network.decision.decision_threshold + network.decision.tolerance
    below = network.decision.decision_threshold - network.decision.tolerance
    classes = 2
    if network.decision.kind == "argmax":
        classes = network.outputs
        pairs = tuple((k, m) for k in range(1, classes) for m in range(k))
        above, below = network.decision.tolerance, -network.decision.tolerance
        maps[-1] = _compare(maps[-1], pairs)
        if len(maps) == 1:
            # A linear model, whose only layer is the first.
            one, two = (list(side) for side in zip(*pairs, strict=True))
            offsets, noise = offsets[:, one] - offsets[:, two], noise[:, one] + noise[:, two]
    return Problem(
        axes=axes,
        maps=tuple(maps),
        activations=tuple(_activation(layer) for layer in network.layers[:-1]),
        activation_errors=tuple(
            _MORE
            * (_ACTIVATION_UNITS if layer.activation in ("sigmoid", "tanh") else 2)
            * _UNIT[network.precision]
            for layer in network.layers[:-1]
        ),
        offsets=offsets,
        offset_noise=noise,
        above=above,
        below=below,
        pairs=pairs,
        classes=classes,
    )


def _extra(layer: DenseLayer, largest: Floats, precision: str) -> Floats:
    """Bound what is lost of a layer's sums beside rounding, shape (units,)."""
    tiny = _VANISHING[precision]
    size = np.abs(layer.weights)
    # A product, a sum, an activation or a weight may be taken for 0.
    lost = tiny * (len(size) + 2 + size.sum(axis=0))
    lost += np.where(size < tiny, size, 0.0).T @ largest
    return np.asarray(lost + layer.absolute_error)


def _activation(layer: DenseLayer) -> tuple[str, float]:
    """Return the activation as "leaky_relu" with a slope below 0, "sigmoid" or "tanh"."""
    if layer.activation == "linear":
        return "leaky_relu", 1.0
    if layer.activation == "relu":
        return "leaky_relu", 0.0
    return layer.activation, layer.negative_slope


def _first_layer(
    network: FeedForward, domain: Domain, axes: Axes, rounding: float, largest: Floats
) -> tuple[Map, Floats, Floats]:
    """Fold what a network does to its inputs into its first layer.

    Returns
    -------
    first : Map
        From the columns of the axes to the units, with biases of 0.
    offsets, offset_noise : numpy.ndarray of float64, shape (persons, units)
        What the protected values and all constants add for each person, and how much of it may be
        rounding: the sums are ``x @ first.weights + offsets[person]``.
    """
    layer = network.layers[0]
    units = layer.weights.shape[1]
    cast = 2 * _UNIT[network.precision]
    weights = np.zeros((axes.width, units))
    # Already times the rounding, because columns have errors of their own.
    noise = np.zeros((axes.width, units))
    base = layer.bias.copy()
    base_noise = rounding * np.abs(layer.bias) + _extra(layer, largest, network.precision)
    offsets = np.tile(base, (len(domain.protected_values), 1))
    offset_noise = np.tile(base_noise, (len(domain.protected_values), 1))
    start, column = 0, 0
    for given, wanted in zip(network.inputs, domain.inputs, strict=True):
        rows = layer.weights[start : start + given.columns.width]
        start += given.columns.width
        values, constant, per_value, per_constant = _columns(given, rows, rounding + cast)
        if wanted.name in domain.protected:
            index = domain.protected.index(wanted.name)
            for person, combination in enumerate(domain.protected_values):
                value = combination[index]
                if isinstance(given.columns, CategoryColumns):
                    offsets[person] += values[int(value)]
                    offset_noise[person] += per_value[int(value)]
                else:
                    offsets[person] += value * values[0]
                    offset_noise[person] += abs(value) * per_value[0]
        else:
            weights[column : column + len(values)] = values
            noise[column : column + len(values)] = per_value
            column += len(values)
        offsets += constant
        offset_noise += per_constant
    first = Map(weights, noise, np.zeros(units), np.zeros(units), 1.0, np.zeros(units))
    return first, offsets, offset_noise


def _columns(
    given: InputColumns, rows: Floats, rounding: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Weights of one input's values, a constant, and the noise of both."""
    absolute = np.abs(rows)
    columns = given.columns
    if isinstance(columns, CategoryColumns):
        values = columns.table @ rows
        noise = rounding * (np.abs(columns.table) @ absolute)
        noise += np.broadcast_to(columns.absolute_error, columns.table.shape) @ absolute * _MORE
        return values, np.zeros(rows.shape[1]), noise, np.zeros(rows.shape[1])
    assert isinstance(columns, NumberColumns)
    multiplier = np.abs(columns.multiplier)
    error = rounding + _MORE * columns.relative_error
    return (
        (columns.multiplier @ rows)[None],
        columns.constant @ rows,
        ((error * multiplier) @ absolute)[None],
        (rounding * np.abs(columns.constant) + _MORE * columns.absolute_error) @ absolute,
    )


def _compare(last: Map, pairs: tuple[tuple[int, int], ...]) -> Map:
    """Return the map to the differences of the sums of classes, one for each pair."""
    one, two = (np.array(side) for side in zip(*pairs, strict=True))
    return Map(
        last.weights[:, one] - last.weights[:, two],
        last.absolute[:, one] + last.absolute[:, two],
        last.bias[one] - last.bias[two],
        last.bias_absolute[one] + last.bias_absolute[two],
        last.rounding,
        last.extra[one] + last.extra[two],
    )
