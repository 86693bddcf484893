"""Reading rows: every separator, no value lost, missing cells kept missing."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_description import HEADER, cells, description, read_text

from testsgd.data.described_rows import read_rows

COLUMNS = HEADER.strip().split(",")
ROWS = [["female", "20", "0.25", "no"], ["male", "30", "0.5", "yes"], ["female", "", "1", "yes"]]


def check_rows(frame: pd.DataFrame) -> None:
    """Compare a frame with ROWS."""
    assert list(frame.columns) == COLUMNS
    assert cells(frame["gender"]) == ["female", "male", "female"]
    assert cells(frame["age"]) == [20, 30, None]
    assert cells(frame["ratio"]) == [0.25, 0.5, 1.0]
    assert cells(frame["granted"]) == ["no", "yes", "yes"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ":", " ", "^", "."])
@pytest.mark.parametrize("header", [True, False])
def test_any_character_may_separate(tmp_path: Path, separator: str, header: bool) -> None:
    parse: dict[str, Any] = {"separator": separator, "header": header}
    rows = [[f'"{cell}"' if separator in cell else cell for cell in row] for row in ROWS]
    if header:
        rows = [COLUMNS, *rows]
    else:
        parse["columns"] = COLUMNS
    if separator == " ":
        rows = [[cell or '""' for cell in row] for row in rows]
    text = "".join(separator.join(row) + "\n" for row in rows)
    check_rows(read_text(tmp_path, text, parse=parse))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_blank_lines_do_not_matter(tmp_path: Path, end: str) -> None:
    text = end.join([HEADER.strip(), "", *(",".join(row) for row in ROWS), "", ""])
    check_rows(read_text(tmp_path, text))


def test_runs_of_blanks_separate(tmp_path: Path) -> None:
    text = "  female  20\t0.25 no  \nmale 30   0.5\t\tyes\nfemale ?  1 yes\n"
    parse = {"separator": "whitespace", "header": False, "columns": COLUMNS, "missing": ["?"]}
    check_rows(read_text(tmp_path, text, parse=parse))


def test_blanks_around_a_value_are_no_part_of_it(tmp_path: Path) -> None:
    text = HEADER + ' female ,20 , 0.25,no \n"male ", "30","0.5 ",  yes\nfemale,  , 1 ,yes\n'
    check_rows(read_text(tmp_path, text))


def test_quoted_cells_may_hold_the_separator_and_quotes(tmp_path: Path) -> None:
    values = ["a,b", 'say "x"']
    features = {
        "gender": {"type": "categorical", "values": values, "sensitive": True},
        "age": {"type": "integer", "range": [0, 100]},
    }
    text = 'gender,age,granted\n"a,b",1,"yes"\n"say ""x""",2,no\n'
    assert cells(read_text(tmp_path, text, features=features)["gender"]) == values


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16", "cp1252"])
def test_texts_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    features = {"gender": {"type": "categorical", "values": ["é", "ü"], "sensitive": True}}
    text = "gender,granted\né,yes\nü,no\n".encode(encoding)
    frame = read_text(tmp_path, text, features=features, parse={"encoding": encoding})
    assert cells(frame["gender"]) == ["é", "ü"]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + HEADER.encode() + b"male,1,0.5,yes\n"
    assert cells(read_text(tmp_path, text)["gender"]) == ["male"]


def test_lines_before_the_header_are_skipped(tmp_path: Path) -> None:
    text = "made by a tool\n, , \n" + HEADER + "male,1,0.5,yes\n"
    assert len(read_text(tmp_path, text, parse={"skip_rows": 2})) == 1


def test_a_separator_at_the_end_of_every_row_is_no_column(tmp_path: Path) -> None:
    text = HEADER + "".join(",".join(row) + ",\n" for row in ROWS)
    check_rows(read_text(tmp_path, text))


def test_only_the_texts_described_are_missing(tmp_path: Path) -> None:
    features = {
        "gender": {"type": "categorical", "values": ["NA", "nan", "None", ""], "sensitive": True},
        "age": {"type": "integer", "range": [0, 100]},
    }
    text = "gender,age,granted\nNA,?,yes\nnan, ? ,no\nNone,-9,yes\n,3,no\n?,4,no\n"
    frame = read_text(tmp_path, text, features=features, parse={"missing": [" ?", "-9"]})
    assert cells(frame["gender"]) == ["NA", "nan", "None", "", None]
    assert cells(frame["age"]) == [None, None, None, 3, 4]


