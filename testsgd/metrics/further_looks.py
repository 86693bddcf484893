"""Looks beyond the search of metrics: at finer cuts of numbers.

They are for shares of rows, each of which counts as one: then a metric is the rate of a favourable
answer among the rows that it counts, as in an audit of decisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.finer import FinerSearch, finely_cut, search_finer_for_each
from testsgd.data import Table
from testsgd.metrics.definitions import Floats, Metric
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

    searched: dict[int, FinerSearch | None] = {}
    rows = _rows_counted(
        [index for index, is_share in enumerate(looked) if is_share], found, predictions
    )
    of_rows = of_each(
        lambda same: _finer_cuts(same, table, axes, found.parameters, confidence), rows
    )
    for same, searches in zip(rows, of_rows, strict=True):
        searched |= dict(zip(same.metrics, searches, strict=True))

    def of_metric(index: int) -> MetricFindings:
        metric = found.metrics[index]
        finer = searched.get(index)
        # Of few rows there may be no finer cuts, or no group that is large enough.
        features = () if finer is None or finer.first is None else finer.features
        left = tuple(feature for feature in cut if feature not in features)
        return replace(metric, finer=finer, within_bins=left)

    return replace(found, metrics=tuple(of_metric(index) for index in range(len(looked))))


@dataclass(frozen=True, kw_only=True)
class _SameRows:
    """Metrics that count the same rows, with what each of these rows adds to their numerators."""

    rows: NDArray[np.intp]
    metrics: tuple[int, ...]
    numerators: tuple[Floats, ...]  # Shape (rows,) each.


def _rows_counted(
    metrics: Sequence[int], found: MetricsFindings, predictions: Predictions
) -> list[_SameRows]:
    """Return metrics by the rows that they count, such as all rows, or those of one true label."""
    # The mask of rows, packed, tells them apart.
    by_rows: dict[bytes, list[int]] = {}
    masses = {index: predictions.masses(found.metrics[index].metric) for index in metrics}
    for index, (_, denominator) in masses.items():
        by_rows.setdefault(np.packbits(denominator > 0).tobytes(), []).append(index)
    same = []
    for indices in by_rows.values():
        rows = np.flatnonzero(masses[indices[0]][1] > 0)
        numerators = tuple(masses[index][0][rows] for index in indices)
        same.append(_SameRows(rows=rows, metrics=tuple(indices), numerators=numerators))
    return same


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
    counted: _SameRows,
    table: Table,
    axes: Sequence[Axis],
    parameters: MetricParameters,
    confidence: float,
) -> list[FinerSearch | None]:
    """Return what finer cuts show of rows, for each of the metrics that count them."""
    rows = table if len(counted.rows) == len(table) else table.take(counted.rows)
    return search_finer_for_each(
        rows,
        axes,
        counted.numerators,
        min_rows=parameters.min_rows,
        confidence=confidence,
    )
