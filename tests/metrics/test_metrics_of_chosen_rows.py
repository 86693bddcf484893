"""An audit of metrics of some rows is that of these rows alone, and says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from testsgd.errors import ParameterError
from testsgd.metrics import MetricsResult, audit_file_of_model, audit_metrics

EXPRESSION = "27 <= age < 58 and job in {clerk, 'farm hand'}"
METRICS = ["selection_rate", "true_positive_rate"]


def made_up_people(rows: int = 3000) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    people = pd.DataFrame(
        {
            "sex": generator.choice(["f", "m"], rows),
            "age": generator.integers(18, 80, rows),
            "job": generator.choice(["clerk", "farm hand", "judge"], rows),
            "repaid": generator.integers(0, 2, rows),
            "weight": generator.uniform(0.5, 2.0, rows),
        }
    )
    chance = 0.3 + 0.3 * (people.sex == "m") + 0.1 * (people.age > 40)
    return people.assign(granted=(generator.uniform(size=rows) < chance).astype(int))


def by_pandas(people: pd.DataFrame) -> pd.DataFrame:
    chosen = (people.age >= 27) & (people.age < 58) & people.job.isin(["clerk", "farm hand"])
    return people[chosen].reset_index(drop=True)


def numbers(result: MetricsResult) -> list[Any]:
    return [
        (metric.name, group.text, group.counted, group.value, group.reference_value, group.effect)
        for metric in result.summary.metrics
        for group in metric.groups
    ]


def audited(people: pd.DataFrame, **options: Any) -> MetricsResult:
    return audit_metrics(
        people["granted"],
        people["repaid"],
        sensitive_features=people[["sex", "age"]],
        other_features=people[["job"]],
        sample_weight=people["weight"],
        metrics=METRICS,
        **options,
    )


@pytest.mark.parametrize("options", [{}, {"limit": 400}, {"holdout": 0.5}, {"reference": "best"}])
def test_the_same_as_of_the_rows_alone(options: dict[str, Any]) -> None:
    people = made_up_people()
    alone = audited(by_pandas(people), **options)
    result = audited(people, rows=EXPRESSION, **options)
    assert numbers(result) == numbers(alone)
    assert result.summary.data.rows == alone.summary.data.rows
    assert result.summary.parameters.rows == EXPRESSION


def test_headline_and_notes_say_which_rows() -> None:
    people = made_up_people()
    result = audited(people, rows=EXPRESSION)
    assert EXPRESSION in result.verdict.headline
    many = f"{len(by_pandas(people)):,} of {len(people):,}"
    assert any(many in note for note in result.summary.data.notes)
    assert many in result.to_markdown()


def test_a_file_of_predictions_and_a_model(tmp_path: Path) -> None:
    people = made_up_people()
    people.to_csv(tmp_path / "people.csv", index=False)
    by_pandas(people).to_csv(tmp_path / "alone.csv", index=False)
    asked: list[int] = []

    def model(rows: pd.DataFrame) -> Any:
        asked.append(len(rows))
        return np.where(rows["age"] + 10 * (rows["sex"] == "m") > 45, 1, 0)

    def of_file(name: str, **options: Any) -> MetricsResult:
        asked.clear()
        return audit_file_of_model(
            tmp_path / name,
            model=model,
            sensitive_features=["sex", "age"],
            label="repaid",
            weights="weight",
            metrics="selection_rate,true_positive_rate",
            **options,
        )

    alone = of_file("alone.csv")
    result = of_file("people.csv", rows=EXPRESSION)
    assert sum(asked) == len(by_pandas(people)) == result.summary.model.queries
    assert numbers(result) == numbers(alone)
    many = f"{len(by_pandas(people)):,} of {len(people):,}"
    assert sum(many in note for note in result.summary.data.notes) == 1


@pytest.mark.parametrize(
    "rows", ["age > 1000", "agee > 3", "age >", "job < 3", "repaid = 1", "", "(" * 60]
)
def test_rows_that_cannot_be_chosen_are_refused(rows: str) -> None:
    with pytest.raises(ParameterError) as caught:
        audited(made_up_people(300), rows=rows)
    assert str(caught.value).startswith("rows")
