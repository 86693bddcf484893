"""The rules that say what predictions are, whether they are here or stay in an engine."""

from __future__ import annotations

import math

from testsgd.errors import DataError, ParameterError
from testsgd.metrics.definitions import PredictionKind
from testsgd.report.formatting import plural

# Whole numbers of more different values are numbers, not classes.
_MOST_CLASSES = 20


def check_finite(finite: bool, *, where: str) -> None:
    """Refuse predictions of which some are infinite.

    Examples
    --------
    >>> check_finite(True, where="y_pred")
    """
    if not finite:
        raise DataError(
            "a prediction is infinite", where=where, remedy="give finite numbers or classes"
        )


def check_true_finite(infinite: int, *, where: str) -> None:
    """Refuse true values of which some are infinite: no error has a size there.

    Examples
    --------
    >>> check_true_finite(0, where="y_true")
    """
    if infinite:
        raise DataError(
            f"{plural(infinite, 'true value')} {'is' if infinite == 1 else 'are'} infinite",
            where=where,
            remedy="give finite numbers, or leave a value out that is not known",
            infinite=infinite,
        )


def kind_of_whole_numbers(different: int) -> PredictionKind:
    """Return whether predictions that are all whole numbers are classes, by how many values.

    Examples
    --------
    >>> kind_of_whole_numbers(2), kind_of_whole_numbers(80)
    ('decisions', 'numbers')
    """
    return "decisions" if different <= _MOST_CLASSES else "numbers"


def kind_of_decimals(least: float, most: float, *, decimal_labels: bool) -> PredictionKind:
    """Return whether predictions that are not all whole are scores, by the least and the most.

    Examples
    --------
    >>> kind_of_decimals(0.1, 0.9, decimal_labels=False)
    'scores'
    """
    # Labels that are no classes say that the predictions are no scores of one.
    return "scores" if least >= 0 and most <= 1 and not decimal_labels else "numbers"


def limit_of(kind: PredictionKind, threshold: float | None) -> float | None:
    """Return the number above which a score or number counts as favourable.

    Raises
    ------
    ParameterError
        If it is no finite number, or outside of 0 to 1 where the predictions are scores.

    Examples
    --------
    >>> limit_of("scores", None), limit_of("numbers", None), limit_of("numbers", 3.0)
    (0.5, None, 3.0)
    """
    if threshold is None:
        return 0.5 if kind == "scores" else None
    if not math.isfinite(threshold):
        raise ParameterError(
            f"the threshold {threshold:g} is no finite number",
            where="threshold",
            remedy="give a number such as 0.5",
            threshold=threshold,
        )
    if kind == "scores" and not 0 <= threshold <= 1:
        raise ParameterError(
            f"the threshold {threshold:g} is outside of 0 to 1, where all scores lie",
            where="threshold",
            remedy="give a number from 0 to 1, such as 0.5",
            threshold=threshold,
        )
    return threshold


def no_true_numbers(where: str) -> DataError:
    """Return the error of true labels that are no numbers while the predictions are."""
    return DataError(
        "the true values are no numbers, and the predictions are",
        where=where,
        remedy="give the true numbers",
    )
