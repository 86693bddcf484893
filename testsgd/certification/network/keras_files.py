"""Keras networks on disk: ``.h5`` of Keras 2 and 3, and ``.keras`` archives.

The configuration is JSON and the weights are HDF5; both are only read. Nothing in the file is run
or unpickled, and no TensorFlow is loaded. A ``Lambda`` layer, which holds code, is refused as any
other layer that is not known.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network.keras_layers import Arrays, keras_network
from testsgd.certification.network.parts import MAXIMUM_NUMBERS, ReadNetwork, damaged, too_large
from testsgd.errors import ModelError, TestSGDError

_MAXIMUM_CONFIGURATION = 16 * 2**20
_MAXIMUM_WEIGHTS_FILE = 2**30


def read_keras_file(path: Path) -> ReadNetwork:
    """Read a ``.h5``, ``.hdf5`` or ``.keras`` file."""
    return _read_archive(path) if zipfile.is_zipfile(path) else _read_h5(path)


def _read_archive(path: Path) -> ReadNetwork:
    import h5py

    with zipfile.ZipFile(path) as archive:
        configuration = json.loads(_member(archive, "config.json", _MAXIMUM_CONFIGURATION))
        weights = io.BytesIO(_member(archive, "model.weights.h5", _MAXIMUM_WEIGHTS_FILE))
    with h5py.File(weights, "r") as file:
        return keras_network(configuration, _by_class(_inside(file, "layers"), configuration))


def _member(archive: zipfile.ZipFile, name: str, maximum: int) -> bytes:
    """Read a member whose size is checked first, so that a small file cannot fill the memory."""
    with archive.open(name) as stream:
        content = stream.read(min(maximum, archive.getinfo(name).file_size) + 1)
    if len(content) > maximum:
        raise too_large(name)
    return content


def _by_class(layers: Any, configuration: Any) -> Arrays:
    """Find weights in an archive: groups are named after the classes, counted.

    Newer Keras also writes a layer's own name beside its weights; then that is looked for.
    """
    named = {}
    for key in layers:
        group = _inside(layers, key)
        name = _inside(group, "vars").attrs.get("name") if "vars" in group else None
        if name is not None:
            named[_text(name)] = key
    config = configuration["config"]
    counted: dict[str, str] = {}
    counts: dict[str, int] = {}
    for layer in config["layers"]:
        base = _snake_case(layer["class_name"])
        count = counts.get(base, 0)
        counts[base] = count + 1
        counted[layer["config"]["name"]] = f"{base}_{count}" if count else base

    def arrays(name: str) -> Sequence[NDArray[np.generic]]:
        key = named.get(name) if named else counted[name]
        if key is None:
            return []
        group = _inside(layers, f"{key}/vars")
        return [_array(group, str(n), name) for n in range(len(group))]

    return arrays


def _snake_case(name: str) -> str:
    """Turn a class's name into that of a group, as Keras does."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _read_h5(path: Path) -> ReadNetwork:
    import h5py

    with h5py.File(path, "r") as file:
        stored = file.attrs.get("model_config")
        if stored is None or "model_weights" not in file:
            raise ModelError(
                "the file holds no model, or weights only",
                where="model_config",
                remedy="save the whole model with model.save",
            )
        configuration = json.loads(_text(stored))
        return keras_network(configuration, _by_name(_inside(file, "model_weights")))


def _by_name(weights: Any) -> Arrays:
    """Find weights in a .h5 file, where each layer lists the places of its own."""

    def arrays(name: str) -> Sequence[NDArray[np.generic]]:
        # A layer's name may hold a slash, and is one place below each other then.
        group = _inside(weights, name)
        return [_array(group, _text(key), name) for key in _listed(group)]

    return arrays


def _listed(group: Any) -> list[Any]:
    """Return the attribute weight_names, which Keras cuts into chunks if it is long."""
    if "weight_names" in group.attrs:
        return list(group.attrs["weight_names"])
    names: list[Any] = []
    while f"weight_names{len(names)}" in group.attrs:
        names.extend(group.attrs[f"weight_names{len(names)}"])
    return names


def _inside(group: Any, key: str) -> Any:
    """Go to a place in a file, along no link that could lead into another file."""
    import h5py

    for part in key.split("/"):
        if not isinstance(group.get(part, getlink=True), h5py.HardLink):
            raise damaged(f"the weights are not in the file, or not at {key!r}", "model")
        group = group[part]
    return group


def _array(group: Any, key: str, name: str) -> NDArray[np.generic]:
    import h5py

    stored = _inside(group, key)
    if not isinstance(stored, h5py.Dataset) or stored.is_virtual or stored.external:
        # External storage would make a file read others, of its author's choosing.
        raise ModelError(
            "the weights are not in the file", where=f"layer {name!r}", remedy="give a sound file"
        )
    if stored.size is None or stored.size > MAXIMUM_NUMBERS:
        raise too_large(f"layer {name!r}")
    return np.asarray(stored[()])


def _text(given: Any) -> str:
    return given.decode("utf-8") if isinstance(given, bytes) else str(given)


_KERAS = {"keras", "tf_keras", "tensorflow"}


def is_keras_object(source: Any) -> bool:
    """Return whether an object looks like a model of Keras, without importing it."""
    return all(callable(getattr(source, name, None)) for name in ("to_json", "get_layer")) and any(
        str(base.__module__).split(".")[0] in _KERAS for base in type(source).__mro__
    )


def read_keras_object(source: Any) -> ReadNetwork:
    """Read a Sequential or Functional model."""
    if str(type(source).__module__).split(".")[0] not in _KERAS:
        raise ModelError(
            f"a {type(source).__name__} is a class of your own, and may compute anything",
            where="model",
            remedy="give a Sequential or Functional model",
        )
    for layer in source.layers:
        if str(type(layer).__module__).split(".")[0] not in _KERAS:
            raise ModelError(
                "this layer is a class of your own, and may compute anything",
                where=f"layer {layer.name!r} ({type(layer).__name__})",
                remedy="give a network of Keras' own layers",
            )

    def arrays(name: str) -> Sequence[NDArray[np.generic]]:
        return [np.asarray(array) for array in source.get_layer(name).get_weights()]

    try:
        return keras_network(json.loads(source.to_json()), arrays)
    except TestSGDError:
        raise
    except Exception as error:
        # What Keras raises at models that are not built, or cannot be written as JSON.
        raise ModelError(
            f"the Keras model cannot be read ({type(error).__name__}: {error})",
            where="model",
            remedy="give a built Sequential or Functional model",
        ) from error
