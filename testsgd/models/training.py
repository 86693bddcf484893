"""Training networks with Keras, and the TestSGD paper's networks for tables."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from testsgd.data import Description, Table, check_count, table_fingerprint
from testsgd.errors import MissingExtraError, ParameterError
from testsgd.io import atomic_path, without_native_messages
from testsgd.models.encoding import fit_encoding
from testsgd.models.files import (
    MODEL_FILE,
    TrainingReport,
    model_folder,
    without_date,
    write_card,
    write_preprocessing,
)
from testsgd.models.network import read_network
from testsgd.models.training_split import Split, data_labels, output_labels, split_data
from testsgd.progress import PhaseProgress, shown_phase

EPOCHS = 30
# Of TensorFlow's levels of messages the one that shows none.
_NOTHING = "3"


def check_training(*, seed: int, epochs: int) -> None:
    """Raise an error if a training cannot use this seed or this number of epochs.

    Parameters
    ----------
    seed : int
        At least 0 and below 2**32.
    epochs : int
        At least 1.

    Raises
    ------
    ParameterError
        If one of them is out of its range.
    """
    if not 0 <= seed < 2**32:
        raise ParameterError(
            f"{seed} is not between 0 and {2**32 - 1}", where="seed", remedy="give a whole number"
        )
    check_count("epochs", epochs, 1)


def seeded_keras(seed: int) -> Any:
    """Import Keras with TensorFlow, and make what follows repeatable."""
    keras = repeatable_keras()
    keras.utils.set_random_seed(seed)
    return keras


def repeatable_keras() -> Any:
    """Import Keras with TensorFlow, and let its operations give the same results every time."""
    keras = quiet_keras("training a network")
    import tensorflow as tf

    tf.config.experimental.enable_op_determinism()
    return keras


def quiet_keras(purpose: str) -> Any:
    """Import Keras with TensorFlow; `purpose` says what for, if they are not installed."""
    try:
        with _quiet_tensorflow():
            import keras
            import tensorflow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("tensorflow", extra="tensorflow", purpose=purpose) from error
    return keras


@contextmanager
def _quiet_tensorflow() -> Iterator[None]:
    """Let TensorFlow print nothing when it is loaded, unless its user has chosen how much.

    Some versions look at the level only once they are loaded, and tell of missing drivers before.
    """
    level = os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", _NOTHING)
    if level != _NOTHING or "tensorflow" in sys.modules:
        yield
        return
    with without_native_messages():
        yield


class Duration(TypedDict):
    """How long a training took, as a :class:`TrainingReport` has it."""

    epochs: int
    seconds: float


def fit(
    keras: Any,
    network: Any,
    data: dict[str, Any],
    *,
    epochs: int,
    patience: int,
    progress: Callable[[int, int], None] | None,
) -> Duration:
    """Train a network of two labels; it is left as it was when its validation loss was least.

    `data`: the arguments of Keras' ``fit`` that are about the data. `patience`: passes without a
    smaller validation loss after which the training ends. Returns the passes made and the seconds.
    """
    network.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=patience, restore_best_weights=True),
    ]
    if progress is not None:
        progress_callback = keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: progress(epoch + 1, epochs)
        )
        callbacks.append(progress_callback)
        progress(0, epochs)
    started = time.perf_counter()
    history = network.fit(**data, epochs=epochs, callbacks=callbacks, verbose=0)
    seconds = round(time.perf_counter() - started, 1)
    return {"epochs": len(history.history["val_loss"]), "seconds": seconds}


def write_network(keras: Any, network: Any, target: Path) -> None:
    """Write a network without what is for its training only."""
    with atomic_path(target) as temporary:
        _bare(keras, network).save(temporary)
        without_date(temporary)


# Rows or texts asked at once.
_BATCH = 4096


class Passes:
    """Passes over examples by a network of Keras, any number of trainings in turns.

    To compile a network takes seconds, and to train a small one hardly more. So there is one
    compiled network, and every training keeps a copy of its own weights.
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
        """Train from the given weights and yield the weights after each pass.

        `data`: from the number of a pass, counted from 0, to the arguments of Keras' ``fit`` that
        are about the data.
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
        for index in range(passes):
            # Between two passes another training may have had its turn.
            for variable, value in zip(self._variables, state, strict=True):
                variable.assign(value)
            network.fit(**data(index), epochs=1, verbose=0)
            state = self._state()
            yield network.get_weights()

    def scores(self, inputs: Any) -> NDArray[np.float64]:
        """Return the scores of the network as it is in the present training; shape (n,)."""
        answers = self._network.predict(inputs, batch_size=_BATCH, verbose=0)
        return np.asarray(answers, dtype=np.float64).ravel()

    def _state(self) -> list[NDArray[Any]]:
        return [variable.numpy() for variable in self._variables]


class Accuracies(TypedDict):
    """The accuracies of a :class:`TrainingReport`."""

    train_accuracy: float
    test_accuracy: float
    majority_share: float
    paper_accuracy: float | None


def accuracies(
    right: NDArray[np.bool_], labels: NDArray[np.float32], parts: Split, described: Description
) -> Accuracies:
    """Return the accuracies of a training report.

    `right`: a mask of the rows or texts that the network labels as the file does, shape (n,).
    `labels`: 1 for the favourable label and 0 for any other, shape (n,).
    """
    favourable = labels[parts.test].mean()
    return {
        "train_accuracy": float(right[parts.seen].mean()),
        "test_accuracy": float(right[parts.test].mean()),
        "majority_share": float(max(favourable, 1 - favourable)),
        "paper_accuracy": described.paper.accuracy if described.paper else None,
    }


def _bare(keras: Any, network: Any) -> Any:
    """Copy a network without its optimiser's state, which would triple the file, and dropout."""
    layers = [layer for layer in network.layers if "Dropout" not in type(layer).__name__]
    given = keras.layers.Input(network.input_shape[1:], dtype=network.inputs[0].dtype)
    copies = [type(layer).from_config(layer.get_config()) for layer in layers]
    bare = keras.Sequential([given, *copies])
    for copy, layer in zip(bare.layers, layers, strict=True):
        copy.set_weights(layer.get_weights())
    return bare


