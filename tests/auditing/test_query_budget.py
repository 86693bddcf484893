"""What a budget of queries goes into: first into what the headline is about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import testsgd

ROWS = 3_000


def people() -> pd.DataFrame:
    source = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "sex": source.choice(["f", "m"], ROWS),
            "income": source.integers(10, 90, ROWS),
            "age": source.integers(18, 80, ROWS),
        }
    )


@pytest.mark.parametrize("queries", [5_000, 6_000])
def test_rows_as_they_are_are_known_exactly_if_the_budget_is_enough_for_them(queries: int) -> None:
    rows = people()
    result = testsgd.audit(
        lambda frame: (frame["sex"] == "m").astype(int),
        rows,
        np.arange(ROWS) % 2,
        sensitive_features=["sex"],
        max_queries=queries,
        stability=0,
    )
    assert result.summary.mode == "sampled"
    assert result.summary.model_queries <= queries
    assert result.summary.parameters.estimand == "observed"
    assert result.verdict.status == "reported"
    shares = {text: (rows["sex"] == text[-1]).sum() for text in ("sex = f", "sex = m")}
    for group in result.summary.groups:
        assert group.n_in == shares[group.text]
        assert group.difference == (1.0 if group.text == "sex = m" else -1.0)
