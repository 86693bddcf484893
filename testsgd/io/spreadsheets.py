"""CSV that people open in a spreadsheet: no cell of text is taken for a formula there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testsgd.errors import printable

if TYPE_CHECKING:
    import pandas as pd

# What begins a formula; a tab or a line end before it does not help.
_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which no text begins as a formula of a spreadsheet does.

    A value or the name of a column comes from the data, and data may come from somebody who wants
    a formula to run. Such a cell is given an apostrophe in front, by which spreadsheets know text.

    Parameters
    ----------
    frame : pandas.DataFrame
        A report's table. Numbers stay numbers, also negative ones.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.io import without_formulas
    >>> without_formulas(pd.DataFrame({"group": ["=1+1", "a = 1"], "rate": [-0.5, 0.5]}))
        group  rate
    0  '=1+1  -0.5
    1   a = 1   0.5
    """
    safe = frame.copy()
    for name in frame.columns:
        if frame[name].map(lambda cell: isinstance(cell, str)).any():
            safe[name] = frame[name].map(_plain)
    return safe.rename(columns=_plain)


def without_controls(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in whose texts nothing can steer a terminal that shows them.

    Parameters
    ----------
    frame : pandas.DataFrame
        A report's table.

    Returns
    -------
    pandas.DataFrame
        Its texts, and its columns' names, as :func:`testsgd.errors.printable` returns them.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.io import without_controls
    >>> bool(without_controls(pd.DataFrame({"group": [chr(27)]})).iloc[0, 0].isprintable())
    True
    """
    safe = frame.copy()
    for name in frame.columns:
        if frame[name].map(lambda cell: isinstance(cell, str)).any():
            safe[name] = frame[name].map(_steering_nothing)
    return safe.rename(columns=_steering_nothing)


def _steering_nothing(cell: object) -> object:
    return printable(cell) if isinstance(cell, str) else cell


def _plain(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINNINGS) else cell
