"""Reading the cells of a log that has a header and no description."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pandas as pd

from testsgd.data.cell_texts import are_decimal_commas, with_decimal_point
from testsgd.data.cells import cells_of_plain_file, readable_file
from testsgd.data.schema import CellParsing
from testsgd.data.separators import separator_of_log


def read_log_cells(path: Path) -> pd.DataFrame:
    """Return the cells of a log as texts without blanks around them; an empty cell is empty.

    The header says what stands between the cells. Where no comma does, numbers such as 57,5 have a
    decimal point. An error is raised as by :func:`testsgd.data.cells.read_cells`.
    """
    with readable_file(path) as plain:
        separator = ","
        skipped = 0
        # Reading the cells says what is wrong with the file.
        with contextlib.suppress(ValueError):
            separator, skipped = separator_of_log(plain)
        parsing = CellParsing(separator=separator, skip_rows=skipped)
        cells = cells_of_plain_file(plain, parsing, where=str(path), described=False)
    texts = pd.DataFrame({name: cells[name].str.strip() for name in cells.columns})
    if not are_decimal_commas(texts.mask(texts == ""), separator):
        return texts
    return texts.map(with_decimal_point)
