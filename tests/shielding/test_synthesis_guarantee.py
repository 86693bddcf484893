"""No sequence of inputs and labels breaks the bound: all that a policy can be led to is followed.

States are followed instead of traces, so horizons can be longer; what a state is and when it is
fair is counted here, with fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exhaustive import CUSTOM, NAMED, Events, Trace, exact_bias
from hypothesis import given, settings
from hypothesis import strategies as st
from periods_by_hand import run_period
from shield_strategies import fairness_of

from testsgd.fairness import FairnessProperty
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.synthesis import Solution, finite_problem, solve

NAMES = ("demographic_parity", "disparate_impact", "equal_opportunity", "predictive_equality")


def _one_sided(groups: int, costs: int) -> InputDistribution:
    """Only the first group is expected, always accepted, with label 1; all else has no chance."""
    shares = np.zeros((groups, 2, costs))
    shares[0, 1, 0] = 1.0
    return InputDistribution(
        tuple("abcd"[:groups]), tuple(1.0 + place for place in range(costs)), shares,
        np.ones((groups, 2)),
    )  # fmt: skip


def _all_ends(solution: Solution, fairness: FairnessProperty) -> set[tuple[int, ...]]:
    """Counts after the last event, by any inputs and labels under the policy."""
    problem = solution.problem
    kinds, costs = len(fairness.kinds), len(problem.inputs.costs)
    states = {(0,) * (problem.groups * kinds)}
    for step in range(problem.horizon):
        after = set()
        for counts in states:
            for group in range(problem.groups):
                for recommendation in (0, 1):
                    changes = solution.policy.changes(step, counts, group, recommendation)
                    decisions = {1 - recommendation} if changes else set()
                    if changes < costs:
                        decisions.add(recommendation)
                    for decision in decisions:
                        for label in (0, 1):
                            kind = fairness.kind_of(decision, label)
                            moved = list(counts)
                            if kind >= 0:
                                moved[group * kinds + kind] += 1
                            after.add(tuple(moved))
        states = after
    return states


def _unfair(
    end: tuple[int, ...], fairness: FairnessProperty, groups: int, empty_group: str
) -> Fraction:
    kinds = fairness.kinds
    rows = [end[group * len(kinds) : (group + 1) * len(kinds)] for group in range(groups)]
    tops = [sum(n * kind[0] for n, kind in zip(row, kinds, strict=True)) for row in rows]
    bottoms = [sum(n * kind[1] for n, kind in zip(row, kinds, strict=True)) for row in rows]
    return exact_bias(tops, bottoms, measure=fairness.measure, empty_group=empty_group)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("storage", ["whole", "windows"])
@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@pytest.mark.parametrize("name", NAMES)
def test_everything_that_can_happen_ends_fair(
    name: str, empty_group: str, storage: str, compiled: bool
) -> None:
    fairness = fairness_of(name)
    for groups, costs, horizon in ((2, 1, 13), (2, 3, 9), (3, 1, 6)):
        for bound in (Fraction(1, 4), Fraction(1, 10)):
            inputs = _one_sided(groups, costs)
            problem = finite_problem(fairness, bound, empty_group, inputs, horizon)  # type: ignore[arg-type]
            solution = solve(problem, storage=storage, compiled=compiled)  # type: ignore[arg-type]
            assert solution.feasible
            biases = {
                _unfair(end, fairness, groups, empty_group) for end in _all_ends(solution, fairness)
            }
            assert max(biases) <= bound
            # The bound bites: something was let happen that is not perfectly equal. (If absent
            # groups have rate 0, no ratio but that of all rejected can be kept.)
            if bound == Fraction(1, 4):
                assert (max(biases) > 0) != (name == "disparate_impact" and empty_group == "zero")


@pytest.mark.parametrize("name", [*NAMES, *CUSTOM])
@given(data=st.data())
@settings(max_examples=20)
def test_a_greedy_adversary(name: str, data: st.DataObject) -> None:
    """Who sends, each time, the person and label that make the bias so far largest."""
    events: Events = NAMED.get(name) or CUSTOM[name]
    fairness, horizon, groups = fairness_of(name), 12, 2
    bound = data.draw(st.sampled_from([Fraction(1, 5), Fraction(1, 2), Fraction(1)]))
    empty_group = data.draw(st.sampled_from(["vacuous", "zero"]))
    problem = finite_problem(fairness, bound, empty_group, _one_sided(groups, 1), horizon)
    solution = solve(problem, compiled=False)
    if not solution.feasible:
        return
    switches = data.draw(st.lists(st.booleans(), min_size=horizon, max_size=horizon))

    def bias(trace: Trace) -> Fraction:
        tops, bottoms = events.counters(trace, groups)
        return exact_bias(tops, bottoms, measure=events.measure, empty_group=empty_group)

    def adversary(trace: Trace) -> tuple[int, int, int, int]:
        options = [(g, r, 0, label) for g in (0, 1) for r in (0, 1) for label in (0, 1)]
        if switches[len(trace)]:  # else they would always do the same
            options.reverse()
        return max(options, key=lambda one: bias((*trace, (one[0], one[1], one[3]))))

    trace = run_period(solution.policy, fairness, adversary, groups=groups, length=horizon)
    assert bias(trace) <= bound


def test_long_horizon_random_and_skewed_sequences() -> None:
    """Hundreds of runs of 100 events at once, most of which were not expected at all."""
    runs, horizon, bound = 400, 100, Fraction(1, 10)
    fairness = fairness_of("demographic_parity")
    problem = finite_problem(fairness, bound, "vacuous", _one_sided(2, 2), horizon)
    policy = solve(problem, compiled=False).policy
    generator = np.random.default_rng(7)
    seldom = generator.choice([0.0, 0.01, 0.1, 0.5, 0.99], size=runs)
    accepted = generator.choice([0.0, 0.2, 0.5, 1.0], size=(2, runs))
    counts = np.zeros((runs, 4), dtype=np.int64)
    for step in range(horizon):
        groups = (generator.random(runs) < seldom).astype(np.int64)
        recommended = (generator.random(runs) < accepted[groups, np.arange(runs)]).astype(np.int64)
        changes = policy.changes_many(step, counts, groups, recommended)
        changed = generator.integers(2, size=runs) < changes
        decisions = np.where(changed, 1 - recommended, recommended)
        counts[np.arange(runs), 2 * groups + decisions] += 1
    for end in counts.tolist():
        assert _unfair(tuple(end), fairness, 2, "vacuous") <= bound
