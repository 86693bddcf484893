"""Hypothesis strategies: small networks that hurt, and small domains that fit them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Literal

import numpy as np
from enumeration import everybody, run
from hypothesis import strategies as st
from hypothesis.extra import numpy as hypothesis_arrays
from numpy.typing import NDArray

from testsgd.certification.domain import (
    CategoryInput,
    Domain,
    DomainInput,
    IntegerInput,
    Marginal,
    RealInput,
)
from testsgd.certification.network import (
    CategoryColumns,
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)

Precision = Literal["float32", "float64"]

# Weights that hurt: exact zeros and ones, so that sums tie and units are exactly 0, numbers whose
# products are rounded, and three magnitudes on either side of 1.
_NASTY = (0.0, 1.0, -1.0, 2.0, -2.0, 0.1, -0.1, 1 / 3, -1 / 3, 1e-3, -1e-3, 7.7, 1e3, -1e3)
_ACTIVATIONS = ("relu", "relu", "relu", "leaky_relu", "sigmoid", "tanh")


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    most_free: int = 4,
    widest: int = 5,
    activations: tuple[str, ...] = _ACTIVATIONS,
    weighted: bool = False,
) -> tuple[FeedForward, Domain]:
    """Draw a small network and a domain that fits it: at most ``widest ** most_free`` people."""
    # At least one free input, so that there is more than one person.
    free = draw(st.integers(1, most_free))
    protected = draw(st.integers(1, 2))
    sizes = [draw(st.integers(2, widest)) for _ in range(free)]
    sizes += [draw(st.integers(2, 3)) for _ in range(protected)]
    made = [draw(_inputs(f"x{place}", size)) for place, size in enumerate(sizes)]
    # The protected inputs may stand anywhere.
    order = draw(st.permutations(range(len(made))))
    names = tuple(f"x{place}" for place in range(free, free + protected))
    inputs = tuple(made[place][0] for place in order)
    compared = [
        range(item.low, item.high + 1) if isinstance(item, IntegerInput) else range(item.size)
        for item in (made[place][0] for place in range(free, free + protected))
    ]
    combinations = tuple(
        tuple(float(value) for value in values) for values in itertools.product(*compared)
    )
    domain = Domain(
        "made up",
        inputs,
        protected=names,
        protected_values=combinations,
        marginals=_marginals(draw, inputs, names) if weighted else {},
    )
    columns = tuple(made[place][1] for place in order)
    network = draw(networks(columns, activations=activations))
    return (_centred(network, domain) if draw(st.booleans()) else network), domain


def _centred(network: FeedForward, domain: Domain) -> FeedForward:
    """Shift the last sums so that about half of them are positive, and one is about 0."""
    people, _ = everybody(domain)
    values = np.empty((len(people), len(domain.inputs)))
    values[:, [domain.names.index(item.name) for item in domain.free]] = people
    values[:, [domain.names.index(name) for name in domain.protected]] = domain.protected_values[0]
    middle = np.sort(run(network, values, "float32"), axis=0)[len(people) // 2]
    bias = (network.layers[-1].bias - middle).astype(np.float32).astype(np.float64)
    return replace(network, layers=(*network.layers[:-1], replace(network.layers[-1], bias=bias)))


@st.composite
def large_problems(draw: st.DrawFn, *, weighted: bool = False) -> tuple[FeedForward, Domain]:
    """Draw a small problem and add an input that changes nothing but the number of people.

    So the domain is too large to be enumerated, or has a real input, and its truth is known: that
    of :func:`without_idle`.
    """
    network, domain = draw(problems(weighted=weighted))
    huge, real = IntegerInput("idle", -9, 10**9), RealInput("idle", 0.0, 1.0)
    idle: DomainInput = huge if draw(st.booleans()) else real
    first = network.layers[0]
    unmoved = np.concatenate([first.weights, np.zeros((1, len(first.bias)))])
    columns = InputColumns("idle", NumberColumns(np.ones(1), np.zeros(1)))
    larger = replace(
        network,
        layers=(replace(first, weights=unmoved), *network.layers[1:]),
        inputs=(*network.inputs, columns),
    )
    return larger, replace(domain, inputs=(*domain.inputs, idle))


def without_idle(domain: Domain) -> Domain:
    """Leave one value of the input that changes nothing."""
    return replace(domain, inputs=(*domain.inputs[:-1], IntegerInput("idle", 0, 0)))


@st.composite
def _inputs(
    draw: st.DrawFn, name: str, size: int
) -> tuple[IntegerInput | CategoryInput, InputColumns]:
    kind = draw(st.sampled_from(("integer", "scaled", "one-hot", "ordinal")))
    if kind in ("integer", "scaled"):
        low = draw(st.sampled_from((0, 1, -3, 17)))
        multiplier, constant = np.ones(1), np.zeros(1)
        if kind == "scaled":
            # As a standardised number, with a column beside it that says whether it is missing.
            multiplier, constant = np.array([0.3, 0.0]), np.array([-0.7, 0.0])
        number = IntegerInput(name, low, low + size - 1)
        return number, InputColumns(name, NumberColumns(multiplier, constant))
    values = tuple("abcdefgh"[:size])
    table = np.eye(size)
    if kind == "ordinal":
        table = np.array(draw(st.permutations(range(size))), dtype=float)[:, None]
    return CategoryInput(name, values), InputColumns(name, CategoryColumns(table, values))


def _marginals(
    draw: st.DrawFn, inputs: tuple[IntegerInput | CategoryInput, ...], protected: tuple[str, ...]
) -> dict[str, Marginal]:
    marginals = {}
    for item in inputs:
        if item.name in protected or not draw(st.booleans()):
            continue
        counts = draw(
            st.lists(st.integers(0, 9), min_size=item.size, max_size=item.size).filter(any)
        )
        cumulative = np.concatenate([[0.0], np.cumsum(counts) / sum(counts)])
        marginals[item.name] = Marginal(np.arange(item.size + 1.0), cumulative)
    return marginals


@st.composite
def networks(
    draw: st.DrawFn,
    inputs: tuple[InputColumns, ...],
    *,
    activations: tuple[str, ...] = _ACTIVATIONS,
) -> FeedForward:
    """Draw a network of 1 to 3 hidden layers of 1 to 8 units for some inputs."""
    width = sum(given.columns.width for given in inputs)
    layers = []
    for _ in range(draw(st.integers(1, 3))):
        units = draw(st.integers(1, 8))
        function = draw(st.sampled_from(activations))
        slope = draw(st.sampled_from((0.01, 0.3))) if function == "leaky_relu" else 0.0
        layers.append(draw(_layers(width, units, function, float(np.float32(slope)))))
        width = units
    outputs = draw(st.sampled_from((1, 1, 2, 3)))
    layers.append(draw(_layers(width, outputs, "linear", 0.0)))
    tolerance = draw(st.sampled_from((0.0, 0.0, 0.0, 1e-6, 0.25)))
    if outputs == 1 and tolerance == 1e-6:
        # Far more than what a sigmoid in float32 needs.
        decision = Decision("threshold", 0.0, tolerance, ("no", "yes"), "sigmoid", 0.5)
    elif outputs == 1:
        turning = draw(st.sampled_from((0.0, 0.0, 0.5)))
        decision = Decision("threshold", turning, tolerance, ("no", "yes"), "plain", turning)
    else:
        decision = Decision("argmax", 0.0, tolerance, tuple("abc"[:outputs]))
    precision: Precision = draw(st.sampled_from(("float32", "float32", "float64")))
    return FeedForward("drawn", "made up", tuple(layers), inputs, decision, precision)


@st.composite
def _layers(draw: st.DrawFn, inputs: int, units: int, function: str, slope: float) -> DenseLayer:
    element = st.one_of(st.sampled_from(_NASTY), st.floats(-2, 2, width=32))
    single = element.map(lambda value: float(np.float32(value)))

    def drawn(*shape: int) -> NDArray[np.float64]:
        array: NDArray[np.float64] = draw(
            hypothesis_arrays.arrays(np.float64, shape, elements=single, fill=st.nothing())
        )
        return array

    return DenseLayer(drawn(inputs, units), drawn(units), function, slope)  # type: ignore[arg-type]  # a drawn name
