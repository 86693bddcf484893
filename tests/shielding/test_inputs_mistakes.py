"""Mistakes in an input distribution: each is refused, with the value that was seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from testsgd.errors import ParameterError, SpecificationError
from testsgd.shielding.inputs import InputDistribution

GOOD: dict[str, Any] = {
    "groups": ("a", "b"),
    "costs": (1.0, 2.0),
    "probabilities": np.full((2, 2, 2), 0.125),
    "labels": np.full((2, 2), 0.5),
}


def with_cell(value: float, *place: int) -> np.ndarray[Any, Any]:
    """Give the probabilities with another value in one cell and what is missing in the last."""
    array: np.ndarray[Any, Any] = GOOD["probabilities"].copy()
    array[place] = value
    return array


ARRAYS = [
    ({"groups": ("a",)}, "1 group is named", "groups"),
    ({"groups": ()}, "0 groups are named", "groups"),
    ({"groups": ("a", "a")}, "'a' stands twice", "groups"),
    ({"groups": ("a", " ")}, "' ' is no name", "groups"),
    ({"groups": ("a", 2)}, "2 is no name", "groups"),
    ({"groups": "ab"}, "'ab' is one name", "groups"),
    ({"groups": ("a", "b", "c")}, "the shape is (2, 2, 2)", "probabilities"),
    ({"costs": ()}, "no cost", "costs"),
    ({"costs": (1.0,)}, "the shape is (2, 2, 2)", "probabilities"),
    ({"costs": (2.0, 1.0)}, "2, 1 are not ascending", "costs"),
    ({"costs": (1.0, 1.0)}, "the cost 1 stands twice", "costs"),
    ({"costs": (-1.0, 1.0)}, "the cost -1 is negative", "costs"),
    ({"costs": (1.0, np.nan)}, "nan, no finite number", "costs"),
    ({"costs": (1.0, np.inf)}, "inf, no finite number", "costs"),
    ({"costs": (1.0, "2")}, "'2', no finite number", "costs"),
    ({"probabilities": np.full((2, 2, 2), 0.1)}, "add up to 0.8, not to 1", "inputs"),
    ({"probabilities": np.full((2, 2, 2), 0.125 * (1 + 2e-9))}, "add up to 1.000000002", "inputs"),
    ({"probabilities": with_cell(np.nan, 1, 0, 1)}, "nan", "probabilities[1, 0, 1]"),
    ({"probabilities": with_cell(-0.125, 0, 1, 0)}, "-0.125", "probabilities[0, 1, 0]"),
    ({"probabilities": with_cell(1.5, 0, 1, 0)}, "1.5", "probabilities[0, 1, 0]"),
    ({"probabilities": [[["x"]]]}, "no numbers", "probabilities"),
    ({"labels": np.full((2,), 0.5)}, "the shape is (2,)", "labels"),
    ({"labels": [[0.5, 0.5], [0.5, 2]]}, "2.0", "labels[1, 1]"),
    ({"labels": [[0.5, np.nan], [0.5, 0]]}, "nan", "labels[0, 1]"),
]


@pytest.mark.parametrize(("parts", "words", "where"), ARRAYS)
def test_arrays_that_are_no_distribution(parts: dict[str, Any], words: str, where: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        InputDistribution(**{**GOOD, **parts})
    assert words in caught.value.what
    assert where in caught.value.where
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


ROW = {"group": "a", "recommendation": 1, "probability": 0.5}
OTHER = {"group": "b", "recommendation": 1, "probability": 0.5}
TABLES = [
    ([], "no rows", "table"),
    ([ROW, OTHER, OTHER], "'b', 1 and cost 1 stands there already", "table.2"),
    ([ROW], "add up to 0.5", "inputs"),
    ([ROW, {**OTHER, "group": "c"}], "the group 'c' is unknown", "table.1"),
    ([ROW, {**OTHER, "recommendation": 2}], "recommendation: ", "table.1"),
    ([ROW, {**OTHER, "recommendation": None}], "recommendation: ", "table.1"),
    ([ROW, {"group": "b", "recommendation": 1}], "probability: this key is missing", "table.1"),
    ([{**ROW, "probability": -0.5}, OTHER], "(seen: -0.5)", "table.0"),
    ([{**ROW, "probability": float("nan")}, OTHER], "finite number (seen: nan)", "table.0"),
    ([{**ROW, "probability": "0.5"}, OTHER], "(seen: '0.5')", "table.0"),
    ([{**ROW, "cost": -2}, OTHER], "(seen: -2)", "table.0"),
    ([{**ROW, "cost": float("inf")}, OTHER], "finite number (seen: inf)", "table.0"),
    ([{**ROW, "price": 2}, OTHER], "price: unknown key", "table.0"),
    ([ROW, "b"], "(seen: 'b')", "table.1"),
    ([{**ROW, "label_probability": 1.5}, OTHER], "(seen: 1.5)", "table.0"),
    ([{**ROW, "label_probability": 1}, OTHER], "of 'b' and 1 is missing", "table.1"),
    (
        [
            {**ROW, "label_probability": 0.5, "probability": 0.25},
            {**ROW, "label_probability": 0.6, "probability": 0.25, "cost": 2},
            OTHER,
        ],
        "of 'a' and 1 is 0.6 here, and 0.5",
        "table.1",
    ),
]


@pytest.mark.parametrize(("rows", "words", "where"), TABLES)
def test_tables_that_are_no_distribution(rows: list[Any], words: str, where: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        InputDistribution.from_table(["a", "b"], rows)
    assert words in caught.value.what
    assert where in caught.value.where
    assert caught.value.remedy


@pytest.mark.parametrize("cost", [-1, -1e-300, float("nan"), float("inf")])
def test_costs_that_are_none(cost: float) -> None:
    inputs = InputDistribution.uniform(["a", "b"], costs=[1, 2])
    with pytest.raises(ParameterError, match="a cost is"):
        inputs.cost_places([1, cost])


def test_a_saved_distribution_without_a_part() -> None:
    saved = InputDistribution.uniform(["a", "b"]).to_dict()
    del saved["labels"]
    with pytest.raises(SpecificationError, match="'labels' is missing"):
        InputDistribution.from_dict(saved)
