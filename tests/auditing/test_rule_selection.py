"""The fewest rules that explain the differences: against least squares, and against known causes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from null_people import SPECIFICATION, audited, people
from plain_selection import forward_selection, left_over
from scipy.stats import binom

from testsgd.auditing import AuditParameters, TableFindings, run_audit
from testsgd.auditing.rule_selection import cell_table, near_duplicates, select_rules
from testsgd.data import check_table
from testsgd.models import load_model


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
    np.testing.assert_allclose([share for _, share in found], [one for _, one in expected], atol=1e-9)


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
    st.lists(
        st.lists(st.booleans(), min_size=6, max_size=6).filter(any), min_size=1, max_size=12
    ),
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
        return Fraction(sum(weight for one, other, weight in pairs if one and other), either)

    others = [not inside for inside in table[group]]
    expected = [
        other
        for other in order
        if other != group
        and max(jaccard(table[group], table[other]), jaccard(others, table[other]))
        >= Fraction(hundredths, 100)
    ]
    found = near_duplicates(
        group,
        members[group],
        np.array(rows, dtype=np.int64),
        lambda quantities: quantities @ members.T.astype(float),
        np.array(order, dtype=np.intp),
        hundredths / 100,
    )
    assert list(found) == expected


Hurt = dict[str, float]

WOMEN_OF_B = "sex = f and land = b"
OLD_PEOPLE = "age >= 40"


def hurts(frame: pd.DataFrame, by: Hurt) -> np.ndarray:
    """A model that is harder on some groups, each by so many points, and blind otherwise."""
    needed = np.full(len(frame), 60_000.0)
    groups = {
        WOMEN_OF_B: (frame["sex"] == "f") & (frame["land"] == "b"),
        OLD_PEOPLE: frame["age"] >= 40,
    }
    for text, points in by.items():
        needed -= groups[text].to_numpy() * points * 1000
    return np.where(frame["points"] < needed, "yes", "no")


def audit_of(by: Hurt, rows: int, seed: int) -> TableFindings:
    table = check_table(people(rows, seed), SPECIFICATION)
    model = load_model(lambda frame: hurts(frame, by), SPECIFICATION)
    return run_audit(model, table, AuditParameters(replicates=99, stability=0, seed=seed))


def texts(found: TableFindings) -> set[str]:
    return {found.rule_set(rule.group).text for rule in found.rules}


@pytest.mark.parametrize(
    "by",
    [{WOMEN_OF_B: 30}, {OLD_PEOPLE: 20}, {WOMEN_OF_B: 40, OLD_PEOPLE: 15}],
    ids=["women of b", "old people", "both"],
)
def test_planted_causes_are_what_comes_out_and_nothing_else(by: Hurt) -> None:
    # Everybody else of a cause is the same finding.
    same = {OLD_PEOPLE: {OLD_PEOPLE, "age < 40"}, WOMEN_OF_B: {WOMEN_OF_B}}
    exact = 0
    for seed in range(10):
        found = audit_of(by, 6000, seed)
        # Hundreds of groups differ, because they share rows with these.
        assert found.guarantee is not None
        assert found.guarantee.sure > 20
        chosen = texts(found)
        exact += len(chosen) == len(by) and all(chosen & same[cause] for cause in by)
        assert all(chosen & same[cause] for cause in by)
    # A rule too many is allowed as often as the confidence says.
    assert exact >= binom.ppf(0.001, 10, 0.95)


def test_rules_of_an_audit_are_those_of_least_squares_over_its_rows() -> None:
    found = audit_of({WOMEN_OF_B: 30, OLD_PEOPLE: 15}, 1500, 3)
    table, guarantee = found.table, found.guarantee
    assert guarantee is not None
    keys = table.frame[["sex", "land"]].assign(age=table.frame["age"] // 10)
    yes = hurts(table.frame, {WOMEN_OF_B: 30, OLD_PEOPLE: 15}) == "yes"
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
        guarantee.critical_value,
    )
    assert len(expected) >= 2
    assert [rule.group for rule in found.rules] == [group for group, _ in expected]
    np.testing.assert_allclose([rule.share for rule in found.rules], [one for _, one in expected])


def test_chance_alone_has_no_rules() -> None:
    runs = 200
    found = sum(bool(audited(400, seed, replicates=99).rules) for seed in range(runs))
    assert found <= binom.ppf(0.999, runs, 0.05)
