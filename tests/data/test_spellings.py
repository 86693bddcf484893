"""Values of a sensitive feature that differ only in case or blanks: it is said, and what joins."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import testsgd
from testsgd.data.column_notes import column_notes_among, spelled_alike
from testsgd.data.description_text import describe_file

ROWS = 600


def people() -> pd.DataFrame:
    source = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": source.choice(["Female", "female", "Male"], ROWS),
            "town": source.choice(["a", "A"], ROWS),
            "approved": source.choice(["no", "yes"], ROWS),
        }
    )


def notes(frame: pd.DataFrame, **options: Any) -> list[str]:
    result = testsgd.audit_metrics(
        frame["approved"], sensitive_features=frame[["sex"]], favourable="yes", **options
    )
    return column_notes_among(result.summary.data.notes)


def test_values_are_alike_but_for_case_and_blanks() -> None:
    values = ["New York", "a", " new  york", "NewYork", "b", "A"]
    assert spelled_alike(values) == [("New York", " new  york"), ("a", "A")]


def test_a_report_says_so_unless_they_are_joined_or_given() -> None:
    frame = people()
    [note] = notes(frame)
    for part in ("Female", "female", "of sex"):
        assert part in note
    assert notes(frame, features={"sex": {"map": {"female": "Female"}}}) == []
    assert notes(frame, features={"sex": {"values": ["Female", "female", "Male"]}}) == []
    assert notes(frame.assign(sex=frame["sex"].str.lower())) == []


def test_what_a_comment_of_a_description_says_can_be_done(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    text = describe_file(tmp_path / "people.csv", sensitive=["sex"], label="approved")
    # Of features that are not sensitive nothing is said.
    [comment] = [line for line in text.splitlines() if line.startswith("# if “")]
    [joining] = re.findall(r"add (map = \{.*\}) and", comment)
    text = text.replace('values = ["Female", "Male", "female"]', 'values = ["Female", "Male"]')
    text = text.replace("[features.sex]", f"[features.sex]\n{joining}")
    (tmp_path / "people.toml").write_text(text, encoding="utf-8")
    table = testsgd.load_table(testsgd.load_specification(tmp_path / "people.toml"))
    assert set(table.frame["sex"]) == {"Female", "Male"}
