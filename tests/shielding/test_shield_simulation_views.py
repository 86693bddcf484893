"""What is derived from simulated counts, against exact fractions run by run."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.fairness import NAMED_PROPERTIES
from testsgd.fairness.property import property_from_events
from testsgd.shielding.simulation import Simulation

WEIGHTED = property_from_events(
    "twice", numerator=["accept", "accept:1"], denominator=["accept", "accept:1", "reject"]
)


def made(counts: Any, **changes: Any) -> Simulation:
    counts = np.array(counts, dtype=np.int64)
    shape = counts.shape[:2]
    values: dict[str, Any] = {
        "fairness": NAMED_PROPERTIES["demographic_parity"],
        "bound": Fraction(1, 10),
        "empty_group": "vacuous",
        "shield": "static-fair",
        "horizon": 10,
        "counts_unshielded": counts,
        "counts": counts,
        "active": np.ones(shape, dtype=bool),
        "assumption_held": None,
        "interventions": np.zeros(shape, dtype=np.int64),
        "cost": np.zeros(shape),
    }
    return Simulation(**(values | changes))


def exact(rates: list[tuple[int, int]], measure: str, empty_group: str) -> Fraction:
    known = [
        Fraction(top, bottom) if bottom else Fraction(0)
        for top, bottom in rates
        if bottom or empty_group == "zero"
    ]
    apart = Fraction(0)
    for one in known:
        for other in known:
            if measure == "difference":
                apart = max(apart, abs(one - other))
            elif max(one, other) > 0:
                apart = max(apart, 1 - min(one, other) / max(one, other))
    return apart


@given(st.data())
def test_bias_of_the_history(data: st.DataObject) -> None:
    fairness = data.draw(st.sampled_from([*NAMED_PROPERTIES.values(), WEIGHTED]), label="fairness")
    groups = data.draw(st.integers(2, 3), label="groups")
    kinds = len(fairness.kinds)
    shape = (2, 3, groups, kinds)
    numbers = data.draw(
        st.lists(st.integers(0, 6), min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
    )
    counts = np.array(numbers).reshape(shape)
    empty_group = data.draw(st.sampled_from(["vacuous", "zero"]), label="empty group")
    shield = data.draw(st.sampled_from(["finite", "dynamic"]), label="shield")
    bound = data.draw(st.fractions(0, 1, max_denominator=20), label="bound")
    simulation = made(
        counts,
        fairness=fairness,
        empty_group=empty_group,
        shield=shield,
        bound=bound,
    )
    for run in range(2):
        for period in range(3):
            first = period if shield == "finite" else 0
            rates = [
                tuple(
                    sum(
                        int(counts[run, past, group, kind]) * fairness.kinds[kind][part]
                        for past in range(first, period + 1)
                        for kind in range(kinds)
                    )
                    for part in (0, 1)
                )
                for group in range(groups)
            ]
            bias = exact(rates, fairness.measure, empty_group)
            assert simulation.bias[run, period] == pytest.approx(float(bias), abs=1e-12)
            assert simulation.fair[run, period] == (bias <= bound)
            assert simulation.fair[run, period] == (bias <= bound)


def test_a_bias_that_equals_the_threshold_is_not_above() -> None:
    # 3/10 and 2/10 are 0.1 apart, though not in floating point.
    simulation = made([[[[7, 3], [8, 2]]]])
    assert not simulation.above.any()
    assert 0.3 - 0.2 != 0.1
    assert made([[[[6, 4], [8, 2]]]]).above.all()


def test_what_is_guaranteed_ends_with_the_assumption() -> None:
    counts = np.ones((2, 3, 2, 2))
    held = np.array([[True, False, True], [True, True, True]])
    expected = [[True, False, False], [True, True, True]]
    assert made(counts, assumption_held=held).guaranteed.tolist() == expected
    assert made(counts, active=held, shield="finite").guaranteed.tolist() == held.tolist()


def test_utility_loss_is_a_share_of_the_decisions() -> None:
    counts = np.ones((1, 2, 2, 2))
    simulation = made(counts, correct_unshielded=np.array([[8, 7]]), correct=np.array([[6, 8]]))
    assert simulation.utility_loss is not None
    assert simulation.utility_loss.tolist() == [[0.2, -0.1]]
    assert made(counts).utility_loss is None
