"""How much a model is asked about at once: never more than allowed, and no result depends on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.errors import ParameterError


def people(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "income": rng.integers(0, 1000, rows),
            "debt": rng.integers(0, 50, rows),
        }
    )


def audited(largest: list[int], **options: Any) -> testsgd.AuditResult:
    def grant(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
        largest.append(len(frame))
        return np.where(frame["income"] > 400 + 200 * (frame["sex"] == "f"), "yes", "no")

    return testsgd.audit(
        grant, people(), sensitive_features=["sex"], favourable="yes", jobs=1, **options
    )


@pytest.mark.parametrize("estimand", ["observed", "neighbourhood"])
def test_batches_are_as_small_as_asked_for_and_change_nothing(estimand: str) -> None:
    whole: list[int] = []
    parts: list[int] = []
    expected = audited(whole, estimand=estimand).summary
    found = audited(parts, estimand=estimand, batch_size=37).summary
    assert max(whole) > 37
    assert max(parts) == 37
    assert sum(parts) == sum(whole)
    assert found.groups == expected.groups
    assert found.model == expected.model


def test_texts_are_asked_in_batches_too() -> None:
    largest: list[int] = []

    def grumpy(texts: list[str]) -> list[str]:
        largest.append(len(texts))
        return ["bad" if "old" in text.split() else "good" for text in texts]

    reviews = ["An old film about ships.", "A young cast sings.", "A fine day."] * 40
    description = {
        "dataset": {"name": "reviews"},
        "text": {"column": "review"},
        "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
    }
    testsgd.audit(grumpy, reviews, description, batch_size=10)
    assert max(largest) == 10


def test_a_batch_has_at_least_one_row() -> None:
    with pytest.raises(ParameterError):
        audited([], batch_size=0)
