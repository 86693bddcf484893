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
