"""Columns of texts of which nearly all cells are numbers: it is said, and how to declare them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import infer_column
from testsgd.data.column_notes import column_notes_among
from testsgd.data.description_text import describe_file
from testsgd.data.unread_numbers import unread_numbers
from testsgd.errors import ParameterError

ROWS = 600


def people(text: str = "k.A.", every: int = 20) -> pd.DataFrame:
    """Return rows in which the age of some is a text."""
    source = np.random.default_rng(3)
    age = source.integers(18, 78, ROWS).astype(str).astype(object)
    age[::every] = text
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "age": age,
            "approved": source.choice(["no", "yes"], ROWS),
        }
    )


def counted(cells: Any) -> dict[str, int]:
    return {str(text): int(count) for text, count in pd.Series(cells).value_counts().items()}


def test_the_cells_that_are_numbers_are_counted() -> None:
    found = unread_numbers(counted(people()["age"]))
    assert found is not None
    assert (found.numbers, found.cells, found.texts) == (570, 600, ("k.A.",))
    assert found.whole
    column = infer_column(people()["age"])
    assert column.kind == "categorical"
    for part in ("570", "600", "k.A."):
        assert part in column.why
    objects = people()["age"].map(lambda text: int(text) if text.isdecimal() else text)
    assert infer_column(objects.rename("age")) == column


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([*map(str, range(60)), *["k.A."] * 20], id="a fourth are texts"),
        pytest.param([*list(map(str, range(10))) * 9, "other"], id="ten numbers"),
        pytest.param([*map(str, range(60)), *"abcdef"], id="six texts"),
        pytest.param([f"{code:05}" for code in range(60)], id="zeros in front"),
        pytest.param([*(f"1,{code}" for code in range(2, 60)), "other"], id="lists of codes"),
        pytest.param([*(str(10**20 + code) for code in range(60)), "none"], id="many digits"),
    ],
)
def test_other_texts_are_no_numbers(cells: list[str]) -> None:
    assert unread_numbers(counted(cells)) is None


def test_a_report_says_so_unless_a_type_is_given() -> None:
    frame = people()

    def note(**options: Any) -> str | None:
        result = testsgd.audit_predictions(
            frame["approved"], sensitive_features=frame[["sex", "age"]], stability=0, **options
        )
        return next(iter(column_notes_among(result.summary.data.notes)), None)

    said = note()
    assert said is not None
    assert all(part in said for part in ("age", "570", "600", "k.A."))
    assert note(features={"age": {"type": "categorical"}}) is None
    frame["age"] = pd.to_numeric(frame["age"], errors="coerce")
    assert note() is None


def test_what_a_comment_of_a_description_says_can_be_done(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    text = describe_file(tmp_path / "people.csv", sensitive=["sex", "age"], label="approved")
    [comment] = [line for line in text.splitlines() if line.startswith("#") and "k.A." in line]
    [added] = re.findall(r'add (".*?") to missing', comment)
    [keys] = re.findall(r"by (type = .*?\]), without", comment)
    section = text.index("[features.age]")
    corrected = text[section:].splitlines()
    lines = ["[features.age]", *keys.split(" and "), "sensitive = true"]
    rest = corrected[corrected.index("") :] if "" in corrected else []
    text = text[:section].replace("missing = [", f"missing = [{added}, ")
    text += "\n".join([*lines, *rest]) + "\n"
    assert tomllib.loads(text)["features"]["age"]["type"] == "integer"
    (tmp_path / "people.toml").write_text(text, encoding="utf-8")
    table = testsgd.load_table(testsgd.load_specification(tmp_path / "people.toml"))
    ages = pd.to_numeric(people()["age"], errors="coerce")
    np.testing.assert_array_equal(table.frame["age"].astype(float), ages)


def test_an_error_says_what_is_no_number() -> None:
    source = np.random.default_rng(4)
    frame = people().assign(pay=source.normal(3000, 500, ROWS).round(2).astype(str))
    frame.loc[::20, "pay"] = "unknown"
    with pytest.raises(ParameterError) as raised:
        testsgd.audit_predictions(frame["approved"], sensitive_features=frame[["pay"]])
    assert raised.value.where == "sensitive"
    assert "570" in str(raised.value)
    assert "unknown" in str(raised.value.remedy)


def test_decimal_commas_between_commas_are_said(tmp_path: Path) -> None:
    source = np.random.default_rng(5)
    amounts = [f"{amount:.2f}".replace(".", ",") for amount in source.normal(50, 9, ROWS)]
    frame = people().assign(pay=amounts)
    frame.to_csv(tmp_path / "people.csv", index=False)
    read = testsgd.data.read_frame(tmp_path / "people.csv")
    column = infer_column(read["pay"])
    assert not pd.api.types.is_numeric_dtype(read["pay"].dtype)
    assert column.unread is not None
    assert column.unread.example == amounts[0]
    assert amounts[0] in column.why
    with pytest.raises(ParameterError, match=amounts[0]):
        testsgd.audit_predictions(read["approved"], sensitive_features=read[["pay"]])
    # Beside semicolons they are numbers.
    frame.to_csv(tmp_path / "people.csv", index=False, sep=";")
    read = testsgd.data.read_frame(tmp_path / "people.csv")
    assert infer_column(read["pay"]).kind == "decimal"
