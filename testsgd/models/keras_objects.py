"""Models that a user made with Keras, asked as objects."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# Rows or texts at once. Keras' own 32 would make an audit ten times as long.
_BATCH = 512


@dataclass(frozen=True)
class KerasFunction:
    """Asks a Keras model without its progress bar.

    Attributes
    ----------
    model : keras.Model
        The model.
    """

    model: Any

    def __call__(self, asked: pd.DataFrame | Sequence[str]) -> Any:
        """Give what the model predicts."""
        inputs = keras_inputs(self.model, asked)
        return self.model.predict(inputs, batch_size=_BATCH, verbose=0)


def keras_inputs(network: Any, asked: pd.DataFrame | Sequence[str]) -> Any:
    """Give rows as an array of their numbers, and texts as a tensor of the shape a model takes.

    Raises
    ------
    ValueError
        If there are other cells than numbers, or texts for a model that takes none.
    """
    if isinstance(asked, pd.DataFrame):
        return float_inputs(asked)
    if network.inputs[0].dtype != "string":
        raise ValueError(f"it takes {network.inputs[0].dtype}, not texts")
    import tensorflow as tf

    texts = tf.constant(list(asked), dtype=tf.string)
    return texts[:, tf.newaxis] if len(network.input_shape) == 2 else texts


def is_keras_model(source: Any) -> bool:
    """Say whether an object is a model of Keras, without importing it."""
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(source, keras.Model)


def float_inputs(frame: pd.DataFrame) -> NDArray[np.float32]:
    """Give a data frame of numbers as an array, NaN where missing.

    Examples
    --------
    >>> float_inputs(pd.DataFrame({"age": [30, 40], "income": [1.5, None]})).tolist()
    [[30.0, 1.5], [40.0, nan]]
    """
    return np.asarray(frame.to_numpy(dtype=np.float32, na_value=np.nan))
