"""Fully connected networks on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.models.encoding import Encoding
from testsgd.models.files import WrongLayersError, read_layers, read_preprocessing
from testsgd.models.network import Layer, NetworkModel
from testsgd.models.output import SigmoidOutput


def read_network(path: Path, *, favourable: str, name: str, threshold: float = 0.5) -> NetworkModel:
    """Read a network of rows that ``testsgd train`` wrote.

    Parameters
    ----------
    path : path-like
        The ``.keras`` file; its preprocessing is looked for beside it.
    favourable : str
        The label whose rate is compared.
    name : str
        What to call the network.
    threshold : float
        Scores of the favourable label above it count as favourable.

    Returns
    -------
    NetworkModel

    Raises
    ------
    ModelError
        If a file is missing or is not what it should be, or the network is of another kind.
    """
    path = Path(path)
    labels, encoding = read_preprocessing(
        path,
        "tables",
        favourable=favourable,
        read=lambda document: Encoding.from_json(document["features"]),
    )
    layers = read_layers(
        path, _dense_layers, kind="of fully connected ReLU layers with one sigmoid output"
    )
    width = layers[0].weights.shape[0]
    if width != encoding.width:
        raise ModelError(
            f"the network takes {width} inputs, its preprocessing gives {encoding.width}",
            where=str(path),
            remedy="keep the .keras file beside the preprocessing.json it was written with",
        )
    return NetworkModel(
        layers,
        encoding,
        sigmoid=SigmoidOutput(labels, favourable, threshold),
        name=name,
    )


def _dense_layers(
    layers: list[dict[str, Any]], arrays: Callable[[str], list[NDArray[np.float32]]]
) -> tuple[Layer, ...]:
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
    read = []
    for layer in layers:
        weights, bias = arrays(f"{layer['name']}/vars")
        read.append(Layer(weights, bias, layer["activation"]))
    _check_weights(read)
    return tuple(read)


def _check_weights(layers: list[Layer]) -> None:
    """Raise a ValueError if the layers do not fit together."""
    width = layers[0].weights.shape[0]
    for layer in layers:
        units = len(layer.bias)
        if layer.weights.shape != (width, units) or layer.bias.shape != (units,):
            raise ValueError(layer.weights.shape)
        width = units
