"""ONNX files: what graph, weights and operators are is in :mod:`onnx_graph`.

The package onnx is an extra, and only parses the file; nothing is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from testsgd.certification.network.onnx_graph import graph_network
from testsgd.certification.network.parts import ReadNetwork
from testsgd.errors import MissingExtraError, ModelError, TestSGDError


def read_onnx_file(path: Path) -> ReadNetwork:
    """Read an ``.onnx`` file.

    Parameters
    ----------
    path : path-like
        The file, with its weights inside.

    Returns
    -------
    ReadNetwork

    Raises
    ------
    MissingExtraError
        If onnx is not installed.
    ModelError
        If there is no such file, it is damaged, or an operator is none that is known.
    """
    onnx = import_onnx()
    path = Path(path)
    if not path.is_file():
        raise ModelError("there is no such file", where=str(path), remedy="check the path")
    try:
        # Weights in other files would be of the author's choosing, so they are not looked up.
        model = onnx.load(str(path), load_external_data=False)
        return graph_network(model)
    except TestSGDError:
        raise
    except Exception as error:
        # Whatever the parser raises at bytes that are damaged.
        raise ModelError(
            f"this is no ONNX network that can be read ({type(error).__name__})",
            where=str(path),
            remedy="give a sound .onnx file",
        ) from error


def import_onnx() -> Any:
    """Import onnx, or say which extra brings it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("onnx", extra="onnx", purpose="reading an .onnx file") from error
    return onnx
