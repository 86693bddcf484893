"""Whoever comes, whatever is recommended and whenever labels come: the bound holds at the end."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shield_runs import ALL, LABELLED, Step, specification, trace_bias

from testsgd.errors import InfeasibleShieldError
from testsgd.shielding.running import Shield
from testsgd.shielding.specification import ShieldSpecification

LONGEST = {2: 8, 3: 5}


@st.composite
def tables(draw: st.DrawFn, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Expectations that may be far off: most of what comes may have probability 0."""
    costs = draw(st.lists(st.integers(0, 4), min_size=1, max_size=2, unique=True))
    cells = list(product(names, (0, 1), costs))
    weights = draw(
        st.lists(st.sampled_from([0, 0, 1, 5]), min_size=len(cells), max_size=len(cells)).filter(
            any
        )
    )
    labels = draw(
        st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(names) * 2, max_size=len(names) * 2)
    )
    total = sum(weights)
    return [
        {
            "group": group,
            "recommendation": recommendation,
            "probability": weight / total,
            "cost": float(cost),
            "label_probability": labels[names.index(group) * 2 + recommendation],
        }
        for (group, recommendation, cost), weight in zip(cells, weights, strict=True)
    ]


@st.composite
def specifications(draw: st.DrawFn) -> ShieldSpecification:
    names = draw(st.sampled_from([("a", "b"), ("a", "b", "c")]))
    bound = draw(st.fractions(0, 1, max_denominator=12))
    return specification(
        property=draw(st.sampled_from(ALL)),
        bound=str(bound),
        empty_group=draw(st.sampled_from(["vacuous", "zero"])),
        names=names,
        length=draw(st.integers(1, LONGEST[len(names)])),
        inputs={"table": draw(tables(names))},
    )


def some_shield(wanted: ShieldSpecification) -> Shield:
    """The shield, or, where none exists, that of the smallest bound there is."""
    try:
        return Shield.synthesize(wanted)
    except InfeasibleShieldError as error:
        smallest = error.details["smallest_bound"]
        assert smallest > wanted.bound
        return Shield.synthesize(wanted.with_changes(bound=str(smallest)))


@pytest.mark.slow
@settings(max_examples=150)
@given(data=st.data(), wanted=specifications(), revealed=st.booleans())
def test_no_sequence_breaks_the_bound(
    data: st.DataObject, wanted: ShieldSpecification, revealed: bool
) -> None:
    shield = some_shield(wanted)
    labelled = wanted.fairness.property in LABELLED
    trace: list[Step] = []
    for _ in range(wanted.horizon.length):
        group = data.draw(st.sampled_from(wanted.groups.names))
        cost = data.draw(st.sampled_from([0.0, 0.5, 2.0, 1e9]))
        decision = shield.decide(group, data.draw(st.integers(0, 1)), cost)
        label = data.draw(st.integers(0, 1)) if labelled and revealed else 0
        assert shield.pending == labelled
        if labelled:
            assert shield.bias == trace_bias([*trace, Step(group, decision, 0)], shield)
            shield.observe(label)
        trace.append(Step(group, decision, label))
        assert shield.bias == trace_bias(trace, shield)
    assert shield.ended
    assert shield.bias <= shield.specification.bound
    assert shield.period_reports[0].fair_so_far
    assert shield.period_reports[0].bias == shield.bias


@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@pytest.mark.parametrize("name", ALL)
def test_every_sequence_keeps_the_bound(name: str, empty_group: str) -> None:
    labelled = name in LABELLED
    length = 4 if labelled else 6
    shield = some_shield(
        specification(property=name, bound="1/3", empty_group=empty_group, length=length)
    )
    solution = shield._policy.first_solution()
    events = list(product("ab", (0, 1), (0, 1) if labelled else (0,)))
    worst = Fraction(0)
    for sequence in product(events, repeat=length):
        run = Shield(shield.specification, shield.inputs, solution)
        for group, recommendation, label in sequence:
            run.decide(group, recommendation)
            if labelled:
                run.observe(label)
        worst = max(worst, run.bias)
    assert worst <= shield.specification.bound


@pytest.mark.parametrize("name", LABELLED)
def test_label_of_the_last_decision_that_never_comes(name: str) -> None:
    shield = some_shield(specification(property=name, bound="1/4", length=6))
    solution = shield._policy.first_solution()
    for sequence in product(product("ab", (0, 1)), repeat=6):
        run = Shield(shield.specification, shield.inputs, solution)
        for place, (group, recommendation) in enumerate(sequence):
            if place:
                run.observe(place % 2)
            run.decide(group, recommendation)
        assert run.pending
        assert run.bias <= run.specification.bound


def test_a_property_that_nobody_can_keep_names_the_bound_that_can_be_kept() -> None:
    # Who is accepted is counted as a hit only if the label is 1, and rejecting counts a miss: with
    # one person of each group, labels 1 and 0 put the rates 1 apart, whatever is decided.
    wanted = ShieldSpecification.from_dict(
        {
            "fairness": {
                "property": "custom",
                "numerator": ["accept:1", "reject:1"],
                "denominator": ["accept", "reject"],
                "bound": "1/2",
            },
            "groups": {"names": ["a", "b"]},
            "horizon": {"length": 2},
        }
    )
    with pytest.raises(InfeasibleShieldError, match="smallest bound") as caught:
        Shield.synthesize(wanted)
    assert caught.value.details["smallest_bound"] == 1
    assert Shield.synthesize(wanted.with_changes(bound="1")).bias == 0
