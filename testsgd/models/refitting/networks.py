"""Training the networks of tables again, with numpy.

These networks are so small that a step of Keras spends most of its time on everything but the
products. Here an epoch of 26,000 rows takes a twentieth of a second, and TensorFlow is not needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._files import atomic_path
from testsgd.models.files import (
    CARD_FILE,
    MODEL_FILE,
    PREPROCESSING_FILE,
    KerasArchive,
    SigmoidOutput,
    write_preprocessing,
    write_retrained_card,
)
from testsgd.models.network import Layer, NetworkModel, single_threaded_products
from testsgd.models.refitting.protocol import Examples, Stage
from testsgd.models.refitting.schedule import (
    ROWS_ANEW,
    ROWS_ON,
    RowSchedule,
    StagedRefitter,
    cross_entropy,
)

Floats = NDArray[np.float32]


class NetworkRefitter(StagedRefitter[NetworkModel]):
    """A fully connected network of testsgd's, its training rows encoded once.

    `model`: the original; how it encodes rows is kept. `training`, `validation`: rows that it is
    trained on, and those that end a training from scratch. `from_scratch`: True: training starts
    from new weights, drawn by its seed; False: from the original ones.
    """

    def __init__(
        self,
        model: NetworkModel,
        path: Path,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: RowSchedule | None = None,
    ) -> None:
        self._schedule = schedule or (ROWS_ANEW if from_scratch else ROWS_ON)
        super().__init__(
            model.kind,
            card,
            training,
            validation,
            from_scratch=from_scratch,
            patience=self._schedule.patience,
        )
        self._model = model
        # Read now: the new network may be written over the original.
        self._archive = KerasArchive(Path(path).read_bytes())
        self._inputs = self._encode(training)

    def _stages(
        self, training: Examples, extra: Examples | None, seed: int
    ) -> Iterator[Stage[NetworkModel]]:
        generator = np.random.default_rng(seed)
        layers = self._model.layers
        if not self.goes_on:
            layers = fresh_layers(layers, generator)
        inputs, targets = self._inputs, sigmoid_targets(training, self._model.sigmoid)
        weights = training.full_weights()
        if extra is not None and len(extra):
            inputs = np.concatenate([inputs, self._encode(extra)])
            targets = np.concatenate([targets, sigmoid_targets(extra, self._model.sigmoid)])
            weights = np.concatenate([weights, extra.full_weights()])
        passes = train(
            layers,
            inputs,
            targets,
            weights.astype(np.float32),
            schedule=self._schedule,
            generator=generator,
        )
        for epoch, trained in passes:
            yield Stage(self._with(trained), f"epoch {epoch}")

    def write(self, model: NetworkModel, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a network as ``testsgd train`` does."""
        folder = Path(folder)
        write_preprocessing(
            folder, "tables", model.sigmoid.labels, {"features": model.encoding.to_json()}
        )
        write_retrained_card(folder, self._card, about)
        arrays = [[layer.weights, layer.bias] for layer in model.layers]
        places = [f"{name}/vars" for name in self._archive.layer_names]
        content = self._archive.with_arrays(dict(zip(places, arrays, strict=True)))
        with atomic_path(folder / MODEL_FILE) as temporary:
            temporary.write_bytes(content)
        return [folder / MODEL_FILE, folder / PREPROCESSING_FILE, folder / CARD_FILE]

    def _encode(self, examples: Examples) -> Floats:
        return self._model.encoding.encode(examples.frame)

    def _with(self, layers: tuple[Layer, ...]) -> NetworkModel:
        model = self._model
        return NetworkModel(layers, model.encoding, sigmoid=model.sigmoid, name=model.name)

    def _loss(self, model: NetworkModel) -> float:
        return cross_entropy(model.scores(self._validation.frame), self._validation)


def sigmoid_targets(examples: Examples, sigmoid: SigmoidOutput) -> Floats:
    """Return what a network's output should be: the probability of the label that it means.

    That label need not be the favourable one.
    """
    targets = examples.full_targets().astype(np.float32)
    return targets if sigmoid.favourable == sigmoid.labels.positive else 1 - targets


# Adam's constants, as Keras has them.
_FIRST_DECAY = 0.9
_SECOND_DECAY = 0.999
_EPSILON = 1e-7


class Adam:
    """Kingma and Ba's method, with a step for each parameter by the sizes of its gradients so far.

    `learning_rate`: length of a step whose gradient is always the same; it may be changed between
    steps.

    References
    ----------
    Kingma and Ba, Adam: A Method for Stochastic Optimization, ICLR 2015, algorithm 1 in the form of
    the remark at the end of section 2.
    """

    def __init__(self, parameters: list[Floats], learning_rate: float) -> None:
        self._parameters = parameters
        self.learning_rate = learning_rate
        self._first = [np.zeros_like(parameter) for parameter in parameters]
        self._second = [np.zeros_like(parameter) for parameter in parameters]
        self._steps = 0

    def step(self, gradients: list[Floats]) -> None:
        """Go one step against the gradients."""
        self._steps += 1
        rate = np.float32(
            self.learning_rate
            * math.sqrt(1 - _SECOND_DECAY**self._steps)
            / (1 - _FIRST_DECAY**self._steps)
        )
        for parameter, gradient, first, second in zip(
            self._parameters, gradients, self._first, self._second, strict=True
        ):
            first += (gradient - first) * np.float32(1 - _FIRST_DECAY)
            second += (gradient * gradient - second) * np.float32(1 - _SECOND_DECAY)
            parameter -= rate * first / (np.sqrt(second) + np.float32(_EPSILON))


