"""A strict audit of metrics passes only what it knows, for differences and for ratios."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.metrics import MetricsResult

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def world(rows: int, *, seed: int, below: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw people of whom women are selected less often than 60% by so much."""
    source = np.random.default_rng(seed)
    women = source.permutation(np.arange(rows) % 2 == 0)
    frame = pd.DataFrame({"gender": np.where(women, "f", "m")})
    return frame, (source.random(rows) < np.where(women, 0.6 - below, 0.6)).astype(int)


def audit(frame: pd.DataFrame, said: Any, true: Any = None, **options: Any) -> MetricsResult:
    chosen = {"metrics": "selection_rate", "sensitive_features": frame, **QUICK, **options}
    return testsgd.audit_metrics(said, true, **chosen)


@pytest.mark.parametrize(
    "gate",
    [
        {"fail_above": 0.2},
        {"fail_above": 0.2, "guarantee": "per-group"},
        # 35% are 0.58 of 60%, and 0.75 is 15 points.
        {"measure": "ratio", "fail_below": 0.75},
        {"measure": "ratio", "fail_below": 0.75, "reference": "best"},
    ],
    ids=str,
)
def test_few_people_never_pass_a_strict_gate(gate: dict[str, Any]) -> None:
    codes = set()
    for seed in range(40):
        frame, said = world(120, seed=seed, below=0.25)
        codes.add(audit(frame, said, strict=True, **gate).exit_code)
        # Without it some of them do.
        codes.add(10 + audit(frame, said, **gate).exit_code)
    assert 0 not in codes
    assert 10 in codes


@pytest.mark.parametrize(
    ("gate", "written"),
    [
        ({"fail_above": 0.2}, "points (selection rate)"),
        ({"measure": "ratio", "fail_below": 0.75}, "(selection rate)"),
        ({"measure": "ratio", "fail_below": 0.75, "reference": "best"}, "(selection rate)"),
        ({"fail_above": 0.2, "reference": "gender = m"}, "points (selection rate)"),
    ],
    ids=str,
)
def test_many_people_pass_and_it_is_said_what_is_silent(gate: dict[str, Any], written: str) -> None:
    frame, said = world(8000, seed=1, below=0.0)
    result = audit(frame, said, strict=True, **gate)
    assert result.exit_code == 0
    groups = result.groups
    ends = groups[["ci_low", "ci_high"]].to_numpy()
    if "measure" in gate:
        extreme = np.minimum(ends, 1 / ends).min()
        text = f"The intervals allow ratios down to {extreme:.3f} {written}"
    else:
        extreme = np.abs(ends).max()
        text = f"The intervals allow differences of up to {100 * extreme:.1f} {written}"
    assert text in result.verdict.sentences[0]


def test_an_interval_that_reaches_the_limit_concludes_nothing() -> None:
    frame, said = world(300, seed=3, below=0.0)
    for gate in ({"fail_above": 0.1}, {"measure": "ratio", "fail_below": 0.85}):
        assert audit(frame, said, **gate).exit_code == 0
        strict = audit(frame, said, strict=True, **gate)
        assert strict.exit_code == 3
        assert "which is strict" in strict.verdict.sentences[0]


@pytest.mark.parametrize("gate", [{"fail_above": 0.1}, {"measure": "ratio", "fail_below": 0.8}])
def test_it_is_said_by_which_metrics_a_group_is_beyond_the_limit_and_by_which_none_is_judged(
    gate: dict[str, Any],
) -> None:
    frame, said = world(200, seed=4, below=0.2)
    # Of too few people it is known that they are qualified.
    true = (np.arange(200) < 10).astype(int)
    metrics = ["selection_rate", "true_positive_rate"]
    result = audit(frame, said, true, metrics=metrics, **gate)
    assert result.exit_code == 3
    largest = result.summary.metrics[0].largest
    assert largest is not None
    beyond, unjudged = result.verdict.sentences[0].split(";")
    size = f"{1 - largest:.3f}" if "measure" in gate else f"{100 * largest:.1f} points"
    assert f"{size} (selection rate)" in beyond
    assert "true" not in beyond
    assert "true positive rate" in unjudged
    assert "selection" not in unjudged


def test_a_certain_difference_fails_a_strict_gate() -> None:
    frame, said = world(8000, seed=4, below=0.3)
    assert audit(frame, said, strict=True, fail_above=0.1).exit_code == 1


def test_too_many_people_whom_no_group_isolates() -> None:
    frame, said = world(4000, seed=5, below=0.0)
    race = np.where(np.arange(4000) < 45, "rare", "A")
    frame = frame.assign(race=np.random.default_rng(5).permutation(race))
    options: dict[str, Any] = {"fail_above": 0.3, "strict": True}
    result = audit(frame, said, **options)
    assert result.exit_code == 3
    assert result.summary.metrics[0].unjudged.share == pytest.approx(45 / 4000)
    assert any("1.1% of the rows could not be judged" in text for text in result.verdict.sentences)
    # What judged groups keep is no pass.
    assert "passed" not in " ".join(result.verdict.sentences)
    by_rows = testsgd.audit_predictions(said, sensitive_features=frame, stability=0, **options)
    assert by_rows.exit_code == 3
    assert "passed" not in " ".join(by_rows.verdict.sentences)
    assert audit(frame, said, max_unjudged=0.02, **options).exit_code == 3  # no group by race
    wider = frame.assign(race=np.where(frame["race"] == "A", frame["gender"], frame["race"]))
    assert audit(wider, said, max_unjudged=0.02, **options).exit_code == 0
    assert audit(wider, said, **options).exit_code == 3


