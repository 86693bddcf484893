"""Files whose first line names the separator, as spreadsheets write it: it is no row."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from testsgd.data import describe_file, load_specification, load_table, read_frame
from testsgd.data.log_cells import read_log_cells

ROWS = pd.DataFrame(
    {
        "sex": ["f", "m"] * 20,
        "pay": [1463.63 + row for row in range(40)],
        "note": ["a, b; c", "d"] * 20,
        "granted": ["yes", "no", "no", "yes"] * 10,
    }
)


def write(path: Path, first: str, separator: str, encoding: str = "utf-8") -> None:
    decimal = "," if separator == ";" else "."
    rows = ROWS.to_csv(index=False, sep=separator, decimal=decimal)
    path.write_text(first + rows, encoding=encoding)


@pytest.mark.parametrize(
    ("name", "first", "separator", "encoding"),
    [
        ("rows.csv", "sep=;\n", ";", "utf-8-sig"),
        ("rows.csv", "sep=;\n", ";", "utf-8"),
        ("rows.csv", '"sep=;"\n', ";", "utf-8"),
        ("rows.csv", "sep=,\r\n", ",", "utf-8"),
        ("rows.csv", "sep=\t\n", "\t", "utf-8"),
        ("rows.txt", "sep=^\n", "^", "utf-8"),
        ("rows.tsv", "sep=;\n", ";", "utf-8"),
        ("rows.csv", "sep=;\n", ";", "utf-16"),
    ],
)
def test_the_rows_are_those_below_it(
    name: str, first: str, separator: str, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path, first, separator, encoding)
    given = "utf-16" if encoding == "utf-16" else None
    pd.testing.assert_frame_equal(read_frame(path, encoding=given), ROWS, check_dtype=False)


def test_a_column_may_be_called_so(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("sep=,b\n1,2\n3,4\n", encoding="utf-8")
    assert list(read_frame(path).columns) == ["sep=", "b"]


def test_its_description_reads_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    write(path, "sep=;\n", ";")
    description = tmp_path / "rows.toml"
    description.write_text(describe_file(path, sensitive=["sex"]), encoding="utf-8")
    table = load_table(load_specification(description))
    assert table.frame["pay"].tolist() == ROWS["pay"].tolist()


def test_logs_are_read_likewise(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    write(path, "sep=;\n", ";", "utf-8-sig")
    cells = read_log_cells(path)
    assert list(cells.columns) == list(ROWS.columns)
    assert cells["pay"].astype(float).tolist() == ROWS["pay"].tolist()
