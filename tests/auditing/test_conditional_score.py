"""The conditional score: a direct standardisation, and an interval that covers the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from testsgd.auditing.conditional import (
    ConditionalScore,
    check_other_features,
    conditional_scores,
    strata_of,
)
from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.errors import ParameterError
from testsgd.rules import Contingency

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "conditional"},
        "label": {"column": "granted", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
            "hours": {"type": "integer", "range": [0, 99]},
            "school": {"type": "categorical", "values": ["low", "middle", "high"]},
        },
    }
)


def table_of(**columns: Any) -> Table:
    """A table; what is not given is filled in."""
    rows = len(next(iter(columns.values())))
    filler = {"gender": ["f", "m"] * (rows // 2) + ["f"] * (rows % 2), "hours": [1] * rows}
    return check_table(pd.DataFrame(filler | {"school": ["low"] * rows} | columns), SPECIFICATION)


def score(
    inside: Any, strata: Any, favourable: Any, answers: int = 1, error: float = 0.05
) -> ConditionalScore | None:
    """The conditional score of one group."""
    inside = np.asarray(inside, dtype=bool)
    sides = Contingency((), np.zeros((2, 0), dtype=np.int16), inside.astype(np.int32))
    (found,) = conditional_scores(
        np.asarray(strata, dtype=np.intp),
        sides,
        np.array([[False, True]]),
        np.asarray(favourable),
        answers,
        features=("school",),
        error=error,
    )
    return found


def test_simpsons_paradox_is_resolved() -> None:
    # The group applies where hardly anybody is admitted; in each department the rates are equal.
    counts = {
        (True, 0): (200, 20),
        (True, 1): (20, 16),
        (False, 0): (30, 3),
        (False, 1): (300, 240),
    }
    rows = [
        (inside, department, place < admitted)
        for (inside, department), (people, admitted) in counts.items()
        for place in range(people)
    ]
    inside, department, admitted = (np.array(column) for column in zip(*rows, strict=True))
    raw = admitted[inside].mean() - admitted[~inside].mean()
    found = score(inside, department, admitted)
    assert raw == pytest.approx(36 / 220 - 243 / 330)
    assert found is not None
    assert found.difference == pytest.approx(0, abs=1e-15)
    assert found.confidence_interval[0] < 0 < found.confidence_interval[1]
    assert (found.covered, found.strata) == (1.0, 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_difference_is_that_of_a_weighted_regression(seed: int) -> None:
    import statsmodels.api as sm

    generator = np.random.default_rng(seed)
    rows, answers = 300, 8
    strata = generator.integers(0, 6, rows)
    inside = generator.random(rows) < 0.1 + 0.1 * strata
    favourable = generator.binomial(answers, 0.2 + 0.1 * strata - 0.1 * inside)
    # Nobody outside is in the last stratum.
    inside[strata == 5] = True
    covered = strata < 5
    weights = np.ones(rows)
    for stratum in range(5):
        there = strata == stratum
        weights[there & ~inside] = (there & inside).sum() / (there & ~inside).sum()
    fitted = sm.WLS(
        favourable[covered] / answers,
        sm.add_constant(inside[covered].astype(float)),
        weights=weights[covered],
    ).fit()
    found = score(inside, strata, favourable, answers)
    assert found is not None
    assert found.difference == pytest.approx(fitted.params[1])
    assert found.covered == pytest.approx((inside & covered).sum() / inside.sum())
    assert found.strata == 5
    low, high = found.confidence_interval
    assert (low + high) / 2 == pytest.approx(found.difference)


def test_nobody_alike_gives_no_score() -> None:
    assert score([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]) is None


# The share of the rows, the group's share and the two rates in each stratum.
POPULATIONS = {
    "few strata": ([0.5, 0.3, 0.2], [0.1, 0.3, 0.6], [0.2, 0.4, 0.7], [0.3, 0.4, 0.8]),
    "rare answers": ([0.6, 0.4], [0.1, 0.2], [0.02, 0.05], [0.03, 0.01]),
    "opposite gaps": ([0.5, 0.5], [0.2, 0.3], [0.9, 0.1], [0.1, 0.9]),
    "many strata": ([0.05] * 20, [0.2] * 20, [0.3, 0.5] * 10, [0.5, 0.4] * 10),
}


@pytest.mark.parametrize("answers", [1, 10])
@pytest.mark.parametrize("name", list(POPULATIONS))
def test_the_interval_covers_the_truth(name: str, answers: int) -> None:
    shares, group, rate_in, rate_out = (np.array(part) for part in POPULATIONS[name])
    mix = shares * group / (shares @ group)
    truth = mix @ (rate_in - rate_out)
    generator = np.random.default_rng(1)
    runs, rows = 500, 600
    differences, margins = np.zeros(runs), np.zeros(runs)
    for run in range(runs):
        strata = generator.choice(len(shares), rows, p=shares)
        inside = generator.random(rows) < group[strata]
        rate = np.where(inside, rate_in[strata], rate_out[strata])
        found = score(inside, strata, generator.binomial(answers, rate), answers)
        assert found is not None
        differences[run] = found.difference
        margins[run] = (found.confidence_interval[1] - found.confidence_interval[0]) / 2
    covered = int((np.abs(differences - truth) <= margins).sum())
    assert covered >= stats.binom.ppf(1e-3, runs, 0.95)
    if answers == 1:
        # No wider than it need be; one row is worth no more than two answers, so ten are not used.
        assert margins.mean() <= 1.4 * 1.96 * differences.std()


def test_a_smaller_error_gives_a_wider_interval() -> None:
    generator = np.random.default_rng(0)
    inside, strata = generator.random(200) < 0.4, generator.integers(0, 3, 200)
    favourable = generator.integers(0, 2, 200)
    wide, narrow = (score(inside, strata, favourable, error=error) for error in (0.001, 0.05))
    assert wide is not None
    assert narrow is not None
    assert wide.confidence_interval[0] < narrow.confidence_interval[0]
    assert narrow.confidence_interval[1] < wide.confidence_interval[1]
    margins = [
        (one.confidence_interval[1] - one.confidence_interval[0]) / 2 for one in (wide, narrow)
    ]
    assert margins[0] / margins[1] == pytest.approx(stats.norm.isf(0.0005) / stats.norm.isf(0.025))


def groups_of(strata: NDArray[np.intp]) -> list[list[int]]:
    """The rows of each stratum."""
    return sorted(np.flatnonzero(strata == one).tolist() for one in np.unique(strata))


def test_continuous_features_have_five_bins() -> None:
    hours = np.random.default_rng(0).permutation(100)
    strata = strata_of(table_of(hours=hours), ["hours"])
    assert np.bincount(strata).tolist() == [20] * 5
    assert strata.tolist() == (hours // 20).tolist()


def test_a_value_that_most_rows_have_is_a_bin_of_its_own() -> None:
    hours = np.array([0] * 92 + list(range(1, 9)))
    assert groups_of(strata_of(table_of(hours=hours), ["hours"])) == [
        list(range(92)),
        list(range(92, 100)),
    ]


def test_strata_are_the_combinations_with_missing_values_as_one() -> None:
    school = ["low", None, "high", "low", None, "high"]
    hours = [1.0, 1.0, 1.0, np.nan, np.nan, 1.0]
    strata = strata_of(table_of(school=school, hours=hours), ["school", "hours"])
    assert groups_of(strata) == [[0], [1], [2, 5], [3], [4]]
    assert strata_of(table_of(hours=hours), []).tolist() == [0] * 6


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["gender"], "sensitive"),
        (["granted"], "label"),
        (["wealth"], "no feature 'wealth'"),
        (["hours", "hours"], "twice"),
    ],
)
def test_names_are_checked(names: list[str], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        check_other_features(names, SPECIFICATION)
    assert caught.value.where == "condition_on"
    check_other_features(["school", "hours"], SPECIFICATION)
    check_other_features([], SPECIFICATION)


def test_where_all_features_are_sensitive_there_is_none_to_choose() -> None:
    features = {
        name: feature.model_copy(update={"sensitive": True})
        for name, feature in SPECIFICATION.features.items()
    }
    everything = SPECIFICATION.model_copy(update={"features": features})
    with pytest.raises(ParameterError) as caught:
        check_other_features(["hours"], everything)
    assert caught.value.remedy == "leave it out: all features are sensitive"
