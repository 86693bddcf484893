"""Training in numpy: against differences of the loss, against doubled rows, and against Keras."""

from __future__ import annotations

import os
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd.models import Layer
from testsgd.models.refitting.networks import fresh_layers, gradients, sigmoid, train
from testsgd.models.refitting.schedule import RowSchedule

WIDTHS = (6, 5, 4, 1)


def layers(seed: int = 0) -> tuple[Layer, ...]:
    generator = np.random.default_rng(seed)
    made = []
    for width, units in pairwise(WIDTHS):
        kernel = generator.normal(size=(width, units)).astype(np.float32)
        bias = generator.normal(size=units).astype(np.float32)
        made.append(Layer(kernel, bias, "sigmoid" if units == 1 else "relu"))
    return tuple(made)


def rows(count: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Draw inputs, targets and weights."""
    generator = np.random.default_rng(seed)
    return (
        generator.normal(size=(count, WIDTHS[0])),
        generator.integers(0, 2, count).astype(float),
        generator.uniform(0, 3, count),
    )


def loss(parameters: list[NDArray[Any]], x: Any, y: Any, w: Any) -> float:
    """Compute the weighted cross-entropy over the number of rows, the plain way."""
    half = len(parameters) // 2
    for place, (kernel, bias) in enumerate(
        zip(parameters[:half], parameters[half:], strict=True), start=1
    ):
        x = x @ kernel + bias
        if place < half:
            x = np.maximum(x, 0)
    score = 1 / (1 + np.exp(-x[:, 0]))
    return float(-(w * (y * np.log(score) + (1 - y) * np.log(1 - score))).sum() / len(y))


def test_the_gradients_are_the_slopes_of_the_loss() -> None:
    network = layers()
    parameters = [layer.weights.astype(float) for layer in network]
    parameters += [layer.bias.astype(float) for layer in network]
    x, y, w = rows(40)
    half = len(network)
    found = gradients(parameters[:half], parameters[half:], x, y, w)
    small = 1e-6
    for array, gradient in zip(parameters, found, strict=True):
        assert gradient.shape == array.shape
        for place in np.ndindex(array.shape):
            kept = array[place]
            array[place] = kept + small
            above = loss(parameters, x, y, w)
            array[place] = kept - small
            below = loss(parameters, x, y, w)
            array[place] = kept
            assert gradient[place] == pytest.approx((above - below) / (2 * small), abs=1e-6)


def test_a_weight_of_two_is_the_row_twice() -> None:
    network = layers()
    kernels, biases = [layer.weights for layer in network], [layer.bias for layer in network]
    x, y, _ = (part.astype(np.float32) for part in rows(30))
    counts = np.random.default_rng(1).integers(0, 4, 30)
    weighted = gradients(kernels, biases, x, y, counts.astype(np.float32))
    repeated = np.repeat(np.arange(30), counts)
    ones = np.ones(len(repeated), dtype=np.float32)
    plain = gradients(kernels, biases, x[repeated], y[repeated], ones)
    for one, other in zip(weighted, plain, strict=True):
        np.testing.assert_allclose(one * 30, other * len(repeated), rtol=1e-4, atol=1e-4)


def test_scores_are_finite_however_large_the_sums() -> None:
    sums = np.array([-1e6, -50, 0, 50, 1e6], dtype=np.float32)
    np.testing.assert_allclose(sigmoid(sums), [0, 0, 0.5, 1, 1], atol=1e-7)


def test_the_network_given_is_left_as_it_was() -> None:
    network, x = layers(), rows(100)
    before = [layer.weights.copy() for layer in network]
    schedule = RowSchedule(epochs=2, learning_rate=0.1, batch_size=16)
    x32 = [part.astype(np.float32) for part in x]
    passes = train(network, *x32, schedule=schedule, generator=np.random.default_rng(0))
    stages = [trained for _, trained in passes]
    for layer, kept in zip(network, before, strict=True):
        np.testing.assert_array_equal(layer.weights, kept)
    # Each epoch's network stays what it was then.
    assert not np.array_equal(stages[0][0].weights, stages[1][0].weights)


def test_stages_are_given_every_so_often_and_at_the_end() -> None:
    schedule = RowSchedule(epochs=8, learning_rate=0.02, batch_size=16, every=3)
    parts = [part.astype(np.float32) for part in rows(50)]
    passes = train(layers(), *parts, schedule=schedule, generator=np.random.default_rng(0))
    assert [epoch for epoch, _ in passes] == [3, 6, 8]


def test_an_annealed_training_comes_to_rest() -> None:
    """Its steps grow smaller: the last epoch moves the weights less than the first."""
    schedule = RowSchedule(epochs=10, learning_rate=0.02, batch_size=16, annealed=True)
    parts = [part.astype(np.float32) for part in rows(100)]
    network = layers()
    passes = train(network, *parts, schedule=schedule, generator=np.random.default_rng(0))
    kernels = [network[0].weights, *(trained[0].weights for _, trained in passes)]
    moves = [np.abs(after - before).sum() for before, after in pairwise(kernels)]
    assert moves[-1] < moves[0] / 10


def test_fresh_layers_are_uniform_after_glorot() -> None:
    wide = (Layer(np.ones((300, 100), np.float32), np.ones(100, np.float32), "relu"),)
    (drawn,) = fresh_layers(wide, np.random.default_rng(0))
    limit = np.sqrt(6 / 400)
    assert np.abs(drawn.weights).max() <= limit
    # Of 30,000 uniform draws; the standard deviation of their variance is below 1% of it.
    assert drawn.weights.var() == pytest.approx(limit**2 / 3, rel=0.05)
    assert not drawn.bias.any()


@pytest.mark.tensorflow
@pytest.mark.parametrize("decay", [0.0, 0.05])
def test_a_training_is_that_of_keras(decay: float) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        # While TensorFlow is imported, the packages it brings along warn about themselves.
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        keras = pytest.importorskip("keras")
    network = layers()
    x, y, w = (part.astype(np.float32) for part in rows(210))
    twin = keras.Sequential(
        [keras.layers.Input((WIDTHS[0],))]
        + [
            keras.layers.Dense(
                len(layer.bias),
                layer.activation,
                kernel_regularizer=keras.regularizers.L2(decay / 2),
                bias_regularizer=keras.regularizers.L2(decay / 2),
            )
            for layer in network
        ]
    )
    twin.set_weights([part for layer in network for part in (layer.weights, layer.bias)])
    twin.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
    schedule = RowSchedule(epochs=3, learning_rate=0.01, batch_size=32, decay=decay)
    ours = train(network, x, y, w, schedule=schedule, generator=np.random.default_rng(5))
    # The same order of the rows, drawn as `train` draws it.
    generator = np.random.default_rng(5)
    for _, trained in ours:
        order = generator.permutation(210)
        twin.fit(
            x[order], y[order], sample_weight=w[order], batch_size=32, shuffle=False, verbose=0
        )
        theirs = twin.get_weights()
        for layer, kernel, bias in zip(trained, theirs[::2], theirs[1::2], strict=True):
            np.testing.assert_allclose(layer.weights, kernel, atol=2e-4)
            np.testing.assert_allclose(layer.bias, bias, atol=2e-4)
    assert np.abs(trained[0].weights - network[0].weights).max() > 0.02
