"""Columns of the rows that hold the true label or the decisions: they are no features."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import Table, category_text
from testsgd.data.categories import ZERO_ONE, equal_labels
from testsgd.errors import ParameterError
from testsgd.models import PROBE_ROWS, CallableModel, Model

# In fewer rows a column may be equal to the answers by chance.
_FEWEST_ROWS = 20

# Why such a column is no feature, as a report says it.
IS_LABEL = "equal to the true label"
IS_PREDICTION = "equal to the predictions"
IS_DECISION = "equal to the decisions of the model"


def columns_of_values(
    frame: pd.DataFrame, values: Any, *, but: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the columns that hold given labels or predictions, by their values or their name.

    Parameters
    ----------
    frame : data frame, n rows
        The rows.
    values : pandas.Series or None, shape (n,)
        The labels or predictions. A column of their name may have other words for them.
    but : collection of str
        Columns that are not looked at.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> people = pd.DataFrame({"age": [30, 40, 50], "paid": [1, 0, 1]})
    >>> columns_of_values(people, pd.Series(["yes", "no", "yes"], name="paid"))
    ('paid',)
    """
    if values is None or len(values) != len(frame):
        return ()
    codes, distinct = pd.factorize(values)
    found: list[str] = []
    for column in frame.columns:
        named = values.name is not None and str(column) == str(values.name)
        if column in but or not (named or len(frame) >= _FEWEST_ROWS):
            continue
        pairs = _paired_values(frame[column], codes, len(distinct))
        if pairs is None:
            continue
        texts = [category_text(value) for value in pairs]
        same = equal_labels(list(map(category_text, distinct)))
        equal = all(
            same.get(text, text) == category_text(value)
            for text, value in zip(texts, distinct, strict=True)
        )
        if named or equal:
            found.append(str(column))
    return tuple(found)


def _paired_values(column: pd.Series[Any], codes: NDArray[np.intp], count: int) -> Any:
    """Return the one value of a column that goes with each of `count` codes; None if there is none.

    `codes`, shape (n,), are -1 where the other value is missing, and so must the column's be.
    """
    try:
        # The first rows tell of nearly every column that it is another.
        first, _ = pd.factorize(column.iloc[:PROBE_ROWS])
        if not np.array_equal(first, codes[:PROBE_ROWS]):
            return None
        own, distinct = pd.factorize(column)
    except TypeError:
        # Cells that are lists or the like.
        return None
    if count < 2 or len(distinct) != count or not np.array_equal(own < 0, codes < 0):
        return None
    # The codes of both are in the order in which the values come.
    return distinct if np.array_equal(own, codes) else None


