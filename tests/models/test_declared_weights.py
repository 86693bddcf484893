"""The weights that a configuration declares are those that Keras makes; far more is refused."""

from __future__ import annotations

import io
import json
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from testsgd.certification.network.keras_networks import read_keras_file
from testsgd.cli.main import run
from testsgd.data import bundled_folder
from testsgd.errors import ModelError
from testsgd.io import TooLargeError
from testsgd.models import MODEL_FILE
from testsgd.models.declared_weights import (
    check_declared_weights,
    check_stored_weights,
    count_by_keras,
    declared_weights,
)
from testsgd.models.files import read_keras_model
from testsgd.models.network import read_network

WEIGHTS = "model.weights.h5"


@pytest.fixture(scope="module")
def keras() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("tensorflow")
        return pytest.importorskip("keras")


NUMBERS = (6,)
WORDS = (12,)

# After the input, or after an embedding of words.
NETWORKS: dict[str, tuple[tuple[int], Callable[[Any], list[Any]]]] = {
    "dense": (NUMBERS, lambda of: [of.Dense(4), of.Dense(3, use_bias=False)]),
    "batch": (NUMBERS, lambda of: [of.BatchNormalization(), of.Dropout(0.5), of.Dense(1)]),
    "layer": (NUMBERS, lambda of: [of.LayerNormalization(), of.Dense(2)]),
    "lstm": (WORDS, lambda of: [of.LSTM(4, return_sequences=True), of.LSTM(3), of.Dense(1)]),
    "simple": (WORDS, lambda of: [of.SimpleRNN(4, use_bias=False), of.Dense(1)]),
    "gru": (WORDS, lambda of: [of.GRU(4), of.Dense(1)]),
    "bidirectional": (
        WORDS,
        lambda of: [
            of.Bidirectional(of.LSTM(4, return_sequences=True)),
            of.Bidirectional(of.LSTM(3), merge_mode="sum"),
            of.Dense(2),
        ],
    ),
    "convolution": (
        WORDS,
        lambda of: [
            of.Conv1D(8, 3),
            of.MaxPooling1D(2),
            of.GlobalAveragePooling1D(),
            of.Dense(1),
        ],
    ),
    "flat": (WORDS, lambda of: [of.Flatten(), of.Dense(2)]),
}


@pytest.mark.parametrize("described", NETWORKS.values(), ids=NETWORKS)
def test_as_many_as_keras_makes(
    described: tuple[tuple[int], Callable[[Any], list[Any]]], keras: Any, tmp_path: Path
) -> None:
    shape, layers = described
    of = keras.layers
    before = [of.Input(shape, dtype="int32"), of.Embedding(30, 5)]
    inputs = before if shape == WORDS else [of.Input(shape)]
    network = keras.Sequential([*inputs, *layers(of)])
    network.compile(optimizer=keras.optimizers.Adam(amsgrad=True), loss="mse")
    network.optimizer.build(network.trainable_variables)
    declared = declared_weights(json.loads(network.to_json()))
    made = network.count_params()
    assert declared is not None
    # A layer's counters, and a GRU without the second of its biases, may be counted beside.
    assert made <= declared <= made + 20
    path = tmp_path / MODEL_FILE
    network.save(path)
    with zipfile.ZipFile(path) as archive:
        configuration = json.loads(archive.read("config.json"))
        stored = archive.read(WEIGHTS)
    assert declared_weights(configuration) == declared
    check_declared_weights(path, declared, WEIGHTS)
    with h5py.File(io.BytesIO(stored), "r") as file:
        check_stored_weights(path, declared, file)


def functional(keras: Any) -> Any:
    """A model whose layers are a graph: two branches, the one a model of its own."""
    of = keras.layers
    numbers = of.Input((10,))
    inner = keras.Sequential([of.Input((10,)), of.Dense(3)])
    both = of.Concatenate()([of.BatchNormalization()(of.Dense(4)(numbers)), inner(numbers)])
    return keras.Model(numbers, of.Dense(1)(of.ReLU()(both)))


def test_as_many_in_a_graph_as_keras_makes(keras: Any, tmp_path: Path) -> None:
    network = functional(keras)
    path = tmp_path / MODEL_FILE
    network.save(path)
    with zipfile.ZipFile(path) as archive:
        configuration = json.loads(archive.read("config.json"))
    for document in (configuration, json.loads(network.to_json())):
        declared = declared_weights(document)
        assert declared is not None
        assert network.count_params() <= declared <= network.count_params() + 20
        check_declared_weights(path, declared, WEIGHTS)


