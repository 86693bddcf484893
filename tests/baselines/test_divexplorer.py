"""DivExplorer through our interface: the divergences of pandas, and nothing lost on the way."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pandas as pd
import pytest
from scripted_subject import scripted

from testsgd.baselines import DivExplorer

divexplorer = pytest.mark.divexplorer

EDGES = (0.0, 20.0, 40.0, 60.0)


def people(seed=0, rows=400, **options):
    """Make up people with two categorical features and an age that is missing for some."""
    generator = np.random.default_rng(seed)
    age = generator.uniform(0, 60, rows)
    age[generator.random(rows) < 0.1] = np.nan
    columns = {
        "race": generator.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
        "sex": generator.choice(["f", "m"], rows),
        "age": age,
    }
    unlucky = (columns["race"] == "b") & (columns["sex"] == "f") & (age < 20)
    decisions = generator.random(rows) < np.where(unlucky, 0.05, 0.6)
    return scripted(columns, decisions, bins={"age": EDGES}, **options)


def by_groupby(subject, longest):
    """Give the divergence of every frequent itemset, from pandas."""
    frame = subject.table.frame.assign(
        favourable=subject.decisions,
        age=pd.cut(
            subject.table.frame["age"],
            EDGES,
            right=False,
            labels=["age < 20", "20 <= age < 40", "age >= 40"],
        )
        .astype(object)
        .fillna("age = missing"),
    )
    found = {}
    for size in range(1, longest + 1):
        for names in itertools.combinations(["race", "sex", "age"], size):
            groups = frame.groupby(list(names), observed=True)["favourable"].agg(["size", "mean"])
            for key, (count, rate) in groups.iterrows():
                values = (key,) if size == 1 else key
                if count >= subject.min_count:
                    text = " and ".join(
                        value if name == "age" else f"{name} = {value}"
                        for name, value in zip(names, values, strict=True)
                    )
                    found[text] = rate - subject.decisions.mean()
    return found


@divexplorer
@pytest.mark.parametrize(("seed", "longest"), [(0, 3), (1, 2), (2, 1)])
def test_divergences_are_those_of_pandas(seed, longest):
    subject = people(seed, max_features=longest)
    expected = by_groupby(subject, longest)
    result = DivExplorer().run(subject)
    assert result.groups == len(expected)
    assert len(result.findings) == min(20, len(expected))
    for finding in result.findings:
        assert finding.value == pytest.approx(expected[finding.text])
    sizes = [abs(finding.value) for finding in result.findings]
    assert sizes == sorted(sizes, reverse=True)
    largest = sorted((abs(value) for value in expected.values()), reverse=True)
    assert sizes == pytest.approx(largest[:20])


@divexplorer
def test_the_planted_group_comes_first_with_its_rows():
    subject = people(rows=2000, theta=0.03)
    first = DivExplorer().run(subject).findings[0]
    frame = subject.table.frame
    planted = (frame["race"] == "b") & (frame["sex"] == "f") & (frame["age"] < 20)
    assert first.text == "race = b and sex = f and age < 20"
    assert np.array_equal(first.rows, planted)
    assert first.value == pytest.approx(
        subject.decisions[planted].mean() - subject.decisions.mean()
    )


@divexplorer
def test_longer_itemsets_are_left_out_and_counted():
    subject = people(max_features=2)
    longer = len(by_groupby(subject, 3)) - len(by_groupby(subject, 2))
    assert longer > 0
    assert DivExplorer().run(subject).note == f"{longer} itemsets of more than 2 items left out"


@divexplorer
@pytest.mark.parametrize("rows", [60, 100, 140, 300])
def test_a_group_of_exactly_enough_rows_is_found(rows):
    # Shares like 0.07 and their products with whole numbers are not exact in floats.
    enough = round(0.07 * rows + 0.49)
    races = enough * ["rare"] + (rows - enough) * ["usual"]
    subject = scripted({"race": races}, np.arange(rows) % 2, theta=0.07)
    assert subject.min_count == enough
    assert DivExplorer().run(subject).groups == 2
    subject = scripted({"race": [*races[1:], "usual"]}, np.arange(rows) % 2, theta=0.07)
    assert DivExplorer().run(subject).groups == 1


@divexplorer
def test_there_may_be_no_frequent_itemset():
    result = DivExplorer().run(scripted({"race": list("abcd")}, [0, 1, 0, 1], theta=0.3))
    assert (result.groups, result.findings, result.available) == (0, (), True)


@divexplorer
def test_when_time_is_up_it_is_not_begun():
    result = DivExplorer().run(people(), time_limit=0)
    assert (result.groups, result.note) == (0, "time was up before it began")


def test_without_the_package_the_result_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "divexplorer", None)
    result = DivExplorer().run(people())
    assert not result.available
    assert result.findings == ()
    assert "pip install 'testsgd[divexplorer]'" in result.note
