"""What the texts of cells say: numbers, as files write them, booleans, and texts to rename."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

PLAIN_NUMBER = r"\s*-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*"
WHOLE_NUMBER = r"-?(0|[1-9][0-9]*)"
# As 57,5 and 1.234,50 are written beside 58 and 1.234.
DECIMAL_COMMA = (
    r"-?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]+)?|-?[0-9],[0-9]+[eE][+-]?[0-9]+"
)
# Such a comma may be either.
OF_THOUSANDS = r"-?[1-9][0-9]{0,2},[0-9]{3}"
# It may be a list of codes, too, if the second number is the larger one.
LIST_OF_TWO = r"([0-9]+),([1-9][0-9]*)"
# The texts of a file that are read as booleans.
_BOOLEANS = {"False": False, "True": True, "false": False, "true": True}
# Thousands in groups of three, behind a sign or a currency.
_FORMATTED_NUMBER = r"\s*-?[$€£¥]?\s?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(,[0-9]{3})+)(\.[0-9]+)?\s*"


def renamed(texts: pd.Series[Any], names: Mapping[str, str]) -> pd.Series[Any]:
    """Replace texts that a description renames; the others, and missing cells, stay."""
    return texts.map(names, na_action="ignore").where(texts.isin(names), texts)


def parsed_numbers(texts: pd.Series[Any]) -> pd.Series[float]:
    """Read texts as numbers, NaN where there is none.

    Python rounds to the nearest number; some versions of pandas miss it by a digit in the last
    place, and 0.3 must lie in the bin that begins at 0.3.
    """
    codes, uniques = pd.factorize(texts)
    numbers = np.array([*(_number(text) for text in uniques), np.nan])
    return pd.Series(numbers[codes], index=texts.index)


def plain_cells(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as numbers if all of its cells are plain numbers, as it is if not.

    Nothing that a number would lose is taken for one: ``007`` stays a text.
    """
    distinct = [str(text) for text in texts.dropna().unique()]
    if not distinct or not all(re.fullmatch(PLAIN_NUMBER, text) for text in distinct):
        return texts
    numbers = parsed_numbers(texts)
    # Beyond 2**53 floats skip whole numbers, and identifiers are often that long.
    if (numbers.abs() >= 2**53).any():
        return texts
    whole = all(text.strip().lstrip("-").isdecimal() for text in distinct)
    return numbers.astype(np.int64) if whole and numbers.notna().all() else numbers


