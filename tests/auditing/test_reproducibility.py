"""The same seed gives the same document, whatever the number of threads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.data import generate_demo

PEOPLE = generate_demo(rows=4000, seed=2)

# A guarantee and stability too, from few bootstrap samples.
QUICK: dict[str, Any] = {"replicates": 99, "stability": 10}
MODES: dict[str, dict[str, Any]] = {
    "exact": {"mode": "exact"},
    "pooled": {
        "mode": "sampled",
        "estimand": "neighbourhood",
        "min_samples": 200,
        "error_margin": 0.1,
        "theta": 0.1,
    },
    "independent": {
        "mode": "sampled",
        "estimand": "neighbourhood",
        "sampling": "independent",
        "min_samples": 50,
        "error_margin": 0.25,
        "theta": 0.4,
    },
}


def document(model: Any = None, data: Any = PEOPLE, **options: Any) -> dict[str, Any]:
    """The JSON document without what names the time of the run."""
    content = json.loads(testsgd.audit(model, data, "demo", **QUICK | options).to_json())
    del content["created"], content["seconds"]
    return content


def by_debts(frame: pd.DataFrame) -> Any:
    black_women = (frame["race"] == "Black") & (frame["gender"] == "female")
    return np.clip(0.9 - frame["debt_ratio"] - 0.3 * black_women, 0, 1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model", [None, by_debts])
def test_a_rerun_gives_the_same_document(mode: str, model: Any) -> None:
    assert document(model, **MODES[mode]) == document(model, **MODES[mode])


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_the_number_of_threads_changes_nothing(mode: str) -> None:
    one = document(jobs=1, **MODES[mode])
    for jobs in (2, 5):
        other = document(jobs=jobs, **MODES[mode])
        other["parameters"]["jobs"] = 1
        assert other == one


@pytest.mark.parametrize("mode", ["pooled", "independent"])
def test_another_seed_draws_other_samples(mode: str) -> None:
    one, other = document(seed=1, **MODES[mode]), document(seed=2, **MODES[mode])
    assert one["data"] == other["data"]
    assert one["groups"] != other["groups"]


def test_an_exact_audit_of_given_rows_does_not_depend_on_the_seed() -> None:
    # What is drawn are the bootstrap samples behind a guarantee for all groups, and no rate.
    settings = {"guarantee": "per-group", "stability": 0}
    one, other = document(seed=1, **settings), document(seed=2, **settings)
    del one["parameters"], other["parameters"]
    assert one == other


def test_the_order_of_the_rows_changes_no_exact_figure() -> None:
    shuffled = PEOPLE.sample(frac=1, random_state=0)
    one, other = document(by_debts), document(by_debts, shuffled)
    for part in ("groups", "charts", "counts", "overall_rate", "verdict"):
        assert one[part] == other[part]
