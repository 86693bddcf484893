"""Rows as users give them to a call without a description, and their sensitive features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.auditing.predictions import frame_of
from testsgd.auditing.values import check_same_order
from testsgd.data import (
    as_pandas,
    check_row_order,
    fetched,
    read_frame,
)
from testsgd.data.cells import check_distinct_names, check_one_level
from testsgd.data.frames import MISSING_TEXTS, is_typed_file
from testsgd.errors import DataError
from testsgd.models import (
    OpenedModel,
    adapted,
    open_model,
)
from testsgd.models.blackbox import may_have_encoders, named_columns


def rows_of(data: Any) -> pd.DataFrame:
    """Return the rows that a model is asked about, with names of text.

    Parameters
    ----------
    data : data frame, lazy frame or relation, n rows

    Returns
    -------
    data frame, n rows

    Raises
    ------
    DataError
        If they are no columns with names, or with names of several levels, or there are no rows, or
        two columns have one name.

    Examples
    --------
    >>> rows_of(pd.DataFrame({0: [30]})).columns.tolist()
    ['0']
    """
    rows = as_pandas(fetched(data), where="data")
    if rows is None:
        raise DataError(
            f"the rows are a {type(data).__name__}, not a data frame",
            where="data",
            remedy="give a pandas, polars or Arrow table, a relation of DuckDB, with named columns",
        )
    if rows.empty:
        raise DataError("there are no rows", where="data", remedy="give a table with rows")
    check_one_level(rows, where="data")
    named = rows.rename(columns=str)
    check_distinct_names(named.columns, where="data")
    return named


def names_for_model(model: Any, data: Any) -> dict[str, Any]:
    """Return the names of columns that are no texts, by the texts that stand for them in reports.

    A function or an estimator is asked with the names that the rows were given with.

    Parameters
    ----------
    model : object
        What the user gave as the model. One that is opened or adapted takes texts.
    data : object
        The rows, as they were given.

    Returns
    -------
    dict of str to object

    Examples
    --------
    >>> names_for_model(len, pd.DataFrame({0: [30], "age": [40]}))
    {'0': 0}
    """
    if isinstance(model, (str, Path)) or not isinstance(data, pd.DataFrame):
        return {}
    if adapted(model) is not model:
        return {}
    return {str(name): name for name in data.columns if not isinstance(name, str)}


def with_known_cells(
    frame: pd.DataFrame,
    path: Path,
    model: Any,
    *,
    answers: Sequence[str],
    encoding: str | None,
    trust_pickle: bool,
) -> tuple[pd.DataFrame, Any]:
    """Return the rows of a file with the cells that a model's encoders know, and the model, opened.

    A file of text is read without blanks at the ends of cells, and with missing cells where a mark
    such as ``?`` stands. A model of scikit-learn may have been fitted to the cells as they are.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows as :func:`testsgd.data.read_frame` reads them.
    path : pathlib.Path
        The file.
    model : object
        As for :func:`testsgd.audit`.
    answers : sequence of str
        Columns that are not for the model, such as that of the labels.
    encoding : str or None
        As for :func:`testsgd.data.read_frame`.
    trust_pickle : bool
        As for :func:`testsgd.audit`.

    Returns
    -------
    frame : pandas.DataFrame
        With other cells only in columns that an encoder takes.
    model : object
        The model that was given, or what it was opened as, which is not to be opened twice.

    Raises
    ------
    ModelError
        If the model is a file that cannot be read, or is not to be read without `trust_pickle`.
    DataError
        If the rows cannot be read again.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> jobs = pd.DataFrame({"job": ["clerk", "nurse "]})
    >>> model = make_pipeline(OneHotEncoder(), DecisionTreeClassifier()).fit(jobs, [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "jobs.csv"
    ...     jobs.to_csv(path, index=False)
    ...     read = read_frame(path)
    ...     known, _ = with_known_cells(
    ...         read, path, model, answers=[], encoding=None, trust_pickle=False)
    >>> read["job"].tolist(), known["job"].tolist()
    (['clerk', 'nurse'], ['clerk', 'nurse '])
    """
    if is_typed_file(path):
        return frame, model
    if isinstance(model, (str, Path)):
        opened = open_model(model, trust_pickle=trust_pickle)
        if opened is not None:
            name = opened.name if opened.file is None else str(model)
            model = replace(opened, name=name)
    estimator = model.model if isinstance(model, OpenedModel) else model
    if not may_have_encoders(estimator):
        return frame, model
    # Imported here: most models are not of scikit-learn.
    from testsgd.data.known_cells import is_read_otherwise
    from testsgd.models.known_categories import known_categories, unknown_cells

    given = [name for name in frame.columns if name not in answers]
    known = known_categories(estimator, named_columns(estimator, given) or given)
    known = {name: categories for name, categories in known.items() if name in given}
    are_read_otherwise = any(
        is_read_otherwise(category, missing=MISSING_TEXTS)
        for categories in known.values()
        for category in categories
    )
    if are_read_otherwise or unknown_cells(frame, known):
        frame = read_frame(path, encoding=encoding, known=known)
    return frame, model


def with_sensitive(
    given_rows: pd.DataFrame, sensitive_features: Any
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the rows with all sensitive features, and the names of these.

    Parameters
    ----------
    given_rows : data frame, n rows
        What the model takes, perhaps with sensitive features among its columns.
    sensitive_features : str, sequence of str, or data frame, series or mapping of n rows
        Names of columns, or columns that the model does not take.

    Returns
    -------
    rows : data frame, n rows
        The given rows, and behind them the sensitive features that are no columns of theirs.
    names : tuple of str
        The sensitive features. Names are not looked up among the columns here.

    Raises
    ------
    DataError
        If columns are given, and they are no columns with names, have no fixed order, have another
        number or another order of rows, or one has the name of a given column and other values.

    Examples
    --------
    >>> people = pd.DataFrame({"income": [100, 200]})
    >>> rows, names = with_sensitive(people, pd.DataFrame({"sex": ["f", "m"]}))
    >>> rows.columns.tolist(), names
    (['income', 'sex'], ('sex',))
    >>> with_sensitive(people, "income")[1]
    ('income',)
    """
    if isinstance(sensitive_features, str):
        return given_rows, (sensitive_features,)
    if isinstance(sensitive_features, Sequence):
        return given_rows, tuple(str(column) for column in sensitive_features)
    check_row_order(sensitive_features, where="sensitive_features", of_model=True)
    beside = frame_of(sensitive_features, "sensitive_features")
    if len(beside) != len(given_rows):
        raise DataError(
            f"there are {len(beside):,} rows of sensitive features and {len(given_rows):,} others",
            where="sensitive_features",
            remedy="give one for each row",
        )
    check_same_order({"data": given_rows, "sensitive_features": sensitive_features})
    beside.index = given_rows.index
    for column in beside.columns.intersection(given_rows.columns):
        # A category may be of another type in the two.
        if not beside[column].astype(object).equals(given_rows[column].astype(object)):
            raise DataError(
                f"the column {column!r} is among the rows, too, with other values",
                where="sensitive_features",
                remedy=f"rename it, such as to {column + '_given'!r}, or name that of the rows",
                column=column,
            )
    additional = beside.drop(columns=given_rows.columns, errors="ignore")
    return pd.concat([given_rows, additional], axis=1), tuple(beside.columns)
