"""A column that says of which person a row is: it is said that rows are no independent units."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import specification_from_mapping
from testsgd.data.column_notes import column_notes_among
from testsgd.data.description_text import describe_file

PEOPLE = 60


def rows(name: str, *, times: int = 10) -> pd.DataFrame:
    source = np.random.default_rng(4)
    count = PEOPLE * times
    return pd.DataFrame(
        {
            name: source.permutation(np.repeat(np.arange(PEOPLE), times)),
            "sex": source.choice(["f", "m"], count),
            "approved": source.choice(["no", "yes"], count),
        }
    )


def notes(frame: pd.DataFrame) -> list[str]:
    result = testsgd.audit(
        lambda people: np.where(people["sex"] == "f", "no", "yes"),
        frame.drop(columns="approved"),
        frame["approved"],
        sensitive_features=["sex"],
        favourable="yes",
        stability=0,
    )
    return column_notes_among(result.summary.data.notes)


@pytest.mark.parametrize("name", ["person_id", "Patient number", "customerID", "client_no", "ssn"])
def test_a_column_of_people_with_several_rows_is_named(name: str) -> None:
    [note] = notes(rows(name))
    assert name in note
    assert "cluster" in note


@pytest.mark.parametrize(
    ("name", "times"), [("person_id", 1), ("school_id", 10), ("amount", 10), ("paid", 10)]
)
def test_others_are_not(name: str, times: int) -> None:
    assert notes(rows(name, times=times)) == []


def test_init_has_the_table_to_take_in(tmp_path: Path) -> None:
    rows("person_id").to_csv(tmp_path / "people.csv", index=False)
    text = describe_file(tmp_path / "people.csv", sensitive=["sex"], label="approved")
    assert "data" not in tomllib.loads(text)
    taken = text.replace("# [data]", "[data]").replace("# cluster", "cluster")
    specification = specification_from_mapping(tomllib.loads(taken))
    assert specification.data.cluster == "person_id"
