"""The lines around a network's sums: random people, run in float32, float64 and backwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from enumeration import everybody, run
from hypothesis import given, settings
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
from testsgd.certification.proving import Problem, build_problem
from testsgd.certification.proving.axes import CATEGORY
from testsgd.certification.proving.linear_bounds import bound

Floats = NDArray[np.float64]

# The oracle multiplies forms and people in float64, too.
_ROUNDING = 1e-11


def columns_of(problem: Problem, people: Floats) -> Floats:
    """Spread categories over their columns."""
    axes = problem.axes
    out = np.zeros((len(people), axes.width))
    for axis, column in enumerate(axes.columns):
        if axes.kinds[axis] == CATEGORY:
            out[np.arange(len(people)), column + people[:, axis].astype(int)] = 1
        else:
            out[:, column] = people[:, axis]
    return out


def own_sums(network: FeedForward, domain: Domain, people: Floats) -> list[Floats]:
    """Run a network for all persons in three ways, (people, persons, deciding sums) each."""
    free = [domain.names.index(item.name) for item in domain.free]
    protected = [domain.names.index(name) for name in domain.protected]
    values = np.empty((len(people), len(domain.inputs)))
    values[:, free] = people
    runs: list[list[Floats]] = [[], [], []]
    for combination in domain.protected_values:
        values[:, protected] = combination
        runs[0].append(run(network, values, network.precision).astype(np.float64))
        runs[1].append(run(network, values, network.precision, backwards=True).astype(np.float64))
        runs[2].append(run(network, values, "float64").astype(np.float64))
    return [np.stack(way, axis=1) for way in runs]


def compared(problem: Problem, sums: Floats) -> Floats:
    """Turn sums of classes into differences, if that is what decides."""
    if not problem.pairs:
        return sums
    return np.stack([sums[..., one] - sums[..., two] for one, two in problem.pairs], axis=-1)


@pytest.mark.slow
@given(problem=problems(), data=st.data())
@settings(max_examples=150)
def test_enclose_everybody_of_a_box(
    problem: tuple[FeedForward, Domain], data: st.DataObject
) -> None:
    network, domain = problem
    told = build_problem(network, domain)
    ends = [
        sorted(data.draw(st.tuples(*[st.integers(int(low), int(high))] * 2)))
        for low, high in zip(told.axes.low, told.axes.high, strict=True)
    ]
    lo, hi = np.array(ends, dtype=float).T
    bounds = bound(told, lo[None], hi[None])
    people, _ = everybody(domain)
    people = people[((people >= lo) & (people <= hi)).all(axis=1)]
    columns = columns_of(told, people)
    for sums in own_sums(network, domain, people):
        decisive = compared(told, sums)
        below = np.einsum("nc,pmc->npm", columns, bounds.lower_form[0]) + bounds.lower_constant[0]
        above = np.einsum("nc,pmc->npm", columns, bounds.upper_form[0]) + bounds.upper_constant[0]
        terms = np.einsum("nc,pmc->npm", np.abs(columns), np.abs(bounds.lower_form[0]))
        terms += np.einsum("nc,pmc->npm", np.abs(columns), np.abs(bounds.upper_form[0]))
        slack = _ROUNDING * (terms + np.abs(bounds.lower_constant[0]) + np.abs(decisive) + 1e-30)
        assert np.all(below <= decisive + slack)
        assert np.all(above >= decisive - slack)
        assert np.all(bounds.low[0] <= decisive)
        assert np.all(bounds.high[0] >= decisive)
        change = decisive - decisive[:, :1]
        assert np.all(bounds.least_change[0] <= change)
        assert np.all(bounds.most_change[0] >= change)


@given(problem=problems())
@settings(max_examples=60)
def test_a_linear_model_is_its_own_line(problem: tuple[FeedForward, Domain]) -> None:
    network, domain = problem
    last = replace(network.layers[0], activation="linear")
    outputs = last.weights.shape[1]
    decision = Decision("threshold", 0.0, 0.0, ("no", "yes"))
    if outputs > 1:
        decision = Decision("argmax", 0.0, 0.0, tuple("abcdefgh"[:outputs]))
    network = replace(network, layers=(last,), decision=decision)
    told = build_problem(network, domain)
    bounds = bound(told, told.axes.low[None], told.axes.high[None])
    people, _ = everybody(domain)
    for sums in own_sums(network, domain, people):
        decisive = compared(told, sums)
        assert np.all(bounds.low[0] <= decisive)
        assert np.all(bounds.high[0] >= decisive)
    middle = (bounds.high - bounds.low) / 2
    reach = compared(told, own_sums(network, domain, people)[2])
    spread = np.ptp(reach, axis=0)
    # Nothing is lost but rounding: the bounds are the extremes.
    assert np.all(2 * middle[0] <= spread + 1e-3 * (1 + np.abs(reach).max()))


def test_the_first_persons_rounding_counts_for_all() -> None:
    # The first person's sum loses each of 400 ones beside 2^24; the second's units are all dead.
    ones = 400
    weights = np.concatenate(
        [np.full((1, ones + 1), 1.0), np.full((1, ones + 1), -(2.0**30))], axis=0
    )
    weights[0, 0] = 2.0**24
    number = NumberColumns(np.ones(1), np.zeros(1))
    network = FeedForward(
        "sums", "made up",
        (
            DenseLayer(weights, np.zeros(ones + 1), "relu"),
            DenseLayer(np.ones((ones + 1, 1)), np.zeros(1), "linear"),
        ),
        (InputColumns("a", number), InputColumns("p", number)),
        Decision("threshold", 0.0, 0.0, ("no", "yes")), "float32",
    )  # fmt: skip
    inputs = (IntegerInput("a", 0, 1), IntegerInput("p", 0, 1))
    domain = Domain("sums", inputs, ("p",), ((0.0,), (1.0,)))
    told = build_problem(network, domain)
    one = np.ones((1, 1))
    bounds = bound(told, one, one)
    forwards, backwards, _ = own_sums(network, domain, one)
    assert forwards[0, 0] == 2.0**24
    assert backwards[0, 0] == 2.0**24 + ones
    for sums in (forwards, backwards):
        assert bounds.least_change[0, 1] <= sums[0, 1] - sums[0, 0] <= bounds.most_change[0, 1]
