"""Networks on disk: a ``.keras`` file and its preprocessing beside it.

A ``.keras`` file is a zip archive with the layers' configuration as JSON and the weights in an HDF5
file, so a network of fully connected layers is read without TensorFlow, and nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from testsgd._files import write_text
from testsgd.errors import ModelError
from testsgd.models.encoding import Encoding
from testsgd.models.network import Layer, NetworkModel

MODEL_FILE = "model.keras"
PREPROCESSING_FILE = "preprocessing.json"
CARD_FILE = "card.json"
_FORMAT = "testsgd.preprocessing/1"


def write_preprocessing(folder: Path, encoding: Encoding, *, positive: str, negative: str) -> None:
    """Write how rows become inputs, and what the output means, beside the network."""
    document = {
        "format": _FORMAT,
        "output": {"positive_label": positive, "negative_label": negative},
        "features": encoding.to_json(),
    }
    write_text(folder / PREPROCESSING_FILE, json.dumps(document, indent=1) + "\n")


def read_network(path: Path, *, favourable: str, name: str, threshold: float = 0.5) -> NetworkModel:
    """Read a network that ``testsgd train`` wrote.

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
    if not path.is_file():
        raise ModelError("there is no such file", where=str(path), remedy="check the path")
    encoding, labels = _read_preprocessing(path.parent / PREPROCESSING_FILE)
    if favourable not in labels:
        raise ModelError(
            f"the network knows the labels {labels[0]!r} and {labels[1]!r}, not {favourable!r}",
            where=str(path),
            remedy="choose one of them as the favourable label, or train anew",
        )
    layers = _read_layers(path)
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
        positive_label=labels[0],
        favourable=favourable,
        name=name,
        threshold=threshold,
    )


def read_card(folder: Path) -> dict[str, Any]:
    """Read the model card beside a network; empty if there is none."""
    path = folder / CARD_FILE
    if not path.is_file():
        return {}
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            "the model card is not valid JSON", where=str(path), remedy="train the model anew"
        ) from error
    return card if isinstance(card, dict) else {}


def _read_preprocessing(path: Path) -> tuple[Encoding, tuple[str, str]]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["format"] != _FORMAT:
            raise ValueError(document["format"])
        output = document["output"]
        labels = (str(output["positive_label"]), str(output["negative_label"]))
        return Encoding.from_json(document["features"]), labels
    except FileNotFoundError as error:
        raise ModelError(
            f"the file {PREPROCESSING_FILE} is missing beside the network",
            where=str(path.parent),
            remedy="give a network that `testsgd train` wrote, or a function "
            "(package.module:callable) that does its own preprocessing",
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the preprocessing cannot be read", where=str(path), remedy="train the model anew"
        ) from error


def _read_layers(path: Path) -> tuple[Layer, ...]:
    import h5py

    try:
        with zipfile.ZipFile(path) as archive:
            configuration = json.loads(archive.read("config.json"))
            weights = io.BytesIO(archive.read("model.weights.h5"))
        dense = _dense_layers(configuration, path)
        with h5py.File(weights, "r") as file:
            stored = file["layers"]
            layers = tuple(
                Layer(
                    np.asarray(stored[layer["name"]]["vars"]["0"], dtype=np.float32),
                    np.asarray(stored[layer["name"]]["vars"]["1"], dtype=np.float32),
                    layer["activation"],
                )
                for layer in dense
            )
        _check_weights(layers)
        return layers
    except ModelError:
        raise
    except Exception as error:
        # Whatever three parsers raise at bytes that are damaged.
        raise ModelError(
            "this is not a .keras file that testsgd wrote",
            where=str(path),
            remedy="give a network that `testsgd train` wrote, or package.module:callable",
        ) from error


def _check_weights(layers: tuple[Layer, ...]) -> None:
    """Raise a ValueError if the layers do not fit together or hold anything but numbers."""
    width = layers[0].weights.shape[0]
    for layer in layers:
        units = len(layer.bias)
        if layer.weights.shape != (width, units) or layer.bias.shape != (units,):
            raise ValueError(layer.weights.shape)
        if not (np.isfinite(layer.weights).all() and np.isfinite(layer.bias).all()):
            raise ValueError("not a number")
        width = units


def _dense_layers(configuration: dict[str, Any], path: Path) -> list[dict[str, Any]]:
    layers = [
        {"class": layer["class_name"], **layer["config"]}
        for layer in configuration["config"]["layers"]
        if layer["class_name"] != "InputLayer"
    ]
    activations = [layer.get("activation") for layer in layers]
    plain = (
        configuration["class_name"] == "Sequential"
        and bool(layers)
        and all(layer["class"] == "Dense" and layer["use_bias"] for layer in layers)
        and all(activation == "relu" for activation in activations[:-1])
        and activations[-1] == "sigmoid"
        and layers[-1]["units"] == 1
    )
    if not plain:
        raise ModelError(
            "the network is not of fully connected ReLU layers with one sigmoid output",
            where=str(path),
            remedy="audit it as a function, package.module:callable",
        )
    return layers
