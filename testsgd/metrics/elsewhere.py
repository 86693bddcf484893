"""Audits by metrics of rows that were counted, or stay in an engine that counts and sums them."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from testsgd.auditing import (
    check_columns,
    check_not_sensitive,
    check_one_use,
    check_present,
    frame_of,
)
from testsgd.data.categories import row_name
from testsgd.data.cell_texts import parsed_numbers
from testsgd.errors import DataError, ParameterError
from testsgd.metrics.counting import ROWS, WEIGHT, WEIGHT_SQUARED, bins_of_counts, count_rows
from testsgd.metrics.definitions import default_metrics, needs_favourable, resolve_metrics
from testsgd.metrics.given_predictions import read_predictions, read_weights
from testsgd.metrics.parameters import MetricParameters
from testsgd.metrics.result import MetricsResult
from testsgd.metrics.rules_of_kinds import kind_of_whole_numbers
from testsgd.metrics.shared_steps import Wanted, audited, settings_of, table_of, with_rule
from testsgd.metrics.summing import kind_of_rows, sum_rows
from testsgd.models.answers import no_scores_given
from testsgd.parameters import show_parameters

# Sums of whole numbers below it are exact in a float.
_MOST_ROWS = 2**53


@show_parameters(MetricParameters)
def audit_counts(
    counts: Any,
    *,
    predictions: str,
    sensitive_features: Sequence[str],
    rows: str = ROWS,
    label: str | None = None,
    weight: str | None = None,
    weight_squared: str | None = None,
    metrics: Wanted | None = None,
    rule: Literal["four-fifths"] | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "data",
    **parameters: Any,
) -> MetricsResult:
    """Compare metrics of rows that were counted elsewhere, each row of a table standing for many.

    Such a table is what one GROUP BY gives, see :func:`testsgd.metrics.count_rows`; the result is
    that of the rows themselves.

    Parameters
    ----------
    counts : data frame
        A row for each combination of sensitive values, prediction and true label.
    predictions : str
        The column with predictions, which must be classes.
    sensitive_features : sequence of str
        Names of columns. Numbers are the lower edges of bins. A column that is called like theirs,
        with ``_below`` behind, has the upper edges, as the query of ``testsgd cells-sql`` gives
        them; without it whole numbers of at most five values are categories.
    rows : str
        The column that says how many rows there are.
    label : str, optional
        The column with the true labels.
    weight, weight_squared : str, optional
        The columns with the sums of the weights and of their squares; if not given, those called
        ``weight`` and ``weight_squared``, if there are both.
    metrics, rule, favourable, outcome, features, name
        As for :func:`testsgd.audit_metrics`.
    **parameters
        As for :func:`testsgd.audit_metrics`.

    Returns
    -------
    MetricsResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> import pandas as pd
    >>> counts = pd.DataFrame({
    ...     "sex": ["f", "f", "m", "m"],
    ...     "granted": ["no", "yes", "no", "yes"],
    ...     "rows": [600_000_000, 400_000_000, 500_000_000, 500_000_000]})
    >>> result = audit_counts(counts, predictions="granted", sensitive_features=["sex"])
    >>> result.summary.metrics[0].counted, result.groups["effect"].iloc[0].round(6).item()
    (2000000000, -0.1)
    """
    started = time.perf_counter()
    settings = settings_of(parameters, rule=rule, outcome=outcome)
    _check_no_conditions(settings)
    frame = frame_of(counts, "counts")
    named = {"predictions": predictions, "rows": rows, "label": label}
    used = {*sensitive_features, *named.values()}
    if weight is None and {WEIGHT, WEIGHT_SQUARED} <= set(frame.columns).difference(used):
        # So the query of cells-sql calls them.
        weight, weight_squared = WEIGHT, WEIGHT_SQUARED
    named |= {"weight": weight, "weight_squared": weight_squared}
    _check_sums_of_weights(frame, [weight, weight_squared], used)
    check_columns(frame, named, sensitive_features)
    if (weight is None) != (weight_squared is None):
        raise ParameterError(
            "the sums of the weights and of their squares belong together",
            where="weight",
            remedy="name the columns of both",
        )
    _check_amounts(frame, rows)
    times = read_weights(frame[rows], rows=len(frame))
    if (times % 1 != 0).any():
        raise DataError(
            "a number of rows is not whole",
            where=f"column {rows!r}",
            remedy="name the column that says how many rows there are",
        )
    if times.sum() >= _MOST_ROWS:
        raise DataError(
            f"there are {times.sum():.4g} rows altogether, more than can be counted exactly",
            where=f"column {rows!r}",
            remedy="name the column that says how many rows there are",
        )
    occurring = np.flatnonzero(times > 0)
    frame = frame.iloc[occurring]
    times = times[occurring]
    unknown = frame[predictions].isna().to_numpy()
    check_present(int(times[unknown].sum()), where=f"column {predictions!r}")
    for column in (weight, weight_squared):
        if column is not None:
            _check_amounts(frame, column)
    frame = frame.reset_index(drop=True)
    if _are_decimals(frame[predictions]):
        raise _no_classes(predictions, "are decimals, written as texts")
    read = read_predictions(
        frame[predictions],
        None if label is None else frame[label],
        rows=len(frame),
        sample_weight=None if weight is None else frame[weight],
        favourable=favourable,
        with_favourable=needs_favourable(with_rule(metrics, rule)),
    )
    if read.kind != "decisions":
        raise _no_classes(predictions, f"are {read.kind}")
    squares = None
    if weight_squared is not None:
        squares = read_weights(frame[weight_squared], rows=len(frame))
    read = replace(read, rows=times.astype(np.int64), weights_squared=squares)
    return audited(
        table_of(
            frame[list(sensitive_features)],
            features={**bins_of_counts(frame, sensitive_features), **(features or {})},
            name=name,
            times=times,
        ),
        read,
        settings,
        metrics=with_rule(metrics, rule),
        label=label or predictions,
        started=started,
        outcome=outcome,
    )


def _check_no_conditions(settings: MetricParameters) -> None:
    """Refuse features by which people are alike: counts are of sensitive features only."""
    if settings.condition_on:
        name = settings.condition_on[0]
        raise ParameterError(
            f"people with the same {name!r} are found among the rows themselves, and these are "
            "counted by their sensitive features only",
            where="condition_on",
            remedy="write the rows into one file that is read, and audit this (in Python: collect "
            "them, and call audit_metrics with other_features)",
            name=name,
        )


def _are_decimals(column: pd.Series[Any]) -> bool:
    """Return whether texts are decimals: names of labels in a query make texts of a score."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return False
    numbers = parsed_numbers(column).dropna()
    return kind_of_whole_numbers(numbers[numbers % 1 != 0].nunique()) == "numbers"


