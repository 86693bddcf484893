"""Training the networks of texts again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.models.files import PREPROCESSING_FILE
from testsgd.models.refitting.protocol import Examples, Stage
from testsgd.models.refitting.schedule import TEXTS_ANEW, TEXTS_ON, FileRefitter, Schedule
from testsgd.models.text.keras_network import Batches, keras_batches, keras_text_network
from testsgd.models.text.network import VOCABULARY_FILE, TextNetwork, write_text_preprocessing
from testsgd.models.training import Passes, repeatable_keras


class TextNetworkRefitter(FileRefitter[TextNetwork]):
    """A network of texts of testsgd's, the words of its training texts numbered once."""

    schedules = (TEXTS_ON, TEXTS_ANEW)
    packages = ("tensorflow", "keras")

    def __init__(
        self,
        model: TextNetwork,
        path: Path,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: Schedule | None = None,
    ) -> None:
        self._keras = repeatable_keras()
        super().__init__(
            model, path, card, training, validation, from_scratch=from_scratch, schedule=schedule
        )
        self._words = model.vocabulary.numbers(self._training.texts)

    def _training_examples(
        self, *, weights: NDArray[np.float64] | None, labels: NDArray[np.bool_] | None
    ) -> Examples:
        training = super()._training_examples(weights=weights, labels=labels)
        unchanged = weights is None and labels is None and training.targets is None
        if self._schedule.distilled and unchanged:
            training = replace(training, targets=self._own_scores)
        return training

    def _stages(self, examples: list[Examples], seed: int) -> Iterator[Stage[TextNetwork]]:
        model = self._model
        schedule = self._schedule
        words = self._words
        targets = self._targets(examples)
        weights = self._weights(examples)
        rows = np.arange(len(words))
        for extra in examples[1:]:
            # A training text of the same words as one of those that are added is left out.
            added = model.vocabulary.numbers(extra.texts)
            repeated = set(added.keys())
            kept = [index for index, key in enumerate(self._keys) if key not in repeated]
            rows = np.concatenate([kept, len(words) + np.arange(len(added))]).astype(np.intp)
            words = words.join(added)

        def batches(epoch: int, part: tuple[int, int] = (0, 1)) -> Batches:
            return Batches(
                words,
                targets,
                rows,
                step=model.weights.pool,
                size=schedule.batch_size,
                generator=np.random.default_rng([seed, epoch]),
                weights=weights,
                part=part,
            )

        steps = len(batches(0))
        parts = min(schedule.parts, steps)

        def data(stage: int) -> dict[str, Any]:
            epoch, part = divmod(stage, parts)
            # The batches are shuffled already.
            return {"x": keras_batches(lambda: batches(epoch, (part, parts))), "shuffle": False}

        total = schedule.epochs_of(steps) * parts
        passes = self._passes.train(self._first_weights(seed), data, passes=total, seed=seed)
        for stage, arrays in enumerate(passes, start=1):
            trained = model.weights.with_arrays(arrays)
            network = TextNetwork(trained, model.vocabulary, sigmoid=model.sigmoid, name=model.name)
            yield Stage(network, f"epoch {stage / parts:.3g}")

    def _write_preprocessing(self, model: TextNetwork, folder: Path) -> tuple[str, ...]:
        write_text_preprocessing(folder, model.vocabulary, model.sigmoid.labels)
        return VOCABULARY_FILE, PREPROCESSING_FILE

    def _arrays(self, model: TextNetwork) -> dict[str, Sequence[NDArray[np.float32]]]:
        return model.weights.by_key()

    @cached_property
    def _own_scores(self) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = self._model.scores(self._training.texts)
        return scores

    @cached_property
    def _keys(self) -> list[bytes]:
        return self._words.keys()

    @cached_property
    def _passes(self) -> Passes:
        network = self._network()
        rate = self._schedule.learning_rate
        network.compile(optimizer=self._keras.optimizers.Adam(rate), loss="binary_crossentropy")
        return Passes(network)

    def _network(self) -> Any:
        weights = self._model.weights
        numbers, dimensions = weights.embedding.shape
        return keras_text_network(
            self._keras,
            numbers=numbers,
            dimensions=dimensions,
            width=len(weights.kernel),
            filters=weights.kernel.shape[2],
            pool=weights.pool,
            units=len(weights.state_weights),
            dropout=self._schedule.dropout,
        )

    def _first_weights(self, seed: int) -> list[NDArray[Any]]:
        if self.goes_on:
            own: list[NDArray[Any]] = self._model.weights.arrays()
            return own
        self._keras.utils.set_random_seed(seed)
        fresh: list[NDArray[Any]] = self._network().get_weights()
        return fresh
