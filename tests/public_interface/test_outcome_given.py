"""What a label is for a person, said in a call: it decides which side is named first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ParameterError

PEOPLE = pd.DataFrame({"sex": ["female", "male"] * 400})
# 63 of 100 women are denied, and 31 of 100 men.
DENIED = (np.arange(800) // 2 % 100 < np.where(PEOPLE["sex"] == "female", 63, 31)).astype(int)
QUICK: dict[str, Any] = {"replicates": 19, "stability": 0}


def _described(**label: str) -> dict[str, Any]:
    return {
        "dataset": {"name": "people"},
        "label": {"column": "denied", "favourable": "1", "values": ["0", "1"], **label},
        "features": {
            "sex": {"type": "categorical", "values": ["female", "male"], "sensitive": True}
        },
    }


def _deny_women(frame: pd.DataFrame) -> list[int]:
    return [int(sex == "female") for sex in frame["sex"]]


@pytest.mark.parametrize(("outcome", "first"), [("benefit", "men "), ("harm", "women ")])
def test_predictions_and_models_without_a_description(outcome: str, first: str) -> None:
    results = [
        testsgd.audit_predictions(DENIED, sensitive_features=PEOPLE, outcome=outcome, **QUICK),
        testsgd.audit(_deny_women, PEOPLE, sensitive_features=["sex"], outcome=outcome, **QUICK),
    ]
    for result in results:
        assert result.verdict.headline.lower().startswith(first)
        label = result.summary.data.label
        assert (label.outcome, label.outcome_given) == (outcome, True)


@pytest.mark.parametrize(
    ("described", "said", "first", "given"),
    [
        ({}, None, "men ", False),
        ({"outcome": "harm"}, None, "women ", True),
        ({"outcome": "harm"}, "benefit", "men ", True),
        ({}, "harm", "women ", True),
    ],
)
def test_what_is_said_takes_the_place_of_the_descriptions(
    described: dict[str, str], said: str | None, first: str, given: bool
) -> None:
    result = testsgd.audit(_deny_women, PEOPLE, _described(**described), outcome=said, **QUICK)
    assert result.verdict.headline.lower().startswith(first)
    assert result.summary.data.label.outcome_given is given
    # A description's default is documented, and no report asks about it.
    assert "--outcome" not in result.to_markdown()


def test_what_is_no_outcome_is_refused() -> None:
    for refused in (
        lambda: testsgd.audit(_deny_women, PEOPLE, _described(), outcome="bad"),
        lambda: testsgd.audit(_deny_women, PEOPLE, sensitive_features=["sex"], outcome="bad"),
        lambda: testsgd.audit_predictions(DENIED, sensitive_features=PEOPLE, outcome="bad"),
    ):
        with pytest.raises(ParameterError, match="outcome") as raised:
            refused()
        assert "\n" not in str(raised.value)


def test_audits_of_metrics_name_the_same_side() -> None:
    of_one_rate = testsgd.audit_predictions(DENIED, sensitive_features=PEOPLE, outcome="harm")
    of_metrics = testsgd.audit_predictions(
        DENIED, sensitive_features=PEOPLE, metrics="selection_rate", outcome="harm"
    )
    first = [result.verdict.headline.split()[0] for result in (of_one_rate, of_metrics)]
    assert first[0] == first[1]
