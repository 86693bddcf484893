"""No audit asks a model about more rows than it may, and each says how many it asked about."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from few_groups import SPECIFICATION, by_income, people

import testsgd
from testsgd.errors import ParameterError

PEOPLE = people(2000)
# Every row, its two neighbours, and a thousand rows on which the model is tried first, twice.
WHOLE = 3 * len(PEOPLE) + 2000


# Few bootstrap samples: they ask the model nothing.
QUICK: dict[str, Any] = {"replicates": 99, "stability": 5}


class Counting:
    """A model that counts the rows it is asked about."""

    def __init__(self) -> None:
        self.rows = 0

    def __call__(self, frame: pd.DataFrame) -> Any:
        assert len(frame) > 0
        self.rows += len(frame)
        return by_income(frame)


def audit(**options: Any) -> tuple[int, testsgd.AuditResult]:
    model = Counting()
    result = testsgd.audit(model, PEOPLE, SPECIFICATION, **QUICK | options)
    assert result.summary.model_queries == model.rows
    return model.rows, result


@pytest.mark.parametrize(
    "budget", [2, 3, 10, 999, 1000, 2000, 2001, 3000, 7000, 7999, 8000, 50_000]
)
@pytest.mark.parametrize("mode", ["auto", "sampled"])
@pytest.mark.parametrize("error_margin", [0.02, 0.1])
def test_the_budget_is_kept(budget: int, mode: str, error_margin: float) -> None:
    asked, result = audit(max_queries=budget, mode=mode, error_margin=error_margin)
    assert asked <= budget
    assert result.summary.mode == ("exact" if mode == "auto" and budget >= WHOLE else "sampled")


@pytest.mark.parametrize("budget", [6 * 2 * 101 + 4000, 20_000])
def test_the_budget_is_kept_by_independent_sampling(budget: int) -> None:
    asked, _ = audit(
        max_queries=budget,
        mode="sampled",
        sampling="independent",
        min_samples=100,
        error_margin=0.05,
    )
    assert asked <= budget


def test_an_exact_audit_asks_about_each_neighbour_once_at_most() -> None:
    asked, result = audit(mode="exact", max_queries=WHOLE)
    assert asked <= WHOLE
    assert result.summary.neighbourhood == 2 * len(PEOPLE)


def test_an_exact_audit_beyond_the_budget_says_what_would_do() -> None:
    with pytest.raises(ParameterError, match=f"--max-queries {WHOLE}") as raised:
        audit(mode="exact", max_queries=WHOLE - 1)
    assert "7,999 are allowed" in str(raised.value)


@pytest.mark.parametrize("budget", [2, 500, 1500])
def test_too_few_queries_leave_every_group_undecided(budget: int) -> None:
    _, result = audit(max_queries=budget, mode="sampled")
    assert result.verdict.status == "not_enough_evidence"
    assert result.verdict.exit_code == 3
    assert not result.groups["decided"].any()
    assert result.summary.counts.decided == 0
    assert result.summary.counts.undecided_frequent == result.summary.counts.groups == 6
    # A group that got no sample is not in the ranking, but it is not forgotten.
    listed = len(result.groups) + len(result.summary.undecided)
    assert listed == 6


def test_many_groups_and_hardly_a_query() -> None:
    # More groups than are sampled one by one, from a pool that the budget keeps tiny.
    result = testsgd.audit(None, None, "demo", mode="sampled", max_queries=2, **QUICK)
    assert result.summary.counts.groups > 200
    assert result.verdict.exit_code == 3
    assert result.summary.model_queries == 2


def test_a_table_smaller_than_the_trial_is_asked_about_once() -> None:
    model = Counting()
    result = testsgd.audit(
        model, PEOPLE.iloc[:50], SPECIFICATION, mode="sampled", theta=0.05, **QUICK
    )
    assert result.summary.model_queries == model.rows
    assert result.verdict.exit_code == 0
