"""One call for an audit of predictions that exist, by one metric or by several."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd

from testsgd.auditing import (
    AuditParameters,
    AuditResult,
    Progress,
    audit_decisions,
    check_columns,
    frame_of,
    listed_features,
    with_other_features,
)
from testsgd.auditing.report.subject import table_summary
from testsgd.auditing.report.summary import LabelSummary
from testsgd.data import Table, check_count, check_table, infer_specification, joined, read_frame
from testsgd.errors import DataError, ParameterError
from testsgd.metrics.counting import (
    ROWS,
    WEIGHT,
    WEIGHT_SQUARED,
    bins_of_counts,
    count_rows,
)
from testsgd.metrics.definitions import (
    JOINT_METRICS,
    Masses,
    default_metrics,
    resolve_metrics,
)
from testsgd.metrics.options import MetricOptions, PredictionOptions
from testsgd.metrics.parameters import BEST, MetricParameters
from testsgd.metrics.predictions import Predictions, read_predictions, read_weights
from testsgd.metrics.report.summarise import summarise_metrics
from testsgd.metrics.result import MetricsResult
from testsgd.metrics.run import MetricRows, run_metrics
from testsgd.metrics.summing import kind_of_rows, sum_rows
from testsgd.parameters import parameters_of, show_parameters

Wanted = Iterable[str | Masses] | str | Masses

# The column that stands for the predictions in the description; no user's column is called so.
_PREDICTION = "(prediction)"

FOUR_FIFTHS: Mapping[str, Any] = {"measure": "ratio", "reference": BEST, "fail_below": 0.8}
"""The parameters of the four-fifths rule: selection rates as ratios to that of the best group."""


@show_parameters(AuditParameters, MetricParameters)
def audit_predictions(
    y_pred: Any,
    y_true: Any = None,
    *,
    sensitive_features: Any,
    metrics: Wanted | None = None,
    sample_weight: Any = None,
    rule: Literal["four-fifths"] | None = None,
    other_features: Any = None,
    favourable: Any = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    name: str = "data",
    progress: Progress | None = None,
    **parameters: Unpack[PredictionOptions],
) -> AuditResult | MetricsResult:
    """Find the groups whose predictions differ from those of everybody else.

    No model is needed, and no description: what the sensitive features are is guessed from their
    values, and the report says how. With ``metrics``, weights, another reference or ratios it is
    an audit of metrics, :func:`testsgd.audit_metrics`; so it is where the predictions are scores or
    numbers. Else it is an audit of one rate, with what explains the groups' differences.

    Parameters
    ----------
    y_pred : array-like, shape (n,)
        The predictions of each row: classes, scores between 0 and 1, or numbers.
    y_true : array-like, shape (n,), optional
        The true labels, if they are known.
    sensitive_features : data frame, series or mapping of str to array-like, n rows
        A column a feature.
    metrics : str, callable, or a sequence of these, optional
        As for :func:`testsgd.audit_metrics`.
    sample_weight : array-like, shape (n,), optional
        Weights of the rows.
    rule : {"four-fifths"}, optional
        A rule by its name.
    other_features : data frame or mapping of str to array-like, n rows, optional
        Further columns. No rule is about them; reports say in which of them groups differ, and
        ``condition_on`` names some whose mix is made the same.
    favourable : object, optional
        The class whose rate is compared; if not given, 1, True, "yes" or the like.
    threshold : float, optional
        A score or number above it counts as favourable.
    features : mapping of str to mapping, optional
        Parts of the description of features, in place of what is guessed, such as
        ``{"age": {"edges": [18, 30, 50, 100]}}``; the keys are those of a description's
        ``[features.NAME]``.
    limit : int, optional
        Audit a random sample of this size, chosen by ``seed``.
    name : str
        What the data are called in the report.
    progress : callable, optional
        As for :func:`testsgd.audit`; not called for an audit of metrics, which is quick.
    **parameters
        Those of :class:`testsgd.metrics.MetricParameters`, such as ``reference``, or of
        :class:`testsgd.auditing.AuditParameters`, such as ``metric`` or ``fail_above``.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["female", "male"] * 200, "age": list(range(20, 60)) * 10})
    >>> decided = ["no", "yes"] * 200
    >>> result = audit_predictions(decided, sensitive_features=people)
    >>> result.groups["text"].iloc[0], result.groups["rate_in"].iloc[0].item()
    ('sex = female', 0.0)

    With the true labels, several metrics at once:

    >>> repaid = ["no", "no", "yes", "yes"] * 100
    >>> result = audit_predictions(
    ...     decided, repaid, sensitive_features=people[["sex"]],
    ...     metrics=["selection_rate", "equalized_odds"])
    >>> result.groups[["metric", "text"]].iloc[0].tolist()
    ['selection_rate', 'sex = female']
    """
    # Which of the two audits it is, and so which keywords it has, shows only now.
    chosen: dict[str, Any] = dict(parameters)
    by_metrics = (
        metrics is not None
        or sample_weight is not None
        or rule is not None
        or not chosen.keys().isdisjoint({"reference", "measure", "fail_below"})
    )
    if by_metrics or _are_numbers(y_pred):
        if "metric" in chosen:
            raise ParameterError(
                "both a metric and what is for several metrics are given",
                where="metric",
                remedy="write metrics=[...]",
            )
        return audit_metrics(
            y_pred,
            y_true,
            sensitive_features=sensitive_features,
            metrics=metrics,
            sample_weight=sample_weight,
            rule=rule,
            favourable=favourable,
            threshold=threshold,
            other_features=other_features,
            features=features,
            limit=limit,
            name=name,
            **chosen,
        )
    return audit_decisions(
        y_pred,
        y_true,
        sensitive_features=sensitive_features,
        other_features=other_features,
        favourable=favourable,
        features=features,
        limit=limit,
        name=name,
        progress=progress,
        **chosen,
    )


def _are_numbers(y_pred: Any) -> bool:
    """Return whether predictions are scores or numbers, not classes."""
    ready = isinstance(y_pred, (pd.Series, np.ndarray))
    series = pd.Series(y_pred if ready else list(y_pred))
    return pd.api.types.is_float_dtype(series.dtype) and bool((series.dropna() % 1 != 0).any())


@show_parameters(MetricParameters)
def audit_metrics(
    y_pred: Any,
    y_true: Any = None,
    *,
    sensitive_features: Any,
    metrics: Wanted | None = None,
    sample_weight: Any = None,
    rule: Literal["four-fifths"] | None = None,
    other_features: Any = None,
    favourable: Any = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    name: str = "data",
    **parameters: Unpack[MetricOptions],
) -> MetricsResult:
    """Compare metrics of predictions over all groups, with one guarantee for all of them.

    Parameters
    ----------
    y_pred : array-like, shape (n,)
        The predictions: classes, scores between 0 and 1, or numbers.
    y_true : array-like, shape (n,), optional
        The true labels or numbers. Rows without one do not count for metrics that need it.
    sensitive_features : data frame, series or mapping of str to array-like, n rows
        A column a feature.
    metrics : str, callable, or a sequence of these, optional
        Of classes, and of scores by their threshold: ``selection_rate``, ``true_positive_rate``,
        ``false_positive_rate``, ``equalized_odds`` (the larger difference of both), ``precision``,
        ``accuracy``. Of scores: ``mean_score``, ``calibration_error``. Of numbers: ``mean``,
        ``mean_error``, ``mean_absolute_error``. Or functions from `y_pred` and `y_true` to what
        each row adds to the numerator and to the denominator, shapes (n,).
    sample_weight : array-like, shape (n,), optional
        Weights of the rows; intervals are by the effective sample size.
    rule : {"four-fifths"}, optional
        Compare selection rates by their ratio to that of the best group over the same features,
        with a gate at 0.8.
    other_features, favourable, threshold, features, limit, name
        As for :func:`testsgd.audit_predictions`.
    **parameters
        Those of :class:`testsgd.metrics.MetricParameters`, such as ``reference``, ``measure`` or
        ``holdout``.

    Returns
    -------
    MetricsResult

    Raises
    ------
    TestSGDError
        A member of the family :mod:`testsgd.errors`, if something about the input is wrong.

    Examples
    --------
    Salaries that a model predicts, and how far they are from the true ones:

    >>> people = {"sex": ["f", "m"] * 500}
    >>> true = [40.0 + 0.01 * row for row in range(1000)]
    >>> predicted = [value - 2.5 * (row % 2 == 0) for row, value in enumerate(true)]
    >>> result = audit_metrics(predicted, true, sensitive_features=people, metrics="mean_error")
    >>> result.groups["text"].iloc[0], result.groups["effect"].iloc[0].round(9).item()
    ('sex = f', -2.5)
    """
    started = time.perf_counter()
    settings = _settings(parameters, rule=rule)
    frame = frame_of(sensitive_features, "sensitive_features")
    check_count("limit", limit, 1)
    predictions = read_predictions(
        y_pred,
        y_true,
        rows=len(frame),
        sample_weight=sample_weight,
        favourable=favourable,
        threshold=threshold,
    )
    table = _table_of(frame, other_features=other_features, features=features, name=name)
    if limit is not None:
        predictions = predictions.take(table.drawn(limit, settings.seed))
        table = table.sample(limit, settings.seed)
    return _audited(
        table,
        predictions,
        settings,
        metrics="selection_rate" if rule is not None and metrics is None else metrics,
        label=_name_of_label(y_true, y_pred),
        started=started,
    )


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
        Names of columns. Numbers are the lower edges of bins, but for whole numbers of at most five
        values, which are categories.
    rows : str
        The column that says how many rows there are.
    label : str, optional
        The column with the true labels.
    weight, weight_squared : str, optional
        The columns with the sums of the weights and of their squares.
    metrics, rule, favourable, features, name, **parameters
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
    >>> counts = pd.DataFrame({
    ...     "sex": ["f", "f", "m", "m"],
    ...     "granted": ["no", "yes", "no", "yes"],
    ...     "rows": [600_000_000, 400_000_000, 500_000_000, 500_000_000]})
    >>> result = audit_counts(counts, predictions="granted", sensitive_features=["sex"])
    >>> result.summary.metrics[0].counted, result.groups["effect"].iloc[0].round(6).item()
    (2000000000, -0.1)
    """
    started = time.perf_counter()
    settings = _settings(parameters, rule=rule)
    frame = frame_of(counts, "counts")
    named = {"predictions": predictions, "rows": rows, "label": label}
    named |= {"weight": weight, "weight_squared": weight_squared}
    check_columns(frame, named, sensitive_features)
    if (weight is None) != (weight_squared is None):
        raise ParameterError(
            "the sums of the weights and of their squares belong together",
            where="weight",
            remedy="name the columns of both",
        )
    times = read_weights(frame[rows], rows=len(frame))
    if (times % 1 != 0).any():
        raise DataError(
            "a number of rows is not whole",
            where=f"column {rows!r}",
            remedy="name the column that says how many rows there are",
        )
    occurring = np.flatnonzero(times > 0)
    frame, times = frame.iloc[occurring].reset_index(drop=True), times[occurring]
    read = read_predictions(
        frame[predictions],
        None if label is None else frame[label],
        rows=len(frame),
        sample_weight=None if weight is None else frame[weight],
        favourable=favourable,
    )
    if read.kind != "decisions":
        raise DataError(
            f"the predictions are {read.kind}, and rows are counted by classes",
            where=f"column {predictions!r}",
            remedy="count rows by decisions, such as score > 0.5",
        )
    squares = None
    if weight_squared is not None:
        squares = read_weights(frame[weight_squared], rows=len(frame))
    read = replace(read, rows=times.astype(np.int64), weights_squared=squares)
    return _audited(
        _table_of(
            frame[list(sensitive_features)],
            features={**bins_of_counts(frame, sensitive_features), **(features or {})},
            name=name,
        ),
        read,
        settings,
        metrics="selection_rate" if rule is not None and metrics is None else metrics,
        label=label or predictions,
        started=started,
    )


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
    metrics, rule, favourable, name, **parameters
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
    settings = _settings(parameters, rule=rule)
    wanted = "selection_rate" if rule is not None and metrics is None else metrics
    kind = kind_of_rows(rows, predictions=predictions, label=label)
    if kind != "decisions":
        if wanted is None:
            wanted = default_metrics(kind, labelled=label is not None)
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
        bins_of_lines = bins_of_counts(summed.lines, sensitive_features)
        return _audited(
            _table_of(
                summed.lines,
                features={**bins_of_lines, **(features or {}), **summed.features},
                name=name,
            ),
            summed.predictions,
            settings,
            metrics=wanted,
            label=label or predictions,
            started=started,
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
        features={**(features or {}), **bins},
        name=name,
        **parameters,
    )