def test_rows_with_missing_cells_are_all_kept(tmp_path: Path) -> None:
    frame = read_text(tmp_path, HEADER + ",,,\nmale,1,1,yes\n,,,\n")
    assert len(frame) == 3
    assert cells(frame["age"]) == [None, 1, None]
    assert cells(frame["granted"]) == [None, "yes", None]


def test_columns_that_are_no_features_are_left_out(tmp_path: Path) -> None:
    frame = read_text(tmp_path, "name,granted,ratio,age,gender\nAnn,yes,1,20,female\n")
    assert list(frame.columns) == COLUMNS


def test_a_file_without_labels_can_be_read(tmp_path: Path) -> None:
    frame = read_text(tmp_path, "gender,age,ratio\nmale,1,0.5\n")
    assert list(frame.columns) == ["gender", "age", "ratio"]


def test_several_files_are_read_one_after_another(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("b.csv", "a.csv")]
    paths[0].write_text(HEADER + "male,1,0.5,yes\n")
    paths[1].write_text("granted,gender,age,ratio\nno,female,2,0.5\n")
    frame = read_rows(paths, description())
    assert cells(frame["age"]) == [1, 2]
    assert cells(frame["granted"]) == ["yes", "no"]
    assert list(frame.index) == [0, 1]


def test_a_feature_may_be_read_from_a_column_of_another_name(tmp_path: Path) -> None:
    features = {
        "gender": {
            "type": "categorical",
            "column": "sex",
            "map": {"F": "female", "M": "male"},
            "values": ["female", "male"],
            "sensitive": True,
        }
    }
    frame = read_text(
        tmp_path, "sex,gender,granted\nF,x,yes\nmale,x,no\n,x,no\n", features=features
    )
    assert cells(frame["gender"]) == ["female", "male", None]


FILTERED = HEADER + "".join(f"male,{age},0.5,yes\n" for age in [10, 20, "", 30, 40, "old"])


@pytest.mark.parametrize(
    ("row_filter", "ages", "rows"),
    [
        ({"minimum": 20, "maximum": 30}, [20, 30], [1, 3]),
        ({"minimum": 20.5}, [30, 40], [3, 4]),
        ({"maximum": 10}, [10], [0]),
        ({"none_of": [10, "old"]}, [20, 30, 40], [1, 3, 4]),
        ({"none_of": ["old"], "minimum": 30}, [30, 40], [3, 4]),
    ],
)
def test_rows_that_fail_a_filter_are_left_out(
    tmp_path: Path, row_filter: dict[str, Any], ages: list[int], rows: list[int]
) -> None:
    frame = read_text(tmp_path, FILTERED, filters=[{"column": "age", **row_filter}])
    assert cells(frame["age"]) == ages
    assert list(frame.index) == rows, "the rows keep their places in the file"


def test_a_row_must_pass_every_filter(tmp_path: Path) -> None:
    filters = [{"column": "age", "minimum": 20}, {"column": "age", "none_of": [30]}]
    assert cells(read_text(tmp_path, FILTERED, filters=filters)["age"]) == [20, 40]


TABLES = st.lists(
    st.tuples(
        st.sampled_from(["a,b", 'c "d"', "e", "f;g", "'"]),
        st.integers(0, 100),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=20,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=TABLES, separator=st.sampled_from([",", ";", "\t", "|"]))
def test_what_python_writes_is_read_back_exactly(
    tmp_path: Path, rows: list[tuple[str, int, float]], separator: str
) -> None:
    values = ["a,b", 'c "d"', "e", "f;g", "'"]
    features = {
        "text": {"type": "categorical", "values": values, "sensitive": True},
        "whole": {"type": "integer", "range": [0, 100]},
        "part": {"type": "decimal", "range": [0, 1]},
    }
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n")
    writer.writerows([("text", "whole", "part"), *rows])
    frame = read_text(
        tmp_path, stream.getvalue(), features=features, parse={"separator": separator}
    )
    assert list(zip(frame["text"], frame["whole"], frame["part"], strict=True)) == rows
