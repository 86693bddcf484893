"""Rows that repeat one person are one unit in every interval and p-value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import testsgd
from testsgd.auditing.run import split_rows
from testsgd.data import DatasetSpecification, check_table
from testsgd.errors import DataError, ParameterError

PEOPLE = 300
SPECIFICATION: dict[str, Any] = {
    "dataset": {"name": "people"},
    "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
    "features": {
        "gender": {"type": "categorical", "values": ["female", "male"], "sensitive": True},
        "region": {"type": "categorical", "values": list("abcd"), "sensitive": True},
        "merit": {"type": "integer", "range": [0, 99]},
    },
}
CLUSTERED = {**SPECIFICATION, "data": {"cluster": "person"}}


def grant(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["merit"] >= 50, "yes", "no")


def people(seed: int, times: int) -> pd.DataFrame:
    """Draw people of whom nobody is treated differently, each `times` times, shuffled."""
    generator = np.random.default_rng(seed)
    drawn = pd.DataFrame(
        {
            "gender": generator.choice(["female", "male"], PEOPLE),
            "region": generator.choice(list("abcd"), PEOPLE),
            "merit": generator.integers(0, 100, PEOPLE),
            "person": [f"p{number}" for number in range(PEOPLE)],
        }
    )
    order = generator.permutation(np.repeat(np.arange(PEOPLE), times))
    return drawn.iloc[order].reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize("guarantee", ["simultaneous", "fdr"])
def test_people_in_five_rows_are_no_finding(guarantee: str) -> None:
    runs = 30
    options = {"guarantee": guarantee, "stability": 0, "replicates": 200}
    false = {True: 0, False: 0}
    for seed in range(runs):
        frame = people(seed, 5)
        for clustered in false:
            given = CLUSTERED if clustered else SPECIFICATION
            found = testsgd.audit(grant, frame, given, **options).findings
            assert found is not None
            assert found.guarantee is not None
            false[clustered] += found.guarantee.significant > 0
    # With five per cent of false findings there are more than so many in one of 1,000 cases.
    assert false[True] <= binom.ppf(0.999, runs, 0.05)
    # The test could not fail if there were nothing to correct.
    assert false[False] > false[True]


def test_both_estimands_count_people() -> None:
    found = testsgd.audit(grant, people(1, 5), CLUSTERED, stability=0).findings
    assert found is not None
    for estimates in (found.estimates, found.others[0].estimates):
        assert np.all(estimates.independent_in <= estimates.rows_in / 5 + 1e-9)
        assert np.all(estimates.independent_out <= estimates.rows_out / 5 + 1e-9)


def test_people_in_one_row_each_change_no_interval() -> None:
    frame = people(2, 1)
    options: dict[str, Any] = {"guarantee": "per-group", "stability": 0}
    rows = testsgd.audit(grant, frame, SPECIFICATION, **options).groups
    clusters = testsgd.audit(grant, frame, CLUSTERED, **options).groups
    pd.testing.assert_frame_equal(rows, clusters)


def test_a_person_is_on_one_side_of_a_split() -> None:
    table = check_table(people(3, 4), DatasetSpecification.model_validate(CLUSTERED))
    searched, kept = split_rows(table, 0.5, seed=0)
    assert searched.clusters is not None
    assert kept.clusters is not None
    assert not set(searched.clusters) & set(kept.clusters)
    assert len(searched) + len(kept) == len(table)


@pytest.mark.parametrize("times", [1, 4, 30])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_as_many_rows_are_held_out_as_asked_for(times: int, share: float) -> None:
    table = check_table(people(3, times), DatasetSpecification.model_validate(CLUSTERED))
    searched, kept = split_rows(table, share, seed=0)
    assert abs(len(kept) - share * len(table)) <= times / 2
    assert searched.clusters is not None
    assert kept.clusters is not None
    assert not set(searched.clusters) & set(kept.clusters)


def test_a_row_about_nobody_known_is_one_of_its_own() -> None:
    frame = people(4, 2)
    frame.loc[:9, "person"] = None
    table = check_table(frame, DatasetSpecification.model_validate(CLUSTERED))
    assert table.clusters is not None
    assert len(set(table.clusters[:10])) == 10
    assert not set(table.clusters[:10]) & set(table.clusters[10:])


def test_the_column_is_read_from_a_file_and_not_handed_to_the_model(tmp_path: Any) -> None:
    frame = people(5, 3)
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    seen: set[str] = set()

    def watch(rows: pd.DataFrame) -> np.ndarray:
        seen.update(rows.columns)
        return grant(rows)

    from_file = testsgd.audit(watch, path, CLUSTERED, stability=0).groups
    assert seen == set(SPECIFICATION["features"])
    pd.testing.assert_frame_equal(
        from_file, testsgd.audit(grant, frame, CLUSTERED, stability=0).groups
    )


def test_what_cannot_be() -> None:
    frame = people(6, 2)
    with pytest.raises(DataError, match="person"):
        testsgd.audit(grant, frame.drop(columns="person"), CLUSTERED)
    with pytest.raises(ParameterError, match="condition_on"):
        testsgd.audit(grant, frame, CLUSTERED, condition_on="merit")


@pytest.mark.parametrize("name", ["condition_on", "within"])
@pytest.mark.parametrize("declared", [True, False])
def test_counting_equal_rows_is_advised_only_where_it_helps(name: str, declared: bool) -> None:
    frame = people(6, 2)
    # More rows are equal than chance makes.
    frame["number"] = frame["person"].str[1:].astype(int)
    described = {
        **(CLUSTERED if declared else SPECIFICATION),
        "features": {
            **SPECIFICATION["features"],
            "number": {"type": "integer", "range": [0, PEOPLE]},
        },
    }
    options: dict[str, Any] = {"stability": 0, "replicates": 99}
    with pytest.raises(ParameterError) as caught:
        testsgd.audit(grant, frame, described, **{name: "merit"}, **options)
    assert ("--equal-rows each" in caught.value.remedy) is not declared
    assert ("person'" in caught.value.remedy) is declared
    for equal_rows in ("one", "each"):
        result = testsgd.audit(grant, frame, described, equal_rows=equal_rows, **options)
        joined = declared or equal_rows == "one"
        assert (result.summary.data.independent == PEOPLE) is joined
        assert ("--equal-rows each" in result.to_markdown()) is (joined and not declared)
        assert result.summary.data.cluster == ("person" if declared else None)


def test_the_key_that_is_advised_to_be_left_out_is_what_refused() -> None:
    frame = people(6, 1)
    testsgd.audit(grant, frame, SPECIFICATION, condition_on="merit", stability=0, replicates=99)
