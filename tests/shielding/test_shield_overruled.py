"""A person overrules the shield: counters follow, and what can still be kept is promised."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from exhaustive import NAMED, Events, Game, Inputs, bounded
from shield_runs import Step, specification, trace_bias

from testsgd.errors import JournalError, LabelError, ParameterError
from testsgd.serving import answer
from testsgd.shielding.running import Shield
from testsgd.shielding.specification import ShieldSpecification

CASES = [
    ("demographic_parity", "1/3", 6),
    ("disparate_impact", "1/2", 6),
    ("equal_opportunity", "1/2", 4),
]


def game(name: str, bound: str, horizon: int) -> Game:
    events: Events = NAMED[name]
    judge = bounded(Fraction(bound), measure=events.measure, empty_group="vacuous")
    inputs = Inputs(weights=(1,) * 4, costs=(1,), eighths=(4,) * 4, groups=2)
    return Game(events, judge, inputs, horizon)


def can_be_kept(played: Game, trace: tuple[tuple[int, int, int], ...]) -> bool:
    """Whether some decisions keep the bound whoever comes, going through all continuations."""
    if len(trace) == played.horizon:
        return played.fair(trace)
    return all(
        any(
            all(
                can_be_kept(played, (*trace, (group, decision, label))) for label in played.labels()
            )
            for decision in (0, 1)
        )
        for group in (0, 1)
    )


@pytest.mark.parametrize("storage", ["whole", "windows"])
@pytest.mark.parametrize(("name", "bound", "horizon"), CASES)
def test_what_is_left_is_what_all_continuations_say(
    name: str, bound: str, horizon: int, storage: Any
) -> None:
    wanted = specification(property=name, bound=bound, length=horizon)
    played = game(name, bound, horizon)
    labelled = wanted.fairness_property.labelled
    first = Shield.synthesize(wanted, storage=storage)
    found: set[bool] = set()
    for seed in range(40):
        draw = random.Random(seed)
        shield = Shield(wanted, first.inputs, first._policy.first_solution())
        trace: list[tuple[int, int, int]] = []
        for number in range(horizon):
            group = draw.randrange(2)
            decision = shield.decide("ab"[group], draw.randrange(2), event=str(number))
            label = draw.randrange(2) if labelled else 1
            if labelled:
                shield.observe(label)
            trace.append((group, decision, label))
            if draw.random() < 0.4:
                place = draw.randrange(number + 1)
                final = 1 - trace[place][1]
                shield.observe(decision=final, event=str(place))
                trace[place] = (trace[place][0], final, trace[place][2])
                holds = can_be_kept(played, tuple(trace))
                assert (shield.guarantee == "holds") == holds
                found.add(holds)
            steps = [Step("ab"[group], decision, label) for group, decision, label in trace]
            assert shield.period_bias == trace_bias(steps, shield)
        report = shield.period_reports[0]
        assert (report.lost_since is None) == played.fair(tuple(trace))
        assert (shield.guarantee == "holds") == played.fair(tuple(trace))
    assert found == {True, False}


def test_a_pending_label_can_be_either() -> None:
    wanted = specification(property="equal_opportunity", bound="1/2", length=4)
    played = game("equal_opportunity", "1/2", 4)
    first = Shield.synthesize(wanted)
    found: set[bool] = set()
    for seed in range(60):
        draw = random.Random(seed)
        shield = Shield(wanted, first.inputs, first._policy.first_solution())
        trace: list[tuple[int, int, int]] = []
        for number in range(4):
            group, label = draw.randrange(2), draw.randrange(2)
            decision = shield.decide("ab"[group], draw.randrange(2))
            if draw.random() < 0.4:
                decision = 1 - decision
                shield.observe(decision=decision)
                assert shield.pending
                either = [(*trace, (group, decision, one)) for one in (0, 1)]
                holds = all(can_be_kept(played, one) for one in either)
                assert (shield.guarantee == "holds") == holds
                found.add(holds)
            shield.observe(label)
            trace.append((group, decision, label))
            assert shield.step == number + 1
        steps = [Step("ab"[group], decision, label) for group, decision, label in trace]
        assert shield.bias == trace_bias(steps, shield)
    assert found == {True, False}


JOURNALS: dict[str, dict[str, Any]] = {
    "finite": {"length": 6, "after": "next", "unknown": "pass"},
    "labelled": {"property": "equal_opportunity", "length": 4, "after": "next", "bound": "1/2"},
    "dynamic": {"length": 4, "shield": "dynamic", "bound": "1/2"},
    "closest": {
        "length": 4,
        "shield": "dynamic",
        "bound": "1/3",
        "when_infeasible": "closest",
    },
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("case", JOURNALS)
def test_a_restart_counts_the_same(case: str, named: bool, tmp_path: Path) -> None:
    wanted = specification(**JOURNALS[case])
    first = Shield.synthesize(wanted)
    journal = tmp_path / "decisions.jsonl"
    draw = random.Random(3)
    names = "abz" if wanted.groups.unknown == "pass" else "ab"
    events = [(draw.choice(names), draw.randrange(2), draw.random() < 0.5) for _ in range(22)]
    solution = first._policy.first_solution()
    states = []
    for number, (group, recommendation, overruled) in enumerate(events):
        # A new process for every event.
        with Shield(wanted, first.inputs, solution, journal=journal) as shield:
            if states:
                assert shield.to_dict() == states[-1]
            event = str(number) if named else None
            decision = shield.decide(group, recommendation, event=event)
            label = number % 2 if wanted.fairness_property.labelled and group != "z" else None
            if overruled:
                shield.observe(label, event=event, decision=1 - decision)
                shield.observe(decision=1 - decision, event=event)
            elif label is not None:
                shield.observe(label, event=event)
            states.append(shield.to_dict())
    known = [overruled for group, _, overruled in events if group != "z"]
    assert states[-1]["overruled"] == sum(known) > 3
    assert sum(report["overruled"] for report in states[-1]["period_reports"]) > 3
    finals = [line for line in journal.read_text().splitlines() if "final" in json.loads(line)]
    assert len(finals) == sum(known)
    # The shield's own decision stands beside the person's.
    assert sum("recommendation" in line for line in journal.read_text().splitlines()) == 22


def test_taken_back_and_asked_again() -> None:
    shield = Shield.synthesize(specification(bound="1/4", length=4))
    assert [shield.decide(group, 1, event=f"{group}{n}") for n, group in enumerate("aab")] == [
        1
    ] * 3
    counts = shield.counts
    shield.observe(decision=0, event="b2")
    assert shield.overruled == 1
    assert shield.guarantee != "holds"
    assert shield.decide("b", 1, event="b2") == 1
    assert shield.interventions == 0
    shield.observe(decision=1)
    assert (shield.counts, shield.overruled, shield.guarantee) == (counts, 0, "holds")


def test_the_last_decision_after_the_end() -> None:
    shield = Shield.synthesize(specification(bound="1/4", length=4, after="next"))
    for group in "aabb":
        shield.decide(group, 1)
    assert shield.period_reports[0].fair_so_far
    shield.observe(decision=0)
    (report,) = shield.period_reports
    assert (report.bias, report.overruled, report.lost_since) == (Fraction(1, 2), 1, 4)
    # The next period is promised again.
    shield.decide("a", 1)
    assert (shield.period, shield.guarantee) == (1, "holds")


def test_what_cannot_be_overruled(tmp_path: Path) -> None:
    shield = Shield.synthesize(specification(length=2, after="next", unknown="pass"))
    with pytest.raises(ParameterError):
        shield.observe(decision=1)
    with pytest.raises(LabelError):
        shield.observe()
    shield.decide("a", 1, event="x")
    for wrong in (2, "1", None):
        with pytest.raises((ParameterError, LabelError)):
            shield.observe(decision=wrong, event="x")
    with pytest.raises(ParameterError):
        shield.observe(decision=0, event="y")
    shield.decide("z", 1)
    shield.observe(decision=0)  # nothing is counted for it
    assert shield.overruled == 0
    shield.decide("b", 1)
    shield.decide("b", 1)
    with pytest.raises(ParameterError):
        shield.observe(decision=0, event="x")
    shield.observe(decision=1, event="x")  # what it was
    shield.prepare()


def test_a_wrong_label_changes_nothing() -> None:
    shield = Shield.synthesize(specification(property="equal_opportunity", bound="1", length=4))
    decision = shield.decide("a", 1, event="x")
    before = shield.to_dict()
    with pytest.raises(LabelError):
        shield.observe(7, decision=1 - decision, event="x")
    assert shield.to_dict() == before


@pytest.mark.parametrize(
    "line",
    [
        {"final": 2, "lost_since": None},
        {"final": 1, "lost_since": None},
        {"final": 0},
        {"final": 0, "lost_since": "x"},
        {"final": 0, "lost_since": None, "id": "nobody"},
    ],
)
def test_a_damaged_line(line: dict[str, Any], tmp_path: Path) -> None:
    journal = tmp_path / "decisions.jsonl"
    wanted: ShieldSpecification = specification(bound="1")
    with Shield.synthesize(wanted, journal=journal) as shield:
        assert shield.decide("a", 1) == 1
    journal.write_text(journal.read_text() + json.dumps(line) + "\n")
    with pytest.raises(JournalError):
        Shield.synthesize(wanted, journal=journal)


def test_as_a_message() -> None:
    shield = Shield.synthesize(specification(bound="1/4", length=4))
    for group in "aab":
        answer(shield, {"group": group, "recommendation": 1})
    given = answer(shield, {"decision": 0})
    assert given["final"] == 0
    assert given["overruled"] == 1
    assert given["guarantee"] == shield.guarantee != "holds"
    with pytest.raises(ParameterError):
        answer(shield, {"decision": True})
    labelled = Shield.synthesize(specification(property="equal_opportunity", bound="1", length=4))
    decision = answer(labelled, {"group": "a", "recommendation": 1, "id": "x"})["decision"]
    given = answer(labelled, {"decision": 1 - decision, "label": 1, "id": "x"})
    assert (given["observed"], given["final"], given["pending"]) == (1, 1 - decision, False)


PERIODIC: list[dict[str, Any]] = [
    {"shield": "static-fair", "bound": "1/2", "length": 4},
    {
        "shield": "static-bounded-welfare",
        "welfare": ["1/4", "3/4"],
        "bound": "1/2",
        "length": 6,
    },
    {"shield": "dynamic", "bound": "1/2", "length": 4},
]


@pytest.mark.parametrize("case", PERIODIC, ids=lambda case: case["shield"])
def test_what_is_left_over_all_periods(case: dict[str, Any]) -> None:
    periods = 5
    wanted = specification(**case, periods=periods)
    first = Shield.synthesize(wanted)
    is_static = case["shield"] != "dynamic"
    found: set[str] = set()
    for seed in range(40):
        draw = random.Random(seed)
        shield = Shield(wanted, first.inputs, first._policy.first_solution())
        for number in range(periods * case["length"]):
            # Both groups in turn, so that the assumptions hold but for a few periods.
            group = "ab"[number % 2] if draw.random() < 0.9 else "a"
            decision = shield.decide(group, draw.randrange(2))
            if seed % 4 and draw.random() < 0.1:
                shield.observe(decision=1 - decision)
            reports = shield.period_reports
            left = shield.guarantee_over_periods
            assert left is not None
            kept = [one.assumption_held and one.lost_since is None for one in reports]
            if is_static and not all(kept):
                assert left == f"lost since period {kept.index(False)}"
                assert shield.to_dict()["guarantee_over_periods"] == left
            elif left == "holds":
                assert shield.guarantee == "holds"
                assert shield.promised == wanted.bound
            found.add(left.split()[0])
        for report in shield.period_reports:
            before = kept[: report.period + 1] if is_static else [kept[report.period]]
            assert report.promised_so_far == all(before)
            assert report.fair_so_far or not report.promised_so_far
    assert found == {"holds", "lost"}


def test_nothing_is_said_over_the_periods_of_a_finite_horizon() -> None:
    shield = Shield.synthesize(specification(bound="1/4", length=2, after="next"))
    for group in "abab":
        shield.decide(group, 1)
    assert shield.guarantee_over_periods is None
    assert {report.promised_so_far for report in shield.period_reports} == {None}


def test_a_later_period_does_not_hide_that_an_earlier_one_was_lost() -> None:
    shield = Shield.synthesize(specification(shield="static-fair", bound="1/4", length=4))
    for group in "abab":
        shield.decide(group, 1)
    answered = answer(shield, {"decision": 0})
    assert answered["guarantee_over_periods"] == "lost since period 0"
    shield.decide("a", 1)
    assert (shield.guarantee, shield.guarantee_over_periods) == ("holds", "lost since period 0")
    for group in "bab":
        shield.decide(group, 1)
    assert [report.promised_so_far for report in shield.period_reports] == [False, False]
    assert shield.period_reports[1].fair_so_far