def train(
    layers: tuple[Layer, ...],
    inputs: Floats,
    targets: Floats,
    weights: Floats,
    *,
    schedule: RowSchedule,
    generator: np.random.Generator,
) -> Iterator[tuple[int, tuple[Layer, ...]]]:
    """Train ReLU layers and one sigmoid output to the least cross-entropy and decay.

    `layers`: the network to begin with; never changed. `inputs`: shape (n, width): encoded rows.
    `targets`: shape (n,): what the output should be, in [0, 1]. `weights`: shape (n,): how much
    each row counts. `generator`: shuffles the rows anew for every epoch. Yields: `epoch`: from 1;
    `layers`: the network after it, or the mean of those so far.
    """
    parameters = [layer.weights.copy() for layer in layers]
    parameters += [layer.bias.copy() for layer in layers]
    kernels, biases = parameters[: len(layers)], parameters[len(layers) :]
    adam = Adam(parameters, schedule.learning_rate)
    decay = np.float32(schedule.decay)
    means = [parameter.copy() for parameter in parameters]
    for epoch in range(1, schedule.epochs + 1):
        adam.learning_rate = schedule.rate(epoch - 1)
        order = generator.permutation(len(inputs))
        with single_threaded_products():
            for start in range(0, len(order), schedule.batch_size):
                rows = order[start : start + schedule.batch_size]
                slopes = gradients(kernels, biases, inputs[rows], targets[rows], weights[rows])
                for slope, parameter in zip(slopes, parameters, strict=True):
                    slope += decay * parameter
                adam.step(slopes)
        for mean, parameter in zip(means, parameters, strict=True):
            mean += (parameter - mean) / np.float32(epoch)
        if epoch % schedule.every == 0 or epoch == schedule.epochs:
            yield epoch, _layers_of(means if schedule.averaged else parameters, layers)


def _layers_of(parameters: list[Floats], layers: tuple[Layer, ...]) -> tuple[Layer, ...]:
    kernels, biases = parameters[: len(layers)], parameters[len(layers) :]
    return tuple(
        Layer(kernel.copy(), bias.copy(), layer.activation)
        for kernel, bias, layer in zip(kernels, biases, layers, strict=True)
    )


def gradients(
    kernels: list[Floats], biases: list[Floats], inputs: Floats, targets: Floats, weights: Floats
) -> list[Floats]:
    """Differentiate the batch's cross-entropy: the weighted sum over the number of rows.

    Result: by the kernels, then by the biases.
    """
    activations = [inputs]
    for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
        sums = activations[-1] @ kernel
        sums += bias
        activations.append(np.maximum(sums, 0, out=sums))
    output = (activations[-1] @ kernels[-1] + biases[-1])[:, 0]
    # Of a sigmoid's cross-entropy, the slope by its sum is the score less the target.
    slopes = ((sigmoid(output) - targets) * (weights / np.float32(len(inputs))))[:, np.newaxis]
    by_kernel, by_bias = [], []
    for place in reversed(range(len(kernels))):
        by_kernel.append(activations[place].T @ slopes)
        by_bias.append(slopes.sum(axis=0))
        if place:
            slopes = (slopes @ kernels[place].T) * (activations[place] > 0)
    return [*reversed(by_kernel), *reversed(by_bias)]


def sigmoid(sums: Floats) -> Floats:
    """Return ``1 / (1 + exp(-sums))``, without overflow."""
    # Half of one plus the hyperbolic tangent of half: the same, and finite everywhere.
    scores: Floats = np.float32(0.5) * (1 + np.tanh(np.float32(0.5) * sums))
    return scores


def fresh_layers(layers: tuple[Layer, ...], generator: np.random.Generator) -> tuple[Layer, ...]:
    """Draw new weights for layers of the same shapes, as Keras does: uniform after Glorot.

    References
    ----------
    Glorot and Bengio, Understanding the difficulty of training deep feedforward neural networks,
    AISTATS 2010, equation 16.
    """
    drawn = []
    for layer in layers:
        limit = math.sqrt(6 / sum(layer.weights.shape))
        kernel = generator.uniform(-limit, limit, layer.weights.shape).astype(np.float32)
        drawn.append(Layer(kernel, np.zeros_like(layer.bias), layer.activation))
    return tuple(drawn)