def _no_classes(predictions: str, what: str) -> DataError:
    return DataError(
        f"the predictions {what}, and rows are counted by classes",
        where=f"column {predictions!r}",
        remedy="count rows by decisions, such as score > 0.5 (cells-sql --threshold 0.5)",
    )


def _check_sums_of_weights(
    lines: pd.DataFrame, columns: Sequence[str | None], used: Collection[str | None]
) -> None:
    """Refuse columns of weights that a table of counts lacks: it has sums of the weights only."""
    absent = [column for column in columns if column is not None and column not in lines]
    if not absent:
        return
    remedy = (
        "name the column with the sums of the weights, with that of their squares beside it, as "
        "cells-sql --weights gives them"
    )
    if {WEIGHT, WEIGHT_SQUARED} <= set(lines.columns).difference(used):
        remedy = (
            f"leave --weights out: the sums of the weights are read from {WEIGHT!r} and "
            f"{WEIGHT_SQUARED!r}"
        )
    raise ParameterError(
        f"the table of counted rows has no column {absent[0]!r}",
        where="weights",
        remedy=remedy,
        column=absent[0],
    )


def _check_amounts(lines: pd.DataFrame, column: str) -> None:
    """Refuse lines of a table of counts without an amount; each of them stands for many rows."""
    amounts = pd.to_numeric(lines[column], errors="coerce").to_numpy(np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(amounts) | (amounts < 0))
    if len(wrong):
        first = int(wrong[0])
        raise DataError(
            f"{len(wrong):,} lines of the table have no number of at least 0, the first has "
            f"{lines[column].iloc[first]!r}",
            where=f"column {column!r}, row {row_name(lines[column], first)}",
            remedy="correct the numbers, or leave out lines that stand for no rows",
            column=column,
        )


