"""The parameters of an audit: the paper's defaults, and every value that makes no sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testsgd.auditing import AuditParameters
from testsgd.errors import ParameterError


def test_the_defaults_are_those_of_the_paper() -> None:
    parameters = AuditParameters()
    # TestSGD, Table 2.
    assert parameters.theta == 0.05
    assert parameters.error_margin == 0.05
    assert parameters.min_samples == 1000
    assert parameters.confidence == 0.95
    assert (parameters.mode, parameters.sampling) == ("auto", "pooled")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("theta", [0, 1, -0.1, 2, float("nan"), float("inf"), None, "0.05", True]),
        ("error_margin", [0, 1, float("nan"), "x"]),
        ("confidence", [0, 1, 95, float("nan"), None]),
        ("overlap", [0, -1, 1.01, float("nan"), None]),
        ("fail_above", [-0.01, 1.01, float("nan"), "0.2"]),
        ("min_samples", [0, -1, 1.5, None, "1000"]),
        ("max_queries", [1, 0, -5, 1e6, "10"]),
        ("max_features", [0, 2.0, None]),
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
        {"fail_above": 0, "bins": 2, "jobs": 1, "seed": 2**70, "max_queries": 2},
        {"fail_above": 1, "bins": 200, "min_samples": 1, "top": 1, "max_features": 100},
        {"theta": np.float64(0.1), "seed": np.int64(3), "bins": np.int32(4)},
        {"bins": None, "jobs": None, "fail_above": None, "max_queries": None},
    ],
)
def test_values_at_the_ends_of_their_range_are_taken(parameters: dict[str, Any]) -> None:
    kept = AuditParameters(**parameters)
    for name, value in parameters.items():
        assert getattr(kept, name) == value
