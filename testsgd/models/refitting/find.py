"""From a loaded model to what can train it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testsgd.data import Specification
from testsgd.errors import ModelError
from testsgd.models.blackbox import is_keras_model
from testsgd.models.checked_function import CheckedFunction
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
    """Return what can train a model again.

    This is known for networks of testsgd's own, compiled Keras models with one output, and
    estimators of scikit-learn or with the same methods.

    Parameters
    ----------
    loaded : LoadedModel
        The model. It is not changed.
    specification : DatasetSpecification or TextSpecification
        The data set, with the favourable label.
    training : Examples
        The training examples.
    validation : Examples
        Examples whose loss ends a training from scratch, once it stops falling. An estimator is
        fitted without them.
    from_scratch : bool
        True: training starts from new weights. False: from the original weights. An estimator is
        always fitted from scratch.

    Returns
    -------
    Refitter

    Raises
    ------
    ModelError
        If the model cannot be trained again.
    MissingExtraError
        If a network of texts or a Keras model is to be trained without TensorFlow.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from testsgd.data import specification_from_mapping
    >>> from testsgd.models import load_model
    >>> specification = specification_from_mapping({
    ...     "dataset": {"name": "loans"},
    ...     "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    ...     "features": {"age": {"type": "integer", "range": [18, 90], "sensitive": True}},
    ... })
    >>> people = pd.DataFrame({"age": [30, 40]})
    >>> tree = DecisionTreeClassifier().fit(people, ["no", "yes"])
    >>> examples = Examples(people, np.array([False, True]))
    >>> refitter = refitter_for(load_model(tree, specification), specification, examples, examples)
    >>> refitter.kind
    'DecisionTreeClassifier, fitted anew'
    """
    model = loaded.model
    origin = estimator_of(loaded.origin)
    card = loaded.card
    if isinstance(model, NetworkModel) and isinstance(origin, Path):
        return NetworkRefitter(model, origin, card, training, validation, from_scratch=from_scratch)
    if isinstance(model, TextNetwork) and isinstance(origin, Path):
        return TextNetworkRefitter(
            model, origin, card, training, validation, from_scratch=from_scratch
        )
    if isinstance(model, CheckedFunction) and is_keras_model(origin):
        return KerasRefitter(origin, model, card, training, validation, from_scratch=from_scratch)
    if isinstance(model, CheckedFunction) and is_estimator(origin):
        return EstimatorRefitter(origin, model, specification.label, card, training)
    raise ModelError(
        f"the model ({model.kind}) cannot be refitted",
        where=f"model {model.name!r}",
        remedy="give a network trained by testsgd, a scikit-learn estimator or a Keras model, or "
        "export the samples with --export and retrain it yourself",
    )
