"""Predictions in a file that a corrected description says how to read."""

from __future__ import annotations

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
QUICK = ("--replicates", "99", "--stability", "0", "--quiet")


@pytest.fixture
def described(testsgd: Run, folder: Path) -> Path:
    source = np.random.default_rng(4)
    rows = pd.DataFrame(
        {"sex": source.choice(["f", "m"], 900), "age": source.integers(18, 80, 900)}
    )
    rows["said"] = np.where(source.random(900) < 0.3 + 0.4 * (rows["sex"] == "m"), "yes", "no")
    rows["true"] = source.choice(["no", "yes"], 900)
    rows["w"] = source.uniform(0.5, 2, 900)
    rows.to_csv(folder / "people.csv", index=False)
    printed = testsgd("init", "people.csv", "--sensitive", "sex,age", "--label", "true").out
    edited = [
        "edges = [18, 40, 80]" if line.startswith("edges") else line
        for line in printed.splitlines()
    ]
    (folder / "people.toml").write_text("\n".join(edited), encoding="utf-8")
    return folder / "people.csv"


def result(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "reports" / "people" / "result.json").read_text(encoding="utf-8"))


def test_what_was_corrected_holds_and_the_file_beside_is_found(
    testsgd: Run, folder: Path, described: Path
) -> None:
    assert testsgd("audit", "people.toml", "--predictions", "said", *QUICK).code == 0
    people = pd.read_csv(described)
    men = next(group for group in result(folder)["groups"] if group["text"] == "sex = m")
    assert men["rate_in"] == (people[people["sex"] == "m"]["said"] == "yes").mean()
    assert "age < 40" in {group["text"] for group in result(folder)["groups"]}
    # The label of the description is the true label.
    assert men["base_rate_in"] == (people[people["sex"] == "m"]["true"] == "yes").mean()


def test_metrics_and_weights_are_of_the_same_rows(
    testsgd: Run, folder: Path, described: Path
) -> None:
    finished = testsgd(
        "audit",
        "people.toml",
        "--data",
        described.name,
        "--predictions",
        "said",
        "--metrics",
        "accuracy",
        "--weights",
        "w",
        "--replicates",
        "99",
        "--quiet",
    )
    assert (finished.code, finished.err) == (0, "")
    people = pd.read_csv(described)
    right = np.average(people["said"] == people["true"], weights=people["w"])
    assert result(folder)["metrics"][0]["overall"] == pytest.approx(right)


def test_the_label_may_be_the_predictions(testsgd: Run, folder: Path, described: Path) -> None:
    assert testsgd("audit", "people.toml", "--predictions", "true", *QUICK).code == 0
    assert result(folder)["groups"][0]["base_rate_in"] is None


def test_labels_are_renamed_and_joined_on_both_sides(testsgd: Run, folder: Path) -> None:
    source = np.random.default_rng(5)
    rows = pd.DataFrame({"sex": source.choice(["f", "m"], 600)})
    rows["code"] = source.integers(0, 2, 600)
    rows["truth"] = source.choice([0, 1], 600)
    rows["said"] = source.choice(["deny", "grant", "later"], 600)
    rows["true"] = source.choice(["deny", "grant", "later"], 600)
    rows.to_csv(folder / "rows.csv", index=False)
    printed = testsgd("init", "rows.csv", "--sensitive", "sex", "--label", "truth").out
    lines = printed.replace(
        '["0", "1"]', '["refused", "granted"]\nmap = {0="refused", 1="granted"}'
    )
    lines = lines.replace('favourable = "1"', 'favourable = "granted"')
    (folder / "mapped.toml").write_text(lines, encoding="utf-8")
    assert testsgd("audit", "mapped.toml", "--predictions", "code", *QUICK).code == 0
    named = ("--sensitive", "sex", "--label", "true", "--favorable", "grant,later")
    (folder / "joined.toml").write_text(testsgd("init", "rows.csv", *named).out, encoding="utf-8")
    out = ("--out", "joined", *QUICK)
    assert testsgd("audit", "joined.toml", "--predictions", "said", *out).code == 0
    written = json.loads((folder / "joined" / "result.json").read_text(encoding="utf-8"))
    group = written["groups"][0]
    rated = rows[rows["sex"] == group["text"].removeprefix("sex = ")]["said"]
    assert group["rate_in"] == (rated != "deny").mean()


