"""Metrics of decisions: the rate that is compared, and of which rows it is.

Each is a share: of the rows that its denominator counts, those that its numerator counts. So an
audit of a metric is an audit of selection rates, of other rows and other decisions, and everything
that holds for these holds for it: the intervals, the guarantee, the ranking, the explanations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.parameters import MetricName
from testsgd.data import Label, Table
from testsgd.errors import ParameterError
from testsgd.fairness import NAMED_PROPERTIES, FairnessProperty
from testsgd.models import LoadedModel, Model, PredictionColumn, check_reading
from testsgd.progress import Counter, Progress, named
from testsgd.sampling import decisions_about

SELECTION_RATE: MetricName = "selection_rate"

METRICS: Mapping[MetricName, FairnessProperty] = MappingProxyType(
    {
        SELECTION_RATE: NAMED_PROPERTIES["demographic_parity"],
        "true_positive_rate": NAMED_PROPERTIES["equal_opportunity"],
        "false_positive_rate": NAMED_PROPERTIES["predictive_equality"],
        "precision": FairnessProperty(
            "precision", "difference", ((0, 0), (0, 1)), ((0, 0), (1, 1))
        ),
        "accuracy": FairnessProperty("accuracy", "difference", ((1, 0), (0, 1)), ((1, 1), (1, 1))),
    }
)
"""The metrics by their names: what a decision with a true label adds to both counters."""

# The column in which it stands whether a row counts in the numerator.
_COUNTED = "(counted)"


def check_selection_rate(metric: object) -> None:
    """Raise a :class:`ParameterError` if texts are to be audited by another metric."""
    if metric != SELECTION_RATE:
        raise ParameterError(
            f"texts are compared by {SELECTION_RATE} only, not by {metric}",
            where="metric",
            remedy="leave it out",
            name="metric",
        )


def counted(
    metric: MetricName, decisions: NDArray[np.bool_], labels: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows a metric counts in its denominator, and which in its numerator.

    Parameters
    ----------
    metric : str
        A name in `METRICS`.
    decisions, labels : numpy.ndarray of bool, shape (n,)
        Whether the decision, and the true label, of each row is the favourable one.

    Returns
    -------
    denominator, numerator : numpy.ndarray of bool, shape (n,)

    Examples
    --------
    >>> decisions, labels = np.array([True, True, False]), np.array([True, False, True])
    >>> denominator, numerator = counted("true_positive_rate", decisions, labels)
    >>> denominator.tolist(), numerator.tolist()
    ([True, False, True], [True, False, False])
    """
    wanted = METRICS[metric]
    places = decisions.astype(np.intp), labels.astype(np.intp)
    denominator = np.array(wanted.denominator, dtype=bool)[places]
    numerator = np.array(wanted.numerator, dtype=bool)[places]
    return denominator, numerator


def by_metric(
    metric: MetricName,
    loaded: LoadedModel[Model],
    table: Table,
    progress: Progress | None = None,
    *,
    allowed: int | None = None,
) -> tuple[LoadedModel[Model], Table]:
    """Return predictions and rows whose selection rates are the rates of a metric.

    The model is asked once about each row as it is, if it was not before. Rows without a true label
    are left out. `allowed` are the most queries, None for any number.

    Raises
    ------
    ParameterError
        If the metric needs true labels and there are none, or counts no row, or takes more queries
        than allowed.
    ModelError
        If the model's codes or scores may be of the other label.
    """
    if metric == SELECTION_RATE:
        return loaded, table
    label = table.specification.label
    if table.labels is None:
        raise ParameterError(
            f"the metric {metric} needs the true labels, and there are none",
            where="metric",
            remedy="give the true labels (y_true, --label), or compare selection rates",
            name=metric,
        )
    if metric == "accuracy" and (label.together or len(label.others) > 1):
        raise ParameterError(
            "there are more than two classes, and the metric accuracy is of two",
            where="metric",
            remedy="compare the classes themselves by metrics (--metrics accuracy, "
            f"{_by_metrics(loaded.model, table)} in Python)",
            name=metric,
        )
    labelled = table.take(np.flatnonzero(table.labels.notna()))
    assert labelled.labels is not None
    known = labelled.answered_by(loaded.model)
    asked = 0 if isinstance(loaded.model, PredictionColumn) else int((known < 0).sum())
    if allowed is not None and asked > allowed:
        needed = asked + table.asked_before(loaded.model)
        raise ParameterError(
            f"the metric {metric} needs an answer about each of {len(labelled):,} rows, "
            f"{needed:,} queries, and {allowed + needed - asked:,} are allowed",
            where="max_queries",
            remedy=f"give --max-queries {needed}, or audit fewer rows with --limit",
            name="max_queries",
        )
    counter = Counter(named("asking about rows", progress), int((known < 0).sum()))
    every_row = np.arange(len(labelled))
    decisions = decisions_about(loaded.model, labelled, every_row, known, counter)
    check_reading(loaded.model, decisions, labelled.labels, label)
    truth = (labelled.labels == label.favourable).to_numpy(dtype=bool)
    denominator, numerator = counted(metric, decisions, truth)
    if not denominator.any():
        raise ParameterError(
            f"no row counts for the metric {metric}",
            where="metric",
            remedy="check the labels, and which of them is the favourable one",
            name=metric,
        )
    rows = np.flatnonzero(denominator)
    kept = labelled.take(rows)
    frame = kept.frame.assign(**{_COUNTED: numerator[rows]})
    column = PredictionColumn(
        _COUNTED,
        label=Label(column=_COUNTED, favourable="True", values=["False", "True"]),
        name=loaded.model.name,
        asked=asked,
        model=None if isinstance(loaded.model, PredictionColumn) else loaded.model,
    )
    return replace(loaded, model=column), replace(kept, frame=frame, labels=None)


def _by_metrics(model: Model, table: Table) -> str:
    """Return the call that compares the classes themselves."""
    function = "metrics.audit_described_by_metrics"
    if isinstance(model, PredictionColumn):
        function = "audit_predictions"
    elif table.inferred:
        function = "audit_model_by_metrics"
    return f"testsgd.{function}(..., metrics=['accuracy'])"
