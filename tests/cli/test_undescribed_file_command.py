"""``testsgd audit FILE``: a file of rows that nobody described."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

from testsgd.data import generate_demo, load_specification, load_table

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
QUICK = ("--replicates", "99", "--stability", "0")


@pytest.fixture
def people(folder: Path) -> Path:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"sex": source.choice(["f", "m"], 600), "age": source.integers(18, 80, 600)}
    )
    rows["approved"] = np.where(source.random(600) < 0.4 + 0.4 * (rows["sex"] == "m"), "yes", "no")
    rows["repaid"] = source.choice(["yes", "no"], 600)
    path = folder / "people.csv"
    rows.to_csv(path, index=False)
    return path


def test_predictions_in_a_file_need_no_description(
    testsgd: Run, folder: Path, people: Path
) -> None:
    finished = testsgd(
        "audit", people.name, "--predictions", "approved", "--sensitive", "sex,age", *QUICK
    )
    assert (finished.code, finished.err) == (0, "")
    written = folder / "reports" / "people"
    result = json.loads((written / "result.json").read_text(encoding="utf-8"))
    assert result["groups"][0]["text"] in ("sex = f", "sex = m")
    # The labels are a feature like any other if nobody says what they are.
    assert {"sex", "age", "repaid"} == {item["name"] for item in result["data"]["inferred"]}


def test_whole_numbers_of_many_values_are_numbers(testsgd: Run, people: Path) -> None:
    finished = testsgd("audit", people.name, "--predictions", "age", "--sensitive", "sex")
    assert finished.code == 0
    assert "Mean prediction" in finished.out


def test_a_gate_holds_for_predictions(testsgd: Run, people: Path) -> None:
    arguments = ("audit", people.name, "--predictions", "approved", "--sensitive", "sex", *QUICK)
    assert testsgd(*arguments, "--fail-above", "0.2").code == 1
    assert testsgd(*arguments, "--fail-above", "0.9").code == 0


def test_a_model_of_the_working_folder_is_asked(testsgd: Run, folder: Path, people: Path) -> None:
    (folder / "decider_of_rows.py").write_text(
        "def decide(frame):\n    return ['yes' if age > 40 else 'no' for age in frame['age']]\n",
        encoding="utf-8",
    )
    finished = testsgd(
        "audit",
        people.name,
        *("--model", "decider_of_rows:decide", "--label", "repaid", "--sensitive", "sex"),
        *QUICK,
    )
    assert (finished.code, finished.err) == (0, "")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((), "predictions"),
        (("--sensitive", "sex"), "predictions"),
        (("--predictions", "approved"), "sensitive"),
        (("--predictions", "aproved", "--sensitive", "sex"), "approved"),
        (("--predictions", "approved", "--sensitive", "sex,hight"), "hight"),
        (("--predictions", "approved", "--sensitive", "sex", "--label", "nothing"), "nothing"),
        (("--predictions", "sex", "--sensitive", "approved"), "favorable"),
        (("--predictions", "approved", "--model", "a:b", "--sensitive", "sex"), "model"),
        (("--predictions", "approved", "--sensitive", "sex", "--mode", "sampled"), "mode"),
    ],
)
def test_mistakes_name_the_option(
    fails: Run, people: Path, options: tuple[str, ...], named: str
) -> None:
    assert named in fails("audit", people.name, *options)


def test_a_file_that_is_not_there_is_not_taken_for_a_data_set(fails: Run, folder: Path) -> None:
    error = fails("audit", "nothing.csv", "--predictions", "a", "--sensitive", "b")
    assert "catalogue" not in error


def test_columns_cannot_be_named_for_described_data(fails: Run, folder: Path) -> None:
    assert "--sensitive" in fails("audit", "demo", "--predictions", "granted", "--sensitive", "age")


def test_a_gate_by_ratios_fails_where_one_by_differences_passes(testsgd: Run, folder: Path) -> None:
    rows = pd.DataFrame({"sex": ["m", "f"] * 500, "got": [0, 0, 0, 0, 1, 0, 0, 0, 0, 0] * 100})
    rows.to_csv(folder / "rare.csv", index=False)
    arguments = ("audit", "rare.csv", "--predictions", "got", "--sensitive", "sex", *QUICK)
    assert testsgd(*arguments, "--fail-above", "0.25").code == 0
    assert testsgd(*arguments, "--fail-above", "0.25", "--fail-below-ratio", "0.8").code == 1


def test_impact_ratios_are_written_beside_the_report(testsgd: Run, folder: Path) -> None:
    rows = pd.DataFrame({"sex": ["m", "f"] * 500, "race": ["a", "a", "b", "b"] * 250})
    rows["got"] = [1, 0, 1, 1] * 250
    rows.to_csv(folder / "people.csv", index=False)
    arguments = ("audit", "people.csv", "--predictions", "got", "--sensitive", "sex", *QUICK)
    finished = testsgd(*arguments, "--out", "there", "--impact-ratios", "sex,race")
    assert (finished.code, finished.err) == (0, "")
    table = pd.read_csv(folder / "there" / "impact-ratios.csv").set_index("category")
    assert table.loc["f", "impact_ratio"] == 0.5
    assert table.loc["f, a", "selected"] == 0
    for wrong in ("sex", "sex,nothing"):
        assert testsgd(*arguments, "--impact-ratios", wrong).code == 2
    assert testsgd("audit", "demo", "--impact-ratios", "gender,race").code == 2
    assert testsgd(*arguments, "--impact-ratios", "sex,race", "--limit", "500").code == 2
    chosen = ("--rows", "race = a", "--out", "chosen", "--impact-ratios", "sex,race")
    assert testsgd(*arguments, *chosen).code == 0
    table = pd.read_csv(folder / "chosen" / "impact-ratios.csv")
    assert table.loc[table["by"] == "sex", "applicants"].tolist() == [250, 250, 0]


def test_impact_ratios_of_scores_list_no_score(fails: Run, folder: Path) -> None:
    rows = pd.DataFrame({"sex": ["m", "f"] * 500, "race": ["a", "a", "b", "b"] * 250})
    rows["points"] = np.random.default_rng(0).normal(14, 3, len(rows))
    rows.to_csv(folder / "people.csv", index=False)
    arguments = ("audit", "people.csv", "--predictions", "points", "--sensitive", "sex", *QUICK)
    message = fails(*arguments, "--impact-ratios", "sex,race")
    assert "points" in message
    assert "--favorable" not in message


def test_impact_ratios_count_people_and_take_no_weights(
    testsgd: Run, fails: Run, folder: Path
) -> None:
    rows = pd.DataFrame({"sex": ["m", "f"] * 500, "race": ["a", "a", "b", "b"] * 250})
    rows["got"] = [1, 0, 1, 1] * 250
    rows.assign(w=np.where(rows["got"] == 1, 5, 1)).to_csv(folder / "people.csv", index=False)
    arguments = ("audit", "people.csv", "--predictions", "got", "--sensitive", "sex", *QUICK)
    weighted = (*arguments, "--weights", "w")
    assert testsgd(*weighted).code == 0
    assert "--weights" in fails(*weighted, "--impact-ratios", "sex,race")


def harmed(folder: Path, name: str, column: str) -> str:
    """Write a file of decisions that 63 of 100 women and 31 of 100 men get; return its name."""
    rows = pd.DataFrame({"sex": ["female", "male"] * 400})
    place = np.arange(len(rows)) // 2 % 100
    rows[column] = (place < np.where(rows["sex"] == "female", 63, 31)).astype(int)
    rows.to_csv(folder / name, index=False)
    return name


@pytest.mark.parametrize(
    ("options", "first", "kept"),
    [
        ((), "men", ("benefit", False)),
        (("--outcome", "benefit"), "men", ("benefit", True)),
        (("--outcome", "harm"), "women", ("harm", True)),
    ],
)
def test_the_headline_names_the_side_that_is_worse_off(
    testsgd: Run, folder: Path, options: tuple[str, ...], first: str, kept: tuple[str, bool]
) -> None:
    name = harmed(folder, "decided.csv", "denied")
    audited = ("audit", name, "--predictions", "denied", "--sensitive", "sex", *QUICK)
    finished = testsgd(*audited, *options)
    assert (finished.code, finished.err) == (0, "")
    written = folder / "reports" / "decided"
    result = json.loads((written / "result.json").read_text(encoding="utf-8"))
    assert result["verdict"]["headline"].lower().startswith(f"{first} ")
    label = result["data"]["label"]
    assert (label["outcome"], label["outcome_given"]) == kept
    # Where nobody said what the label is, the report says how to; where somebody did, it does not.
    for report in ("report.md", "report.html"):
        text = (written / report).read_text(encoding="utf-8")
        assert ("--outcome" in text) is not kept[1]


def test_the_definition_hints_at_a_harm_by_the_name_of_a_column(testsgd: Run, folder: Path) -> None:
    told = {}
    for column in ("denied", "granted"):
        name = harmed(folder, f"{column}.csv", column)
        testsgd("audit", name, "--predictions", column, "--sensitive", "sex", *QUICK)
        report = (folder / "reports" / column / "report.md").read_text(encoding="utf-8")
        [told[column]] = [line for line in report.splitlines() if "--outcome" in line]
    # The column is named once as such, and once more where it sounds like a harm.
    assert told["denied"].count("denied") == told["granted"].count("granted") + 1


def test_a_model_of_a_file_is_told_what_its_label_is(testsgd: Run, folder: Path) -> None:
    name = harmed(folder, "decided.csv", "denied")
    (folder / "denier_of_rows.py").write_text(
        "def deny(frame):\n    return [int(sex == 'female') for sex in frame['sex']]\n",
        encoding="utf-8",
    )
    arguments = ("audit", name, "--model", "denier_of_rows:deny", "--label", "denied")
    finished = testsgd(*arguments, "--sensitive", "sex", "--outcome", "harm", *QUICK)
    assert (finished.code, finished.err) == (0, "")
    result = json.loads((folder / "reports" / "decided" / "result.json").read_text("utf-8"))
    assert result["verdict"]["headline"].lower().startswith("women ")


@pytest.mark.parametrize(
    "options",
    [("--outcome", "bad"), ("--outcome", "harm", "--rule", "four-fifths")],
)
def test_an_outcome_that_is_none_or_of_metrics_is_refused_in_one_line(
    fails: Run, people: Path, options: tuple[str, ...]
) -> None:
    arguments = ("audit", people.name, "--predictions", "approved", "--sensitive", "sex")
    assert "outcome" in fails(*arguments, *options)


@pytest.mark.parametrize("name", ["m.foo", "j.pt", "folder"])
def test_a_model_of_an_unknown_kind_is_named(
    fails: Callable[..., str], folder: Path, people: Path, name: str
) -> None:
    path = folder / name
    path.mkdir() if name == "folder" else path.write_bytes(b"x")
    line = fails("audit", people.name, "--model", name, "--sensitive", "sex")
    assert name in line
    assert ".skops" in line


@pytest.fixture
def incomes(folder: Path) -> Path:
    """Rows with the labels of Adult."""
    source = np.random.default_rng(3)
    rows = pd.DataFrame({"sex": source.choice(["f", "m"], 300), "hours": range(300)})
    rows["income"] = np.where(source.random(300) < 0.3, ">50K", "<=50K")
    path = folder / "incomes.csv"
    rows.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("by", [(), ("--metrics", "selection_rate")])
def test_the_larger_side_of_two_is_favourable_and_said_to_be_a_guess(
    testsgd: Run, folder: Path, incomes: Path, by: tuple[str, ...]
) -> None:
    arguments = ("audit", incomes.name, "--predictions", "income", "--sensitive", "sex", *by)
    arguments = (*arguments, "--replicates", "99")
    guessed = testsgd(*arguments)
    assert guessed.code == 0
    assert "--favorable '<=50K'" in guessed.out
    written = folder / "reports" / "incomes" / "result.json"
    result = json.loads(written.read_text(encoding="utf-8"))
    assert any("--favorable '<=50K'" in note for note in result["data"]["notes"])
    given = testsgd(*arguments, "--favorable", ">50K", "--out", "given")
    assert given.code == 0
    assert "--favorable" not in given.out
    named = json.loads((folder / "given" / "result.json").read_text(encoding="utf-8"))
    places = "metrics" if by else "groups"
    assert named[places] == result[places]


def test_several_labels_with_commas_are_favourable_together(
    testsgd: Run, folder: Path, people: Path
) -> None:
    rows = pd.read_csv(people)
    rows["grade"] = np.where(rows["age"] > 60, "perhaps", rows["approved"])
    rows.to_csv(people, index=False)
    arguments = ("audit", people.name, "--predictions", "grade", "--sensitive", "sex")
    labels = ("--favorable", "yes,perhaps", "--quiet")
    for more in ((*QUICK, "--impact-ratios", "sex,approved"), ("--metrics", "selection_rate")):
        assert testsgd(*arguments, *labels, *more, "--out", more[-2].strip("-")).code == 0
        written = folder / more[-2].strip("-") / "result.json"
        result = json.loads(written.read_text(encoding="utf-8"))
        assert result["data"]["label"]["favourable"] == "perhaps or yes"


@pytest.mark.parametrize("options", [[], ["--metrics", "selection_rate"]])
def test_numbers_with_separators_of_thousands_are_audited_and_described(
    testsgd: Run, folder: Path, people: Path, options: list[str]
) -> None:
    source = np.random.default_rng(5)
    rows = pd.read_csv(people)
    rows["income"] = [f"${amount:,}" for amount in source.integers(900, 90_000, len(rows))]
    rows.to_csv(people, index=False)
    asked = ("--predictions", "approved", "--sensitive", "income", *QUICK, *options)
    assert testsgd("audit", people.name, *asked).code == 0
    result = json.loads((folder / "reports/people/result.json").read_text(encoding="utf-8"))
    [income] = [item for item in result["data"]["inferred"] if item["name"] == "income"]
    assert income["kind"] == "integer"
    assert rows["income"].iloc[0] in income["why"]
    described = testsgd("init", people.name, "--sensitive", "income", "--label", "approved")
    (folder / "people.toml").write_text(described.out, encoding="utf-8")
    table = load_table(load_specification(folder / "people.toml"), file=people)
    assert table.frame["income"].between(900, 90_000).all()


@pytest.mark.parametrize("by", [(), ("--metrics", "selection_rate")])
def test_sensitive_columns_are_named_once_and_are_no_predictions(
    testsgd: Run, fails: Callable[..., str], people: Path, by: tuple[str, ...]
) -> None:
    arguments = ("audit", people.name, "--predictions", "approved", *by)
    assert "sensitive" in fails(*arguments)
    assert "approved" in fails(*arguments, "--sensitive", "approved,sex")
    assert testsgd(*arguments, "--sensitive", "sex,sex", "--replicates", "99").code == 0


@pytest.fixture
def towns(folder: Path) -> Path:
    source = np.random.default_rng(3)
    rows = pd.DataFrame({"sex": source.choice(["Köln", "Besançon"], 600)})
    rows["approved"] = np.where(source.random(600) < 0.4, "oui", "refusé")
    rows["age"] = source.integers(18, 80, 600)
    path = folder / "towns.csv"
    rows.to_csv(path, index=False, encoding="latin-1")
    return path


AUDIT_OF_TOWNS = ("audit", "towns.csv", "--predictions", "approved", "--sensitive", "sex", *QUICK)


@pytest.mark.parametrize(
    "arguments",
    [AUDIT_OF_TOWNS, (*AUDIT_OF_TOWNS, "--metrics", "selection_rate"), ("init", "towns.csv")],
)
def test_a_file_in_another_encoding_needs_one_option(
    testsgd: Run, fails: Callable[..., str], towns: Path, arguments: tuple[str, ...]
) -> None:
    assert "--encoding" in fails(*arguments)
    finished = testsgd(*arguments, "--favorable", "oui", "--encoding", "latin-1")
    assert (finished.code, finished.err) == (0, "")
    assert "Köln" in finished.out or "Besançon" in finished.out


def test_a_description_of_another_encoding_reads_it(
    testsgd: Run, folder: Path, towns: Path
) -> None:
    finished = testsgd("init", towns.name, "--favorable", "oui", "--encoding", "latin-1")
    described = folder / "towns.toml"
    described.write_text(finished.out, encoding="utf-8")
    table = load_table(load_specification(described))
    assert set(table.frame["sex"]) == {"Köln", "Besançon"}


def test_an_encoding_is_of_a_file_that_has_no_description(
    testsgd: Run, fails: Callable[..., str], towns: Path
) -> None:
    assert "encoding" in fails("audit", "demo", "--encoding", "latin-1")
    assert "encoding" in fails("mitigate", "demo", "--encoding", "latin-1")
    assert "--encoding" in fails("mitigate", towns.name, "--label", "approved")


def test_no_row_and_no_identifier_is_in_a_report(testsgd: Run, folder: Path) -> None:
    rows = generate_demo(rows=600, seed=0)
    # Everyone has a name and a text of their own.
    rows["id"] = [f"Zebulon-{number}" for number in range(len(rows))]
    rows["remark"] = [f"remark {number} on the xylophonist" for number in range(len(rows))]
    rows.to_csv(folder / "rows.csv", index=False)
    words = ("--predictions", "granted", "--sensitive", "gender,race", "--replicates", "99")
    options = ("--stability", "0", "--format", "html,md,json,csv", "--out", "reports")
    finished = testsgd("audit", "rows.csv", *words, *options)
    assert finished.code in (0, 3), finished
    written = [path.read_text(encoding="utf-8") for path in (folder / "reports").iterdir()]
    assert written
    for text in (*written, finished.out, finished.err):
        assert "Zebulon" not in text
        assert "xylophonist" not in text


def test_the_terminal_says_which_texts_keep_a_column_from_being_numbers(
    testsgd: Run, people: Path
) -> None:
    asked = ("audit", people.name, "--predictions", "approved", "--sensitive", "sex,age", *QUICK)
    assert "cells are numbers" not in testsgd(*asked).out
    rows = pd.read_csv(people, dtype=str)
    rows.loc[::20, "age"] = "k.A."
    rows.to_csv(people, index=False)
    for metrics in ((), ("--metrics", "selection_rate")):
        printed = " ".join(testsgd(*asked, *metrics).out.split())
        assert all(part in printed for part in ("570 of 600", "k.A.", "testsgd init"))
