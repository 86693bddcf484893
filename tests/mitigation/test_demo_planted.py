"""The demo: what was planted in it goes, at next to no cost, whatever the seed."""

import pytest

import testsgd
from testsgd.mitigation import MitigationResult

PLANTED = "gender = female and race = Black and 40 <= age < 60"


@pytest.fixture(scope="module")
def result() -> MitigationResult:
    return testsgd.mitigate(
        None, None, "demo", runs=3, steps=2, compare="none", estimand="neighbourhood"
    )


@pytest.mark.slow
def test_the_target_is_what_was_planted(result: MitigationResult) -> None:
    (target,) = result.summary.targets
    assert target.text == PLANTED
    assert target.before.score == pytest.approx(0.258, abs=5e-4)


def test_three_seeds_bring_it_to_a_quarter(result: MitigationResult) -> None:
    assert [run.seed for run in result.summary.runs] == [0, 1, 2]
    for run in result.summary.runs:
        assert run.scores[0] < 0.258 / 4
        assert run.held_out_scores[0] < 0.235 / 4


def test_no_seed_costs_much_and_the_verdict_is_of_the_written_model(
    result: MitigationResult,
) -> None:
    runs = result.summary.runs
    assert all(run.accuracy_drop <= 1 for run in runs)
    written = result.summary.written
    assert written is not None
    (kept,) = [run for run in runs if run.run == written.run]
    part = written.held_out
    assert part.accuracy_drop == pytest.approx(kept.accuracy_drop)
    within = part.accuracy_drop <= 0.5 and part.balanced_drop <= 2
    assert written.side_effects is not None
    kept_gaps = not written.side_effects.exceeded
    expected = "mitigated" if kept_gaps else "side_effect"
    assert result.verdict.status == (expected if within else "accuracy_lost")


def test_nobody_is_worse_off_than_the_worst_was(result: MitigationResult) -> None:
    before = result.summary.all_rows.worst_before
    assert all(run.worst < before for run in result.summary.runs)
