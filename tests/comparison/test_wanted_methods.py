"""Which methods take part, and for how long each may run."""

from __future__ import annotations

from typing import Any

import pytest

from testsgd.baselines import METHODS, check_time_limit
from testsgd.comparison.testsgd_method import resolve_methods
from testsgd.errors import ParameterError


@pytest.mark.parametrize("given", [None, "all", ("testsgd", *METHODS), ",".join(METHODS)])
def test_all_methods(given: Any) -> None:
    assert resolve_methods(given) == ("testsgd", *METHODS)


@pytest.mark.parametrize("given", ["themis", ["themis"], " themis ,", "themis,themis,testsgd"])
def test_the_audit_always_takes_part(given: Any) -> None:
    assert resolve_methods(given) == ("testsgd", "themis")


def test_the_order_is_that_of_the_reports() -> None:
    assert resolve_methods("individual,divexplorer,themis") == (
        "testsgd",
        "themis",
        "divexplorer",
        "individual",
    )


@pytest.mark.parametrize(("given", "seen"), [("thermos", "thermos"), ("", "no method")])
def test_an_unknown_method_is_named_with_those_known(given: str, seen: str) -> None:
    with pytest.raises(ParameterError, match=seen) as caught:
        resolve_methods(given)

    assert caught.value.where == "methods"
    assert "gerryfair" in caught.value.remedy


@pytest.mark.parametrize("given", [0, -1, True, "600", float("nan"), float("inf")])
def test_a_time_limit_is_a_positive_number(given: Any) -> None:
    with pytest.raises(ParameterError, match="positive number of seconds"):
        check_time_limit(given)


def test_no_limit() -> None:
    assert check_time_limit(None) is None
    assert check_time_limit(2) == 2.0
