"""Cells of a file of text as a model's encoder knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.data import read_frame


@pytest.mark.parametrize(
    ("cells", "known", "expected"),
    [
        (["clerk", "nurse "], ["clerk", "nurse "], ["clerk", "nurse "]),
        (["clerk", " nurse"], ["clerk", " nurse"], ["clerk", " nurse"]),
        # One that knows both tells them apart.
        (["nurse", "nurse "], ["nurse", "nurse "], ["nurse", "nurse "]),
        (["clerk", "nurse "], ["clerk", "nurse"], ["clerk", "nurse"]),
        (["01", "02"], [1, 2], [1, 2]),
        (["01", "b"], [1, 2], ["01", "b"]),
        (["01", "02"], ["01", "02"], ["01", "02"]),
        (["1", "2"], ["1", "2"], ["1", "2"]),
        (["1", "?"], ["1", "?"], ["1", "?"]),
        (["a", "?"], ["a", "?"], ["a", "?"]),
        (["a", "?"], ["a", "b"], ["a", None]),
        (["a", "NA"], ["a", "NA"], ["a", "NA"]),
        (["TRUE", "FALSE"], [True, False], [True, False]),
        (["true", ""], [True, False], [True, None]),
        (["1", "3"], [1, 2], [1, 3]),
        (["a ", "c "], ["a ", "b "], ["a ", "c"]),
    ],
)
def test_cells_are_given_as_an_encoder_knows_them(
    cells: list[str], known: list[Any], expected: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"x,{cell},y" for cell in cells]
    path.write_text("\n".join(["first,job,last", *lines]) + "\n", encoding="utf-8")
    frame = read_frame(path, known={"job": known, "absent": ["z"]})
    column = frame["job"].astype(object)
    assert column.where(column.notna(), None).tolist() == expected
    others = frame.drop(columns="job")
    pd.testing.assert_frame_equal(others, read_frame(path).drop(columns="job"))


def test_a_quotation_behind_a_blank_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('job,place\n clerk, "a, b"\n cook, "c, d"\n', encoding="utf-8")
    frame = read_frame(path, known={"job": [" clerk", " cook"]})
    assert frame["place"].tolist() == ["a, b", "c, d"]


def test_files_with_types_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"grade": "01"}\n{"grade": "02"}\n', encoding="utf-8")
    assert read_frame(path, known={"grade": [1, 2]})["grade"].tolist() == ["01", "02"]
    assert np.all(read_frame(path)["grade"] == ["01", "02"])
