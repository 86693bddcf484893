"""How a network is trained again: how long, how fast, and when a training is at its end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.models.refitting.protocol import Examples, Stage


@dataclass(frozen=True)
class Schedule:
    """How a network is trained.

    `epochs`: at most so many passes over the examples. `patience`: stages without a smaller loss on
    the validation examples after which the training ends; None: it goes on to the last.
    """

    epochs: int
    learning_rate: float
    batch_size: int
    patience: int | None = None


@dataclass(frozen=True)
class RowSchedule(Schedule):
    """How a network of rows is trained.

    `decay`: the loss has half of it times the sum of the squared weights besides. Small weights
    keep a network from learning single rows by heart. `averaged`: True: what an epoch gives is the
    mean of the weights after it and after all epochs before. It leaves out how the last steps
    happened to fall. `annealed`: True: the learning rate falls to nothing along half a cosine.
    `every`: a stage is given after so many epochs.
    """

    decay: float = 0.0
    averaged: bool = False
    annealed: bool = False
    every: int = 1

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0.

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

    `updates`: steps in all, from which the number of epochs follows: at least 2, and at most
    `epochs`. None: there are just so many epochs. `distilled`: True: of the training texts the
    original's own scores are learnt, not their labels. At the start these are met, so that only the
    texts that are added move the network. Where a training is given weights or labels, these are
    learnt. `dropout`: whether parts of the network are left out by chance, as in the first
    training.
    """

    updates: int | None = None
    parts: int = 1
    distilled: bool = False
    dropout: bool = True

    def epochs_of(self, steps: int) -> int:
        """Return how many epochs of so many steps there are to be.

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


M = TypeVar("M")

# So little is a score at least away from 0 and from 1: one mistake does not count without end.
_SMALLEST = 1e-7


def until_no_better(
    stages: Iterator[Stage[M]], loss: Callable[[M], float], patience: int | None
) -> Iterator[Stage[M]]:
    """Return stages until so many of them one after another have brought no smaller loss.

    `loss`: from a model to its loss on examples that it is not trained on. `patience`: how many;
    None: all stages are given.

    Examples
    --------
    >>> losses = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 2.0, "e": 0.0}
    >>> stages = (Stage(name, name) for name in losses)
    >>> [stage.name for stage in until_no_better(stages, losses.__getitem__, 2)]
    ['a', 'b', 'c', 'd']
    """
    least, waited = np.inf, 0
    for stage in stages:
        yield stage
        if patience is None:
            continue
        found = loss(stage.model)
        least, waited = (found, 0) if found < least else (least, waited + 1)
        if waited >= patience:
            return


def cross_entropy(scores: NDArray[np.float64], examples: Examples) -> float:
    """Return the mean, by the examples' weights, of minus the logarithm of their labels' scores.

    Examples
    --------
    >>> examples = Examples(("a", "b"), np.array([True, False]))
    >>> bool(np.isclose(cross_entropy(np.array([0.5, 0.5]), examples), np.log(2)))
    True
    """
    right = np.where(examples.favourable, scores, 1 - scores)
    losses = -np.log(np.clip(right, _SMALLEST, 1))
    return float(np.average(losses, weights=examples.full_weights()))


class StagedRefitter(ABC, Generic[M]):
    """A network that is trained again in stages, from scratch until its validation loss grows."""

    takes_weights = True

    def __init__(
        self,
        kind: str,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool,
        patience: int | None,
    ) -> None:
        self._card = dict(card)
        self._training, self._validation = training, validation
        self._patience = patience
        self.goes_on = not from_scratch
        self.kind = f"{kind}, {'from scratch' if from_scratch else 'from the original weights'}"

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[M]]:
        """Train on the training examples and some more; yield the network as it gets on."""
        training = self._learnt(weights, labels)
        return until_no_better(self._stages(training, extra, seed), self._loss, self._patience)

    def check_writable(self) -> None:
        """Do nothing: a network can be written without any extra."""

    def _learnt(
        self, weights: NDArray[np.float64] | None, labels: NDArray[np.bool_] | None
    ) -> Examples:
        return self._training.instead(weights=weights, labels=labels)

    @abstractmethod
    def _stages(self, training: Examples, extra: Examples | None, seed: int) -> Iterator[Stage[M]]:
        """Train to the last stage."""

    @abstractmethod
    def _loss(self, model: M) -> float:
        """Return the loss on the validation examples."""
