"""Examples are joined row by row, and a data frame keeps its types where it can."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from testsgd.models import Examples
from testsgd.models.refitting.protocol import joined_frames


def frame(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(columns)


def test_rows_are_joined_in_order_and_numbered_anew() -> None:
    first = Examples(frame(age=[20, 30]).set_index(pd.Index([7, 5])), np.array([True, False]))
    second = Examples(frame(age=[40]), np.array([True]))
    both = first.join(second)
    pd.testing.assert_frame_equal(both.frame, frame(age=[20, 30, 40]))
    assert both.favourable.tolist() == [True, False, True]
    assert both.weights is None
    assert len(both) == 3


def test_texts_are_joined_in_order() -> None:
    both = Examples(("a", "b"), np.array([True, True])).join(Examples(("c",), np.array([False])))
    assert both.texts == ("a", "b", "c")
    assert both.favourable.tolist() == [True, True, False]


@pytest.mark.parametrize("weighed", ["first", "second", "both"])
def test_what_has_no_weights_counts_once(weighed: str) -> None:
    def examples(name: str, weight: float) -> Examples:
        weights = np.array([weight, weight]) if weighed in (name, "both") else None
        return Examples(("a", "b"), np.array([True, False]), weights)

    joined = examples("first", 2.0).join(examples("second", 3.0)).weights
    assert joined is not None
    assert (
        joined.tolist()
        == {
            "first": [2.0, 2.0, 1.0, 1.0],
            "second": [1.0, 1.0, 3.0, 3.0],
            "both": [2.0, 2.0, 3.0, 3.0],
        }[weighed]
    )


def test_other_weights_and_labels_leave_the_examples_as_they_are() -> None:
    examples = Examples(("a", "b"), np.array([True, False]), np.array([2.0, 3.0]))
    other = examples.instead(weights=np.array([5.0, 6.0]), labels=np.array([False, False]))
    assert (other.texts, other.favourable.tolist()) == (("a", "b"), [False, False])
    assert other.full_weights().tolist() == [5.0, 6.0]
    assert examples.favourable.tolist() == [True, False]
    assert examples.instead().full_weights().tolist() == [2.0, 3.0]


def test_targets_are_those_of_the_labels_where_there_are_none() -> None:
    hard = Examples(("a", "b"), np.array([True, False]))
    soft = Examples(("c",), np.array([True]), targets=np.array([0.3]))
    assert hard.full_targets().tolist() == [1.0, 0.0]
    joined = hard.join(soft)
    assert joined.full_targets().tolist() == [1.0, 0.0, 0.3]
    assert joined.weights is None
    assert hard.join(hard).targets is None
    # Other labels are learnt themselves.
    assert soft.instead(labels=np.array([False])).full_targets().tolist() == [0.0]
    assert soft.instead(weights=np.array([2.0])).full_targets().tolist() == [0.3]


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError):
        Examples(("a", "b"), np.array([True]))
    with pytest.raises(ValueError):
        Examples(("a",), np.array([True]), np.array([1.0, 2.0]))


def test_rows_and_texts_do_not_go_together() -> None:
    rows = Examples(frame(age=[20]), np.array([True]))
    with pytest.raises(ValueError):
        rows.join(Examples(("a",), np.array([True])))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pd.Series([1, 2]), pd.Series([3.0]), "int64"),
        (pd.Series([1, 2]), pd.Series([3.5]), "float64"),
        (pd.Series([1, 2]), pd.Series([np.nan]), "float64"),
        (pd.Series([1.5, 2.0]), pd.Series([3]), "float64"),
        (pd.Series([1, 2], dtype="int8"), pd.Series([3]), "int8"),
        (pd.Series([1, 2], dtype="int8"), pd.Series([300]), "int64"),
        (pd.Series(["a", "b"], dtype="category"), pd.Series(["b"]), "category"),
        (pd.Series(["a", None], dtype="category"), pd.Series(["b"], dtype="object"), "object"),
        (pd.Series(["a", "b"], dtype="object"), pd.Series(["c"], dtype="string"), "object"),
        (pd.Series([True, False]), pd.Series([True], dtype="object"), "bool"),
        (pd.Series([1, None], dtype="Int64"), pd.Series([3.0]), "Int64"),
    ],
)
def test_types_are_kept_where_they_hold_the_values(
    first: pd.Series, second: pd.Series, expected: str
) -> None:
    joined = joined_frames(first.to_frame("x"), second.to_frame("x"))["x"]
    assert joined.dtype == expected
    wanted = [*first.tolist(), *second.tolist()]
    assert [None if pd.isna(value) else value for value in joined] == [
        None if pd.isna(value) else value for value in wanted
    ]


def test_the_order_of_the_columns_is_that_of_the_first() -> None:
    joined = joined_frames(frame(a=[1], b=[2]), frame(b=[4], a=[3]))
    assert joined.columns.tolist() == ["a", "b"]
    assert joined["a"].tolist() == [1, 3]
