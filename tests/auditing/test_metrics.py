"""Error rates, precision and accuracy of all groups, beside the same from other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.metrics import accuracy_score, precision_score, recall_score

import testsgd
from testsgd.auditing.metrics import METRICS, counted
from testsgd.errors import ParameterError

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0, "min_rows": 10}


def false_positive_rate(truth: Any, decided: Any) -> float:
    return float(recall_score(1 - truth, decided, pos_label=1, zero_division=np.nan))


ORACLES: dict[str, Callable[[Any, Any], float]] = {
    "selection_rate": lambda _, decided: float(np.mean(decided)),
    "true_positive_rate": lambda truth, decided: float(recall_score(truth, decided)),
    "false_positive_rate": lambda truth, decided: float(np.mean(decided[truth == 0])),
    "precision": lambda truth, decided: float(precision_score(truth, decided)),
    "accuracy": lambda truth, decided: float(accuracy_score(truth, decided)),
}


def drawn(seed: int, rows: int = 2000) -> tuple[pd.DataFrame, pd.Series[Any], pd.Series[Any]]:
    """Return people, what is true of them, and what was decided."""
    source = np.random.default_rng(seed)
    people = pd.DataFrame(
        {"sex": source.choice(["f", "m"], rows), "race": source.choice(["A", "B", "C"], rows)}
    )
    truth = pd.Series((source.random(rows) < 0.4 + 0.2 * (people["sex"] == "m")).astype(int))
    wrong = source.random(rows) < 0.1 + 0.2 * (people["race"] == "B")
    return people, truth, pd.Series(np.where(wrong, 1 - truth, truth))


def test_every_metric_has_an_oracle() -> None:
    assert set(METRICS) == set(ORACLES)


@pytest.mark.parametrize("metric", ORACLES)
@pytest.mark.parametrize("seed", [1, 2])
def test_rates_equal_those_of_scikit_learn_in_every_group(metric: str, seed: int) -> None:
    people, truth, decided = drawn(seed)
    result = testsgd.audit_predictions(
        decided, truth, sensitive_features=people, metric=metric, **QUICK
    )
    found = result.groups.set_index("text")
    for sex in "fm":
        for race in "ABC":
            inside = ((people["sex"] == sex) & (people["race"] == race)).to_numpy()
            group = found.loc[f"sex = {sex} and race = {race}"]
            rates = {"rate_in": inside, "rate_out": ~inside}
            for name, rows in rates.items():
                expected = ORACLES[metric](truth[rows].to_numpy(), decided[rows].to_numpy())
                assert group[name] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("metric", ORACLES)
def test_rates_equal_those_of_fairlearn(metric: str) -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    people, truth, decided = drawn(3)
    functions = {
        "selection_rate": fairlearn.selection_rate,
        "true_positive_rate": fairlearn.true_positive_rate,
        "false_positive_rate": fairlearn.false_positive_rate,
        "precision": precision_score,
        "accuracy": accuracy_score,
    }
    frame = fairlearn.MetricFrame(
        metrics=functions[metric], y_true=truth, y_pred=decided, sensitive_features=people["race"]
    )
    result = testsgd.audit_predictions(
        decided, truth, sensitive_features=people[["race"]], metric=metric, **QUICK
    )
    found = result.groups.set_index("text")["rate_in"]
    for race, rate in frame.by_group.items():
        assert found[f"race = {race}"] == pytest.approx(rate, abs=1e-15)


@pytest.mark.parametrize("metric", [name for name in ORACLES if name != "selection_rate"])
def test_a_described_model_is_asked_once_about_each_row(metric: str) -> None:
    demo = testsgd.generate_demo(seed=4, rows=3000)

    def decide(frame: pd.DataFrame) -> Any:
        return np.where(frame["income"] > 45, "yes", "no")

    result = testsgd.audit(decide, demo, "demo", metric=metric, **QUICK)
    truth = (demo["granted"] == "yes").astype(int).to_numpy()
    decided = (demo["income"] > 45).astype(int).to_numpy()
    female = (demo["gender"] == "female").to_numpy()
    group = result.groups.set_index("text").loc["gender = female"]
    assert group["rate_in"] == pytest.approx(ORACLES[metric](truth[female], decided[female]))
    assert result.summary.model_queries == len(demo)
    assert result.summary.parameters.metric == metric


def test_rows_without_a_true_label_do_not_count() -> None:
    people, truth, decided = drawn(5)
    some = truth.astype(float).mask(np.arange(len(truth)) % 3 == 0)
    result = testsgd.audit_predictions(
        decided, some, sensitive_features=people, metric="accuracy", **QUICK
    )
    assert result.summary.data.rows == some.notna().sum()
    assert result.summary.overall_rate == (truth == decided)[some.notna()].mean()


def test_what_is_counted_is_what_the_definitions_say() -> None:
    decisions = np.array([False, False, True, True])
    labels = np.array([False, True, False, True])
    expected = {
        "selection_rate": ([1, 1, 1, 1], [0, 0, 1, 1]),
        "true_positive_rate": ([0, 1, 0, 1], [0, 0, 0, 1]),
        "false_positive_rate": ([1, 0, 1, 0], [0, 0, 1, 0]),
        "precision": ([0, 0, 1, 1], [0, 0, 0, 1]),
        "accuracy": ([1, 1, 1, 1], [1, 0, 0, 1]),
    }
    for metric, (denominator, numerator) in expected.items():
        found = counted(metric, decisions, labels)
        assert found[0].tolist() == [bool(one) for one in denominator]
        # What is not in the denominator does not matter.
        assert (found[1] & found[0]).tolist() == [bool(one) for one in numerator]


def test_intervals_of_a_fair_error_rate_miss_no_more_often_than_promised() -> None:
    """The true-positive rate is the same for all: an interval without 0 is an error."""
    runs, wrong = 60, 0
    for run in range(runs):
        source = np.random.default_rng(1000 + run)
        people = pd.DataFrame({"sex": source.choice(["f", "m"], 600)})
        people["town"] = source.choice(["A", "B", "C"], 600)
        truth = pd.Series(source.random(600) < 0.3 + 0.4 * (people["sex"] == "m")).astype(int)
        decided = pd.Series(
            np.where(truth == 1, source.random(600) < 0.7, source.random(600) < 0.1)
        )
        result = testsgd.audit_predictions(
            decided.astype(int),
            truth,
            sensitive_features=people,
            metric="true_positive_rate",
            stability=0,
            replicates=199,
            min_rows=20,
        )
        wrong += result.summary.guarantee.significant > 0
    assert wrong <= binom.ppf(1 - 1e-4, runs, 0.05)


@pytest.mark.parametrize("metric", [name for name in ORACLES if name != "selection_rate"])
def test_a_metric_without_labels_is_one_line(metric: str) -> None:
    people, _, decided = drawn(1)
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions(decided, sensitive_features=people, metric=metric, **QUICK)
    assert metric in str(caught.value)


def test_metrics_that_cannot_be() -> None:
    people, truth, decided = drawn(1)
    with pytest.raises(ParameterError):
        testsgd.audit_predictions(
            decided, truth, sensitive_features=people, metric="recall", **QUICK
        )
    with pytest.raises(ParameterError):
        testsgd.audit_predictions(
            decided * 0 + np.arange(len(decided)) % 2,
            truth,
            sensitive_features=people,
            metric="true_positive_rate",
            mode="sampled",
        )
    comments = ["An old film.", "A young cast."] * 50
    description = {
        "dataset": {"name": "mine"},
        "text": {},
        "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
    }
    for metric in ("accuracy", "equalized_odds"):
        with pytest.raises(ParameterError, match="texts are compared by selection_rate") as raised:
            testsgd.audit(lambda texts: ["good"] * len(texts), comments, description, metric=metric)
        # No other metric is advised, as texts have none.
        assert "choose" not in str(raised.value)


def test_a_saved_audit_of_a_metric_is_no_basis_for_a_mitigation(tmp_path: Any) -> None:
    demo = testsgd.generate_demo(seed=4, rows=3000)
    result = testsgd.audit(None, demo, "demo", metric="accuracy", **QUICK)
    result.write(tmp_path)
    with pytest.raises(ParameterError):
        testsgd.mitigate(None, demo, "demo", audit=tmp_path / "result.json")
