"""Gradients of a network, and what a step of a feature changes to first order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.baselines.coding import Points, RowCoding
from testsgd.models import NetworkModel

Floats = NDArray[np.float64]


def input_gradients(model: NetworkModel, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Differentiate a network's last sum by its encoded inputs.

    Parameters
    ----------
    model : NetworkModel
        The network.
    inputs : numpy.ndarray of float32, shape (n, width)
        Encoded rows.

    Returns
    -------
    numpy.ndarray of float32, shape (n, width)
    """
    slopes: list[NDArray[np.bool_] | None] = []
    sums = model.first_sums(inputs)
    for before, layer in zip(model.layers, model.layers[1:], strict=False):
        slopes.append(sums > 0 if before.activation == "relu" else None)
        values = np.maximum(sums, 0) if before.activation == "relu" else sums
        sums = values @ layer.weights + layer.bias
    gradients = np.ones((len(inputs), 1), dtype=np.float32)
    for layer, slope in zip(reversed(model.layers[1:]), reversed(slopes), strict=True):
        gradients = gradients @ layer.weights.T
        if slope is not None:
            gradients = gradients * slope
    return gradients @ model.layers[0].weights.T


def step_effects(model: NetworkModel, coding: RowCoding, points: Points) -> tuple[Floats, Floats]:
    """Give what a step up or down of each feature adds to a network's last sum, to first order.

    For a category the step is to its neighbour in the declared order, so both of its inputs change.

    Returns
    -------
    up, down : numpy.ndarray of float64, shape (n, features)
        0 for sensitive features and for those that the network does not take.
    """
    inputs = model.encoding.encode(coding.frame(points))
    gradients = input_gradients(model, inputs)
    ones = np.ones(points.shape, dtype=np.int64)
    up, down = (
        _effects(model, coding, gradients, inputs, coding.moved(points, direction * ones))
        for direction in (1, -1)
    )
    return up, down


def _effects(
    model: NetworkModel,
    coding: RowCoding,
    gradients: NDArray[np.float32],
    inputs: NDArray[np.float32],
    moved: Points,
) -> Floats:
    """Multiply gradients with the change of every feature's inputs, feature by feature."""
    changes = gradients * (model.encoding.encode(coding.frame(moved)) - inputs)
    effects = np.zeros(moved.shape)
    for place in coding.insensitive:
        name = coding.names[place]
        if model.encoding.takes(name):
            start = model.encoding.offset(name)
            own = slice(start, start + model.encoding.of(name).width)
            effects[:, place] = changes[:, own].sum(axis=1)
    return effects
