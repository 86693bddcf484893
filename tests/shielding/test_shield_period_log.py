"""Reports of periods are made when they are read, and are the same whenever that is."""

from __future__ import annotations

import gc
import random
from pathlib import Path
from typing import Any, NoReturn

import pytest
from shield_runs import LABELLED, specification

from testsgd.shielding.requirement import BiasAtMost
from testsgd.shielding.running import Shield, periods

CASES: dict[str, dict[str, Any]] = {
    "finite": {"after": "next", "bound": "1/4"},
    "labelled": {"property": "equal_opportunity", "after": "next", "bound": "1/2"},
    "static": {"shield": "static-fair", "bound": "1/3"},
    "welfare": {
        "shield": "static-bounded-welfare",
        "welfare": ["1/4", "3/4"],
        "bound": "1/2",
    },
    "dynamic": {"shield": "dynamic", "bound": "1/3"},
    "labelled dynamic": {
        "property": "equal_opportunity",
        "shield": "dynamic",
        "bound": "1/2",
    },
}


def again(shield: Shield, journal: Path | None = None) -> Shield:
    first = shield._policy.first_solution()
    return Shield(shield.specification, shield.inputs, first, journal=journal)


def send(shield: Shield, events: int, *, read_often: bool = False, first: int = 0) -> None:
    chance = random.Random(7)
    labelled = shield.specification.fairness.property in LABELLED
    for number in range(first + events):
        group, recommendation, label = (
            chance.choice("aab"),
            chance.randrange(2),
            chance.randrange(2),
        )
        if number < first:
            continue
        shield.decide(group, recommendation)
        if labelled:
            shield.observe(label)
        if read_often:
            assert len(shield.period_reports) == (number + 1) // 4


@pytest.mark.parametrize("case", CASES)
def test_it_does_not_matter_when_reports_are_read(case: str, tmp_path: Path) -> None:
    shield = Shield.synthesize(specification(length=4, **CASES[case]))
    often, late = again(shield), again(shield)
    send(often, 22, read_often=True)
    send(late, 22)
    assert [report.period for report in late.period_reports] == [0, 1, 2, 3, 4]
    assert late.period_reports == often.period_reports
    assert late.to_dict() == often.to_dict()
    # Through a restart, too.
    with again(shield, tmp_path / "journal") as before:
        send(before, 10)
    with again(shield, tmp_path / "journal") as after:
        send(after, 12, first=10)
        assert after.period_reports == often.period_reports
        assert after.to_dict() == often.to_dict()


@pytest.mark.parametrize("case", ["finite", "labelled", "static", "welfare"])
def test_a_decision_does_not_wait_for_a_report(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shield = Shield.synthesize(specification(length=4, **CASES[case]))

    def too_early(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a report was made")

    with monkeypatch.context() as patched:
        patched.setattr(periods, "PeriodReport", too_early)
        patched.setattr(BiasAtMost, "bias", too_early)
        send(shield, 22)
        with pytest.raises(AssertionError, match="a report was made"):
            _ = shield.period_reports
    assert len(shield.period_reports) == 5


def test_what_was_read_is_not_made_again() -> None:
    shield = Shield.synthesize(specification(length=4, **CASES["finite"]))
    send(shield, 9)
    first = shield.period_reports
    send(shield, 4, first=9)
    assert all(one is other for one, other in zip(first, shield.period_reports, strict=False))


@pytest.mark.slow
def test_what_is_kept_grows_with_the_periods_only() -> None:
    shield = Shield.synthesize(specification(length=50, bound="1/2", after="next"))
    shield.decide("a", 1)
    gc.collect()
    before = len(gc.get_objects())
    send(shield, 2000)
    gc.collect()
    assert len(gc.get_objects()) - before < 40 * 8
