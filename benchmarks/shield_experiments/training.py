"""Classifiers: plain training, a penalty on the gap in demographic parity (DiffDP), and HSIC.

Architecture, optimiser, steps and splits are those of the fair benchmark (FFB) with its defaults.
What the networks say of the test rows is kept in the cache as arrays, so that simulations are
repeated without training.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from benchmarks.shield_experiments.tasks import Examples, Task, load_task
from testsgd.data import cache_folder
from testsgd.io import atomic_path
from testsgd.models.training import seeded_keras

METHODS = ("ERM", "DiffDP", "HSIC")
HIDDEN_UNITS = (512, 256, 64)
# What is kept in the cache; files of another version are of no use.
_CACHE_VERSION = 2


@dataclass(frozen=True)
class Training:
    """How networks are trained.

    Attributes
    ----------
    steps : int
        Of one batch each. The benchmark's default is 150; the paper speaks of epochs.
    learning_rate : float
        Of Adam; a tenth after a third of the steps, a hundredth after two thirds.
    diffdp, hsic : float
        Weights of the penalties beside the cross-entropy.
    seed : int
    """

    steps: int = 150
    learning_rate: float = 0.01
    diffdp: float = 1.0
    hsic: float = 100.0
    seed: int = 0


@dataclass(frozen=True)
class Predictions:
    """What a network says of rows.

    Attributes
    ----------
    groups, labels, recommendations : numpy.ndarray of int, shape (n,)
        Of the test rows.
    scores : numpy.ndarray of float, shape (n,)
        Of the test rows: the probability of label 1; from one half on it is recommended.
    validation_groups, validation_labels, validation_recommendations : numpy.ndarray of int
        Of the validation rows.
    """

    groups: NDArray[np.int64]
    labels: NDArray[np.int64]
    recommendations: NDArray[np.int64]
    scores: NDArray[np.float64]
    validation_groups: NDArray[np.int64]
    validation_labels: NDArray[np.int64]
    validation_recommendations: NDArray[np.int64]

    @property
    def accuracy(self) -> float:
        """Share of the test rows on which recommendation and label agree."""
        return float((self.recommendations == self.labels).mean())

    @property
    def average_precision(self) -> float:
        """Mean precision over the recall of all cuts of the scores of the test rows."""
        return float(average_precision_score(self.labels, self.scores))

    @property
    def area_under_curve(self) -> float:
        """Area under the receiver operating characteristic of the test rows."""
        return float(roc_auc_score(self.labels, self.scores))

    @property
    def f1(self) -> float:
        """Harmonic mean of the precision and the recall of label 1 on the test rows."""
        return float(f1_score(self.labels, self.recommendations))

    @property
    def parity_gap(self) -> float:
        """How far the groups' rates of acceptance are apart on the test rows."""
        return self._gap(np.ones(len(self.labels), dtype=bool))

    @property
    def opportunity_gap(self) -> float:
        """How far they are apart among people of label 1."""
        return self._gap(self.labels == 1)

    def _gap(self, among: NDArray[np.bool_]) -> float:
        rates = [self.recommendations[among & (self.groups == group)].mean() for group in (0, 1)]
        return float(abs(rates[0] - rates[1]))


def predictions(task: Task, method: str, training: Training) -> Predictions:
    """Give a network's predictions, out of the cache or after training it."""
    file = _file(task, method, training)
    if not file.is_file():
        made = _train(task, method, training)
        with atomic_path(file) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, **asdict(made))
    with np.load(file, allow_pickle=False) as arrays:
        return Predictions(**{name: arrays[name] for name in arrays.files})


def _file(task: Task, method: str, training: Training) -> Path:
    network = [task.name, task.groups, task.batch_size, method, HIDDEN_UNITS, asdict(training)]
    about = json.dumps([_CACHE_VERSION, *network])
    key = hashlib.sha256(about.encode()).hexdigest()[:12]
    return cache_folder() / "shield-experiments" / f"{task.name}-{method}-{key}.npz"


def _train(task: Task, method: str, training: Training) -> Predictions:
    train, validation, test = load_task(task)
    keras = seeded_keras(training.seed)
    layers = keras.layers
    network = keras.Sequential(
        [
            layers.Input((train.inputs.shape[1],)),
            *(layers.Dense(units, "relu") for units in HIDDEN_UNITS),
            layers.Dense(1, "sigmoid"),
        ]
    )
    third = max(1, training.steps // 3)
    rates = [training.learning_rate * factor for factor in (1.0, 0.1, 0.01)]
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay([third, 2 * third], rates)
    network.compile(keras.optimizers.Adam(schedule), loss=_loss(keras, method, training))
    for inputs, targets in _batches(train, task.batch_size, training):
        network.train_on_batch(inputs, targets)

    def scores_of(examples: Examples) -> NDArray[np.float64]:
        given = np.asarray(network(examples.inputs, training=False))
        return np.asarray(given[:, 0], dtype=np.float64)

    scores = scores_of(test)
    return Predictions(
        groups=test.groups,
        labels=test.labels,
        recommendations=_recommended(scores),
        scores=scores,
        validation_groups=validation.groups,
        validation_labels=validation.labels,
        validation_recommendations=_recommended(scores_of(validation)),
    )


def _recommended(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Give 1 where label 1 is at least as probable as label 0, else 0."""
    return np.asarray(scores >= 0.5, dtype=np.int64)


def _batches(train: Examples, size: int, training: Training) -> Any:
    """Give so many whole batches; label and group stand side by side in the targets."""
    generator = np.random.default_rng(training.seed)
    targets = np.column_stack([train.labels, train.groups]).astype(np.float32)
    size = min(size, len(targets))
    order: NDArray[np.intp] = np.empty(0, dtype=np.intp)
    for _ in range(training.steps):
        if len(order) < size:
            order = generator.permutation(len(targets))
        rows, order = order[:size], order[size:]
        yield train.inputs[rows], targets[rows]


def _loss(keras: Any, method: str, training: Training) -> Callable[[Any, Any], Any]:
    """Give cross-entropy plus the method's penalty, as a function of targets and outputs."""
    ops = keras.ops

    def parity_gap(groups: Any, outputs: Any) -> Any:
        rates = [
            ops.sum(outputs * members) / ops.maximum(ops.sum(members), 1.0)
            for members in (1.0 - groups, groups)
        ]
        return ops.abs(rates[0] - rates[1])

    def dependence(groups: Any, outputs: Any) -> Any:
        # The biased estimate of the Hilbert-Schmidt independence criterion, Gaussian kernels.
        kernels = [
            ops.exp(-ops.square(ops.expand_dims(values, 0) - ops.expand_dims(values, 1)))
            for values in (outputs, groups)
        ]
        first = kernels[0] - ops.mean(kernels[0], axis=0, keepdims=True)
        second = kernels[1] - ops.mean(kernels[1], axis=0, keepdims=True)
        rows = ops.cast(ops.shape(outputs)[0], "float32")
        return ops.sum(first * ops.transpose(second)) / ops.square(rows - 1.0)

    def loss(targets: Any, outputs: Any) -> Any:
        labels, groups, given = targets[:, 0], targets[:, 1], outputs[:, 0]
        plain = ops.mean(ops.binary_crossentropy(labels, given))
        match method:
            case "DiffDP":
                return plain + training.diffdp * parity_gap(groups, given)
            case "HSIC":
                return plain + training.hsic * dependence(groups, given)
        return plain

    return loss
