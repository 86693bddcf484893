"""scikit-learn's networks and linear classifiers, read from their fitted attributes.

``predict`` of a binary MLPClassifier gives the second class if ``expit(sum) > 0.5``, that of a
linear classifier if ``sum > 0``; with several classes both give the first of the largest. Tables
are taken for float64, as scikit-learn makes them of whole numbers and of lists.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from testsgd.certification.network.assemble import assemble, number_inputs
from testsgd.certification.network.feedforward import (
    Activation,
    FeedForward,
    InputColumns,
    Precision,
)
from testsgd.certification.network.grouping import reorder_columns
from testsgd.certification.network.parts import Activate, Part, ReadNetwork, Softmax, affine
from testsgd.certification.network.sklearn_preprocessing import transformed
from testsgd.errors import ModelError, ParameterError

_HIDDEN: Mapping[str, Activation] = {
    "relu": "relu",
    "logistic": "sigmoid",
    "tanh": "tanh",
    "identity": "linear",
}
# By name, so that a subclass, whose predict may be another, is not taken for its parent.
_LINEAR = {
    "LogisticRegression",
    "LogisticRegressionCV",
    "SGDClassifier",
    "Perceptron",
    "PassiveAggressiveClassifier",
    "LinearSVC",
    "RidgeClassifier",
    "RidgeClassifierCV",
}
_PROBABLE = {"LogisticRegression", "LogisticRegressionCV"}


def is_sklearn_model(source: Any) -> bool:
    """Say whether an object is an estimator of scikit-learn itself, without importing it."""
    return _is_own(source) and hasattr(source, "get_params")


def read_sklearn_model(
    source: Any,
    *,
    name: str,
    threshold: float | None = None,
    categories: Mapping[str, Sequence[int]] | None = None,
    file_sha256: str | None = None,
) -> FeedForward:
    """Read a fitted classifier, or a pipeline that ends in one.

    Parameters
    ----------
    source : estimator
        An MLPClassifier or a linear classifier, perhaps behind scalers and encoders.
    name : str
        What to call it.
    threshold : float, optional
        The second class if its probability is above it. By default, and with 0.5, as ``predict``
        does.
    categories : mapping of str to sequence of int, optional
        Groups of 0/1 columns that are one category each; see
        :func:`~testsgd.certification.network.find_network`.
    file_sha256 : str, optional
        Of the file it was read from.

    Returns
    -------
    FeedForward

    Raises
    ------
    ModelError
        If it is none of these, or is not fitted.
    ParameterError
        If a threshold is given for a model that has no probabilities.
    """
    final, before = source, []
    while type(final).__name__ == "Pipeline" and _is_own(final):
        *steps, last = [step for _, step in final.steps]
        before.extend(steps)
        final = last
    try:
        read, labels, default = _classifier(final, threshold)
        inputs = number_inputs(_names(source, before, final))
        columns = list(inputs)
        for step in before:
            columns = transformed(step, columns)
    except AttributeError as error:
        raise ModelError(
            f"it is not fitted, or is of another version of scikit-learn ({error})",
            where=f"model {type(source).__name__}",
            remedy="give a fitted estimator",
        ) from error
    width = sum(given.columns.width for given in columns)
    if width != read.width:
        raise ModelError(
            f"the {type(final).__name__} takes {read.width} numbers, but is given {width}",
            where="model",
            remedy="give a fitted pipeline",
        )
    ordered, order = _in_order(columns, [given.name for given in inputs])
    return assemble(
        replace(read, parts=tuple(reorder_columns(read.parts, order))),
        ordered,
        name=name,
        threshold=default,
        labels=labels,
        categories=categories,
        file_sha256=file_sha256,
    )


def _is_own(source: Any) -> bool:
    return str(type(source).__module__).split(".")[0] == "sklearn"


def _names(source: Any, before: list[Any], final: Any) -> list[str]:
    """Give the names of the inputs: those of the data frame it was fitted to, or x0, x1, ..."""
    for step in (source, *before, final):
        names = getattr(step, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
    first = (before or [final])[0]
    return [f"x{n}" for n in range(int(first.n_features_in_))]


def _in_order(
    columns: list[InputColumns], names: list[str]
) -> tuple[list[InputColumns], np.ndarray[Any, np.dtype[np.intp]]]:
    """Bring inputs into the order of the table that the model takes."""
    starts = np.cumsum([0, *(given.columns.width for given in columns)])
    places = sorted(range(len(columns)), key=lambda place: names.index(columns[place].name))
    order = [
        np.arange(starts[place], starts[place] + columns[place].columns.width) for place in places
    ]
    return [columns[place] for place in places], np.concatenate(order).astype(np.intp)


def _classifier(final: Any, threshold: float | None) -> tuple[ReadNetwork, list[str], float | None]:
    kind = type(final).__name__
    if not _is_own(final) or (kind != "MLPClassifier" and kind not in _LINEAR):
        raise ModelError(
            f"a {kind} is no network that can be certified",
            where="model",
            remedy="give an MLPClassifier or a linear classifier of scikit-learn, or a pipeline "
            "of scalers and encoders that ends in one",
        )
    classes = np.asarray(final.classes_)
    if classes.ndim != 1 or isinstance(final.classes_, list) or len(classes) < 2:
        raise ModelError(
            f"the {kind} makes several decisions, or only one",
            where="model",
            remedy="give a classifier with one label",
        )
    labels = [str(value) for value in classes]
    if kind == "MLPClassifier":
        return _multilayer(final), labels, threshold
    return _linear(final, kind, len(labels), threshold), labels, _linear_threshold(kind, threshold)


def _precision(*arrays: Any) -> Precision:
    single = any(np.asarray(array).dtype == np.float32 for array in arrays)
    return "float32" if single else "float64"


def _multilayer(final: Any) -> ReadNetwork:
    if final.out_activation_ not in ("logistic", "softmax"):
        raise ModelError(
            f"the output activation {final.out_activation_!r} cannot be certified", where="model"
        )
    if final.out_activation_ == "logistic" and final.n_outputs_ != 1:
        raise ModelError(
            f"the MLPClassifier makes {final.n_outputs_} decisions, not one",
            where="model",
            remedy="give a classifier with one label",
        )
    parts: list[Part] = []
    for number, (weights, bias) in enumerate(zip(final.coefs_, final.intercepts_, strict=True)):
        where = f"layer {number}"
        parts.append(affine(where, weights, bias))
        if number < len(final.coefs_) - 1:
            parts.append(Activate(where, _HIDDEN[final.activation]))
        elif final.out_activation_ == "softmax":
            parts.append(Softmax(where))
        else:
            parts.append(Activate(where, "sigmoid"))
    width = int(np.asarray(final.coefs_[0]).shape[0])
    return ReadNetwork(
        width, tuple(parts), _precision(*final.coefs_), f"scikit-learn {type(final).__name__}"
    )


def _linear(final: Any, kind: str, classes: int, threshold: float | None) -> ReadNetwork:
    weights = np.atleast_2d(np.asarray(final.coef_)).T
    bias = np.broadcast_to(np.asarray(final.intercept_), (weights.shape[1],))
    parts: list[Part] = [affine("coefficients", weights, bias)]
    if classes == 2 and threshold not in (None, 0.5):
        logistic = kind in _PROBABLE and getattr(final, "multi_class", "") != "multinomial"
        if not logistic and not (kind == "SGDClassifier" and final.loss == "log_loss"):
            raise ParameterError(
                f"{threshold} does not go with a {kind}, which has no logistic probability",
                where="threshold",
                remedy="leave it out",
            )
        parts.append(Activate("probability", "sigmoid"))
    return ReadNetwork(
        int(weights.shape[0]), tuple(parts), _precision(weights), f"scikit-learn {kind}"
    )


def _linear_threshold(kind: str, threshold: float | None) -> float | None:
    return None if threshold == 0.5 else threshold
