"""``testsgd audit FILE --predictions COLUMN --metrics ...``: several metrics from the shell."""

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

from testsgd.data import load_specification, load_table
from testsgd.models import load_model

folder, testsgd = command_line.folder, command_line.testsgd

Run = Callable[..., Any]
ROWS = 1500


@pytest.fixture
def people(folder: Path) -> str:
    source = np.random.default_rng(2)
    rows = pd.DataFrame({"sex": source.choice(["Female", "Male"], ROWS)})
    rows["race"] = source.choice(list("AB"), ROWS)
    rows["repaid"] = source.choice(["no", "yes"], ROWS)
    harmed = (rows["sex"] == "Female") & (source.random(ROWS) < 0.4)
    rows["approved"] = np.where(harmed, "no", rows["repaid"])
    rows["wage"] = source.normal(50, 5, ROWS) - 5 * (rows["sex"] == "Female")
    rows["weight"] = source.random(ROWS)
    rows["negative"] = -1.0
    rows.to_csv(folder / "people.csv", index=False)
    return "people.csv"


def of_approved(people: str, *options: str) -> tuple[str, ...]:
    return ("audit", people, "--predictions", "approved", "--sensitive", "sex,race", *options)


def saved(folder: Path) -> dict[str, Any]:
    text = (folder / "reports" / "people" / "result.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def test_several_metrics(testsgd: Run, folder: Path, people: str) -> None:
    options = ("--label", "repaid", "--metrics", "selection_rate,equalized_odds")
    finished = testsgd(*of_approved(people, *options))
    assert finished.code == 0
    document = saved(folder)
    assert document["schema"] == "testsgd.metrics/1"
    assert [metric["name"] for metric in document["metrics"]] == [
        "selection_rate",
        "true_positive_rate",
        "false_positive_rate",
    ]
    assert "sex = Female" in finished.out


def test_numbers_need_no_option(testsgd: Run, folder: Path, people: str) -> None:
    assert testsgd("audit", people, "--predictions", "wage", "--sensitive", "sex").code == 0
    assert saved(folder)["predictions"] == "numbers"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--rule", "four-fifths"], 1),
        (["--measure", "ratio", "--fail-below", "0.1"], 0),
        (["--metrics", "selection_rate", "--fail-above", "0.05"], 1),
        (["--weights", "weight"], 0),
        (["--reference", "sex = Male"], 0),
        (["--weights", "negative"], 2),
        (["--weights", "heavy"], 2),
        (["--metrics", "recall"], 2),
        (["--metrics", "accuracy"], 2),
        (["--measure", "quotient"], 2),
        (["--reference", "sex = Mal"], 2),
        (["--rule", "three-fifths"], 2),
        (["--metrics", "selection_rate", "--theta", "0.1"], 2),
    ],
)
def test_exit_codes(testsgd: Run, people: str, options: list[str], code: int) -> None:
    finished = testsgd(*of_approved(people, *options))
    assert finished.code == code
    if code == 2:
        assert len(finished.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "option", [("--weights", "income"), ("--predictions", "granted"), ("--counts", "income")]
)
def test_what_is_for_files_of_rows_is_refused_elsewhere(
    testsgd: Run, option: tuple[str, str]
) -> None:
    assert testsgd("audit", "demo", "--metrics", "accuracy", *option).code == 2


def test_rows_with_a_description_by_several_metrics(testsgd: Run, folder: Path) -> None:
    """Against the rates of the model's decisions, by the bins of the description."""
    specification = load_specification("demo")
    table = load_table(specification)
    decided = load_model("demo", specification).model.decisions(table.frame)
    true = (table.labels == specification.label.favourable).to_numpy()
    asked = ("--metrics", "selection_rate,true_positive_rate", "--replicates", "99")
    assert testsgd("audit", "demo", *asked).code == 0
    found = json.loads((folder / "reports" / "demo" / "result.json").read_text(encoding="utf-8"))
    assert not found["data"]["predictions_given"]
    assert found["model"]["queries"] == len(table)
    planted = table.frame.query("gender == 'female' and race == 'Black' and 40 <= age < 70").index
    inside = table.frame.index.isin(planted)
    for metric, counted in zip(found["metrics"], (inside, inside & true), strict=True):
        text = "gender = female and race = Black and 40 <= age < 70"
        [group] = [item for item in metric["groups"] if item["text"] == text]
        assert group["value"] == pytest.approx(decided[counted].mean(), rel=1e-12)


def test_texts_have_no_metrics(testsgd: Run) -> None:
    assert testsgd("audit", "imdb", "--metrics", "accuracy").code == 2


@pytest.fixture
def pipe(folder: Path, people: str) -> str:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    rows = pd.read_csv(folder / people)
    encode = make_column_transformer((OneHotEncoder(), ["sex", "race"]), remainder="passthrough")
    model = make_pipeline(encode, DecisionTreeClassifier(max_depth=3, random_state=0))
    model.fit(rows[["sex", "race", "wage"]], rows["approved"])
    joblib.dump(model, folder / "pipe.joblib")
    return "pipe.joblib"