@pytest.mark.parametrize(
    "options",
    [
        ("--predictions", "sex"),
        ("--predictions", "nothing"),
        ("--predictions", "said", "--weights", "true"),
        ("--predictions", "said", "--weights", "said"),
        ("--predictions", "said", "--model", "a:b"),
        ("--predictions", "said", "--sensitive", "sex"),
        ("--rule", "four-fifths", "--fail-below", "0.5", "--predictions", "said"),
        (),
    ],
)
def test_mistakes_are_one_line(
    fails: Callable[..., str], described: Path, options: tuple[str, ...]
) -> None:
    assert fails("audit", "people.toml", *options)


def test_predictions_that_are_a_label_no_row_has_are_one_line(
    fails: Callable[..., str], folder: Path, described: Path
) -> None:
    pd.read_csv(described).drop(columns="true").to_csv(folder / "without.csv", index=False)
    line = fails("audit", "people.toml", "--data", "without.csv", "--predictions", "true")
    assert "'true'" in line


def test_a_folder_is_no_file(fails: Callable[..., str], folder: Path) -> None:
    (folder / "parts").mkdir()
    assert "parquet" in fails("audit", "parts", "--predictions", "said", "--sensitive", "sex")


def test_names_in_quotes_may_have_commas(testsgd: Run, folder: Path, described: Path) -> None:
    people = pd.read_csv(described).rename(columns={"sex": "sex, at birth"})
    people.to_csv(folder / "renamed.csv", index=False)
    arguments = (
        "audit",
        "renamed.csv",
        "--predictions",
        "said",
        "--sensitive",
        '"sex, at birth",age',
    )
    assert testsgd(*arguments, *QUICK).code == 0


def test_labels_of_which_none_is_favourable_by_name_are_both_named(
    fails: Callable[..., str], folder: Path, described: Path
) -> None:
    line = fails("audit", "people.csv", "--predictions", "sex", "--sensitive", "said")
    assert "--favorable f" in line
    assert "--favorable m" in line


def test_rows_of_one_person_are_one_unit_and_metrics_take_none(
    testsgd: Run, fails: Run, folder: Path, described: Path
) -> None:
    rows = pd.read_csv(described).assign(person=range(900))
    pd.concat([rows] * 3).to_csv(described, index=False)
    with (folder / "people.toml").open("a", encoding="utf-8") as file:
        file.write('\n[data]\ncluster = "person"\n')
    asked = ("audit", "people.toml", "--data", described.name, "--predictions", "said")
    assert testsgd(*asked, *QUICK).code == 0
    data = result(folder)["data"]
    assert (data["cluster"], data["independent"], data["rows"]) == ("person", 900, 2700)
    for option in (("--metrics", "selection_rate"), ("--weights", "w"), ("--reference", "best")):
        assert "'person'" in fails(*asked, *option, *QUICK)


@pytest.mark.parametrize("of", ["predictions", "model"])
def test_the_column_of_people_is_named_without_a_description(
    testsgd: Run, fails: Run, folder: Path, described: Path, of: str
) -> None:
    rows = pd.read_csv(described).assign(person=range(900))
    pd.concat([rows] * 3).to_csv(described, index=False)
    (folder / "model.py").write_text(
        "def grant(rows):\n    return (rows['sex'] == 'f').map({True: 'yes', False: 'no'})\n",
        encoding="utf-8",
    )
    given = ("--predictions", "said") if of == "predictions" else ("--model", "model:grant")
    asked = ("audit", described.name, *given, "--sensitive", "sex", "--cluster", "person")
    assert testsgd(*asked, *QUICK).code == 0
    data = result(folder)["data"]
    assert (data["cluster"], data["independent"], data["rows"]) == ("person", 900, 2700)
    for option in (("--metrics", "selection_rate"), ("--reference", "best")):
        assert "'person'" in fails(*asked, *option, *QUICK)
    assert "nobody" in fails(*asked[:-1], "nobody", *QUICK)


def test_a_description_names_the_column_of_people_itself(
    fails: Run, folder: Path, described: Path
) -> None:
    asked = ("audit", "people.toml", "--data", described.name, "--predictions", "said")
    assert "--cluster" in fails(*asked, "--cluster", "person", *QUICK)
