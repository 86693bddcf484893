"""Each case is audited once, and its verdict is the one that is known to be right or wrong."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from testsgd.errors import ParameterError
from testsgd.truth import CASES, WORLDS, CaseRun, TruthSettings, case, judge_case, run_truth
from testsgd.truth.cases.frame import TWIN, Audited
from testsgd.truth.measures import add_up, measure_cases
from testsgd.truth.tables import truth_tables

PLANTED = [name for name in CASES if not name.endswith(TWIN)]
TWINS = [name for name in CASES if name.endswith(TWIN)]
# The verdict names the gap: slices were not searched; the label may be the other one; differences
# cannot be as large as the limit.
NAMED = {"slice-not-searched", "other-class", "low-base-rate"}


@cache
def a_run(name: str) -> CaseRun:
    return judge_case(case(name), 0, seed=0)


def test_there_are_more_than_24_kinds_each_with_a_twin() -> None:
    assert len(WORLDS) + len(PLANTED) >= 24
    assert [name + TWIN for name in PLANTED] == TWINS
    for name in PLANTED:
        assert case(name).planted
        assert not case(name + TWIN).planted
        assert case(name).rows == case(name + TWIN).rows


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_is_found_named_or_undecided_where_it_can_be(name: str) -> None:
    run = a_run(name)
    assert not run.all_clear
    assert not run.alarm
    assert run.reserved == (name in NAMED)


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_can_have_no_false_all_clear(name: str) -> None:
    run = a_run(name)
    assert not run.all_clear
    assert not run.reserved


def test_twins_have_few_alarms() -> None:
    # Each with a chance of 5%: more than four of so few have one of 1 in 200.
    assert sum(a_run(name).alarm for name in TWINS) <= 4


@pytest.mark.parametrize("name", ["forty-people", "few-people"])
def test_a_strict_audit_that_cannot_know_says_so(name: str) -> None:
    assert a_run(name).undecided


def test_same_number_same_run() -> None:
    assert judge_case(case("few-people"), 3, seed=0) == judge_case(case("few-people"), 3, seed=0)


def test_a_case_and_its_twin_have_the_same_people() -> None:
    columns = [
        case(name).audit(np.random.default_rng(0)).result.findings.table.frame["income"].tolist()
        for name in ("five-copies", "five-copies-null")
    ]
    assert columns[0] == columns[1]
    assert len(set(columns[0])) == 1_000


def test_claims_in_the_other_direction_are_alarms() -> None:
    right = case("conjunction-of-four")
    audited = right.audit(np.random.default_rng(0))
    assert audited.claims[0] == pytest.approx(0.5)
    wrong = replace(right, audit=lambda _: Audited(audited.result, [-0.5]))
    assert judge_case(wrong, 0, seed=0).alarm
    # So is a claim about others than those that are treated differently.
    other = replace(right, audit=lambda _: audited, first="nothing of this kind")
    assert judge_case(other, 0, seed=0).alarm


def test_claiming_nothing_is_a_false_all_clear_if_the_gate_passes() -> None:
    right = case("unequal-errors")
    audited = right.audit(np.random.default_rng(0))
    assert audited.result.verdict.exit_code == 0
    silent = replace(right, audit=lambda _: Audited(audited.result, []))
    assert judge_case(silent, 0, seed=0).all_clear


def made(world: str, number: int, **wrong: bool) -> CaseRun:
    right = {"all_clear": False, "alarm": False, "reserved": False, "undecided": False}
    planted = not world.endswith(TWIN)
    return CaseRun(world=world, rows=120, number=number, planted=planted, **{**right, **wrong})


def test_runs_are_added_up_by_hand() -> None:
    measures = [
        *measure_cases([made("few-people", 0), made("few-people", 1, all_clear=True)]),
        *measure_cases([made("few-people-null", 0), made("few-people-null", 1, alarm=True)]),
    ]
    added = {measure.name: measure for measure in add_up(measures, "both")}
    # An all-clear can be false in two of the four runs only.
    assert (added["all_clear"].runs, added["all_clear"].value) == (2, 0.5)
    assert (added["alarm"].runs, added["alarm"].value) == (4, 0.25)
    [table] = truth_tables(measures, intervals=True)
    assert [row[0] for row in table.cells] == ["few-people", "few-people-null", "all of these"]
    assert table.cells[0][1:4] == ["120", "2", "50.0% (1.3 to 98.7)"]
    assert table.cells[1][3] == ""


def test_the_benchmark_tries_cases_at_their_own_size() -> None:
    settings = TruthSettings(
        populations=(), worlds=("few-people", "few-people-null"), sizes=(1_000,), runs=2
    )
    parts = list(run_truth(settings))
    assert [(part.measures[0].population, part.measures[0].rows) for part in parts] == [
        ("few-people", 120),
        ("few-people-null", 120),
    ]


def test_an_unknown_case_is_named() -> None:
    with pytest.raises(ParameterError, match="'flat' is unknown"):
        case("flat")