def test_a_model_by_several_metrics(testsgd: Run, folder: Path, people: str, pipe: str) -> None:
    """The same as an audit of a column of its predictions."""
    columns = ("--label", "repaid", "--sensitive", "sex,race", "--weights", "weight")
    asked = ("--metrics", "selection_rate,equalized_odds", *columns)
    model = ("--model", pipe, "--trust-pickle")
    assert testsgd("audit", people, *model, *asked).code == 0
    found = saved(folder)
    assert found["model"]["queries"] == ROWS
    assert not found["data"]["predictions_given"]
    rows = pd.read_csv(folder / people)
    rows["approved"] = joblib.load(folder / pipe).predict(rows[["sex", "race", "wage"]])
    rows.to_csv(folder / people, index=False)
    assert testsgd("audit", people, "--predictions", "approved", *asked).code == 0
    expected = saved(folder)

    def values(document: dict[str, Any]) -> dict[tuple[str, str], list[float]]:
        return {
            (metric["name"], group["text"]): [group["value"], group["effect"]]
            for metric in document["metrics"]
            for group in metric["groups"]
        }

    assert values(found).keys() == values(expected).keys()
    for key, numbers in values(found).items():
        # Sums of weights depend on their order in the last digits.
        assert numbers == pytest.approx(values(expected)[key], abs=1e-12)
    assert expected["model"] is None


def test_a_model_decides_by_itself_beside_metrics_of_scores(
    testsgd: Run, folder: Path, people: str
) -> None:
    """And not by what is more likely than not."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import FixedThresholdClassifier

    rows = pd.read_csv(folder / people)
    inputs = rows[["wage", "weight"]]
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label="yes")
    model.fit(inputs, rows["approved"])
    joblib.dump(model, folder / "strict.joblib")
    expected = {
        "selection_rate": (model.predict(inputs) == "yes").mean(),
        "accuracy": (model.predict(inputs) == rows["repaid"]).mean(),
        "mean_score": model.predict_proba(inputs)[:, 1].mean(),
    }
    columns = ("--label", "repaid", "--sensitive", "sex", "--metrics", ",".join(expected))
    finished = testsgd("audit", people, "--model", "strict.joblib", "--trust-pickle", *columns)
    assert finished.code == 0
    found = {metric["name"]: metric["overall"] for metric in saved(folder)["metrics"]}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    "options",
    [
        ("--metrics", "precision"),
        ("--model", "pipe.joblib", "--trust-pickle", "--metrics", "mean", "--sensitive", "sex"),
        ("--model", "pipe.joblib", "--trust-pickle", "--metrics", "precision"),
        ("--model", "pipe.joblib", "--predictions", "approved", "--rule", "four-fifths"),
    ],
)
def test_a_model_by_metrics_in_vain(
    testsgd: Run, people: str, pipe: str, options: tuple[str, ...]
) -> None:
    finished = testsgd("audit", people, *options)
    assert finished.code == 2
    assert len(finished.err.strip().splitlines()) == 1


def test_a_regression_needs_no_option(testsgd: Run, folder: Path, people: str) -> None:
    """Its labels are numbers, so that it is compared by means."""
    from sklearn.linear_model import LinearRegression

    rows = pd.read_csv(folder / people)
    salary = rows["wage"] * 1.5 + 0.25
    rows.assign(salary=salary).to_csv(folder / "salaries.csv", index=False)
    joblib.dump(LinearRegression().fit(rows[["wage"]], salary), folder / "line.joblib")
    model = ("--model", "line.joblib", "--trust-pickle", "--label", "salary")
    assert testsgd("audit", "salaries.csv", *model, "--sensitive", "sex").code == 0
    found = json.loads((folder / "reports" / "salaries" / "result.json").read_text())
    assert found["predictions"] == "numbers"
    assert [metric["name"] for metric in found["metrics"]] == ["mean", "mean_error"]


def test_predicted_amounts_may_have_a_currency(testsgd: Run, folder: Path, people: str) -> None:
    rows = pd.read_csv(folder / people)
    amounts = np.arange(900, 900 + len(rows)) * 3
    rows.assign(pay=[f"${amount:,}" for amount in amounts]).to_csv(folder / people, index=False)
    asked = ("--predictions", "pay", "--sensitive", "sex", "--metrics", "mean")
    assert testsgd("audit", people, *asked).code == 0
    women = amounts[rows["sex"] == rows["sex"].min()].mean()
    [group] = [
        group
        for group in saved(folder)["metrics"][0]["groups"]
        if group["text"] == f"sex = {rows['sex'].min()}"
    ]
    assert group["value"] == pytest.approx(women, rel=1e-12)


def test_held_out_and_like_with_like(testsgd: Run, folder: Path, people: str) -> None:
    options = ("--metrics", "selection_rate", "--condition-on", "repaid", "--holdout", "0.4")
    assert testsgd(*of_approved(people, *options)).code == 0
    document = saved(folder)
    assert document["holdout"]["estimated"] == round(0.4 * ROWS)
    first = document["metrics"][0]["groups"][0]
    assert first["explanation"]["alike"]["features"] == ["repaid"]
    assert first["in_search"]["rank"] >= 1


def test_a_model_is_asked_about_a_sample_only(
    testsgd: Run, folder: Path, people: str, pipe: str
) -> None:
    model = ("--model", pipe, "--trust-pickle", "--label", "repaid")
    asked = ("--metrics", "selection_rate", "--sensitive", "sex", "--limit", "400", "--seed", "3")
    assert testsgd("audit", people, *model, *asked).code == 0
    found = saved(folder)
    assert found["model"]["queries"] == found["data"]["rows"] == 400


def test_strict_metrics_conclude_nothing_from_a_wide_interval(folder: Path, testsgd: Run) -> None:
    """Women and men are selected alike, but of 150 each a difference of ten points may be."""
    people = pd.DataFrame({"sex": ["f", "m"] * 150, "said": [1, 1, 0, 0] * 75})
    people.to_csv(folder / "people.csv", index=False)
    asked = ["audit", "people.csv", "--predictions", "said", "--sensitive", "sex"]
    asked += ["--metrics", "selection_rate", "--fail-above", "0.1"]
    assert testsgd(*asked).code == 0
    finished = testsgd(*asked, "--strict", "--max-unjudged", "0.02")
    assert finished.code == 3
    assert "which is strict" in finished.out
