"""Base rates and intervals of single values, against counts by pandas and statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import testsgd


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = 1200
    people = pd.DataFrame(
        {
            "sex": rng.choice(["Female", "Male"], rows),
            "region": rng.choice(["North", "South", "East"], rows, p=[0.6, 0.3, 0.1]),
        }
    )
    people["approved"] = (rng.random(rows) < 0.3 + 0.2 * (people["sex"] == "Male")).astype(int)
    people["income"] = (rng.random(rows) < 0.4 + 0.1 * (people["region"] == "East")).astype(int)
    return people


@pytest.fixture(scope="module")
def summary(people: pd.DataFrame) -> testsgd.AuditSummary:
    sensitive = people[["sex", "region"]]
    result = testsgd.audit_predictions(
        people["approved"], people["income"], sensitive_features=sensitive, equal_rows="each"
    )
    return result.summary


def test_base_rates_of_groups_are_those_of_the_labels(
    people: pd.DataFrame, summary: testsgd.AuditSummary
) -> None:
    assert summary.groups
    for group in summary.groups:
        inside = np.ones(len(people), dtype=bool)
        for rule in group.rules:
            inside &= people[rule.feature].isin(rule.values or []).to_numpy()
        assert group.base_rate_in == pytest.approx(people["income"][inside].mean())
        assert group.base_rate_out == pytest.approx(people["income"][~inside].mean())


def test_values_have_their_rate_its_interval_and_their_base_rate(
    people: pd.DataFrame, summary: testsgd.AuditSummary
) -> None:
    for feature in summary.charts.features:
        for cell in feature.cells:
            chosen = people[people[feature.feature] == cell.label]
            assert cell.n == len(chosen)
            assert cell.rate == pytest.approx(chosen["approved"].mean(), abs=5e-5)
            assert cell.base_rate == pytest.approx(chosen["income"].mean(), abs=5e-5)
            exact = proportion_confint(chosen["approved"].sum(), len(chosen), 0.05, method="beta")
            assert cell.confidence_interval == pytest.approx(exact, abs=1e-4)


def test_without_labels_there_are_no_base_rates(people: pd.DataFrame) -> None:
    result = testsgd.audit_predictions(
        people["approved"], sensitive_features=people[["sex", "region"]], equal_rows="each"
    )
    assert all(group.base_rate_in is None for group in result.summary.groups)
    cells = [cell for feature in result.summary.charts.features for cell in feature.cells]
    assert all(cell.base_rate is None and cell.confidence_interval for cell in cells)


def test_no_rate_is_shown_of_fewer_than_five_people() -> None:
    regions = ["North"] * 600 + ["South"] * 600 + ["East"] * 4 + ["West"] * 5
    people = pd.DataFrame({"region": regions, "sex": ["Female", "Male", "Male"] * 403})
    selected = np.arange(len(people)) % 2
    summary = testsgd.audit_predictions(
        selected, sensitive_features=people, equal_rows="each"
    ).summary
    cells = {cell.label: cell for feature in summary.charts.features for cell in feature.cells}
    assert cells["East"].n == 4
    assert cells["East"].rate is None
    assert cells["East"].confidence_interval is None
    assert cells["West"].rate == pytest.approx(selected[-5:].mean())
    for heat_map in summary.charts.heat_maps:
        for rates, counts in zip(heat_map.rates, heat_map.counts, strict=True):
            assert all((rate is None) == (n < 5) for rate, n in zip(rates, counts, strict=True))
