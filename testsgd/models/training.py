"""Training the networks of the TestSGD paper with TensorFlow."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd._files import atomic_path, write_text
from testsgd._version import __version__
from testsgd.data import Table, table_fingerprint
from testsgd.errors import DataError, MissingExtraError, ParameterError
from testsgd.models.encoding import fit_encoding
from testsgd.models.storage import CARD_FILE, MODEL_FILE, read_network, write_preprocessing

# The six layers of the paper's networks for tables; the sixth is the output.
HIDDEN_UNITS = (64, 32, 16, 8, 4)

TEST_SHARE = 0.2
VALIDATION_SHARE = 0.1


@dataclass(frozen=True)
class TrainingReport:
    """What a training gave.

    Attributes
    ----------
    folder : str
        Where the network was written.
    train_accuracy, test_accuracy : float
        Share of rows labelled as in the file; the test rows were seen by nothing in the training.
    majority_share : float
        What always saying the commonest label would reach on the test rows.
    paper_accuracy : float or None
        The paper's Table 3.
    epochs : int
        Passes over the training rows.
    seconds : float
        Wall-clock time of the training itself.
    """

    folder: str
    train_accuracy: float
    test_accuracy: float
    majority_share: float
    paper_accuracy: float | None
    epochs: int
    seconds: float


def train_network(
    table: Table,
    folder: Path,
    *,
    seed: int = 0,
    epochs: int = 30,
    batch_size: int = 128,
    progress: Callable[[int, int], None] | None = None,
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
        At most so many passes over the training rows; the network with the smallest validation
        loss is kept.
    batch_size : int
        Rows a step.
    progress : callable, optional
        Called with the epochs done and the most there can be.

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
    labels = _binary_labels(table)
    train, validation, test = _split(labels, seed, table.source or "the data")
    encoding = fit_encoding(table, train)
    inputs = encoding.encode(table.frame)

    network, history, seconds = _fit(
        inputs[train],
        labels[train],
        (inputs[validation], labels[validation]),
        seed=seed,
        epochs=epochs,
        batch_size=batch_size,
        progress=progress,
    )
    with atomic_path(folder / MODEL_FILE) as temporary:
        network.save(temporary)
    write_preprocessing(
        folder, encoding, positive=label.favourable, negative=_other_label(table, label.favourable)
    )
    # What is reported is measured on the network as it will be audited, read back from its files.
    model = read_network(
        folder / MODEL_FILE, favourable=label.favourable, name=table.specification.name
    )
    right = model.decisions(table.frame) == labels.astype(bool)
    seen = np.concatenate([train, validation])
    paper = table.specification.paper
    report = TrainingReport(
        folder=str(folder),
        train_accuracy=float(right[seen].mean()),
        test_accuracy=float(right[test].mean()),
        majority_share=float(max(labels[test].mean(), 1 - labels[test].mean())),
        paper_accuracy=paper.accuracy if paper else None,
        epochs=len(history),
        seconds=round(seconds, 1),
    )
    _write_card(folder, table, report, seed, (len(seen), len(test)))
    return report


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


def _fit(
    inputs: NDArray[np.float32],
    labels: NDArray[np.float32],
    validation: tuple[NDArray[np.float32], NDArray[np.float32]],
    *,
    seed: int,
    epochs: int,
    batch_size: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[Any, list[float], float]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        import keras
        import tensorflow as tf
    except ImportError as error:
        raise MissingExtraError(
            "tensorflow", extra="tensorflow", purpose="training a network"
        ) from error
    keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
    network = keras.Sequential(
        [
            keras.layers.Input((inputs.shape[1],)),
            # Named as the weights' file names them, so that they are found again without Keras.
            *(
                keras.layers.Dense(units, "relu", name=f"dense_{place}" if place else "dense")
                for place, units in enumerate(HIDDEN_UNITS)
            ),
            keras.layers.Dense(1, "sigmoid", name=f"dense_{len(HIDDEN_UNITS)}"),
        ]
    )
    network.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=5, restore_best_weights=True),
    ]
    if progress is not None:
        callbacks.append(
            keras.callbacks.LambdaCallback(
                on_epoch_end=lambda epoch, logs: progress(epoch + 1, epochs)
            )
        )
    started = time.perf_counter()
    history = network.fit(
        inputs,
        labels,
        validation_data=validation,
        epochs=epochs,
        batch_size=batch_size,
        callbacks=callbacks,
        verbose=0,
    )
    seconds = time.perf_counter() - started
    # The optimiser's state would triple the file, and nothing needs it.
    bare = keras.Sequential.from_config(network.get_config())
    bare.set_weights(network.get_weights())
    return bare, history.history["val_loss"], seconds


def _binary_labels(table: Table) -> NDArray[np.float32]:
    label = table.specification.label
    if table.labels is None:
        raise DataError(
            f"the label column {label.column!r} is missing",
            where=table.source,
            remedy="training needs the labels; add the column",
        )
    if table.labels.isna().any():
        raise DataError(
            f"{int(table.labels.isna().sum())} row(s) have no label",
            where=f"{table.source}, column {label.column!r}",
            remedy="remove those rows or fill in their labels",
        )
    return np.asarray(table.labels.to_numpy() == label.favourable, dtype=np.float32)


def _other_label(table: Table, favourable: str) -> str:
    values = table.specification.label.values
    if values is None:
        values = [] if table.labels is None else sorted(set(table.labels))
    others = [value for value in values if value != favourable]
    return others[0] if len(others) == 1 else f"not {favourable}"


def _split(
    labels: NDArray[np.float32], seed: int, where: str
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(labels))
    try:
        rest, test = train_test_split(
            rows, test_size=TEST_SHARE, stratify=labels, random_state=seed
        )
        train, validation = train_test_split(
            rest, test_size=VALIDATION_SHARE, stratify=labels[rest], random_state=seed
        )
    except ValueError as error:
        raise DataError(
            f"{len(labels)} row(s), {int(labels.sum())} of them with the favourable label, are too "
            "few to be split for training and testing",
            where=where,
            remedy="give more rows of each label",
        ) from error
    return np.sort(train), np.sort(validation), np.sort(test)


def _write_card(
    folder: Path, table: Table, report: TrainingReport, seed: int, rows: tuple[int, int]
) -> None:
    figures = asdict(report)
    del figures["folder"]
    card = {
        "data set": table.specification.name,
        "data fingerprint": table_fingerprint(table),
        "network": "-".join(str(units) for units in (*HIDDEN_UNITS, 1)) + ", ReLU, sigmoid output",
        "label predicted": table.specification.label.favourable,
        "rows for training": rows[0],
        "rows for testing": rows[1],
        "split": f"80% / 20% with the labels' shares kept, seed {seed}; a tenth of the first part "
        "chooses when to stop",
        "seed": seed,
        **{key.replace("_", " "): value for key, value in figures.items()},
        "versions": ", ".join(
            f"{name} {installed}"
            for name, installed in (
                ("testsgd", __version__),
                ("tensorflow", version("tensorflow")),
                ("keras", version("keras")),
                ("numpy", np.__version__),
                ("pandas", pd.__version__),
                ("python", platform.python_version()),
            )
        ),
    }
    write_text(folder / CARD_FILE, json.dumps(card, indent=1) + "\n")
