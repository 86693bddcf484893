"""Which verdicts count as misleading: by hand-made cases, and on reduced runs of every world."""

from __future__ import annotations

from functools import cache

import pytest
from few_people import small_population

import testsgd
from testsgd.truth import WORLDS, WorldRun, judge_once, truth_tables, world
from testsgd.truth.catalogue import LIMIT
from testsgd.truth.measures import measure_worlds
from testsgd.truth.verdicts import Wrong, highest_limit

RIGHT = Wrong(False, False, False, False, False)
UNSURE = Wrong(False, False, False, False, True)
ALARM = Wrong(False, True, False, True, False)

# Where 10,000 people are enough for one run to tell; of nothing it is told by luck that it passes.
EMPTY = ("fair-looking", "random-answers", "no-difference")


@cache
def a_run(name: str) -> WorldRun:
    return judge_once(world(name), 10_000, 0, seed=0)


@pytest.mark.parametrize("name", WORLDS)
def test_ten_thousand_people_are_enough_for_the_defaults_of_today(name: str) -> None:
    run = a_run(name)
    assert not run.default.headline
    assert not run.default.gate
    assert run.evaluable == (name not in EMPTY)
    assert (run.explained is None) == (name in EMPTY)


def test_what_is_planted_is_what_explains() -> None:
    run = a_run("binary-proxy")
    assert run.explained
    assert run.ranks["lower bound"] == 1
    assert run.ranks["score"] >= 1


def test_a_group_of_too_few_people_is_no_false_all_clear() -> None:
    # Of a thousand, fifteen are Black women who are disabled.
    run = judge_once(world("rare-intersection"), 1_000, 0, seed=0)
    assert not run.evaluable
    assert not run.default.gate_all_clear
    assert run.ranks == {}


@pytest.mark.parametrize("name", ["binary-proxy", "rare-intersection", "no-difference"])
def test_the_gate_is_that_of_an_audit(name: str) -> None:
    people, run = world(name), a_run(name)
    frame = people.people(10_000, seed=0)
    for limit in (LIMIT, highest_limit(people)):
        verdict = testsgd.audit(
            people.decide, frame, people.specification, fail_above=limit, stability=0
        ).verdict
        passes, fails = verdict.exit_code == 0, verdict.exit_code == 1
        if limit == LIMIT:
            assert run.default.undecided == (verdict.exit_code == 3)
            assert run.default.gate_all_clear == (passes and bool(people.planted))
        if limit > LIMIT or not people.planted:
            assert run.default.gate_alarm == fails


def test_no_group_of_a_world_is_above_its_highest_limit() -> None:
    assert highest_limit(world("no-difference")) == LIMIT
    assert highest_limit(world("binary-proxy")) == pytest.approx(0.5)


def test_same_number_same_run() -> None:
    first = judge_once(small_population(20), 1_000, 1, seed=1)
    assert first == judge_once(small_population(20), 1_000, 1, seed=1)
    assert first != judge_once(small_population(20), 1_000, 2, seed=1)


def made(number: int, default: Wrong, rank: int | None = 1) -> WorldRun:
    return WorldRun(
        world="rare-group",
        rows=1_000,
        number=number,
        evaluable=rank is not None,
        default=default,
        explained=number == 0,
        ranks={} if rank is None else {"score": 10 * rank, "lower bound": rank},
    )


RUNS = [made(0, RIGHT), made(1, UNSURE, 3), made(2, ALARM, None)]


def test_runs_are_summed_up_by_hand() -> None:
    found = {measure.name: measure.value for measure in measure_worlds(RUNS)}
    third = pytest.approx(1 / 3)
    assert found["headline_all_clear"] == found["gate_all_clear"] == 0
    assert found["headline_alarm"] == found["gate_alarm"] == found["undecided"] == third
    assert found["evaluable"] == pytest.approx(2 / 3)
    assert found["explained"] == third
    # Of the two runs in which it is judged.
    assert (found["rank by lower bound"], found["rank by score"]) == (2, 20)
    assert (found["first by lower bound"], found["first by score"]) == (0.5, 0)


def test_the_interval_of_a_median_holds_it() -> None:
    runs = [made(number, RIGHT, number + 1) for number in range(101)]
    measures = {measure.name: measure for measure in measure_worlds(runs)}
    rank = measures["rank by lower bound"]
    assert rank.value == 51
    # By the binomial of 101 tosses, 40 and 60 of which leave 2.5% on either side.
    assert (rank.ci_low, rank.ci_high) == (41, 61)


def test_worlds_have_tables_of_their_own() -> None:
    wrong, verdicts, named = truth_tables(measure_worlds(RUNS), intervals=True)
    assert wrong.cells[0][:4] == ["rare-group", "1,000", "3", "0.0% (0.0 to 84.2)"]
    assert wrong.cells[0][4] == "33.3% (0.8 to 90.6)"
    assert wrong.cells[-1][0] == "all of these"
    assert verdicts.cells[0][:4] == ["rare-group", "1,000", "3", "66.7%"]
    assert "33.3%" in verdicts.cells[0]
    assert named.cells == [["rare-group", "1,000", "3", "33.3%", "2", "50.0%", "20", "0.0%"]]