@show_parameters(MetricParameters)
def audit_rows_elsewhere(
    rows: Any,
    *,
    predictions: str,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    metrics: Wanted | None = None,
    rule: Literal["four-fifths"] | None = None,
    favourable: Any = None,
    outcome: str | None = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    name: str = "data",
    **parameters: Any,
) -> MetricsResult:
    """Compare metrics of rows that stay in the engine that has them: one GROUP BY is sent to it.

    Classes are counted. Of scores and numbers it is sums that come here, by which the result is
    that of the rows themselves, too; of these a metric can be no function of one's own.

    Parameters
    ----------
    rows, sensitive_features, label, weights, features
        As for :func:`testsgd.metrics.count_rows`.
    predictions : str
        The column with predictions: classes, scores between 0 and 1, or numbers.
    threshold : float, optional
        A score or number above it counts as favourable; 0.5 for scores if not given.
    metrics, rule, favourable, outcome, name
        As for :func:`testsgd.audit_metrics`.
    **parameters
        As for :func:`testsgd.audit_metrics`.

    Returns
    -------
    MetricsResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> import polars
    >>> people = polars.LazyFrame({"sex": ["f", "m"] * 200, "granted": ["no", "yes"] * 200})
    >>> result = audit_rows_elsewhere(people, predictions="granted", sensitive_features=["sex"])
    >>> result.summary.data.rows
    400

    Scores:

    >>> people = people.with_columns(score=polars.lit(0.25) + 0.5 * (polars.col("sex") == "m"))
    >>> result = audit_rows_elsewhere(
    ...     people, predictions="score", sensitive_features=["sex"], metrics="mean_score")
    >>> result.groups["effect"].iloc[0].item()
    -0.5
    """
    started = time.perf_counter()
    settings = settings_of(parameters, rule=rule, outcome=outcome)
    _check_no_conditions(settings)
    wanted = with_rule(metrics, rule)
    named = {"predictions": predictions, "label": label, "weights": weights}
    check_one_use(named)
    check_not_sensitive(named, sensitive_features)
    kind = kind_of_rows(rows, predictions=predictions, label=label)
    if kind == "decisions" and threshold is not None:
        raise no_scores_given(threshold)
    if kind != "decisions":
        if wanted is None:
            wanted = default_metrics(kind, labelled=label is not None, threshold=threshold)
        summed = sum_rows(
            rows,
            kind=kind,
            metrics=resolve_metrics(wanted),
            sensitive_features=sensitive_features,
            predictions=predictions,
            label=label,
            weights=weights,
            favourable=favourable,
            threshold=threshold,
            features=features,
        )
        return audited(
            table_of(
                summed.lines,
                features={**(features or {}), **summed.features},
                name=name,
                times=summed.predictions.rows,
            ),
            summed.predictions,
            settings,
            metrics=wanted,
            label=label or predictions,
            started=started,
            outcome=outcome,
        )
    counts, bins = count_rows(
        rows,
        sensitive_features=sensitive_features,
        predictions=predictions,
        label=label,
        weights=weights,
        features=features,
    )
    weighted = weights is not None
    return audit_counts(
        counts,
        predictions=predictions,
        sensitive_features=sensitive_features,
        label=label,
        weight=WEIGHT if weighted else None,
        weight_squared=WEIGHT_SQUARED if weighted else None,
        metrics=metrics,
        rule=rule,
        favourable=favourable,
        # Of columns that have no bins the values say what they are, as of the rows themselves.
        features={**{column: {} for column in sensitive_features}, **(features or {}), **bins},
        name=name,
        **parameters,
    )
