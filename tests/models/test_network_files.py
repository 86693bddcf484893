"""Networks on disk: what is read, and how a file that is not one is named."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from testsgd.data import bundled_folder, load_specification
from testsgd.errors import ModelError
from testsgd.models import CARD_FILE, MODEL_FILE, PREPROCESSING_FILE, read_card
from testsgd.models.files import card_of
from testsgd.models.network import read_network
from testsgd.models.resolve import load_model

Configuration = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the demo's network, to be spoilt."""
    target = tmp_path / "network"
    shutil.copytree(bundled_folder("models") / "demo", target)
    return target


def read(folder: Path) -> Any:
    return read_network(folder / MODEL_FILE, favourable="yes", name="spoilt")


def parts(folder: Path) -> tuple[Configuration, bytes]:
    with zipfile.ZipFile(folder / MODEL_FILE) as archive:
        return json.loads(archive.read("config.json")), archive.read("model.weights.h5")


def write_parts(folder: Path, configuration: Any, weights: bytes) -> None:
    with zipfile.ZipFile(folder / MODEL_FILE, "w") as archive:
        archive.writestr("config.json", json.dumps(configuration))
        archive.writestr("model.weights.h5", weights)


def change_weights(folder: Path, change: Callable[[h5py.File], None]) -> None:
    configuration, weights = parts(folder)
    stream = io.BytesIO(weights)
    with h5py.File(stream, "r+") as file:
        change(file)
    write_parts(folder, configuration, stream.getvalue())


def test_the_layers_are_those_of_the_paper(folder: Path) -> None:
    network = read(folder)
    assert [len(layer.bias) for layer in network.layers] == [64, 32, 16, 8, 4, 1]
    assert [layer.activation for layer in network.layers] == ["relu"] * 5 + ["sigmoid"]
    assert network.layers[0].weights.shape == (network.encoding.width, 64)
    assert (network.output, network.threshold, network.name) == ("scores", 0.5, "spoilt")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.keras: there is no such file"):
        read_network(tmp_path / "gone.keras", favourable="yes", name="gone")


def test_missing_preprocessing_is_named(folder: Path) -> None:
    (folder / PREPROCESSING_FILE).unlink()
    with pytest.raises(ModelError, match=r"preprocessing\.json is missing beside the network"):
        read(folder)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"format": "testsgd.preprocessing/2"}',
        '{"format": "testsgd.preprocessing/1", "output": {}}',
        '{"format": "testsgd.preprocessing/1", "output": [], "features": []}',
        '{"format": "testsgd.preprocessing/1", "features": [{}],'
        ' "output": {"positive_label": "yes", "negative_label": "no"}}',
    ],
)
def test_preprocessing_that_is_none_is_named(folder: Path, text: str) -> None:
    (folder / PREPROCESSING_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=r"preprocessing\.json: the preprocessing cannot be read"):
        read(folder)


def test_binary_preprocessing_is_named(folder: Path) -> None:
    (folder / PREPROCESSING_FILE).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="the preprocessing cannot be read"):
        read(folder)


def test_a_label_that_the_network_does_not_know_is_named(folder: Path) -> None:
    with pytest.raises(ModelError, match="labels 'yes' and 'no', not 'perhaps'"):
        read_network(folder / MODEL_FILE, favourable="perhaps", name="demo")


def test_preprocessing_of_another_network_is_noticed(folder: Path) -> None:
    shutil.copy(bundled_folder("models") / "law" / PREPROCESSING_FILE, folder)
    with pytest.raises(ModelError, match="inputs"):
        read_network(folder / MODEL_FILE, favourable=labels_of(folder)[0], name="mixed")


def labels_of(folder: Path) -> tuple[str, str]:
    output = json.loads((folder / PREPROCESSING_FILE).read_text(encoding="utf-8"))["output"]
    return output["positive_label"], output["negative_label"]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off", bytes(1000)])
def test_a_file_that_is_no_archive_is_named(folder: Path, content: bytes) -> None:
    (folder / MODEL_FILE).write_bytes(content)
    with pytest.raises(ModelError, match=r"this is not a \.keras file that testsgd wrote"):
        read(folder)


def test_a_truncated_file_is_named_wherever_it_is_cut(folder: Path) -> None:
    content = (folder / MODEL_FILE).read_bytes()
    for length in range(0, len(content), 997):
        (folder / MODEL_FILE).write_bytes(content[:length])
        with pytest.raises(ModelError):
            read(folder)


