"""Everybody who is counted as fair is fair, and as unfair is unfair: by running the network."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import truth_of
from half_space_boxes import counted_share
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from small_problems import problems

from testsgd.certification.domain import Domain, IntegerInput
from testsgd.certification.network import (
    Decision,
    DenseLayer,
    FeedForward,
    InputColumns,
    NumberColumns,
)
from testsgd.certification.proving import (
    Problem,
    Prover,
    build_problem,
    counted_points,
)
from testsgd.certification.proving.prover import can_compile

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def _box(problem: Problem, data: st.DataObject) -> tuple[Floats, Floats]:
    ends = [
        sorted(data.draw(st.tuples(*[st.integers(int(low), int(high))] * 2)))
        for low, high in zip(problem.axes.low, problem.axes.high, strict=True)
    ]
    lo, hi = np.array(ends, dtype=float).T.copy()
    return lo, hi


def _members(
    problem: Problem, lo: Floats, hi: Floats, people: Floats, *, compiled: bool, bins: int
) -> tuple[Bools, Bools, float, float]:
    """Say who of a box is certified and falsified, and what share is claimed."""
    with Prover(problem, compiled=compiled) as prover:
        analysed = prover.analyse(lo[None], hi[None], bins=bins, keep=True)
    if analysed.status[0] > 0:
        everybody = np.ones(len(people), dtype=bool)
        return (
            everybody & (analysed.status[0] == 1), everybody & (analysed.status[0] == 2),
            float(analysed.fair[0]), float(analysed.unfair[0]),
        )  # fmt: skip
    assert analysed.forms is not None
    assert analysed.thresholds is not None

    def held(space: int) -> Bools:
        assert analysed.forms is not None
        assert analysed.thresholds is not None
        many = len(people)
        threshold = analysed.thresholds[0, space]
        if threshold == -np.inf:  # nothing is assumed
            return np.ones(many, dtype=bool)
        return counted_points(
            problem.axes, np.tile(lo, (many, 1)), np.tile(hi, (many, 1)),
            np.tile(analysed.forms[0, space], (many, 1)), np.full(many, threshold),
            np.full(many, float(bins)), people,
        )  # fmt: skip

    assumed = np.ones(len(people), dtype=bool)
    for space in range(4, analysed.forms.shape[1]):
        assumed &= held(space)
    fair, unfair = (held(0) | held(1)) & assumed, held(2) & held(3) & assumed
    return fair, unfair, float(analysed.fair[0]), float(analysed.unfair[0])


def _check(
    drawn: tuple[FeedForward, Domain], data: st.DataObject, *, compiled: bool, bins: int
) -> None:
    problem = build_problem(*drawn)
    if compiled:
        assume(can_compile(problem))
    lo, hi = _box(problem, data)
    truth = truth_of(*drawn)
    inside = ((truth.people >= lo) & (truth.people <= hi)).all(axis=1)
    weights = truth.weights[inside]
    assume(weights.sum() > 0)
    people = truth.people[inside]
    fair, unfair, certified, falsified = _members(
        problem, lo, hi, people, compiled=compiled, bins=bins
    )
    assert truth.surely_fair[inside][fair].all()
    assert truth.surely_unfair[inside][unfair].all()
    whole = weights.sum()
    assert certified <= weights[fair].sum() / whole + 1e-9
    assert falsified <= weights[unfair].sum() / whole + 1e-9


@pytest.mark.slow
@given(problem=problems(weighted=True), data=st.data(), bins=st.sampled_from((3, 48)))
@settings(max_examples=150)
def test_by_arrays(problem: tuple[FeedForward, Domain], data: st.DataObject, bins: int) -> None:
    _check(problem, data, compiled=False, bins=bins)


@given(
    problem=problems(activations=("relu",), weighted=True), data=st.data(),
    bins=st.sampled_from((3, 48)),
)  # fmt: skip
@pytest.mark.slow
@settings(max_examples=250)
def test_in_machine_code(
    problem: tuple[FeedForward, Domain], data: st.DataObject, bins: int
) -> None:
    _check(problem, data, compiled=True, bins=bins)


@pytest.mark.parametrize("seed", range(40))
def test_under_assumptions(seed: int) -> None:
    # Wider boxes than hypothesis draws, so that units that are rarely on one side are assumed.
    network, domain = _wider(seed)
    problem = build_problem(network, domain)
    truth = truth_of(network, domain)
    fair, unfair, certified, falsified = _members(
        problem, problem.axes.low, problem.axes.high, truth.people, compiled=True, bins=768
    )
    assert truth.surely_fair[fair].all()
    assert truth.surely_unfair[unfair].all()
    assert certified <= truth.share(fair) + 1e-9
    assert falsified <= truth.share(unfair) + 1e-9


def _wider(seed: int) -> tuple[FeedForward, Domain]:
    generator = np.random.default_rng(seed)
    free = int(generator.integers(3, 6))
    inputs = (*(IntegerInput(f"x{k}", 0, 5) for k in range(free)), IntegerInput("p", 0, 1))
    width, layers = free + 1, []
    for units in (6, 4, 1):
        weights = generator.normal(size=(width, units)).astype(np.float32).astype(float)
        # About centred sums, so that both decisions and both sides of units occur.
        centre = 2.5 if not layers else 1.5
        bias = -weights.sum(axis=0) * centre + generator.normal(size=units) * 2
        kind = "linear" if units == 1 else "relu"
        layers.append(DenseLayer(weights, bias.astype(np.float32).astype(float), kind))  # type: ignore[arg-type]  # a drawn name
        width = units
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "wider", "made up", tuple(layers),
        tuple(InputColumns(item.name, number) for item in inputs),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float32",
    )  # fmt: skip
    return network, Domain("wider", inputs, ("p",), ((0.0,), (1.0,)))


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_form_is_rounded_against_us(seed: int) -> None:
    # One person's line is flat and a little below 0, the other's terms are large: where the mean
    # of both lines is above its threshold, both must be, in exact arithmetic.
    generator = np.random.default_rng(seed)
    inputs = (IntegerInput("a", 10**9, 10**9 + 1), IntegerInput("p", 0, 1))
    domain = Domain("rounded", inputs, ("p",), ((0.0,), (1.0,)))
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "rounded", "made up",
        (
            DenseLayer(np.ones((2, 1)), np.zeros(1), "relu"),
            DenseLayer(np.ones((1, 1)), np.zeros(1), "linear"),
        ),
        (InputColumns("a", number), InputColumns("p", number)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float64",
    )  # fmt: skip
    problem = build_problem(network, domain)
    # Imported here: the machine code takes a second to load.
    from testsgd.certification.proving import compiled_counting, compiled_half_spaces

    box = compiled_counting.make_box(problem.axes.arrays, problem.axes.low, problem.axes.high)
    for factor in generator.uniform(0.01, 1, 200):
        form, constant = np.array([[factor], [0.0]]), np.array([0.0, -1e-13])
        forms = compiled_half_spaces.Forms(
            form, form, constant, constant + 1e12, constant - 1e12, constant + 1e12
        )
        spaces = compiled_half_spaces.make_spaces(1)
        compiled_half_spaces.choose_half_spaces(problem.above, problem.below, box, forms, spaces)
        counted = counted_share(
            problem.axes, box.lo, box.hi, spaces.forms[0], float(spaces.thresholds[0]), 48
        )
        assert counted == 0
