"""The files of a network: a ``.keras`` archive, its preprocessing and its model card.

A ``.keras`` file is a zip archive with the layers' configuration as JSON and the weights in an HDF5
file, so a network is read without TensorFlow, and nothing is unpickled.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd._files import write_text
from testsgd.errors import ModelError

MODEL_FILE = "model.keras"
PREPROCESSING_FILE = "preprocessing.json"
CARD_FILE = "card.json"

_FORMATS = {
    "testsgd.preprocessing/1": "tables",
    "testsgd.text-preprocessing/1": "texts",
}

Read = TypeVar("Read")


@dataclass(frozen=True)
class Labels:
    """What a network's output means: the probability of `positive`; the rest is `negative`."""

    positive: str
    negative: str


def write_preprocessing(
    folder: Path, subject: str, labels: Labels, document: Mapping[str, Any]
) -> None:
    """Write how rows or texts become inputs, and what the output means, beside the network.

    Parameters
    ----------
    folder : path-like
        The network's folder.
    subject : {"tables", "texts"}
        What the network is of.
    labels : Labels
        What its output means.
    document : mapping
        What else is to be known.
    """
    name = next(name for name, of in _FORMATS.items() if of == subject)
    output = {"positive_label": labels.positive, "negative_label": labels.negative}
    whole = {"format": name, "output": output, **document}
    text = json.dumps(whole, indent=1) + "\n"
    write_text(Path(folder) / PREPROCESSING_FILE, text)


def read_preprocessing(
    path: Path, subject: str, *, favourable: str, read: Callable[[dict[str, Any]], Read]
) -> tuple[Labels, Read]:
    """Read what :func:`write_preprocessing` wrote beside a network.

    Parameters
    ----------
    path : path-like
        The network's file.
    subject : {"tables", "texts"}
        What the network should be of.
    favourable : str
        The label whose rate is compared; the network must know it.
    read : callable
        Makes something of the document; what it raises at a document that is none is told as such.

    Raises
    ------
    ModelError
        If the network's file or its preprocessing is missing, cannot be read, or is of another
        kind of network.
    """
    path = Path(path)
    if not path.is_file():
        raise ModelError("there is no such file", where=str(path), remedy="check the path")
    place = path.parent / PREPROCESSING_FILE
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
        found = _FORMATS[document["format"]]
        labels = Labels(
            str(document["output"]["positive_label"]), str(document["output"]["negative_label"])
        )
        content = read(document) if found == subject else None
    except FileNotFoundError as error:
        raise ModelError(
            f"the file {PREPROCESSING_FILE} is missing beside the network",
            where=str(path.parent),
            remedy="give a network that `testsgd train` wrote, or a function "
            "(package.module:callable) that does its own preprocessing",
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "the preprocessing cannot be read", where=str(place), remedy="train the model anew"
        ) from error
    if content is None:
        raise ModelError(
            f"the network is of {found}, the data set of {subject}",
            where=str(path),
            remedy="audit it with the data set it was trained on",
        )
    if favourable not in (labels.positive, labels.negative):
        raise ModelError(
            f"the network knows the labels {labels.positive!r} and {labels.negative!r}, "
            f"not {favourable!r}",
            where=str(path),
            remedy="choose one of them as the favourable label, or train anew",
        )
    return labels, content


def read_layers(
    path: Path,
    read: Callable[[list[dict[str, Any]], Callable[[str], list[NDArray[np.float32]]]], Read],
    *,
    kind: str,
) -> Read:
    """Read the layers of a ``.keras`` file.

    Parameters
    ----------
    path : path-like
        The file.
    read : callable
        Makes a network of the layers' configurations, in order, each with its class under
        ``"class"``, and of a function from a place in the file of weights, such as
        ``"dense/vars"``, to the arrays there. It raises :class:`WrongLayersError` if the layers are
        not those it knows, and anything else if they do not fit together.
    kind : str
        The layers that `read` knows, in words.

    Raises
    ------
    ModelError
        If the file is damaged, or the network is of another kind.
    """
    import h5py

    try:
        with zipfile.ZipFile(path) as archive:
            configuration = json.loads(archive.read("config.json"))
            weights = io.BytesIO(archive.read("model.weights.h5"))
        layers = [
            {"class": layer["class_name"], **layer["config"]}
            for layer in configuration["config"]["layers"]
            if layer["class_name"] != "InputLayer"
        ]
        if configuration["class_name"] != "Sequential":
            raise WrongLayersError
        with h5py.File(weights, "r") as file:
            stored = file["layers"]

            def arrays(place: str) -> list[NDArray[np.float32]]:
                group = stored[place]
                found = [np.asarray(group[str(n)], dtype=np.float32) for n in range(len(group))]
                if not all(np.isfinite(array).all() for array in found):
                    raise ValueError("not a number")
                return found

            return read(layers, arrays)
    except WrongLayersError as error:
        raise ModelError(
            f"the network is not {kind}",
            where=str(path),
            remedy="audit it as a function, package.module:callable",
        ) from error
    except Exception as error:
        # Whatever three parsers raise at bytes that are damaged.
        raise ModelError(
            "this is not a .keras file that testsgd wrote",
            where=str(path),
            remedy="give a network that `testsgd train` wrote, or package.module:callable",
        ) from error


class WrongLayersError(Exception):
    """The layers are sound but not those that can be computed here."""


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
