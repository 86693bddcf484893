"""The fewest rules that explain differences: against least squares, and known causes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from null_people import SPECIFICATION, audited, people
from numpy.typing import NDArray
from plain_selection import forward_selection, left_over
from scipy.stats import binom

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.max_statistic import max_statistics, smoothed_rates, upper_quantile
from testsgd.auditing.rule_selection import cell_table, near_duplicates, select_rules
from testsgd.data import Table, check_table
from testsgd.models import load_model
from testsgd.rules import Contingency, FrequentRuleSets, lay_out, mine, sensitive_axes


@st.composite
def problems(draw: Any) -> dict[str, Any]:
    """Draw cells with rows, samples and answers, groups of cells, and an order of the groups."""
    cells = draw(st.integers(2, 9))
    rows = draw(st.lists(st.integers(0, 60), min_size=cells, max_size=cells))
    answers = draw(st.integers(1, 4))
    samples = [draw(st.sampled_from([0, answers * count])) for count in rows]
    favourable = [draw(st.integers(0, count)) for count in samples]
    group = st.lists(st.booleans(), min_size=cells, max_size=cells)
    members = np.array(draw(st.lists(group, min_size=1, max_size=14)), dtype=bool)
    order = draw(st.permutations(range(len(members))))
    return {
        "members": members,
        "rule_counts": draw(
            st.lists(st.integers(1, 3), min_size=len(members), max_size=len(members))
        ),
        "order": order[: draw(st.integers(0, len(order)))],
        "rows": rows,
        "samples": samples,
        "favourable": favourable,
        "critical": draw(st.sampled_from([0.0, 1.0, 2.0, 3.5])),
    }


def select(problem: dict[str, Any]) -> list[tuple[int, float]]:
    members = problem["members"]
    cells = cell_table(
        *(np.array(problem[name], dtype=np.int64) for name in ("rows", "samples", "favourable"))
    )
    rules = select_rules(
        cells,
        lambda quantities: quantities @ members.T.astype(float),
        members.__getitem__,
        np.array(problem["rule_counts"], dtype=np.int64),
        np.array(problem["order"], dtype=np.intp),
        critical=problem["critical"],
    )
    return [(rule.group, rule.share) for rule in rules]


@given(problems())
@settings(max_examples=300)
def test_groups_and_shares_are_those_of_least_squares(problem: dict[str, Any]) -> None:
    expected = forward_selection(**problem)
    found = select(problem)
    assert [group for group, _ in found] == [group for group, _ in expected]
    np.testing.assert_allclose(
        [share for _, share in found], [one for _, one in expected], atol=1e-9
    )


@given(problems())
def test_shares_add_up_to_what_all_chosen_groups_explain_together(problem: dict[str, Any]) -> None:
    found = select(problem)
    if not found:
        return
    weights = np.where(np.array(problem["samples"]) > 0, problem["rows"], 0).astype(float)
    rates = np.array(problem["favourable"]) / np.maximum(problem["samples"], 1)
    columns = [problem["members"][group].astype(float) for group, _ in found]
    one = np.ones(len(weights))
    total = left_over([one], rates, weights)
    together = 1 - left_over([one, *columns], rates, weights) / total
    shares = [share for _, share in found]
    assert sum(shares) == pytest.approx(together, abs=1e-9)
    assert sum(shares) <= 1 + 1e-9
    assert min(shares) >= 0.01
    assert len({group for group, _ in found}) == len(found) <= 10


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_cells_and_the_numbers_of_groups_do_not_matter(
    problem: dict[str, Any], random: Any
) -> None:
    cells, groups = list(range(len(problem["rows"]))), list(range(len(problem["members"])))
    random.shuffle(cells)
    random.shuffle(groups)
    renumbered = {group: number for number, group in enumerate(groups)}
    shuffled = problem | {
        "members": problem["members"][np.ix_(groups, cells)],
        "rule_counts": [problem["rule_counts"][group] for group in groups],
        "order": [renumbered[group] for group in problem["order"]],
    }
    for name in ("rows", "samples", "favourable"):
        shuffled[name] = [problem[name][cell] for cell in cells]
    plain, other = select(problem), select(shuffled)
    assert [renumbered[group] for group, _ in plain] == [group for group, _ in other]
    np.testing.assert_allclose([one for _, one in plain], [one for _, one in other], atol=1e-9)


def test_nothing_differs_so_nothing_is_explained() -> None:
    problem = {
        "members": np.eye(4, dtype=bool),
        "rule_counts": [1] * 4,
        "order": range(4),
        "rows": [10, 20, 30, 40],
        "samples": [10, 20, 30, 40],
        "favourable": [1, 2, 3, 4],
        "critical": 0.0,
    }
    assert select(problem) == []
    assert select(problem | {"favourable": [0] * 4}) == []
    assert select(problem | {"order": []}) == []
    assert select(problem | {"samples": [0] * 4, "favourable": [0] * 4}) == []


@given(
    st.lists(st.lists(st.booleans(), min_size=6, max_size=6).filter(any), min_size=1, max_size=12),
    st.lists(st.integers(1, 40), min_size=6, max_size=6),
    st.data(),
    st.integers(1, 100),
)
def test_near_duplicates_are_those_by_jaccard_of_the_group_or_of_everybody_else(
    table: list[list[bool]], rows: list[int], data: Any, hundredths: int
) -> None:
    members = np.array(table)
    group = data.draw(st.integers(0, len(table) - 1))
    order = data.draw(st.permutations(range(len(table))))

    def jaccard(first: list[bool], second: list[bool]) -> Fraction:
        pairs = list(zip(first, second, rows, strict=True))
        either = sum(weight for one, other, weight in pairs if one or other)
        # Of a group of everybody nobody is left to be compared.
        return (
            Fraction(0)
            if either == 0
            else Fraction(sum(weight for one, other, weight in pairs if one and other), either)
        )

    own = table[group]

    def others(of: list[bool]) -> list[bool]:
        return [not inside for inside in of]

    expected = [
        other
        for other in order
        if other != group
        and max(
            jaccard(own, table[other]),
            # A small group's complement has most rows in common with any large group.
            min(jaccard(others(own), table[other]), jaccard(own, others(table[other]))),
        )
        >= Fraction(hundredths, 100)
    ]
    found = near_duplicates(
        group,
        members[group],
        ~members[group],
        np.array(rows, dtype=np.int64),
        lambda quantities: quantities @ members.T.astype(float),
        lambda quantities: quantities.sum(axis=1, keepdims=True),
        np.array(order, dtype=np.intp),
        hundredths / 100,
    )
    assert list(found) == expected


Causes = dict[str, float]

CAUSES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "women": lambda frame: frame["sex"] == "f",
    "young men": lambda frame: (frame["sex"] == "m") & (frame["age"] < 20),
    "old of a": lambda frame: (frame["land"] == "a") & (frame["age"] >= 40),
    "women of b": lambda frame: (frame["sex"] == "f") & (frame["land"] == "b"),
    "old": lambda frame: frame["age"] >= 40,
}


def rates_of(frame: pd.DataFrame, causes: Causes) -> NDArray[np.float64]:
    """Selection rates of people whom a model treats alike but for some causes."""
    rates = np.full(len(frame), 0.5)
    for name, effect in causes.items():
        rates += effect * CAUSES[name](frame).to_numpy()
    return rates


def audit_of(causes: Causes, rows: int, seed: int) -> TableFindings:
    table = check_table(people(rows, seed), SPECIFICATION)

    def decide(frame: pd.DataFrame) -> Any:
        return np.where(frame["points"] < 100_000 * rates_of(frame, causes), "yes", "no")

    parameters = AuditParameters(replicates=99, stability=0, seed=seed)
    return run_audit(load_model(decide, SPECIFICATION), table, parameters)


def is_cause(inside: NDArray[np.bool_], cause: NDArray[np.bool_]) -> bool:
    """A group and everybody else are one cause."""
    return bool((inside == cause).all() or (inside == ~cause).all())


@pytest.mark.parametrize(
    "causes", [{"women of b": -0.4}, {"old": -0.3}, {"women of b": -0.4, "old": 0.2}]
)
def test_planted_causes_are_what_comes_out_of_audits(causes: Causes) -> None:
    seeds, exact = range(8), 0
    for seed in seeds:
        found = audit_of(causes, 6000, seed)
        assert found.guarantee is not None
        # Many groups differ, because they share rows with these.
        assert found.guarantee.significant > 20
        chosen = [found.rule_set(rule.group).matches(found.table) for rule in found.rules]
        planted = [CAUSES[name](found.table.frame).to_numpy() for name in causes]
        for cause in planted:
            # The cause itself, but for a few people whom chance put on one side or the other.
            alike = [
                max((side & cause).sum() / (side | cause).sum() for side in (inside, ~inside))
                for inside in chosen
            ]
            assert max(alike) > 0.7
        exact += len(chosen) == len(planted) and all(
            any(is_cause(inside, cause) for inside in chosen) for cause in planted
        )
    assert exact >= len(seeds) / 2


def crowd_of(rows: int, fewest: int) -> tuple[Table, Contingency, FrequentRuleSets]:
    """Lay people out, and search the groups of enough of them on both sides."""
    table = check_table(people(rows, 11), SPECIFICATION)
    contingency = lay_out(table, sensitive_axes(table))
    groups = mine(
        contingency, contingency.tally()[None], min_count=fewest, min_outside=fewest, max_features=3
    )
    return table, contingency, groups


def critical_value(contingency: Contingency, favourable: Any, fewest: int, samples: int) -> float:
    rows = contingency.tally()
    largest = max_statistics(
        contingency,
        smoothed_rates(rows, favourable, rows),
        min_count=fewest,
        max_features=3,
        samples=samples,
        seed=0,
    )
    return upper_quantile(largest, 0.05)


def selected(
    contingency: Contingency, groups: FrequentRuleSets, favourable: Any, critical: float
) -> list[tuple[int, float]]:
    """Select rules as an audit does; the groups in order of their differences."""
    rows = contingency.tally()
    rows_in, yes = groups.sums_of(contingency, np.vstack([rows, favourable]).astype(float))
    gap = yes / rows_in - (favourable.sum() - yes) / (rows.sum() - rows_in)
    found = select_rules(
        cell_table(rows, rows, favourable),
        lambda quantities: groups.sums_of(contingency, quantities),
        lambda group: groups.members(np.array([group]), contingency)[0],
        groups.rule_counts(),
        np.argsort(-np.abs(gap), kind="stable"),
        critical=critical,
    )
    return [(rule.group, rule.share) for rule in found]


@pytest.mark.parametrize(
    "causes",
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
def test_without_chance_planted_causes_are_exactly_what_comes_out(causes: Causes) -> None:
    table, contingency, groups = crowd_of(6000, 50)
    shares = contingency.tally(np.rint(1000 * rates_of(table.frame, causes)).astype(np.int64))
    # As many of each cell as its rate says.
    favourable = np.rint(shares / 1000).astype(np.int64)
    critical = critical_value(contingency, favourable, 50, 99)
    found = selected(contingency, groups, favourable, critical)
    planted = [CAUSES[name](table.frame).to_numpy() for name in causes]
    assert len(found) == len(planted)
    for group, _ in found:
        inside = groups.rule_set(group).matches(table)
        assert any(is_cause(inside, cause) for cause in planted)
    assert sum(share for _, share in found) > 0.9


def test_rules_of_an_audit_are_those_of_least_squares_over_its_rows() -> None:
    causes = {"women of b": -0.4, "old": 0.25}
    found = audit_of(causes, 1500, 3)
    table, guarantee = found.table, found.guarantee
    assert guarantee is not None
    keys = table.frame[["sex", "land"]].assign(age=table.frame["age"] // (59 / 6))
    yes = table.frame["points"] < 100_000 * rates_of(table.frame, causes)
    cells = keys.assign(rows=1, yes=yes).groupby(["sex", "land", "age"], observed=True)
    first = ~keys.duplicated()
    sums = cells[["rows", "yes"]].transform("sum")[first]
    groups = range(len(found.rule_sets))
    inside = np.array([found.rule_set(group).matches(table)[first] for group in groups])
    expected = forward_selection(
        inside,
        [len(found.rule_set(group).rules) for group in groups],
        found.ranking.tolist(),
        sums["rows"].tolist(),
        sums["rows"].tolist(),
        sums["yes"].tolist(),
        guarantee.simultaneous_critical_value,
    )
    assert len(expected) >= 2
    assert [rule.group for rule in found.rules] == [group for group, _ in expected]
    np.testing.assert_allclose([rule.share for rule in found.rules], [one for _, one in expected])


@pytest.mark.parametrize(
    ("rows", "fewest"), [(400, 20), (2000, 20), (6000, 50)], ids=["400", "2000", "6000"]
)
@pytest.mark.parametrize("rate", [0.02, 0.05, 0.3, 0.9])
def test_of_pure_noise_no_rule_is_made(rows: int, fewest: int, rate: float) -> None:
    _, contingency, groups = crowd_of(rows, fewest)
    counts = contingency.tally()
    generator = np.random.default_rng(1)
    tables, wrong = 200, 0
    # All tables have the same groups, and all but the same quantile.
    typical = np.rint(rate * counts).astype(np.int64)
    critical = critical_value(contingency, typical, fewest, 999)
    for _ in range(tables):
        favourable = generator.binomial(counts, rate)
        wrong += bool(selected(contingency, groups, favourable, critical))
    assert wrong <= binom.ppf(0.999, tables, 0.05)


@pytest.mark.slow
def test_audits_of_people_who_are_treated_alike_seldom_have_a_rule() -> None:
    # Each with its own quantile, and cells of a few rows that all agree by chance.
    runs = 60
    found = sum(bool(audited(400, seed, replicates=99).rules) for seed in range(runs))
    assert found <= binom.ppf(0.999, runs, 0.05)


def test_a_cell_without_samples_counts_for_nothing() -> None:
    problem = {
        "members": np.array([[True, False, False], [False, True, False]]),
        "rule_counts": [1, 1],
        "order": [1, 0],
        "rows": [100] * 3,
        "samples": [100, 0, 100],
        "critical": 2.0,
    }
    for favourable in (0, 50):
        chosen = select(problem | {"favourable": [favourable, 0, 90]})
        assert [group for group, _ in chosen] == [0]
