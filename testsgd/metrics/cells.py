"""The sums that metrics need of the rows: for each cell of the sensitive features, and each metric.

Everything that an audit of metrics says follows from these few sums, so rows may be counted
wherever they are. Sums of squares and products say how far a metric strays by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.metrics.definitions import Floats, Metric
from testsgd.metrics.predictions import Predictions
from testsgd.rules import Contingency

Counts = NDArray[np.int64]

# The order of the sums of a metric: numerators, denominators, their squares and their product.
NUMERATOR, DENOMINATOR, NUMERATOR_SQUARED, PRODUCT, DENOMINATOR_SQUARED = range(5)
SUMS = 5


@dataclass(frozen=True)
class MetricCells:
    """Sums over the rows of each cell of the sensitive features."""

    contingency: Contingency
    metrics: tuple[Metric, ...]
    rows: Counts  # Rows of each cell, shape (cells,).
    counted: Counts  # Those that a metric's denominator counts, shape (metrics, cells).
    sums: Floats  # Shape (metrics, 5, cells), in the order above.
    weighted: bool  # Whether rows have weights.

    def of_metric(self, index: int) -> Floats:
        """Return the rows that a metric counts, and its sums, shape (6, cells)."""
        return np.vstack([self.counted[index], self.sums[index]]).astype(np.float64)


def cells_of_rows(
    contingency: Contingency, predictions: Predictions, metrics: Sequence[Metric]
) -> MetricCells:
    """Sum what each row adds to each metric over the cells of the sensitive features.

    Raises
    ------
    ParameterError
        If a metric counts no row, or is not one of such predictions.
    """
    cell, cells = contingency.cell_of_row, contingency.cells
    weights, times = predictions.weights, predictions.rows
    linear: Any = weights if weights is not None else times
    square: Any = predictions.weights_squared
    if square is None:
        square = times if weights is None else weights * weights
    counted, sums = [], []
    for metric in metrics:
        numerator, denominator = predictions.masses(metric)
        parts = [
            _times(numerator, linear),
            _times(denominator, linear),
            _times(numerator * numerator, square),
            _times(numerator * denominator, square),
            _times(denominator * denominator, square),
        ]
        counts = parts[DENOMINATOR] > 0
        if not counts.any():
            raise ParameterError(
                f"no row counts for the metric {metric.name}",
                where="metrics",
                remedy="check the labels, the weights, and which label is the favourable one",
                metric=metric.name,
            )
        counted.append(_summed(cell[counts], None if times is None else times[counts], cells))
        sums.append([np.bincount(cell, weights=part, minlength=cells) for part in parts])
    rows = _summed(cell, times, cells)
    return MetricCells(
        contingency=contingency,
        metrics=tuple(metrics),
        rows=rows,
        counted=np.array(counted, dtype=np.int64),
        sums=np.array(sums, dtype=np.float64),
        weighted=weights is not None,
    )


def _times(values: Floats, weights: Any) -> Floats:
    return values if weights is None else np.asarray(values * weights, dtype=np.float64)


def _summed(cell: NDArray[np.integer], times: Counts | None, cells: int) -> Counts:
    """Count the rows of each cell, some of which stand for many."""
    # Sums of whole numbers below 2**53 are exact in a float.
    return np.rint(np.bincount(cell, weights=times, minlength=cells)).astype(np.int64)
