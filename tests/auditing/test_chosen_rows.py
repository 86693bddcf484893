"""An audit of some rows is the audit of these rows alone, and says so."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import testsgd
from testsgd.errors import ParameterError


def numbers(result: testsgd.AuditResult) -> list[Any]:
    return [
        (group.text, group.n_in, group.rate_in, group.rate_out) for group in result.summary.groups
    ]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return testsgd.generate_demo(seed=0)


def decisions(frame: pd.DataFrame) -> list[int]:
    return [
        int(income > 45 + 5 * (age > 40))
        for income, age in zip(frame.income, frame.age, strict=True)
    ]


def test_the_rows_alone_give_the_same(people: pd.DataFrame) -> None:
    chosen = people[(people.age >= 30) & (people.gender == "female")].reset_index(drop=True)
    wanted = testsgd.audit_predictions(decisions(chosen), sensitive_features=chosen[["age"]])
    result = testsgd.audit_predictions(
        decisions(people),
        sensitive_features=people[["age"]],
        other_features=people[["gender"]],
        rows="age >= 30 and gender = female",
    )
    assert result.summary.data.rows == len(chosen) == wanted.summary.data.rows
    assert result.summary.overall_rate == wanted.summary.overall_rate
    assert numbers(result) == numbers(wanted)
    assert "age >= 30 and gender = female" in result.verdict.headline
    assert f"{len(chosen):,} of {len(people):,}" in result.to_markdown()


def test_truth_and_sample_are_of_the_chosen_rows(people: pd.DataFrame) -> None:
    chosen = people[people.gender == "male"].reset_index(drop=True)
    wanted, result = (
        testsgd.audit_predictions(
            decisions(frame),
            (frame.race == "White").astype(int),
            sensitive_features=frame[["age"]],
            other_features=frame[["gender", "income"]],
            metric="true_positive_rate",
            limit=1500,
            **options,
        )
        for frame, options in ((chosen, {}), (people, {"rows": "gender = male"}))
    )
    assert result.summary.data.rows == wanted.summary.data.rows
    assert numbers(result) == numbers(wanted)


def test_rows_for_a_model_without_a_description(people: pd.DataFrame) -> None:
    result = testsgd.audit(
        lambda frame: frame["income"] > 45,
        people[["income", "age", "gender"]],
        sensitive_features=["age"],
        rows="gender = female",
    )
    assert result.summary.data.rows == (people.gender == "female").sum()


def test_a_described_table_is_restricted_before_a_sample_is_drawn() -> None:
    result = testsgd.audit(None, None, "demo", rows="gender = female", limit=200)
    assert result.summary.data.rows == 200
    whole = testsgd.audit(None, None, "demo", rows="gender = female")
    assert result.summary.data.sampled_from == whole.summary.data.rows
    assert all("gender" not in text for text in whole.groups["text"])


@pytest.mark.parametrize(
    "rows",
    ["age > 1000", "agee > 3", "age >", "gender < 3", "(" * 60, "a = 1 or " * 2000, "", "age", 5],
)
def test_rows_that_cannot_be_chosen_are_refused(rows: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(None, None, "demo", rows=rows)
    assert str(caught.value).startswith("rows")
    assert len(str(caught.value)) < 500


def test_what_needs_all_rows_says_so() -> None:
    with pytest.raises(ParameterError, match="rows"):
        testsgd.mitigate(None, None, "demo", rows="age > 30")


def test_rows_that_are_alike_in_a_feature_cannot_be_compared_by_it(people: pd.DataFrame) -> None:
    with pytest.raises(ParameterError) as caught:
        testsgd.audit_predictions(
            decisions(people), sensitive_features=people[["gender", "race"]], rows="gender = female"
        )
    assert caught.value.details["feature"] == "gender"
