"""The same rows give the same audit however they are held, and are never changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import testsgd
from testsgd.data import generate_demo

PEOPLE = generate_demo(rows=1500, seed=4)

# A guarantee and stability too, from few bootstrap samples.
QUICK: dict[str, Any] = {"replicates": 99, "stability": 5}
MODES: dict[str, dict[str, Any]] = {
    "exact": {"mode": "exact", "theta": 0.3},
    "sampled": {"mode": "sampled", "theta": 0.3, "min_samples": 100, "error_margin": 0.3},
}


def with_missing(people: pd.DataFrame) -> pd.DataFrame:
    """A tenth of the genders, ages and incomes are missing."""
    generator = np.random.default_rng(0)
    spoilt = people.copy()
    for name in ("gender", "age", "income"):
        spoilt[name] = spoilt[name].where(generator.random(len(people)) > 0.1)
    return spoilt


def by_debts(frame: pd.DataFrame) -> Any:
    """Scores from numbers and a category, whatever types the columns have."""
    debts = frame["debt_ratio"].to_numpy(dtype=float)
    black = (frame["race"].astype(object) == "Black").to_numpy(dtype=bool)
    women = (frame["gender"].astype(object) == "female").to_numpy(dtype=bool, na_value=False)
    return np.clip(1 - debts - 0.3 * (black & women), 0, 1)


def figures(data: Any, model: Any = None, **options: Any) -> dict[str, Any]:
    document = testsgd.audit(model, data, "demo", **QUICK, **options).summary.model_dump()
    return {
        key: document[key]
        for key in ("groups", "counts", "overall_rate", "charts", "verdict", "model_queries")
    } | {"fingerprint": document["data"]["fingerprint"]}


@cache
def as_they_are(missing: bool, model: Any, mode: str) -> dict[str, Any]:
    """The figures of the people as a data frame of pandas."""
    return figures(with_missing(PEOPLE) if missing else PEOPLE, model, **MODES[mode])


def as_text(people: pd.DataFrame) -> pd.DataFrame:
    return people.astype({"gender": "object", "race": "string", "housing": "object"})


def as_floats(people: pd.DataFrame) -> pd.DataFrame:
    return people.astype({"age": "float32", "income": "float64", "open_loans": "Int8"})


def other_order(people: pd.DataFrame) -> pd.DataFrame:
    return people[people.columns[::-1]].assign(unused="x")


def other_index(people: pd.DataFrame) -> pd.DataFrame:
    return people.set_index(pd.Index([7] * len(people)))


def through_polars(people: pd.DataFrame) -> pl.DataFrame:
    columns = {
        name: people[name].astype(object).where(people[name].notna(), None).to_list()
        for name in people
    }
    return pl.DataFrame(columns)


@pytest.mark.parametrize("held", [as_text, as_floats, other_order, other_index, through_polars])
@pytest.mark.parametrize(
    ("missing", "model", "mode"),
    # Each two of the three settings together in every way.
    [
        (False, None, "exact"),
        (False, by_debts, "sampled"),
        (True, None, "sampled"),
        (True, by_debts, "exact"),
    ],
)
def test_the_columns_types_order_and_index_change_nothing(
    held: Callable[[pd.DataFrame], Any], missing: bool, model: Any, mode: str
) -> None:
    people = with_missing(PEOPLE) if missing else PEOPLE
    assert figures(held(people), model, **MODES[mode]) == as_they_are(missing, model, mode)


@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_the_rows_are_not_changed(mode: str) -> None:
    def spoil(frame: pd.DataFrame) -> Any:
        frame["income"] = 0
        frame.loc[:, "gender"] = "male"
        return ["yes"] * len(frame)

    people = with_missing(PEOPLE)
    before = people.copy(deep=True)
    testsgd.audit(spoil, people, "demo", mode=mode, theta=0.3, **QUICK)
    pd.testing.assert_frame_equal(people, before)


@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_a_group_and_everybody_else_mirror_each_other(mode: str) -> None:
    found = testsgd.audit(
        by_debts, PEOPLE, "demo", mode=mode, error_margin=0.1, min_samples=200, **QUICK
    )
    groups = found.groups.set_index("text")
    pairs = [
        ("gender = female", "gender = male"),
        ("race = Black", "race in {White, Hispanic, Asian}"),
        ("race in {White, Black}", "race in {Hispanic, Asian}"),
        ("age < 50", "age >= 50"),
    ]
    for one, other in pairs:
        left, right = groups.loc[one], groups.loc[other]
        assert (left["n_in"], left["rate_in"]) == (right["n_out"], right["rate_out"])
        assert (left["n_out"], left["rate_out"]) == (right["n_in"], right["rate_in"])
        assert left["difference"] == -right["difference"]
        assert left["score"] == right["score"]
        assert left["margin"] == right["margin"]
        assert left["ci_low"] == pytest.approx(-right["ci_high"])
        assert left["ci_high"] == pytest.approx(-right["ci_low"])


def test_rows_without_labels_are_audited_alike() -> None:
    unlabelled = testsgd.audit(None, PEOPLE.drop(columns="granted"), "demo", **QUICK)
    labelled = testsgd.audit(None, PEOPLE, "demo", **QUICK)
    unknown = {"base_rate_in": None, "base_rate_out": None}
    groups = [group.model_copy(update=unknown) for group in labelled.summary.groups]
    assert unlabelled.summary.groups == groups
    assert unlabelled.summary.model.accuracy is None
    granted = (PEOPLE["granted"] == "yes").to_numpy()
    right = testsgd.load_model(None, testsgd.load_specification("demo")).model.decisions(
        PEOPLE.drop(columns="granted")
    )
    assert labelled.summary.model.accuracy == pytest.approx((right == granted).mean())
    assert any("no label column" in note for note in unlabelled.summary.data.notes)


def test_missing_sensitive_values_are_a_group_of_their_own_or_outside_every_interval() -> None:
    people = with_missing(PEOPLE)
    groups = testsgd.audit(by_debts, people, "demo", **QUICK).groups.set_index("text")
    assert groups.loc["gender = missing", "n_in"] == people["gender"].isna().sum()
    assert groups.loc["gender in {female, missing}", "n_in"] == (people["gender"] != "male").sum()
    young, old = groups.loc["age < 50"], groups.loc["age >= 50"]
    assert young["n_in"] == (people["age"] < 50).sum()
    assert old["n_in"] == (people["age"] >= 50).sum()
    assert young["n_in"] + old["n_in"] == people["age"].notna().sum() < len(people)
    # Nor are those whose age is missing in the complement of an interval.
    assert young["n_out"] == old["n_in"]
    assert groups.loc["age = missing", "n_out"] == people["age"].notna().sum()
    assert groups.loc["gender = male", "n_out"] == (people["gender"] != "male").sum()
