"""``testsgd audit --group`` and ``--as-paper``: named groups, and the settings of the paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

from testsgd import audit_predictions
from testsgd.auditing import AuditResult
from testsgd.errors import ParameterError

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
COMMON = ("audit", "people.csv", "--predictions", "approved", "--sensitive", "region,age")


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    source = np.random.default_rng(2)
    rows = pd.DataFrame(
        {"region": source.choice(["A", "B", "C"], 900), "age": source.integers(18, 80, 900)}
    )
    rows["approved"] = np.where(source.random(900) < 0.4 + 0.4 * (rows["age"] > 40), "yes", "no")
    rows.to_csv(folder / "people.csv", index=False)
    return rows


def test_each_option_names_a_group(testsgd: Run, folder: Path, people: pd.DataFrame) -> None:
    named = ("region in {A, B}", "age > 40")
    finished = testsgd(*COMMON, "--group", named[0], "--group", named[1])
    assert (finished.code, finished.err) == (0, "")
    path = folder / "reports" / "people" / "result.json"
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["parameters"]["groups"] == list(named)
    inside = [people["age"] > 40, people["region"].isin(["A", "B"])]
    assert [group["n_in"] for group in result["groups"]] == [int(mask.sum()) for mask in inside]
    again = AuditResult.from_json(path)
    assert again.summary.parameters.groups == named
    assert "no search" in again.to_html()


def test_mistakes_are_one_line(fails: Run, people: pd.DataFrame) -> None:
    assert "region" in fails(*COMMON, "--group", "regio = A")
    assert "holdout" in fails(*COMMON, "--group", "region = A", "--holdout", "0.5")
    assert "groups" in fails(*COMMON, "--group", "region = A", "--metrics", "selection_rate")


@pytest.mark.parametrize(
    "options",
    [
        ("--group", "age > 1000"),
        ("--group", "age > -5"),
        ("--rows", "gender = female", "--group", "gender = female"),
    ],
    ids=" ".join,
)
def test_nobody_and_everybody_are_refused_in_one_line(
    fails: Run, folder: Path, options: tuple[str, ...]
) -> None:
    assert options[-1] in fails("audit", "demo", *options)
    assert not (folder / "reports").exists()


def test_too_few_people_are_no_evidence(testsgd: Run, people: pd.DataFrame) -> None:
    assert testsgd(*COMMON, "--group", "age >= 79").code == 3


def test_texts_have_no_features_to_name_groups_by(fails: Run, folder: Path) -> None:
    assert "groups" in fails("audit", "wiki", "--group", "age < 30")


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_an_option_at_its_default_wins_against_the_papers_if_it_is_given(
    testsgd: Run, folder: Path, sampling: str
) -> None:
    given = ("--sampling", "pooled") if sampling == "pooled" else ()
    finished = testsgd(
        "audit", "demo", "--as-paper", "--group", "gender = female", *given, "--out", "out"
    )
    assert (finished.code, finished.err) == (0, "")
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    chosen = result["parameters"]
    assert (chosen["sampling"], chosen["estimand"]) == (sampling, "neighbourhood")
    assert chosen["theta"] == 0.05


@pytest.mark.parametrize("given", [(), ("--estimand", "observed"), ("--mode", "exact")])
def test_settings_of_the_paper_that_predictions_cannot_have_are_named(
    fails: Run, people: pd.DataFrame, given: tuple[str, ...]
) -> None:
    assert "--as-paper" in fails(*COMMON, "--as-paper", *given)
    chosen = {
        name.removeprefix("--"): value for name, value in zip(given[::2], given[1::2], strict=True)
    }
    with pytest.raises(ParameterError) as error:
        audit_predictions(
            people["approved"], sensitive_features=people[["region"]], as_paper=True, **chosen
        )
    assert error.value.where == "as_paper"


def test_what_is_given_wins_against_the_paper_for_predictions_too(
    testsgd: Run, folder: Path, people: pd.DataFrame
) -> None:
    chosen = ("--as-paper", "--estimand", "observed", "--mode", "exact", "--out", "out")
    assert testsgd(*COMMON, *chosen).code in (0, 3)
    result = json.loads((folder / "out" / "result.json").read_text(encoding="utf-8"))
    parameters = result["parameters"]
    assert (parameters["estimand"], parameters["mode"]) == ("observed", "exact")
    assert parameters["theta"] == 0.05


@pytest.mark.parametrize("sign", ["!= female", "not in {female}"])
def test_a_sign_that_no_group_has_is_named_as_it_was_written(fails: Run, sign: str) -> None:
    assert repr(sign.rpartition(" ")[0]) in fails("audit", "demo", "--group", f"gender {sign}")
