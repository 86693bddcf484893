"""Training the networks of tables again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd._files import atomic_path
from testsgd.models.cards import write_retrained_card
from testsgd.models.files import CARD_FILE, MODEL_FILE, PREPROCESSING_FILE, write_preprocessing
from testsgd.models.network import Layer, NetworkModel
from testsgd.models.output import SigmoidOutput
from testsgd.models.refitting.archive import KerasArchive
from testsgd.models.refitting.descent import fresh_layers, train
from testsgd.models.refitting.protocol import Examples, Stage
from testsgd.models.refitting.schedule import ROWS_ANEW, ROWS_ON, RowSchedule
from testsgd.models.refitting.stopping import cross_entropy, until_no_better

Floats = NDArray[np.float32]


class NetworkRefitter:
    """A fully connected network of testsgd's, its training rows encoded once.

    Parameters
    ----------
    model : NetworkModel
        The original; how it encodes rows is kept.
    path : path-like
        Its file.
    card : mapping
        Its model card.
    training, validation : Examples
        Rows that it is trained on, and those that end a training from scratch.
    from_scratch : bool
        True: training starts from new weights, drawn by its seed; False: from the original ones.
    schedule : RowSchedule, optional
        How long and how fast.
    """

    def __init__(
        self,
        model: NetworkModel,
        path: Path,
        card: Mapping[str, Any],
        training: Examples,
        validation: Examples,
        *,
        from_scratch: bool = False,
        schedule: RowSchedule | None = None,
    ) -> None:
        self._model = model
        # Read now: the new network may be written over the original.
        self._archive = KerasArchive(Path(path).read_bytes())
        self._card = dict(card)
        self._training, self._validation = training, validation
        self._inputs = self._encode(training)
        self._schedule = schedule or (ROWS_ANEW if from_scratch else ROWS_ON)
        self.goes_on = not from_scratch
        self.takes_weights = True
        start = "from the original weights" if self.goes_on else "from scratch"
        self.kind = f"{model.kind}, {start}"

    def refit(
        self,
        extra: Examples | None,
        *,
        weights: NDArray[np.float64] | None = None,
        labels: NDArray[np.bool_] | None = None,
        seed: int,
    ) -> Iterator[Stage[NetworkModel]]:
        """Train on the training rows and some more; give the network after each epoch."""
        training = self._training.instead(weights=weights, labels=labels)
        stages = self._stages(training, extra, seed)
        return until_no_better(stages, self._loss, self._schedule.patience)

    def _stages(
        self, training: Examples, extra: Examples | None, seed: int
    ) -> Iterator[Stage[NetworkModel]]:
        generator = np.random.default_rng(seed)
        layers = self._model.layers
        if not self.goes_on:
            layers = fresh_layers(layers, generator)
        inputs, targets = self._inputs, sigmoid_targets(training, self._model.sigmoid)
        weights = training.full_weights()
        if extra is not None and len(extra):
            inputs = np.concatenate([inputs, self._encode(extra)])
            targets = np.concatenate([targets, sigmoid_targets(extra, self._model.sigmoid)])
            weights = np.concatenate([weights, extra.full_weights()])
        passes = train(
            layers,
            inputs,
            targets,
            weights.astype(np.float32),
            schedule=self._schedule,
            generator=generator,
        )
        for epoch, trained in passes:
            yield Stage(self._with(trained), f"epoch {epoch}")

    def write(self, model: NetworkModel, folder: Path, about: Mapping[str, Any]) -> list[Path]:
        """Write a network as ``testsgd train`` does."""
        folder = Path(folder)
        write_preprocessing(
            folder, "tables", model.sigmoid.labels, {"features": model.encoding.to_json()}
        )
        write_retrained_card(folder, self._card, about)
        arrays = [[layer.weights, layer.bias] for layer in model.layers]
        places = [f"{name}/vars" for name in self._archive.layer_names]
        content = self._archive.with_arrays(dict(zip(places, arrays, strict=True)))
        with atomic_path(folder / MODEL_FILE) as temporary:
            temporary.write_bytes(content)
        return [folder / MODEL_FILE, folder / PREPROCESSING_FILE, folder / CARD_FILE]

    def check_writable(self) -> None:
        """Do nothing: a network can be written without any extra."""

    def _encode(self, examples: Examples) -> Floats:
        return self._model.encoding.encode(examples.frame)

    def _with(self, layers: tuple[Layer, ...]) -> NetworkModel:
        model = self._model
        return NetworkModel(layers, model.encoding, sigmoid=model.sigmoid, name=model.name)

    def _loss(self, model: NetworkModel) -> float:
        return cross_entropy(model.scores(self._validation.frame), self._validation)


def sigmoid_targets(examples: Examples, sigmoid: SigmoidOutput) -> Floats:
    """Give what a network's output should be: the probability of the label that it means.

    That label need not be the favourable one.
    """
    targets = examples.full_targets().astype(np.float32)
    return targets if sigmoid.favourable == sigmoid.labels.positive else 1 - targets
