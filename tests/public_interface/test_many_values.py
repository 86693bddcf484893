"""Sensitive features of more values than have all their subsets as groups: each is looked at."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.cli.main import _run

ROWS = 6000
VALUES = [f"c{index:02}" for index in range(30)]
QUICK: dict[str, Any] = {"stability": 0, "replicates": 99}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """People of thirty countries; those of one of the rarer ones are never approved."""
    generator = np.random.default_rng(0)
    country = generator.choice(VALUES, ROWS)
    approved = generator.random(ROWS) < 0.5
    approved[country == refused(country)] = False
    return pd.DataFrame({"country": country, "approved": approved.astype(int)})


def refused(country: Any) -> str:
    """Return the third rarest country."""
    return str(pd.Series(country).value_counts().index[-3])


@pytest.mark.parametrize("metrics", [None, ["selection_rate"]])
def test_a_rare_value_that_is_never_favoured_is_found(
    people: pd.DataFrame, metrics: list[str] | None
) -> None:
    options: dict[str, Any] = {} if metrics is None else {"metrics": metrics}
    result = testsgd.audit_predictions(
        people["approved"],
        sensitive_features=people[["country"]],
        fail_above=0.1,
        strict=True,
        **QUICK,
        **options,
    )
    assert result.verdict.exit_code == 1
    assert refused(people["country"]) in result.verdict.headline
    assert any("30 values of country" in note for note in result.summary.data.notes)


def test_a_rare_value_can_be_named(people: pd.DataFrame) -> None:
    named = f"country = {refused(people['country'])}"
    result = testsgd.audit_predictions(
        people["approved"], sensitive_features=people[["country"]], groups=[named], **QUICK
    )
    (group,) = result.summary.groups
    inside = people["country"] == refused(people["country"])
    assert group.n_in == int(inside.sum())
    assert group.rate_in == 0


def test_all_the_rarer_values_together_are_found(people: pd.DataFrame) -> None:
    generator = np.random.default_rng(1)
    commonest = people["country"].value_counts().index[:8]
    chance = np.where(people["country"].isin(commonest), 0.55, 0.45)
    approved = (generator.random(len(people)) < chance).astype(int)
    result = testsgd.audit_predictions(
        approved, sensitive_features=people[["country"]], max_features=1, **QUICK
    )
    worst = result.summary.groups[0]
    assert worst.lower_confidence_bound is not None
    assert worst.lower_confidence_bound > 0


def test_rows_of_values_with_too_few_are_not_judged() -> None:
    generator = np.random.default_rng(2)
    rare = np.repeat([f"r{index:02}" for index in range(20)], 30)
    country = np.concatenate([generator.choice(VALUES[:5], 1000), rare])
    result = testsgd.audit_predictions(
        generator.integers(0, 2, len(country)),
        sensitive_features={"country": country},
        fail_above=0.9,
        strict=True,
        **QUICK,
    )
    assert result.summary.unjudged is not None
    assert result.summary.unjudged.rows == len(rare)
    assert result.verdict.exit_code == 3


def test_many_values_of_few_rows_are_looked_at_together() -> None:
    generator = np.random.default_rng(5)
    villages = np.repeat([f"r{index:02}" for index in range(30)], 40)
    town = np.concatenate([generator.choice(VALUES, 13_800), villages])
    approved = (generator.random(len(town)) < 0.5).astype(int)
    approved[-len(villages) :] = 0
    for options in ({}, {"metrics": ["selection_rate"]}):
        result = testsgd.audit_predictions(
            approved, sensitive_features={"town": town}, fail_above=0.3, **QUICK, **options
        )
        assert result.verdict.exit_code == 1, options
        assert "45" not in result.verdict.headline


def test_missing_cells_are_one_more_value(people: pd.DataFrame) -> None:
    country = people["country"].where(np.arange(ROWS) % 50 > 0)
    result = testsgd.audit_predictions(
        people["approved"], sensitive_features={"country": country}, max_features=1, **QUICK
    )
    assert result.summary.counts.groups == 255 + 31 - 8


def test_a_value_may_be_called_other() -> None:
    generator = np.random.default_rng(3)
    race = generator.choice([*(f"v{index:02}" for index in range(14)), "other", "Other"], 3000)
    result = testsgd.audit_predictions(
        (race != "other").astype(int), sensitive_features={"race": race}, **QUICK
    )
    assert result.summary.groups[0].text == "race = other"


def test_every_door_looks_at_each_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(4)
    race = generator.choice([f"v{index:02}" for index in range(15)], 3000)
    income = np.where(race == "v14", 0.1, generator.random(3000).round(3))
    rows = pd.DataFrame({"race": race, "income": income, "approved": (income > 0.5).astype(int)})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "lender_of_many.py").write_text(
        "def lend(rows):\n    return (rows['income'] > 0.5).astype(int)\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert _run(["init", "rows.csv", "--sensitive", "race", "--label", "approved"]) == 0
    (tmp_path / "rows.toml").write_text(capsys.readouterr().out, encoding="utf-8")
    few = ["--stability", "0", "--replicates", "99", "--format", "json", "--quiet"]
    predictions = ["--predictions", "approved", "--sensitive", "race"]
    model = ["--model", "lender_of_many:lend", "--estimand", "observed"]
    doors = {
        "file": ["rows.csv", *predictions],
        "model": ["rows.csv", *model, "--sensitive", "race"],
        "description": ["rows.toml", *model],
    }
    for name, door in doors.items():
        assert _run(["audit", *door, *few, "--out", name]) == 0, name
        result = json.loads((tmp_path / name / "result.json").read_text(encoding="utf-8"))
        assert result["groups"][0]["text"] == "race = v14", name
