"""Input distributions: made of tables and of nothing, looked up, and read back as they were."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.shielding.inputs import InputDistribution

TABLE = [
    {"group": "a", "recommendation": 1, "probability": 0.25, "label_probability": 0.75},
    {"group": "a", "recommendation": 1, "probability": 0.125, "cost": 3},
    {"group": "b", "recommendation": 0, "probability": 0.5, "cost": 0.5, "label_probability": 0.1},
    {"group": "b", "recommendation": 1, "probability": 0.125, "cost": 3, "label_probability": 0},
]


@given(
    st.integers(2, 5),
    st.lists(st.floats(0, 100), min_size=1, max_size=6, unique=True),
    st.booleans(),
)
def test_uniform_gives_everything_the_same_probability(
    groups: int, costs: list[float], labelled: bool
) -> None:
    names = [f"group {place}" for place in range(groups)]
    inputs = InputDistribution.uniform(names, costs=costs, labelled=labelled)
    assert inputs.groups == tuple(names)
    assert inputs.costs == tuple(sorted(costs))
    assert inputs.probabilities.shape == (groups, 2, len(costs))
    expected = float(Fraction(1, 2 * groups * len(costs)))
    np.testing.assert_allclose(inputs.probabilities, expected, rtol=1e-12)
    if labelled:
        assert inputs.labels is not None
        assert inputs.labels.tolist() == [[0.5, 0.5]] * groups
    else:
        assert inputs.labels is None


def test_a_table_fills_its_cells_and_leaves_the_others_at_0() -> None:
    inputs = InputDistribution.from_table(["a", "b"], TABLE)
    assert inputs.costs == (0.5, 1.0, 3.0)
    assert inputs.probabilities.tolist() == [
        [[0, 0, 0], [0, 0.25, 0.125]],
        [[0.5, 0, 0], [0, 0, 0.125]],
    ]
    assert inputs.labels is not None
    # One row of several costs is enough, and where nobody comes either label is as likely.
    assert inputs.labels.tolist() == [[0.5, 0.75], [0.1, 0.0]]


def test_a_table_without_labels_has_none() -> None:
    rows = [{key: row[key] for key in row if key != "label_probability"} for row in TABLE]
    assert InputDistribution.from_table(["a", "b"], rows).labels is None


def test_a_group_may_have_probability_0() -> None:
    inputs = InputDistribution.from_table(["a", "b", "c"], TABLE)
    assert inputs.probabilities[2].sum() == 0


def test_probabilities_a_little_off_are_scaled_to_1() -> None:
    off = np.full((2, 2, 1), 0.25 * (1 + 4e-10))
    inputs = InputDistribution(("a", "b"), (1.0,), off)
    assert inputs.probabilities.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(inputs.probabilities, 0.25, rtol=1e-15)


def test_arrays_cannot_be_written_to_and_are_copies() -> None:
    given_array = np.full((2, 2, 1), 0.25)
    inputs = InputDistribution(("a", "b"), (1.0,), given_array, np.full((2, 2), 0.5))
    given_array[0, 0, 0] = 1
    assert inputs.probabilities[0, 0, 0] == 0.25
    assert inputs.labels is not None
    for array in (inputs.probabilities, inputs.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0


@given(st.lists(st.floats(0, 10), min_size=1, max_size=6, unique=True), st.floats(0, 12), st.data())
def test_a_cost_counts_as_the_next_known_one(
    costs: list[float], cost: float, data: st.DataObject
) -> None:
    inputs = InputDistribution.uniform(["a", "b"], costs=costs)
    if data.draw(st.booleans()):
        cost = data.draw(st.sampled_from(costs))
    expected = next(
        (place for place, known in enumerate(inputs.costs) if known >= cost), len(costs) - 1
    )
    assert inputs.cost_places([cost, cost]).tolist() == [expected, expected]


@given(st.lists(st.integers(0, 1000), min_size=8, max_size=8).filter(any), st.booleans())
def test_what_json_keeps_is_the_same_to_the_last_digit(weights: list[int], labelled: bool) -> None:
    shares = np.array(weights, dtype=np.float64).reshape(2, 2, 2) / sum(weights)
    labels = np.array([[1 / 3, 0.1], [0, 1]]) if labelled else None
    inputs = InputDistribution(("a", "b"), (0.1, 1 / 3), shares, labels)
    again = InputDistribution.from_dict(json.loads(json.dumps(inputs.to_dict())))
    assert again.to_dict() == inputs.to_dict()
    assert (again.groups, again.costs) == (inputs.groups, inputs.costs)
    np.testing.assert_array_equal(again.probabilities, inputs.probabilities)
