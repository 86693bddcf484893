"""0 and 1 are the labels False and True, and the other way round, from every kind of model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from model_server import served
from sklearn.tree import DecisionTreeClassifier

import testsgd
from testsgd.auditing import AuditResult
from testsgd.data import booleans_as_numbers, specification_from_mapping
from testsgd.models import load_model


def people() -> pd.DataFrame:
    return pd.DataFrame({"sex": ["f", "m"] * 200, "income": np.arange(400) % 80})


def granted(rows: pd.DataFrame) -> pd.Series[Any]:
    return rows["income"] > 40 + 10 * (rows["sex"] == "f")


# What a model answers, and how the labels are written.
FORMS: dict[str, Any] = {
    "numbers": lambda known: known.astype(int),
    "booleans": lambda known: known,
    "texts of numbers": lambda known: known.astype(int).astype(str),
    "texts of booleans": lambda known: known.astype(str),
    "floats": lambda known: known.astype(float),
}


@pytest.mark.parametrize("answers", ["numbers", "booleans", "texts of booleans"])
@pytest.mark.parametrize("labels", FORMS)
def test_every_way_to_write_two_labels_is_read_the_same(answers: str, labels: str) -> None:
    rows = people()
    truth = FORMS[labels](granted(rows))

    def model(asked: pd.DataFrame) -> Any:
        return FORMS[answers](granted(asked))

    found = testsgd.audit(model, rows, truth, sensitive_features=["sex"])
    assert found.summary.model.accuracy == 1
    compared = testsgd.audit_model_by_metrics(
        model, rows, truth, sensitive_features=["sex"], metrics="accuracy"
    )
    assert compared.groups["value"].eq(1).all()
    assert compared.summary.data.label.favourable in ("1", "True")


def test_the_meaning_does_not_depend_on_how_often_the_labels_agree() -> None:
    rows = people()
    truth = ~granted(rows)
    found = testsgd.audit(
        lambda asked: granted(asked).astype(int), rows, truth, sensitive_features=["sex"]
    )
    assert found.summary.model.accuracy == 0
    assert found.summary.model.read_as == {"0": "False", "1": "True"}


def test_the_report_says_how_the_answers_are_read() -> None:
    rows = people()
    found = testsgd.audit(granted, rows, granted(rows).astype(int), sensitive_features=["sex"])
    assert "False as “0” and True as “1”" in AuditResult.document.to_markdown(found.summary)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ({"values": ["0", "1"], "favourable": "1"}, [True, False]),
        ({"values": ["1", "0"], "favourable": "0"}, [False, True]),
        ({"favourable": "1"}, [True, False]),
        ({"values": ["True", "False"], "favourable": "True"}, [True, False]),
        (
            {"values": ["0", "1"], "favourable": "1", "map": {"False": "0", "True": "1"}},
            [True, False],
        ),
        # What a description says is believed, strange as it may be.
        (
            {"values": ["0", "1"], "favourable": "1", "map": {"False": "1", "True": "0"}},
            [False, True],
        ),
        (
            {"values": ["0", "1"], "favourable": "1", "map": {"bad": "0", "good": "1"}},
            [True, False],
        ),
    ],
)
def test_booleans_in_place_of_the_labels_of_a_description(
    label: dict[str, Any], expected: list[bool]
) -> None:
    specification = specification_from_mapping(
        {
            "dataset": {"name": "rows"},
            "label": {"column": "granted", **label},
            "features": {"age": {"type": "integer", "range": [0, 99], "sensitive": True}},
        }
    )
    loaded = load_model(lambda rows: np.array([True, False]), specification)
    assert loaded.model.decisions(pd.DataFrame({"age": [20, 40]})).tolist() == expected


def test_an_endpoint_says_true_and_false_where_the_labels_are_1_and_0() -> None:
    rows = people()
    with served(lambda asked, _: {"predictions": [row["income"] > 40 for row in asked]}) as server:
        found = testsgd.audit(
            server.url, rows, (rows["income"] > 40).astype(int), sensitive_features=["sex"]
        )
    assert found.summary.model.accuracy == 1


def test_a_booster_in_a_file_has_the_labels_of_a_file(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rows = people()
    numbers = pd.DataFrame({"income": rows["income"]})
    booster = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1)
    booster.fit(numbers, rows["income"] > 40).booster_.save_model(tmp_path / "model.txt")
    rows.assign(granted=rows["income"] > 40).to_csv(tmp_path / "rows.csv", index=False)
    command = [
        *(sys.executable, "-m", "testsgd", "audit", str(tmp_path / "rows.csv")),
        *("--model", str(tmp_path / "model.txt"), "--label", "granted"),
        *("--sensitive", "sex", "--out", str(tmp_path / "out")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = json.loads(next((tmp_path / "out").rglob("*.json")).read_text())
    assert summary["model"]["accuracy"] == 1


def test_metrics_call_a_model_by_its_file(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rows = people()[["income"]]
    booster = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1)
    file = tmp_path / "model.txt"
    booster.fit(rows, rows["income"] > 40).booster_.save_model(file)
    truth = np.where(rows["income"] > 40, "yes", "0")
    with pytest.raises(testsgd.TestSGDError) as raised:
        testsgd.audit_model_by_metrics(str(file), rows, truth, sensitive_features=people()[["sex"]])
    assert str(file) in str(raised.value)


def test_an_estimator_of_other_labels_scores_the_favourable_one() -> None:
    rows = people()
    incomes = rows[["income"]]
    tree = DecisionTreeClassifier(max_depth=2).fit(incomes, granted(rows))
    compared = testsgd.audit_model_by_metrics(
        tree,
        incomes,
        granted(rows).astype(int),
        sensitive_features=rows[["sex"]],
        metrics="mean_score",
    )
    scores = pd.Series(tree.predict_proba(incomes)[:, 1]).groupby(rows["sex"]).mean()
    values = compared.groups.set_index("text")["value"]
    assert values["sex = f"] == pytest.approx(scores["f"])


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("booleans", [[True, False, True], ["True", "False", "True"]])
@pytest.mark.parametrize("numbers", [[1, 0, 0], ["1", "0", "0"], [1.0, 0.0, 0.0]])
def test_classes_of_two_columns_are_written_alike(
    booleans: list[Any], numbers: list[Any], missing: bool
) -> None:
    first, second = pd.Series(booleans), pd.Series(numbers)
    if missing:
        first = pd.Series([*booleans, None])
        second = pd.Series([*numbers, numbers[0]])
    for given, other in ((first, second), booleans_as_numbers(second, first)[::-1]):
        read, kept = booleans_as_numbers(given, other)
        assert read.dropna().tolist() == [1, 0, 1]
        assert kept.tolist() == second.tolist()
