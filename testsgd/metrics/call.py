"""One call for an audit of predictions that exist, by one metric or by several."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sized
from dataclasses import replace
from inspect import signature
from typing import Any, Literal, Unpack

import pandas as pd

from testsgd.auditing import (
    AuditParameters,
    AuditResult,
    answers_among,
    audit_decisions,
    check_no_answers,
    check_same_order,
    check_sensitive_differ,
    column_of,
    frame_of,
    note_on_rows,
    positions_with,
    with_other_features,
)
from testsgd.data import check_count
from testsgd.errors import ParameterError
from testsgd.metrics.definitions import asks_for_numbers, needs_favourable
from testsgd.metrics.given_predictions import are_numbers, is_cut, read_predictions
from testsgd.metrics.options import MetricOptions, PredictionOptions
from testsgd.metrics.parameters import MetricParameters
from testsgd.metrics.result import MetricsResult
from testsgd.metrics.shared_steps import (
    WITHOUT_METRICS,
    Wanted,
    audited,
    rows_are_no_units,
    settings_of,
    table_of,
    with_rule,
)
from testsgd.parameters import check_names, declared_parameters, show_parameters
from testsgd.progress import Progress, shown_progress

ONLY_FOR_METRICS = frozenset({"metrics", "rule", "reference", "measure", "fail_below"})
"""The keywords that only an audit of metrics has."""


@show_parameters(
    AuditParameters,
    MetricParameters,
    only={
        AuditParameters: "Not for an audit of metrics.",
        MetricParameters: "For an audit of metrics.",
    },
)
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
    outcome: str | None = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    clusters: Any = None,
    name: str = "data",
    progress: Progress | bool | None = None,
    **parameters: Unpack[PredictionOptions],
) -> AuditResult | MetricsResult:
    """Return an audit of predictions: the groups that differ from their references.

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
    favourable : object, or list of these, optional
        The class whose rate is compared, or several together; if not given, 1, True, "yes" or the
        like.
    outcome : {"benefit", "harm", "neither"}, optional
        What it is for a person to be given the label whose rate is compared; if not given it is
        taken for a benefit, and the report says so. The side that is worse off is named first.
        Of metrics it is for selection rates, scores and means of predictions.
    threshold : float, optional
        A score or number above it counts as favourable.
    features : mapping of str to mapping, optional
        Parts of the description of features, in place of what is guessed, such as
        ``{"age": {"edges": [18, 30, 50, 100]}}``; the keys are those of a description's
        ``[features.NAME]``.
    limit : int, optional
        Audit a random sample of this size, chosen by ``seed``.
    clusters : str or array-like, shape (n,), optional
        Whom each row is about: rows of one are one unit in every interval. A column of the features
        by its name, or one value a row. Not for an audit of metrics.
    name : str
        What the data are called in the report.
    progress : callable or bool, optional
        As for :func:`testsgd.audit`.
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
    if not isinstance(y_pred, Sized):
        # It is looked at twice. As an array, as a series would have an index.
        y_pred = column_of(y_pred, "y_pred").to_numpy()
    # Which of the two audits it is, and so which keywords it has, shows only now.
    chosen: dict[str, Any] = dict(parameters)
    of_metrics = declared_parameters(MetricParameters)
    check_names(
        AuditParameters,
        [keyword for keyword in chosen if keyword not in of_metrics],
        where="audit_predictions",
        keywords=signature(audit_predictions).parameters,
    )
    given = {
        **chosen,
        "metrics": metrics,
        "sample_weight": sample_weight,
        "rule": rule,
        "favourable": favourable,
        "threshold": threshold,
    }
    if is_of_metrics(y_pred, y_true, given):
        if "metric" in chosen:
            raise ParameterError(
                "both a metric and what is for several metrics are given",
                where="metric",
                remedy="write metrics=[...]",
            )
        if clusters is not None:
            key = clusters if isinstance(clusters, str) else getattr(clusters, "name", None)
            remedy = without_metrics(y_pred, y_true, given)
            raise rows_are_no_units(str(key or "clusters"), remedy=remedy)
        return audit_metrics(
            y_pred,
            y_true,
            sensitive_features=sensitive_features,
            outcome=outcome,
            metrics=metrics,
            sample_weight=sample_weight,
            rule=rule,
            favourable=favourable,
            threshold=threshold,
            other_features=other_features,
            features=features,
            limit=limit,
            name=name,
            progress=progress,
            **chosen,
        )
    with shown_progress(progress) as report_progress:
        return audit_decisions(
            y_pred,
            y_true,
            sensitive_features=sensitive_features,
            other_features=other_features,
            favourable=favourable,
            outcome=outcome,
            features=features,
            limit=limit,
            clusters=clusters,
            name=name,
            progress=report_progress,
            **chosen,
        )


