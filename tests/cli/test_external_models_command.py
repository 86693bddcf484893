"""``testsgd audit FILE --model``: models that run outside of testsgd."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import model_server
import numpy as np
import pandas as pd
import pytest

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
QUICK = ("--replicates", "99", "--stability", "0")


@pytest.fixture
def people(folder: Path) -> Path:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"sex": source.choice(["f", "m"], 300), "age": source.integers(18, 80, 300)}
    )
    path = folder / "people.csv"
    rows.to_csv(path, index=False)
    return path


def answer(rows: model_server.Rows, _: int) -> list[str]:
    return ["yes" if row["age"] > 40 + 20 * (row["sex"] == "f") else "no" for row in rows]


def test_an_address_is_audited_and_its_answers_are_kept(
    testsgd: Run, folder: Path, people: Path
) -> None:
    with model_server.served(answer) as server:
        arguments = ("audit", people.name, "--sensitive", "sex", "--model", server.url, *QUICK)
        finished = testsgd(*arguments, "--answers", "answers.sqlite")
        assert (finished.code, finished.err) == (0, "")
        asked = server.rows
        again = testsgd(*arguments, "--answers", "answers.sqlite")
        assert (again.code, again.err) == (0, "")
        assert server.rows == asked > 0
    result = json.loads((folder / "reports/people/result.json").read_text(encoding="utf-8"))
    assert result["groups"][0]["text"] in ("sex = f", "sex = m")
    assert result["model"]["name"] == server.url


def test_answers_of_another_model_are_not_kept(fails: Run, people: Path) -> None:
    error = fails("audit", people.name, "--sensitive", "sex", "--model", "a:b", "--answers", "kept")
    assert "--answers" in error


def test_an_endpoint_that_is_down_is_one_line(
    fails: Run, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("testsgd.models.posting.FIRST_PAUSE", 0.01)
    error = fails("audit", people.name, "--sensitive", "sex", "--model", "http://127.0.0.1:1/")
    assert "127.0.0.1:1" in error


SCORE = """
import csv, sys

for row in csv.DictReader(sys.stdin):
    print("yes" if int(row["age"]) > 40 + 20 * (row["sex"] == "f") else "no")
"""


def test_a_command_is_audited(testsgd: Run, folder: Path, people: Path) -> None:
    (folder / "score.py").write_text(SCORE, encoding="utf-8")
    command = f"cmd:{shlex.join([sys.executable, 'score.py'])}"
    finished = testsgd("audit", people.name, "--sensitive", "sex", "--model", command, *QUICK)
    assert (finished.code, finished.err) == (0, "")
    result = json.loads((folder / "reports/people/result.json").read_text(encoding="utf-8"))
    assert result["groups"][0]["text"] in ("sex = f", "sex = m")
    assert result["model"]["name"] == command


def test_a_command_that_fails_is_one_line(fails: Run, people: Path) -> None:
    command = f"cmd:{shlex.join([sys.executable, 'no_such_script.py'])}"
    error = fails("audit", people.name, "--sensitive", "sex", "--model", command)
    assert "no_such_script.py" in error
