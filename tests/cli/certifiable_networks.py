"""Small networks in files that anybody can read, and ranges for their inputs."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

RANGES = """
protected = ["woman"]

[inputs.income]
integer = [0, 99]

[inputs.debts]
integer = [0, 9]

[inputs.woman]
integer = [0, 1]
"""

# People: 100 incomes, 10 numbers of debts.
POINTS = 1000


def nnet_text(
    layers: list[tuple[np.ndarray, np.ndarray]], lows: list[float], highs: list[float]
) -> str:
    """Write a network of ReLU layers as .nnet text: weights as (inputs, units), biases."""
    sizes = [layers[0][0].shape[0], *(weights.shape[1] for weights, _ in layers)]

    def row(values: object) -> str:
        return ",".join(repr(float(value)) for value in np.atleast_1d(np.asarray(values))) + ","

    lines = [f"{len(layers)},{sizes[0]},{sizes[-1]},{max(sizes)},", ",".join(map(str, sizes)) + ","]
    # With a decimal point a range would be one of real numbers.
    ends = [",".join(str(int(value)) for value in values) + "," for values in (lows, highs)]
    lines += ["0,", *ends, row([0.0] * (sizes[0] + 1)), row([1.0] * (sizes[0] + 1))]
    for weights, bias in layers:
        lines += [row(column) for column in weights.T]
        lines += [row(value) for value in bias]
    return "\n".join(lines) + "\n"


def lender(step: float = 12.0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Make a network that grants if income - 5 debts - step * woman > 20."""
    first = np.array([[1.0], [-5.0], [-step]])
    return [(first, np.array([180.0])), (np.array([[1.0]]), np.array([-200.0]))]


def unfair_points(step: float = 12.0) -> int:
    """Count the people whose decision depends on being a woman, by trying all."""
    incomes, debts = np.meshgrid(np.arange(100), np.arange(10))
    worth = incomes - 5 * debts
    return int(((worth > 20) & ~(worth - step > 20)).sum())


def wide(
    units: int = 40, inputs: int = 8, *, scale: float = 1.0, seed: int = 1
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Make a network that takes long: random weights, on inputs that are scaled."""
    generator = np.random.default_rng(seed)
    sizes = [inputs, units, units, 1]
    layers = [
        (generator.normal(0, 2 / np.sqrt(a), (a, b)), generator.normal(0, 0.1, b))
        for a, b in itertools.pairwise(sizes)
    ]
    return [(scale * layers[0][0], layers[0][1]), *layers[1:]]


def write_lender(folder: Path, step: float = 12.0) -> Path:
    """Write the lender and the ranges of its inputs, ``ranges.toml``, into a folder."""
    path = folder / "lender.nnet"
    path.write_text(nnet_text(lender(step), [0, 0, 0], [99, 9, 1]), encoding="utf-8")
    (folder / "ranges.toml").write_text(RANGES, encoding="utf-8")
    return path
