"""Every number of the summary, computed a second time with pandas from the rows alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing import AuditSummary
from testsgd.data import generate_demo

PEOPLE = generate_demo(rows=3000, seed=6)
AGE_BINS = list(range(0, 101, 10))


def by_debts(frame: pd.DataFrame) -> Any:
    """Scores from debts, race and gender."""
    debts = (frame["debt_ratio"].to_numpy(dtype=float) * 100).round()
    black_women = (frame["race"] == "Black") & (frame["gender"] == "female")
    return np.where(debts + 20 * black_women < 30, 0.9, 0.1)


@pytest.fixture(scope="module")
def summary() -> AuditSummary:
    return testsgd.audit(by_debts, PEOPLE, "demo", estimand="neighbourhood", top=50).summary


@pytest.fixture(scope="module")
def shares() -> pd.Series:
    """Each row's share of favourable neighbours: only debts move anything."""
    total = np.zeros(len(PEOPLE))
    for direction in (-0.01, 0.01):
        debts = (PEOPLE["debt_ratio"] + direction).round(2)
        inside = debts.between(0, 1)
        moved = PEOPLE.assign(debt_ratio=debts.where(inside, PEOPLE["debt_ratio"]))
        total += by_debts(moved) > 0.5
    # Seven features are not sensitive, each moves down and up.
    return pd.Series((total + 12 * (by_debts(PEOPLE) > 0.5)) / 14, index=PEOPLE.index)


def inside(rules: list[Any]) -> pd.Series:
    """Who satisfies the rules of a summary."""
    matching = pd.Series(True, index=PEOPLE.index)
    for rule in rules:
        column = PEOPLE[rule.feature]
        if rule.values is not None:
            matching &= column.isin(rule.values)
        else:
            low = -np.inf if rule.low is None else rule.low
            high = np.inf if rule.high is None else rule.high
            matching &= (column >= low) & (column < high)
    return matching


def test_the_groups(summary: AuditSummary, shares: pd.Series) -> None:
    assert len(summary.groups) >= 50
    for group in summary.groups:
        members = inside(group.rules)
        assert (group.n_in, group.n_out) == (members.sum(), (~members).sum())
        assert group.support == members.mean()
        assert group.rate_in == pytest.approx(shares[members].mean())
        assert group.rate_out == pytest.approx(shares[~members].mean())
        assert group.difference == pytest.approx(group.rate_in - group.rate_out)
        assert group.score == abs(group.difference)
        assert group.text == " and ".join(rule.text for rule in group.rules)
        assert (group.samples_in, group.samples_out) == (14 * group.n_in, 14 * group.n_out)
        assert (group.margin, group.margin_method, group.exact) == (0, "none", True)
        assert group.decided
        assert group.confidence_interval[0] < group.difference < group.confidence_interval[1]


def test_the_other_estimand_of_every_group(summary: AuditSummary) -> None:
    favoured = pd.Series(by_debts(PEOPLE) > 0.5, index=PEOPLE.index)
    for group in summary.groups:
        members, other = inside(group.rules), group.other
        assert other is not None
        assert other.estimand == "observed"
        assert other.rate_in == pytest.approx(favoured[members].mean())
        assert other.rate_out == pytest.approx(favoured[~members].mean())
        assert other.difference == pytest.approx(
            favoured[members].mean() - favoured[~members].mean()
        )
        assert other.decided
        assert other.confidence_interval is not None
        low, high = other.confidence_interval
        assert low < other.difference < high
        assert other.lower_confidence_bound == (0 if low <= 0 <= high else min(abs(low), abs(high)))


def test_the_largest_of_each_estimand(summary: AuditSummary) -> None:
    frame = testsgd.audit(by_debts, PEOPLE, "demo", estimand="neighbourhood").groups
    first, second = summary.estimands
    assert (first.estimand, second.estimand) == ("neighbourhood", "observed")
    assert first.groups == second.groups == len(frame) == summary.counts.groups
    assert first.largest == frame["score"].max()
    assert second.largest == frame["other_difference"].abs().max()
    assert first.largest_bound == frame["lower_confidence_bound"].max()
    sizes = frame[["other_ci_low", "other_ci_high"]].abs().min(axis=1)
    apart = frame["other_ci_low"] * frame["other_ci_high"] > 0
    assert second.largest_bound == sizes.where(apart, 0).max()


