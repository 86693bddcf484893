"""The fewest rules that explain the differences: against forward selection by least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from testsgd.auditing.max_statistic import max_statistics, smoothed_rates, upper_quantile
from testsgd.auditing.rule_selection import (
    FEATURE_COST,
    LEAST_SHARE,
    MOST_RULES,
    CellTable,
    cell_table,
    near_duplicates,
    select_rules,
)
from testsgd.data import Table, check_table
from testsgd.rules import Contingency, FrequentRuleSets, lay_out, mine, sensitive_axes

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def by_lstsq(
    cells: CellTable, members: Bools, rules: Sequence[int], order: Sequence[int], critical: float
) -> list[tuple[int, float]]:
    """Forward selection with an explicit matrix of members, a regression for every candidate."""
    root = np.sqrt(cells.rows)
    known = [np.ones(len(root))]
    chosen: list[tuple[int, float]] = []

    def left_over(columns: list[Floats], of: Floats) -> Floats:
        design = np.array(columns).T * root[:, None]
        return of * root - design @ np.linalg.lstsq(design, of * root, rcond=1e-10)[0]

    variation = float((left_over(known, cells.rates) ** 2).sum())
    if variation < 1e-15 * cells.rows.sum():
        return []
    before = variation
    while len(chosen) < MOST_RULES:
        best, best_value = None, -1.0
        for group in order:
            part = left_over(known, members[group].astype(float))
            if (part**2).sum() <= 1e-8 * cells.rows.sum():
                continue
            after = (left_over([*known, members[group].astype(float)], cells.rates) ** 2).sum()
            value = (before - after) * (1 - FEATURE_COST * (rules[group] - 1))
            if best is None or value > best_value * (1 + 1e-7) + 1e-13 * variation:
                best, best_value = group, value
        if best is None:
            break
        part = left_over(known, members[best].astype(float))
        # The regression's coefficient is a weighted sum of the rates, whose errors are independent.
        slopes = part * root
        coefficient = float(slopes @ cells.rates)
        error = float(np.sqrt(slopes**2 @ cells.variances))
        after = float((left_over([*known, members[best].astype(float)], cells.rates) ** 2).sum())
        share = (before - after) / variation
        if share < LEAST_SHARE or abs(coefficient) <= critical * error:
            break
        chosen.append((best, share))
        known.append(members[best].astype(float))
        before = after
    return chosen


def select(
    cells: CellTable, members: Bools, rules: Any, order: Any, critical: float
) -> list[tuple[int, float]]:
    found = select_rules(
        cells,
        lambda quantities: quantities @ members.T,
        lambda group: members[group],
        np.asarray(rules, dtype=np.int64),
        np.asarray(order, dtype=np.intp),
        critical=critical,
    )
    return [(rule.group, rule.share) for rule in found]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Bools, list[int], list[int]]:
    """Draw cells with their answers, and groups of them."""
    size, groups = draw(st.integers(2, 12)), draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = generator.integers(1, 400, size)
    answers = draw(st.sampled_from([1, 4]))
    samples = rows * answers
    # Some cells may be unknown, as where samples were drawn.
    samples = np.where(generator.random(size) < draw(st.sampled_from([0, 0.2])), 0, samples)
    favourable = generator.binomial(samples, generator.random(size).round(1))
    members = generator.random((groups, size)) < draw(st.sampled_from([0.2, 0.5]))
    # Every group has somebody inside and outside.
    members[:, 0] |= ~members.any(axis=1)
    members[:, 0] &= ~members.all(axis=1)
    rules = generator.integers(1, 4, groups).tolist()
    order = generator.permutation(groups)[: draw(st.integers(1, groups))].tolist()
    return (rows, samples, favourable), answers, members, rules, order


@given(problems(), st.sampled_from([0.0, 2.0, 3.5]))
@settings(max_examples=150, deadline=None)
def test_groups_and_shares_are_those_of_least_squares(problem: Any, critical: float) -> None:
    counts, _, members, rules, order = problem
    cells = cell_table(*counts)
    found = select(cells, members, rules, order, critical)
    expected = by_lstsq(cells, members, rules, order, critical)
    assert [group for group, _ in found] == [group for group, _ in expected]
    shares = [share for _, share in found]
    assert shares == pytest.approx([share for _, share in expected], abs=1e-9)
    assert sum(shares) <= 1 + 1e-9
    assert all(share >= LEAST_SHARE for share in shares)
    assert len({group for group, _ in found}) == len(found)


@given(problems(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_cells_changes_nothing(problem: Any, random: Any) -> None:
    counts, _, members, rules, order = problem
    places = list(range(members.shape[1]))
    random.shuffle(places)
    found = select(cell_table(*counts), members, rules, order, 2.0)
    again = select(
        cell_table(*(part[places] for part in counts)), members[:, places], rules, order, 2.0
    )
    assert [group for group, _ in found] == [group for group, _ in again]
    assert [share for _, share in found] == pytest.approx([share for _, share in again], abs=1e-9)


def test_a_cell_without_samples_counts_for_nothing() -> None:
    rows, samples = np.array([100, 100, 100]), np.array([100, 0, 100])
    for favourable in (0, 50):
        cells = cell_table(rows, samples, np.array([favourable, 0, 90]))
        members = np.array([[True, False, False], [False, True, False]])
        assert [group for group, _ in select(cells, members, [1, 1], [1, 0], 2.0)] == [0]


@given(problems(), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
@settings(max_examples=100, deadline=None)
def test_near_duplicates_are_those_of_jaccards_index(problem: Any, overlap: float) -> None:
    (rows, _, _), _, members, _, order = problem
    for group in range(len(members)):
        found = near_duplicates(
            group,
            members[group],
            rows,
            lambda quantities: quantities @ members.T,
            np.array(order),
            overlap,
        )
        persons = np.repeat(np.arange(len(rows)), rows)
        own = set(np.flatnonzero(members[group][persons]).tolist())
        others = set(range(len(persons))) - own
        expected = []
        for other in order:
            theirs = set(np.flatnonzero(members[other][persons]).tolist())
            if other == group:
                continue
            alike = max(len(theirs & side) / len(theirs | side) for side in (own, others))
            if alike >= overlap - 1e-12:
                expected.append(other)
        assert list(found) == expected


@pytest.fixture(scope="module")
def people() -> tuple[Table, Contingency, FrequentRuleSets]:
    """6,000 people, and all groups of at least 50 on both sides."""
    from null_people import SPECIFICATION
    from null_people import people as null_people

    table = check_table(null_people(6000, 11), SPECIFICATION)
    contingency = lay_out(table, sensitive_axes(table))
    groups = mine(
        contingency, contingency.tally()[None], min_count=50, min_outside=50, max_features=3
    )
    return table, contingency, groups


def explained(
    people: tuple[Table, Contingency, FrequentRuleSets],
    favourable: Any,
    *,
    critical: float | None = None,
) -> list[tuple[int, float]]:
    """Select rules as an audit does; the groups in order of their differences."""
    _, contingency, groups = people
    rows = contingency.tally()
    cells = cell_table(rows, rows, favourable)
    if critical is None:
        largest = max_statistics(
            contingency,
            smoothed_rates(rows, favourable, rows),
            min_count=50,
            max_features=3,
            samples=99,
            seed=0,
        )
        critical = upper_quantile(largest, 0.05)
    rows_in, yes = groups.sums_of(contingency, np.vstack([rows, favourable]).astype(float))
    gap = yes / rows_in - (favourable.sum() - yes) / (rows.sum() - rows_in)
    found = select_rules(
        cells,
        lambda quantities: groups.sums_of(contingency, quantities),
        lambda group: groups.members(np.array([group]), contingency)[0],
        groups.rule_counts(),
        np.argsort(-np.abs(gap), kind="stable"),
        critical=critical,
    )
    return [(rule.group, rule.share) for rule in found]


CAUSES = {
    "women": lambda frame: frame["sex"] == "f",
    "young men": lambda frame: (frame["sex"] == "m") & (frame["age"] < 20),
    "b": lambda frame: frame["land"] == "b",
    "old of a": lambda frame: (frame["land"] == "a") & (frame["age"] >= 40),
}


@pytest.mark.parametrize(
    "planted",
    [
        {"women": -0.3},
        {"young men": 0.3},
        {"old of a": -0.25},
        {"women": -0.3, "young men": 0.25},
        {"women": -0.3, "old of a": 0.25},
        {"women": -0.2, "old of a": -0.15},
        {"young men": -0.3, "old of a": 0.25},
        {"young men": -0.2, "old of a": -0.15},
    ],
)
def test_planted_causes_are_what_comes_out(
    people: tuple[Table, Contingency, FrequentRuleSets], planted: dict[str, float]
) -> None:
    table, contingency, groups = people
    rates = 0.45 + sum(effect * CAUSES[cause](table.frame) for cause, effect in planted.items())
    # Without chance: as many of each cell as its rate says.
    rate_of_cell = contingency.tally(np.rint(1000 * rates).astype(np.int64)) / (
        1000 * contingency.tally()
    )
    favourable = np.rint(contingency.tally() * rate_of_cell).astype(np.int64)
    found = explained(people, favourable)
    wanted = [CAUSES[cause](table.frame).to_numpy() for cause in planted]
    assert len(found) == len(wanted)
    for group, _ in found:
        inside = groups.rule_set(group).matches(table)
        # A group and everybody else are one cause.
        assert any((inside == cause).all() or (inside == ~cause).all() for cause in wanted)
    assert sum(share for _, share in found) > 0.9


def test_of_pure_noise_no_rule_is_made(
    people: tuple[Table, Contingency, FrequentRuleSets],
) -> None:
    _, contingency, _ = people
    rows = contingency.tally()
    generator = np.random.default_rng(1)
    tables = 200
    nulls = [generator.binomial(rows, 0.3) for _ in range(tables)]
    # Every table has the same groups, and all but the same quantile.
    largest = max_statistics(
        contingency,
        smoothed_rates(rows, np.rint(0.3 * rows).astype(np.int64), rows),
        min_count=50,
        max_features=3,
        samples=999,
        seed=0,
    )
    critical = upper_quantile(largest, 0.05)
    wrong = sum(bool(explained(people, null, critical=critical)) for null in nulls)
    assert wrong <= binom.ppf(0.999, tables, 0.05)
