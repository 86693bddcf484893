"""Problems in which assumptions about units are made, boxes of them, and the truth of boxes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from enumeration import Truth
from hypothesis import strategies as st
from numpy.typing import NDArray
from searched_problems import searched
from small_problems import problems

from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import BoxBounds, Problem

Floats = NDArray[np.float64]
Given = tuple[FeedForward, Domain]

# None are made, those by default, few, and many of which the most useful are taken.
MANY = (0.05, 0.1, 0.2, 0.3, 0.5, 0.95)
RARE = ((), (0.15,), (0.05,), (0.5, 0.95), (2.0,), MANY)
SUMMING = 1e-9


def with_persons(persons: int, seed: int, *, size: int = 6, weighted: bool = False) -> Given:
    """Make a network that is searched for some persons."""
    network, domain = searched(seed, size=size, weighted=weighted)
    inputs = tuple(
        IntegerInput("p", 0, persons - 1) if item.name == "p" else item for item in domain.inputs
    )
    values = tuple((float(value),) for value in range(persons))
    return network, replace(domain, inputs=inputs, protected_values=values)


def rarely_bent(persons: int, seed: int) -> Given:
    """Make a network most of whose units are rarely on one of their sides, for 4 numbers."""
    generator = np.random.default_rng(seed)
    numbers = tuple(IntegerInput(f"x{place}", 0, 5) for place in range(4))
    inputs = (*numbers, IntegerInput("p", 0, persons - 1))
    people = generator.integers(0, 6, (2000, 4))
    current = np.concatenate([people, np.zeros((2000, 1))], axis=1)
    layers = []
    for units in (5, 4, 1):
        weights = generator.normal(size=(current.shape[1], units))
        if not layers:
            # The protected input matters less than the others.
            weights[-1] *= 0.3
        weights = weights.astype(np.float32).astype(float)
        off = generator.choice([0.03, 0.08, 0.15, 0.4, 0.85, 0.92, 0.97], units)
        sums = current @ weights
        bias = [
            -np.quantile(sums[:, unit], 0.5 if units == 1 else off[unit]) for unit in range(units)
        ]
        function = "linear" if units == 1 else "relu"
        layers.append(
            DenseLayer(weights, np.array(bias).astype(np.float32).astype(float), function)
        )  # type: ignore[arg-type]  # a drawn name
        current = np.maximum(sums + layers[-1].bias, 0.0)
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        f"rarely bent {seed}", "made up", tuple(layers),
        tuple(InputColumns(item.name, number) for item in inputs),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float32",
    )  # fmt: skip
    values = tuple((float(value),) for value in range(persons))
    return network, Domain("rarely bent", inputs, ("p",), values)


@st.composite
def stressed(draw: st.DrawFn) -> Given:
    """Draw a network whose units are bent, rarely or not, or one that hurts otherwise."""
    kind = draw(st.sampled_from(("rarely", "rarely", "searched", "nasty")))
    if kind == "nasty":
        return draw(problems(activations=("relu",), weighted=True))
    persons, seed = draw(st.sampled_from((2, 3))), draw(st.integers(0, 10**6))
    if kind == "rarely":
        return rarely_bent(persons, seed)
    return with_persons(persons, seed, weighted=draw(st.booleans()))


def random_boxes(told: Problem, count: int, seed: int) -> tuple[Floats, Floats]:
    """Draw boxes, and the whole domain first."""
    generator = np.random.default_rng(seed)
    axes = told.axes
    ends = generator.integers(
        axes.low.astype(int), axes.high.astype(int) + 1, (2, count, len(axes.low))
    ).astype(float)
    lo, hi = ends.min(axis=0), ends.max(axis=0)
    # Wide ones, where sums reach their bounds in corners only.
    wide = generator.random(lo.shape) < 0.7
    lo, hi = np.where(wide, axes.low, lo), np.where(wide, axes.high, hi)
    lo[0], hi[0] = axes.low, axes.high
    return lo, hi


def inside(truth: Truth, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
    held: NDArray[np.bool_] = ((truth.people >= lo) & (truth.people <= hi)).all(axis=1)
    return held


def check_shares(truth: Truth, lo: Floats, hi: Floats, analysed: BoxBounds) -> None:
    """Compare each box's shares with those of the people in it."""
    for box in range(len(lo)):
        here = inside(truth, lo[box], hi[box])
        whole = truth.share(here)
        if analysed.status[box] == 1:
            assert truth.surely_fair[here].all()
        if analysed.status[box] == 2:
            assert truth.surely_unfair[here].all()
        if whole == 0.0:
            continue
        assert analysed.fair[box] <= truth.share(here & truth.surely_fair) / whole + SUMMING
        assert analysed.unfair[box] <= truth.share(here & truth.surely_unfair) / whole + SUMMING
