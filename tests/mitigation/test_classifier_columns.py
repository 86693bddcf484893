"""From X to a described table and back: kinds of columns, order of values, limits of bins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from testsgd.data import Feature
from testsgd.errors import DataError, ParameterError
from testsgd.mitigation.retrained_estimator import Columns, round_edges, rows_table
from testsgd.rules import bin_edges

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False)


def described(values: Any, *, sensitive: bool = False) -> Feature:
    """Describe one column beside one of two values, which is the sensitive one if it is not."""
    frame = pd.DataFrame({"cells": values})
    frame["side"] = np.arange(len(frame)) % 2
    table = rows_table(frame, np.arange(len(frame)) % 3 == 0, ["cells"] if sensitive else ["side"])
    assert table is not None
    return table.specification.features["cells"]


@given(NUMBERS, NUMBERS)
def test_limits_of_bins_are_round_and_cover_the_range(first: float, second: float) -> None:
    low, high = min(first, second), max(first, second)
    if high - low < 1e-6 * max(abs(low), abs(high), 1e-6):
        return
    edges = round_edges(low, high)
    assert edges[0] <= low < edges[1]
    assert edges[-2] < high <= edges[-1]
    assert 3 <= len(edges) <= 12
    steps = np.diff(edges)
    assert steps == pytest.approx(np.full(len(steps), steps[0]), rel=1e-6)
    leading = f"{steps.mean():.0e}"[0]
    assert leading in "125"


@given(st.integers(-1_000, 1_000), st.integers(11, 5_000))
def test_limits_between_whole_numbers_are_whole(low: int, width: int) -> None:
    edges = round_edges(float(low), float(low + width - 1))
    assert all(edge % 1 == 0 for edge in edges)


@pytest.mark.parametrize(
    ("values", "kind", "domain"),
    [
        ([3, 1, 2, 7], "integer", (1, 7)),
        ([3.0, 1.0, np.nan, 7.0], "integer", (1, 7)),
        ([0.5, 1.0, 7.25], "decimal", (0.5, 7.25)),
        (pd.array([1, None, 4, 9], dtype="Int64"), "integer", (1, 9)),
        ([np.nan, np.nan], "decimal", (0, 1)),
        ([4, 4, 4], "categorical", ["4"]),
        ([True, False, True], "categorical", ["False", "True"]),
        (["b", "a", None, "b"], "categorical", ["a", "b"]),
        (["b", 1, "a", 1.0], "categorical", ["1", "a", "b"]),
        (pd.Categorical(["low", "high"], ["low", "mid", "high"]), "categorical", ["low", "high"]),
    ],
)
def test_kinds_of_columns(values: Any, kind: str, domain: Any) -> None:
    feature = described(values)
    assert feature.type == kind
    assert (feature.values if kind == "categorical" else feature.range) == domain
    assert not feature.sensitive


def test_sensitive_columns() -> None:
    # Two numbers are two kinds of people; more are an order.
    assert described([0, 1, 1, 0], sensitive=True).values == ["0", "1"]
    assert described([0.0, 1.5, np.nan], sensitive=True).values == ["0", "1.5"]
    few = described([1, 2, 4, 4], sensitive=True)
    assert bin_edges(few) == (1, 2, 3, 4, 5)
    ages = described([18, 30, 79], sensitive=True)
    assert bin_edges(ages) == (10, 20, 30, 40, 50, 60, 70, 80)
    shares = described([0.05, 0.5, 0.93], sensitive=True)
    assert bin_edges(shares) == (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)


def test_no_sensitive_column_varies() -> None:
    frame = pd.DataFrame({"same": [1, 1, 1], "other": [1, 2, 3]})
    labels = np.array([True, False, True])
    assert rows_table(frame, labels, ["same"]) is None
    both = rows_table(frame, labels, ["same", "other"])
    assert both is not None
    assert both.specification.sensitive == ("other",)
    # A column may have the name that the label would get.
    named = rows_table(frame.assign(label=[1, 2, 3]), labels, ["label"])
    assert named is not None
    assert named.specification.label.column == "label_"


@given(
    arrays(np.float32, array_shapes(min_dims=2, max_dims=2), elements=st.floats(-9, 9, width=32))
)
def test_an_array_comes_back_as_it_was(X: np.ndarray) -> None:
    columns = Columns.of(X)
    frame = columns.frame(X)
    assert list(frame.columns) == [f"x{place}" for place in range(X.shape[1])]
    back = columns.back(frame)
    assert back.dtype == X.dtype
    assert np.array_equal(back, X)


def test_a_frame_comes_back_as_it_was() -> None:
    X = pd.DataFrame(
        {
            0: pd.Categorical(["a", None, "b"], ["a", "b", "c"]),
            "one": pd.array([1, None, 3], dtype="Int8"),
            2.5: np.array([1, 2, 3], dtype=np.float32),
            "text": ["x", None, "y"],
        },
        index=[7, 8, 9],
    )
    columns = Columns.of(X)
    frame = columns.frame(X)
    assert columns.names == ("0", "one", "2.5", "text")
    pd.testing.assert_frame_equal(columns.back(frame), X.reset_index(drop=True))
    # What a perturbation made wider is narrow again.
    wider = frame.assign(**{"one": frame["one"].astype("Int64"), "0": frame["0"].astype(object)})
    pd.testing.assert_frame_equal(columns.back(wider), X.reset_index(drop=True))
    assert columns.chosen([0, "text"]) == ("0", "text")
    assert columns.chosen("one") == ("one",)
    assert columns.chosen(2) == ("2.5",)


def test_names_that_cannot_be() -> None:
    with pytest.raises(DataError, match="two columns are called '1'"):
        Columns.of(pd.DataFrame([[1, 2]], columns=[1, "1"]))
    columns = Columns.of(np.zeros((2, 3)))
    for wrong in ("x9", 3, True, 1.5):
        with pytest.raises(ParameterError, match=f"X has no column {wrong!r}"):
            columns.chosen([wrong])
    with pytest.raises(ParameterError, match="no sensitive features are named"):
        columns.chosen([])
