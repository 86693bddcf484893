"""Comments of monitors and shields that an audit wrote say only what holds for its groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.monitoring import monitors_from_audit
from testsgd.shielding import shields_from_audit

ROWS = 3000
WRITERS = [monitors_from_audit, shields_from_audit]
Writer = Callable[..., tuple[str, ...]]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Return people of whom those of one sex are denied more often; some ages are missing."""
    rng = np.random.default_rng(11)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], ROWS),
            "age": rng.integers(18, 80, ROWS).astype(float),
            "years": rng.integers(0, 30, ROWS),
            "coin": rng.choice(["heads", "tails"], ROWS),
        }
    )
    # The coin decides for as many: not the least difference.
    frame["coin"] = np.where(np.arange(ROWS) % 2, "heads", "tails")
    frame["said"] = (np.arange(ROWS) // 2 % 2).astype(int)
    frame.loc[(frame["sex"] == "f") & (np.arange(ROWS) % 3 == 0), "said"] = 0
    frame.loc[np.arange(ROWS) % 20 == 0, "age"] = np.nan
    return frame


def written(people: pd.DataFrame, writer: Writer, group: str, **options: Any) -> list[str]:
    """Return the comments of a specification for a group that was named."""
    audited = testsgd.audit_predictions(
        people["said"],
        sensitive_features=people[["sex", "age", "years", "coin"]],
        groups=[group],
        **options,
    )
    (text,) = writer(audited.to_json())
    return [line for line in text.splitlines() if line.startswith("#")]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_group_that_may_be_chance_is_said_to_be(people: pd.DataFrame, writer: Writer) -> None:
    for group, is_significant in (("sex = f", True), ("coin = heads", False)):
        comments = written(people, writer, group)
        top = comments[: comments.index("#")]
        assert any("not statistically significant" in line for line in top) != is_significant


@pytest.mark.parametrize(
    "options", [{"metrics": "selection_rate"}, {"guarantee": "fdr"}], ids=["metrics", "fdr"]
)
@pytest.mark.parametrize("writer", WRITERS)
def test_so_it_is_by_every_test(
    people: pd.DataFrame, writer: Writer, options: dict[str, Any]
) -> None:
    for feature, is_significant in (("sex", True), ("coin", False)):
        audited = testsgd.audit_predictions(
            people["said"], sensitive_features=people[[feature]], **options
        )
        text = writer(audited.to_json())[0]
        assert ("not statistically significant" in text) != is_significant


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    ("group", "is_said"),
    [
        ("age >= 40", True),
        ("sex = f and age >= 40", True),
        # No number of these years is missing, nobody lacks a value, and no number has a range.
        ("years >= 10", False),
        ("sex = f", False),
        ("age = missing", False),
    ],
)
def test_missing_numbers_are_spoken_of_where_there_are_some(
    people: pd.DataFrame, writer: Writer, group: str, is_said: bool
) -> None:
    comments = written(people, writer, group)
    assert any("number is missing" in line for line in comments) == is_said


@pytest.mark.parametrize("writer", WRITERS)
def test_rows_outside_of_the_audit_are_in_neither(people: pd.DataFrame, writer: Writer) -> None:
    comments = written(people, writer, "sex = f", rows="years >= 10")
    assert any("outside of these rows" in line for line in comments)
    assert not any("number is missing" in line for line in comments)
