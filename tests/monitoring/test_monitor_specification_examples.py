"""The example specifications of monitors: they are read, and say what they seem to say."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from testsgd.monitoring.specification import MonitorSpecification
from testsgd.shielding.specification import ShieldSpecification

EXAMPLES = Path(__file__).parents[2] / "examples"
# File, and of each property: name, bound, rule and check.
MONITORS = {
    "admission-by-department": [
        ("demographic_parity given department", "1/10", "evidence", "every"),
        ("demographic_parity", "1/5", "evidence", "every"),
    ],
    "loans-by-estimate": [("demographic_parity", "1/10", "estimate", "every")],
    "loans-demographic-parity": [("demographic_parity", "1/10", "evidence", "every")],
    "recidivism-equalized-odds": [
        ("equal_opportunity", "1/10", "estimate", "every"),
        ("predictive_equality", "1/10", "estimate", "every"),
    ],
    "shield-output": [("demographic_parity", "1/10", "estimate", "end")],
}


def read(name: str) -> MonitorSpecification:
    return MonitorSpecification.read(EXAMPLES / "monitors" / f"{name}.toml")


def test_every_example_is_known_here() -> None:
    found = sorted(path.stem for path in (EXAMPLES / "monitors").glob("*.toml"))
    assert found == sorted(MONITORS)


@pytest.mark.parametrize("name", MONITORS)
def test_an_example(name: str) -> None:
    made = read(name)
    assert [(one.name, str(one.bound), one.rule, one.check) for one in made.monitored] == (
        MONITORS[name]
    )
    assert MonitorSpecification.from_dict(made.to_dict()) == made


def test_the_numbers_of_the_paper() -> None:
    made = read("recidivism-equalized-odds")
    assert made.trials.deadline == 730 * 24 * 60 * 60
    assert (made.trials.without_label, made.trials.count) == (0, "deadline")
    assert (made.estimate.prior, made.estimate.strength) == (Fraction(1, 2), 100)
    assert made.groups.names is None


def test_the_monitor_behind_the_shield_asks_what_the_shield_keeps() -> None:
    monitor = read("shield-output")
    shield = ShieldSpecification.read(EXAMPLES / "shields" / "loans-demographic-parity.toml")
    (watched,) = monitor.monitored
    assert watched.fairness == shield.fairness_property
    assert watched.bound == shield.bound
    assert watched.empty_group == shield.fairness.empty_group
    assert monitor.groups.names == shield.groups.names
    assert (monitor.window.kind, monitor.window.trials) == ("tumbling", shield.horizon.length)
    assert monitor.estimate.strength == 0
    assert monitor.events.others == "ignore"
