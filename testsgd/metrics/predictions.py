"""Predictions as metrics need them: decisions, scores or numbers, with true labels and weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import DataError, ParameterError
from testsgd.metrics.definitions import Floats, Metric, PredictionKind


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """Predictions of n rows as decisions, scores and numbers, as far as they are these."""

    kind: PredictionKind  # What the predictions are themselves.
    given: Any  # As the user gave them, for functions of the user's; shape (n,).
    given_truth: Any
    # Whether each row gets the favourable class, or a score or number above the threshold; None if
    # numbers have no threshold.
    decisions: NDArray[np.bool_] | None
    numbers: Floats | None  # Scores or numbers; None of classes.
    labels: NDArray[np.bool_] | None  # Whether each true label is the favourable one.
    truth: Floats | None  # True labels as numbers: 1 and 0 of classes.
    labelled: NDArray[np.bool_] | None  # Where the true label is known; None without labels.
    weights: Floats | None
    # Whether each prediction is the true label, of more than two classes; None of two.
    right: NDArray[np.bool_] | None = None
    # Where a row stands for many: for how many, and the sum of the squares of their weights, of
    # which `weights` is then the sum.
    rows: NDArray[np.int64] | None = None
    weights_squared: Floats | None = None
    # What these rows add to metrics of scores or numbers, by a metric's name, shape (5, n); such
    # sums stand in place of `numbers` and `truth`.
    sums: Mapping[str, Floats] | None = None
    favourable: str = ""  # The class whose rate is compared; empty for numbers.
    favourable_labels: tuple[str, ...] = ()  # The classes that count as favourable.
    other_labels: tuple[str, ...] = ()  # The other classes, as far as they are known.
    guess: str | None = None  # The note that says that this class is only a guess, if it is.
    codes: str | None = None  # The note on numbers that may stand for missing values, if any may.
    # Above which a score or number counts as favourable; None where the model's classes do.
    threshold: float | None = None

    def __len__(self) -> int:
        return len(self.given)

    @property
    def together(self) -> tuple[str, ...]:
        """The classes that are favourable together; empty if it is a single one."""
        return self.favourable_labels if len(self.favourable_labels) > 1 else ()

    def take(self, rows: NDArray[np.intp]) -> Predictions:
        """Return the predictions of some rows."""
        arrays: dict[str, Any] = {
            name: value[rows]
            for name, value in self.__dict__.items()
            if isinstance(value, np.ndarray)
        }
        return replace(self, **arrays)

    def by_kind(self) -> tuple[Predictions, NDArray[np.int8]]:
        """Return one row for each kind of decision with its true label, and each row's kind.

        The kinds are against and for, with a true label against, for, or unknown; of more than two
        classes also against and for with another such label than the true one. What a metric of
        decisions says of a row, it says of its kind.
        """
        assert self.decisions is not None
        # Small numbers, because there may be a hundred million rows.
        kind = self.decisions.astype(np.int8)
        if self.labels is not None and self.labelled is not None:
            # Without a true label 4, else 2 if that is the favourable one.
            kind += 2 * self.labels.astype(np.int8)
            kind[~self.labelled] += 4
            if self.right is not None:
                another = self.labelled & ~self.right & (self.labels == self.decisions)
                kind[another] = 6 + self.decisions[another]
        prototypes = predictions_of_kinds(
            np.arange(6 if self.right is None else 8),
            decided=True,
            labelled=self.labels is not None,
        )
        return prototypes, kind

    def masses(self, metric: Metric) -> tuple[Floats, Floats]:
        """Return what each row adds to a metric's numerator and denominator, before weights.

        Rows without a true label add nothing to a metric that needs one.

        Raises
        ------
        ParameterError
            If the metric is not one of such predictions, or needs true labels and there are none.
        DataError
            If a function of the user's returns something else than two numbers a row.
        """
        if metric.kind is None:
            masses = _masses_of_function(metric, self.given, self.given_truth)
            known = self.labelled
            if known is None or known.all() or not _uses_truth(metric, self.given, masses):
                return masses
            return np.where(known, masses[0], 0.0), np.where(known, masses[1], 0.0)
        check_metric(
            metric,
            kind=self.kind,
            labelled=self.labelled is not None,
            decided=self.decisions is not None,
        )
        if metric.of_classes and self.right is not None:
            numerator, denominator = self.right.astype(np.float64), np.ones(len(self.right))
        elif metric.kind == "decisions":
            numerator, denominator = metric.masses(self.decisions, self.labels)
        else:
            numerator, denominator = metric.masses(self.numbers, self.truth)
        denominator = np.broadcast_to(denominator, np.shape(numerator))
        if metric.needs_labels and self.labelled is not None and not self.labelled.all():
            numerator = np.where(self.labelled, numerator, 0.0)
            denominator = np.where(self.labelled, denominator, 0.0)
        return np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)


# Decisions with a known true label are of the first four kinds; without true labels decisions are
# of the first two.
KNOWN_KINDS = 4


def predictions_of_kinds(
    kinds: NDArray[np.integer], *, decided: bool, labelled: bool
) -> Predictions:
    """Return decisions and labels by the numbers of their kinds, see :meth:`Predictions.by_kind`.

    Without decisions or labels (`decided`, `labelled`) the kinds say nothing of these.

    Examples
    --------
    >>> read = predictions_of_kinds(np.array([1, 2, 4]), decided=True, labelled=True)
    >>> read.decisions.tolist(), read.labels.tolist(), read.labelled.tolist()
    ([True, False, False], [False, True, False], [True, True, False])
    """
    state = kinds // 2
    decisions = kinds % 2 == 1
    another = state == 3
    labels = np.where(another, decisions, state == 1)
    labelled_rows = state != 2
    return Predictions(
        kind="decisions",
        given=kinds,
        given_truth=None,
        decisions=decisions if decided else None,
        numbers=None,
        labels=labels if labelled else None,
        truth=None,
        labelled=labelled_rows if labelled else None,
        weights=None,
        right=labelled_rows & (labels == decisions) & ~another if another.any() else None,
    )


def check_metric(metric: Metric, *, kind: PredictionKind, labelled: bool, decided: bool) -> None:
    """Refuse a metric that predictions do not have.

    Parameters
    ----------
    metric : Metric
        The metric, no function of the user's.
    kind : {"decisions", "scores", "numbers"}
        What the predictions are.
    labelled, decided : bool
        Whether there are true labels, and decisions.

    Raises
    ------
    ParameterError
        If it is a metric of other predictions, or needs true labels and there are none.

    Examples
    --------
    >>> from testsgd.metrics.definitions import METRICS
    >>> check_metric(METRICS["mean_score"], kind="scores", labelled=False, decided=True)
    """
    if metric.needs_labels and not labelled:
        raise ParameterError(
            f"the metric {metric.name} needs the true labels, and there are none",
            where="metrics",
            remedy="give the true labels (y_true, --label), or name other metrics",
            metric=metric.name,
        )
    if not decided if metric.kind == "decisions" else metric.kind != kind:
        raise ParameterError(
            f"the metric {metric.name} is of {metric.kind}, and the predictions are "
            f"{'classes' if kind == 'decisions' else kind}",
            where="metrics",
            remedy=_remedy(metric, kind),
            metric=metric.name,
        )


def _remedy(metric: Metric, kind: PredictionKind) -> str:
    if metric.kind == "decisions":
        return "give a threshold above which a number is favourable"
    if kind == "decisions":
        return "give the scores or numbers in place of classes"
    return "name a metric of numbers, such as mean" if kind == "numbers" else "name mean_score"


def _masses_of_function(metric: Metric, given: Any, truth: Any) -> tuple[Floats, Floats]:
    """Ask a function of the user's, and check what it returns."""
    where = f"metric {metric.name}"
    try:
        numerator, denominator = (
            np.asarray(part, dtype=np.float64) for part in metric.masses(given, truth)
        )
    except Exception as error:
        raise DataError(
            f"the function raised {type(error).__name__}: {' '.join(str(error).split())}",
            where=where,
            remedy="return what each row adds to the numerator and to the denominator",
        ) from error
    for part in (numerator, denominator):
        if part.shape != (len(given),) or not np.isfinite(part).all():
            raise DataError(
                f"the function returned an array of shape {part.shape}, or not only numbers",
                where=where,
                remedy=f"return two arrays of {len(given):,} numbers",
            )
    if (denominator < 0).any():
        raise DataError(
            f"the denominator of a row is negative, {denominator.min():g}",
            where=where,
            remedy="return denominators of at least 0",
        )
    return numerator, denominator


def _uses_truth(metric: Metric, given: Any, masses: tuple[Floats, Floats]) -> bool:
    """Return whether a function of the user's says something else, or fails, without the truth."""
    try:
        without = metric.masses(given, None)
        return not all(map(np.array_equal, masses, without))
    except Exception:
        # Whatever a function does with no labels.
        return True
