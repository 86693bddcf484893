"""A comparison of methods on some rows is that of these rows alone, and says so."""

from __future__ import annotations

from typing import Any

import made_up_rows
import pandas as pd
import pytest

import testsgd
from testsgd.comparison import ComparisonResult
from testsgd.errors import ParameterError

EXPRESSION = "25 <= age and not income in {0, 1}"


def compared(people: pd.DataFrame, **options: Any) -> ComparisonResult:
    return testsgd.compare(
        made_up_rows.strict_with_young_women,
        people,
        made_up_rows.SPECIFICATION,
        methods="gerryfair",
        **options,
    )


@pytest.mark.parametrize("limit", [None, 150])
def test_the_same_as_of_the_rows_alone(limit: int | None) -> None:
    people = made_up_rows.people()
    alone = people[(people.age >= 25) & ~people.income.isin([0, 1])].reset_index(drop=True)
    wanted = compared(alone, limit=limit)
    result = compared(people, limit=limit, rows=EXPRESSION)
    assert result.summary.data.rows == wanted.summary.data.rows
    assert result.summary.overall_rate == wanted.summary.overall_rate
    for of_rows, of_alone in zip(result.summary.methods, wanted.summary.methods, strict=True):
        assert of_rows.findings == of_alone.findings
    assert result.summary.settings.rows == EXPRESSION
    assert EXPRESSION in result.verdict.headline
    assert f"{len(alone)} of {len(people)}" in result.to_json()


@pytest.mark.parametrize("rows", ["age > 1000", "agee > 3", "age >", "gender < 3"])
def test_rows_that_cannot_be_chosen_are_refused(rows: str) -> None:
    with pytest.raises(ParameterError) as caught:
        compared(made_up_rows.people(), rows=rows)
    assert str(caught.value).startswith("rows")
