"""Numbers that are not read as such: a few texts stand beside them, or they have decimal commas."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from testsgd.data.cell_texts import (
    DECIMAL_COMMA,
    PLAIN_NUMBER,
    may_be_no_decimals,
    numbers_with_decimal_commas,
    plain_cells,
)
from testsgd.data.column_notes import shortened

# At least this share of the cells are numbers.
_SHARE = 0.8
# With fewer different numbers they may be codes, of which texts may be others.
_FEWEST_NUMBERS = 11
_MOST_TEXTS = 5
_ONLY_BESIDE = "decimals have a comma only where semicolons or tabs stand between the cells"


@dataclass(frozen=True, kw_only=True)
class UnreadNumbers:
    """Numbers in a column of texts."""

    numbers: int  # Cells that are numbers.
    cells: int  # Cells that are not missing.
    texts: tuple[str, ...]  # The other texts.
    example: str | None  # A number with a decimal comma.
    low: float  # The smallest number.
    high: float  # The largest one.
    whole: bool  # Whether all are whole numbers.

    @property
    def seen(self) -> str:
        """What is seen in the column, in words."""
        written = "" if self.example is None else f", written as {self.example}"
        if not self.texts:
            return f"all cells are numbers{written}"
        return (
            f"{self.numbers:,} of {self.cells:,} cells are numbers{written}, but not {self._each}"
        )

    @property
    def remedy(self) -> str:
        """What makes it a column of numbers, in words."""
        if not self.texts:
            return (
                "write decimals with a point, or the file with semicolons between its cells, where "
                "they may have a comma (in Python: make them numbers)"
            )
        only = "" if self.example is None else f" ({_ONLY_BESIDE})"
        return (
            f"if {self._stand} for a missing value, leave such cells empty, or let `testsgd init` "
            "write a description, in which a comment says what declares it (in Python: replace it "
            f"by NaN){only}"
        )

    @property
    def advice(self) -> str:
        """What makes it a column of numbers in the description where it stands, in words."""
        if not self.texts:
            return self.remedy
        only = "" if self.example is None else f"; {_ONLY_BESIDE}"
        kind = "integer" if self.whole else "decimal"
        listed = ", ".join(json.dumps(text, ensure_ascii=False) for text in self.texts)
        return (
            f"if {self._stand} for a missing value: add {listed} to missing under [parse], and "
            f'describe it by type = "{kind}" and range = [{self.low:.15g}, {self.high:.15g}], '
            f"without values{only}"
        )

    @property
    def _stand(self) -> str:
        return f"{self._each} {'stands' if len(self.texts) == 1 else 'stand'}"

    @property
    def _each(self) -> str:
        return ", ".join(f"“{shortened(text)}”" for text in self.texts)


def unread_numbers(counts: Mapping[str, int]) -> UnreadNumbers | None:
    """Return what keeps texts from being read as numbers, None if few of them are numbers.

    Parameters
    ----------
    counts : mapping of str to int
        The different texts of a column, and how many cells have each.

    Returns
    -------
    UnreadNumbers or None
        None also if fewer than 80% of the cells are numbers, there are at most 10 different ones,
        or more than 5 other texts. A comma is one of decimals only if it can be nothing else.

    Examples
    --------
    >>> ages = {str(age): 2 for age in range(20, 40)}
    >>> unread_numbers({**ages, "k.A.": 3}).seen
    '40 of 43 cells are numbers, but not “k.A.”'
    >>> unread_numbers({"1": 9, "2": 9, "other": 2}) is None
    True
    """
    numbers = []
    texts: list[str] = []
    for text in counts:
        bare = text.strip()
        if re.fullmatch(PLAIN_NUMBER, bare) or re.fullmatch(DECIMAL_COMMA, bare):
            numbers.append(text)
        elif len(texts) == _MOST_TEXTS:
            return None
        else:
            texts.append(text)
    cells = sum(counts.values())
    of_numbers = sum(counts[text] for text in numbers)
    if len(numbers) < _FEWEST_NUMBERS or of_numbers < _SHARE * cells:
        return None
    with_comma = [text.strip() for text in numbers if "," in text]
    if with_comma and all(may_be_no_decimals(text) for text in with_comma):
        return None
    example = with_comma[0] if with_comma else None
    if example is None and not texts:
        # They are texts for another reason, such as too many digits.
        return None
    texts_of_numbers = pd.Series([text.strip() for text in numbers], dtype=object)
    read = (
        plain_cells(texts_of_numbers)
        if example is None
        else numbers_with_decimal_commas(texts_of_numbers)
    )
    if read is None or not pd.api.types.is_numeric_dtype(read.dtype):
        return None
    return UnreadNumbers(
        numbers=of_numbers,
        cells=cells,
        texts=tuple(texts),
        example=example,
        low=float(read.min()),
        high=float(read.max()),
        whole=bool((read % 1 == 0).all()),
    )
