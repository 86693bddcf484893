"""A model that fitting anew changes by itself: what its figures before are of is in every view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import testsgd
from testsgd.mitigation import MitigationResult

pytest.importorskip("skops.io")

ROWS = 1_500
SPECIFICATION = """
[dataset]
name = "applicants"
[[files]]
name = "applicants.csv"
[label]
column = "granted"
values = ["no", "yes"]
favourable = "yes"
[features.sex]
type = "categorical"
sensitive = true
values = ["f", "m"]
[features.x]
type = "decimal"
range = [-6, 6]
[features.z]
type = "decimal"
range = [-6, 6]
"""


def applicants() -> pd.DataFrame:
    """People whose labels treat women and men alike."""
    source = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "x": source.normal(size=ROWS).round(3),
            "z": source.normal(size=ROWS).round(3),
        }
    )
    people["granted"] = np.where(people["x"] + 0.6 * people["z"] > 0, "yes", "no")
    return people


def fitted(people: pd.DataFrame, labels: Any) -> Any:
    encode = make_column_transformer((OneHotEncoder(), ["sex"]), remainder="passthrough")
    return make_pipeline(encode, LogisticRegression(C=100)).fit(people[["sex", "x", "z"]], labels)


def mitigated(labels_of: str, folder: Path) -> tuple[MitigationResult, Any]:
    """Mitigate a model of the labels, or of ones by which half of the women are refused."""
    people = applicants()
    refused = (people["sex"] == "f") & (people["z"] < 0.5)
    labels = people["granted"].where(~refused, "no") if labels_of == "others" else people["granted"]
    (folder / "applicants.toml").write_text(SPECIFICATION, encoding="utf-8")
    people.to_csv(folder / "applicants.csv", index=False)
    model = fitted(people, labels)
    result = testsgd.mitigate(
        model,
        folder / "applicants.csv",
        folder / "applicants.toml",
        runs=1,
        steps=2,
        samples="counter",
        compare="none",
        progress=False,
    )
    return result, model


@pytest.fixture(scope="module")
def biased(tmp_path_factory: pytest.TempPathFactory) -> tuple[MitigationResult, Any]:
    return mitigated("others", tmp_path_factory.mktemp("biased"))


def test_both_models_before_are_measured_on_the_held_out_rows(
    biased: tuple[MitigationResult, Any],
) -> None:
    result, model = biased
    assert result.outcome is not None
    parts = result.outcome.material.split.parts
    people = applicants()
    held_out, training = people.iloc[parts.test], people.iloc[result.outcome.material.trained]
    anew = fitted(training, training["granted"])
    features = ["sex", "x", "z"]
    summary, found = result.summary, result.summary.fitted_anew
    assert found is not None
    given = float((model.predict(held_out[features]) == held_out["granted"]).mean())
    again = float((anew.predict(held_out[features]) == held_out["granted"]).mean())
    assert given < again - 0.1
    assert found.accuracy_given == pytest.approx(given)
    assert summary.accuracy_before == pytest.approx(again)
    difference = found.held_out[0].difference
    rates = pd.Series(anew.predict(held_out[features]) == "yes").groupby(held_out["sex"].to_numpy())
    women_less_men = float(rates.mean()["f"] - rates.mean()["m"])
    assert difference == pytest.approx(women_less_men)
    assert abs(difference) < 0.15 < abs(summary.targets[0].held_out_before.difference or 0.0)


def test_each_view_has_the_accuracy_of_the_model_as_given(
    biased: tuple[MitigationResult, Any], tmp_path: Path
) -> None:
    result, _ = biased
    found = result.summary.fitted_anew
    assert found is not None
    given = f"{100 * found.accuracy_given:.2f}%"
    result.write(tmp_path, formats=["html", "md", "json"])
    for view in ("report.html", "report.md"):
        text = (tmp_path / view).read_text(encoding="utf-8")
        assert text.count(given) >= 3, view
        assert "fitted anew" in text
    assert any(given in sentence for sentence in result.verdict.sentences)
    result.write_model(tmp_path / "model")
    card = json.loads((tmp_path / "model" / "card.json").read_text(encoding="utf-8"))
    assert card["held-out accuracy of the original as given"] == found.accuracy_given


def test_the_headline_has_what_fitting_anew_leaves(biased: tuple[MitigationResult, Any]) -> None:
    result, _ = biased
    found, headline = result.summary.fitted_anew, result.verdict.headline
    assert found is not None
    assert "against the original fitted anew" in headline
    assert f"leaves {100 * (found.held_out[0].score or 0):.1f} points" in headline


def test_older_results_without_it_are_read(biased: tuple[MitigationResult, Any]) -> None:
    document = json.loads(biased[0].to_json())
    del document["fitted_anew"]
    again = MitigationResult.from_json(json.dumps(document))
    assert again.summary.fitted_anew is None
