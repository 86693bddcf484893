"""Quotas among those accepted, against going through all sequences."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from exhaustive import Events, Game, Inputs, cost_under
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import SpecificationError
from testsgd.fairness.property import SHARE_OF_ACCEPTED
from testsgd.fairness.shares import rounded_share_biases, share_bias, shares_within
from testsgd.shielding import simulate_shield, synthesis
from testsgd.shielding.running import Shield
from testsgd.shielding.running.periods import period_problem
from testsgd.shielding.specification import ShieldSpecification

Shares = Mapping[str, Sequence[str]]
ACCEPTED = Events(((1, 0), (1, 1)), ((1, 0), (1, 1)))
CASES: list[tuple[Shares, str, int]] = [
    ({"a": ("2/5", "1")}, "0", 6),
    ({"a": ("1/2", "1"), "b": ("0", "2/5")}, "0", 6),
    ({"b": ("0", "1/3")}, "1/10", 6),
    ({"a": ("1/5", "1"), "b": ("0", "2/3"), "c": ("0", "1/2")}, "0", 4),
]


def document(shares: Shares, bound: str, length: int, **horizon: Any) -> dict[str, Any]:
    return {
        "fairness": {
            "property": "share_of_accepted",
            "bound": bound,
            "shares": {group: list(ends) for group, ends in shares.items()},
        },
        "groups": {"names": ["a", "b", "c"] if "c" in shares else ["a", "b"]},
        "horizon": {"length": length, **horizon},
    }


def within(accepted: Sequence[int], shares: Shares, bound: Fraction) -> bool:
    """Whether each group has its share of those accepted, give or take the bound."""
    together = sum(accepted)
    return together == 0 or all(
        Fraction(low) - bound <= Fraction(accepted["abc".index(group)], together)
        and Fraction(accepted["abc".index(group)], together) <= Fraction(high) + bound
        for group, (low, high) in shares.items()
    )


@pytest.mark.parametrize(("shares", "bound", "length"), CASES)
def test_cheapest_and_never_broken(shares: Shares, bound: str, length: int) -> None:
    specification = ShieldSpecification.from_dict(document(shares, bound, length))
    groups = len(specification.groups.names)
    inputs = Inputs((1,) * (2 * groups), (1,), (4,) * (2 * groups), groups)

    def judge(tops: list[int], bottoms: list[int]) -> bool:
        assert tops == bottoms
        return within(tops, shares, Fraction(bound))

    game = Game(ACCEPTED, judge, inputs, length)
    problem = period_problem(specification, specification.input_distribution())
    solution = synthesis.solve(problem, compiled=False)
    # Its decisions keep the quota in all sequences, and are as cheap as any.
    counted = cost_under(game, SHARE_OF_ACCEPTED, solution.policy)
    assert solution.expected_cost == pytest.approx(float(counted))
    if groups == 2:
        assert counted == game.least_cost()


def test_at_run_time() -> None:
    for seed in range(20):
        draw = random.Random(seed)
        shield = Shield.synthesize(
            ShieldSpecification.from_dict(document({"a": ("2/5", "1")}, "0", 30))
        )
        accepted = {"a": 0, "b": 0}
        for _ in range(30):
            group = "a" if draw.random() < 0.2 else "b"
            accepted[group] += shield.decide(group, 1)
        assert sum(accepted.values()) > 0
        assert within(list(accepted.values()), {"a": ("2/5", "1")}, Fraction(0))
        assert shield.bias == 0


def test_refused_where_nobody_could_be_accepted() -> None:
    quarters = [str(Fraction(number, 4)) for number in range(5)]
    ends = [
        (low, high) for low, high in product(quarters, repeat=2) if Fraction(low) <= Fraction(high)
    ]
    found: set[bool] = set()
    for first, second, bound in product(ends, ends, ("0", "1/4")):
        shares = {"a": first, "b": second}

        def can_be_kept(accepted: tuple[int, int], left: int, shares: Shares, bound: str) -> bool:
            if left == 0:
                return within(accepted, shares, Fraction(bound))
            a, b = accepted
            return all(
                any(can_be_kept(one, left - 1, shares, bound) for one in (accepted, more))
                for more in ((a + 1, b), (a, b + 1))
            )

        some = any(can_be_kept(one, 4, shares, bound) for one in ((1, 0), (0, 1)))
        found.add(some)
        if some:
            ShieldSpecification.from_dict(document(shares, bound, 5))
        else:
            with pytest.raises(SpecificationError):
                ShieldSpecification.from_dict(document(shares, bound, 5))
    assert found == {True, False}


@given(data=st.data())
def test_the_bias(data: st.DataObject) -> None:
    ends = st.fractions(0, 1, max_denominator=20)
    ranges = tuple(
        (low, high)
        for low, high in map(
            sorted, data.draw(st.lists(st.tuples(ends, ends), min_size=2, max_size=3))
        )
    )
    counts = data.draw(st.lists(st.integers(0, 30), min_size=len(ranges), max_size=len(ranges)))
    bias = share_bias(counts, counts, ranges)
    together = sum(counts)
    distances = [Fraction(0)]
    for count, (low, high) in zip(counts, ranges, strict=True):
        if together:
            share = Fraction(count, together)
            nearest = min(max(share, low), high)
            distances.append(abs(share - nearest))
    assert bias == max(distances)
    arrays = np.array([counts])
    assert rounded_share_biases(arrays, arrays, ranges)[0] == pytest.approx(float(bias))
    assert shares_within(arrays, arrays, bias, ranges).tolist() == [True]
    if bias:
        assert shares_within(arrays, arrays, bias - Fraction(1, 10**9), ranges).tolist() == [False]


def test_simulated() -> None:
    result = simulate_shield(document({"a": ("2/5", "1")}, "0", 20), runs=50)
    assert result.summary.requirement.shares == [["2/5", "1"], ["0", "1"]]
    assert result.exit_code == 0


MISTAKES: list[tuple[Any, dict[str, Any]]] = [
    (None, {}),
    ({"z": [0, 1]}, {}),
    ({"a": [0.6, 0.5]}, {}),
    ({"a": [0.6, 1], "b": [0.6, 1]}, {}),
    ({"a": [0, 0.3], "b": [0, 0.3]}, {}),
    *(({"a": [0.4, 1]}, {"shield": kind}) for kind in ("static-fair", "dynamic")),
]


def test_the_report_calls_the_bias_no_difference_of_rates() -> None:
    shares = simulate_shield(document({"a": ("2/5", "1")}, "0", 6), runs=20).to_markdown()
    plain = document({}, "1/2", 6)
    plain["fairness"] = {"property": "demographic_parity", "bound": "1/2"}
    rates = simulate_shield(plain, runs=20).to_markdown()
    assert "apart" in rates
    assert "apart" not in shares


@pytest.mark.parametrize(("shares", "horizon"), MISTAKES)
def test_mistakes(shares: Any, horizon: dict[str, Any]) -> None:
    wrong = document({}, "0", 5, **horizon)
    wrong["fairness"]["shares"] = shares
    with pytest.raises(SpecificationError):
        ShieldSpecification.from_dict(wrong)


def test_another_property_has_no_shares() -> None:
    given_shares = document({"a": ("2/5", "1")}, "1/10", 5)
    given_shares["fairness"]["property"] = "demographic_parity"
    with pytest.raises(SpecificationError):
        ShieldSpecification.from_dict(given_shares)
    specification = ShieldSpecification.from_dict(document({"a": ("2/5", "1")}, "1/10", 5))
    assert specification.with_changes(property="demographic_parity").fairness.shares is None
