"""The JSON documents of a shield: schemas, content, and reading them back."""

from __future__ import annotations

import json
from itertools import pairwise

import jsonschema
import numpy as np
import pytest
from shield_documents import (
    SIMULATIONS,
    closest,
    dynamic,
    periodic,
    simulated,
    simulation,
    synthesised,
)

from testsgd.errors import ResultError
from testsgd.report.kinds import read_result
from testsgd.shielding import ShieldResult, Simulation, SimulationResult
from testsgd.shielding.report.summarise import bias_bins


@pytest.mark.parametrize("name", SIMULATIONS)
def test_a_simulation_is_valid_and_read_back_as_it_was(name: str) -> None:
    summary = SIMULATIONS[name]()
    text = SimulationResult.document.render(summary)
    jsonschema.validate(json.loads(text), SimulationResult.document.schema())
    assert SimulationResult.document.read(text) == summary
    result = read_result(text)
    assert isinstance(result, SimulationResult)
    assert result.verdict == summary.verdict


def test_a_synthesis_is_valid_and_read_back_as_it_was() -> None:
    summary = synthesised()
    text = ShieldResult.document.render(summary)
    jsonschema.validate(json.loads(text), ShieldResult.document.schema())
    result = read_result(text)
    assert isinstance(result, ShieldResult)
    assert result.summary == summary
    assert (result.verdict.status, result.verdict.exit_code) == ("synthesised", 0)


def test_another_document_is_refused() -> None:
    document = json.loads(SimulationResult.document.render(simulated()))
    for change in ({"schema": "testsgd.shield/2"}, {"bins": None}, {"more": 1}):
        with pytest.raises(ResultError):
            SimulationResult.document.read(json.dumps(document | change))


def test_the_numbers_of_a_single_period() -> None:
    summary = simulated()
    assert (summary.unshielded.above, summary.shielded.above) == (2, 0)
    assert (summary.unshielded.largest, summary.shielded.largest) == (1.0, pytest.approx(0.2))
    assert (summary.interventions.mean, summary.cost.mean, summary.changed) == (2, 4, 0.2)
    assert summary.utility is None
    assert (summary.guaranteed, summary.broken) == (4, 0)
    # Clopper and Pearson, of 0 in 4: 1 - 0.025 ** (1 / 4).
    assert summary.shielded.above_low == 0
    assert summary.shielded.above_high == pytest.approx(1 - 0.025**0.25)
    # A bias of exactly the bound lies below it in the drawing too.
    assert sum(one.shielded for one in summary.bins if one.above) == 0
    assert sum(one.shielded for one in summary.bins) == 4


def test_the_numbers_of_periods() -> None:
    summary = simulated(periodic())
    first, second = summary.periods
    assert (first.above_unshielded, first.above_shielded, first.assumed, first.assumed_fair) == (
        1, 0, 2, 2,
    )  # fmt: skip
    # Together with the first period: 0.5 without the shield of the one, 1 of the other.
    assert (second.above_unshielded, second.above_shielded) == (2, 1)
    assert (second.assumed, second.assumed_fair) == (1, 1)
    assert (summary.guaranteed, summary.broken) == (3, 0)
    assert summary.utility is not None
    assert summary.utility.accuracy_unshielded == pytest.approx(0.75)
    assert summary.utility.loss.mean == pytest.approx(0.075)


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("finite", "guarantee_kept", 0),
        ("broken", "guarantee_broken", 1),
        ("gate", "gate_failed", 1),
        ("periodic", "guarantee_kept", 0),
        ("nothing guaranteed", "observed", 0),
    ],
)
def test_only_a_guarantee_or_a_gate_can_fail(name: str, status: str, code: int) -> None:
    verdict = SIMULATIONS[name]().verdict
    assert (verdict.status, verdict.exit_code) == (status, code)


@pytest.mark.parametrize("bound", [0.0, 1e-4, 0.1, 0.35, 1.0])
def test_every_run_is_in_one_interval_on_its_side_of_the_threshold(bound: float) -> None:
    rng = np.random.default_rng(5)
    biases = np.append(rng.random(500), [0.0, bound, 1.0])
    above = biases > bound
    bins = bias_bins((biases, above), (biases * 0, np.zeros(503, dtype=bool)), bound=bound)
    for one in bins:
        inside = (biases > one.low + 1e-12) & (biases <= one.high + 1e-12) & (above == one.above)
        first = (biases == 0) & (one.low == 0) & (not one.above)
        assert one.unshielded == int((inside | first).sum())
    assert sum(one.unshielded for one in bins) == sum(one.shielded for one in bins) == 503
    assert all(a.high == b.low for a, b in pairwise(bins))
    assert len(bins) <= 110


@pytest.mark.parametrize(("found", "choice"), [(dynamic(), "pass"), (closest(), "closest")])
def test_periods_without_a_shield_are_counted(found: Simulation, choice: str) -> None:
    summary = simulated(found)
    assert summary.requirement.when_infeasible == choice
    assert [one.infeasible for one in summary.periods] == [0, 1]
    (told,) = (one for one in summary.verdict.sentences if "no shield existed" in one)
    assert told.startswith("For 1 of 4 periods no shield existed after what had happened; in these")
    assert told.endswith(
        {"pass": "recommendations pass.", "closest": "that can be kept is kept."}[choice]
    )
    # The bound was not guaranteed there.
    assert (summary.guaranteed, summary.broken) == (3, 0)


def test_other_shields_say_nothing_of_it() -> None:
    for name in ("finite", "periodic"):
        summary = SIMULATIONS[name]()
        assert summary.requirement.when_infeasible is None
        assert not any("no shield existed" in one for one in summary.verdict.sentences)


def test_equal_simulations_have_equal_summaries() -> None:
    one, other = simulated(simulation()), simulated(simulation())
    assert one.model_copy(update={"created": other.created}) == other
