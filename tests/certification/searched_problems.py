"""A network and a domain that take a search some steps, for tests."""

from __future__ import annotations

import numpy as np

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, Marginal
from testsgd.certification.network import (
    CategoryColumns,
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)


def searched(
    seed: int = 0, *, size: int = 12, weighted: bool = False
) -> tuple[FeedForward, Domain]:
    """Make a random network of 2 hidden layers for 2 numbers, a category and the protected one."""
    generator = np.random.default_rng(seed)
    colours = ("red", "green", "blue")
    inputs = (
        IntegerInput("a", 0, size - 1), CategoryInput("colour", colours),
        IntegerInput("p", 0, 1), IntegerInput("b", -size, size - 1),
    )  # fmt: skip
    width, layers = 6, []
    for units in (8, 6, 1):
        weights = generator.normal(size=(width, units)).astype(np.float32).astype(float)
        bias = generator.normal(size=units).astype(np.float32).astype(float)
        layers.append(DenseLayer(weights, bias, "linear" if units == 1 else "relu"))
        width = units
    number = NumberColumns(np.ones(1), np.zeros(1))
    columns = [
        InputColumns("a", number), InputColumns("colour", CategoryColumns(np.eye(3), colours)),
        InputColumns("p", number), InputColumns("b", number),
    ]  # fmt: skip
    network = FeedForward(
        f"searched {seed}", "made up", tuple(layers), tuple(columns),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float32",
    )  # fmt: skip
    # As many yes as no for the first person.
    values = np.stack(
        [
            generator.integers(0, size, 999), generator.integers(0, 3, 999), np.zeros(999),
            generator.integers(-size, size, 999),
        ],
        axis=1,
    ).astype(float)  # fmt: skip
    layers[-1].bias[:] -= np.median(network.sums(values))
    network = FeedForward(
        network.name, network.kind, tuple(layers), network.inputs, network.decision, "float32"
    )
    marginals = {}
    if weighted:
        counts = generator.integers(0, 4, size)
        counts[0] = 1
        cumulative = np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum()
        marginals["a"] = Marginal(np.arange(size + 1.0), cumulative)
    return network, Domain("searched", inputs, ("p",), ((0.0,), (1.0,)), marginals)
