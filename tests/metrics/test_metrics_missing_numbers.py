"""Metrics where a number is missing: an interval is compared with rows whose number is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd

ROWS = 6000
METRICS = ["selection_rate", "true_positive_rate", "accuracy"]


def people(seed: int, rows: int = ROWS) -> pd.DataFrame:
    """Make up people; the age of 15% and the income of 10% is missing."""
    source = np.random.default_rng(seed)
    age = source.integers(18, 90, rows).astype(float)
    age[source.random(rows) < 0.15] = np.nan
    income = source.normal(30, 10, rows).round()
    income[source.random(rows) < 0.1] = np.nan
    return pd.DataFrame({"age": age, "income": income, "sex": source.choice(["f", "m"], rows)})


def decisions(seed: int, frame: pd.DataFrame, rate_of_missing: float) -> tuple[Any, Any]:
    """Give decisions that depend on whether the age is missing, and labels that do not."""
    source = np.random.default_rng(1000 + seed)
    rate = np.where(frame["age"].isna(), rate_of_missing, 0.5)
    return (source.random(len(frame)) < rate).astype(int), source.integers(0, 2, len(frame))


def audit(frame: pd.DataFrame, said: Any, true: Any, **options: Any) -> Any:
    settings: dict[str, Any] = {"metrics": METRICS, "stability": 0, **options}
    return testsgd.audit_metrics(said, true, sensitive_features=frame, **settings)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return people(0)


def value_by_hand(name: str, said: Any, true: Any, rows: Any) -> tuple[int, float]:
    """Count a metric over some rows."""
    counted = rows & (true == 1) if name == "true_positive_rate" else rows
    right = said == (true if name == "accuracy" else 1)
    return int(counted.sum()), float(right[counted].mean())


@pytest.mark.parametrize("reference", ["rest", "overall"])
def test_values_are_those_of_pandas(frame: pd.DataFrame, reference: str) -> None:
    said, true = decisions(0, frame, 0.0)
    found = audit(frame, said, true, reference=reference, replicates=19).findings
    intervals = 0
    for metric in found.metrics:
        for group in metric.ranking[:: max(1, len(metric.ranking) // 150)].tolist():
            rule_set = found.rule_sets.rule_set(group)
            inside = pd.Series(True, index=frame.index)
            known = pd.Series(True, index=frame.index)
            for rule in rule_set.rules:
                if hasattr(rule, "low"):
                    values = frame[rule.feature]
                    low = -np.inf if rule.low is None else rule.low
                    high = np.inf if rule.high is None else rule.high
                    inside &= (values >= low) & (values < high)
                    known &= values.notna()
                    intervals += 1
                elif rule.values == ("missing",):
                    inside &= frame[rule.feature].isna()
                else:
                    inside &= frame[rule.feature].isin(rule.values)
            others = known & ~inside if reference == "rest" else pd.Series(True, index=frame.index)
            compared, name = metric.compared, metric.metric.name
            here = compared.counted[group], compared.value[group]
            assert here == pytest.approx(value_by_hand(name, said, true, inside.to_numpy()))
            there = compared.counted_reference[group], compared.reference[group]
            assert there == pytest.approx(value_by_hand(name, said, true, others.to_numpy()))
    assert intervals > 50


def test_only_what_has_the_missing_number_differs(frame: pd.DataFrame) -> None:
    said, true = decisions(0, frame, 0.0)
    found = audit(frame, said, true, metrics=["selection_rate"], stability=50)
    [metric] = found.findings.metrics
    significant = np.flatnonzero(metric.compared.significant)
    texts = found.findings.rule_sets.texts(significant)
    assert len(texts) > 0
    # An interval of ages alone has no difference.
    alone = [text for text in texts if "age" in text and "age = missing" not in text]
    assert not [text for text in alone if "income" not in text and "sex" not in text]


@pytest.mark.slow
def test_chance_is_rarely_found_with_missing_numbers() -> None:
    worlds = 60
    alarms = 0
    for seed in range(worlds):
        small = people(seed, rows=600)
        said, true = decisions(seed, small, 0.5)
        found = audit(small, said, true, replicates=99).findings
        alarms += any(metric.compared.significant.any() for metric in found.metrics)
    assert alarms <= binom.ppf(0.999, worlds, 0.05)


@pytest.mark.parametrize("reference", ["rest", "overall", "best", "sex = f"])
def test_each_reference_takes_missing_numbers(frame: pd.DataFrame, reference: str) -> None:
    said, true = decisions(0, frame, 0.2)
    result = audit(
        frame, said, true, reference=reference, replicates=99, stability=50, fail_above=0.1
    )
    assert result.verdict.exit_code == 1
    assert result.summary.metrics[0].groups