def test_a_graph_that_unpacks_to_far_more_is_not_unpacked(
    keras: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / MODEL_FILE
    functional(keras).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            with archive.open(name, "w") as stream:
                stream.write(content)
                for _ in range(2**6 * (name == WEIGHTS)):
                    stream.write(bytes(2**20))

    def unpacked(*_: Any, **__: Any) -> bytes:
        raise AssertionError("the weights are unpacked")

    declared = declared_weights(json.loads(members["config.json"]))
    monkeypatch.setattr(zipfile.ZipFile, "read", unpacked)
    with pytest.raises(TooLargeError):
        check_declared_weights(path, declared, WEIGHTS)


def unusual(keras: Any) -> Any:
    """A model of layers that are counted by Keras only."""
    of = keras.layers
    pictures = [of.Input((8, 8, 1)), of.Conv2D(2, 3), of.SeparableConv2D(3, 2), of.PReLU()]
    sequences = [of.Reshape((25, 3)), of.RNN(of.LSTMCell(4)), of.Dense(1)]
    return keras.Sequential([*pictures, *sequences])


def spoil(path: Path, member: str, change: Callable[[bytes], bytes]) -> None:
    """Change one member of an archive; what is added is compressed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_keras_counts_layers_of_any_kind_without_their_values(keras: Any, tmp_path: Path) -> None:
    network = unusual(keras)
    path = tmp_path / MODEL_FILE
    network.save(path)
    with zipfile.ZipFile(path) as archive:
        configuration = json.loads(archive.read("config.json"))
    assert declared_weights(configuration) is None
    counted = count_by_keras(configuration, keras)
    assert network.count_params() <= counted <= network.count_params() + 20
    rows = np.random.default_rng(0).normal(size=(3, 8, 8, 1))
    # What is built afterwards has values again.
    again = read_keras_model(path).predict(rows, verbose=0)
    np.testing.assert_array_equal(again, network.predict(rows, verbose=0))


def wide(configuration: bytes) -> bytes:
    """Return the configuration of a model whose weights would take 200 gigabytes."""
    return configuration.replace(b'"units": 1,', b'"units": 10000000000,')


@pytest.mark.parametrize(
    ("member", "change"),
    [("config.json", wide), (WEIGHTS, lambda content: padded(padded(content)))],
    ids=["declared", "stored"],
)
def test_layers_of_any_kind_that_do_not_fit_their_weights_are_not_built(
    member: str, change: Callable[[bytes], bytes], keras: Any, tmp_path: Path
) -> None:
    path = tmp_path / MODEL_FILE
    unusual(keras).save(path)
    spoil(path, member, change)
    with pytest.raises(ModelError) as refused:
        read_keras_model(path)
    assert isinstance(refused.value.__cause__, TooLargeError)


def test_what_is_not_known_is_not_counted() -> None:
    inputs = {"class_name": "InputLayer", "config": {"batch_shape": [None, 3]}}
    dense = {"class_name": "Dense", "config": {"units": 2}}
    own = {"class_name": "MyLayer", "config": {}}

    def sequential(*layers: Any) -> dict[str, Any]:
        return {"class_name": "Sequential", "config": {"layers": list(layers)}}

    assert declared_weights(sequential(inputs, dense)) == 3 * 2 + 2
    assert declared_weights(sequential(inputs, own, dense)) is None
    assert declared_weights(sequential(dense)) is None
    broken = {"class_name": "Dense", "config": {"units": True}}
    assert declared_weights(sequential(inputs, broken)) is None
    # Nothing says what goes into its layer.
    graph = {"class_name": "Functional", "config": {"layers": [inputs, dense]}}
    for other in (None, [], "text", {}, graph, sequential(3)):
        assert declared_weights(other) is None


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """A copy of the demo's network, to be spoilt."""
    target = tmp_path / "network"
    shutil.copytree(bundled_folder("models") / "demo", target)
    (target / "card.json").unlink()
    return target / MODEL_FILE


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    with zipfile.ZipFile(path) as archive:
        configuration, weights = archive.read("config.json"), archive.read(WEIGHTS)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("config.json", configuration)
        archive.writestr(WEIGHTS, change(weights))


def padded(weights: bytes) -> bytes:
    """Return weights with what is compressed by less than the bound on that, and is too much."""
    noise = np.random.default_rng(0).integers(256, size=2**19, dtype=np.uint8).tobytes()
    return weights + (noise + bytes(2**22 - len(noise))) * 4


def claiming(weights: bytes) -> bytes:
    """Return weights whose arrays claim much and hold nothing."""
    stream = io.BytesIO(weights)
    with h5py.File(stream, "r+") as file:
        file.create_dataset("layers/dense/vars/2", (3_000_000,), "f4", chunks=(2**16,))
    return stream.getvalue()


@pytest.mark.parametrize("change", [padded, claiming])
def test_far_more_than_is_declared(
    change: Callable[[bytes], bytes], network: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(network, change)
    with pytest.raises(ModelError) as caught:
        read_network(network, favourable="yes", name="spoilt")
    assert isinstance(caught.value.__cause__, TooLargeError)
    with pytest.raises(ModelError) as refused:
        read_keras_file(network)
    assert isinstance(refused.value.__cause__, TooLargeError)
    with pytest.raises(SystemExit) as ended:
        run(["audit", "demo", "--model", str(network)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_weights_are_not_unpacked_for_it(network: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rewrite(network, padded)
    opened = []
    whole = zipfile.ZipFile.open

    def noting(self: zipfile.ZipFile, name: Any, *given: Any, **named: Any) -> Any:
        opened.append(getattr(name, "filename", name))
        return whole(self, name, *given, **named)

    monkeypatch.setattr(zipfile.ZipFile, "open", noting)
    with pytest.raises(ModelError):
        read_network(network, favourable="yes", name="spoilt")
    with pytest.raises(ModelError):
        read_keras_file(network)
    assert set(opened) == {"config.json"}


@pytest.mark.parametrize(
    "path",
    sorted(bundled_folder("models").glob("*/model.keras")),
    ids=lambda path: path.parent.name,
)
def test_what_is_bundled_is_declared(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        configuration = json.loads(archive.read("config.json"))
        size = archive.getinfo(WEIGHTS).file_size
    declared = declared_weights(configuration)
    assert declared is not None
    assert 4 * declared < size
    check_declared_weights(path, declared, WEIGHTS)
