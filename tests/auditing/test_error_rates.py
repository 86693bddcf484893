"""Equal selection rates are no all-clear where the error rates of the groups differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing import AuditParameters, AuditSummary, run_audit
from testsgd.auditing.report.error_rates import error_rate_summaries
from testsgd.auditing.report.summary import ErrorRateSummary
from testsgd.data import DatasetSpecification, check_table
from testsgd.models import LoadedModel, PredictionColumn

QUICK: dict[str, Any] = {"replicates": 99, "stability": 0}
ROWS = 2_000


def equal_selection(*, labels: bool = True, **parameters: Any) -> AuditSummary:
    """Half of each sex is selected: of the men those who qualify, of the women half of these.

    So the true-positive rates are 100% and 50%, the false-positive rates 0% and 50%.
    """
    sex = np.repeat(["m", "f"], ROWS // 2)
    qualified = np.tile([1, 0], ROWS // 2)
    selected = np.where(sex == "m", qualified, np.tile([1, 1, 0, 0], ROWS // 4))
    other = np.random.default_rng(3).choice(["a", "b"], ROWS)
    people = pd.DataFrame({"sex": sex, "other": other})
    truth = qualified if labels else None
    settings = QUICK | parameters
    return testsgd.audit_predictions(selected, truth, sensitive_features=people, **settings).summary


# Given, so that nothing about the columns is inferred two hundred times.
NULL = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "null"},
        "features": {
            "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "race": {"type": "categorical", "values": ["a", "b", "c"], "sensitive": True},
            "age": {"type": "integer", "range": [18, 79], "bins": 4, "sensitive": True},
        },
        "label": {"column": "label", "favourable": "1", "values": ["0", "1"]},
    }
)


def null_world(seed: int) -> list[ErrorRateSummary]:
    """Nothing depends on the groups: neither the labels nor the decisions."""
    generator = np.random.default_rng([seed, 12])
    people = pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], 600),
            "race": generator.choice(["a", "b", "c"], 600, p=[0.6, 0.3, 0.1]),
            "age": generator.integers(18, 80, 600),
        }
    )
    truth = generator.random(600) < 0.4
    selected = generator.random(600) < np.where(truth, 0.8, 0.2)
    rows = people.assign(label=np.where(truth, "1", "0"), said=np.where(selected, "1", "0"))
    table = check_table(rows, NULL, passed=("said",))
    model = LoadedModel(PredictionColumn("said", label=NULL.label, name="said"))
    settings = AuditParameters(seed=seed, jobs=1, **QUICK)
    return error_rate_summaries(run_audit(model, table, settings))


def by_metric(summary: AuditSummary) -> dict[str, ErrorRateSummary]:
    return {item.metric: item for item in summary.error_rates}


def test_equal_selection_with_other_error_rates_is_no_all_clear() -> None:
    summary = equal_selection()
    assert summary.guarantee.significant == 0
    rates = by_metric(summary)
    for name, rate_of_men in (("true_positive_rate", 1.0), ("false_positive_rate", 0.0)):
        first = rates[name].first
        assert first is not None
        assert first.text in ("sex = m", "sex = f")
        assert {first.rate_in, first.rate_out} == {rate_of_men, 0.5}
        assert first.n_in == first.n_out == ROWS // 4
        low, high = first.confidence_interval
        assert low <= first.difference <= high
        assert first.lower_confidence_bound > 0.3
        assert rates[name].significant > 0
        assert first.text in " ".join(summary.verdict.sentences)
    assert "true-positive rate" in summary.verdict.headline
    assert "true-positive rate" not in equal_selection(labels=False).verdict.headline


def test_a_gate_on_selection_rates_says_that_error_rates_are_beyond_its_limit() -> None:
    passed = equal_selection(fail_above=0.2).verdict
    assert passed.status == "gate_passed"
    named = [text for text in passed.sentences if "--metrics" in text]
    assert len(named) == 1
    # No error rate is beyond this limit, so nothing is to be said.
    allowed = equal_selection(fail_above=0.7).verdict
    assert not [text for text in allowed.sentences if "--metrics" in text]


def test_there_are_error_rates_only_of_selection_rates_with_true_labels() -> None:
    assert equal_selection(labels=False).error_rates == []
    assert equal_selection(metric="true_positive_rate").error_rates == []
    every = by_metric(equal_selection())
    assert list(every) == ["true_positive_rate", "false_positive_rate"]
    assert {item.examined for item in every.values()} == {equal_selection().counts.groups}


def test_the_differences_are_those_of_an_audit_of_the_rate_alone() -> None:
    alone = equal_selection(metric="false_positive_rate", confidence=0.975)
    beside = by_metric(equal_selection())["false_positive_rate"].first
    assert beside is not None
    [same] = [group for group in alone.groups if group.text == beside.text]
    assert same.difference == beside.difference
    assert (same.n_in, same.n_out) == (beside.n_in, beside.n_out)
    assert same.confidence_interval == pytest.approx(beside.confidence_interval)


@pytest.mark.parametrize("guarantee", ["per-group", "fdr"])
def test_the_intervals_hold_at_once_by_every_guarantee(guarantee: str) -> None:
    first = by_metric(equal_selection(guarantee=guarantee))["true_positive_rate"].first
    at_once = by_metric(equal_selection())["true_positive_rate"].first
    assert first is not None
    assert at_once is not None
    low, high = first.confidence_interval
    wide_low, wide_high = at_once.confidence_interval
    assert low <= wide_low
    assert high >= wide_high


def test_rows_without_a_label_are_not_counted() -> None:
    sex = np.repeat(["m", "f"], ROWS // 2)
    truth = pd.Series(np.tile([1, 0], ROWS // 2)).astype(object)
    truth.iloc[:400] = None
    people = pd.DataFrame({"sex": sex})
    selected = np.tile([1, 0], ROWS // 2)
    result = testsgd.audit_predictions(selected, truth, sensitive_features=people, **QUICK)
    for rate in result.summary.error_rates:
        assert rate.first is not None
        assert {rate.first.n_in, rate.first.n_out} == {300, 500}


def test_groups_with_few_rows_of_a_label_are_not_judged_by_it() -> None:
    sex = np.repeat(["m", "f"], [900, 100])
    truth = (np.arange(1000) % 10 == 0).astype(int)
    people = pd.DataFrame({"sex": sex})
    summary = testsgd.audit_predictions(truth, truth, sensitive_features=people, **QUICK).summary
    rates = by_metric(summary)
    assert rates["true_positive_rate"].judged == 0
    assert rates["true_positive_rate"].first is None
    assert rates["false_positive_rate"].judged > 0


@pytest.mark.slow
def test_chance_alone_rarely_makes_an_error_rate_significant() -> None:
    seeds = 200
    found = [null_world(seed) for seed in range(seeds)]
    assert all(rate.judged > 5 for rates in found for rate in rates)
    wrong = sum(any(rate.significant for rate in rates) for rates in found)
    assert wrong <= binom.ppf(0.999, seeds, 0.05)
