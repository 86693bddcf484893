"""The sums that metrics need of the rows: for each cell of the sensitive features, and each metric.

Everything that an audit of metrics says follows from these few sums, so rows may be counted
wherever they are. Sums of squares and products say how far a metric strays by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    weights = predictions.weights
    counted, sums = [], []
    for metric in metrics:
        numerator, denominator = predictions.masses(metric)
        if weights is not None:
            numerator, denominator = numerator * weights, denominator * weights
        counts = denominator > 0
        if not counts.any():
            raise ParameterError(
                f"no row counts for the metric {metric.name}",
                where="metrics",
                remedy="check the labels, the weights, and which label is the favourable one",
                metric=metric.name,
            )
        counted.append(np.bincount(cell[counts], minlength=cells))
        sums.append(
            [
                np.bincount(cell, weights=item, minlength=cells)
                for item in (
                    numerator,
                    denominator,
                    numerator * numerator,
                    numerator * denominator,
                    denominator * denominator,
                )
            ]
        )
    rows = np.bincount(cell, minlength=cells)
    return MetricCells(
        contingency=contingency,
        metrics=tuple(metrics),
        rows=rows.astype(np.int64),
        counted=np.array(counted, dtype=np.int64),
        sums=np.array(sums, dtype=np.float64),
        weighted=weights is not None,
    )
