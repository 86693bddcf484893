"""What a summary says besides its groups: the data, the model, and what is not known."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd import AuditResult
from testsgd.data import generate_demo, load_specification, table_fingerprint
from testsgd.data.table import check_table
from testsgd.models import load_model

PEOPLE = generate_demo(rows=1000, seed=2)


def audit(model: Any, people: pd.DataFrame = PEOPLE, **options: Any) -> AuditResult:
    """Audit with few bootstrap samples, of which nothing here depends."""
    return testsgd.audit(model, people, "demo", replicates=99, stability=5, **options)


def rich(frame: pd.DataFrame) -> list[str]:
    return ["yes" if income > 40 else "no" for income in frame["income"]]


def test_the_data_are_described() -> None:
    people = PEOPLE.assign(age=PEOPLE["age"].where(PEOPLE.index >= 30))
    data = audit(None, people).summary.data
    specification = load_specification("demo")
    assert (data.name, data.title) == ("demo", specification.dataset.title)
    assert data.fingerprint == table_fingerprint(check_table(people, specification))
    assert [feature.name for feature in data.features] == list(specification.features)
    missing = {feature.name: feature.missing for feature in data.features}
    assert missing.pop("age") == 30
    assert set(missing.values()) == {0}
    assert [feature.name for feature in data.features if feature.sensitive] == [
        "gender",
        "race",
        "age",
    ]
    assert data.label.favourable == "yes"


def test_the_network_is_described() -> None:
    model = audit(None).summary.model
    loaded = load_model(None, load_specification("demo"))
    assert (model.name, model.output, model.threshold) == ("demo", "scores", 0.5)
    assert model.file_sha256 == loaded.file_sha256
    assert model.card["rows for training"] == "16000"
    assert len(model.fingerprint) == 64


def test_a_function_is_described_and_recognised_by_its_decisions() -> None:
    one = audit(rich).summary.model
    assert (one.name, one.kind, one.output) == ("rich", "function", "labels")
    assert (one.threshold, one.file_sha256, one.card) == (None, None, {})
    same = audit(lambda frame: (frame["income"] > 40) * 1.0).summary.model
    assert (same.output, same.threshold) == ("scores", 0.5)
    assert same.fingerprint == one.fingerprint
    other = audit(lambda frame: ["no"] * len(frame)).summary.model
    assert other.fingerprint != one.fingerprint


def test_the_versions_are_the_installed_ones() -> None:
    versions = audit(rich).summary.versions
    assert versions["testsgd"] == testsgd.__version__
    for package in ("numpy", "pandas", "scikit-learn"):
        assert versions[package] == version(package)


def test_the_top_is_as_long_as_asked_for_and_holds_all_distinct_groups() -> None:
    result = audit(None, top=3)
    ranks = [group.rank for group in result.summary.groups]
    assert ranks[:3] == [1, 2, 3]
    assert ranks == sorted(ranks)
    distinct = [group.text for group in result.summary.groups if group.distinct]
    assert distinct == result.distinct["text"].tolist()
    assert len(result.summary.undecided) <= 3


@pytest.mark.parametrize("overlap", [0.3, 0.8, 1])
def test_near_duplicates_of_the_rules_share_rows_with_them(overlap: float) -> None:
    summary = audit(None, overlap=overlap, top=5000).summary
    assert summary.rules
    members = {group.text: set(inside(group)) for group in summary.groups}
    assert len(members) == summary.counts.groups
    everybody = set(PEOPLE.index)
    for rule in summary.rules:
        [described] = [group for group in summary.groups if group.rank == rule.rank]
        assert described.text == rule.text
        rows = members[rule.text]
        near = [
            text
            for text, other in members.items()
            if text != rule.text
            and max(
                jaccard(rows, other),
                # Described by everybody else: both sides must be nearly the same.
                min(jaccard(everybody - rows, other), jaccard(rows, everybody - other)),
            )
            >= overlap
        ]
        assert rule.near_duplicates == len(near)
        assert rule.examples == near[:3]
    assert len({rule.rank for rule in summary.rules}) == len(summary.rules)


def test_what_the_rules_add_is_the_variation_of_rates_that_they_explain() -> None:
    result = audit(None, top=5000)
    summary, findings = result.summary, result.findings
    assert findings is not None
    answers = (findings.model.model.scores(PEOPLE) > 0.5).astype(float)
    # The rates of the cells of sensitive values, in place of every person's answer.
    age = pd.cut(PEOPLE["age"], range(0, 101, 10), right=False)
    cells = PEOPLE.assign(age=age).groupby(["gender", "race", "age"], observed=True)
    rates = pd.Series(answers, index=PEOPLE.index).groupby(cells.ngroup()).transform("mean")
    texts = {group.text: group for group in summary.groups}
    design = [np.ones(len(PEOPLE))]
    before = rates.var()
    total = before
    for rule in summary.rules:
        design.append(PEOPLE.index.isin(inside(texts[rule.text])).astype(float))
        matrix = np.array(design).T
        fitted = matrix @ np.linalg.lstsq(matrix, rates.to_numpy(), rcond=None)[0]
        left = (rates - fitted).var()
        assert rule.share == pytest.approx((before - left) / total, abs=1e-6)
        before = left
    assert summary.rules


def jaccard(one: set[Any], other: set[Any]) -> float:
    return len(one & other) / len(one | other)


def inside(group: Any) -> list[int]:
    matching = pd.Series(True, index=PEOPLE.index)
    for rule in group.rules:
        column = PEOPLE[rule.feature]
        if rule.values is not None:
            matching &= column.isin(rule.values)
        if rule.low is not None:
            matching &= column >= rule.low
        if rule.high is not None:
            matching &= column < rule.high
    return matching[matching].index.tolist()


SAMPLED: dict[str, Any] = {
    "estimand": "neighbourhood",
    "mode": "sampled",
    "min_samples": 60,
    "error_margin": 0.3,
    "theta": 0.4,
}


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_sampled_groups_carry_their_margin(sampling: str) -> None:
    summary = audit(None, sampling=sampling, **SAMPLED).summary
    assert (summary.mode, summary.sampling) == ("sampled", sampling)
    # The observed rates are not sampled, so the model was asked about every row.
    assert summary.model.accuracy == audit(None).summary.model.accuracy
    for group in summary.groups:
        assert not group.exact
        assert 0 < group.margin <= 0.3
        assert group.margin_method in (
            ("wald", "wilson") if sampling == "independent" else ("anytime",)
        )
        assert min(group.samples_in, group.samples_out) > 60
        # The population's interval answers for the rows as well, so it holds the estimate.
        assert group.confidence_interval[0] <= group.difference <= group.confidence_interval[1]


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_observed_rates_are_never_sampled(sampling: str) -> None:
    chosen = SAMPLED | {"estimand": "observed"}
    groups = audit(None, sampling=sampling, **chosen).groups.set_index("text")
    exact = audit(None, theta=0.4).groups.set_index("text").loc[groups.index]
    assert groups["exact"].all()
    for name in ("rate_in", "rate_out", "difference"):
        assert groups[name].tolist() == exact[name].tolist()


def test_independent_sampling_says_nothing_of_rules_alone() -> None:
    # Its samples belong to one group each; a rate of 0 in place of an unknown one would be false.
    summary = audit(None, sampling="independent", **SAMPLED).summary
    assert any(len(group.rules) > 1 for group in summary.groups)
    assert all(group.rules_alone == [] for group in summary.groups)
    assert all(cell.rate is None for rates in summary.charts.features for cell in rates.cells)
    # Still the overall rate is known from any group's two sides.
    exact = audit(None, theta=0.4, estimand="neighbourhood").summary
    assert summary.overall_rate == pytest.approx(exact.overall_rate, abs=0.2)


def test_groups_without_a_sample_are_listed_as_unknown() -> None:
    summary = audit(None, mode="sampled", max_queries=4).summary
    unknown = [group for group in summary.undecided if group.reason == "no samples"]
    assert unknown
    assert summary.counts.undecided_frequent == summary.counts.groups
