"""Training on texts with TensorFlow: repeatable, honest about what it saw, and able to learn."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testsgd.data import TextSpecification
from testsgd.data.text import Texts, load_terms, texts_fingerprint
from testsgd.models import (
    CARD_FILE,
    MODEL_FILE,
    PREPROCESSING_FILE,
    TextTrainingReport,
    train_text_network,
)
from testsgd.models.text import VOCABULARY_FILE
from testsgd.models.text.network import read_text_network

pytestmark = pytest.mark.tensorflow

SPECIFICATION = TextSpecification.model_validate(
    {
        "dataset": {"name": "remarks", "description": "Made-up remarks."},
        "text": {},
        "label": {"column": "label", "favourable": "kind", "values": ["kind", "foul"]},
        "paper": {"accuracy": 0.9},
    }
)
COUNT = 600
Train = Callable[..., tuple[TextTrainingReport, Path]]


def remarks(seed: int = 0, **marks: Any) -> Texts:
    """Write remarks that are foul if one of three words is in them."""
    generator = np.random.default_rng(seed)
    plain = ["you", "are", "a", "the", "very", "so", "gay", "old", "man", "woman", "and", "black"]
    texts, labels = [], []
    for _ in range(COUNT):
        words = generator.choice(plain, generator.integers(3, 12)).tolist()
        foul = generator.random() < 0.4
        if foul:
            words.insert(generator.integers(len(words)), generator.choice(["rot", "dung", "slime"]))
        texts.append(" ".join(words))
        labels.append("foul" if foul else "kind")
    made = {"labels": np.array(labels, dtype=object), "parts": None, "source": "made up"}
    return Texts(SPECIFICATION, tuple(texts), **{**made, **marks})


@pytest.fixture(scope="module", autouse=True)
def _tensorflow() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    def run(texts: Texts, seed: int = 3, **options: Any) -> tuple[TextTrainingReport, Path]:
        folder = tmp_path_factory.mktemp("network") / "new" / "folder"
        return train_text_network(texts, folder, seed=seed, **{"epochs": 2, **options}), folder

    return run


@pytest.fixture(scope="module")
def first(train: Train) -> tuple[TextTrainingReport, Path]:
    return train(remarks())


def weights(folder: Path) -> list[Any]:
    network = read_text_network(folder / MODEL_FILE, favourable="kind", name="trained")
    return list(vars(network.weights).values())


def same_network(one: Path, other: Path) -> bool:
    words = [(folder / VOCABULARY_FILE).read_text(encoding="utf-8") for folder in (one, other)]
    pairs = zip(weights(one), weights(other), strict=True)
    return words[0] == words[1] and all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_network(
    train: Train, first: tuple[TextTrainingReport, Path]
) -> None:
    report, folder = first
    again, other = train(remarks())
    assert same_network(folder, other)
    for name in (PREPROCESSING_FILE, VOCABULARY_FILE):
        assert (folder / name).read_bytes() == (other / name).read_bytes()
    assert (again.test_accuracy, again.epochs) == (report.test_accuracy, report.epochs)


def test_another_seed_gives_another_network(
    train: Train, first: tuple[TextTrainingReport, Path]
) -> None:
    epochs: list[tuple[int, int]] = []
    _, folder = train(remarks(), seed=4, progress=lambda done, most: epochs.append((done, most)))
    assert not same_network(first[1], folder)
    assert epochs == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.slow
def test_it_learns_and_says_how_well(train: Train) -> None:
    report, folder = train(remarks(), epochs=30)
    texts = remarks()
    assert texts.labels is not None
    network = read_text_network(folder / MODEL_FILE, favourable="kind", name="trained")
    right = network.decisions(texts.texts) == (texts.labels == "kind")
    assert right.mean() > 0.95
    # A fifth of the texts is for the test, the others were seen.
    mean = 0.8 * report.train_accuracy + 0.2 * report.test_accuracy
    assert mean == pytest.approx(right.mean(), abs=1e-9)
    assert report.test_accuracy > 0.9
    assert report.balanced_accuracy > 0.9
    assert 0.5 < report.majority_share < 0.7


@pytest.mark.slow
def test_the_texts_for_the_test_are_seen_by_nothing(train: Train) -> None:
    parts = np.where(np.arange(COUNT) < 500, "train", "test").astype(object)
    plain = remarks(parts=parts)
    _, folder = train(plain)
    changed = (*plain.texts[:500], *("an unheard-of word " * 3,) * 100)
    flipped = np.array([*plain.labels[:500], *["kind", "foul"] * 50], dtype=object)
    report, other = train(Texts(SPECIFICATION, changed, flipped, parts))
    assert same_network(folder, other)
    assert report.test_accuracy == report.balanced_accuracy == report.majority_share == 0.5


def test_balanced_accuracy_counts_both_labels_alike(train: Train) -> None:
    # Whatever is said of the only text for the test, its label's accuracy is all there is.
    parts = np.where(np.arange(COUNT) == 7, "test", "train").astype(object)
    report, _ = train(remarks(parts=parts), epochs=1)
    assert report.test_accuracy == report.balanced_accuracy
    assert report.majority_share == 1


def test_the_card_says_what_was_done(first: tuple[TextTrainingReport, Path]) -> None:
    report, folder = first
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    assert (card["data set"], card["data"]) == ("remarks", "Made-up remarks.")
    assert card["data fingerprint"] == texts_fingerprint(remarks())
    assert card["network"].startswith("embedding of 15 words in ")
    assert card["label predicted"] == "kind"
    assert (card["texts for training"], card["texts for testing"]) == (480, 120)
    assert "of those for training, never audited" not in card
    names = [term.name for category in load_terms().categories for term in category.terms]
    known = {"gay", "old", "black"}
    assert card["terms not known"] == [name for name in names if name not in known]
    for key in ("test accuracy", "train accuracy", "balanced accuracy", "epochs", "paper accuracy"):
        assert card[key] == getattr(report, key.replace(" ", "_"))
    for package in ("testsgd", "tensorflow", "keras", "numpy", "pandas", "python"):
        assert f"{package} " in card["versions"]
    assert sorted(path.name for path in folder.iterdir()) == [
        CARD_FILE,
        MODEL_FILE,
        PREPROCESSING_FILE,
        VOCABULARY_FILE,
    ]


def test_texts_for_training_only_are_named_and_never_tested(train: Train) -> None:
    only = np.arange(COUNT) >= 400
    texts = remarks(training_only=only, clusters=np.arange(COUNT) % 400)
    report, folder = train(texts)
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    assert card["texts for testing"] == 80
    # Of the 200 variants some are of texts for the test, and are not used at all.
    used = card["of those for training, never audited"]
    assert 100 < used < 200
    assert card["texts for training"] == 320 + used
    assert "variants of one text stay together" in card["split"]
    assert 0 <= report.test_accuracy <= 1
