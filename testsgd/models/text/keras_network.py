"""The networks of texts in Keras, for training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from testsgd.models.text.batches import Batches

_EMBEDDING_DROPOUT = 0.2
_DROPOUT = 0.5


def keras_text_network(
    keras: Any,
    *,
    numbers: int,
    dimensions: int,
    places: int,
    filters: int,
    pool: int,
    units: int,
    dropout: bool = True,
) -> Any:
    """Build embedding, convolution, pooling, LSTM and one sigmoid output.

    Parameters
    ----------
    keras : module
        Keras.
    numbers, dimensions : int
        Numbers of words, and the length of the vector of each.
    places, filters : int
        Words that the convolution sees at once, and how many values it makes of them.
    pool : int
        Places of which the largest value is kept.
    units : int
        Of the LSTM.
    dropout : bool
        Whether a step of the training leaves out some of the vectors' dimensions, and some of what
        is pooled and put out.
    """
    layers = keras.layers
    first, others = (_EMBEDDING_DROPOUT, _DROPOUT) if dropout else (0.0, 0.0)
    return keras.Sequential(
        [
            layers.Input((None,), dtype="int32"),
            layers.Embedding(numbers, dimensions),
            layers.SpatialDropout1D(first),
            layers.Conv1D(filters, places, padding="same", activation="relu"),
            layers.MaxPooling1D(pool),
            layers.Dropout(others),
            layers.LSTM(units),
            layers.Dropout(others),
            layers.Dense(1, "sigmoid"),
        ]
    )


def keras_batches(batches: Callable[[], Batches]) -> Any:
    """Give batches as a data set of TensorFlow's, read ahead by a thread of its own.

    Parameters
    ----------
    batches : callable
        Gives the batches, for each time that they are read.
    """
    import tensorflow as tf

    first = batches()
    # One signature for all lengths: else every length would be compiled by itself.
    signature = [tf.TensorSpec((None, None), tf.int32), tf.TensorSpec((None, 1), tf.float32)]
    if first.weighed:
        signature.append(tf.TensorSpec((None,), tf.float32))
    made = tf.data.Dataset.from_generator(
        lambda: iter(batches()), output_signature=tuple(signature)
    )
    return made.apply(tf.data.experimental.assert_cardinality(len(first))).prefetch(2)