def _audited(
    table: Table,
    predictions: Predictions,
    settings: MetricParameters,
    *,
    metrics: Wanted | None,
    label: str,
    started: float,
) -> MetricsResult:
    """Compare the metrics of the rows of a table, and write it down."""
    read = time.perf_counter()
    wanted = metrics
    if wanted is None:
        labelled = predictions.labelled is not None
        wanted = default_metrics(predictions.kind, labelled=labelled)
    rows = MetricRows.of(table, predictions, resolve_metrics(wanted), bins=settings.bins)
    findings = run_metrics(rows, settings)
    finished = time.perf_counter()
    data = table_summary(
        table,
        predictions_given=True,
        label=LabelSummary(column=label, favourable=predictions.favourable, meaning=""),
    )
    summary = summarise_metrics(
        findings,
        data.model_copy(update={"rows": int(findings.cells.rows.sum())}),
        predictions=predictions,
        joint=_joint_names(wanted),
        seconds={
            "reading": round(read - started, 4),
            "comparing": round(finished - read, 4),
        },
    )
    return MetricsResult(summary, findings)


def _name_of_label(y_true: Any, y_pred: Any) -> str:
    return str(getattr(y_true, "name", None) or getattr(y_pred, "name", None) or "prediction")


def audit_file_of_predictions(
    path: Path | str,
    *,
    predictions: str,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    **options: Any,
) -> AuditResult | MetricsResult:
    """Audit a column of predictions in a file.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    predictions : str
        The column with predictions.
    sensitive_features : sequence of str
        Names of columns.
    label, weights : str, optional
        The columns with the true labels, and with weights.
    **options
        Those of :func:`testsgd.audit_predictions`.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    ParameterError
        If a column is not in the file.
    TestSGDError
        As for :func:`testsgd.audit_predictions`.
    """
    named = {"predictions": predictions, "label": label, "weights": weights}
    frame = read_frame(Path(path))
    check_columns(frame, named, sensitive_features)
    taken = [column for column in named.values() if column is not None]
    return audit_predictions(
        frame[predictions],
        None if label is None else frame[label],
        sensitive_features=frame[list(sensitive_features)],
        other_features=frame.drop(columns=taken),
        sample_weight=None if weights is None else frame[weights],
        name=Path(path).name.partition(".")[0],
        **options,
    )


