"""Every mistake in a certification is one line, exit code 2, and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import certifiable_networks
import command_line
import h5py
import numpy as np
import pytest

# The fixtures of this area.
folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]


@pytest.fixture
def lender(folder: Path) -> Path:
    return certifiable_networks.write_lender(folder)


@pytest.fixture
def certify(fails: Fails, lender: Path) -> Fails:
    """Certify the lender on its ranges, with something that is wrong."""

    def run(*options: str | Path) -> str:
        return fails("certify", "lender.nnet", "--domain", "ranges.toml", *options)

    return run


@pytest.fixture
def ranges(fails: Fails, lender: Path, folder: Path) -> Fails:
    """Certify the lender on its ranges, after a change of their text."""

    def run(before: str, after: str) -> str:
        text = certifiable_networks.RANGES
        assert before in text
        (folder / "changed.toml").write_text(text.replace(before, after), encoding="utf-8")
        return fails("certify", "lender.nnet", "--domain", "changed.toml")

    return run


def write_keras(path: Path, class_name: str, config: dict[str, Any]) -> None:
    """Write an .h5 file of a Keras network of one odd layer between dense ones."""

    def layer(kind: str, **settings: Any) -> dict[str, Any]:
        return {"class_name": kind, "config": settings}

    layers = [
        layer("Dense", name="first", units=1, activation="relu", batch_input_shape=[None, 3]),
        layer(class_name, name="odd", **config),
        layer("Dense", name="last", units=1, activation="sigmoid"),
    ]
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(layer("Sequential", name="odd", layers=layers))
        file.attrs["keras_version"] = "2.9.0"
        file.attrs["backend"] = "tensorflow"
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = [b"first", b"odd", b"last"]
        for name, shape in (("first", (3, 1)), ("odd", None), ("last", (1, 1))):
            group = weights.create_group(name)
            names = [f"{name}/kernel:0", f"{name}/bias:0"] if shape else []
            group.attrs["weight_names"] = [one.encode() for one in names]
            if shape:
                group[names[0]] = np.ones(shape, dtype=np.float32)
                group[names[1]] = np.zeros(shape[1], dtype=np.float32)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"no network", "notes.txt"),
        ("model.h5", b"no network", "model.h5"),
        ("model.keras", b"no network", "model.keras"),
        ("model.onnx", b"no network", "onnx"),
        ("model.nnet", b"no network", "model.nnet"),
        ("model.skops", b"no network", "skops"),
    ],
)
def test_a_file_that_is_no_network(
    fails: Fails, lender: Path, folder: Path, name: str, content: bytes, message: str
) -> None:
    (folder / name).write_bytes(content)
    assert message in fails("certify", name, "--domain", "ranges.toml")


@pytest.mark.parametrize("name", ["gone.h5", "gone.keras", "gone.nnet", "nonsense"])
def test_a_model_that_is_not_there(fails: Fails, lender: Path, name: str) -> None:
    assert name in fails("certify", name, "--domain", "ranges.toml")


def test_a_model_that_is_no_network(
    fails: Fails, lender: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "woods.py").write_text(
        "from sklearn.ensemble import RandomForestClassifier\n"
        "forest = RandomForestClassifier(2).fit([[0, 0, 0], [1, 1, 1]], [0, 1])\n"
        "def rule(frame):\n    return [1] * len(frame)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    message = fails("certify", "woods:forest", "--domain", "ranges.toml")
    assert "RandomForestClassifier" in message
    assert "function" in fails("certify", "woods:rule", "--domain", "ranges.toml")


@pytest.mark.parametrize(
    ("layer", "config"),
    [("Conv1D", {"filters": 1, "kernel_size": [1]}), ("LSTM", {"units": 1}), ("Lambda", {})],
)
def test_a_layer_that_is_not_supported_is_named(
    fails: Fails, lender: Path, folder: Path, layer: str, config: dict[str, Any]
) -> None:
    write_keras(folder / "odd.h5", layer, config)
    message = fails("certify", "odd.h5", "--domain", "ranges.toml")
    assert layer in message
    assert "odd" in message


def test_a_network_of_texts(fails: Fails) -> None:
    assert "texts" in fails("certify", "imdb")
    assert fails("certify", "imdb", "--domain", "demo", "--protected", "race")


def test_weights_that_are_no_numbers(fails: Fails, lender: Path, folder: Path) -> None:
    layers = certifiable_networks.lender()
    layers[0][0][1, 0] = np.nan
    text = certifiable_networks.nnet_text(layers, [0, 0, 0], [99, 9, 1])
    (folder / "nan.nnet").write_text(text, encoding="utf-8")
    assert "nan" in fails("certify", "nan.nnet", "--domain", "ranges.toml").lower()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("integer = [0, 99]", "integer = [99, 0]", "99"),
        ("integer = [0, 99]", "real = [1.0, 0.5]", "0.5"),
        ("integer = [0, 99]", "integer = [0.5, 99]", "0.5"),
        ("integer = [0, 99]", "real = [0, inf]", "inf"),
        ("integer = [0, 99]", "real = [nan, 1]", "nan"),
        ("integer = [0, 99]", "values = []", "income"),
        ("integer = [0, 99]", "integers = [0, 99]", "integers"),
        ("[inputs.debts]\ninteger = [0, 9]\n", "", "2"),
        ('protected = ["woman"]', 'protected = ["man"]', "'man'"),
        ('protected = ["woman"]', "protected = []", "protected"),
        ("[inputs.woman]\ninteger = [0, 1]", "[inputs.woman]\ninteger = [1, 1]", "at least two"),
        ("[inputs.income]", "[inputs.income", "TOML"),
    ],
)
def test_a_domain_that_is_wrong(ranges: Fails, before: str, after: str, message: str) -> None:
    assert message in ranges(before, after)


def test_a_domain_of_one_point(fails: Fails, lender: Path, folder: Path) -> None:
    one = "\n".join(f"[inputs.{name}]\ninteger = [1, 1]" for name in ("income", "debts", "woman"))
    (folder / "one.toml").write_text(f'protected = ["woman"]\n{one}', encoding="utf-8")
    assert fails("certify", "lender.nnet", "--domain", "one.toml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--protected", "age"), "'age'"),
        (("--protected", ","), "no input is named"),
        (("--protected", "woman,income,debts"), "1,000"),
        (("--compare", "0,2"), "2"),
        (("--compare", "0"), "at least two"),
        (("--compare", "woman=0,1", "--compare", "1"), "--compare"),
        (("--compare", "age=0,1"), "age"),
        (("--time", "-1"), "time_limit: -1.0 is not above 0"),
        (("--time", "nan"), "time"),
        (("--time", "soon"), "--time"),
        (("--undecided", "2"), "undecided: 2.0 is not between 0 and 1"),
        (("--jobs", "0"), "jobs: 0 is not between 1 and"),
        (("--samples", "-1"), "samples"),
        (("--confidence", "95"), "confidence"),
        (("--seed", "-1"), "-1"),
        (("--fail-above", "5"), "fail_above"),
        (("--fail-above", "nan"), "--fail-above: nan"),
        (("--fail-below", "-0.1"), "fail_below"),
        (("--weight", "mass"), "weight: 'mass' is not known"),
        (("--weight", "data"), "weight"),
        (("--data", "rows.csv"), "data: rows are given"),
        (("--format", "pdf"), "the format 'pdf' is unknown"),
        (("--out", "lender.nnet"), "cannot write there"),
        (("--checkpoint", "lender.nnet/state"), "cannot write there"),
        (("--checkpoint", "lender.nnet"), "lender.nnet"),
    ],
)
def test_an_option_that_is_wrong(certify: Fails, options: tuple[str, ...], message: str) -> None:
    assert message in certify(*options)


def test_a_domain_that_cannot_be_found(fails: Fails, lender: Path, folder: Path) -> None:
    write_keras(folder / "plain.h5", "Dropout", {"rate": 0.1})
    assert "domain is not given" in fails("certify", "plain.h5", "--protected", "x2")
    assert "there is no model" in fails("certify", "nonsense", "--protected", "x2")
    assert "nowhere" in fails("certify", "lender.nnet", "--domain", "nowhere")
    assert "gone.toml" in fails("certify", "lender.nnet", "--domain", "gone.toml")
    assert "gone.json" in fails("certify", "lender.nnet", "--domain", "gone.json:AC")
    assert "wiki" in fails("certify", "lender.nnet", "--domain", "wiki")


def test_a_domain_of_another_network(fails: Fails, lender: Path) -> None:
    assert fails("certify", "lender.nnet", "--domain", "fairify/adult")
    assert fails("certify", "demo", "--domain", "census", "--protected", "race")