def boolean_cells(texts: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return texts as booleans, missing cells as they are; None if a text is another one.

    None also if all cells are missing.
    """
    words = set(texts.dropna().unique())
    return texts.map(_BOOLEANS) if words and words <= set(_BOOLEANS) else None


def are_booleans(values: Collection[str]) -> bool:
    """Return whether declared values are True and False, each written in one way.

    Examples
    --------
    >>> are_booleans(["false", "true"]), are_booleans(["False", "True", "unknown"])
    (True, False)
    """
    known = [_BOOLEANS[value] for value in values if value in _BOOLEANS]
    return len(set(known)) == len(values)


def are_whole_numbers(values: Collection[str]) -> bool:
    """Return whether declared values are whole numbers, without zeros in front.

    Examples
    --------
    >>> are_whole_numbers(["0", "-12"]), are_whole_numbers(["01", "2"]), are_whole_numbers([])
    (True, False, False)
    """
    return bool(values) and all(re.fullmatch(WHOLE_NUMBER, value) for value in values)


def with_declared_numbers(texts: pd.Series[Any], values: Collection[str]) -> pd.Series[Any]:
    """Return texts in which a number such as ``1.0`` is written as it is declared, ``1``.

    pandas writes whole numbers so beside missing ones. Other texts stay.

    Examples
    --------
    >>> with_declared_numbers(pd.Series(["1.0", "2", "1.5"]), ["1", "2"]).tolist()
    ['1', '2', '1.5']
    """
    whole = {
        text: text.partition(".")[0]
        for text in texts.dropna().unique()
        if text not in values and re.fullmatch(rf"{WHOLE_NUMBER}\.0+", text)
    }
    written = {text: number for text, number in whole.items() if number in values}
    return renamed(texts, written) if written else texts


def formatted_numbers(texts: pd.Series[Any]) -> pd.Series[Any] | None:
    """Return texts such as ``$1,200`` as numbers; None if one of them is not written so.

    Parameters
    ----------
    texts : pandas.Series
        Cells, of which some may be missing.

    Returns
    -------
    pandas.Series or None
        None also if no text has a separator of thousands or a currency sign, or a number has more
        digits than a float. A comma that is not before three digits separates no thousands.

    Examples
    --------
    >>> formatted_numbers(pd.Series(["$1,200", "$980.50"])).tolist()
    [1200.0, 980.5]
    >>> formatted_numbers(pd.Series(["1,2", "3,4"])) is None
    True
    """
    distinct = texts.dropna().unique()
    bare = {}
    for text in distinct:
        if not isinstance(text, str) or not re.fullmatch(_FORMATTED_NUMBER, text):
            return None
        bare[text] = re.sub(r"[$€£¥,\s]", "", text)
    if all(re.fullmatch(PLAIN_NUMBER, text) for text in bare):
        return None
    numbers = plain_cells(texts.map(bare))
    return numbers if pd.api.types.is_numeric_dtype(numbers.dtype) else None


def numbers_with_decimal_commas(
    texts: pd.Series[Any], *, certain: bool = False
) -> pd.Series[Any] | None:
    """Return texts such as ``57,5`` as numbers; None if one of them is not written so.

    Parameters
    ----------
    texts : pandas.Series
        Cells of a file that has no commas between them; some may be missing.
    certain : bool
        Whether a comma is known to be one of decimals, also in ``1,200``.

    Returns
    -------
    pandas.Series or None
        None also if a number has more digits than a float, or each comma may separate thousands, as
        in ``1,200``, and it is not known that none does. Where some have no comma, each other one
        may also be a list of codes, such as ``1,2``.

    Examples
    --------
    >>> numbers_with_decimal_commas(pd.Series(["57,5", "-0,25"])).tolist()
    [57.5, -0.25]
    >>> numbers_with_decimal_commas(pd.Series(["57,5", "58", "1.234,50"])).tolist()
    [57.5, 58.0, 1234.5]
    >>> numbers_with_decimal_commas(pd.Series(["1", "1,2", "2,3"])) is None
    True
    >>> numbers_with_decimal_commas(pd.Series(["1,200", "3,400"])) is None
    True
    >>> numbers_with_decimal_commas(pd.Series(["1,200", "3,400"]), certain=True).tolist()
    [1.2, 3.4]
    """
    distinct = texts.dropna().unique()
    if not all(isinstance(text, str) and re.fullmatch(DECIMAL_COMMA, text) for text in distinct):
        return None
    with_comma = [text for text in distinct if "," in text]
    if len(with_comma) < len(distinct):
        if all(may_be_no_decimals(text) for text in with_comma):
            return None
    elif not certain and all(re.fullmatch(OF_THOUSANDS, text) for text in distinct):
        return None
    points = {text: text.replace(".", "").replace(",", ".") for text in distinct}
    numbers = plain_cells(texts.map(points))
    return numbers if pd.api.types.is_numeric_dtype(numbers.dtype) else None


def with_decimal_point(text: str) -> str:
    """Return a number with a decimal comma as it is written with a point; other texts stay.

    Examples
    --------
    >>> [with_decimal_point(text) for text in ("57,5", "1.234,5", "1.234", "a,b")]
    ['57.5', '1234.5', '1.234', 'a,b']
    """
    if "," not in text or not re.fullmatch(DECIMAL_COMMA, text):
        return text
    return text.replace(".", "").replace(",", ".")


def may_be_no_decimals(text: str) -> bool:
    """Return whether a comma may be one of thousands, or one between two codes in their order."""
    codes = re.fullmatch(LIST_OF_TWO, text)
    return bool(re.fullmatch(OF_THOUSANDS, text)) or (
        codes is not None and int(codes[1]) < int(codes[2])
    )


def are_decimal_commas(cells: pd.DataFrame, separator: str) -> bool:
    r"""Return whether a comma within the numbers of a file is known to be one of decimals.

    Parameters
    ----------
    cells : pandas.DataFrame
        The file's cells as texts; some may be missing.
    separator : str
        What stands between them. Semicolons stand there because commas are those of decimals; tabs
        only say so beside numbers such as ``57,5``.

    Returns
    -------
    bool

    Examples
    --------
    >>> cells = pd.DataFrame({"pay": ["1,200"], "age": ["57,5"]})
    >>> are_decimal_commas(cells, "\t"), are_decimal_commas(cells[["pay"]], "\t")
    (True, False)
    """
    if separator != "\t":
        return separator == ";"
    return any(numbers_with_decimal_commas(cells[name]) is not None for name in cells.columns)


def _number(text: Any) -> float:
    try:
        return np.nan if "_" in str(text) else float(text)
    except ValueError:
        return np.nan
