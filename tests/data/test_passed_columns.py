"""Columns that only the model needs: read as the file has them, from files and from frames."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from testsgd.data import DatasetSpecification, check_table, load_table, specification_from_mapping
from testsgd.errors import DataError

FILE = """\
id;code;when;note;amount;mixed;age;g;paid
1;007;2024-01-05; hello ;1.5;1;20;f;yes
2;010;2024-01-06;n/a;-2;x;30;m;no
3;110;2024-01-07;Says "hi";3e2;;40;f;yes
"""
PASSED = ("id", "code", "when", "note", "amount", "mixed")


def specification() -> DatasetSpecification:
    found = specification_from_mapping(
        {
            "dataset": {"name": "bills"},
            "parse": {"separator": ";", "missing": ["", "n/a"]},
            "filters": [{"column": "age", "maximum": 35}],
            "label": {"column": "paid", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "age": {"type": "integer", "range": [0, 99]},
                "g": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            },
        }
    )
    assert isinstance(found, DatasetSpecification)
    return found


def read(folder: Path, passed: tuple[str, ...] = PASSED) -> pd.DataFrame:
    path = folder / "bills.csv"
    path.write_text(FILE)
    return load_table(specification(), file=path, passed=passed).frame


def test_a_file_keeps_them_behind_the_features(tmp_path: Path) -> None:
    frame = read(tmp_path)
    assert list(frame) == ["age", "g", *PASSED]
    # The row of the third person was filtered out.
    assert len(frame) == 2
    assert frame["code"].tolist() == ["007", "010"]
    assert frame["when"].tolist() == ["2024-01-05", "2024-01-06"]


def test_plain_numbers_are_read_as_numbers_and_nothing_else_is(tmp_path: Path) -> None:
    frame = read(tmp_path)
    assert frame["id"].dtype == np.int64
    assert frame["amount"].tolist() == [1.5, -2.0]
    assert frame["mixed"].tolist() == ["1", "x"]


def test_long_identifiers_lose_no_digit(tmp_path: Path) -> None:
    path = tmp_path / "bills.csv"
    path.write_text("id;age;g;paid\n12345678901234567891;20;f;yes\n2;30;m;no\n")
    frame = load_table(specification(), file=path, passed=("id",)).frame
    assert frame["id"].tolist() == ["12345678901234567891", "2"]


def test_blanks_of_a_text_stay_and_what_stands_for_missing_is_missing(tmp_path: Path) -> None:
    notes = read(tmp_path)["note"]
    assert notes.iloc[0].endswith("hello ")
    assert pd.isna(notes.iloc[1])


def test_none_is_kept_unless_asked_for(tmp_path: Path) -> None:
    assert list(read(tmp_path, ())) == ["age", "g"]


def test_a_frame_keeps_cells_and_types() -> None:
    frame = pd.DataFrame(
        {
            "g": ["f", "m"],
            "when": pd.to_datetime(["2024-01-05", "2024-01-06"]),
            "age": [20, 30],
            "thing": [{"a": 1}, None],
        }
    )
    table = check_table(frame, specification(), passed=("thing", "when"))
    assert list(table.frame) == ["age", "g", "thing", "when"]
    assert table.frame["when"].dtype == frame["when"].dtype
    assert table.frame["thing"].tolist() == [{"a": 1}, None]
    assert list(table.take(np.array([1])).frame) == list(table.frame)


@pytest.mark.parametrize("by_file", [True, False])
def test_what_is_missing_is_named(tmp_path: Path, by_file: bool) -> None:
    passed = ("id", "postcode")
    frame = pd.DataFrame({"g": ["f", "m"], "age": [1, 2], "id": [1, 2]})

    def load() -> object:
        if by_file:
            return read(tmp_path, passed)
        return check_table(frame, specification(), passed=passed)

    with pytest.raises(DataError, match="'postcode'") as raised:
        load()
    assert "model" in str(raised.value)
