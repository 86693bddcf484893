"""Functions as models: every way to give labels or scores that is understood."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from testsgd.data import Label
from testsgd.models import CallableModel, PlainRows

YES_NO = Label(column="granted", favourable="yes", values=["no", "yes"])
DIGITS = Label(column="granted", favourable="1", values=["0", "1"])
BOOLEANS = Label(column="granted", favourable="True", values=["False", "True"])

FRAME = pd.DataFrame({"age": [20, 40, 60]}, index=[7, 7, 3])
EXPECTED = [True, False, True]


def model(
    function: Callable[[pd.DataFrame], Any], label: Label = YES_NO, **options: Any
) -> CallableModel:
    return CallableModel(function, label=label, name="mine", **options)


@pytest.mark.parametrize(
    ("label", "answers"),
    [
        (YES_NO, ["yes", "no", "yes"]),
        (YES_NO, ("yes", "no", "yes")),
        (YES_NO, np.array(["yes", "no", "yes"])),
        (YES_NO, np.array(["yes", "no", "yes"], dtype=object)),
        (YES_NO, np.array([["yes"], ["no"], ["yes"]])),
        (YES_NO, pd.Series(["yes", "no", "yes"], index=[2, 1, 0])),
        (YES_NO, pd.Series(["yes", "no", "yes"], dtype="category")),
        (YES_NO, pd.Series(["yes", "no", "yes"], dtype="string")),
        (YES_NO, pd.DataFrame({"label": ["yes", "no", "yes"]})),
        (YES_NO, pl.Series(["yes", "no", "yes"])),
        (DIGITS, [1, 0, 1]),
        (DIGITS, [1.0, 0.0, 1.0]),
        (DIGITS, ["1", "0", "1"]),
        (DIGITS, np.array([1, 0, 1], dtype=np.int8)),
        (DIGITS, np.array([1, 0, 1], dtype=np.uint64)),
        (DIGITS, pd.Series([1, 0, 1], dtype="Int64")),
        (DIGITS, pd.Series([1, 0, 1], dtype="category")),
        (DIGITS, [np.int64(1), 0, "1"]),
        (BOOLEANS, [True, False, True]),
        (BOOLEANS, np.array([True, False, True])),
        (BOOLEANS, pd.Series([True, False, True], dtype="boolean")),
        (BOOLEANS, ["True", "False", "True"]),
    ],
)
def test_labels_are_compared_by_their_text(label: Label, answers: Any) -> None:
    mine = model(lambda frame: answers, label)
    assert mine.decisions(FRAME).tolist() == EXPECTED
    assert (mine.output, mine.threshold) == ("labels", None)


@pytest.mark.parametrize(
    "answers",
    [
        [0.7, 0.5, 1.0],
        np.array([0.7, 0.5, 1.0]),
        np.array([[0.7], [0.5], [1.0]]),
        np.array([0.7, 0.5, 1.0], dtype=np.float16),
        np.array([0.7, 0.5, 1.0], dtype=np.float32),
        np.array([0.7, 0.5, 1.0], dtype=object),
        np.array([0.7, 0.5, 1], dtype=object),
        [Decimal("0.7"), Decimal("0.5"), Decimal(1)],
        pd.Series([0.7, 0.5, 1.0], dtype="Float64"),
        pl.Series([0.7, 0.5, 1.0]),
    ],
)
def test_scores_above_the_threshold_are_favourable(answers: Any) -> None:
    mine = model(lambda frame: answers)
    assert mine.decisions(FRAME).tolist() == EXPECTED
    assert (mine.output, mine.threshold) == ("scores", 0.5)


def test_another_threshold() -> None:
    mine = model(lambda frame: [0.7, 0.5, 1.0], threshold=0.7)
    assert mine.decisions(FRAME).tolist() == [False, False, True]
    assert mine.threshold == 0.7


def test_scores_of_exactly_zero_and_one_are_no_labels_unless_declared() -> None:
    answers = [1.0, 0.0, 1.0]
    scores, labels = model(lambda frame: answers), model(lambda frame: answers, DIGITS)
    assert scores.decisions(FRAME).tolist() == labels.decisions(FRAME).tolist() == EXPECTED
    assert (scores.output, labels.output) == ("scores", "labels")


def test_what_scores_were_at_first_stays_scores() -> None:
    answers = iter([[0.7, 0.5, 1.0], [1, 0, 1], [1.0, 0.0, 1.0]])
    mine = model(lambda frame: next(answers), DIGITS)
    for _ in range(3):
        assert mine.decisions(FRAME).tolist() == EXPECTED
        assert mine.output == "scores"


def test_the_kind_can_be_said_beforehand() -> None:
    mine = model(lambda frame: [1.0, 0.0, 1.0], DIGITS, output="scores")
    assert mine.decisions(FRAME).tolist() == EXPECTED
    assert mine.output == "scores"


def test_another_label_than_the_favourable_one_is_unfavourable() -> None:
    gold = Label(column="medal", favourable="gold")
    mine = model(lambda frame: ["gold", "silver", "bronze"], gold, favourable_given=True)
    assert mine.decisions(FRAME).tolist() == [True, False, False]


def test_few_rows_without_the_named_label_are_fine() -> None:
    answers = iter([["yes", "maybe", "no"], ["maybe", "no", "maybe"]])
    mine = model(lambda frame: next(answers), favourable_given=True)
    assert mine.decisions(FRAME).tolist() == [True, False, False]
    assert mine.decisions(FRAME).tolist() == [False, False, False]


def test_a_model_that_always_says_the_same() -> None:
    assert not model(lambda frame: ["no"] * len(frame)).decisions(FRAME).any()
    assert model(lambda frame: ["yes"] * len(frame)).decisions(FRAME).all()


def test_the_function_gets_the_rows_as_they_are() -> None:
    seen: list[pd.DataFrame] = []
    model(lambda frame: seen.append(frame) or [0.1] * len(frame)).decisions(FRAME)
    pd.testing.assert_frame_equal(seen[0], FRAME)


@pytest.mark.parametrize("dtype", ["int64", "Int64", "float64", "object", "category"])
def test_what_the_function_does_to_its_frame_changes_nothing(dtype: str) -> None:
    def spoil(frame: pd.DataFrame) -> list[str]:
        for cells in (frame["age"].array, frame["age"].to_numpy(), frame["age"].values):
            with contextlib.suppress(ValueError):  # the array is read-only
                cells[0] = 60
        frame.loc[:, "age"] = 60
        frame["new"] = 0
        frame.pop("age")
        frame.index.name = "changed"
        frame.columns = ["other"]
        return ["yes"] * len(frame)

    frame = FRAME.astype(dtype)
    table = frame[["age"]]
    mine = model(spoil)
    mine.decisions(table)
    rows = np.array([True, True, False])
    mine.prepare(table).decisions()
    mine.prepare(table).decisions_with("age", table["age"], rows)
    pd.testing.assert_frame_equal(frame, FRAME.astype(dtype))
    pd.testing.assert_frame_equal(table, FRAME.astype(dtype))


def test_prepared_rows_are_asked_about_with_one_column_replaced() -> None:
    asked = 0

    def older_than_thirty(frame: pd.DataFrame) -> list[str]:
        nonlocal asked
        asked += len(frame)
        return ["yes" if age > 30 else "no" for age in frame["age"]]

    mine = model(older_than_thirty)
    prepared = mine.prepare(FRAME)
    column = FRAME["age"] + 15
    assert prepared.decisions().tolist() == [False, True, True]
    for marked in itertools.product([False, True], repeat=3):
        decisions = prepared.decisions_with("age", column, np.array(marked))
        assert decisions.tolist() == [True] * sum(marked)
    assert FRAME["age"].tolist() == [20, 40, 60]
    assert prepared.asked == asked
    prepared.decisions_with("age", column, np.zeros(3, dtype=bool))
    assert prepared.asked == asked


def test_variants_asked_about_together_get_the_answers_that_each_gets_alone() -> None:
    calls = []

    def sum_of_both(frame: pd.DataFrame) -> list[str]:
        calls.append(frame)
        return ["yes" if total > 60 else "no" for total in frame["age"] + frame["years"]]

    rows = FRAME[["age"]].assign(years=np.array([1, 2, 3], dtype=np.int8))
    first_row, every_row, no_row = np.array([[True, False, False], [True] * 3, [False] * 3])
    variants = [
        ("age", rows["age"] + 40, first_row),
        ("years", (rows["years"] + 20).astype(np.int8), every_row),
        # Another type, which the other variants' cells are not to get.
        ("years", rows["years"].astype(np.int64) + 200, every_row),
        ("age", rows["age"] - 60, ~first_row),
        ("age", rows["age"], no_row),
        ("height", rows["age"], first_row),
    ]
    alone, together = (PlainRows(model(sum_of_both), rows) for _ in range(2))
    expected = [alone.decisions_with(*variant).tolist() for variant in variants]
    calls.clear()
    found = together.decisions_with_each(variants)
    assert [decided.tolist() for decided in found] == expected
    assert expected[:5] == [[True], [False, True, True], [True] * 3, [False, False], []]
    assert together.asked == alone.asked
    types = {str(frame["years"].dtype): len(frame) for frame in calls[:2]}
    assert types == {"int64": 3, "int8": 3}
    assert [len(frame) for frame in calls] == [3, 3, 7]
