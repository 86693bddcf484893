"""Columns of whole numbers in described files: numbers, as they are without a description."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.data import (
    DatasetSpecification,
    Table,
    load_table,
    read_frame,
    specification_from_mapping,
)
from testsgd.errors import DataError


def specification(values: list[str], label: dict[str, Any] | None = None, **code: Any) -> Any:
    found = specification_from_mapping(
        {
            "dataset": {"name": "bills"},
            "parse": {"missing": ["", "NA"]},
            "label": label or {"column": "paid", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
                "code": {"type": "categorical", "values": values, **code},
            },
        }
    )
    assert isinstance(found, DatasetSpecification)
    return found


def written(folder: Path, cells: list[str], paid: tuple[str, str] = ("yes", "no")) -> Path:
    path = folder / "bills.csv"
    rows = [f"{'fm'[at % 2]},{cell},{paid[at % 2]}\n" for at, cell in enumerate(cells)]
    path.write_text("sex,code,paid\n" + "".join(rows), encoding="utf-8")
    return path


def table_of(path: Path, values: list[str], **code: Any) -> Table:
    return load_table(specification(values, **code), file=path)


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2", "10"],
        ["1.0", "2.0", "10.0"],
        ["1", "", "2"],
        ["1.0", "NA", "2.0"],
        ["-1", "0", "1"],
    ],
)
def test_they_are_as_without_a_description(cells: list[str], tmp_path: Path) -> None:
    path = written(tmp_path, cells)
    values = sorted({cell.partition(".")[0] for cell in cells if cell not in ("", "NA")})
    described = table_of(path, values)
    pd.testing.assert_series_equal(described.frame["code"], read_frame(path)["code"])


@pytest.mark.parametrize("kind", ["int64", "float64", "Int64", "int8"])
def test_a_file_with_types_keeps_them(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    codes = pd.Series([1, 2, 2, 1], dtype=kind)
    rows = pd.DataFrame({"sex": list("fmfm"), "code": codes, "paid": ["yes", "no"] * 2})
    path = tmp_path / "bills.parquet"
    rows.to_parquet(path)
    described = table_of(path, ["1", "2"]).frame["code"]
    assert described.dtype == read_frame(path)["code"].dtype
    assert described.tolist() == codes.tolist()
    # Numbers that the file has as texts are texts.
    rows.assign(code=codes.map({1: "1", 2: "2"})).to_parquet(path)
    assert table_of(path, ["1", "2"]).frame["code"].tolist() == ["1", "2", "2", "1"]


@pytest.mark.parametrize(
    ("cells", "values", "options"),
    [
        (["1", "2", "2"], ["one", "two"], {"map": {"1": "one", "2": "two"}}),
        (["1.0", "2.0", "2.0"], ["one", "two"], {"map": {"1": "one", "2": "two"}}),
        (["1", "2", "other"], ["1", "2", "other"], {}),
        (["01", "02", "02"], ["01", "02"], {}),
        (["1.0", "2.0", "x"], ["1", "2", "x"], {}),
    ],
)
def test_other_categories_are_texts(
    cells: list[str], values: list[str], options: dict[str, Any], tmp_path: Path
) -> None:
    column = table_of(written(tmp_path, cells), values, **options).frame["code"]
    assert isinstance(column.dtype, pd.CategoricalDtype)
    assert set(column) == set(values)


@pytest.mark.parametrize("cell", ["3", "1.5", "3.0", "x"])
def test_a_number_that_is_not_declared_is_refused(cell: str, tmp_path: Path) -> None:
    path = written(tmp_path, ["1", "2", cell])
    with pytest.raises(DataError, match="code"):
        table_of(path, ["1", "2"])


@pytest.mark.parametrize(
    "label",
    [
        {"column": "paid", "favourable": "1", "values": ["0", "1"]},
        {"column": "paid", "favourable": "y", "values": ["n", "y"], "map": {"0": "n", "1": "y"}},
    ],
)
def test_labels_may_be_written_as_pandas_writes_numbers_beside_missing_ones(
    label: dict[str, Any], tmp_path: Path
) -> None:
    path = written(tmp_path, ["1", "2", "1"], paid=("1.0", "0.0"))
    labels = load_table(specification(["1", "2"], label), file=path).labels
    assert labels is not None
    favourable = label["favourable"]
    assert np.array_equal(labels == favourable, [True, False, True])