def columns_of_decisions(
    frame: pd.DataFrame,
    decisions: NDArray[np.bool_],
    *,
    favourable: Collection[str],
    others: Collection[str],
    but: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the columns that hold what a model decides, as its labels or as 0 and 1.

    Parameters
    ----------
    frame : data frame, n rows
        The rows.
    decisions : numpy.ndarray of bool, shape (n,)
        Whether each row gets a favourable label.
    favourable, others : collection of str
        The favourable labels, and all others.
    but : collection of str
        Columns that are not looked at.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> people = pd.DataFrame({"age": range(20), "granted": [0, 1] * 10})
    >>> columns_of_decisions(
    ...     people, people["granted"].to_numpy() == 1, favourable=["yes"], others=["no"])
    ('granted',)
    """
    if len(frame) < _FEWEST_ROWS or decisions.all() or not decisions.any():
        return ()
    same = equal_labels([*favourable, *others])
    found: list[str] = []
    for column in (item for item in frame.columns if item not in but):
        cells = frame[column]
        values = may_be_decisions(cells, favourable=favourable, others=others)
        if values is None:
            continue
        texts = [same.get(text, text) for text in map(category_text, values)]
        known = set(texts) <= {*favourable, *others}
        wanted = favourable if known else [ones for _, ones in ZERO_ONE]
        chosen = [value for value, text in zip(values, texts, strict=True) if text in wanted]
        if np.array_equal(cells.isin(chosen).to_numpy(), decisions):
            found.append(str(column))
    return tuple(found)


def may_be_decisions(
    cells: pd.Series[Any], *, favourable: Collection[str], others: Collection[str]
) -> list[Any] | None:
    """Return the values of a column that may hold a model's decisions; None of any other.

    Parameters
    ----------
    cells : pandas.Series
        The column.
    favourable, others : collection of str
        The favourable labels, and all others.

    Returns
    -------
    list or None

    Examples
    --------
    >>> may_be_decisions(pd.Series(["no", "yes"]), favourable=["yes"], others=["no"])
    ['no', 'yes']
    >>> may_be_decisions(pd.Series([20, 30]), favourable=["yes"], others=["no"])
    """
    most = max(2, len(favourable) + len(others))
    try:
        if len(cells.iloc[:PROBE_ROWS].unique()) > most:
            return None
        different = list(cells.unique())
    except TypeError:
        return None
    if not 2 <= len(different) <= most:
        return None
    texts = set(map(category_text, different))
    if texts <= {*favourable, *others} or any(texts == set(pair) for pair in ZERO_ONE):
        return different
    return None


def spread_positions(rows: int, wanted: int, max_queries: int | None = None) -> NDArray[np.intp]:
    """Return the positions of the rows that a model is asked about to learn what the columns are.

    Parameters
    ----------
    rows : int
        How many there are.
    wanted : int
        How many are to be asked about, if the budget is enough.
    max_queries : int, optional
        The budget of the audit. If it is not enough for all rows and the check whether the model
        answers alike, no more than a quarter of it is spent here.

    Returns
    -------
    numpy.ndarray of int
        Positions in ascending order, spread over all rows: a file may be sorted.

    Examples
    --------
    >>> spread_positions(9, 3).tolist()
    [0, 4, 8]
    >>> spread_positions(9, 9, max_queries=12).tolist()
    [0, 4, 8]
    """
    wanted = min(wanted, rows)
    if max_queries is not None and max_queries < rows + min(PROBE_ROWS, rows):
        wanted = max(1, min(wanted, max_queries // 4))
    return np.unique(np.linspace(0, rows - 1, wanted).astype(np.intp))


def decided_columns(
    model: Model,
    table: Table,
    answers: NDArray[np.int8],
    batch_size: int | None = None,
    max_queries: int | None = None,
) -> tuple[tuple[str, ...], int]:
    """Return the features that are equal to a model's decisions; it is asked about some rows.

    It is asked only if a feature has the values of labels, as few have.

    Parameters
    ----------
    model : Model
        The model.
    table : Table
        The rows.
    answers : numpy.ndarray of int, shape (n,)
        What it answered about each row before, as :meth:`Table.answered_by` returns it. Rows with
        an answer are not asked about again; the answers about others are written into it.
    batch_size : int, optional
        The most rows in one call.
    max_queries : int, optional
        The budget of the audit.

    Returns
    -------
    columns : tuple of str
        None of them is a sensitive feature.
    asked : int
        How many rows the model was asked about.

    Raises
    ------
    ModelError
        If the model fails, or its answers are none.
    """
    # A network of testsgd's own has the columns that it was trained with.
    if not isinstance(model, CallableModel):
        return (), 0
    label = table.specification.label
    favourable = [label.favourable, *label.together]
    possible = [
        column
        for column in table.specification.insensitive
        if may_be_decisions(table.frame[column], favourable=favourable, others=label.others)
    ]
    if not possible:
        return (), 0
    answered = answers >= 0
    if answered.any() and not answered.all():
        positions = np.flatnonzero(answered)
    else:
        positions = spread_positions(len(table), PROBE_ROWS, max_queries)
    if len(positions) < _FEWEST_ROWS:
        return (), 0
    asked = positions[answers[positions] < 0]
    model.batch_size = batch_size
    answers[asked] = model.decisions(table.frame.iloc[asked])
    columns = columns_of_decisions(
        table.frame.iloc[positions][possible],
        answers[positions] == 1,
        favourable=favourable,
        others=label.others,
    )
    return columns, len(asked)


def check_no_answers(sensitive: pd.DataFrame, answers: Mapping[str, Any]) -> None:
    """Refuse a sensitive feature that is the column of the predictions or of the true labels.

    Parameters
    ----------
    sensitive : data frame, n rows
        The sensitive features.
    answers : mapping of str to pandas.Series or None
        Predictions and labels by the parameter that they were given as. Only one that has the name
        of a feature is compared with it: people with one value may all be decided alike.

    Raises
    ------
    ParameterError
        If a feature has the name of one of them, and a value of its own for each of its values.

    Examples
    --------
    >>> people = pd.DataFrame({"sex": ["f", "m"], "paid": [1, 0]})
    >>> check_no_answers(people, {"y_pred": pd.Series([0, 1], name="granted")})
    >>> check_no_answers(people, {"y_pred": people["paid"]})
    Traceback (most recent call last):
    ...
    testsgd.errors.ParameterError: sensitive_features: the column 'paid' is that of y_pred, and ...
    """
    for where, values in answers.items():
        name = str(getattr(values, "name", None) or "")
        if name in sensitive and columns_of_values(sensitive[[name]], values):
            raise ParameterError(
                f"the column {name!r} is that of {where}, and no sensitive feature",
                where="sensitive_features",
                remedy="leave it out",
                column=name,
            )
