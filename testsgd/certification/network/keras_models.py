"""Keras networks as Python objects, asked for their configuration and weights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network.keras_layers import keras_network
from testsgd.certification.network.parts import ReadNetwork
from testsgd.errors import ModelError, TestSGDError

_KERAS = {"keras", "tf_keras", "tensorflow"}


def is_keras_object(source: Any) -> bool:
    """Say whether an object looks like a model of Keras, without importing it."""
    return all(callable(getattr(source, name, None)) for name in ("to_json", "get_layer")) and any(
        str(base.__module__).split(".")[0] in _KERAS for base in type(source).__mro__
    )


def read_keras_object(source: Any) -> ReadNetwork:
    """Read a Sequential or Functional model.

    Raises
    ------
    ModelError
        If it is of another class, or has a layer that is none of Keras' own or is not known.
    """
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

    def arrays(name: str, kind: str, position: int) -> Sequence[NDArray[np.generic]]:
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
