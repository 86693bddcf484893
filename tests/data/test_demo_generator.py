"""The demo: reproducible, as described, and discriminating where no single feature shows it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from testsgd.data import (
    PLANTED_GROUP,
    check_table,
    generate_demo,
    load_specification,
    load_table,
    table_fingerprint,
)
from testsgd.errors import ParameterError


@pytest.fixture(scope="module")
def crowd() -> pd.DataFrame:
    """Generate so many people that chance moves the rates below by well under a point."""
    return generate_demo(rows=400_000, seed=11)


def planted(people: pd.DataFrame) -> pd.Series:
    """Select the planted group, as its name says."""
    assert PLANTED_GROUP == "gender = female and race = Black and 40 <= age < 60"
    return (
        (people["gender"] == "female")
        & (people["race"] == "Black")
        & (people["age"] >= 40)
        & (people["age"] < 60)
    )


def test_the_same_seed_gives_the_same_people() -> None:
    pd.testing.assert_frame_equal(generate_demo(seed=3), generate_demo(seed=3))
    np.random.seed(1)  # noqa: NPY002 - a state that others share must not matter
    again = generate_demo(rows=50, seed=3)
    pd.testing.assert_frame_equal(again, generate_demo(rows=50, seed=3))


def test_other_seeds_give_other_people() -> None:
    specification = load_specification("demo")
    tables = [load_table(specification, seed=seed) for seed in range(5)]
    assert len({table_fingerprint(table) for table in tables}) == len(tables)
    assert [table.source for table in tables[:2]] == ["generated, seed 0", "generated, seed 1"]


@pytest.mark.parametrize("seed", range(20))
def test_the_people_fit_their_description(seed: int) -> None:
    specification = load_specification("demo")
    people = generate_demo(rows=2_000, seed=seed)
    table = check_table(people, specification)
    assert list(people.columns) == [*specification.features, specification.label.column]
    assert not any(table.missing.values())
    assert table.labels is not None
    assert set(table.labels) == {"no", "yes"}
    for name, feature in specification.features.items():
        if feature.type == "integer":
            assert people[name].dtype == np.int64
        elif feature.type == "decimal":
            assert people[name].dtype == np.float64
        else:
            assert list(people[name].cat.categories) == feature.values


def test_a_few_people_can_be_generated() -> None:
    assert len(generate_demo(rows=1)) == 1
    assert len(generate_demo()) == 20_000


@pytest.mark.parametrize(
    ("rows", "seed", "name"), [(0, 0, "rows"), (-5, 0, "rows"), (9, -1, "seed")]
)
def test_nobody_or_a_seed_below_zero_is_a_mistake(rows: int, seed: int, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        generate_demo(rows=rows, seed=seed)
    assert caught.value.details["name"] == name


@pytest.mark.parametrize(
    ("name", "share"), [("female", 0.5), ("Black", 0.28), ("White", 0.4), ("Asian", 0.14)]
)
def test_shares_are_those_intended(crowd: pd.DataFrame, name: str, share: float) -> None:
    column = "gender" if name == "female" else "race"
    low, high = binom.interval(1 - 1e-6, len(crowd), share)
    assert low <= (crowd[column] == name).sum() <= high


@pytest.mark.parametrize("name", ["gender", "race", "age"])
def test_no_single_feature_shows_a_difference(crowd: pd.DataFrame, name: str) -> None:
    values = crowd[name] if name != "age" else pd.cut(crowd["age"], [17, 39, 59, 79])
    rates = (crowd["granted"] == "yes").groupby(values, observed=True).mean()
    assert len(rates) >= 2
    assert rates.max() - rates.min() < 0.015


def test_the_planted_group_is_far_below_the_others(crowd: pd.DataFrame) -> None:
    granted = crowd["granted"] == "yes"
    group = planted(crowd)
    # Rows of the group that would be granted a loan if its rate were 15 points below the others',
    # and not more: fewer than that are seen, by more than chance explains.
    others = granted[~group].mean()
    fewest, _ = binom.interval(1 - 1e-9, int(group.sum()), others - 0.15)
    assert granted[group].sum() < fewest


def test_what_should_count_does_not_depend_on_the_group(crowd: pd.DataFrame) -> None:
    group = planted(crowd)
    for name in ("income", "amount", "debt_ratio", "savings_ratio", "open_loans"):
        above = crowd[name] > crowd[name].median()
        low, high = binom.interval(1 - 1e-6, int(group.sum()), above[~group].mean())
        assert low <= above[group].sum() <= high, name
