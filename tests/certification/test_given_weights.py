"""Weights that a domain's file gives: shares are those of the population, by brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import testsgd
from testsgd.certification import find_domain
from testsgd.errors import SpecificationError

MAN = {"integer": [0, 1]}


def _model() -> LogisticRegression:
    model = LogisticRegression().fit([[0, 0, 0], [9, 9, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[1.0, 2.0, 3.0]], [-10.5]
    return model


def _certified(**inputs: dict[str, Any]) -> testsgd.CertificationResult:
    return testsgd.certify(_model(), {"inputs": {**inputs, "man": MAN}}, protected="man", jobs=1)


def test_shares_are_those_of_the_population() -> None:
    generator = np.random.default_rng(0)
    by_value = generator.integers(0, 5, 10)
    bands = [(0, 2, 5.0), (3, 3, 0.0), (4, 9, 2.5)]
    result = _certified(
        skill={"integer": [0, 9], "weights": {str(k): int(w) for k, w in enumerate(by_value)}},
        debts={
            "integer": [0, 9],
            "bands": [{"from": a, "to": b, "weight": weight} for a, b, weight in bands],
        },
    )
    spread = {k: weight / (b - a + 1) for a, b, weight in bands for k in range(a, b + 1)}
    unfair = total = 0.0
    for skill, debts in itertools.product(range(10), repeat=2):
        weight = by_value[skill] * spread[debts]
        total += weight
        unfair += weight * (skill + 2 * debts < 10.5 < skill + 2 * debts + 3)
    assert result.falsified == pytest.approx(unfair / total, abs=1e-12)
    assert result.certified == pytest.approx(1 - unfair / total, abs=1e-12)
    assert result.summary.domain.weight == "given"


def test_a_search_over_weighted_reals_is_of_the_population() -> None:
    bands = [{"from": 0, "to": 5, "weight": 9}, {"from": 5, "to": 20, "weight": 1}]
    model = LogisticRegression().fit([[0, 0], [20, 1]], [0, 1])
    model.coef_[:], model.intercept_[:] = [[1.0, 3.0]], [-5.0]
    ranges = {"inputs": {"skill": {"real": [0, 20], "bands": bands}, "man": MAN}}
    result = testsgd.certify(model, ranges, protected="man", undecided=1e-6, jobs=1)
    # Unfair are skills from 2 to 5: three fifths of the first band.
    assert result.falsified == pytest.approx(0.9 * 3 / 5, abs=1e-5)
    assert result.certified == pytest.approx(1 - 0.9 * 3 / 5, abs=1e-5)


@pytest.mark.parametrize(
    "weights",
    [
        {"weights": {str(k): 0.1 for k in range(10)}},
        {"bands": [{"from": 0, "to": 3, "weight": 4}, {"from": 4, "to": 9, "weight": 6}]},
    ],
)
def test_equal_weights_change_no_bit(weights: dict[str, Any]) -> None:
    plain = _certified(skill={"integer": [0, 9]}, debts={"integer": [0, 9]})
    equal = _certified(skill={"integer": [0, 9], **weights}, debts={"integer": [0, 9]})
    assert equal.summary.proved == plain.summary.proved
    assert equal.summary.domain == plain.summary.domain
    assert equal.summary.regions == plain.summary.regions


def test_categories_are_weighted_by_name_and_protected_inputs_not_at_all() -> None:
    inputs = {
        "race": {"values": ["a", "b", "c"], "weights": {"c": 6, "a": 1, "b": 3}},
        "sex": {"values": ["f", "m"], "weights": {"f": 1, "m": 9}},
    }
    domain = find_domain({"inputs": inputs}, protected="sex")
    assert set(domain.marginals) == {"race"}
    assert domain.marginals["race"].cumulative.tolist() == [0.0, 0.1, 0.4, 1.0]
    assert find_domain(domain) == domain


@pytest.mark.parametrize(
    "item",
    [
        {"integer": [0, 2], "weights": {"0": 1, "1": 1}},
        {"integer": [0, 2], "weights": {"0": 1, "1": 1, "2": 1, "3": 1}},
        {"integer": [0, 2], "weights": {"0": 1, "1": -1, "2": 1}},
        {"integer": [0, 2], "weights": {"0": 0, "1": 0, "2": 0}},
        {"integer": [0, 2], "bands": []},
        {"integer": [0, 2], "bands": [{"from": 0, "to": 1, "weight": 1}]},
        {"integer": [0, 2], "bands": [{"from": 1, "to": 2, "weight": 1}]},
        {
            "integer": [0, 2],
            "bands": [{"from": 0, "to": 1, "weight": 1}, {"from": 1, "to": 2, "weight": 1}],
        },
        {"integer": [0, 2], "bands": [{"from": 0, "to": 2}]},
        {"real": [0, 2], "weights": {"0": 1}},
        {
            "real": [0, 2],
            "bands": [{"from": 0, "to": 0, "weight": 1}, {"from": 0, "to": 2, "weight": 1}],
        },
        {"values": ["a", "b"], "weights": {"a": 1}},
        {"values": ["a", "b"], "bands": [{"from": 0, "to": 1, "weight": 1}]},
    ],
)
def test_weights_that_do_not_fit_are_refused(item: dict[str, Any]) -> None:
    with pytest.raises(SpecificationError) as error:
        find_domain({"inputs": {"x": item, "man": MAN}}, protected="man")
    assert "x" in str(error.value)
