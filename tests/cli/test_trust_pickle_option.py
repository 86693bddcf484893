"""Whatever command reads models of users reads pickled ones, if and only if it is said so."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import command_line
import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd as package
from testsgd.cli.main import COMMANDS, load_command
from testsgd.errors import ModelError

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
DESCRIPTION = """
[dataset]
name = "people"

[label]
column = "granted"
favourable = "yes"
values = ["no", "yes"]

[features]
sex = { type = "integer", range = [0, 1], sensitive = true }
points = { type = "decimal", range = [-9, 9] }
other = { type = "decimal", range = [-9, 9] }
"""


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    """Return rows that are written beside their description and a pickled model."""
    source = np.random.default_rng(3)
    sex = source.integers(0, 2, 900)
    points, other = source.normal(size=(2, 900))
    merit = sex + points + source.logistic(0, 0.5, 900)
    rows = pd.DataFrame({"sex": sex, "points": points, "other": other})
    rows["granted"] = np.where(merit > 0.5, "yes", "no")
    (folder / "people.toml").write_text(DESCRIPTION)
    rows.to_csv(folder / "people.csv", index=False)
    model = LogisticRegression().fit(rows.drop(columns="granted"), rows["granted"])
    joblib.dump(model, folder / "model.joblib")
    return rows


def commands() -> Iterator[tuple[str, Any]]:
    def of(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        parts = getattr(command, "commands", {})
        if not parts:
            yield name, command
        for part, inner in parts.items():
            yield from of(f"{name} {part}", inner)

    for name in COMMANDS:
        yield from of(name, load_command(name))


WITH_MODEL = {
    name: {flag for option in command.params for flag in option.opts}
    for name, command in commands()
    if any("--model" in option.opts for option in command.params)
}
# What keeps each of them short.
SHORT = {
    "mitigate": ["--method", "samples", "--runs", "1", "--all-above", "0.1", "--compare", "none"],
    "compare": ["--methods", "divexplorer"],
    "bench theta": ["--thetas", "0.1"],
}


def marked(names: Iterable[str]) -> list[Any]:
    """Return names as parameters; what retrains by samples is slow."""
    slow = {"mitigate": [pytest.mark.slow]}
    return [pytest.param(name, marks=slow.get(name, ())) for name in names]


def test_several_commands_read_models() -> None:
    assert WITH_MODEL.keys() >= {"audit", "mitigate", "compare"}


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("command", marked(WITH_MODEL))
def test_what_a_command_advises_works(command: str, testsgd: Run, fails: Run) -> None:
    given = [*command.split(), "people.toml", "--data", "people.csv", "--model", "model.joblib"]
    given += SHORT.get(command, [])
    message = fails(*given)
    assert "--trust-pickle" in message
    done = testsgd(*given, "--trust-pickle")
    assert done.code in (0, 1, 3), done.err


CALLS: dict[str, dict[str, Any]] = {
    "audit": {},
    "compare": {"methods": "divexplorer"},
    "counter_samples": {"all_above": 0.1, "count": 5},
    "fair_frontier": {"method": "thresholds"},
    "mitigate": {"all_above": 0.1, "runs": 1, "compare": "none"},
}


@pytest.mark.parametrize("name", marked(CALLS))
def test_what_a_call_advises_works(name: str, people: pd.DataFrame, folder: Path) -> None:
    call = getattr(package, name)
    given: dict[str, Any] = {**CALLS[name], "progress": False}
    arguments = (str(folder / "model.joblib"), people, folder / "people.toml")
    with pytest.raises(ModelError, match="trust_pickle=True"):
        call(*arguments, **given)
    assert call(*arguments, **given, trust_pickle=True) is not None


def test_whatever_is_exported_and_takes_a_described_model_can_trust_it() -> None:
    lacking = [
        name
        for name in package.__all__
        if inspect.isfunction(call := getattr(package, name))
        and {"model", "data", "spec"} <= inspect.signature(call).parameters.keys()
        and "trust_pickle" not in inspect.signature(call).parameters
    ]
    assert not lacking
