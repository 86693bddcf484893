"""Harm within a bin of a number is found in metrics, too, by finer cuts."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.metrics import MetricsResult, audit_rows_elsewhere

ROWS = 8000
HIT = 37
TPR = "true_positive_rate"
QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}


def people(rows: int, *, seed: int) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {"age": source.integers(18, 68, rows), "sex": source.choice(["f", "m"], rows)}
    )


def world(*, seed: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw people of whom exactly one age has a true-positive rate of 0, all others 80%.

    The selection rate is 48% of all ages: 80% of the 60% whose label is favourable, or at that one
    age all of the favourable predictions go to people whose label is not, as far as there are any.
    """
    frame = people(ROWS, seed=seed)
    source = np.random.default_rng(100 + seed)
    hit = (frame["age"] == HIT).to_numpy()
    true = source.random(ROWS) < np.where(hit, 0.52, 0.6)
    said = np.where(hit, ~true, true & (source.random(ROWS) < 0.8))
    return frame, said.astype(int), true.astype(int)


def audit(frame: pd.DataFrame, said: Any, true: Any, **options: Any) -> MetricsResult:
    return testsgd.audit_metrics(said, true, **{"sensitive_features": frame, **QUICK, **options})


def test_metrics_that_count_the_same_rows_keep_their_own_answers() -> None:
    frame, said, true = world(seed=1)
    # Another age is nearly never selected; that one is found by the selection rate.
    other = (frame["age"] == HIT + 8).to_numpy()
    said = np.where(other, 0, said)
    result = audit(frame, said, true, metrics=["selection_rate", "accuracy"])
    right = (said == true).astype(float)
    for name, answers, age in (("selection_rate", said, HIT + 8), ("accuracy", right, HIT)):
        inside = (frame["age"] == age).to_numpy()
        found = result.summary.metric(name).finer
        assert found is not None
        assert found.n_in == inside.sum()
        assert found.rate_in == pytest.approx(answers[inside].mean())
        assert found.rate_out == pytest.approx(answers[~inside].mean())


@pytest.mark.parametrize("metrics", [[TPR], ["selection_rate", TPR, "mean_wrong"]], ids=str)
def test_one_age_is_found(metrics: list[Any]) -> None:
    frame, said, true = world(seed=1)

    def mean_wrong(predicted: Any, labels: Any) -> tuple[Any, Any]:
        return predicted != labels, np.ones(len(labels))

    asked = [mean_wrong if name == "mean_wrong" else name for name in metrics]
    result = audit(frame, said, true, metrics=asked, fail_above=0.3)
    of_metric = result.summary.metric(TPR)
    # The search alone passes: a bin of ages thins it.
    assert of_metric.largest < 0.3
    assert result.exit_code == 1
    inside = ((frame["age"] == HIT) & (true == 1)).to_numpy()
    others = ((frame["age"] != HIT) & (true == 1)).to_numpy()
    found = of_metric.finer
    assert found is not None
    assert (found.n_in, found.rate_in) == (inside.sum(), 0.0)
    assert found.rate_out == pytest.approx(said[others].mean())
    # It is in every view, and in the sentence of the gate.
    assert found.text in result.verdict.headline
    assert "by finer cuts" in result.verdict.sentences[0]
    assert html.escape(found.text) in result.to_markdown()
    assert "finer cuts of age (50 bins)" in result.to_html()
    # The error is shared among the metrics that were looked at.
    looked = len([name for name in metrics if name != "mean_wrong"])
    assert found.confidence == pytest.approx(1 - 0.1 * 0.05 / looked)


