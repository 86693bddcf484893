"""Where a number is missing, a group by it is compared with those whose number is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import testsgd


class NeverWithoutAge:
    """Selects half of the people, fewer of the young, and none whose age is missing."""

    def predict(self, rows: pd.DataFrame) -> Any:
        least = np.where(rows["age"] < 36, 1.0, 0.0)
        return ((rows["height"] > least) & rows["age"].notna()).astype(int).to_numpy()


def test_both_sides_are_those_of_the_audit() -> None:
    source = np.random.default_rng(0)
    age = source.integers(18, 90, 2000).astype(float)
    age[:300] = np.nan
    people = pd.DataFrame(
        {"age": age, "sex": source.choice(["f", "m"], 2000), "height": source.normal(size=2000)}
    )
    labels = pd.Series(source.choice(["no", "yes"], 2000))
    result = testsgd.compare(
        NeverWithoutAge().predict,
        people.assign(label=labels),
        {
            "dataset": {"name": "people"},
            "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
            "features": {
                "age": {"type": "integer", "range": [18, 90], "sensitive": True, "bins": 4},
                "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
                "height": {"type": "decimal", "range": [-5, 5]},
            },
        },
        methods="gerryfair",
    )
    found = result.summary.methods[0].findings
    assert any("<" in finding.text for finding in found)
    for finding in found:
        assert finding.side is not None
        missing_too = "age" not in finding.text or "missing" in finding.text
        known = 2000 if missing_too else 1700
        assert finding.side.n_in + finding.side.n_out == known
        assert finding.side.share == finding.side.n_in / 2000
