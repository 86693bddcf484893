"""Predictions as metrics need them: decisions, scores or numbers, with true labels and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing import check_present, values_of
from testsgd.data import booleans_as_numbers, category_text, classes_of, joined_name
from testsgd.data.classes import (
    check_known_classes,
    classes_together,
    favourable_classes,
    guess_among,
    is_favourable_by_name,
    note_on_favourable,
)
from testsgd.data.frames import MISSING_TEXTS
from testsgd.errors import DataError, ParameterError
from testsgd.metrics.definitions import Floats, Metric, PredictionKind
from testsgd.metrics.rules_of_kinds import (
    check_finite,
    check_true_finite,
    kind_of_decimals,
    kind_of_whole_numbers,
    limit_of,
    no_true_numbers,
)
from testsgd.models.answers import no_scores_given, opposed_rates, threshold_of_type
from testsgd.report.formatting import plural


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


def read_predictions(
    y_pred: Any,
    y_true: Any = None,
    *,
    rows: int,
    sample_weight: Any = None,
    favourable: Any = None,
    threshold: float | None = None,
    as_numbers: bool = False,
    as_scores: bool = False,
    scores: Floats | None = None,
    with_favourable: bool = True,
) -> Predictions:
    """Return predictions of rows, read as classes, scores or numbers, with labels and weights.

    Numbers between 0 and 1 that are not all whole are scores. Other numbers are numbers if they, or
    the true labels, are not whole or have more than 20 values; all else are classes.

    Parameters
    ----------
    y_pred, y_true, sample_weight : array-like, shape (n,)
        Predictions, and if they are known true labels and weights.
    rows : int
        How many there must be.
    favourable : object, or list of these, optional
        The class whose rate is compared, or several that count as one; if not given, 1, True,
        "yes" or the like.
    threshold : float, optional
        A score or number above it counts as favourable; 0.5 for scores if not given.
    as_numbers : bool
        True if predictions that are numbers are such, whatever their values.
    as_scores : bool
        True if numbers from 0 to 1 are scores, also if all are 0 or 1, as a tree's may be.
    scores : numpy.ndarray of float, shape (n,), optional
        The scores of a model whose own classes are `y_pred`, for metrics of scores.
    with_favourable : bool
        False if no class need be favourable, as only right and wrong predictions are counted.

    Returns
    -------
    Predictions

    Raises
    ------
    DataError
        If there are more or fewer of them than rows, or a prediction or weight is not usable.
    ParameterError
        If the favourable class is not clear, or there is a threshold for classes.

    Examples
    --------
    >>> read = read_predictions([0.2, 0.7, 0.9], rows=3)
    >>> read.kind, read.decisions.tolist()
    ('scores', [False, True, True])
    """
    predicted = values_of(y_pred, "y_pred", rows=rows)
    check_present(int(predicted.isna().sum()), where="y_pred")
    true = None if y_true is None else values_of(y_true, "y_true", rows=rows)
    if true is not None:
        _check_true_finite(true)
        predicted, true = booleans_as_numbers(predicted, true)
    weights = None if sample_weight is None else read_weights(sample_weight, rows=rows)
    kind = _kind(predicted, true, as_numbers=as_numbers, as_scores=as_scores)
    if kind == "decisions":
        _check_no_threshold(predicted, threshold)
        read = _of_classes(
            predicted,
            true,
            weights=weights,
            favourable=favourable,
            with_favourable=with_favourable,
        )
        return read if scores is None else _with_scores(read, scores)
    named = None
    if as_scores and true is None and favourable is not None:
        # Without true labels a model alone says which labels there are.
        named = (category_text(favourable),)
    return _of_numbers(
        predicted,
        true,
        kind=kind,
        weights=weights,
        favourable=favourable,
        threshold=threshold,
        named=named,
    )


def _check_no_threshold(classes: pd.Series[Any], threshold: float | None) -> None:
    # Scores that are all 0.0 or 1.0 are read as classes, which any threshold leaves as they are.
    certain = pd.api.types.is_float_dtype(classes.dtype) and bool(classes.isin([0, 1]).all())
    if threshold is not None and not certain:
        raise no_scores_given(threshold)


def is_cut(predicted: pd.Series[Any], threshold: float | None, true: Any = None) -> bool:
    """Return whether predictions are scores or numbers of which a threshold makes decisions.

    `true` are the true labels, if there are any.

    Raises
    ------
    ParameterError
        If there is a threshold, and the predictions are classes.

    Examples
    --------
    >>> is_cut(pd.Series([0.2, 0.7]), 0.5), is_cut(pd.Series(["no", "yes"]), None)
    (True, False)
    """
    if threshold is None:
        return False
    known = predicted.dropna()
    labels = None if true is None else pd.Series(true)
    if _kind(known, labels, as_numbers=False) != "decisions":
        return True
    _check_no_threshold(known, threshold)
    return False


def read_weights(sample_weight: Any, *, rows: int) -> Floats:
    """Return weights as numbers.

    Raises
    ------
    DataError
        If one is negative or no number, or all are zero.

    Examples
    --------
    >>> read_weights([1, 2.5], rows=2).tolist()
    [1.0, 2.5]
    """
    series = values_of(sample_weight, "sample_weight", rows=rows)
    numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(numbers) | (numbers < 0))
    if len(wrong):
        raise DataError(
            f"{len(wrong):,} weights are negative or no numbers, the first is "
            f"{series.iloc[wrong[0]]!r}",
            where=f"sample_weight, row {wrong[0]:,}",
            remedy="give numbers of at least 0",
        )
    if not (numbers > 0).any():
        raise DataError(
            "all weights are zero", where="sample_weight", remedy="give weights above 0"
        )
    return numbers


def are_numbers(values: pd.Series[Any]) -> bool:
    """Return whether true labels, or predictions, are numbers, as of a regression, and no classes.

    Examples
    --------
    >>> are_numbers(pd.Series([1.5, 2.0])), are_numbers(pd.Series([0, 1]))
    (True, False)
    """
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if not numeric or pd.api.types.is_bool_dtype(values.dtype):
        return False
    different = values.dropna().unique()
    # The remainder of an infinite one is no number; it is refused later.
    with np.errstate(invalid="ignore"):
        decimals = bool((different % 1 != 0).any())
    return decimals or kind_of_whole_numbers(len(different)) == "numbers"


def _true_numbers(true: pd.Series[Any]) -> Floats:
    """Return the true values of predicted numbers, shape (n,); NaN where one is missing."""
    numbers = pd.to_numeric(true, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    # Also of texts such as inf.
    check_true_finite(int(np.isinf(numbers).sum()), where="y_true")
    if not np.isfinite(numbers).any():
        raise no_true_numbers("y_true")
    unread = np.flatnonzero(np.isnan(numbers) & true.notna().to_numpy())
    texts = true.iloc[unread].astype(str).str.strip()
    others = texts[~texts.isin(MISSING_TEXTS)]
    if len(others):
        raise DataError(
            f"{plural(len(others), 'true value')} of predicted numbers "
            f"{'is no number' if len(others) == 1 else 'are no numbers'}, the first is "
            f"{others.iloc[0]!r}",
            where="y_true",
            remedy="give numbers, and nothing where a value is not known",
            value=others.iloc[0],
        )
    return numbers


def _check_true_finite(true: pd.Series[Any]) -> None:
    """Refuse true labels that are numbers, of which some are infinite; no class is called so."""
    if pd.api.types.is_float_dtype(true.dtype):
        numbers = true.to_numpy(dtype=np.float64, na_value=np.nan)
        check_true_finite(int(np.isinf(numbers).sum()), where="y_true")


def _kind(
    predicted: pd.Series[Any],
    true: pd.Series[Any] | None,
    *,
    as_numbers: bool,
    as_scores: bool = False,
) -> PredictionKind:
    """Return whether predictions are classes, scores or numbers."""
    if not pd.api.types.is_numeric_dtype(predicted.dtype) or pd.api.types.is_bool_dtype(
        predicted.dtype
    ):
        return "decisions"
    numbers = predicted.to_numpy(dtype=np.float64)
    check_finite(bool(np.isfinite(numbers).all()), where="y_pred")
    if as_numbers:
        return "numbers"
    if as_scores and numbers.min() >= 0 and numbers.max() <= 1:
        return "scores"
    if not (numbers % 1 != 0).any():
        if true is not None and are_numbers(true):
            return "numbers"
        return kind_of_whole_numbers(len(pd.unique(numbers)))
    return kind_of_decimals(
        float(numbers.min()),
        float(numbers.max()),
        decimal_labels=true is not None
        and pd.api.types.is_float_dtype(true.dtype)
        and bool((true.dropna() % 1 != 0).any()),
    )


def _of_classes(
    predicted: pd.Series[Any],
    true: pd.Series[Any] | None,
    *,
    weights: Floats | None,
    favourable: Any,
    with_favourable: bool,
) -> Predictions:
    """Return predictions that are classes as decisions: whether each is a favourable class."""
    # Texts are made of the different values only: there may be a hundred million rows.
    codes, values = pd.factorize(predicted)
    different = pd.Series(values)
    known = different
    right = None
    if true is not None:
        others = pd.Series(true.dropna().unique())
        of_predictions = set(map(category_text, different))
        of_labels = set(map(category_text, others))
        _check_written_alike(of_predictions, of_labels)
        check_known_classes(different, true)
        if len(of_predictions | of_labels) > 2:
            right = _are_right(codes, different, true)
        known = classes_together(different, others)
    classes = classes_of(known, favourable)
    chosen = _chosen(classes, favourable, required=with_favourable or true is None)
    if true is not None and not chosen:
        right = _are_right(codes, different, true)
    labels, labelled = _labels(true, chosen, classes)
    return Predictions(
        kind="decisions",
        given=predicted.to_numpy(),
        given_truth=None if true is None else true.to_numpy(),
        decisions=_are_class(different, chosen)[codes],
        numbers=None,
        labels=labels,
        truth=None if labels is None else labels.astype(np.float64),
        labelled=labelled,
        weights=weights,
        right=right,
        favourable=joined_name(chosen),
        favourable_labels=chosen,
        other_labels=tuple(one for one in classes if one not in chosen),
        guess=_guess(classes, chosen) if favourable is None and chosen else None,
        threshold=None,
    )


def _chosen(classes: Sequence[str], favourable: Any, *, required: bool) -> tuple[str, ...]:
    """Return the favourable classes; none if none is named or clear, and none is required."""
    try:
        return favourable_classes(classes, favourable)
    except ParameterError:
        if required or favourable is not None:
            raise
        return ()


def _are_right(
    codes: NDArray[np.intp], different: pd.Series[Any], true: pd.Series[Any]
) -> NDArray[np.bool_]:
    """Return whether each prediction is the true label, shape (n,); False without a true label.

    `codes` say which of the `different` values each prediction is.
    """
    numbers = {category_text(value): number for number, value in enumerate(different)}
    true_codes, true_values = pd.factorize(true)
    same = np.array([numbers.get(category_text(value), -1) for value in true_values], dtype=np.intp)
    right: NDArray[np.bool_] = (same[true_codes] == codes) & (true_codes >= 0)
    return right


def _with_scores(classes: Predictions, scores: Floats) -> Predictions:
    """Return classes with the scores beside them, shape (n,); without, if these are no scores."""
    check_finite(bool(np.isfinite(scores).all()), where="y_pred")
    if scores.min() < 0 or scores.max() > 1:
        # As distances from a decision boundary.
        return classes
    return replace(classes, kind="scores", numbers=scores)


def _guess(classes: Sequence[str], chosen: Sequence[str]) -> str | None:
    """Return the note that says that the one class that was chosen is only a guess, if it is."""
    return guess_among([note_on_favourable(classes, chosen[0])])


def _check_written_alike(predicted: set[str], true: set[str]) -> None:
    """Refuse classes that never occur on both sides, such as 0 and 1 beside no and yes."""
    # Two classes in all, one on each side, are a model that is always wrong.
    if true and not predicted & true and len(predicted | true) > 2:
        raise DataError(
            f"no true label is the same as a prediction: the labels are {_first(true)}, the "
            f"predictions {_first(predicted)}",
            where="y_true",
            remedy="write the true labels as the predictions are written",
        )


def _first(classes: set[str]) -> str:
    return ", ".join(sorted(classes)[:8])


def _classes_of(true: pd.Series[Any], favourable: Any) -> list[str]:
    return classes_of(pd.Series(true.dropna().unique(), name=true.name), favourable)


def favourable_labels(true: pd.Series[Any] | None, favourable: Any) -> tuple[str, ...]:
    """Return the classes among the true labels of scores that count as favourable.

    Raises
    ------
    ParameterError
        If the labels are no classes, or which of them is favourable is not clear.

    Examples
    --------
    >>> favourable_labels(pd.Series(["bad", "good", None]), None)
    ('good',)
    """
    classes = ["no", "yes"] if true is None else _classes_of(true, favourable)
    return favourable_classes(classes, favourable)


def _are_class(values: pd.Series[Any], names: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the values that are one of the named classes, shape (values,)."""
    return np.array([category_text(value) in names for value in values], dtype=bool)