def test_rates_of_metrics_that_count_other_rows_are_those_by_hand() -> None:
    frame, said, true = world(seed=4)
    masses = {
        "selection_rate": (said == 1, np.ones(ROWS, dtype=bool)),
        TPR: (said == 1, true == 1),
        "false_positive_rate": (said == 1, true == 0),
        "precision": (true == 1, said == 1),
        "accuracy": (said == true, np.ones(ROWS, dtype=bool)),
    }
    result = audit(frame, said, true, metrics=list(masses))
    for name, (answers, counted) in masses.items():
        found = result.summary.metric(name).finer
        assert found is not None
        inside = counted.copy()
        for rule in found.rules:
            if rule.values is not None:
                inside &= frame[rule.feature].isin(rule.values).to_numpy()
            else:
                age = frame[rule.feature].to_numpy()
                inside &= (age >= (rule.low or 0)) & (age < (rule.high or 1000))
        others = counted & ~inside
        assert found.n_in == inside.sum()
        assert found.rate_in == pytest.approx(answers[inside].mean())
        assert found.rate_out == pytest.approx(answers[others].mean())


def test_equalized_odds_names_it() -> None:
    frame, said, true = world(seed=2)
    [joint] = audit(frame, said, true, metrics="equalized_odds").summary.joint
    # All whose label is not favourable are selected at this age, and none elsewhere.
    assert joint.metric == "false_positive_rate"
    assert joint.effect == pytest.approx(1.0)


def test_chance_is_rarely_found() -> None:
    seeds, alarms = 60, 0
    for seed in range(seeds):
        frame = people(1500, seed=seed)
        source = np.random.default_rng(1000 + seed)
        said, true = source.integers(0, 2, (2, 1500))
        result = audit(
            frame, said, true, metrics=["selection_rate", TPR, "accuracy"], replicates=19
        )
        found = [metric.finer for metric in result.summary.metrics]
        assert all(item is not None for item in found)
        alarms += any(item.lower_confidence_bound > 0 for item in found)
    # All metrics together have a tenth of the error.
    assert alarms <= binom.ppf(0.999, seeds, 0.005)


def test_how_fine_it_looked_is_said() -> None:
    frame = people(3000, seed=3)
    said, true = np.random.default_rng(33).integers(0, 2, (2, 3000))
    result = audit(frame, said, true, metrics=["selection_rate", TPR], fail_above=0.4)
    assert result.exit_code == 0
    assert sum("50 bins" in sentence for sentence in result.verdict.sentences) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"reference": "overall"},
        {"measure": "ratio"},
        {"guarantee": "per-group"},
        {"holdout": 0.5},
        {"sample_weight": np.full(ROWS, 2.0)},
    ],
    ids=lambda options: next(iter(options)),
)
def test_where_it_is_not_possible_that_is_said(options: dict[str, Any]) -> None:
    frame, said, true = world(seed=4)
    result = audit(frame, said, true, metrics=["selection_rate", TPR], **options)
    assert all(metric.finer is None for metric in result.summary.metrics)
    assert "Values within a bin of age were not looked at." in result.verdict.sentences
    assert "were not looked at" in result.to_markdown()


def test_a_metric_that_is_no_share_of_rows_is_named() -> None:
    frame, said, true = world(seed=5)
    scores = np.where(said == 1, 0.75, 0.25)
    result = audit(frame, scores, true, metrics=["selection_rate", "mean_score"])
    text = "Values within a bin of age were not looked at by mean score."
    assert text in result.verdict.sentences


def test_rows_elsewhere() -> None:
    polars = pytest.importorskip("polars")
    frame, said, _ = world(seed=6)
    rows = polars.from_pandas(frame.assign(said=said)).lazy()
    result = audit_rows_elsewhere(
        rows, predictions="said", sensitive_features=["age", "sex"], **QUICK
    )
    assert "Values within a bin of age were not looked at." in result.verdict.sentences


def test_single_values_need_no_second_look() -> None:
    frame, said, true = world(seed=7)
    result = audit(frame[["sex"]], said, true, metrics=TPR)
    assert result.summary.metrics[0].finer is None
    assert not any("within a bin" in sentence for sentence in result.verdict.sentences)


def test_a_metric_that_counts_few_rows_is_named() -> None:
    frame, said, _ = world(seed=8)
    few = np.zeros(ROWS, dtype=int)
    few[:80] = 1
    result = audit(frame, said, few, metrics=["selection_rate", TPR])
    assert result.summary.metric("selection_rate").finer is not None
    text = "Values within a bin of age were not looked at by true positive rate."
    assert text in result.verdict.sentences
