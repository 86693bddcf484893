"""SliceLine through our interface: the scores of its paper, and every good slice found."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from scripted_subject import scripted

from testsgd.baselines import SliceLine

sliceline = pytest.mark.sliceline

EDGES = (0.0, 20.0, 40.0, 60.0)
ALPHA = 0.95


def people(seed=0, rows=600, unlucky_rate=0.05, **options):
    """Make up people with two categorical features and an age that is missing for some."""
    generator = np.random.default_rng(seed)
    age = generator.uniform(0, 60, rows)
    age[generator.random(rows) < 0.1] = np.nan
    columns = {
        "race": generator.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
        "sex": generator.choice(["f", "m"], rows),
        "age": age,
    }
    unlucky = (columns["race"] == "b") & (columns["sex"] == "f")
    decisions = generator.random(rows) < np.where(unlucky, unlucky_rate, 0.6)
    return scripted(columns, decisions, bins={"age": EDGES}, **options)


def scores_by_hand(subject, errors):
    """Return the positive scores of all slices with enough rows, from the formula of the paper."""
    cells = subject.contingency.coordinates[subject.contingency.cell_of_row]
    found = []
    for size in range(1, subject.max_features + 1):
        for axes in itertools.combinations(range(cells.shape[1]), size):
            values = [np.unique(cells[:, axis]) for axis in axes]
            for chosen in itertools.product(*values):
                inside = (cells[:, axes] == chosen).all(axis=1)
                if inside.sum() < subject.min_count:
                    continue
                excess = errors[inside].mean() / errors.mean() - 1
                score = ALPHA * excess - (1 - ALPHA) * (len(errors) / inside.sum() - 1)
                if score > 0:
                    found.append(score)
    return found


@sliceline
@pytest.mark.parametrize(("seed", "longest"), [(0, 3), (1, 2), (2, 1)])
def test_scores_are_those_of_the_formula_over_all_slices(seed, longest):
    subject = people(seed, max_features=longest, theta=0.02)
    expected = scores_by_hand(subject, ~subject.decisions)
    expected += scores_by_hand(subject, subject.decisions)
    result = SliceLine().run(subject)
    found = [finding.value for finding in result.findings]
    assert found == pytest.approx(sorted(expected, reverse=True)[:20])
    assert SliceLine().is_finding(subject, result)


@sliceline
def test_slices_without_a_rule_take_no_places_of_others():
    generator = np.random.default_rng(5)
    rows = {f"f{index}": generator.choice(["a", "b"], 4000) for index in range(5)}
    unlucky = sum((column == "a").astype(int) for column in rows.values())
    decisions = generator.random(4000) < 0.9 - 0.16 * unlucky
    # A number with a single bin has no rule, but for the missing ones, and these are few.
    age = generator.uniform(20, 60, 4000)
    age[:60] = np.nan
    without = SliceLine().run(scripted(rows, decisions, theta=0.05))
    alike = scripted({**rows, "age": age}, decisions, theta=0.05, bins={"age": (0.0, 100.0)})
    assert len(without.findings) == 20
    found = SliceLine().run(alike).findings
    assert [item.text for item in found] == [item.text for item in without.findings]


@sliceline
def test_the_planted_group_comes_first_with_its_rows():
    first = SliceLine().run(people(rows=2000, theta=0.03)).findings[0]
    frame = people(rows=2000, theta=0.03).table.frame
    assert first.text == "race = b and sex = f"
    assert np.array_equal(first.rows, (frame["race"] == "b") & (frame["sex"] == "f"))


@sliceline
def test_a_group_that_is_favoured_is_found_too():
    first = SliceLine().run(people(rows=2000, theta=0.03, unlucky_rate=1.0)).findings[0]
    assert first.text == "race = b and sex = f"


@sliceline
@pytest.mark.parametrize("decision", [0, 1])
def test_there_may_be_nothing_to_find(decision):
    subject = scripted({"race": list("abcd") * 5}, [decision] * 20, theta=0.1)
    result = SliceLine().run(subject)
    assert (result.findings, result.available) == ((), True)


@sliceline
def test_when_time_is_up_it_is_not_begun():
    result = SliceLine().run(people(), time_limit=0)
    assert result.findings == ()
    assert "time was up" in result.note


def test_without_the_package_the_result_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sliceline", None)
    monkeypatch.setitem(sys.modules, "sliceline.slicefinder", None)
    result = SliceLine().run(people())
    assert not result.available
    assert result.findings == ()
    assert "pip install 'testsgd[sliceline]'" in result.note
