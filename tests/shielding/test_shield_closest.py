"""Where no shield exists for a period: the smallest bound that can be kept, if asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from exhaustive import NAMED, Game, Inputs, cost_under, exact_bias, least_bound
from shield_runs import specification

from testsgd.errors import JournalError, SpecificationError
from testsgd.shielding.running import Shield, period_problem, period_solution
from testsgd.shielding.specification import ShieldSpecification
from testsgd.shielding.synthesis import solve

PEOPLE = Inputs(weights=(3, 1, 1, 2), costs=(1,), eighths=(1, 6, 3, 5), groups=2)
DYNAMIC = {"shield": "dynamic", "bound": "1/10"}


def closest(**keys: Any) -> ShieldSpecification:
    return specification(**(DYNAMIC | {"when_infeasible": "closest"} | keys))


def histories(largest: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for bottoms in product(range(largest + 1), repeat=2):
        for tops in product(*(range(bottom + 1) for bottom in bottoms)):
            yield tops, bottoms  # type: ignore[misc]


def judged_with(
    past: tuple[Any, Any], bound: Fraction, measure: str, empty_group: str
) -> Callable[[list[int], list[int]], bool]:
    def judge(tops: list[int], bottoms: list[int]) -> bool:
        whole = (
            [own + old for own, old in zip(now, before, strict=True)]
            for now, before in zip((tops, bottoms), past, strict=True)
        )
        return exact_bias(*whole, measure=measure, empty_group=empty_group) <= bound

    return judge


@pytest.mark.parametrize("empty_group", ["vacuous", "zero"])
@pytest.mark.parametrize(
    ("name", "length", "largest"),
    [
        ("demographic_parity", 3, 4),
        ("disparate_impact", 2, 5),
        ("equal_opportunity", 2, 4),
        ("predictive_equality", 2, 3),
    ],
)
def test_the_smallest_bound_is_kept_at_the_least_cost(
    name: str, length: int, largest: int, empty_group: str
) -> None:
    """Against all traces: the bound is kept by every one, none smaller can be, at least cost."""
    events = NAMED[name]
    wanted = closest(property=name, length=length, empty_group=empty_group)
    fairness, measure = wanted.fairness_property, events.measure
    inputs = PEOPLE.distribution(labelled=events.labelled)
    found = 0
    for past in histories(largest):
        problem = period_problem(wanted, inputs, *past)
        if solve(problem).feasible:
            continue
        found += 1
        solution, promised = period_solution(wanted, problem)
        assert promised is not None
        assert promised > wanted.bound
        judge = judged_with(past, promised, measure, empty_group)
        game = Game(events, judge, PEOPLE, length)
        assert promised == least_bound(game, empty_group, past)  # type: ignore[arg-type]
        cost = cost_under(game, fairness, solution.policy)
        assert cost == game.least_cost()
        assert solution.expected_cost == pytest.approx(float(cost))
    assert found > 10


def run(shield: Shield, people: int, *, first: int = 0, labelled: bool = False) -> None:
    """Four of group b, to be rejected, then seven of a, to be accepted, again and again."""
    for person in range(first, people):
        group = "b" if person % 11 < 4 else "a"
        shield.decide(group, int(group == "a"), event=str(person))
        if labelled:
            shield.observe(int(person % 5 > 0), event=str(person))


CASES = {"demographic_parity": False, "equal_opportunity": True}


@pytest.mark.parametrize("name", CASES)
def test_reports_say_what_was_promised(name: str) -> None:
    labelled = CASES[name]
    passing = Shield.synthesize(specification(**DYNAMIC, property=name, length=4))
    keeping = Shield.synthesize(closest(property=name, length=4))
    run(passing, 48, labelled=labelled)
    run(keeping, 48, labelled=labelled)
    kinds = set()
    for report in passing.period_reports:
        assert report.bound == (Fraction(1, 10) if report.active else None)
    for report in keeping.period_reports:
        assert report.active
        assert report.bound is not None
        smaller = report.bound > Fraction(1, 10)
        kinds.add(smaller)
        if smaller:
            # It holds, whatever was assumed of the other bound, which was not promised.
            assert report.bias_so_far <= report.bound
            assert report.assumption_held is False
        assert report.fair_so_far == (report.bias_so_far <= Fraction(1, 10))
        assert report.to_dict()["bound"] == str(report.bound)
    assert kinds == {True, False}
    assert not all(report.active for report in passing.period_reports)
    assert keeping.promised == keeping.period_reports[-1].bound
    assert keeping.to_dict()["promised"] == str(keeping.promised)


@pytest.mark.parametrize("name", CASES)
def test_a_restart_knows_what_was_promised(name: str, tmp_path: Path) -> None:
    labelled, journal = CASES[name], tmp_path / "journal"
    whole = Shield.synthesize(closest(property=name, length=4))
    first = whole._policy.first_solution()
    run(whole, 48, labelled=labelled)
    for end in range(1, 49, 3):
        with Shield(whole.specification, whole.inputs, first, journal=journal) as resumed:
            run(resumed, end, labelled=labelled)
    with Shield(whole.specification, whole.inputs, first, journal=journal) as resumed:
        run(resumed, 48, labelled=labelled)
        assert resumed.to_dict() == whole.to_dict()
        assert resumed.period_reports == whole.period_reports
    told = [
        json.loads(line).get("bound")
        for line in journal.read_text().splitlines()
        if line.startswith('{"period"')
    ]
    reports = whole.period_reports[1:]
    assert told == [
        None if report.bound == Fraction(1, 10) else str(report.bound) for report in reports
    ]


@pytest.mark.parametrize("is_last", [False, True])
def test_a_journal_with_another_promise_is_refused(tmp_path: Path, is_last: bool) -> None:
    journal = tmp_path / "journal"
    whole = Shield.synthesize(closest(length=4), journal=journal)
    run(whole, 48)
    whole.close()
    lines = journal.read_text().splitlines()
    starts = [place for place, line in enumerate(lines) if '"bound"' in line]
    if is_last:
        lines = lines[: starts[0] + 1]
        lines[starts[0]] = lines[starts[0]].replace('"bound":"', '"bound":"1')
        words = "it promises a bias of"
    else:
        lines[starts[0]] = lines[starts[0]].replace('"bound":"', '"bound":"x')
        words = "does not fit the shield"
    journal.write_text("\n".join(lines) + "\n")
    with pytest.raises(JournalError, match=words):
        Shield(whole.specification, whole.inputs, whole._policy.first_solution(), journal=journal)


def test_the_key_is_for_dynamic_shields_only() -> None:
    plain, passing, keeping = (
        specification(**DYNAMIC),
        specification(**DYNAMIC, when_infeasible="pass"),
        closest(),
    )
    inputs = plain.input_distribution()
    # To pass is what happens otherwise: files and journals of both are the same.
    assert plain == passing
    assert plain.digest(inputs) == passing.digest(inputs) != keeping.digest(inputs)
    assert plain.with_changes(when_infeasible="closest") == keeping
    assert keeping.with_changes(when_infeasible="pass") == plain
    assert keeping.with_changes(shield="static-fair").horizon.when_infeasible is None
    for shield in ("finite", "static-fair"):
        with pytest.raises(SpecificationError, match=r"when_infeasible: only a dynamic shield"):
            specification(shield=shield, when_infeasible="closest")
    with pytest.raises(SpecificationError, match=r"horizon\.when_infeasible"):
        closest(when_infeasible="best")


def test_a_file_keeps_the_choice(tmp_path: Path) -> None:
    shield = Shield.synthesize(closest(length=4))
    shield.save(tmp_path / "shield.npz")
    again = Shield.load(tmp_path / "shield.npz", specification=shield.specification)
    run(shield, 40)
    run(again, 40)
    assert again.period_reports == shield.period_reports
    assert any(report.bound != Fraction(1, 10) for report in again.period_reports)
