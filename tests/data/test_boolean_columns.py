"""Columns of True and False in described files: booleans, as they are without a description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.auditing.report.membership import rules_mask
from testsgd.data import (
    DatasetSpecification,
    Table,
    load_table,
    read_frame,
    specification_from_mapping,
)
from testsgd.data.described_rows import read_rows
from testsgd.report.summaries import RuleSummary
from testsgd.sampling import moved

HEADER = "sex,member,paid\n"


def specification(**member: Any) -> DatasetSpecification:
    found = specification_from_mapping(
        {
            "dataset": {"name": "bills"},
            "parse": {"missing": ["", "NA"]},
            "label": {"column": "paid", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
                "member": {"type": "categorical", "values": ["False", "True"], **member},
            },
        }
    )
    assert isinstance(found, DatasetSpecification)
    return found


def written(folder: Path, cells: list[str], name: str = "bills.csv") -> Path:
    path = folder / name
    rows = [f"{'fm'[at % 2]},{cell},{['yes', 'no'][at % 2]}\n" for at, cell in enumerate(cells)]
    path.write_text(HEADER + "".join(rows), encoding="utf-8")
    return path


def table_of(path: Path, **member: Any) -> Table:
    return load_table(specification(**member), file=path)


@pytest.mark.parametrize(
    "cells",
    [
        ["True", "False", "True"],
        ["true", "false", "true"],
        [" True", "false", "true "],
        ["True", "", "False"],
        ["true", "NA", "false"],
        ["True", "True", "True"],
    ],
)
@pytest.mark.parametrize("values", [["False", "True"], ["true", "false"]])
def test_they_are_what_they_are_without_a_description(
    tmp_path: Path, cells: list[str], values: list[str]
) -> None:
    path = written(tmp_path, cells)
    table = table_of(path, values=values)
    pd.testing.assert_series_equal(table.frame["member"], read_frame(path)["member"])
    places = {value.lower(): place for place, value in enumerate(values)}
    expected = [places.get(cell.strip().lower(), -1) for cell in cells]
    assert table.codes("member").tolist() == expected
    assert table.missing["member"] == expected.count(-1)


def test_a_name_of_its_own_changes_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, ["True", "False"])
    renamed = path.read_text().replace("member", "is_member")
    path.write_text(renamed)
    assert table_of(path, column="is_member").frame["member"].dtype == bool


@pytest.mark.parametrize(
    ("cells", "member"),
    [
        (["True", "False"], {"values": ["False", "True", "unknown"]}),
        (["True", "unknown"], {"values": ["False", "True", "unknown"]}),
        (["True", "true"], {"values": ["True", "true", "False"]}),
        (["1", "0"], {"map": {"1": "True", "0": "False"}}),
        (["True", "False"], {"map": {"True": "yes", "False": "no"}, "values": ["no", "yes"]}),
        (["", ""], {}),
    ],
)
def test_other_columns_are_texts_as_before(
    tmp_path: Path, cells: list[str], member: dict[str, Any]
) -> None:
    column = table_of(written(tmp_path, cells), **member).frame["member"]
    assert isinstance(column.dtype, pd.CategoricalDtype)
    renames = member.get("map", {})
    assert column.dropna().tolist() == [renames.get(cell, cell) for cell in cells if cell]


def test_several_files_are_one_column(tmp_path: Path) -> None:
    first = written(tmp_path, ["True", "False"], "a.csv")
    second = written(tmp_path, ["", "true"], "b.csv")
    third = written(tmp_path, ["", ""], "c.csv")
    frame = read_rows([first, second, third], specification())
    assert frame["member"].isna().tolist() == [False, False, True, False, True, True]
    assert frame["member"].dropna().tolist() == [True, False, True]
    assert all(isinstance(cell, bool) for cell in frame["member"].dropna())
    assert read_rows([first, first], specification())["member"].dtype == bool


def test_rows_that_a_filter_leaves_keep_their_cells(tmp_path: Path) -> None:
    path = written(tmp_path, ["True", "False", "False", "True"])
    changed = specification().model_dump(mode="json", exclude_unset=True)
    found = specification_from_mapping(
        {**changed, "filters": [{"column": "sex", "none_of": ["f"]}]}
    )
    assert isinstance(found, DatasetSpecification)
    frame = read_rows([path], found)
    assert frame.index.tolist() == [1, 3]
    assert frame["member"].tolist() == [False, True]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_file_with_types_keeps_them(tmp_path: Path, ending: str, missing: bool) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    cells = [True, None if missing else False, False]
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "member": cells, "paid": ["yes", "no", "yes"]})
    path = tmp_path / f"bills.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    pd.testing.assert_series_equal(table_of(path).frame["member"], read_frame(path)["member"])


def test_texts_of_a_file_with_types_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "bills.jsonl"
    rows = [("f", "True", "yes"), ("m", "False", "no")]
    frame = pd.DataFrame(rows, columns=["sex", "member", "paid"])
    frame.to_json(path, orient="records", lines=True)
    assert table_of(path).frame["member"].tolist() == ["True", "False"]


def test_a_column_that_only_the_model_needs_is_read_so_too(tmp_path: Path) -> None:
    path = tmp_path / "bills.csv"
    path.write_text("sex,member,paid,late\nf,True,yes, true\nm,False,no,False\n", encoding="utf-8")
    frame = load_table(specification(), file=path, passed=("late",)).frame
    assert frame["late"].dtype == bool
    texts = load_table(specification(), file=path, passed=("late",), typed=False).frame
    assert texts["late"].tolist() == ["true", "False"]
    assert texts["member"].tolist() == ["True", "False"]


@pytest.mark.parametrize("values", [["False", "True"], ["false", "true"]])
def test_a_moved_cell_is_a_boolean(tmp_path: Path, values: list[str]) -> None:
    table = table_of(written(tmp_path, ["True", "True", "False"]), values=values)
    feature = table.specification.features["member"]
    column, changed = moved(table.frame["member"].iloc[:2], feature, "member", -1)
    assert column.dtype == bool
    assert column.tolist() == [False, False]
    assert changed.tolist() == [True, True]


def test_rules_speak_of_the_declared_texts(tmp_path: Path) -> None:
    table = table_of(written(tmp_path, ["True", "false", ""]), values=["false", "true"])
    for values, expected in ((["true"], [True, False, False]), (["false"], [False, True, False])):
        rule = RuleSummary(feature="member", values=values, low=None, high=None, text="")
        np.testing.assert_array_equal(rules_mask([rule], table.frame), expected)
