"""Metrics of every group beside the same from fairlearn, from scikit-learn and by brute force."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, precision_score, recall_score

import testsgd
from testsgd.metrics.definitions import METRICS

QUICK: dict[str, Any] = {"replicates": 99, "min_rows": 10}
Oracle = Callable[..., float]


def average(values: Any, weights: Any) -> float:
    return float(np.average(values, weights=weights))


ORACLES: dict[str, tuple[str, Oracle]] = {
    "selection_rate": ("classes", lambda truth, said, weights: average(said, weights)),
    "true_positive_rate": (
        "classes",
        lambda truth, said, weights: recall_score(truth, said, sample_weight=weights),
    ),
    "false_positive_rate": (
        "classes",
        lambda truth, said, weights: average(said[truth == 0], weights[truth == 0]),
    ),
    "precision": (
        "classes",
        lambda truth, said, weights: precision_score(truth, said, sample_weight=weights),
    ),
    "accuracy": (
        "classes",
        lambda truth, said, weights: accuracy_score(truth, said, sample_weight=weights),
    ),
    "mean_score": ("scores", lambda truth, said, weights: average(said, weights)),
    "calibration_error": (
        "scores",
        lambda truth, said, weights: average(said, weights) - average(truth, weights),
    ),
    "mean": ("numbers", lambda truth, said, weights: average(said, weights)),
    "mean_error": ("numbers", lambda truth, said, weights: average(said - truth, weights)),
    "mean_absolute_error": (
        "numbers",
        lambda truth, said, weights: average(np.abs(said - truth), weights),
    ),
}


def drawn(seed: int, kind: str, rows: int = 3000) -> tuple[pd.DataFrame, Any, Any, Any]:
    """Return people, what is true of them, what is predicted, and weights."""
    source = np.random.default_rng(seed)
    people = pd.DataFrame(
        {"sex": source.choice(["f", "m"], rows), "race": source.choice(["A", "B", "C"], rows)}
    )
    weights = source.exponential(size=rows)
    if kind == "numbers":
        truth = source.normal(50, 20, rows)
        return people, truth, truth + source.normal(0, 5, rows) * (people["sex"] == "f"), weights
    truth = (source.random(rows) < 0.4 + 0.2 * (people["sex"] == "m")).astype(int)
    wrong = source.random(rows) < 0.1 + 0.2 * (people["race"] == "B")
    decided = np.where(wrong, 1 - truth, truth)
    said = decided if kind == "classes" else 0.2 + 0.5 * decided + 0.3 * source.random(rows)
    return people, truth, said, weights


def masks(people: pd.DataFrame) -> dict[str, Any]:
    """Return which rows are in each group of two single values."""
    return {
        f"sex = {sex} and race = {race}": np.asarray(
            (people["sex"] == sex) & (people["race"] == race)
        )
        for sex, race in itertools.product("fm", "ABC")
    }


def test_every_metric_has_an_oracle() -> None:
    assert set(METRICS) == set(ORACLES)


@pytest.mark.parametrize("metric", ORACLES)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_of_groups_and_references(metric: str, weighted: bool) -> None:
    kind, oracle = ORACLES[metric]
    people, truth, said, weights = drawn(1, kind)
    used = weights if weighted else np.ones(len(people))
    result = testsgd.audit_metrics(
        said,
        truth,
        sensitive_features=people,
        metrics=metric,
        sample_weight=weights if weighted else None,
        **QUICK,
    )
    found = result.groups.set_index("text")
    said = np.asarray(said)
    for text, inside in masks(people).items():
        sides = {"value": inside, "reference_value": ~inside}
        for column, rows in sides.items():
            expected = oracle(truth[rows], said[rows], used[rows])
            assert found.loc[text, column] == pytest.approx(expected, abs=1e-12, rel=1e-12)
    overall = oracle(truth, said, used)
    assert result.summary.metrics[0].overall == pytest.approx(overall, abs=1e-12)


@pytest.mark.parametrize("seed", [2, 3])
def test_values_equal_those_of_fairlearn(seed: int) -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    people, truth, said, weights = drawn(seed, "classes")
    functions = {
        "selection_rate": fairlearn.selection_rate,
        "true_positive_rate": fairlearn.true_positive_rate,
        "false_positive_rate": fairlearn.false_positive_rate,
        "precision": precision_score,
        "accuracy": accuracy_score,
    }
    frame = fairlearn.MetricFrame(
        metrics=functions,
        y_true=truth,
        y_pred=said,
        sensitive_features=people,
        sample_params={name: {"sample_weight": weights} for name in functions},
    )
    result = testsgd.audit_predictions(
        said,
        truth,
        sensitive_features=people,
        metrics=list(functions),
        sample_weight=weights,
        **QUICK,
    )
    assert isinstance(result, testsgd.MetricsResult)
    found = result.groups.set_index(["metric", "text"])["value"]
    for (sex, race), row in frame.by_group.iterrows():
        for name in functions:
            expected = float(row[name])
            assert found[name, f"sex = {sex} and race = {race}"] == pytest.approx(
                expected, abs=1e-12
            )


def test_ratios_equal_those_of_fairlearn() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    people, truth, said, _ = drawn(4, "classes")
    result = testsgd.audit_metrics(
        said, truth, sensitive_features=people[["race"]], rule="four-fifths", **QUICK
    )
    single = result.groups.set_index("text")["effect"].filter(regex="^race = .$")
    expected = fairlearn.demographic_parity_ratio(truth, said, sensitive_features=people["race"])
    # The best group of pairs of values is never better than the best single value.
    assert single.min() == pytest.approx(expected, abs=1e-12)


def test_a_function_of_the_users_is_a_metric() -> None:
    people, truth, said, weights = drawn(5, "classes")

    def recall(predicted: Any, true: Any) -> tuple[Any, Any]:
        return (predicted == 1) & (true == 1), true == 1

    result = testsgd.audit_metrics(
        said,
        truth,
        sensitive_features=people,
        metrics=[recall, "true_positive_rate"],
        sample_weight=weights,
        **QUICK,
    )
    own, known = (
        result.groups[result.groups["metric"] == name].set_index("text")["value"]
        for name in ("recall", "true_positive_rate")
    )
    pd.testing.assert_series_equal(own.sort_index(), known.sort_index(), check_names=False)


def test_rows_without_a_true_label_count_only_where_none_is_needed() -> None:
    people, truth, said, _ = drawn(6, "classes")
    some = pd.Series(truth).astype(float).mask(np.arange(len(truth)) % 3 == 0)
    result = testsgd.audit_metrics(
        said,
        some,
        sensitive_features=people,
        metrics=["selection_rate", "accuracy"],
        **QUICK,
    )
    rate, accuracy = result.summary.metrics
    assert rate.counted == len(truth)
    assert rate.overall == pytest.approx(np.mean(said))
    known = some.notna().to_numpy()
    assert accuracy.counted == known.sum()
    assert accuracy.overall == pytest.approx(np.mean(said[known] == truth[known]))


def test_scores_are_decisions_above_the_threshold() -> None:
    people, truth, said, _ = drawn(7, "scores")
    by_scores = testsgd.audit_metrics(
        said, truth, sensitive_features=people, metrics="accuracy", threshold=0.6, **QUICK
    )
    by_classes = testsgd.audit_metrics(
        (said > 0.6).astype(int), truth, sensitive_features=people, metrics="accuracy", **QUICK
    )
    pd.testing.assert_frame_equal(by_scores.groups, by_classes.groups)


def test_numbers_above_a_threshold_have_a_selection_rate() -> None:
    people, truth, said, _ = drawn(8, "numbers")
    result = testsgd.audit_metrics(
        said, truth, sensitive_features=people, metrics="selection_rate", threshold=50, **QUICK
    )
    assert result.summary.metrics[0].overall == np.mean(np.asarray(said) > 50)


def test_weights_that_repeat_rows_give_the_values_of_repeated_rows() -> None:
    people, truth, said, _ = drawn(9, "classes", rows=1000)
    times = np.random.default_rng(9).integers(1, 4, len(people))
    weighted = testsgd.audit_metrics(
        said,
        truth,
        sensitive_features=people,
        metrics="precision",
        sample_weight=times,
        **QUICK,
    )
    repeated = np.repeat(np.arange(len(people)), times)
    whole = testsgd.audit_metrics(
        said[repeated],
        truth[repeated],
        sensitive_features=people.iloc[repeated],
        metrics="precision",
        **QUICK,
    )
    values = [
        result.groups.set_index("text")["value"].loc[list(masks(people))]
        for result in (weighted, whole)
    ]
    np.testing.assert_allclose(*values, atol=1e-12)


def test_equalized_odds_is_the_larger_of_both() -> None:
    people, truth, said, _ = drawn(10, "classes")
    result = testsgd.audit_metrics(
        said, truth, sensitive_features=people, metrics="equalized_odds", **QUICK
    )
    [joint] = result.summary.joint
    bounds = [metric.largest_bound for metric in result.summary.metrics]
    assert joint.lower_confidence_bound == max(bound or 0.0 for bound in bounds)
    assert set(joint.metrics) == {"true_positive_rate", "false_positive_rate"}


@pytest.mark.parametrize("errors", [(-0.2, 0.05), (0.05, -0.2), (0.3, 0.1), (-0.1, -0.3)])
@pytest.mark.parametrize("metric", ["calibration_error", "mean_error"])
def test_the_side_whose_error_is_farther_from_zero_is_named_first(
    metric: str, errors: tuple[float, float]
) -> None:
    town = np.repeat(["a", "b", "c"], 400)
    truth = np.tile([0, 1], 600)
    # The third town's people are far apart, but right on average.
    noise = np.where(town == "c", np.tile([0.4, 0.4, -0.4, -0.4], 300), 0.0)
    said = 0.5 + np.where(town == "a", errors[0], np.where(town == "b", errors[1], noise))
    if metric == "mean_error":
        truth = truth * 1.0 + 10
        said = said + 10
    audited = testsgd.audit_predictions(
        said,
        truth,
        sensitive_features=pd.DataFrame({"town": town}),
        metrics=[metric],
        reference="best",
        **QUICK,
    )
    groups = {group.text: group for group in audited.summary.metrics[0].groups}
    # Of single towns the third one is the best.
    assert groups["town = a"].reference_value == pytest.approx(0, abs=1e-12)
    two = town != "c"
    audited = testsgd.audit_predictions(
        said[two],
        truth[two],
        sensitive_features=pd.DataFrame({"town": town[two]}),
        metrics=[metric],
        **QUICK,
    )
    headline = audited.verdict.headline
    worse = "ab"[int(np.abs(errors).argmax())]
    other = "ab".replace(worse, "")
    assert headline.index(f"town {worse}") < headline.index(f"town {other}")
    assert ("too low" in headline) == (min(errors) < 0)
    assert ("too high" in headline) == (max(errors) > 0)


@pytest.mark.parametrize("metric", ["true_positive_rate", "precision"])
def test_a_finding_names_no_value_of_which_the_metric_counts_no_row(metric: str) -> None:
    source = np.random.default_rng(2)
    group = source.choice(list("abcd"), 2000)
    true, said = source.integers(0, 2, (2, 2000))
    # Of a the metric is 0, and of b it counts no row.
    said[group == "a"] = 0
    true[group == "b"] = 0
    if metric == "precision":
        said, true = true, said
    result = testsgd.audit_metrics(
        said, true, sensitive_features={"group": group}, metrics=metric, stability=0, replicates=99
    )
    assert result.summary.metrics[0].groups[0].text == "group = a"
