"""Scores and numbers summed where they are: one GROUP BY of their engine, and only sums come here.

Classes are counted, see :mod:`testsgd.metrics.counting`. Of scores and numbers an audit needs sums
instead: of what each row adds to a metric, of the squares, and of the products. They are asked for
by sensitive values, decision and true label, so that a line of the answer stands for many rows, as
a line of counts does.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from testsgd.auditing import check_present
from testsgd.data import category_text, joined_name
from testsgd.errors import ParameterError
from testsgd.metrics.cells import SUMS
from testsgd.metrics.counting import (
    ROWS,
    WEIGHS,
    WEIGHT,
    WEIGHT_SQUARED,
    as_float,
    check_weights,
    collected,
    find_bins,
    flag,
    is_known,
    open_rows,
    sum_by,
    sums_of_weights,
)
from testsgd.metrics.definitions import Floats, Metric, PredictionKind
from testsgd.metrics.given_predictions import favourable_labels, read_weights
from testsgd.metrics.predictions import Predictions, check_metric, predictions_of_kinds
from testsgd.metrics.rules_of_kinds import (
    check_finite,
    check_true_finite,
    kind_of_decimals,
    kind_of_whole_numbers,
    limit_of,
    no_true_numbers,
)
from testsgd.models.answers import threshold_of_type

if TYPE_CHECKING:
    import narwhals as nw

# What the columns of sums are called; no user's column is called so.
_KIND = "testsgd_kind"
_SUM = "testsgd_sum"
_INFINITE = "testsgd_infinite"


@dataclass(frozen=True, kw_only=True)
class SummedRows:
    """Rows that were summed in an engine, each line of them standing for many."""

    lines: pd.DataFrame  # Their sensitive values, a number as the lower edge of its bin.
    predictions: Predictions  # With what the rows of each line add to each metric.
    features: Mapping[str, Mapping[str, Any]]  # The parts of a description that say the bins.


def kind_of_rows(rows: Any, *, predictions: str, label: str | None = None) -> PredictionKind:
    """Return whether predictions in an engine are classes, scores or numbers.

    The rules are those of :func:`testsgd.metrics.predictions.read_predictions`.

    Parameters
    ----------
    rows : frame
        As for :func:`testsgd.metrics.count_rows`.
    predictions : str
        The column with predictions.
    label : str, optional
        The column with the true labels.

    Returns
    -------
    {"decisions", "scores", "numbers"}

    Raises
    ------
    ParameterError
        If a column is not there.
    DataError
        If it is no frame, the engine fails, or a prediction that is a number is missing or
        infinite.

    Examples
    --------
    >>> kind_of_rows(pd.DataFrame({"score": [0.2, 0.7]}), predictions="score")
    'scores'
    """
    import narwhals as nw

    lazy = open_rows(rows, [predictions, *([label] if label else [])])
    schema = lazy.collect_schema()
    if not schema[predictions].is_numeric():
        return "decisions"
    value = as_float(lazy, predictions)
    known = is_known(lazy, predictions)
    flags = {"missing": flag(~known)}
    if not schema[predictions].is_integer():
        flags["decimals"] = flag(known & (value % 1 != 0))
        if label is not None and schema[label].is_numeric() and not schema[label].is_integer():
            true = nw.col(label).cast(nw.Float64)
            flags["decimal_labels"] = flag(is_known(lazy, label) & (true % 1 != 0))
    columns = [nw.when(known).then(value).alias("value")]
    columns += [flag.alias(name) for name, flag in flags.items()]
    asked = [nw.col("value").min().alias("least"), nw.col("value").max().alias("most")]
    asked += [nw.col(name).sum() for name in flags]
    found = collected(lambda: lazy.select(*columns).select(*asked)).iloc[0]
    where = f"column {predictions!r}"
    missing = found["missing"]
    check_present(0 if pd.isna(missing) else int(missing), where=where)
    if pd.isna(found["least"]):
        # There are no rows; what counts them says so.
        return "decisions"
    least = float(found["least"])
    most = float(found["most"])
    check_finite(bool(np.isfinite([least, most]).all()), where=where)
    if found.get("decimals", 0):
        return kind_of_decimals(least, most, decimal_labels=bool(found.get("decimal_labels", 0)))
    # Of whole numbers that lie close together there are few, and the engine need not count them.
    different = int(most - least) + 1
    if kind_of_whole_numbers(different) != "decisions":
        unique = collected(lambda: lazy.select(nw.col(predictions).n_unique()))
        different = int(unique[predictions].iloc[0])
    return kind_of_whole_numbers(different)


def sum_rows(
    rows: Any,
    *,
    kind: PredictionKind,
    metrics: Sequence[Metric],
    sensitive_features: Sequence[str],
    predictions: str,
    label: str | None = None,
    weights: str | None = None,
    favourable: Any = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
) -> SummedRows:
    """Return the sums of metrics of scores or numbers, made by the engine that has the rows.

    Parameters
    ----------
    rows, sensitive_features, predictions, label, weights, features
        As for :func:`testsgd.metrics.count_rows`.
    kind : {"scores", "numbers"}
        What the predictions are.
    metrics : sequence of Metric
        The metrics.
    favourable, threshold
        As for :func:`testsgd.audit_predictions`.

    Returns
    -------
    SummedRows

    Raises
    ------
    ParameterError
        If a column is not there or is called like a sum, a metric is a function or none of such
        predictions, or the favourable label is not clear.
    DataError
        If it is no frame, the engine fails, or a label or weight is not usable.

    Examples
    --------
    >>> from testsgd.metrics.definitions import METRICS
    >>> people = pd.DataFrame({"sex": ["f", "m", "f"], "score": [0.25, 0.75, 0.5]})
    >>> summed = sum_rows(
    ...     people, kind="scores", metrics=[METRICS["mean_score"]], sensitive_features=["sex"],
    ...     predictions="score")
    >>> summed.lines["sex"].tolist(), summed.predictions.sums["mean_score"][0].tolist()
    (['f', 'm'], [0.75, 0.75])
    """
    import narwhals as nw

    limit = limit_of(kind, threshold)
    for metric in metrics:
        _check_expressible(metric)
        check_metric(metric, kind=kind, labelled=label is not None, decided=limit is not None)
    named = [name for name in (label, weights) if name is not None]
    lazy = open_rows(rows, [*sensitive_features, predictions, *named])
    if weights is not None:
        check_weights(lazy, weights)
    truth: _Truth | None = None
    names: tuple[str, ...] = ()
    if label is not None:
        truth, names = _truth_of(lazy, label, kind=kind, limit=limit, favourable=favourable)
    elif kind == "scores":
        names = favourable_labels(None, favourable)
    value = as_float(lazy, predictions)
    keys = {name: nw.col(name) for name in sensitive_features}
    decided = None if limit is None else value > _limit_among(lazy, predictions, limit)
    keys[_KIND] = _kind(decided, truth)
    sums = sums_of_weights(weights)
    if weights is not None:
        keys[WEIGHS] = flag(nw.col(weights).cast(nw.Float64) > 0)
    summed_metrics = [metric for metric in metrics if metric.kind == kind]
    for metric in summed_metrics:
        parts = _parts(metric, value, truth, sums.get(WEIGHT))
        sums |= {_name(metric, place): part for place, part in enumerate(parts)}
    if truth is not None and truth.infinite is not None:
        sums[_INFINITE] = flag(truth.infinite)
    bins = find_bins(lazy, sensitive_features, features=features or {})
    lines = sum_by(lazy, bins=bins, keys=keys, sums=sums)
    if _INFINITE in lines:
        check_true_finite(int(lines[_INFINITE].sum()), where=f"column {label!r}")
    read = predictions_of_kinds(
        lines[_KIND].to_numpy(dtype=np.int64),
        decided=limit is not None,
        labelled=label is not None,
    )
    if kind == "numbers" and read.labelled is not None and not read.labelled.any():
        raise no_true_numbers(f"column {label!r}")
    return SummedRows(
        lines=lines[list(sensitive_features)],
        predictions=replace(
            read,
            kind=kind,
            rows=lines[ROWS].to_numpy(dtype=np.int64),
            weights=None if weights is None else read_weights(lines[WEIGHT], rows=len(lines)),
            weights_squared=None if weights is None else _numbers(lines, WEIGHT_SQUARED),
            sums={metric.name: _read_sums(lines, metric) for metric in summed_metrics},
            favourable=joined_name(names),
            favourable_labels=names,
            threshold=limit,
        ),
        features={item.column: item.described for item in bins},
    )


@dataclass(frozen=True, kw_only=True)
class _Truth:
    """Expressions of the true labels."""

    known: Any
    favoured: Any  # Whether the label is the favourable one, or above the threshold; or None.
    value: Any  # The label as a number.
    infinite: Any = None  # Whether it is infinite; None if it is a class.


def _truth_of(
    lazy: nw.LazyFrame[Any],
    label: str,
    *,
    kind: PredictionKind,
    limit: float | None,
    favourable: Any,
) -> tuple[_Truth, tuple[str, ...]]:
    """Return the true labels, and which of them are favourable if they are classes."""
    import narwhals as nw

    known = is_known(lazy, label)
    dtype = lazy.collect_schema()[label]
    if kind == "scores":
        true = nw.col(label)
        if dtype == nw.Decimal:
            # As a number it is written 1, not 1.00.
            true = true.cast(nw.Float64)
        present = lazy.filter(known)
        different = sum_by(present, bins=[], keys={label: true}, sums=sums_of_weights(None))[label]
        names = favourable_labels(different, favourable)
        # An engine compares with its own values, not with their texts.
        chosen = [value for value in different.tolist() if category_text(value) in names]
        favoured = functools.reduce(operator.or_, [true == value for value in chosen])
        return _Truth(known=known, favoured=favoured, value=flag(known & favoured)), names
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise no_true_numbers(f"column {label!r}")
    number = nw.col(label).cast(nw.Float64)
    favoured = None if limit is None else number > _limit_among(lazy, label, limit)
    finite = number.is_finite()
    truth = _Truth(known=known & finite, favoured=favoured, value=number, infinite=known & ~finite)
    return truth, ()


def _limit_among(lazy: nw.LazyFrame[Any], column: str, limit: float) -> float:
    """Return a limit as a column of numbers holds it; see :func:`threshold_of_type`."""
    import narwhals as nw

    is_single = lazy.collect_schema()[column] == nw.Float32
    return threshold_of_type(limit, np.dtype(np.float32 if is_single else np.float64))


def _kind(decided: Any, truth: _Truth | None) -> Any:
    """Return the number of the kind of each row, see :meth:`Predictions.by_kind`."""
    import narwhals as nw

    number = nw.lit(0).cast(nw.Int64)
    if decided is not None:
        number = number + flag(decided)
    if truth is not None:
        number = number + 4 * flag(~truth.known)
        if truth.favoured is not None:
            number = number + 2 * flag(truth.known & truth.favoured)
    return number


def _parts(metric: Metric, value: Any, truth: _Truth | None, weight: Any) -> tuple[Any, ...]:
    """Return what a row adds to the sums of a metric, in the order of :data:`SUMS`."""
    import narwhals as nw

    numerator, denominator = metric.masses(value, None if truth is None else truth.value)
    # An expression, also where it is the same number for each row.
    denominator = nw.lit(1.0).cast(nw.Float64) * denominator
    if metric.needs_labels and truth is not None:
        numerator, denominator = (
            nw.when(truth.known).then(part).otherwise(0.0) for part in (numerator, denominator)
        )
    linear = (numerator, denominator)
    square = (numerator * numerator, numerator * denominator, denominator * denominator)
    if weight is None:
        return (*linear, *square)
    return (*(part * weight for part in linear), *(part * weight * weight for part in square))


def _name(metric: Metric, place: int) -> str:
    return f"{_SUM}_{metric.name}_{place}"


def _read_sums(lines: pd.DataFrame, metric: Metric) -> Floats:
    return np.array([_numbers(lines, _name(metric, place)) for place in range(SUMS)])


def _numbers(lines: pd.DataFrame, name: str) -> Floats:
    return lines[name].to_numpy(dtype=np.float64, na_value=np.nan)


def _check_expressible(metric: Metric) -> None:
    if metric.kind is None:
        raise ParameterError(
            f"{metric.name} is a function, and no function can be sent to an engine",
            where="metrics",
            remedy="name metrics, or read the rows and audit them with audit_metrics",
            metric=metric.name,
        )
