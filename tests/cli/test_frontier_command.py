"""``testsgd mitigate`` of rows: a frontier, of described data or of a file of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

# What is fitted again is written with it.
pytest.importorskip("skops")

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
Fails = Callable[..., str]

QUICK = ["--jobs", "1", "--format", "json"]


@pytest.fixture
def people(folder: Path) -> Path:
    """A file of rows whose labels are harder on women, and a model that learnt them."""

    source = np.random.default_rng(2)
    sex = source.choice(["f", "m"], 3_000)
    points = source.normal(0, 1, 3_000).round(2)
    granted = points - 0.8 * (sex == "f") + source.logistic(0, 0.4, 3_000) > 0
    rows = pd.DataFrame({"sex": sex, "points": points, "granted": np.where(granted, "yes", "no")})
    rows.to_csv("people.csv", index=False)
    encode = make_column_transformer(
        (OneHotEncoder(drop="if_binary"), ["sex"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression())
    joblib.dump(model.fit(rows[["sex", "points"]], rows["granted"]), "pipe.joblib")
    return folder


OF_FILE = [
    "mitigate", "people.csv", "--model", "pipe.joblib", "--trust-pickle",
    "--sensitive", "sex", "--label", "granted",
]  # fmt: skip


@pytest.mark.slow
def test_a_file_of_rows_needs_no_description(testsgd: Run, people: Path) -> None:
    finished = testsgd(*OF_FILE, "--max-accuracy-drop", "8", *QUICK)
    result = json.loads((people / "reports/people-mitigated/result.json").read_text("utf-8"))
    assert finished.code == result["verdict"]["exit_code"] == 0
    assert result["verdict"]["headline"] in " ".join(finished.out.split())
    assert (people / "models/people-mitigated/model.skops").is_file()
    before, point = result["worst_before"], result["points"][result["chosen"]]
    assert abs(point["worst"]["difference"]) < abs(before["difference"])
    card = json.loads((people / "models/people-mitigated/card.json").read_text("utf-8"))
    assert card["headline"] == result["verdict"]["headline"]
    assert card["held-out worst difference"] == abs(point["worst"]["difference"])
    over_neighbours = [
        card["worst difference over neighbours before"],
        card["worst difference over neighbours"],
    ]
    assert over_neighbours == result["neighbourhood"]
    assert card["held-out worst group before"] == before["group"]
    assert card["held-out worst difference, interval of the change"] == result["worst_change"]
    assert card["gaps of groups that grew too much"] == result["effects"]["exceeded_count"]
    assert card["groups that lost too much accuracy"] == result["effects"]["lossy_count"]


def test_what_a_file_of_rows_lacks_is_said(fails: Fails, people: Path) -> None:
    assert "--label" in fails(*OF_FILE[:-2], *QUICK)
    assert "--model" in fails("mitigate", "people.csv", "--sensitive", "sex", "--label", "granted")
    assert "'wages'" in fails(*OF_FILE[:-1], "wages", *QUICK)
    assert "--method" in fails(*OF_FILE, "--method", "samples")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method", "magic"],
        ["--method", "play", "--group", "2"],
        ["--method", "penalty", "--export", "samples.csv"],
        ["--method", "thresholds", "--runs", "5"],
        ["--method", "samples", "--sensitive", "gender"],
        ["--method", "samples", "--objective", "equalized_odds"],
        ["--group", "1", "--min-share", "0.1"],
        ["--sensitive", "gender"],
        ["--max-accuracy-drop", "-1"],
        ["--objective", "beauty"],
    ],
)
def test_what_does_not_go_together_is_refused(
    fails: Fails, people: Path, arguments: list[str]
) -> None:
    line = fails("mitigate", "demo", *arguments)
    assert arguments[-2].strip("-").replace("-", "_") in line.replace("-", "_")


def test_a_network_is_trained_on_by_default(testsgd: Run, people: Path) -> None:
    finished = testsgd("mitigate", "demo", "--limit", "1000", "--max-features", "1", *QUICK)
    result = json.loads((people / "reports/demo-mitigated/result.json").read_text("utf-8"))
    assert result["method"] == "penalty"
    assert finished.code == result["verdict"]["exit_code"]
    written = result["chosen"] is not None
    assert (people / "models/demo-mitigated/model.keras").is_file() is written


@pytest.fixture
def earlier(people: Path) -> Path:
    """The folder of the model of an earlier run, in which the user has a file too."""
    from testsgd.models import model_folder
    from testsgd.models.files import write_retrained_card
    from testsgd.models.skops_files import SKOPS_FILE, write_skops

    new_model = people / "models/people-mitigated"
    with model_folder(new_model) as staging:
        write_skops(joblib.load("pipe.joblib"), staging / SKOPS_FILE)
        write_retrained_card(staging, {}, {"verdict": "fairer"}, model_file=SKOPS_FILE)
    (new_model / "notes.txt").write_text("mine", encoding="utf-8")
    return new_model


# Functions, which cannot be fitted again: one gives scores, the other one label.
FUNCTIONS = """
import numpy as np


def scores(rows):
    return 1 / (1 + np.exp(-(rows["points"] + 0.8 * (rows["sex"] == "m") - 0.4)))


def constant(rows):
    return np.array(["yes"] * len(rows))
"""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def with_function(people: Path, name: str) -> list[str]:
    (people / "functions_to_mitigate.py").write_text(FUNCTIONS, encoding="utf-8")
    return [
        "mitigate", "people.csv", "--model", f"functions_to_mitigate:{name}", "--sensitive", "sex",
        "--label", "granted", "--favourable", "yes", *QUICK,
    ]  # fmt: skip


def test_thresholds_do_not_stand_beside_the_model_of_an_earlier_run(
    testsgd: Run, people: Path, earlier: Path
) -> None:
    assert names(earlier) == {"model.skops", "card.json", "notes.txt"}
    chosen = ("--method", "thresholds", "--max-accuracy-drop", "8")
    testsgd(*with_function(people, "scores"), *chosen)
    assert names(earlier) == {"thresholds.json", "notes.txt"}


@pytest.mark.slow
def test_a_folder_that_still_holds_an_earlier_model_is_named(
    testsgd: Run, people: Path, earlier: Path
) -> None:
    finished = testsgd(*with_function(people, "constant"), "--method", "ensemble", "--limit", "600")
    assert finished.code != 0
    assert names(earlier) == {"model.skops", "card.json", "notes.txt"}
    said = " ".join(finished.out.split())
    assert "earlier run" in said
    assert str(Path("models/people-mitigated")) in said
    # Without one there is nothing to name.
    finished = testsgd(
        *with_function(people, "constant"),
        "--method",
        "ensemble",
        "--limit",
        "600",
        "--model-out",
        "empty",
    )
    assert "earlier run" not in finished.out


def test_the_model_that_is_mitigated_stays_in_its_folder(people: Path, earlier: Path) -> None:
    from testsgd.io import sha256_of_file
    from testsgd.models import model_folder

    digest = sha256_of_file(earlier / "model.skops")
    with model_folder(earlier, original=digest) as staging:
        (staging / "thresholds.json").write_text("{}", encoding="utf-8")
    assert {"model.skops", "card.json", "notes.txt"} < names(earlier)


def test_a_model_that_was_changed_since_is_not_removed(people: Path, earlier: Path) -> None:
    from testsgd.models import model_folder

    (earlier / "model.skops").write_bytes(b"of another tool")
    with model_folder(earlier) as staging:
        (staging / "thresholds.json").write_text("{}", encoding="utf-8")
    assert names(earlier) == {"model.skops", "thresholds.json", "notes.txt"}