def test_people_may_be_too_few_for_one_of_the_metrics() -> None:
    """Of 60 people of a race six have a favourable label: no group judges their rate."""
    frame, said = world(4000, seed=6, below=0.0)
    order = np.random.default_rng(6).permutation(4000)
    race, true = np.full(4000, "A"), np.ones(4000, dtype=int)
    race[order[:60]], true[order[6:60]] = "B", 0
    race[order[2000:]] = "C"
    true[order[100:2000:2]] = 0
    options: dict[str, Any] = {"fail_above": 0.4, "strict": True, "max_unjudged": 0.001}
    frame = frame.assign(race=race)[["race"]]
    assert audit(frame, said, true, **options).exit_code == 0
    result = audit(frame, said, true, metrics="true_positive_rate", **options)
    assert result.exit_code == 3
    positive = (true == 1).sum()
    assert result.summary.metrics[0].unjudged.share == pytest.approx(6 / positive)
    assert any("count for the true positive rate" in text for text in result.verdict.sentences)


def test_a_feature_without_groups() -> None:
    frame, said = world(4000, seed=7, below=0.0)
    frame = frame.assign(wealth=np.where(np.arange(4000) < 3, 7.5, 1.25))
    features = {"wealth": {"type": "decimal", "range": [0, 10], "edges": [0.0, 5.0, 10.0]}}
    loose = audit(frame, said, fail_above=0.3, features=features)
    assert loose.exit_code == 0
    strict = audit(frame, said, fail_above=0.3, strict=True, max_unjudged=1.0, features=features)
    assert strict.exit_code == 3
    assert any("could be described by wealth" in text for text in strict.verdict.sentences)


@pytest.mark.parametrize("metric", ["accuracy", "true_positive_rate", "equalized_odds"])
@pytest.mark.parametrize("known", [0, 30])
def test_a_group_without_true_labels_is_not_judged(metric: str, known: int) -> None:
    source = np.random.default_rng(8)
    town = source.choice(list("abcd"), 4000)
    frame = pd.DataFrame({"town": town})
    said, true = source.integers(0, 2, (2, 4000))
    of_b = np.flatnonzero(town == "b")
    labels = true.astype(float)
    labels[of_b[known:]] = np.nan
    options: dict[str, Any] = {"metrics": metric, "fail_above": 0.4, "strict": True}
    assert audit(frame, said, true, **options).exit_code == 0
    result = audit(frame, said, labels, **options)
    assert result.exit_code == 3
    unjudged = result.summary.metrics[0].unjudged
    assert unjudged.uncounted == ["town = b"]
    assert unjudged.uncounted_share == len(of_b) / 4000
    assert any("town = b" in sentence for sentence in result.verdict.sentences)
    # As many people without labels, of all towns alike, leave no town out.
    anywhere = true.astype(float)
    anywhere[source.permutation(4000)[: len(of_b)]] = np.nan
    assert audit(frame, said, anywhere, **options).exit_code == 0


def test_a_combination_without_true_labels_is_not_judged() -> None:
    source = np.random.default_rng(9)
    frame = pd.DataFrame(
        {"town": source.choice(list("ab"), 6000), "gender": source.choice(list("fm"), 6000)}
    )
    said, true = source.integers(0, 2, (2, 6000)).astype(float)
    options: dict[str, Any] = {"metrics": "true_positive_rate", "fail_above": 0.4, "strict": True}
    assert audit(frame, said, true, **options).exit_code == 0
    lost = (frame["town"] == "b") & (frame["gender"] == "f")
    true[lost] = np.nan
    result = audit(frame, said, true, **options)
    assert result.exit_code == 3
    unjudged = result.summary.metrics[0].unjudged
    assert unjudged.uncounted == ["town = b and gender = f"]
    assert unjudged.uncounted_share == pytest.approx(lost.mean())


@pytest.mark.parametrize("seed", range(5))
def test_few_rows_that_count_by_chance_leave_no_combination_out(seed: int) -> None:
    """A tenth of the people of each combination count, of some more than are needed, or fewer."""
    source = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {name: source.choice(list("abcde"), 20_000, p=[0.5, 0.2, 0.15, 0.1, 0.05]) for name in "xy"}
    )
    said, true = (source.random((2, 20_000)) < [[0.5], [0.1]]).astype(int)
    result = audit(frame, said, true, metrics="true_positive_rate", fail_above=0.5, strict=True)
    assert result.summary.metrics[0].unjudged.uncounted == []
