"""What an audit of metrics says beyond differences: what makes them up, held out, found again."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.errors import ParameterError

ROWS = 4000


def world(seed: int = 0) -> dict[str, Any]:
    """People of whom women in town A are rejected wrongly, partly because of hours worked."""
    source = np.random.default_rng(seed)
    people = pd.DataFrame(
        {"sex": source.choice(["f", "m"], ROWS), "town": source.choice(["A", "B", "C"], ROWS)}
    )
    hit = (people["sex"] == "f") & (people["town"] == "A")
    hours = np.where(
        hit, source.choice([20, 40], ROWS, p=[0.7, 0.3]), source.choice([20, 40], ROWS)
    )
    true = source.random(ROWS) < 0.5
    said = source.random(ROWS) < 0.2 + 0.3 * (hours == 40) + 0.2 * true - 0.15 * hit
    return {
        "y_pred": said.astype(int),
        "y_true": true.astype(int),
        "sensitive_features": people,
        "other_features": pd.DataFrame({"hours": hours.astype(str), "noise": source.random(ROWS)}),
    }


def group_of(result: Any, metric: str, text: str) -> Any:
    return next(group for group in result.summary.metric(metric).groups if group.text == text)


def values_of(data: dict[str, Any], metric: str, rows: Any) -> float:
    said, true = data["y_pred"][rows], data["y_true"][rows]
    if metric == "selection_rate":
        return float(said.mean())
    return float(said[true == 1].mean())


@pytest.mark.parametrize("metric", ["selection_rate", "true_positive_rate"])
@pytest.mark.parametrize("reference", ["rest", "overall"])
def test_shapley_values_are_means_over_all_orders(metric: str, reference: str) -> None:
    data = world()
    result = testsgd.audit_metrics(metrics=metric, reference=reference, stability=0, **data)
    group = group_of(result, metric, "sex = f and town = A")
    people = data["sensitive_features"]
    rules = {"sex = f": people["sex"] == "f", "town = A": people["town"] == "A"}

    def difference(chosen: tuple[str, ...]) -> float:
        if not chosen:
            return 0.0
        inside = np.logical_and.reduce([rules[name] for name in chosen])
        others = ~inside if reference == "rest" else np.ones(ROWS, dtype=bool)
        return values_of(data, metric, inside) - values_of(data, metric, others)

    expected = dict.fromkeys(rules, 0.0)
    for order in permutations(rules):
        for place, name in enumerate(order):
            expected[name] += (difference(order[: place + 1]) - difference(order[:place])) / 2
    found = {item.text: item.value for item in group.explanation.shapley_values}
    assert found == pytest.approx(expected, abs=1e-12)
    assert sum(found.values()) == pytest.approx(group.effect, abs=1e-12)


def test_explanations_of_a_selection_rate_are_those_of_an_audit_of_it() -> None:
    """The other audit computes them by other code, from counts."""
    data = world(1)
    options: dict[str, Any] = {
        "guarantee": "per-group",
        "condition_on": "hours",
        "stability": 0,
    }
    metrics = testsgd.audit_metrics(metrics="selection_rate", **options, **data)
    audit = testsgd.audit_predictions(**options, **data)
    compared = 0
    known = {group.text: group.explanation for group in audit.summary.groups}
    for group in metrics.summary.metrics[0].groups:
        expected = known.get(group.text)
        if expected is None or group.explanation is None:
            continue
        compared += 1
        found = group.explanation
        assert found.correlated_features == expected.correlated_features
        assert found.simplest.text == expected.simplest.text
        for one, other in zip(found.shapley_values, expected.shapley_values, strict=True):
            assert one.value == pytest.approx(other.value, abs=1e-12)
        assert found.alike.effect == pytest.approx(expected.conditional.difference, abs=1e-12)
        assert found.alike.confidence_interval == pytest.approx(
            expected.conditional.confidence_interval, abs=1e-9
        )
        assert found.alike.covered == pytest.approx(expected.conditional.covered)
    assert compared


@pytest.mark.parametrize("measure", ["difference", "ratio"])
def test_like_with_like_is_direct_standardisation(measure: str) -> None:
    """Of a weighted true-positive rate, by a loop over the strata."""
    data = world(2)
    weights = np.random.default_rng(3).exponential(size=ROWS)
    result = testsgd.audit_metrics(
        metrics="true_positive_rate",
        condition_on=["hours"],
        measure=measure,
        sample_weight=weights,
        **data,
    )
    group = group_of(result, "true_positive_rate", "sex = f and town = A")
    people, hours = data["sensitive_features"], data["other_features"]["hours"]
    inside = ((people["sex"] == "f") & (people["town"] == "A")).to_numpy()
    counts = (weights * data["y_true"], weights * data["y_true"] * data["y_pred"])
    mine = others = total = 0.0
    for value in hours.unique():
        stratum = (hours == value).to_numpy()
        share = counts[0][stratum & inside].sum()
        total += share
        mine += counts[1][stratum & inside].sum()
        others += share * counts[1][stratum & ~inside].sum() / counts[0][stratum & ~inside].sum()
    alike = group.explanation.alike
    assert alike.value == pytest.approx(mine / total)
    assert alike.reference_value == pytest.approx(others / total)
    effect = (mine - others) / total if measure == "difference" else mine / others
    assert alike.effect == pytest.approx(effect)
    low, high = alike.confidence_interval
    assert low < effect < high
    assert alike.strata == 2


@pytest.mark.parametrize("measure", ["difference", "ratio"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_intervals_of_like_with_like_cover_the_truth(measure: str, kind: str) -> None:
    """Given hours, nobody differs; without them, women do."""
    none = 0.0 if measure == "difference" else 1.0
    missed, runs = 0, 150
    for run in range(runs):
        source = np.random.default_rng(900 + run)
        woman = np.arange(400) % 2 == 0
        hours = source.random(400) < np.where(woman, 0.3, 0.7)
        level = np.where(hours, 0.6, 0.3)
        said = source.random(400) < level if kind == "classes" else source.gamma(9, level)
        result = testsgd.audit_metrics(
            said.astype(int) if kind == "classes" else said,
            sensitive_features={"sex": np.where(woman, "f", "m")},
            other_features={"hours": np.where(hours, "long", "short")},
            metrics="selection_rate" if kind == "classes" else "mean",
            measure=measure,
            condition_on="hours",
            guarantee="per-group",
            stability=0,
        )
        alike = result.summary.metrics[0].groups[0].explanation.alike
        low, high = alike.confidence_interval
        missed += not low <= none <= high
    assert binom.ppf(1e-4, runs, 0.05) <= missed <= binom.ppf(1 - 1e-4, runs, 0.05)


def test_held_out_groups_are_estimated_on_other_rows() -> None:
    data = world(4)
    result = testsgd.audit_metrics(
        metrics=["selection_rate", "true_positive_rate"], holdout=0.5, seed=5, **data
    )
    holdout = result.summary.holdout
    assert holdout is not None
    assert holdout.searched + holdout.estimated == ROWS
    assert result.summary.data.rows == holdout.estimated
    inside = np.zeros(ROWS, dtype=bool)
    inside[np.random.default_rng([5, 6]).permutation(ROWS)[: holdout.estimated]] = True
    people = data["sensitive_features"]
    hit = ((people["sex"] == "f") & (people["town"] == "A")).to_numpy()
    for metric in result.summary.metrics:
        group = group_of(result, metric.name, "sex = f and town = A")
        assert group.value == pytest.approx(values_of(data, metric.name, hit & inside))
        expected = values_of(data, metric.name, hit & ~inside) - values_of(
            data, metric.name, ~hit & ~inside
        )
        assert group.in_search.effect == pytest.approx(expected)
    # Fewer comparisons need less of the error rate.
    everything = testsgd.audit_metrics(
        metrics=["selection_rate", "true_positive_rate"], seed=5, **data
    )
    assert result.summary.metrics[0].error > everything.summary.metrics[0].error


@pytest.mark.parametrize("reference", ["best", "sex = m", "overall"])
def test_held_out_groups_have_the_reference_that_was_found(reference: str) -> None:
    data = world(6)
    result = testsgd.audit_metrics(
        metrics="selection_rate", reference=reference, holdout=0.5, **data
    )
    groups = result.summary.metrics[0].groups
    assert groups
    assert all(group.in_search is not None for group in groups)


def test_a_large_difference_is_found_again() -> None:
    data = world(7)
    people = data["sensitive_features"].assign(
        letter=np.random.default_rng(8).choice(list("abcdefgh"), ROWS)
    )
    hit = (people["sex"] == "f") & (people["town"] == "A")
    data["y_pred"] = np.where(hit, 0, data["y_pred"])
    clear = testsgd.audit_metrics(
        metrics="selection_rate", **{**data, "sensitive_features": people}
    )
    first = clear.summary.metrics[0].groups[0]
    assert clear.summary.stability_samples == 200
    assert first.stability > 0.95
    chance = testsgd.audit_metrics(
        np.random.default_rng(9).integers(0, 2, ROWS),
        sensitive_features=people,
        metrics="selection_rate",
    )
    # Where nothing is significant, there is nothing to be found again.
    assert chance.summary.metrics[0].groups[0].stability is None


@pytest.mark.parametrize("reference", ["rest", "best"])
def test_pairs_may_be_compared_in_each_sample(
    monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    data = world(12)
    options: dict[str, Any] = {"metrics": "selection_rate", "reference": reference}
    together = testsgd.audit_metrics(**options, **data)
    monkeypatch.setattr("testsgd.metrics.stability._MOST_PAIRED", 0)
    alone = testsgd.audit_metrics(**options, **data)
    assert alone.summary.metrics == together.summary.metrics


def members(people: pd.DataFrame, group: Any) -> np.ndarray:
    inside = np.ones(len(people), dtype=bool)
    for rule in group.rules:
        inside &= people[rule.feature].isin(rule.values).to_numpy()
    return inside


def are_near(first: np.ndarray, second: np.ndarray) -> bool:
    def jaccard(one: np.ndarray, other: np.ndarray) -> float:
        return float((one & other).sum() / max(1, (one | other).sum()))

    complements = min(jaccard(~first, second), jaccard(first, ~second))
    return max(jaccard(first, second), complements) >= 0.8


@pytest.mark.parametrize("measure", ["difference", "ratio"])
def test_stability_is_that_of_rows_drawn_anew(measure: str) -> None:
    """Rows drawn with replacement, and the whole audit done again."""
    source, rows, runs = np.random.default_rng(1), 1500, 80
    people = pd.DataFrame(
        {"sex": source.choice(["f", "m"], rows), "town": source.choice(list("ABCD"), rows)}
    )
    lift = 0.25 * ((people["sex"] == "f") & (people["town"] == "A"))
    said = (source.random(rows) < 0.35 + lift + 0.12 * (people["town"] == "B")).astype(int)
    options: dict[str, Any] = {"metrics": "selection_rate", "min_rows": 100, "measure": measure}
    found = testsgd.audit_metrics(said, sensitive_features=people, **options)
    groups = [group for group in found.summary.metrics[0].groups if group.stability is not None]
    wanted, again = [members(people, group) for group in groups], np.zeros(len(groups))
    for _ in range(runs):
        drawn = source.integers(0, rows, rows)
        sample = testsgd.audit_metrics(
            said[drawn],
            sensitive_features=people.iloc[drawn],
            stability=0,
            replicates=99,
            top=1000,
            **options,
        )
        inside: list[np.ndarray] = []
        for group in sample.summary.metrics[0].groups:
            rows_in = members(people, group)
            if len(inside) < 10 and not any(are_near(rows_in, other) for other in inside):
                inside.append(rows_in)
        again += [any(are_near(one, other) for other in inside) for one in wanted]
    shares = [group.stability for group in groups]
    # Some come back in about half of the samples: a share that is always 1 would not pass.
    assert min(shares) < 0.7 < max(shares)
    for share, times in zip(shares, again, strict=True):
        # Both are drawn: 200 samples here, 80 there. The bootstrap of sums is a normal one.
        spread = np.sqrt(0.25 * (1 / 200 + 1 / runs))
        assert times / runs == pytest.approx(share, abs=3 * spread)


def test_what_cannot_be_is_refused_in_one_line() -> None:
    data = world()
    for options in ({"condition_on": "sex"}, {"condition_on": "wealth"}, {"holdout": 0.00001}):
        with pytest.raises(ParameterError):
            testsgd.audit_metrics(metrics="selection_rate", **options, **data)
    counts = pd.DataFrame({"sex": ["f", "m"], "granted": ["no", "yes"], "rows": [500, 500]})
    with pytest.raises(ParameterError):
        testsgd.metrics.audit_counts(
            counts, predictions="granted", sensitive_features=["sex"], holdout=0.5
        )
