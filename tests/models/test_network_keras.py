"""The network without TensorFlow against Keras itself, on the demo's committed network."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd.data import Table, bundled_folder
from testsgd.models import MODEL_FILE, LoadedModel, NetworkModel
from testsgd.models.network import read_network

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def keras() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        return pytest.importorskip("keras")


@pytest.fixture(scope="module")
def keras_scores(keras: Any, demo_table: Table, demo_model: LoadedModel) -> NDArray[np.float64]:
    network = keras.saving.load_model(bundled_folder("models") / "demo" / MODEL_FILE)
    assert isinstance(demo_model.model, NetworkModel)
    inputs = demo_model.model.encoding.encode(demo_table.frame)
    scores: NDArray[np.float64] = network.predict(inputs, batch_size=4096, verbose=0)[:, 0]
    return scores


@pytest.mark.slow
def test_the_scores_are_those_of_keras(
    keras_scores: NDArray[np.float64], demo_table: Table, demo_model: LoadedModel
) -> None:
    assert isinstance(demo_model.model, NetworkModel)
    ours = demo_model.model.scores(demo_table.frame)
    np.testing.assert_allclose(ours, keras_scores, rtol=0, atol=1e-5)


def test_the_decisions_are_those_of_keras(
    keras_scores: NDArray[np.float64], demo_table: Table, demo_model: LoadedModel
) -> None:
    decisions = demo_model.model.decisions(demo_table.frame)
    np.testing.assert_array_equal(decisions, keras_scores > 0.5)
    # The network decides both ways, so that the comparison means something.
    assert 0.3 < decisions.mean() < 0.9


def test_another_threshold_is_applied_to_the_same_scores(
    keras_scores: NDArray[np.float64], demo_table: Table
) -> None:
    path = bundled_folder("models") / "demo" / MODEL_FILE
    strict = read_network(path, favourable="yes", name="demo", threshold=0.8)
    np.testing.assert_array_equal(strict.decisions(demo_table.frame), keras_scores > 0.8)
    other = read_network(path, favourable="no", name="demo", threshold=0.8)
    np.testing.assert_array_equal(other.decisions(demo_table.frame), 1 - keras_scores > 0.8)
