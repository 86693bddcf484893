"""The sums that metrics need of the rows: for each cell of the sensitive features, and each metric.

Everything that an audit of metrics says follows from these few sums, so rows may be counted
wherever they are. Sums of squares and products say how far a metric strays by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.metrics.definitions import Floats, Metric, Scale
from testsgd.metrics.predictions import KNOWN_KINDS, Predictions
from testsgd.rules import Contingency

Counts = NDArray[np.int64]

# The order of the sums of a metric: numerators, denominators, their squares and their product.
NUMERATOR, DENOMINATOR, NUMERATOR_SQUARED, PRODUCT, DENOMINATOR_SQUARED = range(5)
SUMS = 5


@dataclass(frozen=True)
class MetricCells:
    """Sums of metrics over the rows of each cell of the sensitive features.

    A metric is a ratio of two sums over rows, so its value for any group of cells, and how far that
    value varies by chance, follow from these arrays. The rows themselves are not needed any more.
    Weights of rows are part of ``sums``; ``rows`` and ``counted`` are numbers of rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.metrics import audit_metrics
    >>> people = pd.DataFrame({"sex": ["f", "f", "m"] * 100})
    >>> decided = ["yes", "no", "yes"] * 100
    >>> cells = audit_metrics(decided, sensitive_features=people).findings.cells
    >>> cells.rows.tolist()
    [200, 100]
    >>> (cells.sums[0, NUMERATOR] / cells.sums[0, DENOMINATOR]).tolist()
    [0.5, 1.0]
    """

    contingency: Contingency
    metrics: tuple[Metric, ...]
    rows: Counts  # Rows of each cell, shape (cells,).
    counted: Counts  # Those that a metric's denominator counts, shape (metrics, cells).
    sums: Floats  # Shape (metrics, 5, cells), in the order above.
    weighted: bool  # Whether rows have weights.
    kinds: KindSums | None = None  # Of the metrics of decisions; None if there are none.
    # Weights of the rows whose true label is favourable, and of those with any true label, shape
    # (2, cells); None without decisions or labels.
    labels: Floats | None = None

    def of_metric(self, index: int) -> Floats:
        """Return the rows that a metric counts, and its sums, shape (6, cells).

        Parameters
        ----------
        index : int
            The place of the metric in ``metrics``.

        Returns
        -------
        numpy.ndarray of float64, shape (6, cells)
            First the rows that count, then the five sums: of numerators, of denominators, of
            squared numerators, of products, and of squared denominators.
        """
        return np.vstack([self.counted[index], self.sums[index]]).astype(np.float64)


@dataclass(frozen=True)
class KindSums:
    """Rows of each cell by decision and true label, from which all metrics of decisions follow."""

    metrics: tuple[int, ...]  # Which of the metrics these are.
    linear: Floats  # Sums of the weights, shape (kinds, cells).
    square: Floats  # Sums of their squares, shape (kinds, cells).
    # What a row of each kind adds to each of these metrics, shape (metrics, kinds).
    numerators: Floats
    denominators: Floats


def cells_of_rows(
    contingency: Contingency, predictions: Predictions, metrics: Sequence[Metric]
) -> MetricCells:
    """Return the sums of each metric over the cells of the sensitive features.

    Metrics of decisions share one pass over the rows, which are summed by decision and true label.

    Parameters
    ----------
    contingency : Contingency
        The cells, and the cell of each row, shape (n,).
    predictions : Predictions
        Predictions, true labels and weights of the same n rows.
    metrics : sequence of Metric
        What is summed.

    Returns
    -------
    MetricCells

    Raises
    ------
    ParameterError
        If a metric counts no row, or is not one of such predictions.
    """
    cell = contingency.cell_of_row
    cells = contingency.cells
    lines = _Lines.of(predictions)
    of_decisions = [index for index, metric in enumerate(metrics) if metric.kind == "decisions"]
    by_kind = None
    if of_decisions and predictions.decisions is not None:
        by_kind = _Kinds.of(predictions, lines, cell, cells)
    known, counted, sums = [], [], []
    for asked in metrics:
        metric = asked
        if metric.kind == "decisions" and by_kind is not None:
            counts, of_metric = by_kind.sums(metric)
        else:
            if predictions.sums is not None:
                parts = tuple(predictions.sums[metric.name])
            else:
                masses = predictions.masses(metric)
                parts = _parts(masses, lines)
                if metric.kind is None:
                    metric = replace(metric, scale=scale_of(*masses))
            counts, of_metric = _sums_of_lines(parts, lines, cell, cells)
        if not counts.any():
            raise ParameterError(
                f"no row counts for the metric {metric.name}",
                where="metrics",
                remedy="check the labels, the weights, and which label is the favourable one",
                metric=metric.name,
            )
        known.append(metric)
        counted.append(counts)
        sums.append(of_metric)
    return MetricCells(
        contingency=contingency,
        metrics=tuple(known),
        rows=_summed(cell, lines.times, cells),
        counted=np.array(counted, dtype=np.int64),
        sums=np.array(sums, dtype=np.float64),
        weighted=predictions.weights is not None,
        kinds=None if by_kind is None else by_kind.of_metrics(metrics, of_decisions),
        labels=None if by_kind is None else by_kind.labels(),
    )


def scale_of(numerator: Floats, denominator: Floats) -> Scale:
    """Return what values a metric of the user's has, by what its rows add.

    Examples
    --------
    >>> scale_of(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    'share'
    >>> scale_of(np.array([0.0, 7.5]), np.array([1.0, 1.0]))
    'number'
    """
    counted = denominator > 0
    tops = numerator[counted]
    bottoms = denominator[counted]
    if numerator[~counted].any() or (tops < 0).any() or (tops > bottoms).any():
        return "number"
    return "share" if ((tops == 0) | (tops == bottoms)).all() else "mean share"


@dataclass(frozen=True)
class _Lines:
    """The number of rows of each line, and their weights; None for one row of weight 1."""

    times: Counts | None
    linear: NDArray[Any] | None
    square: NDArray[Any] | None

    @classmethod
    def of(cls, predictions: Predictions) -> _Lines:
        weights = predictions.weights
        times = predictions.rows
        square: NDArray[Any] | None = predictions.weights_squared
        if square is None:
            square = times if weights is None else weights * weights
        return cls(times, times if weights is None else weights, square)


@dataclass(frozen=True)
class _Kinds:
    """Rows and weights of each cell by decision and true label, shape (cells, kinds) each.

    One pass over the rows serves all metrics of decisions.
    """

    prototypes: Predictions
    rows: Counts
    linear: Floats
    square: Floats

    @classmethod
    def of(
        cls, predictions: Predictions, lines: _Lines, cell: NDArray[np.integer], cells: int
    ) -> _Kinds:
        """Return the sums over all pairs of a cell and a kind, by one count of the pair numbers.

        `cell` is the cell of each line, shape (lines,). The pair of cell c and kind k has the
        number ``c * kinds + k``.
        """
        prototypes, kind = predictions.by_kind()
        joint = cell * np.intp(len(prototypes)) + kind
        size = cells * len(prototypes)

        def summed(weights: NDArray[Any] | None) -> Floats:
            sums: Floats = np.bincount(joint, weights=weights, minlength=size).astype(np.float64)
            return sums.reshape(cells, len(prototypes))

        ones = summed(lines.times)
        linear = ones if lines.linear is lines.times else summed(lines.linear)
        square = ones if lines.square is lines.times else summed(lines.square)
        if lines.linear is not None and lines.linear is not lines.times:
            # Rows of weight 0 do not count.
            weighing = np.where(lines.linear > 0, 1 if lines.times is None else lines.times, 0)
            ones = summed(weighing)
        return cls(prototypes, np.rint(ones).astype(np.int64), linear, square)

    def sums(self, metric: Metric) -> tuple[Counts, Floats]:
        """Return the rows that a metric counts (cells,), and its sums (5, cells)."""
        numerator, denominator = self.prototypes.masses(metric)
        counts: Counts = self.rows[:, denominator > 0].sum(axis=1)
        sums = np.array(
            [
                self.linear @ numerator,
                self.linear @ denominator,
                self.square @ (numerator * numerator),
                self.square @ (numerator * denominator),
                self.square @ (denominator * denominator),
            ]
        )
        return counts, sums

    def labels(self) -> Floats | None:
        """Return the weights of favourable and of known true labels (2, cells); None without."""
        favourable, known = self.prototypes.labels, self.prototypes.labelled
        if favourable is None or known is None:
            return None
        return np.array([self.linear @ (favourable & known), self.linear @ known])

    def of_metrics(self, metrics: Sequence[Metric], chosen: Sequence[int]) -> KindSums:
        """Return the sums of those kinds that the chosen metrics tell apart.

        Each decision with each known label is one of them, if no row has it: that all rows are
        alike does not say that others could not be.
        """
        masses = np.array([self.prototypes.masses(metrics[index]) for index in chosen])
        # A column is what a kind adds: to the numerators first, then to the denominators.
        added = masses.transpose(1, 0, 2).reshape(2 * len(chosen), -1)
        possible = np.any(self.rows > 0, axis=0)
        possible[: KNOWN_KINDS if self.prototypes.labels is not None else 2] = True
        different, index = np.unique(added[:, possible], axis=1, return_inverse=True)
        joined = np.zeros((different.shape[1], int(possible.sum())))
        joined[index.reshape(-1), np.arange(joined.shape[1])] = 1.0
        adds_something = different.any(axis=0)
        return KindSums(
            metrics=tuple(chosen),
            linear=(joined @ self.linear[:, possible].T)[adds_something],
            square=(joined @ self.square[:, possible].T)[adds_something],
            numerators=different[: len(chosen), adds_something],
            denominators=different[len(chosen) :, adds_something],
        )


def row_sums(
    predictions: Predictions, metric: Metric, cell: NDArray[np.integer], cells: int
) -> Floats:
    """Return the rows that a metric counts and its sums, over cells of any kind (6, cells)."""
    lines = _Lines.of(predictions)
    parts = _parts(predictions.masses(metric), lines)
    counts, sums = _sums_of_lines(parts, lines, cell, cells)
    return np.vstack([counts, sums]).astype(np.float64)


def _parts(masses: tuple[Floats, Floats], lines: _Lines) -> tuple[Floats, ...]:
    """Return what each line adds to the sums of a metric, in their order, shape (lines,) each."""
    numerator, denominator = masses
    return (
        _times(numerator, lines.linear),
        _times(denominator, lines.linear),
        _times(numerator * numerator, lines.square),
        _times(numerator * denominator, lines.square),
        _times(denominator * denominator, lines.square),
    )


def _sums_of_lines(
    parts: Sequence[Floats], lines: _Lines, cell: NDArray[np.integer], cells: int
) -> tuple[Counts, Floats]:
    """Return the rows that a metric counts (cells,), and its sums (5, cells), from every line."""
    counts = parts[DENOMINATOR] > 0
    times = None if lines.times is None else lines.times[counts]
    sums = [np.bincount(cell, weights=part, minlength=cells) for part in parts]
    return _summed(cell[counts], times, cells), np.array(sums)


def _times(values: Floats, weights: Any) -> Floats:
    return values if weights is None else np.asarray(values * weights, dtype=np.float64)


def _summed(cell: NDArray[np.integer], times: Counts | None, cells: int) -> Counts:
    """Count the rows of each cell, some of which stand for many."""
    # Sums of whole numbers below 2**53 are exact in a float.
    return np.rint(np.bincount(cell, weights=times, minlength=cells)).astype(np.int64)
