"""A model that misbehaves is one line, exit code 2, and nothing written."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import command_line
import pytest

from testsgd.data import catalogue, generate_demo

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]

MODULE = """
import sys

def too_short(frame):
    return ["yes"] * (len(frame) - 1)

def not_a_number(frame):
    return [float("nan")] * len(frame)

def three_labels(frame):
    return [("no", "refer", "maybe")[place % 3] for place in range(len(frame))]

def flips_a_coin(frame):
    import random
    return [random.choice(["yes", "no"]) for _ in range(len(frame))]

def by_rank(frame):
    return ["yes" if rich else "no" for rich in frame["income"] > frame["income"].median()]

def takes_more(income, postcode):
    return ["yes"] * len(income)

def by_postcode(income, postcode):
    return ["yes" if code < "00050" else "no" for code in postcode]

def unknown_label(frame):
    return ["granted"] * len(frame)

def beyond_one(frame):
    return [1.5] * len(frame)

def below_zero(frame):
    return [-0.5] * len(frame)

def raises(frame):
    raise ValueError("a message\\nof two lines")

def leaves(frame):
    sys.exit(0)

def nothing(frame):
    return None

def good_at_first(frame, calls=[0]):
    calls[0] += 1
    if calls[0] > 1:
        raise RuntimeError("tired")
    return ["yes"] * len(frame)

no_model = 3
"""


@pytest.fixture
def module(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of models in the working folder."""
    name = f"misbehaving_{folder.parent.name}"
    (folder / f"{name}.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("too_short", "shape (999,) for 1,000 rows"),
        ("not_a_number", "(NaN) for row 0"),
        ("three_labels", "--favorable"),
        ("flips_a_coin", "--nondeterministic"),
        ("by_rank", "differently"),
        ("takes_more", "'postcode'"),
        ("unknown_label", "'granted', which is not among the labels no, yes"),
        ("beyond_one", "score 1.5 for row 0, outside [0, 1]"),
        ("below_zero", "score -0.5 for row 0, outside [0, 1]"),
        ("raises", "the model raised ValueError: a message of two lines"),
        ("leaves", "the model raised SystemExit"),
        ("nothing", "returned None about 1,000 rows"),
        ("good_at_first", "the model raised RuntimeError: tired"),
        ("no_model", "a int is no model"),
        ("gone", "has no 'gone'"),
    ],
)
@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_what_a_model_does_wrong_is_said(
    fails: Fails, module: str, function: str, message: str, mode: str
) -> None:
    assert message in fails("audit", "demo", "--model", f"{module}:{function}", "--mode", mode)


@pytest.mark.parametrize(
    ("command", "function", "message"),
    [
        ("compare", "flips_a_coin", "differently"),
        ("compare", "takes_more", "'postcode'"),
        ("mitigate", "takes_more", "'postcode'"),
    ],
)
def test_other_commands_say_it_too(
    fails: Fails, module: str, command: str, function: str, message: str
) -> None:
    line = fails(command, "demo", "--model", f"{module}:{function}", "--limit", "2000")
    assert message in line


@pytest.mark.parametrize("options", [["--nondeterministic"], ["--draws", "2"]])
def test_answers_by_chance_are_audited_by_their_means(
    testsgd: Callable[..., command_line.Finished], folder: Path, module: str, options: list[str]
) -> None:
    model = ("--model", f"{module}:flips_a_coin", "--replicates", "99", "--limit", "500")
    finished = testsgd("audit", "demo", *model, *options, "--format", "json", "--out", "coins")
    assert finished.code == 0, finished.err
    result = json.loads((folder / "coins/result.json").read_text(encoding="utf-8"))
    assert result["parameters"]["nondeterministic"] == (2 if options[1:] else 5)
    assert 0.3 < result["model"]["changing"] < 0.7


def test_columns_of_a_file_reach_the_model_that_names_them(
    testsgd: Callable[..., command_line.Finished], folder: Path, module: str
) -> None:
    from testsgd.data import generate_demo

    rows = generate_demo(rows=2000)
    rows["postcode"] = [f"{place % 100:05d}" for place in range(len(rows))]
    rows.to_csv(folder / "people.csv", index=False)
    model = ("--model", f"{module}:by_postcode", "--replicates", "99", "--data", "people.csv")
    finished = testsgd("audit", "demo", *model, "--format", "json", "--out", "codes")
    assert finished.code == 0, finished.err
    result = json.loads((folder / "codes/result.json").read_text(encoding="utf-8"))
    assert result["model"]["passed_through"] == ["postcode"]
    assert "income" not in result["model"]["not_given"]
    # Half of the postcodes are below "00050", whatever else is moved.
    assert result["overall_rate"] == 0.5


def test_a_module_that_is_not_there(fails: Fails) -> None:
    assert "no module 'no_such_module'" in fails("audit", "demo", "--model", "no_such_module:f")


def test_the_network_of_another_data_set(fails: Fails) -> None:
    message = fails("audit", "demo", "--model", "law")
    assert "label" in message


def test_a_file_that_is_no_network(fails: Fails, folder: Path) -> None:
    (folder / "mine.keras").write_bytes(b"nothing of the kind")
    line = fails("audit", "demo", "--model", "mine.keras")
    assert "cannot be read" in line
    assert "mine.keras" in line
    (folder / "preprocessing.json").write_text("{}", encoding="utf-8")
    assert "preprocessing cannot be read" in fails("audit", "demo", "--model", "mine.keras")


@pytest.mark.parametrize("command", ["audit", "compare"])
def test_where_no_model_is_named_the_advised_training_is_of_the_users_description(
    fails: Fails, folder: Path, command: str
) -> None:
    description = catalogue()["demo"].read_text(encoding="utf-8")
    described = description.replace('name = "demo"', 'name = "mine"')
    assert described != description
    (folder / "my.toml").write_text(described, encoding="utf-8")
    generate_demo(rows=60, seed=0).to_csv(folder / "people.csv", index=False)
    message = fails(command, "my.toml", "--data", "people.csv")
    assert "testsgd train my.toml" in message
    assert "testsgd train mine" not in message
