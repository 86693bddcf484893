"""The auditor of linear threshold groups: cases by hand, and every threshold by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scripted_subject import scripted

from testsgd.baselines import GerryFair
from testsgd.baselines.gerryfair import regression_weights, sensitive_columns

TEN = tuple(float(edge) for edge in range(11))


def grid(decide):
    """Lay out a hundred people on a square, one a place."""
    x, y = (side.ravel().astype(float) for side in np.meshgrid(np.arange(10), np.arange(10)))
    return scripted({"x": x, "y": y}, decide(x, y), bins={"x": TEN, "y": TEN}, theta=0.1)


def by_name(result):
    return {figure.name: figure.value for figure in result.figures}


def test_a_group_cut_off_by_a_line_is_found_exactly():
    subject = grid(lambda x, y: x + y >= 12)
    result = GerryFair().run(subject)
    # 1 + 2 + ... + 7 = 28 people; everybody inside is favoured, nobody outside is.
    (finding,) = result.findings
    assert np.array_equal(finding.rows, subject.decisions)
    assert finding.rows.sum() == 28
    assert finding.value == pytest.approx(0.28 * 0.72)
    assert by_name(result)["largest difference"] == pytest.approx(1)
    assert (result.queries, result.available, result.note) == (0, True, "")


def test_both_directions_are_searched():
    favoured = GerryFair().run(grid(lambda x, y: x + y >= 12))
    refused = GerryFair().run(grid(lambda x, y: x + y < 12))
    assert np.array_equal(favoured.findings[0].rows, refused.findings[0].rows)
    assert by_name(favoured) == pytest.approx(by_name(refused))


def test_a_category_is_cut_at_the_rate_of_all():
    # a: 3 of 4, b: 2 of 4, c: 1 of 12; together 6 of 20. The regression fits the three rates.
    decisions = [1, 1, 1, 0] + [1, 1, 0, 0] + [1] + 11 * [0]
    subject = scripted({"race": 4 * ["a"] + 4 * ["b"] + 12 * ["c"]}, decisions, theta=0.1)
    result = GerryFair().run(subject)
    assert by_name(result) == pytest.approx(
        {
            # a and b: 5 of 8, against 1 of 12 outside and 6 of 20 in all.
            "violation of the regression's group": (5 / 8 - 0.3) * 0.4,
            "difference of the regression's group": 5 / 8 - 1 / 12,
            "largest violation": (5 / 8 - 0.3) * 0.4,
            # a alone: 3 of 4, against 3 of 16.
            "largest difference": 3 / 4 - 3 / 16,
        }
    )
    assert [finding.rows.sum() for finding in result.findings] == [8, 4]
    assert result.findings[1].value == pytest.approx((3 / 4 - 0.3) * 0.2)
    assert result.groups == 4


@pytest.mark.parametrize("seed", range(5))
def test_no_threshold_is_better(seed):
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 10, 60).astype(float)
    decisions = generator.random(60) < 0.2 + 0.6 * (age > 6)
    subject = scripted({"age": age}, decisions, bins={"age": TEN}, theta=0.15)
    violations, differences = [], []
    for threshold in range(10):
        group = age > threshold
        for inside in (group, ~group):
            if inside.sum() >= 9 and (~inside).sum() >= 9:
                rate = decisions[inside].mean()
                violations.append(abs(rate - decisions.mean()) * inside.mean())
                differences.append(abs(rate - decisions[~inside].mean()))
    figures = by_name(GerryFair().run(subject))
    assert figures["largest violation"] == pytest.approx(max(violations))
    assert figures["largest difference"] == pytest.approx(max(differences))
    assert figures["violation of the regression's group"] <= figures["largest violation"] + 1e-12


def test_the_fit_is_that_of_a_regression_with_an_intercept():
    generator = np.random.default_rng(3)
    race = generator.choice(["a", "b", "c"], 200)
    age = generator.uniform(0, 10, 200)
    age[:30] = np.nan
    decisions = generator.random(200) < 0.4
    subject = scripted({"race": race, "age": age}, decisions, bins={"age": TEN})
    columns, names, parts = sensitive_columns(subject.table, subject.axes)
    weights = regression_weights(columns, subject.decisions, parts)
    assert names == ("race = a", "race = b", "race = c", "age", "age missing")
    known = np.where(np.isnan(age), np.nanmean(age), age)
    design = np.column_stack([np.ones(200), race == "a", race == "b", known, np.isnan(age)])
    fitted = design @ np.linalg.lstsq(design, decisions.astype(float), rcond=None)[0]
    assert columns @ weights + decisions.mean() == pytest.approx(fitted)
    # Weights of values have mean 0 over the rows, so that they can be read.
    assert weights[:3] @ [(race == value).mean() for value in "abc"] == pytest.approx(0)


def test_numbers_are_in_standard_deviations():
    subject = scripted({"age": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1], bins={"age": (0.0, 2.0, 5.0)})
    columns, names, parts = sensitive_columns(subject.table, subject.axes)
    assert (names, parts) == (("age",), ())
    assert columns[:, 0].mean() == pytest.approx(0)
    assert columns[:, 0].std() == pytest.approx(1)


def test_the_words_name_what_weighs_most():
    x = np.tile(np.arange(10.0), 10)
    hue = np.repeat(["dark", "light"], 50)
    subject = scripted({"x": x, "hue": hue}, x >= 7, bins={"x": TEN}, theta=0.1)
    (finding,) = GerryFair().run(subject).findings
    # The covariance of x with "7 or more" is 24/10 - 4.5 * 3/10, its deviation the root of 8.25.
    assert finding.text.startswith("weighted sum above ")
    assert "heaviest weights: x (+0.37)" in finding.text
    assert "hue" not in finding.text
    # Where the lower side is the smaller one, the signs lead into the group all the same.
    (finding,) = (
        GerryFair().run(scripted({"x": x, "hue": hue}, x >= 3, bins={"x": TEN}, theta=0.1)).findings
    )
    assert finding.text.startswith("weighted sum of at least ")
    assert "heaviest weights: x (-0.37)" in finding.text


def test_both_sides_have_the_threshold_of_support():
    age = np.arange(10.0)
    subject = scripted({"age": age}, age == 9, bins={"age": TEN}, theta=0.3)
    result = GerryFair().run(subject)
    assert all(3 <= finding.rows.sum() <= 7 for finding in result.findings)
    # The only one who is favoured is among the three oldest.
    assert by_name(result)["largest difference"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("decisions", "theta"), [(4 * [1], 0.1), ([0, 0, 0, 1], 0.6)])
def test_there_may_be_nothing_to_find(decisions, theta):
    subject = scripted({"race": ["a", "a", "a", "b"]}, decisions, theta=theta)
    assert GerryFair().run(subject).findings == ()


def test_when_time_is_up_the_regression_s_group_remains():
    result = GerryFair().run(grid(lambda x, y: x + y >= 12), time_limit=0)
    (finding,) = result.findings
    assert finding.value == by_name(result)["violation of the regression's group"]
    assert result.groups == 2
    assert result.note.startswith("time was up")
