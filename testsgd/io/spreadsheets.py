"""CSV that people open in a spreadsheet: no cell of text is taken for a formula there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testsgd.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

# What begins a formula; a tab or a line end before it does not help.
_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_of(frame: pd.DataFrame, *, header: bool = True, index_label: str | None = None) -> str:
    r"""Return a table as CSV text in which nothing is a formula, and nothing steers a terminal.

    All CSV that testsgd writes for people is made here.

    Parameters
    ----------
    frame : pandas.DataFrame
        A table, or a piece of one.
    header : bool, default=True
        Whether the first line has the names of the columns.
    index_label : str, optional
        Write the names of the rows too, in a first column of this name.

    Returns
    -------
    str
        Texts as :func:`without_formulas` and :func:`without_controls` return them.

    Examples
    --------
    >>> import pandas as pd
    >>> from testsgd.io import csv_of
    >>> csv_of(pd.DataFrame({"group": ["=1+1", "b"], "rate": [-0.5, 0.5]}))
    "group,rate\n'=1+1,-0.5\nb,0.5\n"
    """
    if index_label is not None:
        # As a column, so that the names of rows are looked at as all else.
        frame = frame.copy()
        frame.insert(0, index_label, frame.index, allow_duplicates=True)
    safe = without_controls(without_formulas(frame))
    text: str = safe.to_csv(index=False, header=header, lineterminator="\n")
    return text


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
    return _with_texts(frame, _plain)


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
    return _with_texts(frame, _steering_nothing)


def _with_texts(frame: pd.DataFrame, change: Callable[[object], object]) -> pd.DataFrame:
    """Return a table with its texts, and its columns' names, changed; columns of numbers stay."""
    safe = frame.copy()
    # By place, as two columns may have one name.
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if column.map(lambda cell: isinstance(cell, str)).any():
            safe.isetitem(place, column.astype(object).map(change).to_numpy())
    return safe.rename(columns=change)


def _steering_nothing(cell: object) -> object:
    return printable(cell) if isinstance(cell, str) else cell


def _plain(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_BEGINNINGS) else cell
