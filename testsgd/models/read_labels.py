"""Whether a model's labels were read as the labels of the data that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Label, category_text
from testsgd.data.categories import equal_labels
from testsgd.data.classes import is_favourable_by_name
from testsgd.errors import ModelError
from testsgd.models.checked_function import CheckedFunction

# Chance hardly ever comes this many standard deviations below no association (1 in 2,000).
_RARE = 3.3


def opposed_rates(
    decisions: NDArray[np.bool_], favourable: NDArray[np.bool_]
) -> tuple[float, float] | None:
    """Return the selection rates by true label, if decisions seem to mean the other label.

    Parameters
    ----------
    decisions : numpy.ndarray of bool, shape (n,)
        Whether each row got the favourable label.
    favourable : numpy.ndarray of bool, shape (n,)
        Whether it is the row's true label.

    Returns
    -------
    tuple of two floats, or None
        The rate of rows with the favourable label, and of the others, where the first is less by
        more than chance explains; else None.

    Examples
    --------
    >>> labels = np.array([True, False] * 50)
    >>> opposed_rates(~labels, labels), opposed_rates(labels, labels)
    ((0.0, 1.0), None)
    """
    count = int(favourable.sum())
    count_of_others = len(favourable) - count
    if count == 0 or count_of_others == 0:
        return None
    rate = float(decisions[favourable].mean())
    rate_of_others = float(decisions[~favourable].mean())
    overall = decisions.mean()
    spread = overall * (1 - overall) * (1 / count + 1 / count_of_others)
    if rate - rate_of_others >= -_RARE * np.sqrt(spread):
        return None
    return rate, rate_of_others


def check_reading(
    model: Any,
    decisions: NDArray[np.bool_],
    labels: pd.Series[Any] | NDArray[Any] | None,
    label: Label,
) -> None:
    """Check that scores, and codes such as 0 and 1 read by the order of labels, are read rightly.

    Parameters
    ----------
    model : Model
        A model that was asked.
    decisions : numpy.ndarray of bool, shape (n,)
        Whether each of the first n rows or texts got the favourable label.
    labels : pandas.Series or numpy.ndarray, optional
        The true labels, of these and perhaps of more.
    label : Label
        Which of them is favourable, and what codes stand for.

    Raises
    ------
    ModelError
        If rows with the favourable label get it less often than others, by more than chance
        explains: then 1, or a high score, may well be of the other label. Where the description's
        ``label.map`` says what codes are, it is believed, and 1 is never the label False. Scores
        are of a label such as ``yes`` or 1 by custom, and are not checked if it is the favourable.
    """
    if labels is None or not isinstance(model, CheckedFunction):
        return
    if label.values is None:
        # The description lists no labels: the data have them.
        known_labels = pd.Series(labels).dropna().unique()
        model.check_codes([category_text(value) for value in known_labels])
    scores = model.output == "scores"
    if not scores and (not model.read_as or label.map or equal_labels(model.read_as.values())):
        return
    if scores and is_favourable_by_name(label.values or (), label.favourable):
        # Scores are of such a label by custom: the model is only a poor one.
        return
    true = pd.Series(labels).iloc[: len(decisions)]
    known = true.notna().to_numpy()
    favourable = (true == label.favourable).to_numpy() & known
    opposed = opposed_rates(decisions[known], favourable[known])
    if opposed is None:
        return
    rate, rate_of_others = opposed
    if scores:
        answers = "its scores"
        remedy = (
            "name the label that the scores are of with --favorable (favourable=), or let the "
            "model return the labels themselves"
        )
    else:
        read = " and ".join(f"{code} as {word!r}" for code, word in model.read_as.items())
        answers = f"its answers {read}, by the order of the labels,"
        remedy = (
            "say in the label.map of a description (testsgd init writes one) which label each "
            "number stands for"
        )
    raise ModelError(
        f"{answers} give {label.favourable!r} to {rate:.1%} of {favourable.sum():,} {model.unit}s "
        f"with that label and to {rate_of_others:.1%} of the others, so they may mean the opposite",
        where=f"model {model.name!r}",
        remedy=remedy,
        model=model.name,
    )
