"""The network of texts in Keras, for comparison: the same weights, the same word numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.models import TextNetwork
from testsgd.models.text.keras_network import padded, padded_lengths

_BATCH = 1_024


def keras_scores(path: Path, ours: TextNetwork) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """Give a function from texts to scores that asks Keras, in batches of one padded length."""
    import keras

    network: Any = keras.models.load_model(path)
    step = ours.weights.pool

    def scores(texts: Sequence[str]) -> NDArray[np.float64]:
        words = ours.vocabulary.numbers(texts)
        lengths = padded_lengths(words.counts, step)
        found = np.zeros(len(texts))
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            for start in range(0, len(rows), _BATCH):
                batch = rows[start : start + _BATCH]
                found[batch] = network.predict_on_batch(padded(words, batch, step))[:, 0]
        return found

    return scores