def is_of_metrics(y_pred: Any, y_true: Any, options: Mapping[str, Any]) -> bool:
    """Return whether an audit of predictions is one of metrics, not of one rate.

    Parameters
    ----------
    y_pred, y_true : array-like, shape (n,)
        As for :func:`audit_predictions`.
    options : mapping of str to object
        Its other keywords; one that is None was not given.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_of_metrics([0, 1], None, {}), is_of_metrics([0.2, 0.9], None, {})
    (False, True)
    >>> is_of_metrics([0, 1], None, {"reference": "best"})
    True
    """
    given = {name for name, value in options.items() if value is not None}
    if not given.isdisjoint({*ONLY_FOR_METRICS, "sample_weight"}):
        return True
    predictions = column_of(y_pred, "y_pred")
    return is_cut(predictions, options.get("threshold"), y_true) or _are_numbers(
        predictions, y_true, options.get("favourable")
    )


def without_metrics(y_pred: Any, y_true: Any, options: Mapping[str, Any]) -> str:
    """Return what to do for an audit of the same predictions that is not one of metrics.

    Parameters
    ----------
    y_pred, y_true, options
        As for :func:`is_of_metrics`.

    Returns
    -------
    str

    Examples
    --------
    >>> without_metrics([0.2, 0.9], None, {})
    'give a column of decisions in place of scores or numbers'
    """
    asked = {*ONLY_FOR_METRICS, "sample_weight"}
    others = {option: value for option, value in options.items() if option not in asked}
    steps = []
    if is_of_metrics(y_pred, y_true, others):
        steps.append("give a column of decisions in place of scores or numbers")
    if any(options.get(option) is not None for option in asked):
        steps.append(WITHOUT_METRICS)
    return " and ".join(steps)


def _are_numbers(predictions: pd.Series[Any], labels: Any, favourable: Any) -> bool:
    """Return whether predictions are scores or numbers, not classes."""
    if not pd.api.types.is_numeric_dtype(predictions.dtype):
        return False
    if pd.api.types.is_float_dtype(predictions.dtype) and (predictions.dropna() % 1 != 0).any():
        return True
    # Who names a favourable one has classes.
    if favourable is not None:
        return False
    return are_numbers(predictions) or (labels is not None and are_numbers(column_of(labels, "")))


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
    outcome: str | None = None,
    threshold: float | None = None,
    features: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
    name: str = "data",
    progress: Progress | bool | None = None,
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
    other_features, favourable, outcome, threshold, features, limit, name, progress
        As for :func:`testsgd.audit_predictions`. `outcome` says which side is worse off by a
        selection rate or a mean.
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
    settings = settings_of(parameters, rule=rule, outcome=outcome)
    check_same_order(
        {
            "sensitive_features": sensitive_features,
            "y_pred": y_pred,
            "y_true": y_true,
            "sample_weight": sample_weight,
            "other_features": other_features,
        }
    )
    y_pred = column_of(y_pred, "y_pred")
    y_true = None if y_true is None else column_of(y_true, "y_true")
    frame = frame_of(sensitive_features, "sensitive_features")
    check_no_answers(frame, {"y_pred": y_pred, "y_true": y_true, "sample_weight": sample_weight})
    check_count("limit", limit, 1)
    predictions = read_predictions(
        y_pred,
        y_true,
        rows=len(frame),
        sample_weight=sample_weight,
        favourable=favourable,
        threshold=threshold,
        as_numbers=asks_for_numbers(metrics),
        with_favourable=needs_favourable(with_rule(metrics, rule)),
    )
    answers = None
    if other_features is not None:
        all_features = with_other_features(frame, other_features)
        answers = answers_among(all_features, y_pred, y_true, but=list(frame.columns))
    note = None
    if settings.rows is not None:
        if other_features is not None:
            other_features = with_other_features(frame, other_features)
        known = frame if other_features is None else other_features
        chosen = positions_with(settings.rows, known)
        note = note_on_rows(settings.rows, chosen=len(chosen), rows=len(frame))
        predictions = predictions.take(chosen)
        # What the columns are is guessed from these rows alone.
        frame = frame.iloc[chosen]
        check_sensitive_differ(frame, list(frame.columns), settings.rows)
        other_features = None if other_features is None else other_features.iloc[chosen]
    table = table_of(
        frame.reset_index(drop=True),
        other_features=other_features,
        features=features,
        name=name,
        answers=answers,
    )
    known_notes = (predictions.guess, predictions.codes, note)
    added = tuple(item for item in known_notes if item is not None)
    table = replace(table, notes=(*table.notes, *added))
    check_count("limit", limit, 1)
    if limit is not None:
        predictions = predictions.take(table.drawn(limit, settings.seed))
        table = table.sample(limit, settings.seed)
    with shown_progress(progress) as reporter:
        return audited(
            table,
            predictions,
            settings,
            metrics=with_rule(metrics, rule),
            label=_name_of_label(y_true, y_pred),
            started=started,
            outcome=outcome,
            progress=reporter,
        )


def _name_of_label(y_true: Any, y_pred: Any) -> str:
    return str(getattr(y_true, "name", None) or getattr(y_pred, "name", None) or "prediction")
