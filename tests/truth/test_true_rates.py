"""The true differences are those that a million people show, asked one neighbour after another."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from testsgd.auditing import AuditParameters, run_audit
from testsgd.data import check_table
from testsgd.rules import IntervalRule, RuleSet, ValueRule
from testsgd.truth import POPULATIONS, Population, Truth, population, truth_of

PEOPLE = 1_000_000

SOME_GROUPS = {
    "one-of-twelve": (
        RuleSet((ValueRule("trait_1", ("a",)),)),
        RuleSet((ValueRule("trait_3", ("b",)), ValueRule("trait_6", ("a", "c")))),
        RuleSet((ValueRule("trait_6", ("c",)), ValueRule("trait_12", ("c",)))),
    ),
    "": (
        RuleSet((ValueRule("gender", ("female",)),)),
        RuleSet((ValueRule("region", ("south", "west")), IntervalRule("age", 48, None))),
        RuleSet((ValueRule("gender", ("male",)), IntervalRule("age", None, 38))),
        RuleSet(
            (
                ValueRule("gender", ("female",)),
                ValueRule("region", ("east",)),
                IntervalRule("age", 38, 48),
            )
        ),
    ),
}


def groups_of(people: Population) -> tuple[RuleSet, ...]:
    return (*people.planted, *SOME_GROUPS.get(people.name, SOME_GROUPS[""]))


def mean_answers(people: Population, frame: pd.DataFrame) -> np.ndarray:
    """Ask about all four neighbours of everybody, built by hand."""
    answers = np.zeros(len(frame))
    for name, last in (("merit", 99), ("tenure", 9)):
        for step in (-1, 1):
            moved = (frame[name] + step).clip(0, last)
            answers += people.decide(frame.assign(**{name: moved}))
    return answers / 4


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_million_people_show_the_same(name: str) -> None:
    people = population(name)
    frame = people.people(PEOPLE, seed=7)
    table = check_table(frame, people.specification)
    answers = mean_answers(people, frame)
    for group in groups_of(people):
        inside = group.matches(table)
        difference = answers[inside].mean() - answers[~inside].mean()
        error = np.sqrt(
            answers[inside].var() / inside.sum() + answers[~inside].var() / (~inside).sum()
        )
        truth = truth_of(people, "neighbourhood")
        # Five standard errors: once in two million.
        assert abs(difference - truth.difference(group)) < 5 * error, group.text
        share = truth.share(group)
        assert abs(inside.mean() - share) < 5 * np.sqrt(share * (1 - share) / PEOPLE), group.text


def test_worked_by_hand() -> None:
    # Merits 0 to 99 are equally frequent: above 49 lie 50 of them, above 74 lie 25, and a step
    # down and a step up cancel.
    truth = truth_of(population("intersection"), "neighbourhood")
    (group,) = population("intersection").planted
    assert truth.difference(group) == pytest.approx(0.25 - 0.5)
    # A half of it: 0.04 are in it, and 0.03 of the others are in the rest of the planted group.
    half = RuleSet((group.rules[0], ValueRule("region", ("east",)), group.rules[2]))
    assert truth.share(half) == pytest.approx(0.5 * 0.2 * 0.4)
    assert truth.difference(half) == pytest.approx(0.25 - (0.5 - 0.25 * 0.03 / 0.96))
    # All women: 0.14 of them are in the planted group.
    women = RuleSet((ValueRule("gender", ("female",)),))
    assert truth.difference(women) == pytest.approx(-0.25 * 0.14)


def test_the_proxy_worked_by_hand() -> None:
    # The chance of merit m is (1 - 0.8 (2 m - 99) / 99) / 100; above 49 that adds up to
    # 0.5 - 0.8 * 2500 / 9900. A step down loses merit 50, one up wins merit 49.
    def chance(merit: int) -> float:
        return (1 - 0.8 * (2 * merit - 99) / 99) / 100

    above = 0.5 - 0.8 * 2500 / 9900
    inside = (2 * above + (above - chance(50)) + (above + chance(49))) / 4
    (group,) = population("proxy").planted
    assert truth_of(population("proxy"), "neighbourhood").difference(group) == pytest.approx(
        inside - 0.5
    )


def test_the_null_has_no_difference_at_all_to_the_last_digit() -> None:
    people = population("null")
    table = people.table(2_000, seed=0)
    found = run_audit(people.model(), table, AuditParameters(stability=0, guarantee="per-group"))
    assert len(found.rule_sets) > 500
    assert (truth_of(people, "neighbourhood").differences(found.rule_sets) == 0).all()


@pytest.mark.parametrize("name", POPULATIONS)
def test_all_groups_of_an_audit_agree_with_one_by_one(name: str) -> None:
    people = population(name)
    found = run_audit(
        people.model(),
        people.table(3_000, seed=1),
        AuditParameters(max_features=people.max_features, stability=0, guarantee="per-group"),
    )
    truth = truth_of(people, "neighbourhood")
    differences = truth.differences(found.rule_sets)
    for group in range(0, len(found.rule_sets), 17):
        assert differences[group] == pytest.approx(truth.difference(found.rule_set(group)))


def test_a_value_that_nobody_has_leaves_other_rule_sets() -> None:
    people = population("intersection")
    frame = people.people(3_000, seed=2)
    table = check_table(frame[frame["region"] != "north"], people.specification)
    found = run_audit(people.model(), table, AuditParameters(stability=0, guarantee="per-group"))
    truth = Truth(people, "neighbourhood")
    differences = truth.differences(found.rule_sets)
    for group in range(0, len(found.rule_sets), 29):
        assert differences[group] == truth.difference(found.rule_set(group))


@pytest.mark.parametrize("name", [name for name in POPULATIONS if name != "null"])
def test_no_frequent_group_truly_differs_by_more_than_the_planted(name: str) -> None:
    people = population(name)
    found = run_audit(
        people.model(),
        people.table(50_000, seed=3),
        AuditParameters(max_features=people.max_features, stability=0, guarantee="per-group"),
    )
    truth = truth_of(people, "neighbourhood")
    planted = max(abs(truth.difference(group)) for group in people.planted)
    assert np.abs(truth.differences(found.rule_sets)).max() <= planted + 1e-9
    assert all(truth.share(group) > 0.06 for group in people.planted)
