"""Networks of texts on disk: what is read, and how a file that is not one is named."""

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

from testsgd.data import bundled_folder
from testsgd.errors import ModelError
from testsgd.models import MODEL_FILE, PREPROCESSING_FILE
from testsgd.models.network import read_network
from testsgd.models.text import VOCABULARY_FILE
from testsgd.models.text.network import read_text_network

Configuration = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a committed network, to be spoilt."""
    target = tmp_path / "network"
    shutil.copytree(bundled_folder("models") / "tweets", target)
    return target


def read(folder: Path) -> Any:
    return read_text_network(folder / MODEL_FILE, favourable="neither", name="spoilt")


def change(folder: Path, changed: Callable[[Configuration, h5py.File], None]) -> None:
    with zipfile.ZipFile(folder / MODEL_FILE) as archive:
        configuration = json.loads(archive.read("config.json"))
        stream = io.BytesIO(archive.read("model.weights.h5"))
    with h5py.File(stream, "r+") as file:
        changed(configuration, file)
    with zipfile.ZipFile(folder / MODEL_FILE, "w") as archive:
        archive.writestr("config.json", json.dumps(configuration))
        archive.writestr("model.weights.h5", stream.getvalue())


def document(folder: Path) -> Any:
    return json.loads((folder / PREPROCESSING_FILE).read_text(encoding="utf-8"))


def test_what_is_read(folder: Path) -> None:
    network = read(folder)
    words = (folder / VOCABULARY_FILE).read_text(encoding="utf-8").split()
    assert list(network.vocabulary.words) == words
    assert network.vocabulary.longest == document(folder)["longest"]
    assert len(network.weights.embedding) == len(words) + 2
    assert (network.name, network.output, network.threshold) == ("spoilt", "scores", 0.5)
    assert network.decisions(["a few words"]).shape == (1,)


def test_the_other_label_may_be_compared(folder: Path) -> None:
    other = read_text_network(
        folder / MODEL_FILE, favourable="hateful or offensive", name="spoilt", threshold=0.2
    )
    np.testing.assert_allclose(other.scores(["a day"]), 1 - read(folder).scores(["a day"]))
    with pytest.raises(ModelError, match="'neither' and 'hateful or offensive', not 'hateful'"):
        read_text_network(folder / MODEL_FILE, favourable="hateful", name="spoilt")


@pytest.mark.parametrize("name", [MODEL_FILE, PREPROCESSING_FILE, VOCABULARY_FILE])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=r"no such file|is missing beside the network") as raised:
        read(folder)
    assert name in str(raised.value)


def test_the_vocabulary_of_another_network_is_noticed(folder: Path) -> None:
    shutil.copy(bundled_folder("models") / "wiki" / VOCABULARY_FILE, folder)
    with pytest.raises(ModelError, match=r"vocabulary\.txt: .*not the one.*was trained with"):
        read(folder)


def test_a_network_of_another_size_is_noticed(folder: Path) -> None:
    shutil.copy(bundled_folder("models") / "wiki" / MODEL_FILE, folder)
    with pytest.raises(ModelError, match=r"takes \d+ words, its vocabulary has \d+; keep"):
        read(folder)


def test_a_vocabulary_that_is_no_text(folder: Path) -> None:
    (folder / VOCABULARY_FILE).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelError, match="the vocabulary cannot be read"):
        read(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("longest", 7), ("longest", 0), ("longest", "8"), ("longest", None), ("format", "other/1")],
)
def test_preprocessing_that_is_none_is_named(folder: Path, key: str, value: Any) -> None:
    spoilt = {**document(folder), key: value}
    (folder / PREPROCESSING_FILE).write_text(json.dumps(spoilt), encoding="utf-8")
    with pytest.raises(ModelError, match=r"preprocessing\.json: the preprocessing cannot be read"):
        read(folder)


def test_networks_of_tables_and_of_texts_are_told_apart() -> None:
    models = bundled_folder("models")
    with pytest.raises(ModelError, match="the network is of tables, the data set of texts"):
        read_text_network(models / "demo" / MODEL_FILE, favourable="yes", name="demo")
    with pytest.raises(ModelError, match="the network is of texts, the data set of tables"):
        read_network(models / "tweets" / MODEL_FILE, favourable="neither", name="tweets")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut off"])
def test_a_file_that_is_no_archive_is_named(folder: Path, content: bytes) -> None:
    (folder / MODEL_FILE).write_bytes(content)
    with pytest.raises(ModelError, match=r"this is not a \.keras file that testsgd wrote"):
        read(folder)


@pytest.mark.parametrize(
    ("layer", "key", "value"),
    [
        (1, "mask_zero", True),
        (2, "padding", "valid"),
        (2, "activation", "tanh"),
        (2, "strides", [2]),
        (3, "strides", [4]),
        (4, "recurrent_activation", "hard_sigmoid"),
        (4, "return_sequences", True),
        (4, "go_backwards", True),
        (5, "activation", "linear"),
        (5, "units", 2),
    ],
)
def test_another_network_is_sent_to_a_function(
    folder: Path, layer: int, key: str, value: Any
) -> None:
    def other(configuration: Configuration, _: h5py.File) -> None:
        configuration["config"]["layers"][layer]["config"][key] = value

    change(folder, other)
    with pytest.raises(ModelError, match=r"not of embedding, convolution.*package.module:callable"):
        read(folder)


def test_a_layer_more_or_less_is_another_network(folder: Path) -> None:
    change(folder, lambda configuration, _: configuration["config"]["layers"].pop())
    with pytest.raises(ModelError, match="not of embedding, convolution"):
        read(folder)


def spoil_number(_: Configuration, file: h5py.File) -> None:
    file["layers/conv1d/vars/0"][0, 0, 0] = np.nan


def spoil_shape(_: Configuration, file: h5py.File) -> None:
    del file["layers/lstm/cell/vars/1"]
    file["layers/lstm/cell/vars/1"] = np.zeros((3, 3), dtype=np.float32)


def spoil_name(_: Configuration, file: h5py.File) -> None:
    del file["layers/dense"]


@pytest.mark.parametrize("changed", [spoil_number, spoil_shape, spoil_name])
def test_weights_that_make_no_network_are_noticed(folder: Path, changed: Any) -> None:
    change(folder, changed)
    with pytest.raises(ModelError, match=r"not a \.keras file that testsgd wrote"):
        read(folder)
