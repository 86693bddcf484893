"""Networks for tests, written down by hand in the formats of files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

Arrays = Sequence[NDArray[Any]]


def dense(name: str, units: int, activation: str, **more: Any) -> dict[str, Any]:
    """Configure a Dense layer as Keras 2 does."""
    config = {"name": name, "units": units, "activation": activation, "use_bias": True, **more}
    return {"class_name": "Dense", "config": {"dtype": "float32", **config}}


def write_keras_2(
    path: Path, layers: Sequence[Mapping[str, Any]], weights: Mapping[str, Arrays], width: int
) -> Path:
    """Write a Sequential model as Keras 2 does."""
    first = {**layers[0], "config": {**layers[0]["config"], "batch_input_shape": [None, width]}}
    model = {
        "class_name": "Sequential",
        "config": {"name": "sequential", "layers": [first, *layers[1:]]},
    }
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(model)
        stored = file.create_group("model_weights")
        stored.attrs["layer_names"] = [name.encode() for name in weights]
        for name, arrays in weights.items():
            group = stored.create_group(name)
            places = [f"{name}/{kind}:0" for kind in ("kernel", "bias", "a", "b")[: len(arrays)]]
            group.attrs["weight_names"] = [place.encode() for place in places]
            for place, array in zip(places, arrays, strict=True):
                group[place] = array
    return path


def small_weights(seed: int = 0) -> dict[str, Arrays]:
    """Make weights of a network of 3 inputs, 4 units and 1 output."""
    rng = np.random.default_rng(seed)
    return {
        "first": [rng.normal(size=(3, 4)).astype("f4"), rng.normal(size=4).astype("f4")],
        "last": [rng.normal(size=(4, 1)).astype("f4"), rng.normal(size=1).astype("f4")],
    }


def small_layers() -> list[dict[str, Any]]:
    """Configure the layers that go with them."""
    return [dense("first", 4, "relu"), dense("last", 1, "sigmoid")]
