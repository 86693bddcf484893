"""From a loaded model to what can train it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testsgd.data import Specification
from testsgd.errors import ModelError
from testsgd.models.answers import CheckedFunction
from testsgd.models.blackbox import is_keras_model
from testsgd.models.network import NetworkModel
from testsgd.models.refitting.estimators import EstimatorRefitter, estimator_of, is_estimator
from testsgd.models.refitting.keras_models import KerasRefitter
from testsgd.models.refitting.networks import NetworkRefitter
from testsgd.models.refitting.protocol import Examples, Refitter
from testsgd.models.refitting.text_networks import TextNetworkRefitter
from testsgd.models.resolve import LoadedModel
from testsgd.models.text.network import TextNetwork


def refitter_for(
    loaded: LoadedModel[Any],
    specification: Specification,
    training: Examples,
    validation: Examples,
    *,
    from_scratch: bool = False,
) -> Refitter[Any]:
    """Find out how a model is trained again; a :class:`ModelError` if it cannot be.

    It is trained on `training`; `validation` says when a training from scratch is at its end.
    `from_scratch`: True: training starts anew; False: from the original weights, where there are
    any.
    """
    model, origin, card = loaded.model, estimator_of(loaded.origin), loaded.card
    parts = (card, training, validation)
    if isinstance(model, NetworkModel) and isinstance(origin, Path):
        return NetworkRefitter(model, origin, *parts, from_scratch=from_scratch)
    if isinstance(model, TextNetwork) and isinstance(origin, Path):
        return TextNetworkRefitter(model, origin, *parts, from_scratch=from_scratch)
    if isinstance(model, CheckedFunction) and is_keras_model(origin):
        return KerasRefitter(origin, model, *parts, from_scratch=from_scratch)
    if isinstance(model, CheckedFunction) and is_estimator(origin):
        return EstimatorRefitter(origin, model, specification.label, card, training)
    raise ModelError(
        f"the model, a {model.kind}, cannot be refitted",
        where=f"model {model.name!r}",
        remedy="give a network trained by testsgd, a scikit-learn estimator or a Keras model, or "
        "export the samples with --export and retrain it yourself",
    )
