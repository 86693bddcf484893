"""How networks are trained again: how long and how fast, and what is done alike for all kinds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.io import atomic_path, memory_limit, read_bytes, write_bytes
from testsgd.models.files import (
    CARD_FILE,
    MODEL_FILE,
    KerasArchive,
    without_date,
    write_retrained_card,
)
from testsgd.models.network import SigmoidNetwork
from testsgd.models.refitting.protocol import Examples, Inputs, Stage


@dataclass(frozen=True)
class Schedule:
    """How a network is trained: at most `epochs` passes over the examples.

    `patience`: stages without a smaller loss on the validation examples after which the training
    ends; None: it goes on to the last.
    """

    epochs: int
    learning_rate: float
    batch_size: int
    patience: int | None = None


@dataclass(frozen=True)
class RowSchedule(Schedule):
    """How a network of rows is trained.

    `decay`: half of it times the sum of the squared weights is added to the loss: small weights
    keep a network from learning single rows by heart. `annealed`: the learning rate falls to
    nothing along half a cosine. `every`: the number of epochs from one stage to the next.
    """

    decay: float = 0.0
    annealed: bool = False
    every: int = 1

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        fall = (1 + math.cos(math.pi * epoch / self.epochs)) / 2 if self.annealed else 1.0
        return self.learning_rate * fall


@dataclass(frozen=True)
class TextSchedule(Schedule):
    """How a network of texts is trained.

    `updates`: steps in all, from which the number of epochs follows: at least 2, and at most
    `epochs`. None: there are `epochs` epochs. `distilled`: of the training texts the original's
    own scores are learnt, not their labels. At the start these are met, so that only the texts that
    are added move the network. Where a training is given weights or labels, these are learnt.
    `dropout`: parts of the network are left out by chance, as in the first training.
    """

    updates: int | None = None
    parts: int = 1
    distilled: bool = False
    dropout: bool = True

    def epochs_of(self, steps: int) -> int:
        """Return the number of epochs, each of `steps` steps."""
        if self.updates is None:
            return self.epochs
        return min(max(round(self.updates / steps), 2), self.epochs)


# Epochs, learning rate, rows or texts in a batch. From the original weights, and from new ones as
# `testsgd train` does it. What goes on was found by trying on the training and validation parts of
# the paper's data sets.
ROWS_ON = RowSchedule(24, 2e-3, 256, decay=1e-3, annealed=True, every=3)
ROWS_ANEW = RowSchedule(30, 1e-3, 128, patience=5)
TEXTS_ON = TextSchedule(12, 1e-3, 64, updates=1000, parts=2, distilled=True, dropout=False)
TEXTS_ANEW = TextSchedule(8, 1e-3, 64, patience=2)

# A user's own Keras models: likewise. Their learning rate is that of their own optimiser.
KERAS_ON = Schedule(10, 1e-3, 128)
KERAS_ANEW = Schedule(30, 1e-3, 128, patience=5)

# Going on with a penalty on all groups, for each of its strengths. Steps that get smaller end where
# the groups that were worst in turn are balanced.
ROWS_PENALISED = RowSchedule(4, 2e-3, 256, decay=1e-3, annealed=True, every=4)
KERAS_PENALISED = Schedule(4, 1e-3, 128)


M = TypeVar("M")
N = TypeVar("N", bound=SigmoidNetwork[Any])

# The least distance of a score from 0 and from 1: so the loss of one mistake is finite.
_SMALLEST = 1e-7


class StagedRefitter(ABC, Generic[M]):
    """A network that is trained again in stages, from scratch until its validation loss grows.

    `from_scratch`: training starts from new weights, drawn by its seed, not from the original ones.
    """

    takes_weights = True

    # How long, if it is not said: from the original weights, and from new ones.
    schedules: ClassVar[tuple[Schedule, Schedule]]

    def __init__(
        self,
        model: Any,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: Schedule | None = None,
    ) -> None:
        self._model = model
        self._card = dict(card)
        self._training = training
        self._validation = validation
        # Of the class of the schedules above.
        self._schedule: Any = schedule or self.schedules[from_scratch]
        self.goes_on = not from_scratch
        start = "from scratch" if from_scratch else "from the original weights"
        self.kind = f"{model.kind}, {start}"

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[M]]:
        """Train on the training examples and further ones; yield the network after each stage."""
        training = self._training_examples(weights=weights, labels=labels)
        examples = [training] if extra is None or not len(extra) else [training, extra]
        smallest_loss = np.inf
        stages_without_gain = 0
        for stage in self._stages(examples, seed):
            yield stage
            if self._schedule.patience is None:
                continue
            loss = self._loss(stage.model)
            if loss < smallest_loss:
                smallest_loss = loss
                stages_without_gain = 0
            else:
                stages_without_gain += 1
            if stages_without_gain >= self._schedule.patience:
                return

    @property
    def training_size(self) -> int:
        """Number of training examples."""
        return len(self._training)

    def check_writable(self) -> None:
        """Do nothing: a network can be written without any extra."""

    def _training_examples(
        self, *, weights: NDArray[np.float64] | None, labels: NDArray[np.bool_] | None
    ) -> Examples:
        """Return the training examples, with other weights and labels where these are given."""
        return self._training.instead(weights=weights, labels=labels)

    @abstractmethod
    def _stages(self, examples: list[Examples], seed: int) -> Iterator[Stage[M]]:
        """Train to the last stage on the training examples and, if any, on others after them."""

    def _loss(self, model: M) -> float:
        """Return the weighted mean cross-entropy on the validation examples."""
        scores = self._scores(model, self._validation.inputs)
        right = np.where(self._validation.favourable, scores, 1 - scores)
        losses = -np.log(np.clip(right, _SMALLEST, 1))
        return float(np.average(losses, weights=self._validation.full_weights()))

    def _weights(self, examples: Sequence[Examples]) -> NDArray[np.float32]:
        """Return the weights of all examples, shape (n,), one set of them after the other."""
        return np.concatenate([part.full_weights() for part in examples]).astype(np.float32)

    @abstractmethod
    def _scores(self, model: M, inputs: Inputs) -> NDArray[np.float64]:
        """Return the probability of the favourable label for each row or text, shape (n,)."""


class FileRefitter(StagedRefitter[N]):
    """A network of testsgd's own, whose files it is written to again."""

    # What it is trained with besides numpy and pandas.
    packages: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        model: N,
        path: Path,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: Schedule | None = None,
    ) -> None:
        super().__init__(
            model, card, training, validation, from_scratch=from_scratch, schedule=schedule
        )
        # Read now: the new network may be written over the original.
        self._archive = KerasArchive(read_bytes(path, at_most=memory_limit()))

    def write(self, model: N, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a network as ``testsgd train`` does."""
        folder = Path(folder)
        beside = self._write_preprocessing(model, folder)
        content = self._archive.with_arrays(self._arrays(model))
        with atomic_path(folder / MODEL_FILE) as temporary:
            write_bytes(temporary, content)
            without_date(temporary)
        write_retrained_card(folder, self._card, about, packages=self.packages)
        return [folder / name for name in (MODEL_FILE, *beside, CARD_FILE)]

    @abstractmethod
    def _write_preprocessing(self, model: N, folder: Path) -> tuple[str, ...]:
        """Write how rows or texts become inputs; return the names of the files."""

    @abstractmethod
    def _arrays(self, model: N) -> dict[str, Sequence[NDArray[np.float32]]]:
        """Return the weights by their places in the file."""

    def _scores(self, model: N, inputs: Inputs) -> NDArray[np.float64]:
        return model.scores(inputs)

    def _targets(self, examples: Sequence[Examples]) -> NDArray[np.float32]:
        """Return what the output should be, shape (n,): the probability of its positive label.

        That label need not be the favourable one.
        """
        targets = np.concatenate([part.full_targets().astype(np.float32) for part in examples])
        sigmoid = self._model.sigmoid
        return targets if sigmoid.favourable == sigmoid.labels.positive else 1 - targets
