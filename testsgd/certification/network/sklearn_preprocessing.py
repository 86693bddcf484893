"""scikit-learn's scalers and encoders, folded into the inputs' columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.network.assemble import scale_inputs
from testsgd.certification.network.feedforward import (
    CategoryColumns,
    InputColumns,
    Step,
)
from testsgd.certification.network.parts import Scaling, scaling
from testsgd.errors import ModelError

_REMEDY = (
    "give a pipeline of StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, OneHotEncoder, "
    "OrdinalEncoder and ColumnTransformer"
)


def transformed(step: Any, inputs: list[InputColumns]) -> list[InputColumns]:
    """Do to the inputs' columns what a fitted transformer does.

    Parameters
    ----------
    step : transformer or str
        The transformer, or ``"passthrough"``.
    inputs : list of InputColumns
        What it is given.

    Returns
    -------
    list of InputColumns
        In the order of what it gives.

    Raises
    ------
    ModelError
        If the transformer is none that is known.
    """
    if step is None or step == "passthrough":
        return inputs
    kind = type(step).__name__
    if str(type(step).__module__).split(".")[0] == "sklearn":
        if kind == "Pipeline":
            for _, part in step.steps:
                inputs = transformed(part, inputs)
            return inputs
        if kind in _KNOWN:
            _check_width(step, inputs)
            return _KNOWN[kind](step, inputs)
        if kind in _SCALERS:
            _check_width(step, inputs)
            return scale_inputs(inputs, _SCALERS[kind](step))
    raise ModelError(f"a {kind} cannot be certified", where="model", remedy=_REMEDY)


def _check_width(step: Any, inputs: list[InputColumns]) -> None:
    width = sum(given.columns.width for given in inputs)
    if int(step.n_features_in_) != width:
        raise ModelError(
            f"the {type(step).__name__} takes {step.n_features_in_} numbers, but is given {width}",
            where="model",
            remedy="give a fitted pipeline",
        )


def _scaler(
    step: Any, multiplier: Any, constant: Any, steps: list[Step], roundings: int
) -> Scaling:
    if getattr(step, "clip", False):
        raise ModelError(
            f"the {type(step).__name__} clips", where="model", remedy="fit it with clip=False"
        )
    return scaling(
        type(step).__name__,
        multiplier,
        constant,
        roundings=roundings,
        precision="float64",
        steps=steps,
    )


def _centred(step: Any, centre: Any, divisor: Any) -> Scaling:
    width = int(step.n_features_in_)
    middle = np.zeros(width) if centre is None else np.asarray(centre, dtype=np.float64)
    spread = np.ones(width) if divisor is None else np.asarray(divisor, dtype=np.float64)
    steps = [] if centre is None else [Step("subtract", middle)]
    steps += [] if divisor is None else [Step("divide", spread)]
    # Subtraction and division there, two divisions here.
    return _scaler(step, 1 / spread, -middle / spread, steps, 4)


def _standard(step: Any) -> Scaling:
    return _centred(step, step.mean_ if step.with_mean else None, step.scale_)


def _robust(step: Any) -> Scaling:
    return _centred(
        step,
        step.center_ if step.with_centering else None,
        step.scale_ if step.with_scaling else None,
    )


def _largest(step: Any) -> Scaling:
    return _centred(step, None, step.scale_)


def _range(step: Any) -> Scaling:
    steps = [Step("multiply", np.asarray(step.scale_)), Step("add", np.asarray(step.min_))]
    return _scaler(step, step.scale_, step.min_, steps, 2)


_SCALERS: Mapping[str, Callable[[Any], Scaling]] = {
    "StandardScaler": _standard,
    "RobustScaler": _robust,
    "MaxAbsScaler": _largest,
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


def _ordinal(step: Any, inputs: list[InputColumns]) -> list[InputColumns]:
    return _categories(step, inputs, lambda _, size: np.arange(size, dtype=np.float64)[:, None])


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
        return [position for position, taken in enumerate(listed) if taken]
    return [
        names.index(column) if isinstance(column, str) else range(len(names))[column]
        for column in listed
    ]


_KNOWN: Mapping[str, Callable[[Any, list[InputColumns]], list[InputColumns]]] = {
    "OneHotEncoder": _one_hot,
    "OrdinalEncoder": _ordinal,
    "SimpleImputer": _imputer,
    "ColumnTransformer": _column_transformer,
}
