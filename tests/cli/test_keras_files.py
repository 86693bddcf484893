"""``testsgd audit --model`` with a file that Keras wrote, and nothing beside it."""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import command_line
import numpy as np
import pandas as pd
import pytest

import testsgd as package

pytestmark = pytest.mark.tensorflow

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Run = Callable[..., Any]
QUICK = ("--replicates", "99", "--stability", "0")
SENSITIVE = ("--sensitive", "sex")


@pytest.fixture(scope="module")
def network() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        keras = pytest.importorskip("keras")
    # Two layers that testsgd's own networks do not have.
    made = keras.Sequential(
        [
            keras.layers.Input((2,)),
            keras.layers.Rescaling(0.1),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    made.layers[-1].set_weights([np.array([[60.0], [10.0]]), np.array([-50.0])])
    return made


@pytest.fixture
def people(folder: Path, network: Any) -> pd.DataFrame:
    source = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"sex": source.integers(0, 2, 600), "income": source.normal(50, 10, 600).round(1)}
    )
    rows["t01"] = (rows["income"] > 50).astype(int)
    rows.to_csv(folder / "num.csv", index=False)
    network.save(folder / "own.keras")
    return rows


def rates(folder: Path) -> list[tuple[str, float]]:
    result = json.loads((folder / "reports" / "num" / "result.json").read_text("utf-8"))
    return [(group["text"], group["rate_in"]) for group in result["groups"]]


@pytest.mark.parametrize("labelled", [True, False])
def test_the_file_is_audited_as_the_object(
    testsgd: Run, folder: Path, people: pd.DataFrame, network: Any, labelled: bool
) -> None:
    rows = people.drop(columns="t01")
    if not labelled:
        rows.to_csv(folder / "num.csv", index=False)
    label = ("--label", "t01") if labelled else ()
    ended = testsgd(
        "audit", "num.csv", "--model", "own.keras", *label, *SENSITIVE, *QUICK, "--quiet"
    )
    assert (ended.code, ended.out) == (0, ""), ended.err
    expected = package.audit(
        network,
        rows,
        people["t01"] if labelled else None,
        sensitive_features=["sex"],
        replicates=99,
        stability=0,
    )
    in_object = list(zip(expected.groups["text"], expected.groups["rate_in"], strict=True))
    assert rates(folder) == in_object
    assert in_object[0][0].startswith("sex = ")


def test_rows_with_another_number_of_columns_or_with_texts_are_refused(
    fails: Run, folder: Path, people: pd.DataFrame
) -> None:
    asked = ("audit", "num.csv", "--model", "own.keras", *SENSITIVE)
    assert "t01" in fails(*asked)
    people.assign(income="much").to_csv(folder / "num.csv", index=False)
    assert "income" in fails(*asked, "--label", "t01")


