"""The parameters of an audit: the paper's defaults, and every value that makes no sense."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from testsgd.auditing import AuditParameters
from testsgd.errors import ParameterError


def test_the_defaults_of_sampling_are_those_of_the_paper() -> None:
    parameters = AuditParameters()
    # TestSGD, Table 2, but for theta: 50 rows on both sides of a group are asked for instead.
    assert parameters.error_margin == 0.05
    assert parameters.min_samples == 1000
    assert parameters.confidence == 0.95
    assert (parameters.mode, parameters.sampling) == ("auto", "pooled")


def test_people_as_they_are_are_judged_by_default_and_small_groups_too() -> None:
    parameters = AuditParameters()
    assert parameters.estimand == "observed"
    assert (parameters.theta, parameters.min_rows) == (None, None)
    assert (parameters.rank_by, parameters.ranked_by) == ("auto", "lower-bound")
    assert AuditParameters(rank_by="score").ranked_by == "score"


@pytest.mark.parametrize("rows", [1, 2, 49, 50, 99, 100, 101, 1000, 30_000, 10**9])
@pytest.mark.parametrize("hundredths", [None, 1, 5, 7, 14, 28, 29, 55, 57, 58, 99])
@pytest.mark.parametrize("min_rows", [None, 1, 2, 50, 10**6])
def test_the_fewest_rows_are_those_of_the_larger_bound(
    rows: int, hundredths: int | None, min_rows: int | None
) -> None:
    # In whole numbers, because 0.07 * 100 and 0.58 * 100 are no whole numbers in floats.
    shares = [] if hundredths is None else [math.ceil(Fraction(hundredths * rows, 100))]
    given = [] if min_rows is None else [min_rows]
    expected = max([1, *shares, *given]) if shares or given else 50
    theta = None if hundredths is None else hundredths / 100
    assert AuditParameters(theta=theta, min_rows=min_rows).fewest_rows(rows) == expected


def test_a_tiny_share_is_one_row() -> None:
    assert AuditParameters(theta=1e-9).fewest_rows(1000) == 1


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("theta", [0, 1, -0.1, 2, float("nan"), float("inf"), "0.05", True]),
        ("min_rows", [0, -1, 1.5, 50.0, float("nan"), "50", True]),
        ("estimand", ["both", "", None, "Observed"]),
        ("rank_by", ["lower_confidence_bound", "", None]),
        ("max_unjudged", [-0.01, 1.01, float("nan"), "1%", None]),
        ("strict", [None, 1, "yes"]),
        ("error_margin", [0, 1, float("nan"), "x"]),
        ("confidence", [0, 1, 95, float("nan"), None]),
        ("overlap", [0, -1, 1.01, float("nan"), None]),
        ("fail_above", [-0.01, 1.01, float("nan"), "0.2"]),
        ("min_samples", [0, -1, 1.5, None, "1000"]),
        ("max_queries", [1, 0, -5, 1e6, "10"]),
        ("max_features", [0, 2.0]),
        ("bins", [1, 0, 201, 10.0, "10"]),
        ("top", [0, -1, 1.0, None]),
        ("seed", [-1, 0.5, None, "0"]),
        ("jobs", [0, -1, 1.5]),
        ("mode", ["fast", "", None, "Exact"]),
        ("sampling", ["paper", None]),
    ],
)
def test_a_value_out_of_range_is_named(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ParameterError) as raised:
            AuditParameters(**{name: value})
        assert str(raised.value).startswith(f"{name}: ")
        assert raised.value.details["name"] == name
        assert raised.value.remedy


@pytest.mark.parametrize(
    "parameters",
    [
        {"theta": 1e-9, "error_margin": 0.999, "confidence": 0.5, "overlap": 1},
        {"fail_above": 0, "bins": 2, "jobs": 1, "seed": 2**63 - 1, "max_queries": 2},
        {"fail_above": 1, "bins": 200, "min_samples": 1, "top": 1, "max_features": 100},
        {"theta": np.float64(0.1), "seed": np.int64(3), "bins": np.int32(4)},
        {"bins": None, "jobs": None, "fail_above": None, "max_queries": None},
        {"theta": None, "min_rows": None, "max_unjudged": 0, "strict": True},
        {"theta": 1 - 1e-9, "min_rows": 1, "max_unjudged": 1, "strict": False},
        {"min_rows": np.int64(50), "estimand": "neighbourhood", "rank_by": "lower-bound"},
    ],
)
def test_values_at_the_ends_of_their_range_are_taken(parameters: dict[str, Any]) -> None:
    kept = AuditParameters(**parameters)
    for name, value in parameters.items():
        assert getattr(kept, name) == value
