"""Training a user's own Keras models again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import ModelError
from testsgd.io import atomic_path
from testsgd.models.blackbox import KerasFunction, float_inputs, keras_inputs
from testsgd.models.checked_function import CheckedFunction
from testsgd.models.files import CARD_FILE, MODEL_FILE, without_date, write_retrained_card
from testsgd.models.refitting.protocol import Examples, Inputs, MarginSlopes, Stage
from testsgd.models.refitting.schedule import (
    KERAS_ANEW,
    KERAS_ON,
    KERAS_PENALISED,
    Schedule,
    StagedRefitter,
)
from testsgd.models.training import Passes, repeatable_keras

# The least distance of scores from 0 and from 1 where their log odds are taken.
_LEAST = 1e-6


class KerasRefitter(StagedRefitter[Any]):
    """A compiled Keras model with one output: copies of it are trained, it is never changed.

    `network`: compiled. Its loss is kept, and so is its optimiser, with its learning rate,
    beginning anew. `model`: the network as it was audited: the copies' answers are read as its own.
    """

    schedules = (KERAS_ON, KERAS_ANEW)

    def __init__(
        self,
        network: Any,
        model: CheckedFunction[Any],
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: Schedule | None = None,
    ) -> None:
        self._keras = repeatable_keras()
        self._network = network
        super().__init__(
            model, card, training, validation, from_scratch=from_scratch, schedule=schedule
        )
        self._rows = isinstance(self._training.inputs, pd.DataFrame)
        if not network.compiled:
            raise self._error(
                "it is not compiled, or with a loss or an optimiser that is not of Keras",
                "call its compile with an optimiser and a loss of Keras; of a file with others, "
                "load it with Keras and give the model from Python",
            )
        # Not known of a model of a class of the user's own.
        shape = getattr(network, "output_shape", None)
        if isinstance(shape, tuple) and len(shape) == 2 and shape[1] != 1:
            raise self._error(
                f"it has {shape[1]} outputs a row, and is trained again with one only",
                "give a network with one output, the score of the favourable label",
            )
        self._inputs = self._given(self._training)
        # All stages are asked through one copy, see _Snapshot.
        self._asked = KerasFunction(self._copy())

    def _stages(self, examples: list[Examples], seed: int) -> Iterator[Stage[Any]]:
        inputs = np.concatenate([self._inputs, *map(self._given, examples[1:])])
        targets = np.concatenate([part.full_targets() for part in examples])
        weights = self._weights(examples)

        def data(epoch: int) -> dict[str, Any]:
            order = np.random.default_rng([seed, epoch]).permutation(len(inputs))
            return {
                "x": self._fed(inputs[order]),
                "y": targets[order].astype(np.float32),
                "sample_weight": weights[order],
                "batch_size": self._schedule.batch_size,
                "shuffle": False,
            }

        passes = self._passes.train(
            self._first_weights(seed), data, passes=self._schedule.epochs, seed=seed
        )
        for epoch, arrays in enumerate(passes, start=1):
            yield Stage(self._model.reading(_Snapshot(self._asked, arrays)), f"epoch {epoch}")

    def margins(self) -> NDArray[np.float64]:
        """Return the log odds of the favourable label less the threshold's; shape (n,)."""
        # Asked once as it was audited: only then it is known to give scores, and their threshold.
        self._model.decisions(self._training.inputs)
        return self._margins(self._scores(self._model, self._training.inputs))

    def go_on(self, model: Any, added: MarginSlopes, generator: np.random.Generator) -> Any:
        """Train a network of this kind a few epochs further; None: the network as it is.

        What is added to the loss gets into the labels and weights that Keras' ``fit`` is given, by
        the scores before each epoch: so any compiled model can be trained.
        """
        targets = self._training.full_targets()
        weights = self._training.full_weights()
        all_rows = np.arange(len(targets))

        def data(epoch: int) -> dict[str, Any]:
            scores = self._passes.scores(self._fed(self._inputs))
            epoch_targets, epoch_weights = targets_with(
                scores, targets, weights, added(all_rows, self._margins(scores))
            )
            order = generator.permutation(len(all_rows))
            return {
                "x": self._fed(self._inputs[order]),
                "y": epoch_targets[order].astype(np.float32),
                "sample_weight": epoch_weights[order].astype(np.float32),
                "batch_size": KERAS_PENALISED.batch_size,
                "shuffle": False,
            }

        *_, arrays = self._passes.train(
            self._network.get_weights() if model is None else model.function.weights,
            data,
            passes=KERAS_PENALISED.epochs,
            seed=int(generator.integers(2**31)),
        )
        return self._model.reading(_Snapshot(self._asked, arrays))

    def _margins(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log odds of scores less those of the threshold, shape (n,)."""
        threshold = 0.5 if self._model.threshold is None else self._model.threshold
        clipped = np.clip(scores, _LEAST, 1 - _LEAST)
        level = np.clip(threshold, _LEAST, 1 - _LEAST)
        return np.asarray(np.log(clipped) - np.log1p(-clipped) - np.log(level) + np.log1p(-level))

    def _fed(self, inputs: NDArray[Any]) -> Any:
        """Return numbers of rows, or texts, as Keras takes them."""
        return inputs if self._rows else keras_inputs(self._network, inputs.tolist())

    def write(self, model: Any, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a network as ``model.keras``, for Keras to load, and its card."""
        folder = Path(folder)
        network = self._compiled_copy()
        network.set_weights(model.function.weights)
        with atomic_path(folder / MODEL_FILE) as temporary:
            network.save(temporary)
            without_date(temporary)
        packages = ("tensorflow", "keras")
        write_retrained_card(folder, self._card, about, packages=packages)
        return [folder / MODEL_FILE, folder / CARD_FILE]

    @cached_property
    def _passes(self) -> Passes:
        return Passes(self._compiled_copy())

    def _compiled_copy(self) -> Any:
        network = self._copy()
        optimizer = self._network.optimizer
        network.compile(
            optimizer=type(optimizer).from_config(optimizer.get_config()), loss=self._network.loss
        )
        # Built, as Keras warns when it reads a file with an optimiser that is not.
        network.optimizer.build(network.trainable_variables)
        return network

    def _copy(self) -> Any:
        # Saved and read, as a plain clone would lose what layers such as Discretization have
        # learnt. What is read was made here, so that a lambda in it is the user's own.
        network = self._network
        own = {type(layer).__name__: type(layer) for layer in [network, *network.layers]}
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / MODEL_FILE
                network.save(path)
                return self._keras.saving.load_model(
                    path, custom_objects=own, compile=False, safe_mode=False
                )
        except Exception as error:
            raise self._error(
                f"it cannot be copied ({type(error).__name__}: {error})",
                "give a model that Keras can save and load, or export the samples with --export "
                "and retrain it yourself",
            ) from error

    def _first_weights(self, seed: int) -> list[NDArray[Any]]:
        if self.goes_on:
            original: list[NDArray[Any]] = self._network.get_weights()
            return original
        self._keras.utils.set_random_seed(seed)
        network = self._copy()
        fresh = self._keras.models.clone_model(network)
        # What is not trained, such as the means of a Normalization, was learnt otherwise.
        for variable, drawn in zip(network.trainable_weights, fresh.trainable_weights, strict=True):
            variable.assign(drawn)
        weights: list[NDArray[Any]] = network.get_weights()
        return weights

    def _given(self, examples: Examples) -> NDArray[Any]:
        """Return the numbers of rows, or texts, as an array that can be shuffled."""
        try:
            if self._rows:
                return float_inputs(self._model.given(examples.inputs))
            keras_inputs(self._network, examples.texts[:1])
            return np.array(examples.texts, dtype=object)
        except (TypeError, ValueError) as error:
            raise self._error(
                f"it is trained again on numbers only, or on texts ({error})",
                "encode the categories as numbers in the data, or export the samples with --export "
                "and retrain it yourself",
            ) from error

    def _scores(self, model: Any, inputs: Inputs) -> NDArray[np.float64]:
        return np.asarray(model.function(model.given(inputs)), dtype=np.float64).ravel()

    def _error(self, what: str, remedy: str) -> ModelError:
        return ModelError(what, where=f"model {self._model.name!r}", remedy=remedy)


def targets_with(
    scores: NDArray[np.float64],
    targets: NDArray[np.float64],
    weights: NDArray[np.float64],
    added: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return targets in [0, 1] and weights that give the cross-entropy further slopes.

    The slope of a row's cross-entropy by its log odds is ``weight * (score - target)``. With the
    targets and weights returned it is, at these scores, ``weight * (score - target) + added`` of
    the ones given. All arrays have the shape (rows,).
    """
    slopes = weights * (scores - targets) + added
    counted = weights > 0
    # A row that does not count, but for what is added, learns the label that this asks for.
    moved = np.where(added > 0, -1.0, np.where(added < 0, 2.0, targets))
    moved[counted] = targets[counted] - added[counted] / weights[counted]
    learnt = np.clip(moved, 0, 1)
    # With a target beyond its bounds, the bound is learnt with a larger weight.
    distances = np.maximum(np.abs(scores - learnt), _LEAST)
    return learnt, np.where(moved == learnt, weights, np.abs(slopes) / distances)


@dataclass(frozen=True)
class _Snapshot:
    """A copy's weights at one point. All are asked through one network: each new one costs time."""

    asked: KerasFunction
    weights: list[NDArray[Any]]

    def __call__(self, asked: Any) -> Any:
        self.asked.model.set_weights(self.weights)
        return self.asked(asked)
