"""A .h5 file of Keras 2 is read without Keras; a damaged or hostile one is refused in one line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from networks_by_hand import dense, small_layers, small_weights, write_keras_2

from testsgd.certification.network import find_network
from testsgd.errors import ModelError, ParameterError


def test_every_weight_is_exactly_the_stored_one(tmp_path: Path) -> None:
    weights = small_weights()
    path = write_keras_2(tmp_path / "net.h5", small_layers(), weights, 3)
    network = find_network(path)
    assert network.precision == "float32"
    assert len(network.file_sha256 or "") == 64
    assert [layer.activation for layer in network.layers] == ["relu", "linear"]
    for layer, (kernel, bias) in zip(network.layers, weights.values(), strict=True):
        assert layer.weights.dtype == np.float64
        assert (layer.weights.astype("f4") == kernel).all()
        assert (layer.bias.astype("f4") == bias).all()
        assert layer.relative_error == 0


def test_the_sums_are_those_of_the_formula(tmp_path: Path) -> None:
    weights = small_weights(1)
    network = find_network(write_keras_2(tmp_path / "net.h5", small_layers(), weights, 3))
    people = np.random.default_rng(2).integers(-9, 9, (20_000, 3)).astype(float)
    (kernel, bias), (kernel_2, bias_2) = (
        [np.float64(a) for a in pair] for pair in weights.values()
    )
    exact = np.maximum(people @ kernel + bias, 0) @ kernel_2 + bias_2
    sums = network.sums(people)
    assert sums.dtype == np.float32
    np.testing.assert_allclose(sums, exact, rtol=1e-4, atol=1e-4)
    far = np.abs(exact[:, 0]) > 1e-3
    assert (network.decisions(people)[far] == (exact[far, 0] > 0)).all()


@pytest.mark.parametrize("slope", [0.25, 0.3])
def test_leaky_slopes_are_rounded_as_the_model_does(tmp_path: Path, slope: float) -> None:
    layers = [
        dense("first", 4, "linear"),
        {"class_name": "LeakyReLU", "config": {"name": "leak", "alpha": slope}},
        dense("last", 1, "sigmoid"),
    ]
    network = find_network(write_keras_2(tmp_path / "net.h5", layers, small_weights(), 3))
    assert network.layers[0].activation == "leaky_relu"
    assert network.layers[0].negative_slope == float(np.float32(slope))


def test_a_threshold_moves_the_turning_point(tmp_path: Path) -> None:
    path = write_keras_2(tmp_path / "net.h5", small_layers(), small_weights(), 3)
    people = np.random.default_rng(0).normal(size=(1000, 3))
    low, high = (find_network(path, threshold=share).decisions(people) for share in (0.2, 0.8))
    assert low.sum() > high.sum() > 0
    with pytest.raises(ParameterError, match=r"threshold: 1\.0 is not between 0 and 1"):
        find_network(path, threshold=1.0)


def _changed(**arrays: Any) -> dict[str, Any]:
    return {**small_weights(), **arrays}


@pytest.mark.parametrize(
    ("layers", "weights", "words"),
    [
        (small_layers(), _changed(last=[np.full((4, 1), np.nan), np.zeros(1)]), "'last'.*NaN"),
        (small_layers(), _changed(last=[np.ones((5, 1)), np.zeros(1)]), "'last'.*5 numbers"),
        (small_layers(), _changed(last=[np.ones((4, 1)), np.zeros(2)]), "'last'.*1 units"),
        (small_layers(), _changed(last=[np.ones((4, 1))]), "'last'.*1 arrays"),
        ([dense("first", 4, "elu"), small_layers()[1]], small_weights(), "'first'.*'elu'"),
        ([*small_layers(), {"class_name": "Lambda", "config": {"name": "code"}}],
         small_weights(), r"'code' \(Lambda\)"),
        ([dense("first", 4, "softmax"), dense("last", 1, "sigmoid")], small_weights(), "softmax"),
        ([dense("first", 4, "relu", dtype="float16"), dense("last", 1, "sigmoid")],
         small_weights(), "float16"),
        ([dense("first", 4, "sigmoid")], {"first": small_weights()["first"]}, "4 sigmoid outputs"),
        ([{"class_name": "LSTM", "config": {"name": "memory"}}, *small_layers()],
         small_weights(), r"'memory' \(LSTM\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_certified_is_named(
    tmp_path: Path, layers: list[dict[str, Any]], weights: dict[str, Any], words: str
) -> None:
    path = write_keras_2(tmp_path / "net.h5", layers, weights, 3)
    with pytest.raises(ModelError, match=words) as caught:
        find_network(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_weights_in_other_files_are_not_read(tmp_path: Path) -> None:
    path = write_keras_2(tmp_path / "net.h5", small_layers(), small_weights(), 3)
    secret = tmp_path / "secret"
    secret.write_bytes(b"\1" * 64)
    with h5py.File(path, "a") as file:
        del file["model_weights/first/first/kernel:0"]
        file["model_weights/first/first"].create_dataset(
            "kernel:0", (3, 4), "f4", external=[(str(secret), 0, 48)]
        )
    with pytest.raises(ModelError, match="weights are not in the file"):
        find_network(path)


def test_weights_linked_from_other_files_are_not_read(tmp_path: Path) -> None:
    path = write_keras_2(tmp_path / "net.h5", small_layers(), small_weights(), 3)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["kernel"] = np.ones((3, 4), dtype="f4")
    with h5py.File(path, "a") as file:
        del file["model_weights/first/first/kernel:0"]
        link = h5py.ExternalLink(str(tmp_path / "other.h5"), "kernel")
        file["model_weights/first/first/kernel:0"] = link
    with pytest.raises(ModelError, match="weights are not in the file"):
        find_network(path)


def test_a_size_that_is_made_up_fills_no_memory(tmp_path: Path) -> None:
    path = write_keras_2(tmp_path / "net.h5", small_layers(), small_weights(), 3)
    with h5py.File(path, "a") as file:
        del file["model_weights/first/first/kernel:0"]
        file["model_weights/first/first"].create_dataset(
            "kernel:0", (3, 10**9), "f4", chunks=(3, 10**4)
        )
    with pytest.raises(ModelError, match="more than"):
        find_network(path)


@pytest.mark.slow
def test_many_layers_that_are_made_up_fill_no_memory(tmp_path: Path) -> None:
    layers, weights = [dense("d0", 6000, "relu")], {"d0": [np.zeros((1, 1)), np.zeros(6000)]}
    for number in range(1, 5):
        layers.append(dense(f"d{number}", 6000, "relu"))
        weights[f"d{number}"] = [np.zeros((1, 1)), np.zeros(6000)]
    path = write_keras_2(tmp_path / "net.h5", layers, weights, 1)
    with h5py.File(path, "a") as file:
        for number in range(5):
            group = file[f"model_weights/d{number}/d{number}"]
            del group["kernel:0"]
            shape = (6000 if number else 1, 6000)
            group.create_dataset("kernel:0", shape, "f4", chunks=(1, 6000))
    assert path.stat().st_size < 2**20
    with pytest.raises(ModelError, match="more than"):
        find_network(path)


@pytest.mark.parametrize("name", ["net.h5", "net.keras", "net.nnet"])
@pytest.mark.parametrize("content", [b"", b"no network", b"PK\3\4 no zip", b"\x89HDF\r\n\x1a\n"])
def test_damaged_files_are_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        find_network(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_alone_are_no_network(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "net.h5", "w") as file:
        file["first"] = np.ones((3, 4))
    with pytest.raises(ModelError, match="weights only"):
        find_network(tmp_path / "net.h5")


@pytest.mark.real_data
def test_the_published_networks_are_read_as_they_are() -> None:
    home = os.environ.get("TESTSGD_DATA_HOME", "")
    folder = Path(home).parent / "models" / "fairify"
    paths = sorted(folder.glob("*.h5")) if home else []
    if not paths:
        pytest.skip("the published networks are absent")
    for path in paths:
        network = find_network(path)
        with h5py.File(path) as file:
            stored = [
                np.asarray(file["model_weights"][layer][place])
                for layer in file["model_weights"].attrs["layer_names"]
                for place in file["model_weights"][layer].attrs["weight_names"]
            ]
        own = [array for layer in network.layers for array in (layer.weights, layer.bias)]
        assert all((a == b).all() for a, b in zip(own, stored, strict=True))
        assert network.name == path.stem


def test_no_file_and_no_model_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        find_network(tmp_path / "net.h5")
    with pytest.raises(ModelError, match="no model 'nothing'"):
        find_network("nothing")
    with pytest.raises(ModelError, match="a function is no network"):
        find_network(lambda frame: frame)
