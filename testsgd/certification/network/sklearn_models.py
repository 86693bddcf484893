"""scikit-learn's networks and linear classifiers, read from their fitted attributes.

``predict`` of a binary MLPClassifier gives the second class if ``expit(sum) > 0.5``, that of a
linear classifier if ``sum > 0``; with several classes both give the first of the largest. Tables
are taken for float64, as scikit-learn makes them of whole numbers and of lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network import parts
from testsgd.certification.network.assemble import number_inputs, scale_inputs
from testsgd.certification.network.feedforward import (
    Activation,
    CategoryColumns,
    InputColumns,
    Precision,
    Step,
)
from testsgd.errors import ModelError, ParameterError

_REMEDY = (
    "give a pipeline of StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, OneHotEncoder, "
    "OrdinalEncoder and ColumnTransformer"
)


def transformed(step: Any, inputs: list[InputColumns]) -> list[InputColumns]:
    """Return the inputs after a fitted transformer, in the order of its output columns."""
    if step is None or step == "passthrough":
        return inputs
    kind = type(step).__name__
    if not _is_own(step) or kind not in {"Pipeline", *_KNOWN, *_SCALERS}:
        raise ModelError(f"a {kind} cannot be certified", where="model", remedy=_REMEDY)
    if kind == "Pipeline":
        for _, part in step.steps:
            inputs = transformed(part, inputs)
        return inputs
    _check_width(step, int(step.n_features_in_), inputs)
    if kind in _SCALERS:
        return scale_inputs(inputs, _SCALERS[kind](step))
    return _KNOWN[kind](step, inputs)


def _check_width(step: Any, expected: int, inputs: list[InputColumns]) -> None:
    given = int(parts.starts(inputs)[-1])
    if expected != given:
        raise ModelError(
            f"the {type(step).__name__} takes {expected} numbers, but is given {given}",
            where="model",
            remedy="give a fitted pipeline",
        )


def _scaler(
    step: Any, multiplier: Any, constant: Any, steps: list[Step], roundings: int
) -> parts.Scaling:
    where = type(step).__name__
    if getattr(step, "clip", False):
        raise ModelError(f"the {where} clips", where="model", remedy="fit it with clip=False")
    return parts.scaling(where, multiplier, constant, steps, roundings, "float64")


def _centred(step: Any, centre: Any, divisor: Any) -> parts.Scaling:
    width = int(step.n_features_in_)
    middle = np.zeros(width) if centre is None else np.asarray(centre, dtype=np.float64)
    spread = np.ones(width) if divisor is None else np.asarray(divisor, dtype=np.float64)
    steps = [] if centre is None else [Step("subtract", middle)]
    steps += [] if divisor is None else [Step("divide", spread)]
    # Subtraction and division there, two divisions here.
    return _scaler(step, 1 / spread, -middle / spread, steps, 4)


def _range(step: Any) -> parts.Scaling:
    steps = [Step("multiply", np.asarray(step.scale_)), Step("add", np.asarray(step.min_))]
    return _scaler(step, step.scale_, step.min_, steps, 2)


_SCALERS: Mapping[str, Callable[[Any], parts.Scaling]] = {
    "StandardScaler": lambda step: _centred(
        step, step.mean_ if step.with_mean else None, step.scale_
    ),
    "RobustScaler": lambda step: _centred(step, step.center_, step.scale_),
    "MaxAbsScaler": lambda step: _centred(step, None, step.scale_),
    "MinMaxScaler": _range,
}


def _categories(
    step: Any, inputs: list[InputColumns], table: Callable[[int, int], NDArray[np.float64]]
) -> list[InputColumns]:
    if getattr(step, "_infrequent_enabled", False):
        raise ModelError(
            f"the {type(step).__name__} groups infrequent values",
            where="model",
            remedy="fit it without min_frequency and max_categories",
        )
    found = []
    for position, (given, values) in enumerate(zip(inputs, step.categories_, strict=True)):
        names = tuple(str(value) for value in values)
        found.append(replace(given, columns=CategoryColumns(table(position, len(names)), names)))
    return found


def _one_hot(step: Any, inputs: list[InputColumns]) -> list[InputColumns]:
    dropped = step.drop_idx_

    def table(position: int, size: int) -> NDArray[np.float64]:
        whole = np.eye(size)
        if dropped is None or dropped[position] is None:
            return whole
        return np.delete(whole, int(dropped[position]), axis=1)

    return _categories(step, inputs, table)


def _imputer(step: Any, inputs: list[InputColumns]) -> list[InputColumns]:
    """Nothing is missing in a domain, so an imputer of NaN changes nothing."""
    gap = step.missing_values
    plain = isinstance(gap, float) and np.isnan(gap) and not step.add_indicator
    statistics = np.asarray(step.statistics_)
    if not plain or (statistics.dtype.kind == "f" and np.isnan(statistics).any()):
        raise ModelError("the SimpleImputer does more than fill NaN", where="model", remedy=_REMEDY)
    return inputs


def _column_transformer(step: Any, inputs: list[InputColumns]) -> list[InputColumns]:
    found: list[InputColumns] = []
    seen: set[str] = set()
    names = [given.name for given in inputs]
    if any(given.columns.width != 1 for given in inputs):
        raise ModelError(
            "a ColumnTransformer comes after an encoder", where="model", remedy="let it come first"
        )
    for _, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        chosen = [inputs[position] for position in _positions(columns, names)]
        if seen & {given.name for given in chosen}:
            raise ModelError(
                "a ColumnTransformer uses one column twice", where="model", remedy="use it once"
            )
        seen |= {given.name for given in chosen}
        if chosen:
            found.extend(transformed(transformer, chosen))
    return found


def _positions(columns: Any, names: list[str]) -> list[int]:
    if isinstance(columns, slice):
        if all(bound is None or isinstance(bound, int) for bound in (columns.start, columns.stop)):
            return list(range(len(names))[columns])
        start = 0 if columns.start is None else names.index(columns.start)
        stop = len(names) if columns.stop is None else names.index(columns.stop) + 1
        return list(range(start, stop))
    listed = [columns] if isinstance(columns, (str, int, np.integer)) else list(columns)
    if listed and all(isinstance(column, (bool, np.bool_)) for column in listed):
        return [position for position, selected in enumerate(listed) if selected]
    return [
        names.index(column) if isinstance(column, str) else range(len(names))[column]
        for column in listed
    ]


_KNOWN: Mapping[str, Callable[[Any, list[InputColumns]], list[InputColumns]]] = {
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": lambda step, inputs: _categories(
        step, inputs, lambda _, size: np.arange(size, dtype=np.float64)[:, None]
    ),
    "SimpleImputer": _imputer,
    "ColumnTransformer": _column_transformer,
}


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
    """Return whether an object is an estimator of scikit-learn itself, without importing it."""
    return _is_own(source) and hasattr(source, "get_params")


def read_sklearn_model(source: Any, threshold: float | None) -> parts.ReadNetwork:
    """Read a fitted MLPClassifier or linear classifier, perhaps behind scalers and encoders.

    The second class is decided if its probability is above `threshold`; by default, and with 0.5,
    as ``predict`` does.
    """
    final, before = source, []
    while type(final).__name__ == "Pipeline" and _is_own(final):
        *steps, last = [step for _, step in final.steps]
        before.extend(steps)
        final = last
    try:
        read = _classifier(final, threshold)
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
    _check_width(final, read.width, columns)
    # In the order of the table that the model takes.
    names = [given.name for given in inputs]
    order = sorted(range(len(columns)), key=lambda place: names.index(columns[place].name))
    chain = parts.reorder_columns(read.parts, parts.columns_of(columns, order))
    return replace(read, parts=tuple(chain), inputs=tuple(columns[place] for place in order))


def _is_own(source: Any) -> bool:
    return str(type(source).__module__).split(".")[0] == "sklearn"


def _names(source: Any, before: list[Any], final: Any) -> list[str]:
    """Return the names of the inputs: those of the data frame it was fitted to, or x0, x1, ..."""
    for step in (source, *before, final):
        names = getattr(step, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
    first = (before or [final])[0]
    return [f"x{n}" for n in range(int(first.n_features_in_))]


def _classifier(final: Any, threshold: float | None) -> parts.ReadNetwork:
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
    labels = tuple(str(value) for value in classes)
    if kind == "MLPClassifier":
        return replace(_multilayer(final), labels=labels, threshold=threshold)
    read = _linear(final, kind, len(labels), threshold)
    return replace(read, labels=labels, threshold=None if threshold == 0.5 else threshold)


def _precision(*arrays: Any) -> Precision:
    single = any(np.asarray(array).dtype == np.float32 for array in arrays)
    return "float32" if single else "float64"


def _multilayer(final: Any) -> parts.ReadNetwork:
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
    if len(final.coefs_) != len(final.intercepts_):
        raise parts.damaged(
            f"it has weights of {len(final.coefs_)} layers, and intercepts of "
            f"{len(final.intercepts_)}",
            "model",
        )
    chain: list[parts.Part] = []
    for number, (weights, bias) in enumerate(zip(final.coefs_, final.intercepts_, strict=True)):
        where = f"layer {number}"
        chain.append(parts.affine(where, weights, bias))
        if number < len(final.coefs_) - 1:
            chain.append(parts.Activate(where, _HIDDEN[final.activation]))
        elif final.out_activation_ == "softmax":
            chain.append(parts.Softmax(where))
        else:
            chain.append(parts.Activate(where, "sigmoid"))
    width = int(np.asarray(final.coefs_[0]).shape[0])
    return parts.ReadNetwork(
        width, tuple(chain), _precision(*final.coefs_), f"scikit-learn {type(final).__name__}"
    )


def _linear(final: Any, kind: str, classes: int, threshold: float | None) -> parts.ReadNetwork:
    weights = np.atleast_2d(np.asarray(final.coef_)).T
    given = np.asarray(final.intercept_)
    # One number stands for all; any other shape the check of the layer refuses.
    bias = np.full(weights.shape[1], given.item()) if given.size == 1 and given.ndim < 2 else given
    chain: list[parts.Part] = [parts.affine("coefficients", weights, bias)]
    if classes == 2 and threshold not in (None, 0.5):
        logistic = kind in _PROBABLE and getattr(final, "multi_class", "") != "multinomial"
        if not logistic and not (kind == "SGDClassifier" and final.loss == "log_loss"):
            raise ParameterError(
                f"{threshold} does not go with a {kind}, which has no logistic probability",
                where="threshold",
                remedy="leave it out",
            )
        chain.append(parts.Activate("probability", "sigmoid"))
    return parts.ReadNetwork(
        int(weights.shape[0]), tuple(chain), _precision(weights), f"scikit-learn {kind}"
    )
