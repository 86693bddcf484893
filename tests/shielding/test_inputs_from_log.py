"""Input distributions estimated from a log, against counting by hand in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import DataError, ParameterError
from testsgd.shielding.inputs import InputDistribution

GROUPS = ["a", "b", "c"]
ROW = st.tuples(
    st.sampled_from(GROUPS),
    st.integers(0, 1),
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0, 1, None]),
)


@given(st.lists(ROW, min_size=1, max_size=25), st.sampled_from([0, 1, Fraction(1, 2), 3]))
def test_shares_are_those_of_the_log_with_people_added(
    rows: list[tuple[str, int, float, int | None]], added: Fraction
) -> None:
    labelled = any(row[3] is not None for row in rows)
    inputs = InputDistribution.from_log(
        [row[0] for row in rows],
        [row[1] for row in rows],
        costs=[row[2] for row in rows],
        labels=[np.nan if row[3] is None else row[3] for row in rows] if labelled else None,
        known_groups=GROUPS,
        smoothing=float(added),
    )
    costs = sorted({row[2] for row in rows})
    assert inputs.costs == tuple(costs)
    for place, group in enumerate(GROUPS):
        for decision in (0, 1):
            here = [row for row in rows if row[:2] == (group, decision)]
            for at, cost in enumerate(costs):
                overall = Fraction(sum(row[2] == cost for row in rows), len(rows))
                top = sum(row[2] == cost for row in here) + added * overall
                expected = Fraction(top) / (len(rows) + 6 * added)
                assert inputs.probabilities[place, decision, at] == pytest.approx(float(expected))
            known = [row[3] for row in here if row[3] is not None]
            ones, people = sum(known) + Fraction(added, 2), len(known) + added
            if labelled:
                assert inputs.labels is not None
                expected = Fraction(ones) / people if people else Fraction(1, 2)
                assert inputs.labels[place, decision] == pytest.approx(float(expected))


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=200), st.integers(1, 8))
def test_many_costs_are_put_together_upwards(costs: list[float], most: int) -> None:
    people = len(costs)
    inputs = InputDistribution.from_log(
        ["a", "b"] * people,
        [0, 1] * people,
        costs=np.repeat(costs, 2),
        smoothing=0,
        most_costs=most,
    )
    assert len(inputs.costs) <= most
    assert set(inputs.costs) <= set(costs)
    assert max(costs) == inputs.costs[-1]
    if len(set(costs)) <= most:
        assert inputs.costs == tuple(sorted(set(costs)))
    # Each cost is counted where it will be looked up.
    counts = np.bincount(inputs.cost_places(costs), minlength=len(inputs.costs))
    np.testing.assert_allclose(inputs.probabilities.sum(axis=(0, 1)), counts / people)


def test_all_different_costs_fall_into_equal_parts() -> None:
    people = 400
    costs = np.random.default_rng(5).permutation(people)
    inputs = InputDistribution.from_log(
        ["a", "b"] * (people // 2), [1] * people, costs=costs, most_costs=4, smoothing=0
    )
    assert inputs.costs == (99.0, 199.0, 299.0, 399.0)
    np.testing.assert_allclose(inputs.probabilities.sum(axis=(0, 1)), 0.25)


def test_a_long_log_comes_near_to_what_made_it() -> None:
    generator = np.random.default_rng(11)
    truth = np.array([[0.1, 0.3], [0.4, 0.2]])
    people = 100_000
    cells = generator.choice(4, size=people, p=truth.ravel())
    inputs = InputDistribution.from_log(np.array(["a", "b"])[cells // 2], cells % 2)
    # Five standard errors of a share, at most 0.5 / sqrt(n) each.
    np.testing.assert_allclose(inputs.probabilities[:, :, 0], truth, atol=2.5 / people**0.5)


def test_groups_are_those_of_the_log_in_order_and_may_be_numbers_there() -> None:
    inputs = InputDistribution.from_log(np.array([2.0, 1.0, 2.0]), [True, False, True])
    assert inputs.groups == ("1", "2")


LOGS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"groups": []}, DataError, "log is empty"),
    ({"groups": ["a", "d", "b"]}, DataError, "log row 2: the group 'd' is unknown"),
    ({"groups": ["a", None, "b"]}, DataError, "log row 2: the group is missing"),
    ({"groups": ["a", "b", float("nan")]}, DataError, "log row 3: the group is missing"),
    ({"recommendations": [0, 1]}, DataError, "2 recommendations for 3 groups"),
    ({"recommendations": [0, 1, 2]}, DataError, "log row 3: the recommendation is 2"),
    ({"recommendations": [0, np.nan, 1]}, DataError, "log row 2: the recommendation is nan"),
    ({"recommendations": ["yes", 1, 0]}, DataError, "a recommendation is no number"),
    ({"costs": [1, -2, 1]}, DataError, "log row 2: the cost is -2"),
    ({"costs": [1, 2, np.nan]}, DataError, "log row 3: the cost is nan"),
    ({"costs": [np.inf, 2, 1]}, DataError, "log row 1: the cost is inf"),
    ({"costs": [1, 2]}, DataError, "2 costs for 3 groups"),
    ({"labels": [0, 0.5, 1]}, DataError, "log row 2: the label is 0.5"),
    ({"labels": [np.nan] * 3}, DataError, "no label is known"),
    ({"smoothing": -1}, ParameterError, "the smoothing is -1"),
    ({"smoothing": np.nan}, ParameterError, "the smoothing is nan"),
    ({"most_costs": 0}, ParameterError, "room for 0 costs"),
]


@pytest.mark.parametrize(("parts", "kind", "words"), LOGS)
def test_logs_that_are_no_good(parts: dict[str, Any], kind: type[Exception], words: str) -> None:
    log = {"groups": ["a", "b", "a"], "recommendations": [0, 1, 1], "known_groups": ["a", "b"]}
    with pytest.raises(kind) as caught:
        InputDistribution.from_log(**{**log, **parts})
    assert words in str(caught.value)


def test_a_log_of_one_group_has_nothing_to_compare() -> None:
    with pytest.raises(DataError, match="only the group 'a'"):
        InputDistribution.from_log(["a", "a"], [0, 1])
