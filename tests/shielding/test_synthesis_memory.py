"""The memory said before synthesis, against what is taken."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from fractions import Fraction
from pathlib import Path

import pytest
from shield_runs import specification

import testsgd
from testsgd.errors import ParameterError, SpecificationError
from testsgd.fairness import NAMED_PROPERTIES
from testsgd.shielding import solving, synthesis
from testsgd.shielding.call import synthesis_result
from testsgd.shielding.inputs import InputDistribution
from testsgd.shielding.running import Shield
from testsgd.shielding.synthesis import (
    ShieldProblem,
    finite_problem,
    predicted_bytes,
    solve,
)

TENTH = Fraction(1, 10)
# Prints the most bytes that a command took.
_LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(most if sys.platform == "darwin" else most * 1024)
"""


def _problem(name: str, groups: int, costs: int, horizon: int) -> ShieldProblem:
    fairness = NAMED_PROPERTIES[name]
    inputs = InputDistribution.uniform(
        [f"group {place}" for place in range(groups)],
        costs=[1.0 + place for place in range(costs)],
        labelled=fairness.labelled,
    )
    return finite_problem(fairness, TENTH, "zero", inputs, horizon)


@pytest.mark.parametrize("storage", ["whole", "windows"])
@pytest.mark.parametrize(
    ("name", "groups", "costs", "horizon"),
    [
        ("demographic_parity", 2, 1, 120),
        ("demographic_parity", 3, 2, 24),
        ("equal_opportunity", 2, 1, 45),
        ("equal_opportunity", 3, 5, 12),
    ],
)
@pytest.mark.slow
def test_no_more_is_taken_than_was_said(
    name: str, groups: int, costs: int, horizon: int, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "window_width", lambda lattice: 4)
    problem = _problem(name, groups, costs, horizon)
    said = predicted_bytes(problem, storage=storage)  # type: ignore[arg-type]
    tracemalloc.start()
    solution = solve(problem, storage=storage, compiled=False)  # type: ignore[arg-type]
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken <= said
    assert solution.policy.bytes <= said


@pytest.mark.parametrize(("groups", "horizon"), [(4, 1000), (9, 300), (20, 1000)])
def test_far_too_much_is_said_and_not_tried(groups: int, horizon: int) -> None:
    """Numbers that no integer type holds."""
    said = predicted_bytes(_problem("demographic_parity", groups, 1, horizon))
    assert said > 2**60


def test_more_groups_and_costs_than_fit_into_a_code() -> None:
    with pytest.raises(SpecificationError, match="too many together"):
        predicted_bytes(_problem("demographic_parity", 40, 1, 3))


@pytest.mark.parametrize("horizon", [0, -1])
def test_no_events_at_all(horizon: int) -> None:
    with pytest.raises(SpecificationError, match=f"the horizon is {horizon}"):
        solve(_problem("demographic_parity", 2, 1, horizon))


def test_labels_are_needed_where_they_count_and_only_there() -> None:
    without = InputDistribution.uniform(("a", "b"))
    problem = finite_problem(NAMED_PROPERTIES["equal_opportunity"], TENTH, "zero", without, 4)
    with pytest.raises(SpecificationError, match="probability of the true label"):
        solve(problem, compiled=False)
    parity = NAMED_PROPERTIES["demographic_parity"]
    with_labels = InputDistribution.uniform(("a", "b"), labelled=True)
    costs = [
        solve(finite_problem(parity, TENTH, "zero", inputs, 8), compiled=False).expected_cost
        for inputs in (without, with_labels)
    ]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("length", [2_000, 10_000, 10**11])
def test_every_way_to_a_synthesis_refuses_what_it_could_not_hold(length: int) -> None:
    large = specification(length=length, names=("a", "b", "c"))
    for synthesise in (
        testsgd.synthesize_shield,
        testsgd.simulate_shield,
        synthesis_result,
        Shield.synthesize,
    ):
        with pytest.raises((ParameterError, SpecificationError)):
            synthesise(large)


def test_groups_that_make_too_many_states_are_refused() -> None:
    with pytest.raises(SpecificationError):
        testsgd.simulate_shield(specification(names=tuple("abcdefghijklmnopqrst"), length=100))


def test_as_much_as_is_allowed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    process = 10**8
    monkeypatch.setattr(synthesis, "process_memory", lambda: process)
    small = specification(length=10)
    arrays = predicted_bytes(_problem("demographic_parity", 2, 1, 10))
    said = process + arrays
    testsgd.synthesize_shield(small, memory_limit=said)
    testsgd.synthesize_shield(small, memory_limit=None)
    with pytest.raises(ParameterError) as caught:
        testsgd.synthesize_shield(small, memory_limit=said - 1)
    assert caught.value.details == {"predicted": said, "limit": said - 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "length", "storage"),
    [
        ("demographic_parity", 20, "whole"),
        ("demographic_parity", 250, "whole"),
        ("demographic_parity", 300, "windows"),
        ("equal_opportunity", 60, "whole"),
    ],
)
def test_what_is_said_is_within_a_quarter_of_the_peak(
    name: str, length: int, storage: str, tmp_path: Path
) -> None:
    """The peak is what the system says of the command, from its start to its end."""
    path = tmp_path / "spec.toml"
    path.write_text(
        f'[fairness]\nproperty = "{name}"\nbound = "1/4"\n'
        f'[groups]\nnames = ["a", "b"]\n[horizon]\nlength = {length}\n'
    )
    reports = tmp_path / "reports"
    command = [sys.executable, "-m", "testsgd", "shield", "synthesize", str(path), "--quiet"]
    command += ["--shield", str(tmp_path / "shield.npz"), "--storage", storage]
    command += ["--out", str(reports), "--format", "json"]
    # Started by a small program, as a process counts what the one that started it took.
    launched = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *command], capture_output=True, text=True, check=True
    )
    peak = int(launched.stdout)
    (result,) = reports.glob("*.json")
    said = json.loads(result.read_text())["synthesis"]["predicted_bytes"]
    assert 0.75 < said / peak < 1.25
