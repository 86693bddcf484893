"""A .keras file gets other weights, and everything else in it stays."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from testsgd.data import bundled_folder
from testsgd.models import MODEL_FILE
from testsgd.models.files import KerasArchive
from testsgd.models.network import read_network

SHIPPED = bundled_folder("models") / "demo" / MODEL_FILE


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_layers_are_named_in_order() -> None:
    names = ["dense", *(f"dense_{place}" for place in range(1, 6))]
    assert KerasArchive(SHIPPED.read_bytes()).layer_names == names


def test_all_but_the_weights_stays() -> None:
    content = SHIPPED.read_bytes()
    changed = KerasArchive(content).with_arrays({"dense_5/vars": [np.full((4, 1), 7.0, "f4")]})
    before, after = members(content), members(changed)
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == {"model.weights.h5"}


def test_only_the_weights_named_are_others() -> None:
    content = SHIPPED.read_bytes()
    model = read_network(SHIPPED, favourable="yes", name="demo")
    kernel = np.arange(4, dtype=np.float32)[:, np.newaxis]
    changed = KerasArchive(content).with_arrays({"dense_5/vars": [kernel]})
    import h5py

    with h5py.File(io.BytesIO(members(changed)["model.weights.h5"])) as file:
        for place, (name, layer) in enumerate(
            zip(KerasArchive(content).layer_names, model.layers, strict=True)
        ):
            stored = file["layers"][name]["vars"]
            expected = kernel if place == 5 else layer.weights
            np.testing.assert_array_equal(stored["0"], expected)
            np.testing.assert_array_equal(stored["1"], layer.bias)


def test_another_shape_is_refused() -> None:
    archive = KerasArchive(SHIPPED.read_bytes())
    with pytest.raises(ValueError, match="dense_5"):
        archive.with_arrays({"dense_5/vars": [np.zeros((4, 2), np.float32)]})
