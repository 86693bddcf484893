"""Training the TestSGD paper's networks for tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from testsgd._files import atomic_path
from testsgd.data import Table, table_fingerprint
from testsgd.models.cards import TrainingReport, write_card
from testsgd.models.encoding import fit_encoding
from testsgd.models.files import MODEL_FILE, write_preprocessing
from testsgd.models.keras_training import bare_network, check_training, fit, seeded_keras
from testsgd.models.labelled import binary_labels, output_labels, split_examples
from testsgd.models.storage import read_network

# The six layers of the paper's networks for tables; the sixth is the output.
HIDDEN_UNITS = (64, 32, 16, 8, 4)

_PATIENCE = 5


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
    known = None if table.labels is None else table.labels.to_numpy(dtype=object)
    labels = binary_labels(known, label, one="row", source=table.source)
    parts = split_examples(
        labels,
        seed,
        one="row",
        source=table.source or "the data",
        clusters=table.clusters,
    )
    encoding = fit_encoding(table, parts.train)
    inputs = encoding.encode(table.frame)

    keras = seeded_keras(seed)
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
    data = {
        "x": inputs[parts.train],
        "y": labels[parts.train],
        "validation_data": (inputs[parts.validation], labels[parts.validation]),
        "batch_size": batch_size,
    }
    passes, seconds = fit(
        keras, network, data, epochs=epochs, patience=_PATIENCE, progress=progress
    )
    with atomic_path(folder / MODEL_FILE) as temporary:
        bare_network(keras, network).save(temporary)
    write_preprocessing(
        folder, "tables", output_labels(known, label), {"features": encoding.to_json()}
    )
    # What is reported is measured on the network as it will be audited, read back from its files.
    model = read_network(
        folder / MODEL_FILE, favourable=label.favourable, name=table.specification.name
    )
    right = model.decisions(table.frame) == labels.astype(bool)
    paper = table.specification.paper
    tested = labels[parts.test]
    report = TrainingReport(
        folder=str(folder),
        train_accuracy=float(right[parts.seen].mean()),
        test_accuracy=float(right[parts.test].mean()),
        majority_share=float(max(tested.mean(), 1 - tested.mean())),
        paper_accuracy=paper.accuracy if paper else None,
        epochs=passes,
        seconds=round(seconds, 1),
    )
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
    write_card(folder, about, report)
    return report
