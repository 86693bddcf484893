"""The metrics of each value of each sensitive feature, each with an interval of its own."""

from __future__ import annotations

import numpy as np

from testsgd.auditing.report.summary import FEWEST_SHOWN
from testsgd.metrics.cells import MetricCells
from testsgd.metrics.report.summary import CellMetrics, FeatureMetrics, ValueOfCell
from testsgd.metrics.sides import sides_of


def values_by_feature(cells: MetricCells, *, confidence: float) -> list[FeatureMetrics]:
    """Return all metrics of the rows that have one value of one sensitive feature.

    Parameters
    ----------
    cells : MetricCells
        The metrics' sums over the cells of all sensitive features.
    confidence : float
        Of the interval of each value, by itself.

    Returns
    -------
    list of FeatureMetrics
        In the order of the features. A value of fewer than `FEWEST_SHOWN` rows that count is left
        out: it would say something of single people.
    """
    return [
        FeatureMetrics(
            feature=axis.feature,
            cells=_values_of_axis(cells, place, error=1 - confidence),
        )
        for place, axis in enumerate(cells.contingency.axes)
    ]


def _values_of_axis(cells: MetricCells, place: int, *, error: float) -> list[CellMetrics]:
    """Return all metrics of each value of the feature of one axis, by its place."""
    contingency = cells.contingency
    [rows] = contingency.dense((place,), cells.rows[np.newaxis])
    of_metrics = [
        _values_of_metric(cells, place, index, error=error) for index in range(len(cells.metrics))
    ]
    labels = contingency.axes[place].labels
    return [
        CellMetrics(
            label=label,
            n=int(rows[value]),
            metrics=[values[value] for values in of_metrics],
        )
        for value, label in enumerate(labels)
    ]


def _values_of_metric(
    cells: MetricCells, place: int, index: int, *, error: float
) -> list[ValueOfCell]:
    """Return one metric, by its index, of each value of the feature of one axis."""
    metric = cells.metrics[index]
    sums = cells.contingency.dense((place,), cells.of_metric(index))
    sides = sides_of(sums, scale=metric.scale)
    interval = sides.interval()
    low, high = interval.low(error), interval.high(error)
    shown = sides.counted >= FEWEST_SHOWN
    return [
        ValueOfCell(
            metric=metric.name,
            counted=int(sides.counted[value]),
            value=float(sides.value[value]) if shown[value] else None,
            confidence_interval=(float(low[value]), float(high[value])) if shown[value] else None,
        )
        for value in range(len(shown))
    ]
