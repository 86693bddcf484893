"""AIF360's bias scan through our interface: a planted group, scores by formula, all subsets."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from scipy.special import xlogy
from scripted_subject import scripted

from testsgd.baselines import BiasScan
from testsgd.baselines.bias_scan import text_of
from testsgd.rules import CategoryAxis, IntervalAxis

aif360 = pytest.mark.aif360

EDGES = (0.0, 20.0, 40.0, 60.0)


def score(favourable, count, overall):
    """Give the log likelihood ratio of a group's own rate against that of all."""
    rate = favourable / count
    return xlogy(favourable, rate / overall) + xlogy(count - favourable, (1 - rate) / (1 - overall))


def planted():
    """Give everybody half a chance, but race b from 20 to 40 one in ten."""
    races, ages, decisions = [], [], []
    for race, age in itertools.product("ab", (10.0, 30.0, 50.0)):
        for place in range(20):
            races.append(race)
            ages.append(age)
            decisions.append(place < 2 if (race, age) == ("b", 30.0) else place % 2)
    return scripted({"race": races, "age": ages}, decisions, bins={"age": EDGES})


def random_people(seed):
    generator = np.random.default_rng(seed)
    race, age = generator.choice(list("abc"), 90), generator.uniform(0, 60, 90)
    chance = 0.3 + 0.4 * ((race == "a") & (age > 20))
    return scripted(
        {"race": race, "age": age}, generator.random(90) < chance, bins={"age": EDGES}, seed=seed
    )


@aif360
def test_the_planted_group_is_found_with_its_score():
    subject = planted()
    result = BiasScan().run(subject)
    worst = next(item for item in result.findings if subject.decisions[item.rows].mean() < 0.4)
    frame = subject.table.frame
    assert worst.text == "race = b and 20 <= age < 40"
    assert np.array_equal(worst.rows, (frame["race"] == "b") & (frame["age"] == 30))
    # 52 of 120 are favoured, 2 of 20 in the group.
    assert worst.value == pytest.approx(score(2, 20, 52 / 120), abs=2e-3)
    figures = {figure.name: figure.value for figure in result.figures}
    assert figures["rate of the group that gets it less often"] == 0.1
    assert figures["rate of the group that gets it more often"] == 0.5
    assert [item.value for item in result.findings] == sorted(
        (item.value for item in result.findings), reverse=True
    )


@aif360
@pytest.mark.parametrize("seed", range(4))
def test_no_set_of_cells_scores_higher(seed):
    subject = random_people(seed)
    cells = subject.contingency.coordinates[subject.contingency.cell_of_row]
    subsets = [
        list(chosen) for size in (1, 2, 3) for chosen in itertools.combinations(range(3), size)
    ]
    overall = subject.decisions.mean()
    best = {True: 0.0, False: 0.0}
    for races, ages in itertools.product(subsets, subsets):
        inside = np.isin(cells[:, 0], races) & np.isin(cells[:, 1], ages)
        rate = subject.decisions[inside].mean()
        value = score(subject.decisions[inside].sum(), inside.sum(), overall)
        best[bool(rate > overall)] = max(best[bool(rate > overall)], value)
    for finding in BiasScan().run(subject).findings:
        above = bool(subject.decisions[finding.rows].mean() > overall)
        # Where a rate is 0 or 1 the best factor is infinite, and the scan stops short of it.
        assert finding.value == pytest.approx(best[above], abs=0.02)


@aif360
def test_the_same_seed_finds_the_same_and_leaves_the_shared_generator_alone():
    before = np.random.get_state()  # noqa: NPY002 - the state that AIF360 seeds
    first, second = BiasScan().run(random_people(1)), BiasScan().run(random_people(1))
    after = np.random.get_state()  # noqa: NPY002 - the state that AIF360 seeds
    assert [item.text for item in first.findings] == [item.text for item in second.findings]
    assert np.array_equal(before[1], after[1])


@aif360
def test_a_group_below_the_threshold_of_support_is_marked():
    races = 97 * ["usual"] + 3 * ["rare"]
    decisions = [place % 2 for place in range(97)] + [1, 1, 1]
    result = BiasScan().run(scripted({"race": races}, decisions, theta=0.05))
    assert "the group that gets it more often is below the support threshold" in result.note


@aif360
def test_when_all_are_decided_alike_there_is_nothing_to_scan():
    result = BiasScan().run(scripted({"race": list("abab")}, [1, 1, 1, 1]))
    assert (result.findings, result.note) == ((), "everybody is decided alike")


@aif360
def test_when_time_is_up_no_direction_is_begun():
    result = BiasScan().run(planted(), time_limit=0)
    assert result.findings == ()
    assert result.note == "time was up: not scanned for those who get it less often"


def test_cells_in_words():
    axes = (
        CategoryAxis("race", ("a", "b", "missing"), (0, 1, -1)),
        IntervalAxis("age", (0.0, 20.0, 40.0, 60.0), has_missing=True),
    )
    assert text_of(axes, {0: [1, 2], 1: [0, 1]}) == "race in {b, missing} and age < 40"
    assert text_of(axes, {1: [0, 2]}) == "(age < 20 or age >= 40)"
    assert text_of(axes, {1: [1, 3]}) == "(20 <= age < 40 or age = missing)"


def test_without_the_package_the_result_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "aif360.detectors.mdss.MDSS", None)
    result = BiasScan().run(planted())
    assert not result.available
    assert "pip install 'testsgd[aif360]'" in result.note
