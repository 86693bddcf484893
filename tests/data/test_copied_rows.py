"""Copies of rows, and people who are alike by chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.data import copied_rows


def people(rows: int, *, seed: int) -> pd.DataFrame:
    source = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows),
            "race": source.choice(list("abc"), rows),
            "income": source.lognormal(10, 1, rows).round(),
            "hours": source.integers(10, 60, rows),
        }
    )


@pytest.mark.parametrize("times", [2, 5])
def test_copies_are_found(times: int) -> None:
    frame = people(300, seed=1)
    shuffled = pd.concat([frame] * times).sample(frac=1, random_state=0)
    numbers = copied_rows(shuffled)
    assert numbers is not None
    by_hand = shuffled.groupby(list(shuffled.columns), sort=False).ngroup().to_numpy()
    assert numbers.tolist() == by_hand.tolist()


@pytest.mark.parametrize(
    "columns",
    [["sex", "race"], ["sex", "hours"], ["sex", "race", "hours"], ["hours"]],
)
def test_people_who_are_alike_by_chance_are_no_copies(columns: list[str]) -> None:
    assert copied_rows(people(3000, seed=2)[columns]) is None


def with_derived(frame: pd.DataFrame) -> pd.DataFrame:
    """Return people with a wage by the hour, a tax by the wage, a town, and its region."""
    source = np.random.default_rng(7)
    town = source.integers(0, 40, len(frame))
    return frame.drop(columns="income").assign(
        wage=frame["hours"] * 1300,
        tax=(frame["hours"] * 260).round(),
        town=town,
        region=np.array(list("abcd"))[town // 10],
    )


@pytest.mark.parametrize("rows", [300, 4000])
def test_columns_that_follow_from_others_make_no_copies(rows: int) -> None:
    frame = with_derived(people(rows, seed=5)).drop(columns=["race", "town", "region"])
    assert len(frame.drop_duplicates()) < rows
    assert copied_rows(frame) is None
    grades = np.random.default_rng(6).integers(0, 8, (rows, 2))
    paid = frame[["sex"]].assign(
        grade=grades[:, 0], step=grades[:, 1], pay=30_000 + grades @ [4_000, 300]
    )
    assert copied_rows(paid) is None


@pytest.mark.parametrize("times", [2, 5])
def test_copies_are_found_beside_columns_that_follow_from_others(times: int) -> None:
    frame = with_derived(people(400, seed=8)).assign(age=range(400))
    numbers = copied_rows(pd.concat([frame] * times))
    assert numbers is not None
    assert numbers.max() + 1 == len(frame)


def test_a_derived_column_changes_no_interval() -> None:
    source = np.random.default_rng(9)
    frame = people(2000, seed=9)[["sex", "hours"]]
    said = source.random(2000) < np.where(frame["sex"] == "f", 0.3, 0.45)
    found = [
        testsgd.audit_predictions(
            said.astype(int),
            sensitive_features=frame[["sex"]],
            other_features=others,
            replicates=99,
            stability=0,
        )
        for others in (frame[["hours"]], frame[["hours"]].assign(pay=frame["hours"] * 1300))
    ]
    intervals = [result.groups[["ci_low", "ci_high"]].to_numpy() for result in found]
    np.testing.assert_array_equal(*intervals)
    assert found[1].summary.data.independent is None


def test_a_few_copies_do_not_matter() -> None:
    frame = people(3000, seed=3)
    assert copied_rows(pd.concat([frame, frame.iloc[:3]])) is None
    assert copied_rows(frame) is None
    assert copied_rows(frame.iloc[:1]) is None


def audit(frame: pd.DataFrame, said: np.ndarray, **options: Any) -> Any:
    return testsgd.audit_predictions(
        said,
        sensitive_features=frame[["sex", "race"]],
        other_features=frame[["income", "hours"]],
        **{"replicates": 99, "stability": 0, **options},
    )


def test_chance_is_not_significant_for_being_copied() -> None:
    seeds, alarms, alarms_of_each = 25, 0, 0
    for seed in range(seeds):
        frame = pd.concat([people(400, seed=seed)] * 5, ignore_index=True)
        said = np.tile(np.random.default_rng(1000 + seed).integers(0, 2, 400), 5)
        alarms += audit(frame, said).summary.guarantee.significant > 0
        one_by_one = audit(frame, said, equal_rows="each")
        alarms_of_each += one_by_one.summary.guarantee.significant > 0
    assert alarms <= binom.ppf(0.999, seeds, 0.05)
    # Counted one by one, they make chance look certain.
    assert alarms_of_each > seeds / 2


def test_what_counts_as_one_unit_is_said() -> None:
    frame = pd.concat([people(400, seed=1)] * 5, ignore_index=True)
    result = audit(frame, np.tile(np.arange(400) % 2, 5))
    assert result.summary.data.independent == 400
    assert any("400 units" in sentence for sentence in result.verdict.sentences)
    with pytest.raises(testsgd.errors.ParameterError) as caught:
        audit(frame, np.tile(np.arange(400) % 2, 5), within="income")
    assert caught.value.where == "within"
    assert audit(
        frame, np.tile(np.arange(400) % 2, 5), within="income", equal_rows="each"
    ).summary.within
