"""The networks of texts in Keras, for training, and batches of texts of one length for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.models.text.vocabulary import PADDING, WordNumbers

Rows = NDArray[np.intp]


def padded_lengths(counts: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Return the least multiple of `step`, at least one, that holds each count; shape (texts,)."""
    return np.maximum(-(-counts // step), 1) * step


def padded(words: WordNumbers, rows: Rows, step: int) -> NDArray[np.int32]:
    """Return texts as rows of word numbers, with padding before the first words.

    The shape is (texts, padded length of the longest of them).
    """
    width = int(padded_lengths(words.counts[rows], step).max(initial=step))
    out = np.full((len(rows), width), PADDING, dtype=np.int32)
    for line, row in zip(out, rows.tolist(), strict=True):
        numbers = words.numbers[words.offsets[row] : words.offsets[row + 1]]
        line[width - len(numbers) :] = numbers
    return out


class Batches:
    """Texts in batches of one padded length each.

    `generator`: shuffles texts and batches anew for every pass; without one they keep their order.
    `weights`: how much each text counts; they are then the third part of every batch. `part`:
    number and count of the parts of a pass, of which only the batches of this part are given.
    """

    def __init__(
        self,
        words: WordNumbers,
        labels: NDArray[np.float32],
        rows: Rows,
        *,
        step: int,
        size: int,
        generator: np.random.Generator | None = None,
        weights: NDArray[np.float32] | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        self._words = words
        self._labels = labels
        self._rows = rows
        self._lengths = padded_lengths(words.counts, step)
        self._step = step
        self._size = size
        self._generator = generator
        self.weights = weights
        self._part = part

    def __len__(self) -> int:
        _, texts = np.unique(self._lengths[self._rows], return_counts=True)
        return len(self._wanted(int((-(-texts // self._size)).sum())))

    def _wanted(self, batches: int) -> range:
        """Return which of the batches of a pass belong to this part of it."""
        index, parts = self._part
        return range(index * batches // parts, (index + 1) * batches // parts)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        generator = self._generator
        rows = self._rows if generator is None else generator.permutation(self._rows)
        rows = rows[np.argsort(self._lengths[rows], kind="stable")]
        starts = np.flatnonzero(np.diff(self._lengths[rows])) + 1
        batches = [
            group[start : start + self._size]
            for group in np.split(rows, starts)
            for start in range(0, len(group), self._size)
        ]
        order = (
            np.arange(len(batches)) if generator is None else generator.permutation(len(batches))
        )
        for index in self._wanted(len(batches)):
            batch = batches[order[index]]
            inputs = padded(self._words, batch, self._step)
            labels = self._labels[batch, np.newaxis]
            if self.weights is None:
                yield inputs, labels
            else:
                yield inputs, labels, self.weights[batch]


_EMBEDDING_DROPOUT = 0.2
_DROPOUT = 0.5


def keras_text_network(
    keras: Any,
    *,
    numbers: int,
    dimensions: int,
    width: int,
    filters: int,
    pool: int,
    units: int,
    dropout: bool = True,
) -> Any:
    """Build embedding, convolution, pooling, LSTM and one sigmoid output.

    `width`: words that the convolution sees at once. `pool`: positions of which the largest value
    is kept. `dropout`: a step of the training leaves out some of the vectors' dimensions, and some
    of what is pooled and put out.
    """
    layers = keras.layers
    embedding_rate = _EMBEDDING_DROPOUT if dropout else 0.0
    later_rate = _DROPOUT if dropout else 0.0
    return keras.Sequential(
        [
            layers.Input((None,), dtype="int32"),
            layers.Embedding(numbers, dimensions),
            layers.SpatialDropout1D(embedding_rate),
            layers.Conv1D(filters, width, padding="same", activation="relu"),
            layers.MaxPooling1D(pool),
            layers.Dropout(later_rate),
            layers.LSTM(units),
            layers.Dropout(later_rate),
            layers.Dense(1, "sigmoid"),
        ]
    )


def keras_batches(batches: Callable[[], Batches]) -> Any:
    """Return batches as a data set of TensorFlow's, read ahead by a thread of its own."""
    import tensorflow as tf

    first = batches()
    # One signature for all lengths: else every length would be compiled by itself.
    signature = [tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, 1), tf.float32)]
    if first.weights is not None:
        signature.append(tf.TensorSpec((None,), tf.float32))
    data = tf.data.Dataset.from_generator(
        lambda: iter(batches()), output_signature=tuple(signature)
    )
    return data.apply(tf.data.experimental.assert_cardinality(len(first))).prefetch(2)
