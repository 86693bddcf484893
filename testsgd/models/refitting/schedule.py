"""How long and how fast a network is trained again."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """How a network is trained.

    Attributes
    ----------
    epochs : int
        At most so many passes over the examples.
    learning_rate : float
        Of Adam.
    batch_size : int
        Examples a step.
    patience : int or None
        Stages without a smaller loss on the validation examples after which the training ends;
        None: it goes on to the last.
    """

    epochs: int
    learning_rate: float
    batch_size: int
    patience: int | None = None


@dataclass(frozen=True)
class RowSchedule(Schedule):
    """How a network of rows is trained.

    Attributes
    ----------
    decay : float
        The loss has half of it times the sum of the squared weights besides. Small weights keep a
        network from learning single rows by heart.
    averaged : bool
        True: what an epoch gives is the mean of the weights after it and after all epochs before.
        It leaves out how the last steps happened to fall.
    annealed : bool
        True: the learning rate falls to nothing along half a cosine.
    every : int
        A stage is given after so many epochs.
    """

    decay: float = 0.0
    averaged: bool = False
    annealed: bool = False
    every: int = 1

    def rate(self, epoch: int) -> float:
        """Give the learning rate of an epoch, counted from 0.

        Examples
        --------
        >>> schedule = RowSchedule(epochs=4, learning_rate=1.0, batch_size=1, annealed=True)
        >>> [round(schedule.rate(epoch), 3) for epoch in range(4)]
        [1.0, 0.854, 0.5, 0.146]
        """
        if not self.annealed:
            return self.learning_rate
        return self.learning_rate * (1 + math.cos(math.pi * epoch / self.epochs)) / 2


@dataclass(frozen=True)
class TextSchedule(Schedule):
    """How a network of texts is trained.

    Attributes
    ----------
    updates : int or None
        Steps in all, from which the number of epochs follows: at least 2, and at most `epochs`.
        None: there are just so many epochs.
    parts : int
        Stages an epoch.
    distilled : bool
        True: of the training texts the original's own scores are learnt, not their labels. At the
        start these are met, so that only the texts that are added move the network. Where a
        training is given weights or labels, these are learnt.
    dropout : bool
        Whether parts of the network are left out by chance, as in the first training.
    """

    updates: int | None = None
    parts: int = 1
    distilled: bool = False
    dropout: bool = True

    def epochs_of(self, steps: int) -> int:
        """Give how many epochs of so many steps there are to be.

        Examples
        --------
        >>> schedule = TextSchedule(12, 1e-3, 64, updates=1000)
        >>> [schedule.epochs_of(steps) for steps in (10, 250, 5000)]
        [12, 4, 2]
        """
        if self.updates is None:
            return self.epochs
        return min(max(round(self.updates / steps), 2), self.epochs)


# From the original weights, and from new ones as `testsgd train` does it. What goes on was found by
# trying on the training and validation parts of the paper's data sets.
ROWS_ON = RowSchedule(
    epochs=24, learning_rate=2e-3, batch_size=256, decay=1e-3, annealed=True, every=3
)
ROWS_ANEW = RowSchedule(epochs=30, learning_rate=1e-3, batch_size=128, patience=5)
TEXTS_ON = TextSchedule(
    epochs=12,
    learning_rate=1e-3,
    batch_size=64,
    updates=1000,
    parts=2,
    distilled=True,
    dropout=False,
)
TEXTS_ANEW = TextSchedule(epochs=8, learning_rate=1e-3, batch_size=64, patience=2)

# A user's own Keras models: likewise. Their learning rate is that of their own optimiser.
KERAS_ON = Schedule(epochs=10, learning_rate=1e-3, batch_size=128)
KERAS_ANEW = Schedule(epochs=30, learning_rate=1e-3, batch_size=128, patience=5)
