"""Small examples of the audit's functions on arrays, worked out by hand or from the sources."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import testsgd
from testsgd.auditing.conditional import check_other_features
from testsgd.auditing.max_statistic import upper_quantile
from testsgd.auditing.stability import affordable
from testsgd.auditing.text.answers import other_means
from testsgd.auditing.text.stability import affordable_of_texts
from testsgd.data import load_specification
from testsgd.errors import ParameterError
from testsgd.scoring import lower_confidence_bound, paired_tails_interval


def test_the_lower_bound_is_the_end_nearer_to_zero() -> None:
    low, high = np.array([-0.3, -0.1, 0.2]), np.array([-0.1, 0.1, 0.4])
    assert lower_confidence_bound(low, high).tolist() == [0.1, 0.0, 0.2]


def test_the_upper_quantile_is_infinite_where_samples_are_too_few() -> None:
    assert upper_quantile(np.arange(1.0, 100.0), 0.05) == 95.0
    assert upper_quantile(np.arange(10.0), 0.05) == math.inf


def test_other_means_leave_the_own_term_out() -> None:
    assert other_means(np.array([[1.0, 0.0, 0.0]]), (3,)).tolist() == [[0.0, 0.5, 0.5]]


def test_of_100_pairs_20_change_for_the_better_and_5_for_the_worse() -> None:
    low, high = paired_tails_interval(*np.array([[0.15], [0.25], [100]]), error=0.05)
    assert low.round(3).tolist() == [0.045]
    assert high.round(3).tolist() == [0.257]


def test_bootstrap_samples_that_would_take_too_long_are_not_drawn() -> None:
    assert (affordable(5_000, 80), affordable(19_000_000, 1_800)) == (200, 0)
    assert affordable_of_texts(5_000, 1_000_000, 2_000) == 200
    assert affordable_of_texts(100_000, 10**9, 10**6) == 0


def test_a_sensitive_feature_is_no_condition() -> None:
    with pytest.raises(ParameterError, match="'gender' is sensitive, and groups are made of"):
        check_other_features(["gender"], load_specification("demo"))


def test_28_per_cent_against_10_are_a_score_of_18() -> None:
    # The example below definition 4.1 of the TestSGD paper.
    people = pd.DataFrame(
        {
            "gender": ["male"] * 100 + ["male", "female", "male"] * 100,
            "race": ["white"] * 100 + ["black", "white", "white"] * 100,
            "age": [*range(40, 60)] * 5 + [45, 50, 60, 40, 59, 39] * 50,
        }
    )
    decided = [1] * 28 + [0] * 72 + [1] * 30 + [0] * 270
    result = testsgd.audit_predictions(
        decided,
        sensitive_features=people,
        groups="gender = male and race = white and 40 <= age < 60",
    )
    [group] = result.summary.groups
    assert (group.n_in, group.n_out) == (100, 300)
    assert (group.rate_in, group.rate_out) == (0.28, 0.1)
    assert group.score == pytest.approx(0.18)
