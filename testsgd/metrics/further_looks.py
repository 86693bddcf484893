"""Looks beyond the search of metrics: at finer cuts of numbers.

They are for shares of rows, each of which counts as one: then a metric is the rate of a favourable
answer among the rows that it counts, as in an audit of decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from testsgd.auditing.finer import FinerGroups, FinerSearch, finely_cut
from testsgd.data import Table
from testsgd.metrics.definitions import Metric
from testsgd.metrics.in_threads import of_each
from testsgd.metrics.parameters import REST, MetricParameters
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.search import MetricFindings, MetricsFindings
from testsgd.rules import Axis, IntervalAxis


def with_further_looks(
    found: MetricsFindings, table: Table, predictions: Predictions, axes: Sequence[Axis]
) -> MetricsFindings:
    """Return findings with what finer cuts of the sensitive numbers show.

    Where that cannot be looked at, a metric names the numbers.
    """
    elsewhere = predictions.rows is not None or predictions.sums is not None
    if elsewhere:
        # What is within a bin stayed where the rows are.
        cut = [axis.feature for axis in axes if isinstance(axis, IntervalAxis)]
    else:
        cut = [axis.feature for axis in axes if finely_cut(table, axis) is not None]
    if not cut:
        return found
    possible = not elsewhere and predictions.weights is None and _is_asked(found.parameters)
    looked = [possible and _is_share_of_rows(metric.metric) for metric in found.metrics]
    confidence = 1 - (1 - found.parameters.confidence) / max(1, sum(looked))

    shares = [index for index, is_share in enumerate(looked) if is_share]
    searches = _finer_cuts(
        [found.metrics[index].metric for index in shares],
        table,
        axes,
        predictions,
        min_rows=found.parameters.min_rows,
        confidence=confidence,
    )
    searched = dict(zip(shares, searches, strict=True))

    def of_metric(index: int) -> MetricFindings:
        metric = found.metrics[index]
        finer = searched.get(index)
        # Of few rows there may be no finer cuts, or no group that is large enough.
        features = () if finer is None or finer.first is None else finer.features
        left = tuple(feature for feature in cut if feature not in features)
        return replace(metric, finer=finer, within_bins=left)

    return replace(found, metrics=tuple(of_metric(index) for index in range(len(looked))))


def _is_asked(parameters: MetricParameters) -> bool:
    """Return whether the parameters are those for which finer cuts are searched."""
    return (
        parameters.reference == REST
        and parameters.measure == "difference"
        and parameters.guarantee == "simultaneous"
        and parameters.holdout is None
    )


def _is_share_of_rows(metric: Metric) -> bool:
    return metric.kind == "decisions" and metric.scale == "share"


def _finer_cuts(
    metrics: Sequence[Metric],
    table: Table,
    axes: Sequence[Axis],
    predictions: Predictions,
    *,
    min_rows: int,
    confidence: float,
) -> list[FinerSearch]:
    """Return what finer cuts show of each of some metrics of decisions.

    All of them follow from the numbers of rows by decision and true label.
    """
    if not metrics:
        return []
    prototypes, kind_of_row = predictions.by_kind()
    masses = np.array([prototypes.masses(metric) for metric in metrics])
    numerators, denominators = masses.transpose(1, 0, 2)
    # Kinds of rows that no metric counts, or that there are none of, need no sums.
    occurs = np.bincount(kind_of_row, minlength=len(prototypes)) > 0
    kinds = np.flatnonzero(occurs & denominators.any(axis=0))
    rows_of_kinds = kind_of_row == kinds[:, None]
    groups = FinerGroups.of(table, axes, rows_of_kinds, min_rows=min_rows)
    assert groups is not None

    def search(index: int) -> FinerSearch:
        return groups.search(
            denominators[index, kinds], numerators[index, kinds], confidence=confidence
        )

    return of_each(search, range(len(metrics)))
