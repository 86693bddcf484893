"""Columns that a user names for a use: predictions, labels, weights, sensitive features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from testsgd.data.cells import as_pandas, shown_columns
from testsgd.errors import ParameterError


def check_columns(
    frame: pd.DataFrame, named: Mapping[str, str | None], sensitive_features: Sequence[str]
) -> None:
    """Raise an error if a file's rows lack a column that a user names.

    Parameters
    ----------
    frame : data frame
        The rows of the file.
    named : mapping of str to str or None
        Columns by what they are for, such as ``{"predictions": "approved"}``; None for a column
        that the user did not name.
    sensitive_features : sequence of str
        The columns that are sensitive features.

    Raises
    ------
    ParameterError
        If there is no such column, or one is named for two uses.

    Examples
    --------
    >>> check_columns(pd.DataFrame({"sex": ["f"]}), {"label": None}, ["sex"])
    """
    check_one_use(named)
    wanted = [(what, column) for what, column in named.items() if column is not None]
    wanted += [("sensitive", column) for column in sensitive_features]
    for what, column in wanted:
        if column not in frame:
            raise ParameterError(
                f"the file has no column {column!r}",
                where=what,
                remedy=f"the columns are {shown_columns(frame.columns)}",
                column=column,
            )


def check_one_use(named: Mapping[str, str | None]) -> None:
    """Raise an error if a column is named for two uses, such as predictions and true labels.

    Parameters
    ----------
    named : mapping of str to str or None
        Columns by what they are for, such as ``{"predictions": "approved"}``.

    Raises
    ------
    ParameterError
        If a column is named twice.

    Examples
    --------
    >>> check_one_use({"predictions": "approved", "label": "repaid", "weights": None})
    """
    first: dict[str, str] = {}
    for what, column in named.items():
        if column is None:
            continue
        if column in first:
            raise ParameterError(
                f"the column {column!r} cannot be both that of the {first[column]} and that of the "
                f"{what}",
                where=what,
                remedy="name another column, or leave one of the two out",
                column=column,
            )
        first[column] = what


def check_not_sensitive(named: Mapping[str, str | None], sensitive_features: Sequence[str]) -> None:
    """Raise an error if a column of predictions, labels or weights is to be a sensitive feature.

    Parameters
    ----------
    named : mapping of str to str or None
        Columns by what they are for, such as ``{"predictions": "approved"}``.
    sensitive_features : sequence of str
        The columns that are sensitive features.

    Raises
    ------
    ParameterError
        If a column is both.

    Examples
    --------
    >>> check_not_sensitive({"predictions": "approved", "label": None}, ["sex"])
    """
    for what, column in named.items():
        if column is not None and column in sensitive_features:
            raise ParameterError(
                f"the column {column!r} is that of the {what}, and no sensitive feature",
                where="sensitive",
                remedy="leave it out",
                column=column,
            )


def no_sensitive_feature(frame: pd.DataFrame, named: Mapping[str, str | None]) -> ParameterError:
    """Return the error of a file of which no sensitive feature is named.

    Parameters
    ----------
    frame : data frame
        The rows of the file.
    named : mapping of str to str or None
        Columns by what they are for, such as ``{"predictions": "approved"}``. They are no sensitive
        features, so the remedy leaves them out.

    Returns
    -------
    ParameterError
        Its remedy lists up to 20 of the other columns. It is not raised here.

    Examples
    --------
    >>> rows = pd.DataFrame({"sex": ["f"], "age": [30], "approved": ["yes"]})
    >>> print(no_sensitive_feature(rows, {"predictions": "approved"}))
    sensitive: no sensitive feature is named; name some of the columns sex, age
    """
    others = [str(column) for column in frame.columns if column not in named.values()]
    return ParameterError(
        "no sensitive feature is named",
        where="sensitive",
        remedy=f"name some of the columns {', '.join(others[:20])}",
    )


def unnamed_sensitive_features(data: Any, meant: Sequence[Any] = ()) -> ParameterError:
    """Return the error of a call that names no sensitive features, with an example of them.

    Parameters
    ----------
    data : Any
        The rows, of any kind.
    meant : sequence, optional
        The features that a keyword of another name has.

    Returns
    -------
    ParameterError
        Its remedy lists the columns, if the rows have names of columns. It is not raised here.

    Examples
    --------
    >>> print(unnamed_sensitive_features(pd.DataFrame({"gender": ["f"], "pay": [30]})).remedy)
    write sensitive_features=['gender']; the columns are gender, pay
    """
    # Imported here: only this error needs it.
    from testsgd.data.inference import sensitive_by_name

    known = as_pandas(data)
    names = [] if known is None else list(map(str, known.columns))
    columns = f"; the columns are {', '.join(names)}" if names else ""
    example = list(meant) or sensitive_by_name(names) or ["sex", "age"]
    return ParameterError(
        "it is not said which features are sensitive",
        where="sensitive_features",
        remedy=f"write sensitive_features={example!r}{columns}",
    )
