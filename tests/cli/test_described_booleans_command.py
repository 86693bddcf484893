"""A file with a column of True and False: a model is given booleans, described or not."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest
from model_server import served

from testsgd import audit

folder, testsgd = command_line.folder, command_line.testsgd

Run = Callable[..., Any]
ROWS = 600
FUNCTION = """\
import numpy as np

def employed(frame):
    return np.where(frame["employed"], "yes", "no")
"""
PROGRAM = """\
import csv, sys

for row in csv.DictReader(sys.stdin):
    print("yes" if row["employed"] == "True" else "no")
"""


@pytest.fixture(params=[False, True], ids=["whole", "missing"])
def people(folder: Path, request: pytest.FixtureRequest) -> pd.DataFrame:
    """Write rows in which men are employed far more often, some of them without that cell."""
    source = np.random.default_rng(3)
    sex = source.choice(["f", "m"], ROWS)
    employed = source.random(ROWS) < np.where(sex == "m", 0.9, 0.3)
    frame = pd.DataFrame({"sex": sex, "employed": employed})
    if request.param:
        frame["employed"] = frame["employed"].astype(object).mask(source.random(ROWS) < 0.1)
    frame["income"] = source.normal(40, 9, ROWS).round(1)
    frame["granted"] = np.where(source.random(ROWS) < 0.5, "yes", "no")
    frame.to_csv(folder / "people.csv", index=False)
    return frame


def rates(
    testsgd: Run, folder: Path, *options: str, sensitive: str = "sex"
) -> list[list[tuple[Any, ...]]]:
    """Return the groups of the audits without and with a description."""
    finished = testsgd("init", "people.csv", "--label", "granted", "--sensitive", sensitive)
    assert finished.code == 0
    (folder / "people.toml").write_text(finished.out, encoding="utf-8")
    quick = ("--fail-above", "0.1", "--replicates", "99", "--stability", "0", "--format", "json")
    found = []
    for arguments in (
        ("people.csv", "--label", "granted", "--sensitive", sensitive),
        ("people.toml", "--data", "people.csv"),
    ):
        finished = testsgd("audit", *arguments, *options, *quick, "--force", "--out", "out")
        assert finished.code == 1, finished.err
        document = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
        found.append(
            sorted(
                (group["text"], group["n_in"], group["rate_in"], group["rate_out"])
                for group in document["groups"]
            )
        )
    return found


@pytest.mark.parametrize("sensitive", ["sex", "sex,employed"])
def test_a_function(testsgd: Run, folder: Path, people: Any, sensitive: str) -> None:
    (folder / "emp_function.py").write_text(FUNCTION)
    options = ("--model", "emp_function:employed")
    bare, described = rates(testsgd, folder, *options, sensitive=sensitive)
    assert bare == described
    truthy = people["employed"].astype(object).map(bool)
    for name in ("f", "m"):
        rates_of = [rate for text, _, rate, _ in described if text == f"sex = {name}"]
        assert rates_of in ([], [pytest.approx(truthy[people["sex"] == name].mean())])
    sys.modules.pop("emp_function", None)


@pytest.mark.parametrize("sensitive", ["sex", "sex,employed"])
def test_a_described_file_is_audited_as_the_frame_is(
    testsgd: Run, folder: Path, people: Any, sensitive: str
) -> None:
    finished = testsgd("init", "people.csv", "--label", "granted", "--sensitive", sensitive)
    (folder / "people.toml").write_text(finished.out, encoding="utf-8")

    def employed(frame: pd.DataFrame) -> Any:
        assert not any(isinstance(cell, str) for cell in frame["employed"])
        return np.where(frame["employed"] == True, "yes", "no")  # noqa: E712

    of_file, of_frame = (
        audit(employed, rows, "people.toml", replicates=99, stability=0)
        for rows in ("people.csv", people)
    )
    pd.testing.assert_frame_equal(of_file.groups, of_frame.groups)
    assert of_file.summary.data.fingerprint == of_frame.summary.data.fingerprint


def test_a_command(testsgd: Run, folder: Path, people: Any) -> None:
    (folder / "score.py").write_text(PROGRAM)
    bare, described = rates(testsgd, folder, "--model", f"cmd:{sys.executable} score.py")
    assert bare == described


def test_an_endpoint(testsgd: Run, folder: Path, people: Any) -> None:
    with served(lambda rows, _: ["yes" if row["employed"] else "no" for row in rows]) as server:
        bare, described = rates(testsgd, folder, "--model", server.url)
    assert bare == described
    cells = {type(row["employed"]) for rows in server.requests for row in rows}
    assert cells <= {bool, type(None)}


def test_a_pipeline_in_a_file(testsgd: Run, folder: Path, people: Any) -> None:
    joblib = pytest.importorskip("joblib")
    pytest.importorskip("sklearn")
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    inputs = people[["employed", "income"]].astype(float)
    model = make_pipeline(SimpleImputer(), DecisionTreeClassifier(max_depth=2, random_state=0))
    model.fit(inputs, np.where(people["employed"] == True, "yes", "no"))  # noqa: E712
    joblib.dump(model, folder / "tree.joblib")
    bare, described = rates(testsgd, folder, "--model", "tree.joblib", "--trust-pickle")
    assert bare == described


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_booster_in_a_file(testsgd: Run, folder: Path, people: Any, library: str) -> None:
    module = pytest.importorskip(library)
    inputs = people[["employed", "income"]].astype(float)
    target = (people["employed"] == True).astype(int)  # noqa: E712
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if library == "lightgbm":
            options = {"objective": "binary", "verbose": -1, "num_threads": 1}
            path = "model.txt"
            module.train(options, module.Dataset(inputs, target), 5).save_model(folder / path)
        else:
            path = "model.ubj"
            rows = module.DMatrix(inputs, target)
            module.train({"objective": "binary:logistic"}, rows, 5).save_model(folder / path)
    (folder / "people.csv").write_text(
        people.assign(granted=(people["granted"] == "yes").astype(int)).to_csv(index=False)
    )
    bare, described = rates(testsgd, folder, "--model", path)
    assert bare == described
