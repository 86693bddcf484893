"""A mitigation is killed at any moment, and goes on to the end that it would have had."""

from __future__ import annotations

import shutil
from pathlib import Path

import joblib
import pytest
from killing import Ended, Killer, files_of, spread
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from testsgd.data import generate_demo

MOST = 4

pytestmark = pytest.mark.skops


def write_inputs(folder: Path) -> None:
    people = generate_demo(rows=600, seed=4)
    people.to_csv(folder / "people.csv", index=False)
    encode = make_column_transformer(
        (OneHotEncoder(), ["gender", "race", "housing", "purpose"]), remainder=StandardScaler()
    )
    model = make_pipeline(encode, LogisticRegression())
    model.fit(people.drop(columns="granted"), people["granted"])
    joblib.dump(model, folder / "new.joblib")


def test_it_goes_on_to_the_same_end(killer: Killer, tmp_path: Path) -> None:
    pytest.importorskip("skops")
    write_inputs(tmp_path)

    def mitigate(method: str, *options: str, kill_at: int | None = None) -> Ended:
        return killer.run(
            "mitigate", "people.csv", "--model", "new.joblib", "--trust-pickle",
            "--sensitive", "gender,race", "--label", "granted", "--method", method,
            "--max-accuracy-drop", "20", "--max-balanced-drop", "20", "--max-features", "1",
            "--jobs", "1", "--quiet", "--reproducible",
            "--out", "reports", "--model-out", "mitigated", *options,
            kill_at=kill_at, prepared_by="child_programs:play_few_rounds",
        )  # fmt: skip

    reports, model = tmp_path / "reports", tmp_path / "mitigated"
    first = mitigate("thresholds")
    assert (first.code in {0, 1, 3}, first.err) == (True, "")
    for name in ("reports", "mitigated"):
        shutil.copytree(tmp_path / name, tmp_path / "kept" / name)
    old = files_of(reports)
    whole = mitigate("play")
    assert whole.code in {0, 1, 3}
    new, new_model = files_of(reports), files_of(model)
    for step in spread(whole.steps, MOST):
        for name in ("reports", "mitigated"):
            shutil.rmtree(tmp_path / name)
            shutil.copytree(tmp_path / "kept" / name, tmp_path / name)
        assert mitigate("play", kill_at=step).killed
        found = files_of(reports)
        assert all(found[name] in (old[name], new[name]) for name in old)
        asked = killer.run(
            "audit", "people.csv", "--model", "mitigated/model.skops", "--sensitive", "gender",
            "--label", "granted", "--max-features", "1", "--out", "audited", "--quiet",
            "--replicates", "99", "--stability", "0",
        )  # fmt: skip
        assert asked.code == 0 or (asked.code == 2 and asked.err.count("\n") == 1)
        assert mitigate("play", "--resume").code == whole.code
        assert files_of(reports) == new
        assert files_of(model) == new_model
        assert sorted(path.name for path in model.iterdir()) == sorted(new_model)
