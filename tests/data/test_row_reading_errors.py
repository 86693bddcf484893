"""Files that do not fit their description: one clear line each, never a row lost in silence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain_description import HEADER, cells, description, read_text

from testsgd.data import load_table, read_frame
from testsgd.data.described_rows import read_rows
from testsgd.errors import DataError

GOOD = "male,30,0.5,yes\n"


def failure(folder: Path, text: str | bytes, **parts: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        read_text(folder, text, **parts)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("\n\n\n", "the file is empty"),
        (HEADER, "the file has no rows"),
        (HEADER.strip(), "the file has no rows"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'}\x00\x00", "not utf-8 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not utf-8 text"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "not utf-8 text"),
        (b"\x00\x00\x00\x00", "not utf-8 text"),
        ((HEADER + GOOD * 5000).encode() + b"caf\xe9,1,1,yes\n", "not utf-8 text"),
        ((HEADER + GOOD).encode("utf-16"), "not utf-8 text"),
        (HEADER + GOOD + 'male,"30,0.5,yes\n', "cannot be told apart"),
    ],
)
def test_a_file_that_is_no_table(tmp_path: Path, text: str | bytes, words: str) -> None:
    error = failure(tmp_path, text)
    assert words in error.what
    assert error.where == str(tmp_path / "loans.csv")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file") as caught:
        read_rows([tmp_path / "nothing.csv"], description())
    assert caught.value.where == str(tmp_path / "nothing.csv")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_rows([tmp_path], description())


TOO_MANY = [
    (HEADER + GOOD + "male,30,0.5,yes,more\n", "line 3"),
    (HEADER + "male,30,0.5,yes,more\n" + GOOD, "more cells in a row than columns"),
    (HEADER + "male,30,0.5,yes,more\n" * 3, "more cells in a row than columns"),
    (HEADER + "female,male,30,0.5,yes\n" * 3, "more cells in a row than columns"),
]


@pytest.mark.parametrize(("text", "words"), TOO_MANY)
@pytest.mark.parametrize("header", [True, False])
def test_a_row_with_too_many_cells(tmp_path: Path, text: str, words: str, header: bool) -> None:
    parse = {} if header else {"header": False, "columns": HEADER.strip().split(",")}
    if not header:
        text = text.removeprefix(HEADER)
        words = words.replace("line 3", "line 2")
    error = failure(tmp_path, text, parse=parse)
    assert "the rows cannot be told apart" in error.what
    assert words in error.what


def test_the_wrong_separator_shows_as_a_missing_column(tmp_path: Path) -> None:
    error = failure(tmp_path, HEADER.replace(",", ";") + GOOD.replace(",", ";"))
    assert error.details["column"] == "gender"
    assert error.details["present"] == ["gender;age;ratio;granted"]


def test_a_missing_column_is_named_and_those_present_are_listed(tmp_path: Path) -> None:
    error = failure(tmp_path, "gender,Age,ratio,granted\n" + GOOD)
    assert error.what == "the column 'age' is missing"
    assert "the columns are gender, Age, ratio, granted" in error.remedy
    assert error.details["present"] == ["gender", "Age", "ratio", "granted"]


def test_a_missing_column_of_a_filter_is_named(tmp_path: Path) -> None:
    error = failure(tmp_path, HEADER + GOOD, filters=[{"column": "year", "minimum": 1}])
    assert error.what == "the column 'year' is missing"


def test_filters_that_leave_nobody(tmp_path: Path) -> None:
    error = failure(tmp_path, HEADER + GOOD, filters=[{"column": "age", "minimum": 31}])
    assert error.what == "no rows are left"


@pytest.mark.parametrize("text", ["old", "3O", "1,5", "0x10", "1_000", "--3", "nan", "True", "NA"])
@pytest.mark.parametrize("name", ["age", "ratio"])
def test_a_text_in_a_column_of_numbers_names_the_row(tmp_path: Path, name: str, text: str) -> None:
    row = f'male,"{text}",0.5,yes\n' if name == "age" else f'male,30,"{text}",yes\n'
    error = failure(tmp_path, HEADER + GOOD + GOOD + row + row)
    assert f"row 2 holds {text!r}" in error.what
    assert error.details == {"feature": name, "value": text, "row": 2}


def test_a_text_is_named_by_its_row_in_the_file_whatever_is_filtered(tmp_path: Path) -> None:
    rows = ["male,10,0.5,yes\n", GOOD, "male,30,half,yes\n"]
    error = failure(tmp_path, HEADER + "".join(rows), filters=[{"column": "age", "minimum": 20}])
    assert error.details["row"] == 2


def test_a_number_out_of_range_is_named_by_its_row_in_the_file_too(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text(HEADER + "male,10,0.5,yes\n" + GOOD + "female,30,1.5,no\n")
    specification = description(filters=[{"column": "age", "minimum": 20}])
    with pytest.raises(DataError, match=r"outside the declared range 0 to 1 \(row 2: 1.5\)"):
        load_table(specification, file=path)


@pytest.mark.parametrize("value", ["Male", "m", "0", "missing"])
def test_a_value_that_is_not_declared_names_the_row(tmp_path: Path, value: str) -> None:
    error = failure(tmp_path, HEADER + GOOD + f"{value},30,0.5,yes\n")
    assert f"the value {value!r} (row 1) is not among the declared values" in error.what
    assert error.details == {"feature": "gender", "value": value, "row": 1}


@pytest.mark.parametrize("number", ["inf", "-inf", "1e400", "1e30", "-99999999999999999999"])
@pytest.mark.parametrize("name", ["age", "ratio"])
def test_a_number_too_large_is_out_of_range(tmp_path: Path, name: str, number: str) -> None:
    path = tmp_path / "loans.csv"
    row = f"female,{number},0.5,no\n" if name == "age" else f"female,30,{number},no\n"
    path.write_text(HEADER + GOOD + row)
    with pytest.raises(DataError, match=r"1 value\(s\) are outside the declared range") as caught:
        load_table(description(), file=path)
    assert caught.value.details["value"] == float(number)
    assert caught.value.details["row"] == 1


def test_a_decimal_in_a_column_of_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text(HEADER + GOOD + "female,30.5,0.5,no\n")
    with pytest.raises(DataError, match=r"row 1 holds 30\.5"):
        load_table(description(), file=path)


def test_whole_numbers_may_be_written_as_decimals(tmp_path: Path) -> None:
    frame = read_text(tmp_path, HEADER + "male,30.0,0.5,yes\nmale,3e1,1,no\nmale,+30,0,no\n")
    assert cells(frame["age"]) == [30, 30, 30]
    assert frame["age"].dtype == "int64"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_wrong_encoding_is_what_the_error_is_about(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,age\nf,31\nm,44\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_frame(tmp_path / "people.csv", encoding=encoding)
    assert encoding in caught.value.what
    assert "encoding" in str(caught.value.remedy)


@pytest.mark.parametrize("noted", ["{}", '{"columns": [{"name": "a"}]}', "no JSON"])
@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_damaged_notes_of_pandas_in_a_file_are_one_line(
    ending: str, noted: str, tmp_path: Path
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = pyarrow.table({"a": [1, 2]}).replace_schema_metadata({"pandas": noted})
    path = tmp_path / f"rows{ending}"
    if ending == ".parquet":
        parquet.write_table(table, path)
    else:
        feather.write_feather(table, str(path))
    with pytest.raises(DataError) as caught:
        read_frame(path)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.remedy


@pytest.mark.parametrize("offset", [2**30, 1, -5])
def test_damaged_offsets_in_a_feather_file_are_one_line(offset: int, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather

    path = tmp_path / "rows.feather"
    table = pyarrow.table({"a": pyarrow.array(["abc", "defg", "hijkl"], pyarrow.string())})
    feather.write_feather(table, str(path), compression="uncompressed")
    sound = np.array([0, 3, 7, 12], dtype=np.int32)
    damaged = np.array([0, 3, offset, 12], dtype=np.int32)
    content = path.read_bytes()
    assert content.count(sound.tobytes()) == 1
    assert list(read_frame(path)["a"]) == ["abc", "defg", "hijkl"]
    path.write_bytes(content.replace(sound.tobytes(), damaged.tobytes()))
    with pytest.raises(DataError) as caught:
        read_frame(path)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("sex,ok,sex\nf,1,a\nm,0,b\n", "'sex'"),
        ('"pay, net";ok; "pay, net"\n1;1;2\n2;0;3\n', "'pay, net'"),
    ],
)
def test_columns_of_one_name_are_refused(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_frame(file)
    assert what in caught.value.what


def test_a_ragged_file_without_a_description_is_not_sent_to_one(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("sex,ok\nf,1,9\nm,0\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_frame(file)
    assert "description" not in caught.value.remedy
