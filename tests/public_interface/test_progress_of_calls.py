"""Progress of all long calls: its share is true, grows with each batch, and never goes back."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd import progress as module
from testsgd.mitigation import cross_validation
from testsgd.mitigation.penalised_networks import STRENGTHS
from testsgd.progress import Counter, tell_answered

Call = tuple[str, int, int]

PEOPLE = pd.DataFrame(
    {
        "sex": ["f", "m"] * 100,
        "income": [(37 * row) % 150 for row in range(200)],
        "debts": [(11 * row) % 7 for row in range(200)],
    }
)
SHIELD = {
    "name": "loans",
    "fairness": {"property": "demographic_parity", "bound": "1/4"},
    "groups": {"names": ["female", "male"]},
    "horizon": {"length": 8},
}
LONG_CALLS = [
    testsgd.assess_generative,
    testsgd.audit,
    testsgd.audit_metrics,
    testsgd.audit_predictions,
    testsgd.certify,
    testsgd.compare,
    testsgd.counter_samples,
    testsgd.fair_frontier,
    testsgd.mitigate,
    testsgd.simulate_monitor,
    testsgd.simulate_shield,
    testsgd.synthesize_shield,
    testsgd.train_network,
    testsgd.train_text_network,
]


def by_income(frame: pd.DataFrame) -> Any:
    return np.where(frame["income"] + 30 * (frame["sex"] == "m") > 100, "yes", "no")


def check_shares(calls: list[Call]) -> None:
    """Check that no phase goes back, none is begun twice, and nothing is above its total."""
    assert calls
    latest: dict[str, tuple[int, int]] = {}
    for phase, done, total in calls:
        assert 0 <= done <= total
        before, all_before = latest.get(phase, (0, total))
        assert done >= before
        assert total == all_before
        latest[phase] = (done, total)


def audited(**options: Any) -> list[Call]:
    calls: list[Call] = []
    testsgd.audit(
        by_income,
        PEOPLE,
        sensitive_features=["sex"],
        replicates=20,
        progress=lambda *call: calls.append(call),
        **options,
    )
    return calls


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"jobs": 3},
        {"batch_size": 7},
        {"batch_size": 7, "jobs": 3},
        {"holdout": 0.5},
        {"mode": "sampled", "max_queries": 3_000, "batch_size": 50},
        {"mode": "sampled", "sampling": "independent", "max_queries": 20_000},
        {"nondeterministic": 3},
        {"estimand": "neighbourhood"},
    ],
    ids=str,
)
def test_a_share_never_goes_back(options: dict[str, Any]) -> None:
    calls = audited(**options)
    check_shares(calls)
    if options.get("mode") != "sampled":
        ends = {phase: (done, total) for phase, done, total in calls}
        assert all(done == total for done, total in ends.values())


def test_a_share_of_metrics_by_labels_never_goes_back() -> None:
    calls: list[Call] = []
    testsgd.audit(
        by_income,
        PEOPLE,
        by_income(PEOPLE),
        sensitive_features=["sex"],
        metric="accuracy",
        batch_size=20,
        progress=lambda *call: calls.append(call),
    )
    check_shares(calls)
    assert len({done for _, done, total in calls if total == len(PEOPLE)}) > 8


def test_neighbours_are_counted_with_each_batch() -> None:
    # Each row is a question, and so are its neighbours: one step down and up in two features.
    calls = audited(batch_size=10)
    totals = {phase: total for phase, _, total in calls}
    (phase,) = [phase for phase, total in totals.items() if total == 5 * len(PEOPLE)]
    shares = [done for name, done, _ in calls if name == phase]
    # At least about the rows themselves 20 batches are asked.
    assert len(set(shares)) >= 20
    assert {10, 20, 100, 200} <= set(shares)


def test_own_effects_are_counted_with_each_batch() -> None:
    # Each row is asked about with both values of the one sensitive feature.
    calls = audited(batch_size=10)
    totals = {phase: total for phase, _, total in calls}
    (phase,) = [phase for phase, total in totals.items() if total == 2 * len(PEOPLE)]
    assert [done for name, done, _ in calls if name == phase] == [*range(0, 401, 10)]


def test_the_line_has_shares_between_the_batches_of_a_slow_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_INTERVAL", 0.002)

    def slow(frame: pd.DataFrame) -> Any:
        time.sleep(0.005)
        return by_income(frame)

    testsgd.audit(
        slow,
        PEOPLE,
        sensitive_features=["sex"],
        replicates=20,
        batch_size=10,
        progress=True,
    )
    lines = capsys.readouterr().err.splitlines()
    shown = [re.fullmatch(r"testsgd: (.*): (\d+)%, .*", line) for line in lines]
    shares: dict[str, list[int]] = {}
    for found in filter(None, shown):
        shares.setdefault(found[1], []).append(int(found[2]))
    assert all(values == sorted(values) for values in shares.values())
    assert all(0 <= value <= 100 for values in shares.values() for value in values)
    assert max(len(set(values)) for values in shares.values()) >= 10


def test_a_counter_counts_parts_and_what_needs_no_answer() -> None:
    calls: list[tuple[int, int]] = []
    counter = Counter(lambda *call: calls.append(call), 20)
    with counter.asking(10):
        tell_answered(1, 4)
        tell_answered(3, 4)
        # A further call of the same block begins anew, and nothing is counted twice.
        tell_answered(1, 4)
    counter.add(15)
    assert calls == [(0, 20), (2, 20), (7, 20), (10, 20), (20, 20)]
    tell_answered(1, 4)
    assert len(calls) == 5


def test_a_counter_does_not_count_what_fails() -> None:
    calls: list[tuple[int, int]] = []
    counter = Counter(lambda *call: calls.append(call), 20)
    with pytest.raises(KeyError), counter.asking(10):
        raise KeyError
    assert calls == [(0, 20)]


@pytest.mark.parametrize("call", LONG_CALLS, ids=lambda call: call.__name__)
def test_every_long_call_takes_progress(call: Callable[..., Any]) -> None:
    shown = inspect.signature(call).parameters["progress"]
    assert shown.kind is inspect.Parameter.KEYWORD_ONLY
    assert shown.default is None
    assert "bool" in str(shown.annotation)


def frontier(progress: Any) -> None:
    source = np.random.default_rng(0)
    people = pd.DataFrame({"woman": source.integers(0, 2, 800), "points": source.normal(size=800)})
    granted = np.where(people["points"] - people["woman"] > source.normal(size=800), "yes", "no")
    testsgd.fair_frontier(
        LogisticRegression().fit(people, granted),
        people,
        granted,
        sensitive_features=["woman"],
        method="thresholds",
        max_accuracy_drop=2,
        progress=progress,
    )


def certified(progress: Any) -> None:
    model = LogisticRegression().fit([[0, 1], [9, 0], [1, 0], [8, 1]], [0, 1, 0, 1])
    ranges = {"inputs": {"income": {"integer": [0, 9]}, "woman": {"integer": [0, 1]}}}
    testsgd.certify(model, ranges, protected="woman", progress=progress)


def simulated_monitor(progress: Any) -> None:
    watched = {"properties": [{"property": "demographic_parity", "bound": 0.1}]}
    testsgd.simulate_monitor(watched, bias=(0, 0.5), runs=5, days=2, progress=progress)


def assessed(progress: Any) -> None:
    testsgd.assess_generative(
        ["A woman at work", "A man", "A man", "A man"],
        {
            "groupings": {
                "gender": {
                    "values": ["female", "male"],
                    "terms": {"female": ["woman"], "male": ["man"]},
                }
            },
            "requirements": [{"grouping": "gender", "beta": 2}],
        },
        progress=progress,
    )


def of_metrics(progress: Any, **options: Any) -> None:
    testsgd.audit_predictions(
        [0, 1] * 200,
        [0, 1, 1, 0] * 100,
        sensitive_features={"sex": ["f", "m", "m", "f", "f"] * 80},
        metrics=["selection_rate", "accuracy"],
        progress=progress,
        **options,
    )


RUNS: dict[str, Callable[[Any], object]] = {
    "metrics": of_metrics,
    "metrics, held out": lambda progress: of_metrics(progress, holdout=0.5),
    "frontier": frontier,
    "comparison": lambda progress: testsgd.compare(
        None, None, "demo", methods="gerryfair", limit=600, progress=progress
    ),
    "samples": lambda progress: testsgd.counter_samples(
        None, None, "demo", count=20, limit=2000, progress=progress
    ),
    "shield": lambda progress: testsgd.synthesize_shield(SHIELD, progress=progress),
    "simulated shield": lambda progress: testsgd.simulate_shield(
        SHIELD, runs=20, progress=progress
    ),
    "simulated monitor": simulated_monitor,
    "outputs": assessed,
}


@pytest.mark.parametrize("name", RUNS)
def test_a_long_call_tells_its_phases(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[Call] = []
    RUNS[name](lambda *call: calls.append(call))
    check_shares(calls)
    RUNS[name](None)
    assert capsys.readouterr().err == ""


def test_a_certification_shows_what_is_proved(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Call] = []
    monkeypatch.setattr(module._Line, "take", lambda line, *call: shown.append(call))
    certified(True)
    check_shares(shown)
    assert shown[-1][1] == shown[-1][2]
    capsys.readouterr()
    moments: list[Any] = []
    certified(moments.append)
    certified(False)
    assert moments[-1].shares.undecided == 0
    assert capsys.readouterr().err == ""


def shares_of(calls: list[Call], total: int) -> list[int]:
    """Return how much was done at each call for the one phase of so many parts."""
    (phase,) = {phase for phase, _, parts in calls if parts == total}
    return [done for name, done, _ in calls if name == phase]


@pytest.mark.parametrize(("storage", "jobs"), [("whole", 1), ("windows", 1), ("whole", 2)])
def test_a_synthesis_tells_the_states_and_a_simulation_the_runs(storage: Any, jobs: int) -> None:
    calls: list[Call] = []
    dynamic = {**SHIELD, "horizon": {"length": 8, "shield": "dynamic", "periods": 3}}
    shield = testsgd.synthesize_shield(
        dynamic, storage=storage, progress=lambda *call: calls.append(call)
    )
    check_shares(calls)
    assert len({done for _, done, _ in calls}) > 8
    assert calls[-1][1] == calls[-1][2]
    calls.clear()
    result = testsgd.simulate_shield(
        shield, runs=37, jobs=jobs, progress=lambda *call: calls.append(call)
    )
    check_shares(calls)
    runs = shares_of(calls, 37)
    assert (runs[0], runs[-1]) == (0, 37)
    assert len(set(runs)) > 10
    silent = testsgd.simulate_shield(shield, runs=37, progress=False)
    assert np.array_equal(silent.simulation.counts, result.simulation.counts)


def test_a_play_tells_its_rounds() -> None:
    source = np.random.default_rng(0)
    people = pd.DataFrame({"woman": source.integers(0, 2, 800), "points": source.normal(size=800)})
    granted = np.where(people["points"] - people["woman"] > source.normal(size=800), "yes", "no")
    calls: list[Call] = []
    testsgd.fair_frontier(
        LogisticRegression().fit(people, granted),
        people,
        granted,
        sensitive_features=["woman"],
        method="play",
        progress=lambda *call: calls.append(call),
    )
    check_shares(calls)
    done = [done for phase, done, total in calls if phase == "playing"]
    assert len(set(done)) > 10
    ends = {phase: (done, total) for phase, done, total in calls}
    assert all(done == total for done, total in ends.values())


@pytest.mark.slow
def test_a_training_with_a_penalty_tells_its_strengths() -> None:
    calls: list[Call] = []
    testsgd.fair_frontier(None, None, "demo", limit=800, progress=lambda *call: calls.append(call))
    check_shares(calls)
    assert shares_of(calls, len(STRENGTHS)) == list(range(len(STRENGTHS) + 1))
    # It begins with a phase, not with nothing, and ends all of them.
    ends = {phase: (done, total) for phase, done, total in calls}
    assert all(done == total for done, total in ends.values())


@pytest.mark.slow
def test_a_retraining_tells_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each fold is a step, of one repetition as of three.
    monkeypatch.setattr(cross_validation, "REPEATS", 1)
    calls: list[Call] = []
    testsgd.mitigate(
        None,
        None,
        "demo",
        limit=800,
        runs=2,
        steps=2,
        compare="none",
        # What the labels are softened by takes most of the time, and has no steps of its own.
        soften=False,
        progress=lambda *call: calls.append(call),
    )
    check_shares(calls)
    assert [call[1:] for call in calls[:2]] == [(0, 1), (1, 1)]
    assert shares_of(calls, cross_validation.FOLDS) == list(range(cross_validation.FOLDS + 1))
    retrained = [done for phase, done, _ in calls if phase == "retraining"]
    assert retrained[0] == 0
    assert len(set(retrained)) > 2
