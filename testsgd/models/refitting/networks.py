"""Training the networks of tables again, with numpy.

These networks are so small that a step of Keras spends most of its time on everything but the
products. Here an epoch of 26,000 rows takes a twentieth of a second, and TensorFlow is not needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from testsgd.models.files import PREPROCESSING_FILE, write_preprocessing
from testsgd.models.network import Layer, NetworkModel
from testsgd.models.refitting.protocol import Examples, MarginSlopes, Stage
from testsgd.models.refitting.schedule import (
    ROWS_ANEW,
    ROWS_ON,
    ROWS_PENALISED,
    FileRefitter,
    RowSchedule,
)
from testsgd.single_thread import on_one_thread

Floats = NDArray[np.float32]

# Rows in a batch of a training with a penalty on all groups, at least.
_FEWEST_IN_BATCH = 128


class NetworkRefitter(FileRefitter[NetworkModel]):
    """A fully connected network of testsgd's, its training rows encoded once."""

    schedules = (ROWS_ON, ROWS_ANEW)

    @cached_property
    def _inputs(self) -> Floats:
        return self._encode(self._training)

    def _stages(self, examples: list[Examples], seed: int) -> Iterator[Stage[NetworkModel]]:
        generator = np.random.default_rng(seed)
        layers = self._model.layers
        if not self.goes_on:
            layers = fresh_layers(layers, generator)
        passes = train(
            layers,
            np.concatenate([self._inputs, *map(self._encode, examples[1:])]),
            self._targets(examples),
            self._weights(examples),
            schedule=self._schedule,
            generator=generator,
        )
        model = self._model
        for epoch, trained in passes:
            network = NetworkModel(trained, model.encoding, sigmoid=model.sigmoid, name=model.name)
            yield Stage(network, f"epoch {epoch}")

    def margins(self) -> NDArray[np.float64]:
        """Return the log odds of the favourable label less the threshold's; shape (n,)."""
        with on_one_thread("blas"):
            return self._margins(self._model.output_sums(self._inputs))

    def go_on(
        self, model: NetworkModel | None, added: MarginSlopes, generator: np.random.Generator
    ) -> NetworkModel:
        """Train a network of this kind a few epochs further; None: the network as it is."""
        original = self._model

        def by_sums(rows: NDArray[np.intp], sums: Floats) -> Floats:
            slopes: Floats = (self._sign * added(rows, self._margins(sums))).astype(np.float32)
            return slopes

        examples = [self._training]
        # So that an epoch of few rows, too, has some twenty steps at least.
        largest_batch = max(_FEWEST_IN_BATCH, len(self._inputs) // 20)
        batch_size = min(ROWS_PENALISED.batch_size, largest_batch)
        passes = train(
            (model or original).layers,
            self._inputs,
            self._targets(examples),
            self._weights(examples),
            schedule=replace(ROWS_PENALISED, batch_size=batch_size),
            generator=generator,
            added=by_sums,
        )
        *_, (_, layers) = passes
        return NetworkModel(layers, original.encoding, sigmoid=original.sigmoid, name=original.name)

    def _margins(self, sums: Floats) -> NDArray[np.float64]:
        """Return the margins of the output's sums, shape (n,): above 0 where favourable."""
        threshold = self._model.sigmoid.decision_threshold
        return np.asarray(self._sign * (sums.astype(np.float64) - threshold))

    @property
    def _sign(self) -> float:
        """1 if the output is the favourable label's probability, -1 if the other label's."""
        sigmoid = self._model.sigmoid
        return 1.0 if sigmoid.favourable == sigmoid.labels.positive else -1.0

    def _write_preprocessing(self, model: NetworkModel, folder: Path) -> tuple[str, ...]:
        features = {"features": model.encoding.to_json()}
        write_preprocessing(folder, "tables", model.sigmoid.labels, features)
        return (PREPROCESSING_FILE,)

    def _arrays(self, model: NetworkModel) -> dict[str, Sequence[Floats]]:
        return {
            f"{name}/vars": [layer.weights, layer.bias]
            for name, layer in zip(self._archive.layer_names, model.layers, strict=True)
        }

    def _encode(self, examples: Examples) -> Floats:
        encoded: Floats = self._model.encoding.encode(examples.frame)
        return encoded


# From the places of some rows and the output's sums for them, shape (rows,), to the slopes by these
# of what is added to the sum of the rows' losses, of the same shape.
AddedSlopes = Callable[[NDArray[np.intp], Floats], Floats]

# Adam's constants, as Keras has them.
_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_EPSILON = 1e-7


def train(
    layers: tuple[Layer, ...],
    inputs: Floats,
    targets: Floats,
    weights: Floats,
    *,
    schedule: RowSchedule,
    generator: np.random.Generator,
    added: AddedSlopes | None = None,
) -> Iterator[tuple[int, tuple[Layer, ...]]]:
    """Train ReLU layers and one sigmoid output by Adam; yield epochs and the networks after them.

    The loss is the weighted cross-entropy plus half the decay times the sum of the squared
    parameters. `inputs`: shape (n, inputs). `targets`: what the output should be, in [0, 1], shape
    (n,). `weights`: how much each row counts, shape (n,). `added`: what else the loss is made of,
    by its slopes. Epochs are counted from 1. The given layers are never changed. After Kingma and
    Ba, Adam: A Method for Stochastic Optimization, ICLR 2015, algorithm 1 in the form of the remark
    at the end of section 2.
    """
    # A step of many small arrays would spend most of its time on calling numpy.
    parameters, kernels, biases = _in_one_array(layers)
    slopes, means, squares = (np.zeros_like(parameters) for _ in range(3))
    decay = np.float32(schedule.decay)
    steps = 0
    for epoch in range(1, schedule.epochs + 1):
        order = generator.permutation(len(inputs))
        with on_one_thread("blas"):
            for start in range(0, len(order), schedule.batch_size):
                rows = order[start : start + schedule.batch_size]
                found = gradients(
                    kernels,
                    biases,
                    inputs[rows],
                    targets[rows],
                    weights[rows],
                    added=partial(added, rows) if added else None,
                )
                np.concatenate([slope.ravel() for slope in found], out=slopes)
                steps += 1
                correction = math.sqrt(1 - _SECOND_DECAY**steps) / (1 - _FIRST_DECAY**steps)
                rate = np.float32(schedule.rate(epoch - 1) * correction)
                slopes += decay * parameters
                means += (slopes - means) * np.float32(1 - _FIRST_DECAY)
                squares += (slopes * slopes - squares) * np.float32(1 - _SECOND_DECAY)
                parameters -= rate * means / (np.sqrt(squares) + np.float32(_EPSILON))
        if epoch % schedule.every == 0 or epoch == schedule.epochs:
            trained = zip(kernels, biases, layers, strict=True)
            yield (
                epoch,
                tuple(Layer(k.copy(), b.copy(), layer.activation) for k, b, layer in trained),
            )


def _in_one_array(layers: tuple[Layer, ...]) -> tuple[Floats, list[Floats], list[Floats]]:
    """Return the parameters of layers in one array, and its parts: the kernels and the biases."""
    own = [*(layer.weights for layer in layers), *(layer.bias for layer in layers)]
    together = np.concatenate([parameter.ravel() for parameter in own])
    ends = np.cumsum([parameter.size for parameter in own])[:-1]
    parts = zip(np.split(together, ends), own, strict=True)
    views = [part.reshape(parameter.shape) for part, parameter in parts]
    return together, views[: len(layers)], views[len(layers) :]


def gradients(
    kernels: list[Floats],
    biases: list[Floats],
    inputs: Floats,
    targets: Floats,
    weights: Floats,
    *,
    added: Callable[[Floats], Floats] | None = None,
) -> list[Floats]:
    """Return the gradients of the batch's cross-entropy by the kernels, then by the biases.

    The cross-entropy is the weighted sum over the number of rows. Its slope by the output's sum z
    of a row is ``weight * (sigmoid(z) - target) / rows``. `inputs`: shape (rows, inputs);
    `targets`, `weights`: shape (rows,). `added`: from the output's sums to the slopes by them of
    another sum over the rows, which is divided by their number, too.
    """
    activations = [inputs]
    for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
        sums = activations[-1] @ kernel
        sums += bias
        activations.append(np.maximum(sums, 0, out=sums))
    output = (activations[-1] @ kernels[-1] + biases[-1])[:, 0]
    # Of a sigmoid's cross-entropy, the slope by its sum is the score less the target.
    by_output = (sigmoid(output) - targets) * weights
    if added is not None:
        by_output += added(output)
    slopes = (by_output / np.float32(len(inputs)))[:, np.newaxis]
    by_kernel = []
    by_bias = []
    for index in reversed(range(len(kernels))):
        by_kernel.append(activations[index].T @ slopes)
        by_bias.append(slopes.sum(axis=0))
        if index:
            slopes = (slopes @ kernels[index].T) * (activations[index] > 0)
    return [*reversed(by_kernel), *reversed(by_bias)]


def sigmoid(sums: Floats) -> Floats:
    """Return ``1 / (1 + exp(-sums))``, without overflow."""
    # Half of one plus the hyperbolic tangent of half: the same, and finite everywhere.
    scores: Floats = np.float32(0.5) * (1 + np.tanh(np.float32(0.5) * sums))
    return scores


def fresh_layers(layers: tuple[Layer, ...], generator: np.random.Generator) -> tuple[Layer, ...]:
    """Draw new weights for layers of the same shapes, as Keras does.

    Uniform after Glorot and Bengio, Understanding the difficulty of training deep feedforward
    neural networks, AISTATS 2010, equation 16.
    """
    drawn = []
    for layer in layers:
        limit = math.sqrt(6 / sum(layer.weights.shape))
        kernel = generator.uniform(-limit, limit, layer.weights.shape).astype(np.float32)
        drawn.append(Layer(kernel, np.zeros_like(layer.bias), layer.activation))
    return tuple(drawn)
