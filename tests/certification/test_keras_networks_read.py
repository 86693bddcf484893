"""Networks that Keras saved decide as Keras does, in both formats and as objects."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd.certification.network import FeedForward, find_network
from testsgd.errors import ModelError

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
def people() -> NDArray[np.float64]:
    return np.random.default_rng(0).integers(-5, 12, (3000, 3)).astype(float)


def _many_layers(keras: Any, people: NDArray[np.float64]) -> Any:
    keras.utils.set_random_seed(3)
    layers = keras.layers
    adapted = layers.Normalization()
    adapted.adapt(np.random.default_rng(1).normal(4, 3, (50, 3)).astype("f4"))
    model = keras.Sequential(
        [
            keras.Input((3,)),
            layers.Rescaling(0.5, offset=1.0),
            adapted,
            layers.Dense(6, activation="relu"),
            layers.BatchNormalization(),
            layers.Dense(5),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Dropout(0.3),
            layers.Dense(4, activation="tanh"),
            layers.Dense(4, use_bias=False),
            layers.Activation("sigmoid"),
            layers.Flatten(),
            layers.Dense(3, activation="leaky_relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    rng = np.random.default_rng(5)
    for layer in model.layers:
        if layer.name.startswith(("dense", "batch")):
            numbers = [rng.normal(size=array.shape) for array in layer.get_weights()]
            positive = "batch" in layer.name  # variances, among others
            layer.set_weights([np.abs(number) if positive else number for number in numbers])
    # About as many people above one half as below.
    median = np.median(model.predict(people, verbose=0))
    kernel, bias = model.layers[-1].get_weights()
    model.layers[-1].set_weights([kernel, bias - np.log(median / (1 - median))])
    return model


def _functional(keras: Any, dtype: str = "float32") -> Any:
    keras.utils.set_random_seed(4)
    layers = keras.layers
    given = keras.Input((3,), dtype=dtype)
    scale = layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0], dtype=dtype)
    hidden = layers.Dense(8, activation="relu", name="odd_name", dtype=dtype)(scale(given))
    return keras.Model(given, layers.Dense(3, activation="softmax", dtype=dtype)(hidden))


def _agrees(network: FeedForward, model: Any, people: NDArray[np.float64]) -> None:
    scores = model.predict(people.astype(network.precision), verbose=0, batch_size=512)
    if scores.shape[1] == 1:
        clear = np.abs(scores[:, 0] - 0.5) > 1e-5
        expected = scores[:, 0] > 0.5
    else:
        ordered = np.sort(scores, axis=1)
        clear = ordered[:, -1] - ordered[:, -2] > 1e-5
        expected = np.argmax(scores, axis=1)
    decisions = network.decisions(people)
    assert clear.mean() > 0.99
    assert (decisions[clear] == expected[clear]).all()
    assert len(np.unique(decisions)) > 1


@pytest.mark.parametrize("form", ["object", "net.keras", "net.h5"])
def test_a_network_of_many_kinds_of_layers(
    keras: Any, people: NDArray[np.float64], tmp_path: Path, form: str
) -> None:
    model = _many_layers(keras, people)
    source = model
    if form != "object":
        source = tmp_path / form
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Keras calls its own format .h5 a legacy.
            model.save(source)
    network = find_network(source)
    _agrees(network, model, people)
    sums = (
        keras.Sequential(model.layers[:-1])(people.astype("f4")).numpy()
        @ (model.layers[-1].get_weights()[0])
        + model.layers[-1].get_weights()[1]
    )
    np.testing.assert_allclose(network.sums(people), sums, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("form", ["object", "net.keras", "net.h5"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_functional_network_of_several_classes(
    keras: Any, people: NDArray[np.float64], tmp_path: Path, form: str, dtype: str
) -> None:
    model = _functional(keras, dtype)
    source = model
    if form != "object":
        source = tmp_path / form
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.save(source)
    network = find_network(source)
    assert network.precision == dtype
    assert network.decision.kind == "argmax"
    _agrees(network, model, people)


def test_scaling_is_folded_into_the_inputs_as_keras_computes_it(
    keras: Any, people: NDArray[np.float64]
) -> None:
    model = _many_layers(keras, people)
    network = find_network(model)
    scaled = model.layers[1](model.layers[0](people.astype("f4"))).numpy()
    assert (network.encode(people) == scaled).mean() > 0.99
    for position, given in enumerate(network.inputs):
        columns = given.columns
        exact = people[:, position] * columns.multiplier + columns.constant
        bound = columns.relative_error * np.abs(people[:, position] * columns.multiplier)
        bound = bound + columns.absolute_error + 2.0**-24 * np.abs(scaled[:, position])
        assert (np.abs(exact - scaled[:, position]) <= bound).all()


def test_layers_that_are_no_chain_are_refused(keras: Any) -> None:
    given = keras.Input((3,))
    hidden = keras.layers.Dense(3, activation="relu")(given)
    joined = keras.layers.Add(name="both")([given, hidden])
    model = keras.Model(given, keras.layers.Dense(1, activation="sigmoid")(joined))
    with pytest.raises(ModelError, match=r"'both' \(Add\): it is applied to 2 other layers"):
        find_network(model)


def test_layers_of_the_users_own_are_refused(keras: Any) -> None:
    class Dense(keras.layers.Dense):  # type: ignore[misc, name-defined]  # no types in Keras
        def call(self, inputs: Any) -> Any:
            return -super().call(inputs)

    model = keras.Sequential([keras.Input((3,)), Dense(1, activation="sigmoid")])
    with pytest.raises(ModelError, match="class of your own"):
        find_network(model)


def test_one_hot_columns_become_a_category(keras: Any) -> None:
    model = _functional(keras)
    network = find_network(model, categories={"race": [2, 0]})
    assert [given.name for given in network.inputs] == ["race", "x1"]
    raw = np.array([[0.0, 7, 1], [1, 7, 0]])
    coded = np.array([[0.0, 7], [1, 7]])
    expected = find_network(model).encode(raw)[:, [2, 0, 1]]
    assert (network.encode(coded) == expected).all()
    np.testing.assert_allclose(network.sums(coded), find_network(model).sums(raw), rtol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_batch_normalisation_stays_within_its_bound(keras: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    gamma, mean, variance = rng.normal(1, 2, 6), rng.normal(0, 30, 6), rng.exponential(2, 6)
    # Offsets that nearly cancel the means, where a relative bound alone would not do.
    beta = mean * gamma / np.sqrt(variance + 1e-3) * (1 + rng.normal(0, 1e-6, 6))
    layer = keras.layers.BatchNormalization()
    model = keras.Sequential([keras.Input((6,)), layer, keras.layers.Dense(1)])
    layer.set_weights([gamma, beta, mean, variance])
    values = rng.normal(mean, 20, (4000, 6)).astype("f4").astype(float)
    made = layer(values.astype("f4")).numpy().astype(float)
    stored = [np.asarray(array, dtype=np.longdouble) for array in layer.get_weights()]
    exact = (values - stored[2]) / np.sqrt(stored[3] + 0.001) * stored[0] + stored[1]
    for position, given in enumerate(find_network(model).inputs):
        columns = given.columns
        product = columns.multiplier * values[:, position]
        bound = columns.relative_error * np.abs(product) + columns.absolute_error
        column = product + columns.constant
        rounding = 2.0**-24 * np.abs(made[:, position])
        assert (np.abs(column - made[:, position]) <= bound + rounding).all()
        assert (np.abs(column - exact[:, position]) <= bound).all()
