"""CSV that people open in a spreadsheet: no cell of text is taken for a formula there."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def _plain(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINNINGS) else cell
