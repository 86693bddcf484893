"""``testsgd bench theta`` on one's own data."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
ROWS = {"A": 500, "B": 300, "C": 40}


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    regions = np.repeat(list(ROWS), list(ROWS.values()))
    granted = np.random.default_rng(0).random(len(regions)) < np.where(regions == "A", 0.7, 0.4)
    frame = pd.DataFrame({"region": regions, "granted": np.where(granted, "yes", "no")})
    frame.to_csv(folder / "people.csv", index=False)
    return frame


def scores(people: pd.DataFrame, theta: float, *, both: bool) -> list[float]:
    """Return the scores of all groups that are large enough, by hand."""
    granted = people["granted"] == "yes"
    found = []
    for count in (1, 2):
        for chosen in itertools.combinations(ROWS, count):
            inside = people["region"].isin(chosen)
            least = theta * len(people)
            if inside.sum() >= least and (not both or (~inside).sum() >= least):
                found.append(abs(granted[inside].mean() - granted[~inside].mean()))
    return found


def test_a_file_of_predictions_is_studied(testsgd: Run, folder: Path, people: pd.DataFrame) -> None:
    finished = testsgd(
        "bench", "theta", "people.csv", "--predictions", "granted", "--sensitive", "region",
        "--thetas", "0.01,0.1,0.4", "--out", "out",
    )  # fmt: skip
    assert (finished.code, finished.err) == (0, "")
    document = json.loads((folder / "out" / "theta.json").read_text(encoding="utf-8"))
    assert [row["theta"] for row in document["rows"]] == [0.01, 0.1, 0.4]
    for row in document["rows"]:
        for key in ("both_sides", "inside_only"):
            by_hand = scores(people, row["theta"], both=key == "both_sides")
            assert row[key]["rule_sets"] == len(by_hand)
            if by_hand:
                assert row[key]["first_by_score"]["size"] == pytest.approx(max(by_hand))


def test_what_is_for_a_file_is_refused_of_a_description(fails: Run) -> None:
    assert "predictions" in fails("bench", "theta", "demo", "--predictions", "granted")


def test_a_missing_column_is_one_line(fails: Run, people: pd.DataFrame) -> None:
    line = fails("bench", "theta", "people.csv", "--predictions", "grant", "--sensitive", "region")
    assert "granted" in line
