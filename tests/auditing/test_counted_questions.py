"""Every row that a model without a description is asked about is counted, and within the budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd import AuditResult
from testsgd.errors import ParameterError

ROWS = 800


def people(rows: int = ROWS) -> pd.DataFrame:
    """Return rows with a column, owner, that might be the decision."""
    source = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], rows),
            "income": source.integers(10, 90, rows),
            "owner": source.choice([0, 1], rows),
        }
    )


def labels(rows: int = ROWS) -> pd.Series[Any]:
    return pd.Series(np.arange(rows) % 2)


def granted(frame: pd.DataFrame) -> pd.Series[Any]:
    """Return 1 for incomes above 50, of men above 40."""
    return (frame["income"] > 50 - 10 * (frame["sex"] == "m")).astype(int)


class Counting:
    """A function of rows that counts them."""

    feature_names_in_: list[str] | None = None

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, frame: pd.DataFrame) -> Any:
        self.asked += len(frame)
        return granted(frame)


class Scoring(Counting):
    """The same with scores."""

    def __call__(self, frame: pd.DataFrame) -> Any:
        return 0.25 + 0.5 * super().__call__(frame)


@pytest.fixture(params=[Counting, Scoring])
def model(request: pytest.FixtureRequest) -> Counting:
    counting: Counting = request.param()
    return counting


def audit(model: Counting, rows: pd.DataFrame, y: Any, **options: Any) -> AuditResult:
    options.setdefault("stability", 0)
    return testsgd.audit(model, rows, y, sensitive_features=["sex"], **options)


@pytest.mark.parametrize("known", [True, False], ids=["labels", "no labels"])
@pytest.mark.parametrize("rows", [ROWS, 1_500])
@pytest.mark.parametrize("queries", [100, 500, 900, 2_000, 2_500, 3_000, None])
def test_all_questions_are_counted_and_within_the_budget(
    model: Counting, queries: int | None, rows: int, known: bool
) -> None:
    data = people(rows)
    y = labels(rows) if known else None
    result = audit(model, data, y, max_queries=queries)
    assert result.summary.model_queries == model.asked
    if queries is None:
        assert result.summary.mode == "exact"
        return
    assert model.asked <= queries
    assert result.summary.parameters.max_queries == queries
    if queries >= rows + min(1_000, rows):
        assert result.summary.overall_rate == granted(data).mean()
        assert result.verdict.status == "reported"
        for group in result.summary.groups:
            members = data["sex"] == group.text[-1]
            rates = granted(data[members]).mean(), granted(data[~members]).mean()
            assert group.difference == pytest.approx(rates[0] - rates[1], abs=1e-12)


@pytest.mark.parametrize("queries", [2, 7, 20])
def test_the_smallest_budgets_are_kept(model: Counting, queries: int) -> None:
    result = audit(model, people(), labels(), max_queries=queries)
    assert result.summary.model_queries == model.asked <= queries


@pytest.mark.parametrize("known", [True, False], ids=["labels", "no labels"])
def test_what_was_asked_first_is_not_asked_again(model: Counting, known: bool) -> None:
    result = audit(model, people(), labels() if known else None)
    first = model.asked
    # A model that names its columns is not asked which of them are its decisions.
    model.feature_names_in_ = list(people().columns)
    model.asked = 0
    named = audit(model, people(), labels())
    assert model.asked == first
    assert named.summary.model.fingerprint == result.summary.model.fingerprint


def test_the_rates_of_a_metric_take_one_question_a_row(model: Counting) -> None:
    result = audit(model, people(), labels(), metric="true_positive_rate", max_queries=ROWS)
    assert result.summary.model_queries == model.asked == ROWS


def test_a_metric_is_refused_where_the_budget_is_too_small_for_the_rows(model: Counting) -> None:
    with pytest.raises(ParameterError, match=r"800 queries, and 799 are allowed.*queries 800"):
        audit(model, people(), labels(), metric="true_positive_rate", max_queries=ROWS - 1)
    assert model.asked < ROWS


@pytest.mark.parametrize("options", [{"limit": 300}, {"rows": "income > 30"}, {"holdout": 0.5}])
@pytest.mark.parametrize("queries", [1_000, 4_000, None])
def test_questions_about_rows_that_are_left_out_count(
    model: Counting, options: dict[str, Any], queries: int | None
) -> None:
    options = {**options, "max_queries": queries}
    result = testsgd.audit(
        model, people(), None, sensitive_features=["sex"], stability=0, **options
    )
    assert result.summary.model_queries == model.asked
    assert queries is None or model.asked <= queries


def test_a_column_of_decisions_is_found_with_a_budget(model: Counting) -> None:
    rows = people()
    rows["owner"] = granted(rows)
    result = audit(model, rows, labels(), max_queries=1_000)
    assert result.summary.model_queries == model.asked <= 1_000
    assert "owner" not in result.findings.table.specification.insensitive