def _of_numbers(
    predicted: pd.Series[Any],
    true: pd.Series[Any] | None,
    *,
    kind: PredictionKind,
    weights: Floats | None,
    favourable: Any,
    threshold: float | None,
    named: tuple[str, ...] | None = None,
) -> Predictions:
    """Return predictions that are scores or numbers, with decisions if there is a threshold.

    Labels of scores are classes; those of numbers are numbers, above the threshold or not. `named`:
    the favourable labels of scores, if they need not be found.
    """
    numbers = predicted.to_numpy(dtype=np.float64)
    limit = limit_of(kind, threshold)
    decisions = None if limit is None else numbers > limit_among(predicted, limit)
    labels = truth = labelled = guess = None
    names: tuple[str, ...] = ()
    if kind == "scores":
        names = favourable_labels(true, favourable) if named is None else named
        classes = [] if true is None else _classes_of(true, favourable)
        labels, labelled = _labels(true, names, classes)
        if favourable is None and true is not None:
            guess = _guess(classes, names)
        truth = None if labels is None else labels.astype(np.float64)
        by_custom = len(names) == 1 and is_favourable_by_name(classes, names[0])
        if favourable is not None and not by_custom and labels is not None and labelled is not None:
            _check_scores_meant(decisions, labels, labelled, joined_name(names))
    elif true is not None:
        truth = _true_numbers(true)
        labelled = np.isfinite(truth)
        truth = np.where(labelled, truth, 0.0)
        labels = None if limit is None else truth > limit_among(true, limit)
    return Predictions(
        kind=kind,
        given=predicted.to_numpy(),
        given_truth=None if true is None else true.to_numpy(),
        decisions=decisions,
        numbers=numbers,
        labels=labels,
        truth=truth,
        labelled=labelled,
        weights=weights,
        favourable=joined_name(names),
        favourable_labels=names,
        guess=guess,
        threshold=limit,
    )


