"""A small convolutional network that reads attributes back from portraits.

``python -m benchmarks.generative_experiments.portraits.reading`` trains the committed one anew, in
under a minute on two processors, and prints its accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.generative_experiments.portraits.attributes import VALUES, Attributes
from benchmarks.generative_experiments.portraits.drawing import portrait
from benchmarks.generative_experiments.portraits.png import read_png
from testsgd.models.training import repeatable_keras, seeded_keras

READ = ("sex", "skin", "age", "clothes")
# Pixels of a side, after neighbouring pixels are averaged.
_SIDE = 64
_BATCH = 64
_LEARNING_RATE = 0.003
_CHANNELS = (16, 24, 32)
# Sex shows in the smallest details, and is learnt last.
_WEIGHTS = {"sex": 2.0, "skin": 1.0, "age": 1.0, "clothes": 1.0}
# Trained by train() with its defaults; `main` writes it anew.
_COMMITTED = Path(__file__).with_name("reader.keras")


@dataclass(frozen=True)
class Training:
    """A trained reader, with its accuracy on pictures it was not trained on.

    Attributes
    ----------
    reader : AttributeReader
    accuracy : dict of str to float
        Of each attribute, where every picture must be read.
    """

    reader: AttributeReader
    accuracy: dict[str, float]


class AttributeReader:
    """Read attributes from PNG files.

    Parameters
    ----------
    network : keras.Model
        As made by :func:`train`.
    confidence : float
        Values with a smaller probability are unreadable.
    """

    def __init__(self, network: Any, *, confidence: float = 0.5) -> None:
        self.network = network
        self.confidence = confidence

    @classmethod
    def load(cls, path: Path = _COMMITTED, *, confidence: float = 0.5) -> AttributeReader:
        """Return the reader that was saved to a file; without one, that of this folder."""
        keras = repeatable_keras()
        return cls(keras.models.load_model(path, compile=False), confidence=confidence)

    def save(self, path: Path) -> None:
        """Save to a file that ends in ``.keras``."""
        self.network.save(path)

    def labels(self, pictures: Sequence[bytes]) -> dict[str, NDArray[np.int64]]:
        """Return the numbers of the attributes' values.

        Parameters
        ----------
        pictures : sequence of bytes
            PNG files, square, of 64 pixels or a multiple of it.

        Returns
        -------
        dict of str to numpy.ndarray of int, shape (n,)
            0 where a value is unreadable.

        Raises
        ------
        ValueError
            If a file is no such picture.
        """
        if not pictures:
            return {name: np.zeros(0, dtype=np.int64) for name in READ}
        inputs = np.stack([_small(read_png(data)) for data in pictures])
        labels = {}
        for name, probabilities in _probabilities(self.network, inputs).items():
            best = probabilities.argmax(axis=1) + 1
            sure = probabilities.max(axis=1) >= self.confidence
            labels[name] = np.where(sure, best, 0).astype(np.int64)
        return labels


def train(
    *, pictures: int = 2500, held_out: int = 1000, epochs: int = 6, seed: int = 0
) -> Training:
    """Train a reader on portraits of people drawn evenly over all attributes.

    Parameters
    ----------
    pictures, held_out : int
        To train with, and to measure the accuracy on.
    epochs : int
        Each shows every picture twice: as it is, and mirrored.
    seed : int

    Returns
    -------
    Training

    Raises
    ------
    MissingExtraError
        If tensorflow is not installed.
    """
    keras = seeded_keras(seed)
    random = np.random.default_rng(seed)
    drawn, values = _examples(pictures, random)
    inputs = np.concatenate([drawn, drawn[:, :, ::-1]])
    numbers = {name: np.tile(indices, 2) for name, indices in values.items()}
    network = _network(keras)
    steps = epochs * -(-len(inputs) // _BATCH)
    rate = keras.optimizers.schedules.CosineDecay(_LEARNING_RATE, steps)
    network.compile(
        optimizer=keras.optimizers.Adam(rate),
        loss=dict.fromkeys(READ, "sparse_categorical_crossentropy"),
        loss_weights=_WEIGHTS,
    )
    network.fit(inputs, numbers, batch_size=_BATCH, epochs=epochs, verbose=0)
    # Without the state of the optimizer, a third as large.
    plain = _network(keras)
    plain.set_weights(network.get_weights())
    tests, truth = _examples(held_out, random)
    accuracy = {
        name: float((probabilities.argmax(axis=1) == truth[name]).mean())
        for name, probabilities in _probabilities(plain, tests).items()
    }
    return Training(AttributeReader(plain), accuracy)


def _network(keras: Any) -> Any:
    layers = keras.layers
    pixels = layers.Input((_SIDE, _SIDE, 3))
    signal = layers.Rescaling(1 / 127.5, offset=-1)(pixels)
    for channels in _CHANNELS:
        signal = layers.Conv2D(channels, 3, strides=2, padding="same", use_bias=False)(signal)
        # The averages of the last ten or so batches are enough: a training has a few hundred.
        signal = layers.BatchNormalization(momentum=0.9)(signal)
        signal = layers.ReLU()(signal)
    signal = layers.Dense(64, activation="relu")(layers.Flatten()(signal))
    outputs = {
        name: layers.Dense(len(VALUES[name]), activation="softmax", name=name)(signal)
        for name in READ
    }
    return keras.Model(pixels, outputs)


def _examples(
    count: int, random: np.random.Generator
) -> tuple[NDArray[np.float32], dict[str, NDArray[np.int64]]]:
    """Draw portraits; return them small, and the indices of their values."""
    inputs = np.empty((count, _SIDE, _SIDE, 3), dtype=np.float32)
    numbers = {name: np.empty(count, dtype=np.int64) for name in READ}
    for index in range(count):
        drawn = {name: str(random.choice(values)) for name, values in VALUES.items()}
        person = Attributes(
            sex=drawn["sex"],
            skin=drawn["skin"],
            age=drawn["age"],
            clothes=drawn["clothes"],
            build=drawn["build"],
        )
        inputs[index] = _small(portrait(person, random=random))
        for name in READ:
            numbers[name][index] = person.number(name) - 1
    return inputs, numbers


def _probabilities(network: Any, inputs: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return for each attribute an array of shape (n, number of values)."""
    outputs = network.predict(inputs, batch_size=256, verbose=0)
    return {name: np.asarray(outputs[name]) for name in READ}


def _small(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return a picture of 64 by 64 pixels, each the mean of a block."""
    height, width, _ = picture.shape
    block = height // _SIDE
    if block == 0 or height != width or height != block * _SIDE:
        raise ValueError(f"a portrait has {_SIDE} pixels or a multiple of it, not {height}x{width}")
    blocks = picture.reshape(_SIDE, block, _SIDE, block, 3)
    # One axis after the other, which is faster than both at once.
    sums = blocks.sum(axis=1, dtype=np.uint32).sum(axis=2)
    return np.asarray(sums / block**2, dtype=np.float32)


def main() -> None:
    """Train the committed network anew."""
    trained = train()
    trained.reader.save(_COMMITTED)
    for name, share in trained.accuracy.items():
        print(f"{name}: {share:.3f}")


if __name__ == "__main__":
    main()
