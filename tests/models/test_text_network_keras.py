"""The network without TensorFlow against Keras itself, on every length of text."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testsgd.data import bundled_folder
from testsgd.models import MODEL_FILE, TextNetwork
from testsgd.models.files import Labels
from testsgd.models.text import Vocabulary
from testsgd.models.text.keras_network import padded
from testsgd.models.text.network import read_text_network, write_text_preprocessing

pytestmark = pytest.mark.tensorflow

WORDS = tuple(f"word{n}" for n in range(60))


@pytest.fixture(scope="module")
def keras() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        return pytest.importorskip("keras")


def saved(keras: Any, folder: Path, *, places: int, pool: int, filters: int, units: int) -> Any:
    """Make a network of random weights, biases too, and write it with its vocabulary."""
    layers = keras.layers
    network = keras.Sequential(
        [
            layers.Input((None,), dtype="int32"),
            layers.Embedding(len(WORDS) + 2, 7),
            layers.Conv1D(filters, places, padding="same", activation="relu"),
            layers.MaxPooling1D(pool),
            layers.LSTM(units),
            layers.Dense(1, "sigmoid"),
        ]
    )
    generator = np.random.default_rng(places + pool)
    network.set_weights([generator.normal(size=w.shape) * 1.5 for w in network.get_weights()])
    network.save(folder / MODEL_FILE)
    write_text_preprocessing(folder, Vocabulary(WORDS, 90), Labels("good", "bad"))
    return network


def keras_scores(network: Any, ours: TextNetwork, texts: list[str]) -> list[float]:
    """Ask Keras about each text by itself, padded as the training does."""
    words = ours.vocabulary.numbers(texts)
    inputs = (padded(words, np.array([row]), ours.weights.pool) for row in range(len(texts)))
    return [float(np.asarray(network(line))[0, 0]) for line in inputs]


def texts_of_all_lengths(words: tuple[str, ...], longest: int) -> list[str]:
    generator = np.random.default_rng(0)
    return [" ".join(generator.choice([*words, "unknown"], n)) for n in range(longest)]


@pytest.mark.parametrize(
    ("places", "pool", "filters", "units"), [(3, 8, 6, 5), (5, 4, 3, 8), (1, 2, 4, 6)]
)
def test_the_scores_are_those_of_keras(
    keras: Any, tmp_path: Path, places: int, pool: int, filters: int, units: int
) -> None:
    network = saved(keras, tmp_path, places=places, pool=pool, filters=filters, units=units)
    ours = read_text_network(tmp_path / MODEL_FILE, favourable="good", name="random")
    texts = texts_of_all_lengths(WORDS, min(12 * pool + 4, 100))
    expected = keras_scores(network, ours, texts)
    np.testing.assert_allclose(ours.scores(texts), expected, rtol=0, atol=1e-5)
    assert np.ptp(expected) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["imdb", "tweets", "wiki"])
def test_the_committed_networks_too(keras: Any, name: str) -> None:
    path = bundled_folder("models") / name / MODEL_FILE
    favourable = {"imdb": "positive", "tweets": "neither", "wiki": "toxic"}[name]
    ours = read_text_network(path, favourable=favourable, name=name)
    network = keras.saving.load_model(path)
    texts = texts_of_all_lengths(ours.vocabulary.words[:3000], 300)[::7]
    texts += texts_of_all_lengths(ours.vocabulary.words[:3000], 850)[800::20]
    expected = keras_scores(network, ours, texts)
    np.testing.assert_allclose(ours.scores(texts), expected, rtol=0, atol=1e-5)