# The six layers of the paper's networks for tables; the sixth is the output.
HIDDEN_UNITS = (64, 32, 16, 8, 4)


def train_network(
    table: Table,
    folder: Path,
    *,
    seed: int = 0,
    epochs: int = EPOCHS,
    batch_size: int = 128,
    progress: PhaseProgress | bool | None = None,
) -> TrainingReport:
    """Train a network of six fully connected layers (64-32-16-8-4-1) and write it.

    Parameters
    ----------
    table : Table
        Rows with labels. 20% of them are kept for the test, 10% of the rest for early stopping,
        both chosen by the seed with the labels' shares kept.
    folder : path-like
        Where to write ``model.keras``, ``preprocessing.json`` and ``card.json``.
    seed : int
        Fixes the split and the training.
    epochs : int
        The most passes over the training rows; the network with the smallest validation loss is
        kept.
    batch_size : int
        Rows a step.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`, but a callable is called with the epochs done and the most
        there can be.

    Returns
    -------
    TrainingReport

    Raises
    ------
    MissingExtraError
        If TensorFlow is not installed.
    DataError
        If the rows have no labels, or are too few to be split.
    ParameterError
        If the seed or the number of epochs is out of its range.

    References
    ----------
    Zhang, Sun, Wang and Sun, TestSGD, section 5, "Experiment Subjects" and Table 3.
    """
    check_training(seed=seed, epochs=epochs)
    folder = Path(folder)
    label = table.specification.label
    labels = data_labels(table)
    parts = split_data(table, labels, seed)
    encoding = fit_encoding(table, parts.train)
    inputs = encoding.encode(table.frame)

    keras = seeded_keras(seed)
    network = keras.Sequential([keras.layers.Input((inputs.shape[1],))])
    for index, units in enumerate((*HIDDEN_UNITS, 1)):
        # Named as the weights' file names them, so that they are found again without Keras.
        name = f"dense_{index}" if index else "dense"
        activation = "relu" if index < len(HIDDEN_UNITS) else "sigmoid"
        network.add(keras.layers.Dense(units, activation, name=name))
    data = {
        "x": inputs[parts.train],
        "y": labels[parts.train],
        "validation_data": (inputs[parts.validation], labels[parts.validation]),
        "batch_size": batch_size,
    }
    with shown_phase(progress, "training") as reporter:
        trained = fit(keras, network, data, epochs=epochs, patience=5, progress=reporter)
    about = {
        "data set": table.specification.name,
        "data fingerprint": table_fingerprint(table),
        "network": "-".join(str(units) for units in (*HIDDEN_UNITS, 1)) + ", ReLU, sigmoid output",
        "label predicted": label.favourable,
        "rows for training": len(parts.seen),
        "rows for testing": len(parts.test),
        "split": f"80% / 20% with the labels' shares kept, seed {seed}; a tenth of the first part "
        "chooses when to stop",
        "seed": seed,
    }
    with model_folder(folder) as staging:
        path = staging / MODEL_FILE
        write_network(keras, network, path)
        features = {"features": encoding.to_json()}
        write_preprocessing(staging, "tables", output_labels(table), features)
        # What is reported is measured on the network as it will be audited, read back from its
        # files.
        model = read_network(path, favourable=label.favourable, name=table.specification.name)
        right = model.decisions(table.frame) == labels.astype(bool)
        figures = accuracies(right, labels, parts, table.specification)
        report = TrainingReport(str(folder), **figures, **trained)
        write_card(staging, about, report)
    return report
