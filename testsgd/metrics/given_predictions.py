"""Predictions that a user gives, read as classes, scores or numbers, with labels and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
from testsgd.metrics.definitions import Floats, PredictionKind
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.rules_of_kinds import (
    check_finite,
    check_true_finite,
    kind_of_decimals,
    kind_of_whole_numbers,
    limit_of,
    no_true_numbers,
)
from testsgd.models.answers import no_scores_given, threshold_of_type
from testsgd.models.read_labels import opposed_rates
from testsgd.report.formatting import plural


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


def _note_on_codes(truth: Floats, *, called: str) -> str | None:
    """Return the note on true values that may stand for missing ones, None if none may.

    `called`: their name; shape of `truth` (n,), NaN where one is missing.
    """
    from testsgd.data.column_notes import note_on_missing_codes
    from testsgd.data.missing_codes import missing_codes

    found = missing_codes(pd.Series(truth))
    return None if found is None else note_on_missing_codes({called: found})


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
    labels = truth = labelled = guess = codes = None
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
        codes = _note_on_codes(truth, called=str(true.name or "y_true"))
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
        codes=codes,
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
