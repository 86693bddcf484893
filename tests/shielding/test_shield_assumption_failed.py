"""The guarantee of a period whose assumption cannot be met any more, against all continuations."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shield_runs import specification

from testsgd.serving import answer
from testsgd.shielding import requirement
from testsgd.shielding.requirement import SmallRatioSteps, SmallSteps
from testsgd.shielding.running import Shield

WELFARE: dict[str, Any] = {
    "shield": "static-bounded-welfare",
    "welfare": ["1/4", "3/4"],
    "bound": "1/2",
}
FAILED = "assumption failed"


def enough(people: list[int]) -> bool:
    """Whether two people of each group have come."""
    return min(people) >= 2


def can_be_met(counted: list[int], left: int, needed: Any = enough) -> bool:
    """Whether some people who are still to come, all of them counted, meet an assumption."""
    return any(
        needed([number + came.count(group) for group, number in enumerate(counted)])
        for came in product(range(len(counted)), repeat=left)
    )


@pytest.mark.parametrize("names", ["ab", "abc"])
@pytest.mark.parametrize("property_name", ["demographic_parity", "equal_opportunity"])
def test_bounded_welfare_is_promised_while_enough_can_come(property_name: str, names: str) -> None:
    length = 8 if names == "ab" else 6
    wanted = specification(property=property_name, length=length, names=tuple(names), **WELFARE)
    first = Shield.synthesize(wanted)
    found: set[str] = set()
    for seed in range(30):
        draw = random.Random(seed)
        shield = Shield(wanted, first.inputs, first._policy.first_solution())
        counted = [0] * len(names)
        for number in range(length):
            assert can_be_met(counted, length - number) == (shield.guarantee == "holds")
            # The groups in turn, but for a few people or many.
            group = number % len(names) if draw.random() < 0.3 + seed / 40 else 0
            shield.decide(names[group], draw.randrange(2))
            label = 1
            if wanted.fairness_property.labelled:
                # The label may still be 1.
                may_count = [one + (place == group) for place, one in enumerate(counted)]
                left = length - number - 1
                assert can_be_met(may_count, left) == (shield.guarantee == "holds")
                label = int(draw.random() < 0.9)
                shield.observe(label)
            counted[group] += label
        holds = can_be_met(counted, 0)
        assert shield.guarantee == ("holds" if holds else FAILED)
        assert shield.period_reports[0].assumption_held == holds
        assert shield.guarantee_over_periods == ("holds" if holds else "lost since period 0")
        found.add(shield.guarantee)
    assert found == {"holds", FAILED}


@pytest.mark.parametrize("bound", ["1/10", "1/3", "1/2"])
def test_a_dynamic_shield_promises_what_its_history_allows(bound: str) -> None:
    length = 5
    wanted = specification(shield="dynamic", length=length, bound=bound)
    found: set[str] = set()
    for seed in range(25):
        draw = random.Random(seed)
        shield = Shield.synthesize(wanted)
        people = [0, 0]
        bias = Fraction(0)
        for period in range(4):
            allowed = Fraction(bound) + bias

            def needed(people: list[int], allowed: Fraction = allowed) -> bool:
                return all(people) and sum(Fraction(1, one) for one in people) <= allowed

            for number in range(length):
                group = draw.randrange(2) if draw.random() < 0.6 else 0
                shield.decide("ab"[group], draw.randrange(2))
                people[group] += 1
                if not shield.active:
                    assert shield.guarantee == "none"
                    continue
                is_met = not period or can_be_met(people, length - number - 1, needed)
                assert shield.guarantee == ("holds" if is_met else FAILED)
                if not is_met:
                    assert shield.guarantee_over_periods != "holds"
                found.add(shield.guarantee)
            if shield.guarantee == "holds":
                assert shield.bias <= wanted.bound
            bias = shield.bias
    assert FAILED in found


@pytest.mark.parametrize("kind", [SmallSteps, SmallRatioSteps])
@pytest.mark.parametrize("most_added", [1, 2])
def test_what_a_dynamic_shield_assumes_is_met_by_some_people_or_by_none(
    kind: type[SmallSteps] | type[SmallRatioSteps], most_added: int
) -> None:
    found: set[bool] = set()
    draw = random.Random(4)
    for _ in range(150):
        past = [draw.randrange(1, 9) for _ in range(draw.choice((2, 3)))]
        accepted = [draw.randrange(people + 1) for people in past]
        bound = Fraction(draw.randrange(1, 9), 10)
        assumption = kind(bound, tuple(accepted), tuple(past))
        counted = [draw.randrange(3) for _ in past]
        events = draw.randrange(4)
        # An event can be counted less often than it could be, or not at all.
        kinds = list(product(range(len(past)), range(most_added + 1)))
        ends = [
            [
                number + sum(added for group, added in came if group == place)
                for place, number in enumerate(counted)
            ]
            for came in product(kinds, repeat=events)
        ]
        by_hand = bool(assumption.holds(np.zeros_like(ends), np.array(ends)).any())
        assert requirement.can_be_met(assumption, counted, events, most_added) == by_hand
        found.add(by_hand)
    assert found == {True, False}


def test_what_was_said_to_hold_though_the_bound_is_broken() -> None:
    dynamic = Shield.synthesize(specification(shield="dynamic", length=4))
    for group in "abaa":
        dynamic.decide(group, 1)
    assert dynamic.guarantee == "holds"
    for group, recommendation in zip("bbaa", (0, 0, 1, 1), strict=True):
        dynamic.decide(group, recommendation)
        assert dynamic.guarantee == FAILED
    assert dynamic.bias > dynamic.specification.bound
    assert dynamic.to_dict()["guarantee"] == FAILED
    only_one = Shield.synthesize(specification(length=6, empty_group="zero", **WELFARE))
    for _ in range(6):
        only_one.decide("a", 1)
    assert only_one.bias > only_one.specification.bound
    assert only_one.guarantee == FAILED


def test_a_shield_of_the_closest_bound_rests_on_no_assumption() -> None:
    wanted = specification(shield="dynamic", length=4, bound="1/10", when_infeasible="closest")
    found: set[str] = set()
    for seed in range(20):
        draw = random.Random(seed)
        shield = Shield.synthesize(wanted)
        for _ in range(12):
            shield.decide(draw.choice("aaab"), draw.randrange(2))
            if shield.promised != wanted.bound:
                found.add(shield.guarantee)
    assert found == {"holds"}


def test_equal_shares_are_no_matter_of_a_period_alone() -> None:
    shield = Shield.synthesize(specification(shield="static-fair", length=4, bound="1/4"))
    for group in "aaab":
        shield.decide(group, 1)
        assert shield.guarantee == "holds"
    assert shield.guarantee_over_periods == "lost since period 0"


def is_kept(trace: tuple[tuple[int, int], ...]) -> bool:
    """Whether the rates are between the bounds, or too few have come."""
    came = [[decision for group, decision in trace if group == each] for each in (0, 1)]
    rates = [Fraction(sum(each), len(each)) if each else Fraction(0) for each in came]
    within = all(Fraction(1, 4) <= rate <= Fraction(3, 4) for rate in rates)
    return within or not enough(list(map(len, came)))


def can_be_kept(trace: tuple[tuple[int, int], ...], left: int) -> bool:
    """Whether some decisions keep the rates between the bounds, whoever comes."""
    if not left:
        return is_kept(trace)
    return all(
        any(can_be_kept((*trace, (group, decision)), left - 1) for decision in (0, 1))
        for group in (0, 1)
    )


def test_a_person_and_the_assumption_together() -> None:
    length = 6
    wanted = specification(length=length, **WELFARE)
    first = Shield.synthesize(wanted)
    found: set[str] = set()
    for seed in range(40):
        draw = random.Random(seed)
        shield = Shield(wanted, first.inputs, first._policy.first_solution())
        trace: tuple[tuple[int, int], ...] = ()
        for number in range(length):
            group = draw.randrange(2) if draw.random() < 0.7 else 0
            decision = shield.decide("ab"[group], 1)
            if draw.random() < 0.7:
                decision = 1
                answer(shield, {"decision": decision})
            trace = (*trace, (group, decision))
            left = length - number - 1
            counted = [sum(one == each for one, _ in trace) for each in (0, 1)]
            said = shield.guarantee
            assert (said == FAILED) == (not can_be_met(counted, left))
            assert said.startswith("lost") == (not can_be_kept(trace, left))
            found.add(said.split()[0])
    assert found == {"holds", "lost", "assumption"}


def test_who_counts_may_follow_from_what_a_person_decided() -> None:
    """Of those who are accepted each group needs two, and only four people come."""
    wanted = specification(property="custom", length=4, **WELFARE)
    shield = Shield.synthesize(wanted)
    shield.decide("a", 1)
    shield.observe(0, decision=1)
    assert shield.guarantee != FAILED
    shield.observe(decision=0)
    assert shield.guarantee == FAILED
    shield.observe(decision=1)
    assert shield.guarantee != FAILED


def test_a_restart_says_the_same(tmp_path: Path) -> None:
    wanted = specification(length=5, **WELFARE)
    first = Shield.synthesize(wanted)
    said = []
    for group in "aaaab" * 2:
        solution = first._policy.first_solution()
        with Shield(wanted, first.inputs, solution, journal=tmp_path / "journal") as shield:
            if said:
                assert shield.guarantee == said[-1]
            shield.decide(group, 1)
            said.append(shield.guarantee)
    assert said == (["holds"] * 3 + [FAILED] * 2) * 2


def test_the_people_that_are_needed_can_be_as_many_as_are_left() -> None:
    """The largest number of one group after which the others can still come."""
    wanted = specification(length=9, names=("a", "b", "c"), **WELFARE)
    shield = Shield.synthesize(wanted)
    least = ceil(1 / (Fraction(3, 4) - Fraction(1, 4)))
    for number in range(9):
        assert (shield.guarantee == "holds") == (number <= 9 - 2 * least)
        shield.decide("a", number % 2)
