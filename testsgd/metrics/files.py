"""Audits of a file of rows: of a column of predictions, or of a model by metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from testsgd.auditing import (
    AuditResult,
    audit_undescribed,
    check_columns,
    no_sensitive_feature,
)
from testsgd.data import read_frame
from testsgd.metrics.call import ONLY_FOR_METRICS, audit_predictions, check_no_outcome
from testsgd.metrics.models import are_numbers, audit_model_by_metrics
from testsgd.metrics.result import MetricsResult
from testsgd.progress import Progress, shown_progress


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
    named_columns = [column for column in named.values() if column is not None]
    return audit_predictions(
        frame[predictions],
        None if label is None else frame[label],
        sensitive_features=frame[list(sensitive_features)],
        other_features=frame.drop(columns=named_columns),
        sample_weight=None if weights is None else frame[weights],
        name=Path(path).name.partition(".")[0],
        **options,
    )


def audit_file_of_model(
    path: Path | str,
    *,
    model: Any,
    sensitive_features: Sequence[str],
    label: str | None = None,
    weights: str | None = None,
    outcome: str | None = None,
    threshold: float | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> AuditResult | MetricsResult:
    """Audit a model about the rows of a file, by its selection rates or by metrics.

    It is an audit of metrics if these or what is for them are among the options, if there are
    weights, and if the labels are numbers, as those of a regression.

    Parameters
    ----------
    path : path-like
        A file as :func:`testsgd.data.read_frame` reads it.
    model : callable, estimator, str or path-like
        As for :func:`testsgd.audit`.
    sensitive_features : sequence of str
        Names of columns.
    label, weights : str, optional
        The columns with the true labels, and with weights of the rows.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given the label whose rate is compared; for selection rates.
    threshold : float, optional
        A score or number above it counts as favourable.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
    **options
        Those of :func:`testsgd.audit` or of :func:`testsgd.audit_model_by_metrics`.

    Returns
    -------
    AuditResult or MetricsResult

    Raises
    ------
    ParameterError
        If a column is not in the file.
    TestSGDError
        As for :func:`testsgd.audit` and :func:`testsgd.audit_model_by_metrics`.
    """
    frame = read_frame(Path(path))
    columns = {"label": label, "weights": weights}
    check_columns(frame, columns, sensitive_features)
    if not sensitive_features:
        raise no_sensitive_feature(frame)
    rows = frame.drop(columns=[column for column in columns.values() if column is not None])
    labels = None if label is None else frame[label]
    name = Path(path).name.partition(".")[0]
    by_metrics = weights is not None or not options.keys().isdisjoint(ONLY_FOR_METRICS)
    of_numbers = labels is not None and are_numbers(labels) and options.get("favourable") is None
    if by_metrics or of_numbers:
        check_no_outcome(outcome)
        return audit_model_by_metrics(
            model,
            rows,
            labels,
            sensitive_features=sensitive_features,
            sample_weight=None if weights is None else frame[weights],
            threshold=threshold,
            name=name,
            progress=progress,
            **options,
        )
    with shown_progress(progress) as report_progress:
        return audit_undescribed(
            model,
            rows,
            labels,
            sensitive_features=sensitive_features,
            outcome=outcome,
            threshold=0.5 if threshold is None else threshold,
            name=name,
            progress=report_progress,
            **options,
        )