def configured(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Write own.keras anew with another configuration."""
    with zipfile.ZipFile(folder / "own.keras") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    configuration = json.loads(members["config.json"])
    change(configuration)
    members["config.json"] = json.dumps(configuration).encode()
    with zipfile.ZipFile(folder / "own.keras", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def runs_a_lambda(configuration: dict[str, Any]) -> None:
    configuration["config"]["layers"][1]["class_name"] = "Lambda"


def imports_a_module(configuration: dict[str, Any]) -> None:
    configuration["config"]["layers"][1]["module"] = "mine"


def calls_a_function(configuration: dict[str, Any]) -> None:
    configuration["config"]["layers"][-1]["config"]["activation"] = {
        "module": "builtins",
        "class_name": "function",
        "config": "mine",
        "registered_name": "function",
    }


@pytest.mark.parametrize("change", [runs_a_lambda, imports_a_module, calls_a_function])
def test_nothing_that_a_file_names_is_run(
    fails: Run, folder: Path, people: pd.DataFrame, change: Callable[[dict[str, Any]], Any]
) -> None:
    (folder / "mine.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    configured(folder, change)
    assert "own.keras" in fails("audit", "num.csv", "--model", "own.keras", *SENSITIVE)
    assert not (folder / "ran").exists()


def test_weights_that_unpack_to_far_more_than_the_layers_declare_are_refused(
    fails: Run, folder: Path, people: pd.DataFrame
) -> None:
    with zipfile.ZipFile(folder / "own.keras") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(folder / "own.keras", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content + bytes(2**24) * name.endswith(".h5"))
    assert "own.keras" in fails("audit", "num.csv", "--model", "own.keras", *SENSITIVE)


@pytest.mark.parametrize("name", ["junk.keras", "none.keras"])
@pytest.mark.parametrize("label", [(), ("--label", "t01")])
def test_a_file_that_is_none_is_said_to_be_so(
    fails: Run, folder: Path, people: pd.DataFrame, name: str, label: tuple[str, ...]
) -> None:
    (folder / "junk.keras").write_bytes(b"nothing of the kind")
    line = fails("audit", "num.csv", "--model", name, *label, *SENSITIVE)
    assert name in line
    assert "no model" not in line


def test_a_network_of_testsgd_says_its_labels_itself(testsgd: Run, folder: Path) -> None:
    package.generate_demo(rows=600, seed=2).drop(columns="granted").to_csv(
        folder / "num.csv", index=False
    )
    asked = ("--model", "demo", "--sensitive", "gender")
    assert testsgd("audit", "num.csv", *asked, *QUICK).code == 0
    assert rates(folder)[0][0].startswith("gender = ")


def test_inputs_are_the_columns_that_they_are_called_by(
    network: Any, folder: Path, testsgd: Run, fails: Callable[..., str]
) -> None:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(1)
    age, income = keras.Input((1,), name="age"), keras.Input((1,), name="income")
    sex = keras.Input((1,), name="sex", dtype="string")
    coded = keras.layers.StringLookup(vocabulary=["f", "m"], output_mode="one_hot")(sex)
    both = keras.layers.Concatenate()([age, income])
    end = keras.layers.Dense(1, activation="sigmoid")
    numbers = keras.Model([age, income], end(both))
    texts = keras.Model(
        [age, income, sex],
        keras.layers.Dense(1, activation="sigmoid")(keras.layers.Concatenate()([both, coded])),
    )
    source = np.random.default_rng(0)
    rows = pd.DataFrame({"income": source.random(300), "sex": source.choice(["f", "m"], 300)})
    rows["age"] = source.random(300)
    labels = pd.Series(np.where(rows["age"] > 0.5, "yes", "no"), name="paid")
    for made in (numbers, texts):
        given = {each.name: rows[[each.name]].to_numpy() for each in made.inputs}
        given = {
            name: column.astype(np.float32 if name != "sex" else object)
            for name, column in given.items()
        }
        if made is texts:
            tensorflow = pytest.importorskip("tensorflow")
            given["sex"] = tensorflow.constant(given["sex"].tolist())
        said = made.predict(given, verbose=0)[:, 0] >= 0.5
        assert 0 < said.mean() < 1
        result = package.audit(
            made, rows, labels, sensitive_features=["sex"], replicates=99, stability=0
        )
        assert result.summary.overall_rate == said.mean()
    # A model of a dictionary is asked by its keys.
    first = keras.Input((1,), name="first")
    second = keras.Input((1,), name="second")
    with warnings.catch_warnings():
        # It says that the names had better be the same.
        warnings.simplefilter("ignore")
        keyed = keras.Model(
            {"income": first, "age": second}, end(keras.layers.Concatenate()([second, first]))
        )
    result = package.audit(
        keyed, rows, labels, sensitive_features=["sex"], replicates=99, stability=0
    )
    plain = package.audit(
        numbers, rows, labels, sensitive_features=["sex"], replicates=99, stability=0
    )
    assert result.summary.overall_rate == plain.summary.overall_rate
    numbers.save(folder / "mine.keras")
    rows.assign(paid=labels).to_csv(folder / "people.csv", index=False)
    words = ("audit", "people.csv", "--model", "mine.keras", "--label", "paid", *SENSITIVE, *QUICK)
    assert testsgd(*words).code == 0
    rows.drop(columns="income").assign(paid=labels).to_csv(folder / "people.csv", index=False)
    assert "'income'" in fails(*words, "--out", "other")
