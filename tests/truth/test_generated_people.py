"""Generated people are as described, and the model is a function of a person's row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from testsgd.errors import ParameterError
from testsgd.truth import POPULATIONS, population


@pytest.mark.parametrize("name", POPULATIONS)
def test_same_seed_and_run_same_people(name: str) -> None:
    people = population(name)
    first = people.people(1_000, seed=0, run=3)
    pd.testing.assert_frame_equal(first, people.people(1_000, seed=0, run=3))
    assert not first.equals(people.people(1_000, seed=0, run=4))
    assert not first.equals(people.people(1_000, seed=1, run=3))


@pytest.mark.parametrize("name", POPULATIONS)
def test_they_fit_their_description(name: str) -> None:
    people = population(name)
    table = people.table(5_000, seed=0)
    assert table.specification.sensitive == tuple(trait.name for trait in people.traits)
    assert table.specification.insensitive == ("merit", "tenure")
    assert sum(table.missing.values()) == 0
    assert people.masses.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["null", "band", "one-of-twelve"])
def test_every_value_and_bin_is_as_frequent_as_said(name: str) -> None:
    people = population(name)
    frame = people.people(100_000, seed=1)
    for trait in people.traits:
        counts = np.bincount(trait.cells(frame[trait.name]), minlength=len(trait.shares))
        for count, share in zip(counts, trait.shares, strict=True):
            low, high = binom.ppf([1e-7, 1 - 1e-7], 100_000, share)
            assert low <= count <= high, trait.name


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_model_reads_nothing_but_the_row(name: str) -> None:
    people = population(name)
    frame = people.people(2_000, seed=2)
    decided = people.decide(frame)
    order = np.random.default_rng(0).permutation(2_000)
    assert (people.decide(frame.iloc[order]) == decided[order]).all()
    # As other methods build rows: texts for categories, floats for numbers, other column orders.
    plain = frame.iloc[:, ::-1].copy()
    for column in plain:
        kind = object if isinstance(plain[column].dtype, pd.CategoricalDtype) else np.float64
        plain[column] = plain[column].astype(kind)
    assert (people.decide(plain) == decided).all()
    assert (people.model().model.decisions(frame) == (decided == 1)).all()


@pytest.mark.parametrize("name", ["null", "proxy"])
def test_no_sensitive_feature_of_a_person_changes_the_decision(name: str) -> None:
    people = population(name)
    frame = people.people(2_000, seed=3)
    others = people.people(2_000, seed=4)
    sensitive = [trait.name for trait in people.traits]
    swapped = frame.assign(**{column: others[column] for column in sensitive})
    assert (people.decide(swapped) == people.decide(frame)).all()


def test_the_planted_groups_are_treated_as_said() -> None:
    for name in ("intersection", "band", "overlap", "one-of-twelve"):
        people = population(name)
        table = people.table(20_000, seed=5)
        inside = np.any([group.matches(table) for group in people.planted], axis=0)
        merit = table.frame["merit"].to_numpy()
        decided = people.decide(table.frame) == 1
        limit = {"intersection": 74, "overlap": 74}.get(name, 64)
        assert (decided == (merit > np.where(inside, limit, 49))).all()


def test_an_unknown_population_is_named() -> None:
    with pytest.raises(ParameterError, match="'nul' is unknown; give one of null, intersection"):
        population("nul")
