"""Theorems 2, 4 and 5 of the paper: random traces that meet their assumptions stay fair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from exhaustive import NAMED, Decides, Trace, counts_of, exact_bias
from hypothesis import given, settings
from hypothesis import strategies as st
from periods_by_hand import Adversary, Run, rates, run_period
from shield_strategies import fairness_of

from testsgd.fairness import EmptyGroup, FairnessProperty, Measure
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.synthesis import (
    Solution,
    dynamic_problem,
    finite_problem,
    solve,
    static_welfare_problem,
)

# Numerators and denominators of a period, one of each a group.
Counters = tuple[tuple[int, ...], tuple[int, ...]]
NAMES = ("demographic_parity", "equal_opportunity", "predictive_equality")
# The label that is counted.
COUNTED = {"demographic_parity": 1, "equal_opportunity": 1, "predictive_equality": 0}


def _inputs(groups: int, skew: float) -> InputDistribution:
    """Expect that mostly the first group comes, and is mostly accepted."""
    shares = np.full((groups, 2, 1), (1 - skew) / (2 * groups))
    shares[0, 1] += skew
    return InputDistribution(tuple("abc"[:groups]), (1.0,), shares, np.full((groups, 2), 0.5))


def _bias(tops: list[int], bottoms: list[int], empty_group: str = "vacuous") -> Fraction:
    return exact_bias(tops, bottoms, measure="difference", empty_group=empty_group)


def _chosen(data: st.DataObject, people: list[tuple[int, int]]) -> Adversary:
    """Somebody who sends people (group, label) in this order, recommended by chance."""
    recommended = data.draw(st.lists(st.integers(0, 1), min_size=20, max_size=20))

    def adversary(trace: Trace) -> tuple[int, int, int, int]:
        group, label = people[len(trace)]
        return group, recommended[len(trace)], 0, label

    return adversary


@cache
def _static_fair(name: str, groups: int, bound: Fraction, length: int) -> Solution:
    problem = finite_problem(fairness_of(name), bound, "vacuous", _inputs(groups, 0.3), length)
    return solve(problem, compiled=False)


@given(data=st.data())
@settings(max_examples=60)
@pytest.mark.parametrize("name", NAMES)
def test_theorem_2_static_fair_on_balanced_traces(name: str, data: st.DataObject) -> None:
    """Equally many of each group in each period, under a shield that is the same each period."""
    groups = data.draw(st.sampled_from([2, 2, 3]))
    length = 12 if groups == 2 else 6
    bound = data.draw(st.sampled_from([Fraction(1, 6), Fraction(1, 5), Fraction(1, 3)]))
    policy = _static_fair(name, groups, bound, length).policy
    run = Run(NAMED[name], groups)
    for period in range(data.draw(st.integers(1, 4))):
        people = [(group, COUNTED[name]) for group in range(groups)] * (length // groups)
        adversary = _chosen(data, data.draw(st.permutations(people)))
        run.traces.append(
            run_period(policy, fairness_of(name), adversary, groups=groups, length=length)
        )
        tops, bottoms = run.counters(period)
        assert len(set(bottoms)) == 1
        assert _bias(tops, bottoms) <= bound
        assert _bias(*run.counters()) <= bound


def _outcomes(name: str, fairness: FairnessProperty, policy: Decides, length: int) -> set[Counters]:
    """Return the counters after one period of every sequence of people that can come."""
    kinds = list(product((0, 1), (0, 1), (0, 1)))
    traces: dict[Any, Trace] = {(): ()}
    for step in range(length):
        longer: dict[Any, Trace] = {}
        for trace in traces.values():
            counts = counts_of(fairness, trace, 2)
            for group, recommendation, label in kinds:
                changed = policy.changes(step, counts, group, recommendation) > 0
                after = (*trace, (group, recommendation ^ changed, label))
                longer.setdefault(counts_of(fairness, after, 2), after)
        traces = longer
    found = (Run(NAMED[name], 2, [trace]).counters() for trace in traces.values())
    return {(tuple(tops), tuple(bottoms)) for tops, bottoms in found}


@pytest.mark.parametrize("name", ["equal_opportunity", "predictive_equality"])
@pytest.mark.parametrize(
    ("measure", "empty_group"),
    [("difference", "zero"), ("difference", "vacuous"), ("ratio", "vacuous")],
)
@pytest.mark.parametrize(("length", "bound"), [(5, "1/3"), (7, "1/4"), (6, "1/3")])
def test_static_fair_by_labels_holds_with_equal_denominators_at_any_length(
    name: str, measure: Measure, empty_group: EmptyGroup, length: int, bound: str
) -> None:
    """All sequences of a period, and all sums of three periods that meet the assumption."""
    fairness = replace(fairness_of(name), measure=measure)
    problem = finite_problem(fairness, Fraction(bound), empty_group, _inputs(2, 0.3), length)
    policy = solve(problem, compiled=False).policy
    every = _outcomes(name, fairness, policy, length)
    fair = [one for one in every if len(set(one[1])) == 1]
    assert len({bottoms for _, bottoms in fair}) == length // 2 + 1

    def bias(periods: Iterable[Counters]) -> Fraction:
        tops, bottoms = (
            [sum(column) for column in zip(*rows, strict=True)]
            for rows in zip(*periods, strict=True)
        )
        return exact_bias(tops, bottoms, measure=measure, empty_group=empty_group)

    assert all(bias([one]) <= Fraction(bound) for one in every)
    for periods in combinations_with_replacement(fair, 3):
        assert bias(periods) <= Fraction(bound)
    assert any(bias(pair) > Fraction(bound) for pair in combinations(every, 2))


def test_theorem_2_fails_for_traces_that_are_barely_unbalanced() -> None:
    """One person more of a group is enough (theorem 6): found by going through counters."""
    bound, length = Fraction(1, 5), 11
    fair = [
        ((top_a, top_b), (5 + more, 6 - more))
        for more in (0, 1)
        for top_a in range(6 + more)
        for top_b in range(7 - more)
        if _bias([top_a, top_b], [5 + more, 6 - more]) <= bound
    ]
    worst = max(
        _bias(
            [one + two for one, two in zip(first[0], second[0], strict=True)],
            [one + two for one, two in zip(first[1], second[1], strict=True)],
        )
        for first in fair
        for second in fair
    )
    assert sum(fair[0][1]) == length
    assert worst > bound


@cache
def _bounded_welfare(name: str, groups: int, low: Fraction, high: Fraction) -> Solution:
    length = {2: 14, 3: 8}[groups]
    problem = static_welfare_problem(fairness_of(name), (low, high), _inputs(groups, 0.3), length)
    return solve(problem, compiled=False)


@given(data=st.data())
@settings(max_examples=60)
@pytest.mark.parametrize("name", NAMES)
def test_theorem_4_bounded_welfare_with_enough_of_each_group(
    name: str, data: st.DataObject
) -> None:
    groups = data.draw(st.sampled_from([2, 2, 3]))
    low, high, enough = data.draw(
        st.sampled_from(
            [(Fraction(1, 2), Fraction(1), 2), (Fraction(0), Fraction(1, 2), 2)]
            if groups == 3
            else [
                (Fraction(2, 5), Fraction(3, 5), 5),
                (Fraction(1, 10), Fraction(3, 10), 5),
                (Fraction(1, 3), Fraction(2, 3), 3),
            ]
        )
    )
    solution = _bounded_welfare(name, groups, low, high)
    assert solution.feasible
    run = Run(NAMED[name], groups)
    length = solution.problem.horizon
    for period in range(data.draw(st.integers(1, 4))):
        people = [(group, COUNTED[name]) for group in range(groups)] * enough
        while len(people) < length:
            people.append((data.draw(st.integers(0, groups - 1)), data.draw(st.integers(0, 1))))
        adversary = _chosen(data, data.draw(st.permutations(people)))
        run.traces.append(
            run_period(solution.policy, fairness_of(name), adversary, groups=groups, length=length)
        )
        # Lemma 3: bounds on the welfare hold for the periods together, if for each of them.
        for chosen in ((period,), ()):
            assert all(low <= rate <= high for rate in rates(*run.counters(*chosen)))
        assert _bias(*run.counters()) <= high - low


def test_bounded_welfare_never_intervenes_once_its_assumption_cannot_hold() -> None:
    solution = _bounded_welfare("demographic_parity", 2, Fraction(2, 5), Fraction(3, 5))
    # Ten of a came; of the four to come not enough can be of b.
    for accepted in range(11):
        state = (10 - accepted, accepted, 0, 0)
        for group in (0, 1):
            for recommendation in (0, 1):
                assert solution.policy.changes(10, state, group, recommendation) == 0


@given(data=st.data())
@settings(max_examples=50)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
def test_theorem_5_dynamic_shields(name: str, empty_group: str, data: st.DataObject) -> None:
    """A shield exists in each period, and all periods are fair as long as its assumption holds."""
    groups = data.draw(st.sampled_from([2, 2, 3]))
    length = {2: 7, 3: 4}[groups]
    bound = data.draw(st.sampled_from([Fraction(1, 4), Fraction(1, 3), Fraction(1, 2)]))
    fairness = fairness_of(name)
    run = Run(NAMED[name], groups, [()])
    for period in range(4):
        tops, bottoms = run.counters()
        problem = dynamic_problem(
            finite_problem(fairness, bound, empty_group, _inputs(groups, 0.2), length),
            tops,
            bottoms,
        )  # type: ignore[arg-type]
        solution = solve(problem, compiled=False)
        assert solution.feasible
        # The first group comes more often.
        anybody = st.tuples(st.sampled_from([0, *range(groups)]), st.integers(0, 1))
        people = data.draw(st.lists(anybody, min_size=length, max_size=length))
        adversary = _chosen(data, people)
        run.traces.append(
            run_period(solution.policy, fairness, adversary, groups=groups, length=length)
        )
        if period and not _steps_are_small(run, tops, bottoms, bound, empty_group):
            return
        assert _bias(*run.counters(), empty_group) <= bound


def _steps_are_small(
    run: Run, tops: list[int], bottoms: list[int], bound: Fraction, empty_group: str
) -> bool:
    """Assumption 2 for two groups; of more, what is more than enough."""
    people = run.counters()[1]
    if min(people) == 0:
        return False
    if run.groups > 2:
        # Enough for each pair whatever its bias so far is, as long as all are non-empty.
        if min(bottoms) == 0:
            return False
        past = rates(tops, bottoms)
        return all(
            Fraction(1, people[one]) + Fraction(1, people[other])
            <= bound - abs(past[one] - past[other])
            for one in range(run.groups)
            for other in range(one)
        )
    # In the first convention there is no bias where a group is empty.
    past_bias = _bias(tops, bottoms, empty_group)
    return Fraction(1, people[0]) + Fraction(1, people[1]) <= bound + past_bias
