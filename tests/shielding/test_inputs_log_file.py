"""Reading a log from a CSV file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from testsgd.errors import DataError
from testsgd.shielding.inputs import InputLog, read_log

GROUPS = ["female", "male"]
TEXT = """\
group,recommendation,cost,label
female, 1 ,0.5,1
male,0,2,
male,accept,1e1,False
"""


def written(folder: Path, text: str, **options: Any) -> InputLog:
    path = folder / "log.csv"
    path.write_text(text, encoding="utf-8")
    return read_log(path, GROUPS, **options)


def test_a_plain_log(tmp_path: Path) -> None:
    log = written(tmp_path, TEXT)
    assert log.groups == ("female", "male", "male")
    assert log.recommendations.tolist() == [1, 0, 1]
    assert log.costs is not None
    assert log.costs.tolist() == [0.5, 2, 10]
    assert log.labels is not None
    np.testing.assert_array_equal(log.labels, [1, np.nan, 0])
    assert log.unknown == 0
    assert log.where == str(tmp_path / "log.csv")


@pytest.mark.parametrize("separator", ";\t|")
def test_the_header_says_what_stands_between_the_cells(separator: str, tmp_path: Path) -> None:
    expected = written(tmp_path, TEXT)
    log = written(tmp_path, TEXT.replace(",", separator))
    assert (log.groups, log.unknown) == (expected.groups, expected.unknown)
    assert log.recommendations.tolist() == expected.recommendations.tolist()
    assert log.costs is not None
    assert log.costs.tolist() == [0.5, 2, 10]
    assert log.labels is not None
    np.testing.assert_array_equal(log.labels, [1, np.nan, 0])


@pytest.mark.parametrize(("separator", "largest"), [(";", "10"), (";", "10.0"), ("\t", "10.0")])
def test_costs_may_have_decimal_commas(separator: str, largest: str, tmp_path: Path) -> None:
    text = f"group,recommendation,cost\nfemale,1,0.5\nmale,0,2.25\nmale,1,{largest}\n"
    log = written(tmp_path, text.replace(",", separator).replace(".", ","))
    assert log.costs is not None
    assert log.costs.tolist() == [0.5, 2.25, 10]


def test_columns_by_other_names_and_columns_of_no_interest(tmp_path: Path) -> None:
    log = written(
        tmp_path,
        "id,sex,decision,cost,truth\n7,male,0,-,1\n8,female,1,-,0\n",
        columns={"group": "sex", "recommendation": "decision", "label": "truth", "cost": "id"},
    )
    assert log.groups == ("male", "female")
    assert log.recommendations.tolist() == [0, 1]
    assert log.costs is not None
    assert log.costs.tolist() == [7, 8]
    assert log.labels is not None
    assert log.labels.tolist() == [1, 0]


def test_costs_and_labels_may_be_absent(tmp_path: Path) -> None:
    log = written(tmp_path, "group,recommendation\nfemale,reject\nmale,True\n")
    assert (log.costs, log.labels) == (None, None)
    assert log.recommendations.tolist() == [0, 1]


def test_other_groups_may_be_left_out(tmp_path: Path) -> None:
    text = "group,recommendation\nfemale,1\nother,what\nmale,0\n"
    log = written(tmp_path, text, unknown="pass")
    assert log.groups == ("female", "male")
    assert log.unknown == 1


def test_without_names_every_group_is_known(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("group,recommendation\nx,1\ny,0\n", encoding="utf-8")
    assert read_log(path).groups == ("x", "y")


HEADER = "group,recommendation,cost,label\n"
MISTAKES = [
    ("", {}, "the file is empty"),
    (HEADER, {}, "the file has no rows"),
    ("group,cost\nmale,1\n", {}, "the column 'recommendation' is missing"),
    (TEXT, {"columns": {"group": "sex"}}, "the column 'sex' is missing"),
    (TEXT, {"columns": {"cost": "price"}}, "the column 'price' is missing"),
    (TEXT, {"columns": {"label": "truth"}}, "the column 'truth' is missing"),
    (HEADER + "male,1,1,1\nother,1,1,1\n", {}, "the group 'other' (row 2) is unknown"),
    (HEADER + "male,1,1,1\n,1,1,1\n", {}, "row 2 has no group"),
    (HEADER + "male,1,1,1\n,1,1,1\n", {"unknown": "pass"}, "row 2 has no group"),
    (HEADER + "other,1,1,1\n", {"unknown": "pass"}, "no row is of a known group"),
    (HEADER + "male,2,1,1\n", {}, "'recommendation' is '2' in row 1"),
    (HEADER + "male,1,1,1\nmale,,1,1\n", {}, "'recommendation' is '' in row 2"),
    (HEADER + "male,yes,1,1\n", {}, "'recommendation' is 'yes' in row 1"),
    (HEADER + "male,1,-1,1\n", {}, "'cost' is '-1' in row 1"),
    (HEADER + "male,1,nan,1\n", {}, "'cost' is 'nan' in row 1"),
    (HEADER + "male,1,inf,1\n", {}, "'cost' is 'inf' in row 1"),
    (HEADER + "male,1,,1\n", {}, "'cost' is '' in row 1"),
    (HEADER + "male,1,1,2\n", {}, "'label' is '2' in row 1"),
    (HEADER + "male,1,1,maybe\n", {}, "'label' is 'maybe' in row 1"),
]


@pytest.mark.parametrize(("text", "options", "words"), MISTAKES)
def test_files_that_are_no_log(
    tmp_path: Path, text: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError) as caught:
        written(tmp_path, text, **options)
    assert words in caught.value.what
    assert "log.csv" in caught.value.where
    assert caught.value.remedy


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_log(tmp_path / "none.csv", GROUPS)