def _settings(parameters: Mapping[str, Any], *, rule: str | None) -> MetricParameters:
    chosen = dict(parameters)
    if rule is not None:
        if rule != "four-fifths":
            raise ParameterError(
                f"there is no rule {rule!r}", where="rule", remedy="write four-fifths"
            )
        chosen = {**FOUR_FIFTHS, **chosen}
    chosen["condition_on"] = listed_features(chosen.get("condition_on"), where="condition_on")
    return parameters_of(MetricParameters, chosen, where="audit of metrics")


def _joint_names(wanted: Wanted) -> list[str]:
    """Return the joint metrics among those that a user names."""
    if callable(wanted):
        return []
    names = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    return [
        name.strip() for name in names if isinstance(name, str) and name.strip() in JOINT_METRICS
    ]


def _table_of(
    frame: pd.DataFrame,
    *,
    features: Mapping[str, Mapping[str, Any]] | None,
    name: str,
    other_features: Any = None,
) -> Table:
    """Return the sensitive features as a table, with what their columns were taken for."""
    sensitive = list(frame.columns)
    if other_features is not None:
        frame = with_other_features(frame, other_features)
    guessed = infer_specification(
        frame,
        sensitive=sensitive,
        label=_PREDICTION,
        labels=pd.Series(["no", "yes"]),
        name=name,
        favourable="yes",
        join_rare=True,
        features=features,
    )
    specification = guessed.specification
    table = check_table(joined(frame, specification), specification, source=name)
    return replace(table, notes=guessed.notes, inferred=guessed.columns)
