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
    axes = cells.contingency.axes
    metrics = range(len(cells.metrics))
    of_metrics = [_values_of_metric(cells, index, error=1 - confidence) for index in metrics]
    first = 0
    features = []
    for place, axis in enumerate(axes):
        [rows] = cells.contingency.dense((place,), cells.rows[np.newaxis])
        described = [
            CellMetrics(
                label=label,
                n=int(rows[value]),
                metrics=[values[first + value] for values in of_metrics],
            )
            for value, label in enumerate(axis.labels)
        ]
        features.append(FeatureMetrics(feature=axis.feature, cells=described))
        first += len(axis.labels)
    return features


def _values_of_metric(cells: MetricCells, index: int, *, error: float) -> list[ValueOfCell]:
    """Return one metric, by its index, of each value of the first feature, of the second and so on.

    The intervals of all of them are computed at once.
    """
    metric = cells.metrics[index]
    of_cells = cells.of_metric(index)
    places = range(len(cells.contingency.axes))
    sums = [cells.contingency.dense((place,), of_cells) for place in places]
    sides = sides_of(np.concatenate(sums, axis=1), scale=metric.scale)
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
