"""The text format ``.nnet``: a header, and the weights of a network of ReLU layers.

After comments (``//``) and the header come, for each layer, a line of weights a unit and a line
with its bias. Means and ranges are not applied: the network takes the inputs as they are, as the
programs do that certify fairness from such files. The last layer is a plain sum, positive for label
1.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from testsgd.certification.network import parts
from testsgd.io import read_text

# Digits and a comma for each number.
_MAXIMUM_BYTES = 2**30
# Lines of the header: counts, widths, a flag, minima, maxima, means, ranges.
_HEADER_LINES = 7
MINIMA, MAXIMA = 3, 4


def content_lines(text: str) -> list[str]:
    """Return the lines that are neither empty nor comments."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("//")]


def read_nnet_file(path: Path) -> parts.ReadNetwork:
    """Return the network of an ``.nnet`` file as parts; it runs in float64."""
    if path.stat().st_size > _MAXIMUM_BYTES:
        raise parts.too_large(str(path))
    lines = content_lines(read_text(path))
    header, body = lines[:_HEADER_LINES], lines[_HEADER_LINES:]
    layers = int(_numbers(header[0])[0])
    sizes = [int(size) for size in _numbers(header[1])]
    if not 0 < layers <= parts.MAXIMUM_LAYERS or len(sizes) != layers + 1 or min(sizes) < 1:
        raise ValueError(sizes)
    weights_in_all = sum(a * b for a, b in pairwise(sizes))
    if max(sizes) > parts.MAXIMUM_WIDTH or weights_in_all > parts.MAXIMUM_NUMBERS:
        raise parts.too_large("model")
    if len(body) < 2 * sum(sizes[1:]):
        raise ValueError(len(body))
    read: list[parts.Part] = []
    start = 0
    for number, (width, units) in enumerate(pairwise(sizes)):
        where = f"layer {number}"
        weights = np.array([_numbers(line) for line in body[start : start + units]])
        bias = [_numbers(line)[0] for line in body[start + units : start + 2 * units]]
        if weights.shape != (units, width):
            raise ValueError(weights.shape)
        read.append(parts.affine(where, weights.T, bias))
        if number < layers - 1:
            read.append(parts.Activate(where, "relu"))
        start += 2 * units
    return parts.ReadNetwork(sizes[0], tuple(read), "float64", ".nnet network")


def _numbers(line: str) -> list[float]:
    return [float(part) for part in line.split(",") if part.strip()]
