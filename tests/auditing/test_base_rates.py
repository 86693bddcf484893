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


def _written(rate: float) -> str:
    return f"{100 * rate:.1f}%"


@pytest.mark.parametrize("outcome", ["benefit", "harm"])
@pytest.mark.parametrize(
    "label", ["yes", "is granted what was asked for in the first instance " * 3]
)
def test_base_rates_stand_in_the_headline_or_right_behind_it(
    people: pd.DataFrame, outcome: str, label: str
) -> None:
    """Whether the clause is short or long, and whichever side it begins with."""
    named = {0: "no", 1: label.strip()}
    result = testsgd.audit_predictions(
        people["approved"].map(named),
        people["income"].map(named),
        sensitive_features=people[["sex", "region"]],
        favourable=named[1],
        groups=["sex = Female"],
        outcome=outcome,
        equal_rows="each",
    )
    women = people["sex"] == "Female"
    rates = [people["income"][women].mean(), people["income"][~women].mean()]
    first, second = map(_written, rates if outcome == "benefit" else rates[::-1])
    said = [result.verdict.headline, result.verdict.sentences[0]]
    [where] = [place for place, text in enumerate(said) if f"{first} against {second}" in text]
    assert where == (len(label) > 100)


def test_a_headline_about_chance_has_base_rates_behind_it(people: pd.DataFrame) -> None:
    coin = pd.Series(np.arange(len(people)) % 2)
    result = testsgd.audit_predictions(
        coin, people["income"], sensitive_features=people[["sex"]], equal_rows="each"
    )
    top = result.summary.groups[0]
    assert not result.summary.guarantee.significant
    inside, outside = (_written(rate) for rate in (top.base_rate_in, top.base_rate_out))
    assert f"{inside} against {outside}" in result.verdict.sentences[0]


def test_a_headline_of_finer_cuts_has_base_rates() -> None:
    rng = np.random.default_rng(9)
    age = pd.Series(rng.integers(18, 80, 8000), name="age")
    hit = age == 50
    said = (rng.random(8000) < 0.6) & ~hit
    labels = (rng.random(8000) < 0.5).astype(int)
    result = testsgd.audit_predictions(
        said.astype(int), labels, sensitive_features=age, min_rows=30, equal_rows="each"
    )
    finer = result.summary.finer
    inside = np.ones(8000, dtype=bool)
    for rule in finer.rules:
        inside &= (age >= (rule.low or 0)).to_numpy() & (age < (rule.high or 999)).to_numpy()
    assert inside.sum() == finer.n_in
    assert _written(finer.rate_out) in result.verdict.headline
    base = f"{_written(labels[inside].mean())} against {_written(labels[~inside].mean())}"
    assert base in f"{result.verdict.headline} {result.verdict.sentences[0]}"