def limit_among(numbers: pd.Series[Any], limit: float) -> float:
    """Return a limit as a column of numbers holds it; see :func:`threshold_of_type`."""
    # That of the cells, as of Float32 of pandas.
    dtype = getattr(numbers.dtype, "numpy_dtype", numbers.dtype)
    return threshold_of_type(limit, dtype)


def _check_scores_meant(
    decisions: NDArray[np.bool_] | None,
    labels: NDArray[np.bool_],
    labelled: NDArray[np.bool_],
    favourable: str,
) -> None:
    """Check that scores are not of another class than the favourable one that was named."""
    if decisions is None:
        return
    opposed = opposed_rates(decisions[labelled], labels[labelled])
    if opposed is None:
        return
    rate, rate_of_others = opposed
    raise ParameterError(
        f"the scores give {favourable!r} to {rate:.1%} of the rows with that label and to "
        f"{rate_of_others:.1%} of the others, so they may be of another class",
        where="favourable",
        remedy="name the class that the scores are of (favourable=, --favorable), turn them round "
        "(1 - score), or give the predicted classes in their place",
        favourable=favourable,
    )


def _labels(
    true: pd.Series[Any] | None, favourable: Sequence[str], classes: Sequence[str]
) -> tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None]:
    """Return whether true labels are the favourable one, and where they are known.

    No label need be the favourable one if all are among the `classes`.
    """
    if true is None:
        return None, None
    codes, values = pd.factorize(true)
    favoured = _are_class(pd.Series(values), favourable)
    seen = set(map(category_text, values))
    if not favoured.any() and not (seen and seen <= set(classes)):
        raise DataError(
            f"the favourable label {joined_name(favourable)!r} is not among the true labels "
            f"{_first(seen) or 'none'}",
            where="y_true",
            remedy="write the true labels as the predictions are written",
        )
    labelled = codes >= 0
    return favoured[codes] & labelled, labelled
