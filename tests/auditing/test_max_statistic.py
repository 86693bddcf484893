"""The largest deviation of any group: against the groups' covariances, taken from the rows."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from testsgd.auditing.max_statistic import (
    affordable_samples,
    max_statistics,
    smoothed_rates,
    upper_quantile,
)
from testsgd.data import DatasetSpecification, check_table
from testsgd.rules import lay_out, mine, sensitive_axes

SPECIFICATION = DatasetSpecification.model_validate(
    {
        "dataset": {"name": "small"},
        "features": {
            "sex": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "land": {"type": "categorical", "values": ["a", "b", "c"], "sensitive": True},
            "age": {"type": "integer", "range": [0, 39], "bins": 4, "sensitive": True},
            "hours": {"type": "integer", "range": [0, 60]},
        },
        "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
    }
)
ROWS = 300
MIN_COUNT = 15


@pytest.fixture(scope="module")
def laid_out():
    generator = np.random.default_rng(1)
    frame = {
        "sex": generator.choice(["f", "m"], ROWS, p=[0.3, 0.7]),
        "land": generator.choice(["a", "b", "c"], ROWS, p=[0.6, 0.3, 0.1]),
        "age": generator.integers(0, 40, ROWS),
        "hours": generator.integers(0, 61, ROWS),
    }
    import pandas as pd

    table = check_table(pd.DataFrame(frame), SPECIFICATION)
    contingency = lay_out(table, sensitive_axes(table))
    favourable = generator.random(ROWS) < np.where(frame["sex"] == "f", 0.2, 0.5)
    return table, contingency, contingency.tally(favourable.astype(np.int64))


def strays(table, contingency, favourable, samples, seed):
    """Draw the groups' deviations together, from their covariances worked out row by row."""
    rows = contingency.tally()
    rates = smoothed_rates(rows, favourable, rows).rates[contingency.cell_of_row]
    rule_sets = mine(contingency, rows[None], min_count=MIN_COUNT, max_features=3)
    inside = np.array([rule_sets.rule_set(group).matches(table) for group in range(len(rule_sets))])
    size_in, size_out = inside.sum(1), (~inside).sum(1)
    rate_in, rate_out = (inside @ rates) / size_in, (~inside @ rates) / size_out
    # A row's part in a difference if its answer is yes, and if it is no.
    parts = [
        np.where(
            inside,
            (answer - rate_in[:, None]) / size_in[:, None],
            -(answer - rate_out[:, None]) / size_out[:, None],
        )
        for answer in (1, 0)
    ]
    covariance = (parts[0] * rates) @ parts[0].T + (parts[1] * (1 - rates)) @ parts[1].T
    error = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(error, error)
    drawn = np.random.default_rng(seed).multivariate_normal(
        np.zeros(len(error)), correlation, samples, method="svd"
    )
    return np.abs(drawn).max(axis=1)


def test_quantiles_are_those_of_the_groups_joint_distribution(laid_out):
    table, contingency, favourable = laid_out
    rows = contingency.tally()
    found = max_statistics(
        contingency,
        smoothed_rates(rows, favourable, rows),
        min_count=MIN_COUNT,
        max_features=3,
        samples=4000,
        seed=3,
    )
    expected = strays(table, contingency, favourable, 40_000, seed=4)
    for share in (0.5, 0.9, 0.95, 0.99):
        above = int((found > np.quantile(expected, share)).sum())
        # Two independent errors: that of 4,000 samples, and a tenth of its variance for the 40,000.
        assert abs(above - 4000 * (1 - share)) <= 4 * math.sqrt(1.1 * 4000 * share * (1 - share))


def test_threads_change_nothing_and_seeds_do(laid_out):
    _, contingency, favourable = laid_out
    rows = contingency.tally()
    cells = smoothed_rates(rows, favourable, rows)

    def drawn(**settings):
        return max_statistics(
            contingency, cells, min_count=MIN_COUNT, max_features=2, samples=60, **settings
        )

    np.testing.assert_array_equal(drawn(seed=1, jobs=1), drawn(seed=1, jobs=3))
    assert not np.array_equal(drawn(seed=1), drawn(seed=2))


def test_nothing_strays_where_no_group_is_frequent(laid_out):
    _, contingency, favourable = laid_out
    rows = contingency.tally()
    found = max_statistics(
        contingency,
        smoothed_rates(rows, favourable, rows),
        min_count=ROWS,
        max_features=3,
        samples=5,
        seed=0,
    )
    assert found.tolist() == [0.0] * 5


@pytest.mark.parametrize(("samples", "error"), [(19, 0.05), (99, 0.05), (200, 0.1)])
def test_a_new_sample_is_rarely_above_the_quantile(samples, error):
    generator = np.random.default_rng(7)
    above = 0
    for _ in range(4000):
        drawn = generator.standard_normal(samples + 1)
        above += drawn[-1] > upper_quantile(drawn[:-1], error)
    assert above <= binom.ppf(0.999, 4000, error)


def test_millions_of_rule_sets_get_fewer_samples(laid_out, monkeypatch):
    _, contingency, _ = laid_out
    assert affordable_samples(contingency, 3, 1000) == 1000
    monkeypatch.setattr("testsgd.auditing.max_statistic._MOST_NUMBERS", 10_000)
    assert affordable_samples(contingency, 3, 1000) == 99


@pytest.mark.parametrize("rate", [0, 1])
def test_answers_that_are_all_alike_stray_by_numbers_that_are_known(laid_out, rate):
    _, contingency, _ = laid_out
    # So many rows that the few answers that smoothing adds are lost to rounding.
    rows = contingency.tally() * 10_000
    found = max_statistics(
        contingency,
        smoothed_rates(rows, rate * rows, rows),
        min_count=MIN_COUNT * 10_000,
        max_features=3,
        samples=20,
        seed=0,
    )
    assert np.isfinite(found).all()
    assert (found > 0).all()
