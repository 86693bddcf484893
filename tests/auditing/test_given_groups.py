"""Rates of given groups: those of an exact audit, or of draws that are the same for every model."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import few_groups
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from plain_audit import GENDERS, HOUSINGS, SPECIFICATION, Row, as_model, frame_of, neighbours
from scipy import stats

from testsgd.auditing import Estimates, GroupMeasure, measure_groups
from testsgd.auditing.fixed_groups import SAMPLES_A_SIDE
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.errors import ParameterError
from testsgd.models import Model, load_model
from testsgd.rules import IntervalRule, RuleSet, ValueRule

PLAIN = specification_from_mapping(SPECIFICATION)
NOTHING: list[Any] = [None]

rows_strategy = st.lists(
    st.fixed_dictionaries(
        {
            "gender": st.sampled_from(GENDERS + NOTHING),
            "open_loans": st.sampled_from([*range(4), None]),
            "age": st.sampled_from([*range(9), None]),
            "housing": st.sampled_from(HOUSINGS + NOTHING),
            "member": st.sampled_from([False, True, None]),
        }
    ),
    min_size=1,
    max_size=20,
)
ends = st.none() | st.integers(0, 8).map(float)
groups_strategy = st.lists(
    st.tuples(
        st.lists(st.sampled_from([*GENDERS, "missing"]), unique=True, min_size=1) | st.none(),
        st.tuples(ends, ends) | st.none(),
    ),
    max_size=5,
)


def rule_set(genders: list[str] | None, ages: tuple[float | None, float | None] | None) -> RuleSet:
    """Write a group of some genders and ages as rules."""
    rules: list[Any] = [] if genders is None else [ValueRule("gender", tuple(genders))]
    return RuleSet((*rules, *([] if ages is None else [IntervalRule("age", *ages)])))


def is_member(
    row: Row, genders: list[str] | None, ages: tuple[float | None, float | None] | None
) -> bool:
    """Say the same of one row."""
    if genders is not None and (row["gender"] or "missing") not in genders:
        return False
    if ages is None:
        return True
    low, high = ages
    age = row["age"]
    return age is not None and (low is None or age >= low) and (high is None or age < high)


def decide(row: Row) -> bool:
    """Decide by every cell, a missing one too, and look like chance."""
    cells = [
        "-" if cell is None else str(cell if isinstance(cell, str) else int(cell))
        for _, cell in sorted(row.items())
    ]
    return zlib.crc32(" ".join(cells).encode()) % 3 == 0


def plain_table(rows: list[Row]) -> Table:
    """Give rows as a table, also such as an audit would refuse for want of variety."""
    frame = frame_of(rows)
    missing = {name: int(frame[name].isna().sum()) for name in frame}
    return Table(PLAIN, frame, None, missing)


@given(rows_strategy, groups_strategy)
@settings(max_examples=60)
def test_counts_are_those_of_neighbours_one_by_one(rows: list[Row], groups: list[Any]) -> None:
    model = load_model(as_model(decide), PLAIN).model
    found = measure_groups(
        model, plain_table(rows), [rule_set(*group) for group in groups], max_queries=10**6, seed=0
    )
    favourable = [sum(decide(neighbour) for neighbour in neighbours(row)) for row in rows]
    low, high = found.population_interval(0.95)
    assert found.exact
    for place, group in enumerate(groups):
        chosen = [is_member(row, *group) for row in rows]
        inside = list(itertools.compress(favourable, chosen))
        # Rows without an age are in neither side of a group by age.
        known = [group[1] is None or row["age"] is not None for row in rows]
        others = [said and not yes for said, yes in zip(known, chosen, strict=True)]
        outside = list(itertools.compress(favourable, others))
        for counts, side in ((inside, "in"), (outside, "out")):
            assert getattr(found, f"rows_{side}")[place] == len(counts)
            assert getattr(found, f"samples_{side}")[place] == 4 * len(counts)
            assert getattr(found, f"favourable_{side}")[place] == sum(counts)
            rate = getattr(found, f"rate_{side}")[place]
            assert rate == pytest.approx(np.mean(counts) / 4 if counts else np.nan, nan_ok=True)
        compared = bool(inside and outside)
        assert found.decided[place] == compared
        assert np.isnan(found.score[place]) == np.isnan(low[place]) == (not compared)
        if compared:
            assert low[place] <= found.difference[place] <= high[place]


FRAME = few_groups.people(700)
TABLE = check_table(FRAME, few_groups.SPECIFICATION)
GENDER_ONE = RuleSet((ValueRule("gender", ("1",)),))
GENDER_TWO = RuleSet((ValueRule("gender", ("2",)),))
NOBODY = RuleSet((ValueRule("gender", ("missing",)),))


def few_model(function: Any = few_groups.by_income) -> Model:
    return load_model(function, few_groups.SPECIFICATION).model


def same(first: Estimates, second: Estimates) -> bool:
    """Compare all that is known of the groups."""
    return all(
        np.array_equal(value, getattr(second, name)) for name, value in vars(first).items()
    ) and np.array_equal(first.population_interval(0.9), second.population_interval(0.9))


def test_all_is_as_an_exact_audit_finds_it():
    audit = few_groups.findings(few_groups.by_income, FRAME, mode="exact", theta=0.01)
    groups = range(len(audit.rule_sets))
    measure = GroupMeasure(
        TABLE, tuple(audit.rule_set(group) for group in groups), max_queries=10**5, seed=3
    )
    assert len(groups) == 6
    assert measure.exact
    assert same(measure(few_model()), audit.estimates)
    assert same(measure(few_model()), audit.estimates), "asked again"


def test_the_number_of_threads_changes_nothing(demo_table, demo_model):
    women = (RuleSet((ValueRule("gender", ("female",)),)),)
    for queries in (10**6, 10**4):
        one, three = (
            GroupMeasure(demo_table, women, max_queries=queries, seed=0, jobs=jobs)
            for jobs in (1, 3)
        )
        assert same(one(demo_model.model), three(demo_model.model))


def asked_by(queries: int, function: Any, **options: Any) -> tuple[Estimates, list[pd.DataFrame]]:
    """Measure two groups; give the rows that the model was asked about, too."""
    asked: list[pd.DataFrame] = []

    def model(frame: pd.DataFrame) -> NDArray[np.float64]:
        asked.append(frame)
        return function(frame)

    measure = GroupMeasure(
        TABLE, (GENDER_ONE, GENDER_TWO), max_queries=queries, **{"seed": 0, **options}
    )
    return measure(few_model(model)), asked


@pytest.mark.parametrize("queries", [4, 7, 500, 2099, 2100, 10**6])
def test_no_more_queries_are_made_than_allowed(queries):
    estimates, asked = asked_by(queries, few_groups.by_income)
    assert sum(map(len, asked)) <= queries
    # Two neighbours a row, and the row itself.
    assert estimates.exact == (queries >= 2100)
    if not estimates.exact:
        assert set(estimates.samples_in) == set(estimates.samples_out) == {queries // 4}


def test_every_model_is_asked_about_the_same_draws():
    _, first = asked_by(1000, few_groups.by_income)
    _, second = asked_by(1000, few_groups.seldom)
    _, other = asked_by(1000, few_groups.seldom, seed=1)
    pd.testing.assert_frame_equal(pd.concat(first), pd.concat(second))
    assert not pd.concat(first).equals(pd.concat(other))
    # A model that decides the same is measured the same, whatever its scores are.
    assert same(
        asked_by(1000, few_groups.by_income)[0],
        asked_by(1000, lambda frame: (few_groups.by_income(frame) > 0.5) * 0.9)[0],
    )


def test_draws_of_a_side_are_neighbours_of_its_rows():
    estimates, asked = asked_by(2000, lambda frame: (frame["gender"] == 1) * 0.9)
    assert estimates.rate_in.tolist() == [1.0, 0.0]
    assert estimates.rate_out[0] == 0
    incomes = {(row.gender, row.income) for row in FRAME.itertuples()}
    for row in pd.concat(asked).itertuples():
        near = {(row.gender, row.income + step) for step in (-1, 0, 1)}
        assert near & incomes


def test_draws_go_up_and_down():
    alike = check_table(FRAME.assign(income=50), few_groups.SPECIFICATION)
    asked: list[float] = []

    def model(frame: pd.DataFrame) -> NDArray[np.float64]:
        asked.extend(frame["income"])
        return few_groups.by_income(frame)

    drawn = measure_groups(few_model(model), alike, [GENDER_ONE], max_queries=1000, seed=0)
    assert drawn.samples_in.tolist() == [500]
    # Both neighbours of nearly all rows were drawn.
    assert 0.4 < asked.count(49) / len(asked) < 0.6
    assert asked.count(49) + asked.count(51) == len(asked)


def test_drawn_rates_are_those_of_all_neighbours_but_for_chance():
    exact = GroupMeasure(TABLE, (GENDER_ONE, GENDER_TWO), max_queries=10**6, seed=0)(few_model())
    for seed in range(10):
        drawn, _ = asked_by(2000, few_groups.by_income, seed=seed)
        for side in ("in", "out"):
            for count, samples, rate in zip(
                getattr(drawn, f"favourable_{side}"),
                getattr(drawn, f"samples_{side}"),
                getattr(exact, f"rate_{side}"),
                strict=True,
            ):
                least, most = stats.binom.interval(1 - 1e-6 / 40, samples, rate)
                assert least <= count <= most


def test_a_large_budget_is_not_spent(demo_table, demo_model):
    women = (RuleSet((ValueRule("gender", ("female",)),)),)
    rows = np.concatenate([np.arange(len(demo_table))] * 4)
    measure = GroupMeasure(demo_table.take(rows), women, max_queries=10**5, seed=0)
    estimates = measure(demo_model.model)
    assert not estimates.exact
    assert estimates.samples_in.tolist() == estimates.samples_out.tolist() == [SAMPLES_A_SIDE]
    assert estimates.decided.tolist() == [True]


@pytest.mark.parametrize("queries", [100, 10**6])
def test_groups_of_nobody_and_of_everybody_have_no_score(queries):
    measure = GroupMeasure(TABLE, (NOBODY, RuleSet(()), GENDER_ONE), max_queries=queries, seed=0)
    estimates = measure(few_model())
    assert estimates.rows_in.tolist()[:2] == [0, 700]
    assert np.isnan(estimates.score).tolist() == [True, True, False]
    assert np.isnan(estimates.rate_in).tolist() == [True, False, False]
    assert np.isnan(estimates.rate_out).tolist() == [False, True, False]
    assert estimates.decided.tolist()[:2] == [False, False]
    for end in estimates.population_interval(0.95):
        assert np.isnan(end).tolist() == [True, True, False]


def test_no_group_is_no_trouble():
    for queries in (10**6, 2):
        estimates = measure_groups(few_model(), TABLE, [], max_queries=queries, seed=0)
        assert len(estimates.score) == len(estimates.population_interval(0.95)[0]) == 0


def test_too_few_queries_for_one_draw_a_side_are_refused():
    with pytest.raises(ParameterError, match="2 groups take at least 4 queries, 3 are allowed"):
        GroupMeasure(TABLE, (GENDER_ONE, GENDER_TWO), max_queries=3, seed=0)
