"""A ``.keras`` file with other weights, written without Keras."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_CONFIGURATION = "config.json"
_WEIGHTS = "model.weights.h5"


class KerasArchive:
    """A ``.keras`` file of layers one after another, as :mod:`testsgd.models.files` reads it.

    Parameters
    ----------
    content : bytes
        The file's.

    Attributes
    ----------
    layer_names : list of str
        Of the layers in order, without the input.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            configuration = json.loads(archive.read(_CONFIGURATION))
        self.layer_names: list[str] = [
            layer["config"]["name"]
            for layer in configuration["config"]["layers"]
            if layer["class_name"] != "InputLayer"
        ]

    def with_arrays(self, arrays: Mapping[str, Sequence[NDArray[np.float32]]]) -> bytes:
        """Give the file's content with other weights of the same shapes.

        Parameters
        ----------
        arrays : mapping
            From a place among the weights, such as ``"dense/vars"``, to the arrays there.

        Raises
        ------
        ValueError
            If a shape differs.
        """
        out = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self._content)) as archive,
            zipfile.ZipFile(out, "w") as written,
        ):
            for item in archive.infolist():
                content = archive.read(item)
                if item.filename == _WEIGHTS:
                    content = _with_arrays(content, arrays)
                written.writestr(item, content)
        return out.getvalue()


def _with_arrays(content: bytes, arrays: Mapping[str, Sequence[NDArray[np.float32]]]) -> bytes:
    import h5py

    weights = io.BytesIO(content)
    with h5py.File(weights, "r+") as file:
        for place, values in arrays.items():
            group = file["layers"][place]
            for number, value in enumerate(values):
                if group[str(number)].shape != value.shape:
                    raise ValueError(place)
                group[str(number)][...] = value
    return weights.getvalue()