def test_damaged_weights_are_an_error_or_harmless(folder: Path) -> None:
    # Bytes overwritten at random in the file of weights: its own parser may raise anything.
    configuration, weights = parts(folder)
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        damaged = bytearray(weights)
        for place in generator.integers(0, 6000, 10):
            damaged[place] = int(generator.integers(256))
        write_parts(folder, configuration, bytes(damaged))
        try:
            read(folder)
        except ModelError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("configuration", [[], {}, None, {"config": []}, {"config": {"layers": 1}}])
def test_a_configuration_that_is_none_is_named(folder: Path, configuration: Any) -> None:
    _, weights = parts(folder)
    write_parts(folder, configuration, weights)
    with pytest.raises(ModelError):
        read(folder)


def other_activation(configuration: Configuration) -> None:
    configuration["config"]["layers"][1]["config"]["activation"] = "tanh"


def other_output(configuration: Configuration) -> None:
    configuration["config"]["layers"][-1]["config"]["activation"] = "linear"


def two_outputs(configuration: Configuration) -> None:
    configuration["config"]["layers"][-1]["config"]["units"] = 2


def another_layer(configuration: Configuration) -> None:
    configuration["config"]["layers"][2]["class_name"] = "Dropout"


def no_bias(configuration: Configuration) -> None:
    configuration["config"]["layers"][2]["config"]["use_bias"] = False


def no_layers(configuration: Configuration) -> None:
    configuration["config"]["layers"] = []


def branches(configuration: Configuration) -> None:
    configuration["class_name"] = "Functional"


@pytest.mark.parametrize(
    "change",
    [other_activation, other_output, two_outputs, another_layer, no_bias, no_layers, branches],
)
def test_another_architecture_is_sent_to_a_function(
    folder: Path, change: Callable[[Configuration], None]
) -> None:
    configuration, weights = parts(folder)
    change(configuration)
    write_parts(folder, configuration, weights)
    with pytest.raises(ModelError, match=r"fully connected ReLU layers.*package.module:callable"):
        read(folder)


def spoil_number(file: h5py.File) -> None:
    file["layers/dense_2/vars/0"][0, 0] = np.nan


def spoil_shape(file: h5py.File) -> None:
    del file["layers/dense_2/vars/0"]
    file["layers/dense_2/vars/0"] = np.zeros((3, 16), dtype=np.float32)


def spoil_name(file: h5py.File) -> None:
    del file["layers/dense_3"]


@pytest.mark.parametrize("change", [spoil_number, spoil_shape, spoil_name])
def test_weights_that_make_no_network_are_noticed(
    folder: Path, change: Callable[[h5py.File], None]
) -> None:
    change_weights(folder, change)
    with pytest.raises(ModelError, match=r"not a \.keras file that testsgd wrote"):
        read(folder)


def test_the_card_is_optional_but_must_be_json(folder: Path) -> None:
    assert read_card(folder)["data set"] == "demo"
    (folder / CARD_FILE).write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="card is not valid JSON"):
        read_card(folder)
    (folder / CARD_FILE).write_text("[1]", encoding="utf-8")
    assert read_card(folder) == {}
    (folder / CARD_FILE).unlink()
    assert read_card(folder) == {}


def test_a_card_is_of_one_file_and_its_contents(folder: Path) -> None:
    model = folder / MODEL_FILE
    card = read_card(folder)
    assert card_of(model) == card != {}
    other = folder / "other.skops"
    other.write_bytes(b"something else")
    assert card_of(other) == {}
    # As if a training had been ended after the network, and before the card.
    write_parts(folder, *parts(folder))
    with pytest.raises(ModelError, match="not the one") as caught:
        load_model(model, load_specification("demo"))
    assert caught.value.where == str(model)
    # A card of an earlier version has no hash.
    earlier = {key: value for key, value in card.items() if key != "model sha256"}
    (folder / CARD_FILE).write_text(json.dumps(earlier), encoding="utf-8")
    assert card_of(model) == earlier
    (folder / CARD_FILE).unlink()
    assert card_of(model) == {}


@pytest.mark.parametrize(
    "name", sorted(card.parent.name for card in bundled_folder("models").glob("*/card.json"))
)
def test_the_card_of_a_network_of_the_catalogue_is_about_all_its_files(
    name: str, tmp_path: Path
) -> None:
    folder = tmp_path / name
    shutil.copytree(bundled_folder("models") / name, folder)
    assert card_of(folder / MODEL_FILE)
    for file in sorted(folder.iterdir()):
        if file.name == CARD_FILE:
            continue
        content = file.read_bytes()
        file.write_bytes(content + b" ")
        with pytest.raises(ModelError, match="not the one") as caught:
            card_of(folder / MODEL_FILE)
        assert caught.value.where == str(file)
        file.write_bytes(content)
