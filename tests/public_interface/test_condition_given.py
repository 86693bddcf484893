"""The features a user wants alike on both sides, however they are listed."""

from __future__ import annotations

from typing import Any

import pytest

from testsgd.auditing.inputs import audit_parameters
from testsgd.data import resolve_specification
from testsgd.errors import ParameterError

TEXTS = {
    "dataset": {"name": "mine"},
    "text": {},
    "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("income,debt_ratio", ("income", "debt_ratio")),
        (" income , debt_ratio,", ("income", "debt_ratio")),
        (["income", "debt_ratio"], ("income", "debt_ratio")),
        (("income", " income"), ("income",)),
        (None, ()),
        ([], ()),
    ],
)
def test_names_are_read(given: Any, read: tuple[str, ...]) -> None:
    specification = resolve_specification("demo")
    assert audit_parameters({"condition_on": given}, specification).condition_on == read
    assert audit_parameters({}, specification).condition_on == ()


@pytest.mark.parametrize("given", [3, ["income", 3], {"income": 1}])
def test_what_is_no_list_of_names_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError, match="no list of features"):
        audit_parameters({"condition_on": given}, resolve_specification("demo"))


@pytest.mark.parametrize("given", ["", " ", ",", [""]])
def test_a_list_without_a_name_is_refused(given: Any) -> None:
    with pytest.raises(ParameterError, match="no feature is named"):
        audit_parameters({"condition_on": given}, resolve_specification("demo"))


def test_texts_have_no_features_to_be_alike_in() -> None:
    with pytest.raises(ParameterError, match="'mine' has texts"):
        audit_parameters({"condition_on": "income"}, resolve_specification(TEXTS))
    assert audit_parameters({"condition_on": None}, resolve_specification(TEXTS)).condition_on == ()
