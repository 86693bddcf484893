"""Harm that only the conjunction of many features shows is found, or it is said that it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing.report.worse_off import Features, group_in_words
from testsgd.errors import ParameterError
from testsgd.rules import candidate_count, default_depth, mining
from testsgd.rules.axes import CategoryAxis

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0, "fail_above": 0.3}


def features(number: int, rows: int, *, seed: int) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {f"feature{place}": source.choice(["a", "b"], rows) for place in range(number)}
    )


def conjunction(number: int, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """People with the value a in all features are never selected, others half of the time."""
    people = features(number, rows, seed=number)
    hit = (people == "a").all(axis=1).to_numpy()
    return people, ((np.random.default_rng(1).random(rows) < 0.5) & ~hit).astype(int)


def parity(number: int, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Selected is who has the value a an odd number of times; no fewer features show anything."""
    people = features(number, rows, seed=number + 10)
    return people, ((people == "a").sum(axis=1) % 2).to_numpy()


@pytest.mark.parametrize(
    ("people", "said"),
    [conjunction(4, 5000), conjunction(6, 20_000), parity(4, 4800)],
    ids=["conjunction of four", "conjunction of six", "parity of four"],
)
@pytest.mark.parametrize("metrics", [None, "selection_rate"])
def test_deep_harm_is_found(people: pd.DataFrame, said: np.ndarray, metrics: Any) -> None:
    result = testsgd.audit_predictions(said, sensitive_features=people, metrics=metrics, **QUICK)
    assert result.verdict.exit_code == 1
    assert result.summary.parameters.max_features == len(people.columns)


@pytest.mark.parametrize("metrics", [None, "selection_rate"])
def test_a_smaller_depth_is_in_the_verdict(metrics: Any) -> None:
    people, said = conjunction(4, 5000)
    result = testsgd.audit_predictions(
        said, sensitive_features=people, metrics=metrics, max_features=3, **QUICK
    )
    assert result.verdict.exit_code == 0
    gate, *others = result.verdict.sentences
    assert "3 of 4 features" in gate
    assert any("more than 3 features" in sentence for sentence in others)


def axis_of(values: int) -> CategoryAxis:
    names = tuple(f"v{value}" for value in range(values))
    return CategoryAxis("feature", names, tuple(range(values)))


@pytest.mark.parametrize(
    ("sizes", "depth"),
    [
        ((2,), 1),
        ((2, 2), 2),
        ((2, 2, 2, 2), 4),
        ((2,) * 10, 10),
        ((7, 7, 7, 7), 3),
        ((1, 2, 2), 2),
        ((9, 9, 9), 2),
        ((12, 12, 12), 1),
    ],
)
def test_the_default_depth_stays_within_its_budget(sizes: tuple[int, ...], depth: int) -> None:
    axes = [axis_of(size) for size in sizes]
    assert default_depth(axes) == depth
    if depth > 3:
        assert candidate_count(axes, depth) <= 250_000
    if depth > 1:
        assert candidate_count(axes, depth) <= 25_000_000


def test_more_groups_than_there_is_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = many_features(400, seed=2)
    said = np.arange(400) % 2
    monkeypatch.setattr(mining, "_MOST_FREQUENT", 20)
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions(said, sensitive_features=people, max_features=3, **QUICK)
    assert caught.value.details["name"] == "max_features"


def many_features(rows: int, *, seed: int) -> pd.DataFrame:
    """Five features of four values and three of two: four deep there are too many rule sets."""
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {f"feature{place}": source.choice(list("abcd"), rows) for place in range(5)}
        | {f"bit{place}": source.choice(["x", "y"], rows) for place in range(3)}
    )


def test_deep_harm_beyond_the_budget_is_found_by_single_values() -> None:
    people = many_features(15_000, seed=1)
    hit = (people["feature0"] == "a") & (people[["bit0", "bit1", "bit2"]] == "x").all(axis=1)
    said = ((np.random.default_rng(2).random(15_000) < 0.5) & ~hit).astype(int)
    result = testsgd.audit_predictions(said, sensitive_features=people, **QUICK)
    assert result.summary.parameters.depth == 3
    found = result.summary.deeper
    assert found is not None
    assert result.verdict.exit_code == 1
    assert found.text == "feature0 = a and bit0 = x and bit1 = x and bit2 = x"
    assert (found.n_in, found.rate_in) == (hit.sum(), 0.0)
    assert found.rate_out == pytest.approx(said[~hit].mean())
    assert group_in_words(found.rules, Features()) in result.verdict.headline.lower()


@pytest.mark.slow
def test_chance_is_rarely_found_by_looking_deeper() -> None:
    seeds, alarms = 10, 0
    for seed in range(seeds):
        people = many_features(3000, seed=seed)
        said = np.random.default_rng(1000 + seed).integers(0, 2, 3000)
        result = testsgd.audit_predictions(
            said, sensitive_features=people, **{**QUICK, "replicates": 19}
        )
        assert result.summary.deeper is not None
        alarms += result.summary.deeper.lower_confidence_bound > 0
    assert alarms <= binom.ppf(0.999, seeds, 0.005)
