"""Files of rows that nobody described: the same rows, whatever the format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from testsgd.data import (
    describe_file,
    is_rows_file,
    load_specification,
    load_table,
    read_frame,
    with_numbers,
)
from testsgd.errors import DataError, ParameterError

ROWS = pd.DataFrame(
    {
        "sex": ["f", "m", None, "f"],
        "age": [31.0, 45.0, None, 60.0],
        "zip": ["00123", "04109", "99999", "10115"],
        "share": [0.1, 0.25, 1.5, -2.0],
        "member": [True, False, True, True],
        "note": ["a, b", 'say "no"', "two\nlines", "plain"],
    }
)

WRITERS: dict[str, Callable[[Path], None]] = {
    "rows.csv": lambda path: ROWS.to_csv(path, index=False),
    "rows.csv.gz": lambda path: ROWS.to_csv(path, index=False),
    "rows.csv.zip": lambda path: ROWS.to_csv(path, index=False),
    "rows.csv.xz": lambda path: ROWS.to_csv(path, index=False),
    "semicolons.csv": lambda path: ROWS.to_csv(path, index=False, sep=";"),
    "bars.txt": lambda path: ROWS.to_csv(path, index=False, sep="|"),
    "rows.tsv": lambda path: ROWS.to_csv(path, index=False, sep="\t"),
    "rows.parquet": lambda path: ROWS.to_parquet(path),
    "rows.feather": lambda path: ROWS.to_feather(path),
    "rows.jsonl": lambda path: ROWS.to_json(path, orient="records", lines=True),
    "rows.ndjson.gz": lambda path: ROWS.to_json(path, orient="records", lines=True),
}


@pytest.mark.parametrize("name", WRITERS)
def test_all_formats_give_the_same_rows(name: str, tmp_path: Path) -> None:
    if name.endswith((".parquet", ".feather")):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    WRITERS[name](path)
    assert is_rows_file(path)
    frame = read_frame(path)
    assert list(frame.columns) == list(ROWS.columns)
    for column in ROWS:
        found, expected = frame[column], ROWS[column]
        assert found.isna().tolist() == expected.isna().tolist()
        assert found.dropna().tolist() == expected.dropna().tolist()


def written_with(separator: str, cells: list[str], path: Path) -> pd.DataFrame:
    """Return what is read of a file with two columns, the second one of these cells."""
    lines = [f"{row % 2}{separator}{cell}" for row, cell in enumerate(cells)]
    path.write_text("\n".join([f"sex{separator}age", *lines, ""]), encoding="utf-8")
    return read_frame(path)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_numbers_may_have_decimal_commas(separator: str, tmp_path: Path) -> None:
    cells = ["57,5", "", "-0,25", "NA", "1200,0", "missing", "0,125"]
    frame = written_with(separator, cells, tmp_path / "rows.csv")
    assert frame["age"].dropna().tolist() == [57.5, -0.25, 1200, 0.125]
    read, examples = with_numbers(frame[["age"]])
    assert examples == {"age": "57,5"}
    assert read["age"].dtype == float


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # Whole numbers have no comma, thousands have points.
        (["58", "57,5", "", "-3", "0,25"], [58, 57.5, -3, 0.25]),
        (
            ["1.234,50", "980", "12.345.678", "2.000", "980,25"],
            [1234.5, 980, 12345678, 2000, 980.25],
        ),
        (["1,5e-05", "2", "0,5"], [1.5e-05, 2, 0.5]),
        # Marks, as a spreadsheet writes them.
        (["1", "1,3", "1,7", "2", "2,3", "3", "3,3"], [1, 1.3, 1.7, 2, 2.3, 3, 3.3]),
    ],
)
def test_some_numbers_have_decimal_commas(
    separator: str, cells: list[str], expected: list[float], tmp_path: Path
) -> None:
    frame = written_with(separator, cells, tmp_path / "rows.csv")
    assert frame["age"].dropna().tolist() == expected
    first = next(cell for cell in cells if "," in cell)
    assert with_numbers(frame[["age"]])[1] == {"age": first}


@pytest.mark.parametrize(
    "cells",
    [
        # Of thousands, where one has no comma.
        ["1,254", "734"],
        ["57,5", "young"],
        # Codes that are listed.
        ["1,2,3", "1,2"],
        ["1,2", "3"],
        ["1", "1,2", "2,3", "1,12"],
        # Two ways to write numbers.
        ["57,5", "57.5"],
        ["007,5", "1,5"],
    ],
)
def test_other_texts_with_commas_are_no_numbers(cells: list[str], tmp_path: Path) -> None:
    frame = written_with(";", cells * 2, tmp_path / "rows.csv")
    assert frame["age"].tolist() == cells * 2
    assert with_numbers(frame)[1] == {}


@pytest.mark.parametrize("separator", [";", "\t"])
@pytest.mark.parametrize("beside", ["23,3", "1,500"])
def test_commas_before_three_digits_are_those_of_decimals_in_such_files(
    separator: str, beside: str, tmp_path: Path
) -> None:
    """As pandas reads the same numbers written with points."""
    numbers = [f"{1 + row // 1000},{row % 1000:03}" for row in range(250)] * 2
    lines = [separator.join([f"{row % 2}", cell, beside]) for row, cell in enumerate(numbers)]
    text = "\n".join([separator.join(["sex", "income", "other"]), *lines, ""])
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    (tmp_path / "points.csv").write_text(text.replace(",", "."), encoding="utf-8")
    frame = read_frame(tmp_path / "rows.csv")
    described = describe_file(tmp_path / "rows.csv", sensitive=["income"], label="sex")
    (tmp_path / "rows.toml").write_text(described, encoding="utf-8")
    table = load_table(load_specification(tmp_path / "rows.toml"))
    if separator == "\t" and beside == "1,500":
        assert frame["income"].tolist() == numbers
        assert table.frame["income"].tolist() == [*range(1000, 1250)] * 2
        return
    expected = pd.read_csv(tmp_path / "points.csv", sep=separator)
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
    assert with_numbers(frame)[1] == {"income": "1,000", "other": beside}
    assert table.frame["income"].tolist() == expected["income"].tolist()


@pytest.mark.parametrize("separator", [";", "\t"])
def test_thousands_beside_numbers_without_a_comma_stay(separator: str, tmp_path: Path) -> None:
    cells = [*(f"1,{row:03}" for row in range(250)), *(str(row) for row in range(250, 500))]
    read, examples = with_numbers(written_with(separator, cells, tmp_path / "rows.csv"))
    assert read["age"].tolist() == [*range(1000, 1250), *range(250, 500)]
    assert examples == {"age": "1,000"}


@pytest.mark.parametrize(
    ("kind", "ends", "expected"),
    [
        ("integer", "[1000, 5000]", [1200, 3400]),
        ("decimal", "[1000, 5000]", [1200, 3400]),
        ("decimal", "[0, 9]", [1.2, 3.4]),
    ],
)
def test_a_description_of_thousands_stays(
    kind: str, ends: str, expected: list[float], tmp_path: Path
) -> None:
    written_with(";", ["1,200", "3,400"] * 2, tmp_path / "rows.csv")
    text = describe_file(tmp_path / "rows.csv", sensitive=["age"], label="sex")
    head = text[: text.index("[features.age]")]
    feature = f'[features.age]\ntype = "{kind}"\nrange = {ends}\nsensitive = true\n'
    (tmp_path / "rows.toml").write_text(head + feature, encoding="utf-8")
    table = load_table(load_specification(tmp_path / "rows.toml"))
    assert table.frame["age"].tolist() == expected * 2


def test_quoted_commas_of_a_file_with_commas_stay(tmp_path: Path) -> None:
    frame = written_with(",", ['"57,5"', '"37,5"'], tmp_path / "rows.csv")
    assert frame["age"].tolist() == ["57,5", "37,5"]


def test_a_written_description_reads_decimal_commas(tmp_path: Path) -> None:
    cells = ["57,5", "37,5", "25,0", "18,25", "58", "1.034,5"] * 20
    frame = written_with(";", cells, tmp_path / "rows.csv")
    text = describe_file(tmp_path / "rows.csv", sensitive=["age"], label="sex")
    assert "57,5" in text
    (tmp_path / "rows.toml").write_text(text, encoding="utf-8")
    table = load_table(load_specification(tmp_path / "rows.toml"))
    assert table.frame["age"].tolist() == frame["age"].tolist()


@pytest.mark.parametrize("written", ["", "NA", "n/a", "null", "?", "NaN"])
def test_texts_that_stand_for_missing_values(written: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"a,b\n1,x\n{written},y\n", encoding="utf-8")
    assert read_frame(path)["a"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", b""),
        ("rows.csv", b"a,b\n"),
        ("rows.csv", b"a,b\n1,2,3\n4\n"),
        ("rows.csv", b"a,b\n\xff\xfe,2\n"),
        ("rows.csv", b"a,b\n\0\0,2\n"),
        ("rows.csv.gz", b"a,b\n1,2\n"),
        ("rows.parquet", b"PAR1 and then nothing"),
        ("rows.feather", b"no arrow"),
        ("rows.jsonl", b'{"a": 1\n'),
        ("rows.xlsx", b"PK"),
    ],
)
def test_files_that_cannot_be_read_are_one_line(name: str, content: bytes, tmp_path: Path) -> None:
    if name.endswith((".parquet", ".feather")):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_frame(path)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_parquet_file_cut_short_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    ROWS.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError):
        read_frame(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_frame(tmp_path / "nothing.csv")


@pytest.mark.parametrize(
    "lines",
    [
        '{"a": 1}\nnull\n',
        '{"a": 1}\n[]\n',
        "[1, 2]\n[3]\n",
        "[]\n",
        '1\n{"a": 1}\n',
        '{"a": 1}\n{"a": [1]}\n',
        '{"a": {"b": 1}}\n',
    ],
)
def test_lines_that_are_no_plain_objects_are_refused(lines: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(lines, encoding="utf-8")
    with pytest.raises(DataError, match=r"rows\.jsonl"):
        read_frame(path)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.tsv"])
def test_rows_are_read_in_the_encoding_that_is_named(
    name: str, encoding: str, tmp_path: Path
) -> None:
    rows = pd.DataFrame({"région": ["Besançon", "Köln", "Zürich"], "age": [31, 45, 60]})
    path = tmp_path / name
    rows.to_csv(path, index=False, encoding=encoding, sep="\t" if "tsv" in name else ";")
    pd.testing.assert_frame_equal(
        read_frame(path, encoding=encoding), rows, check_dtype=False, check_column_type=False
    )


def test_the_error_of_another_encoding_names_the_option(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("town,age\nKöln,3\n".encode("latin-1"))
    with pytest.raises(DataError, match="--encoding"):
        read_frame(path)


@pytest.mark.parametrize("encoding", ["klingon", "base64", "", "a\0b"])
def test_unknown_encodings_are_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ParameterError) as caught:
        read_frame(path, encoding=encoding)
    assert caught.value.details["encoding"] == encoding


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.parquet"])
def test_files_that_have_one_encoding_take_no_other(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b'{"a": 1}\n')
    with pytest.raises(ParameterError, match="encoding"):
        read_frame(path, encoding="latin-1")