def test_the_rules_of_the_first_groups_alone(summary: AuditSummary, shares: pd.Series) -> None:
    explained = [group for group in summary.groups if group.rules_alone]
    assert summary.groups[0] in explained
    for group in explained:
        assert len(group.rules_alone) == len(group.rules) > 1
        for rule, alone in zip(group.rules, group.rules_alone, strict=True):
            members = inside([rule])
            assert alone.text == rule.text
            assert alone.n_in == members.sum()
            assert alone.rate_in == pytest.approx(shares[members].mean())
            assert alone.rate_out == pytest.approx(shares[~members].mean())
            assert alone.difference == pytest.approx(alone.rate_in - alone.rate_out)


def test_the_whole(summary: AuditSummary, shares: pd.Series) -> None:
    assert summary.overall_rate == pytest.approx(shares.mean())
    assert summary.neighbourhood == 14 * len(PEOPLE)
    assert summary.data.rows == len(PEOPLE)
    granted = (PEOPLE["granted"] == "yes").to_numpy()
    assert summary.model.accuracy == pytest.approx(((by_debts(PEOPLE) > 0.5) == granted).mean())
    counts = summary.counts
    # 2 proper subsets of two genders, 14 of four races, 54 runs of ten bins: none or one of each.
    assert counts.candidates == 3 * 15 * 55 - 1
    assert counts.groups == counts.decided <= counts.frequent <= counts.candidates


def binned(feature: str) -> pd.Series:
    if feature != "age":
        return PEOPLE[feature].astype(str)
    return pd.cut(
        PEOPLE["age"],
        AGE_BINS,
        right=False,
        labels=[
            f"{low} to {high if high == AGE_BINS[-1] else high - 1}"
            for low, high in itertools.pairwise(AGE_BINS)
        ],
    ).astype(str)


def test_the_rates_by_feature(summary: AuditSummary, shares: pd.Series) -> None:
    assert [rates.feature for rates in summary.charts.features] == ["gender", "race", "age"]
    for rates in summary.charts.features:
        grouped = shares.groupby(binned(rates.feature))
        means, counts = grouped.mean(), grouped.size()
        assert sum(cell.n for cell in rates.cells) == len(PEOPLE)
        for cell in rates.cells:
            assert cell.n == counts.get(cell.label, 0)
            if cell.n == 0:
                assert cell.rate is None
            else:
                assert cell.rate == pytest.approx(means[cell.label], abs=0.00005)


def test_the_heat_maps(summary: AuditSummary, shares: pd.Series) -> None:
    maps = summary.charts.heat_maps
    assert [(item.row_feature, item.column_feature) for item in maps] == [
        ("gender", "race"),
        ("gender", "age"),
        ("race", "age"),
    ]
    for item in maps:
        grouped = shares.groupby([binned(item.row_feature), binned(item.column_feature)])
        means, counts = grouped.mean(), grouped.size()
        assert sum(map(sum, item.counts)) == len(PEOPLE)
        for row, column in itertools.product(
            range(len(item.row_labels)), range(len(item.column_labels))
        ):
            cell = (item.row_labels[row], item.column_labels[column])
            assert item.counts[row][column] == counts.get(cell, 0)
            rate = item.rates[row][column]
            if cell in means.index:
                assert rate == pytest.approx(means[cell], abs=0.00005)
            else:
                assert rate is None


def test_the_scatter_shows_every_group(summary: AuditSummary) -> None:
    points = summary.charts.scatter
    assert not summary.charts.scatter_binned
    assert len(points) == summary.counts.groups
    for point, group in zip(points, summary.groups[:50], strict=False):
        assert point.support == pytest.approx(group.support, abs=0.00005)
        assert point.score == pytest.approx(group.score, abs=0.00005)


def test_a_crowded_scatter_counts_the_groups_by_cells() -> None:
    result = testsgd.audit(
        by_debts, PEOPLE, "demo", theta=0.01, bins=20, guarantee="per-group", stability=0
    )
    points = result.summary.charts.scatter
    groups = result.groups
    assert len(groups) > 1500
    assert result.summary.charts.scatter_binned
    assert sum(point.n for point in points) == len(groups)
    height = groups["score"].max() / 60
    for point in points:
        near = (groups["support"] - point.support).abs() <= 1 / 120 + 0.0001
        near &= (groups["score"] - point.score).abs() <= height / 2 + 0.0001
        assert near.sum() >= point.n > 0


def test_the_small_groups(summary: AuditSummary) -> None:
    assert summary.undecided
    assert len(summary.undecided) == min(summary.counts.undecided_small, 50)
    for small in summary.undecided:
        members = inside(small.rules)
        assert small.n_in == members.sum() > 0
        assert small.support == pytest.approx(members.mean())
        # By default both sides of a judged group have 50 rows.
        assert min(small.n_in, len(PEOPLE) - small.n_in) < 50
        assert "fewer than 50 rows" in small.reason
