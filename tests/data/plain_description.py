"""A small data set for the tests of this area: people who ask for a loan."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from testsgd.data import DatasetSpecification, specification_from_mapping
from testsgd.data.described_rows import read_rows

# The line numbers are what tests go by: a blank line here moves them.
TEXT = """\
[dataset]
name = "loans"

[label]
column = "granted"
favourable = "yes"
values = ["no", "yes"]

[features.gender]
type = "categorical"
values = ["female", "male"]
sensitive = true

[features.age]
type = "integer"
range = [0, 100]

[features.ratio]
type = "decimal"
range = [0, 1]
"""

HEADER = "gender,age,ratio,granted\n"


def description(**parts: Any) -> DatasetSpecification:
    """Describe the loans, with some parts of the description replaced."""
    return specification_from_mapping({**tomllib.loads(TEXT), **parts})


def people(**columns: Any) -> pd.DataFrame:
    """Give four people who fit the description, with some columns replaced."""
    return pd.DataFrame(
        {
            "gender": ["female", "male", "female", "male"],
            "age": [20, 30, 40, 50],
            "ratio": [0.25, 0.5, 0.75, 1.0],
            "granted": ["no", "yes", "yes", "no"],
            **columns,
        }
    )


def read_text(folder: Path, text: str | bytes, **parts: Any) -> pd.DataFrame:
    """Write a file and read it as the description says."""
    path = folder / "loans.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_rows([path], description(**parts))


def cells(column: pd.Series[Any]) -> list[Any]:
    """Give a column's cells, None for a missing one."""
    return [None if pd.isna(cell) else cell for cell in column.tolist()]
