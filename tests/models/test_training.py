"""Training with TensorFlow: repeatable, honest about what it saw, and read back as written."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from testsgd.data import DatasetSpecification, Table, check_table, generate_demo, table_fingerprint
from testsgd.models import CARD_FILE, MODEL_FILE, PREPROCESSING_FILE, TrainingReport, train_network

pytestmark = pytest.mark.tensorflow

ROWS = 1500
Train = Callable[..., tuple[TrainingReport, Path]]


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return generate_demo(rows=ROWS, seed=5)


@pytest.fixture(scope="module")
def train(
    tmp_path_factory: pytest.TempPathFactory, demo_specification: DatasetSpecification
) -> Train:
    def run(frame: pd.DataFrame, seed: int = 3, **options: Any) -> tuple[TrainingReport, Path]:
        folder = tmp_path_factory.mktemp("network") / "new" / "folder"
        table = check_table(frame, demo_specification)
        return train_network(table, folder, seed=seed, epochs=2, **options), folder

    return run


@pytest.fixture(scope="module")
def first(train: Train, people: pd.DataFrame) -> tuple[TrainingReport, Path]:
    return train(people)


def weights(folder: Path) -> list[np.ndarray]:
    from testsgd.models.network import read_network

    network = read_network(folder / MODEL_FILE, favourable="yes", name="trained")
    return [array for layer in network.layers for array in (layer.weights, layer.bias)]


def same_weights(one: Path, other: Path) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_network(
    train: Train, people: pd.DataFrame, first: tuple[TrainingReport, Path]
) -> None:
    report, folder = first
    again, other_folder = train(people)
    assert same_weights(folder, other_folder)
    assert (folder / PREPROCESSING_FILE).read_text() == (
        other_folder / PREPROCESSING_FILE
    ).read_text()
    assert again.test_accuracy == report.test_accuracy
    assert again.train_accuracy == report.train_accuracy


def test_another_seed_gives_another_network(
    train: Train, people: pd.DataFrame, first: tuple[TrainingReport, Path]
) -> None:
    epochs: list[tuple[int, int]] = []
    _, folder = train(people, seed=4, progress=lambda done, most: epochs.append((done, most)))
    assert not same_weights(first[1], folder)
    assert epochs == [(0, 2), (1, 2), (2, 2)]


def test_the_test_rows_are_seen_by_nothing(
    train: Train, people: pd.DataFrame, first: tuple[TrainingReport, Path]
) -> None:
    rest, test = train_test_split(
        np.arange(ROWS), test_size=0.2, stratify=people["granted"], random_state=3
    )
    assert len(test) == 0.2 * ROWS
    changed = people.copy()
    changed.loc[test, ["income", "debt_ratio"]] = [299, 0.99]
    report, folder = train(changed)
    assert same_weights(first[1], folder)
    # The accuracies are those of the network as written, on just those rows.
    from testsgd.models.network import read_network

    network = read_network(folder / MODEL_FILE, favourable="yes", name="trained")
    right = network.decisions(changed) == (changed["granted"] == "yes").to_numpy()
    assert report.test_accuracy == pytest.approx(right[test].mean())
    assert report.train_accuracy == pytest.approx(right[rest].mean())


def test_the_card_says_what_was_done(
    first: tuple[TrainingReport, Path],
    people: pd.DataFrame,
    demo_specification: DatasetSpecification,
) -> None:
    report, folder = first
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    table: Table = check_table(people, demo_specification)
    assert card["data set"] == "demo"
    assert card["data fingerprint"] == table_fingerprint(table)
    assert card["network"] == "64-32-16-8-4-1, ReLU, sigmoid output"
    assert card["label predicted"] == "yes"
    assert (card["rows for training"], card["rows for testing"]) == (1200, 300)
    assert (card["seed"], card["epochs"]) == (3, report.epochs)
    assert card["test accuracy"] == report.test_accuracy
    assert card["train accuracy"] == report.train_accuracy
    granted = (people["granted"] == "yes").mean()
    assert card["majority share"] == pytest.approx(max(granted, 1 - granted), abs=0.01)
    for package in ("testsgd", "tensorflow", "keras", "numpy", "pandas", "python"):
        assert f"{package} " in card["versions"]
    assert report.folder == str(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        CARD_FILE,
        MODEL_FILE,
        PREPROCESSING_FILE,
    ]


def test_undeclared_labels_are_taken_from_the_rows(
    train: Train, people: pd.DataFrame, demo_specification: DatasetSpecification, tmp_path: Path
) -> None:
    label = demo_specification.label.model_copy(update={"values": None})
    table = check_table(people, demo_specification.model_copy(update={"label": label}))
    train_network(table, tmp_path, seed=3, epochs=1)
    output = json.loads((tmp_path / PREPROCESSING_FILE).read_text(encoding="utf-8"))["output"]
    assert output == {"positive_label": "yes", "negative_label": "no"}
