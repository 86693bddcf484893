"""Training the networks of texts again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._files import atomic_path
from testsgd.models.files import (
    CARD_FILE,
    MODEL_FILE,
    PREPROCESSING_FILE,
    KerasArchive,
    write_retrained_card,
)
from testsgd.models.refitting.networks import sigmoid_targets
from testsgd.models.refitting.protocol import Examples, Stage
from testsgd.models.refitting.schedule import (
    TEXTS_ANEW,
    TEXTS_ON,
    StagedRefitter,
    TextSchedule,
    cross_entropy,
)
from testsgd.models.text.keras_network import Batches, keras_batches, keras_text_network
from testsgd.models.text.network import VOCABULARY_FILE, TextNetwork, write_text_preprocessing
from testsgd.models.training import Passes, repeatable_keras


class TextNetworkRefitter(StagedRefitter[TextNetwork]):
    """A network of texts of testsgd's, the words of its training texts numbered once.

    `training`, `validation`: texts that it is trained on, and those that end a training from
    scratch. `from_scratch`: True: training starts from new weights, drawn by its seed; False: from
    the original ones.
    """

    def __init__(
        self,
        model: TextNetwork,
        path: Path,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: TextSchedule | None = None,
    ) -> None:
        self._keras = repeatable_keras()
        self._schedule = schedule or (TEXTS_ANEW if from_scratch else TEXTS_ON)
        super().__init__(
            model.kind,
            card,
            training,
            validation,
            from_scratch=from_scratch,
            patience=self._schedule.patience,
        )
        self._model = model
        # Read now: the new network may be written over the original.
        self._archive = KerasArchive(Path(path).read_bytes())
        self._words = model.vocabulary.numbers(training.texts)

    def _learnt(
        self, weights: NDArray[np.float64] | None, labels: NDArray[np.bool_] | None
    ) -> Examples:
        training = super()._learnt(weights, labels)
        own = weights is not None or labels is not None or training.targets is not None
        if self._schedule.distilled and not own:
            training = replace(training, targets=self._scores)
        return training

    def _stages(
        self, training: Examples, extra: Examples | None, seed: int
    ) -> Iterator[Stage[TextNetwork]]:
        model, schedule = self._model, self._schedule
        words, targets = self._words, sigmoid_targets(training, model.sigmoid)
        weights = training.full_weights()
        rows = np.arange(len(words))
        if extra is not None and len(extra):
            # A training text of the same words as one of those that are added is left out.
            added = model.vocabulary.numbers(extra.texts)
            instead = set(added.keys())
            kept = [place for place, key in enumerate(self._keys) if key not in instead]
            rows = np.concatenate([kept, len(words) + np.arange(len(added))]).astype(np.intp)
            words = words.join(added)
            targets = np.concatenate([targets, sigmoid_targets(extra, model.sigmoid)])
            weights = np.concatenate([weights, extra.full_weights()])

        def batches(epoch: int, part: tuple[int, int] = (0, 1)) -> Batches:
            return Batches(
                words,
                targets,
                rows,
                step=model.weights.pool,
                size=schedule.batch_size,
                generator=np.random.default_rng([seed, epoch]),
                weights=weights.astype(np.float32),
                part=part,
            )

        steps = len(batches(0))
        parts = min(schedule.parts, steps)

        def data(stage: int) -> dict[str, Any]:
            epoch, part = divmod(stage, parts)
            # The batches are shuffled already.
            return {"x": keras_batches(lambda: batches(epoch, (part, parts))), "shuffle": False}

        passes = self._passes.train(
            self._first_weights(seed),
            data,
            passes=schedule.epochs_of(steps) * parts,
            seed=seed,
        )
        for stage, arrays in enumerate(passes, start=1):
            yield Stage(self._with(arrays), f"epoch {stage / parts:.3g}")

    def write(self, model: TextNetwork, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a network as ``testsgd train`` does."""
        folder = Path(folder)
        write_text_preprocessing(folder, model.vocabulary, model.sigmoid.labels)
        packages = ("tensorflow", "keras")
        write_retrained_card(folder, self._card, about, packages=packages)
        weights = model.weights
        content = self._archive.with_arrays(
            {
                "embedding/vars": [weights.embedding],
                "conv1d/vars": [weights.kernel, weights.kernel_bias],
                "lstm/cell/vars": [weights.input_weights, weights.state_weights, weights.bias],
                "dense/vars": [weights.output, weights.output_bias],
            }
        )
        with atomic_path(folder / MODEL_FILE) as temporary:
            temporary.write_bytes(content)
        names = (MODEL_FILE, VOCABULARY_FILE, PREPROCESSING_FILE, CARD_FILE)
        return [folder / name for name in names]

    @cached_property
    def _scores(self) -> NDArray[np.float64]:
        return self._model.scores(self._training.texts)

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
            places=len(weights.kernel),
            filters=weights.kernel.shape[2],
            pool=weights.pool,
            units=len(weights.state_weights),
            dropout=self._schedule.dropout,
        )

    def _first_weights(self, seed: int) -> list[NDArray[Any]]:
        if self.goes_on:
            return self._model.weights.arrays()
        self._keras.utils.set_random_seed(seed)
        fresh: list[NDArray[Any]] = self._network().get_weights()
        return fresh

    def _with(self, arrays: list[NDArray[Any]]) -> TextNetwork:
        model = self._model
        weights = model.weights.with_arrays(arrays)
        return TextNetwork(weights, model.vocabulary, sigmoid=model.sigmoid, name=model.name)

    def _loss(self, model: TextNetwork) -> float:
        return cross_entropy(model.scores(self._validation.texts), self._validation)
