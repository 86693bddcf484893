"""What every training with Keras has in common."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import MissingExtraError, ParameterError


def check_training(*, seed: int, epochs: int) -> None:
    """Raise a :class:`ParameterError` if a training cannot go by these."""
    if not 0 <= seed < 2**32:
        raise ParameterError(
            f"{seed} is not between 0 and {2**32 - 1}", where="seed", remedy="give a whole number"
        )
    if epochs < 1:
        raise ParameterError(
            f"{epochs} is not at least 1", where="epochs", remedy="give a whole number"
        )


def seeded_keras(seed: int) -> Any:
    """Import Keras with TensorFlow, and make what follows repeatable.

    Raises
    ------
    MissingExtraError
        If TensorFlow is not installed.
    """
    keras = repeatable_keras()
    keras.utils.set_random_seed(seed)
    return keras


def repeatable_keras() -> Any:
    """Import Keras with TensorFlow, and let its operations give the same results every time.

    Raises
    ------
    MissingExtraError
        If TensorFlow is not installed.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import keras
        import tensorflow as tf
    except ImportError as error:
        raise MissingExtraError(
            "tensorflow", extra="tensorflow", purpose="training a network"
        ) from error
    tf.config.experimental.enable_op_determinism()
    return keras


def fit(
    keras: Any,
    network: Any,
    data: dict[str, Any],
    *,
    epochs: int,
    patience: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[int, float]:
    """Train a network with two answers, and leave it as it was when its validation loss was least.

    Parameters
    ----------
    keras : module
        As :func:`seeded_keras` gives it.
    network : keras.Model
        With one sigmoid output; compiled here.
    data : dict
        What Keras' ``fit`` is to know of the data.
    epochs : int
        At most so many passes.
    patience : int
        Passes without a smaller validation loss after which the training ends.
    progress : callable, optional
        Called with the epochs done and the most there can be.

    Returns
    -------
    epochs : int
        Passes made.
    seconds : float
        Wall-clock time.
    """
    network.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=patience, restore_best_weights=True),
    ]
    if progress is not None:
        callbacks.append(
            keras.callbacks.LambdaCallback(
                on_epoch_end=lambda epoch, logs: progress(epoch + 1, epochs)
            )
        )
    started = time.perf_counter()
    history = network.fit(**data, epochs=epochs, callbacks=callbacks, verbose=0)
    return len(history.history["val_loss"]), time.perf_counter() - started


class Passes:
    """Passes over examples by a network of Keras, any number of trainings in turns.

    To compile a network takes seconds, and to train a small one hardly more. So there is one
    compiled network, and every training keeps what it has come to.

    Parameters
    ----------
    network : keras.Model
        Compiled.
    """

    def __init__(self, network: Any) -> None:
        self._network = network
        network.optimizer.build(network.trainable_variables)
        self._variables = [*network.variables, *network.optimizer.variables]
        self._fresh = [variable.numpy() for variable in network.optimizer.variables]

    def train(
        self,
        weights: Sequence[NDArray[Any]],
        data: Callable[[int], dict[str, Any]],
        *,
        passes: int,
        seed: int,
    ) -> Iterator[list[NDArray[Any]]]:
        """Train from some weights; give those after each pass.

        Parameters
        ----------
        weights : sequence of numpy.ndarray
            As the network's ``get_weights`` gives them.
        data : callable
            From the number of a pass, counted from 0, to what Keras' ``fit`` is to know of the
            data.
        passes : int
            How many.
        seed : int
            Of the dropout.
        """
        network = self._network
        generator = np.random.default_rng(seed)
        network.set_weights(weights)
        for variable, value in zip(network.optimizer.variables, self._fresh, strict=True):
            variable.assign(value)
        for variable in network.variables:
            if variable.path.endswith("seed_generator_state"):
                variable.assign(np.array([generator.integers(2**31), 0], dtype=variable.dtype))
        state = self._state()
        for place in range(passes):
            # Between two passes another training may have had its turn.
            for variable, value in zip(self._variables, state, strict=True):
                variable.assign(value)
            network.fit(**data(place), epochs=1, verbose=0)
            state = self._state()
            yield network.get_weights()

    def _state(self) -> list[NDArray[Any]]:
        return [variable.numpy() for variable in self._variables]


def bare_network(keras: Any, network: Any) -> Any:
    """Copy a network without its optimiser's state, which would triple the file, and dropout."""
    layers = [layer for layer in network.layers if "Dropout" not in type(layer).__name__]
    bare = keras.Sequential(
        [
            keras.layers.Input(network.input_shape[1:], dtype=network.inputs[0].dtype),
            *(type(layer).from_config(layer.get_config()) for layer in layers),
        ]
    )
    for copy, layer in zip(bare.layers, layers, strict=True):
        copy.set_weights(layer.get_weights())
    return bare
