"""What can be chosen of a certification."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from testsgd.certification.parameters import CertificationParameters
from testsgd.errors import ParameterError


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("time_limit", 0, "0 is not above 0"),
        ("time_limit", float("nan"), "nan is not above 0"),
        ("time_limit", "60", "'60' is not a number"),
        ("undecided", 1.2, "1.2 is not between 0 and 1"),
        ("undecided", float("nan"), "nan is not between 0 and 1"),
        ("fail_above", -0.1, "-0.1 is not between 0 and 1"),
        ("fail_above", True, "True is not a number"),
        ("fail_below", 1.5, "1.5 is not between 0 and 1"),
        ("fail_below", "5%", "'5%' is not a number"),
        ("confidence", 1.0, "1.0 is not between 0 and 1"),
        ("confidence", None, "None is not a number"),
        ("jobs", 0, "0 is not between 1 and 1024"),
        ("jobs", True, "True is not a whole number"),
        ("samples", -1, "-1 is not between 0 and"),
        ("samples", 10.5, "10.5 is not a whole number"),
        ("counterexamples", -1, "-1 is not at least 0"),
        ("regions", -2, "-2 is not at least 0"),
        ("random_state", -1, "-1 is not at least 0"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        CertificationParameters(**{name: value})
    assert caught.value.where == name
    assert caught.value.remedy
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_no_limits_and_no_samples_are_allowed() -> None:
    asked = CertificationParameters(
        time_limit=None, undecided=0, samples=0, counterexamples=0, regions=0
    )
    assert dataclasses.asdict(asked)["time_limit"] is None
