"""Functions as models: every answer that cannot be used is an error that says why."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from testsgd.data import Label
from testsgd.errors import DataError, ModelError
from testsgd.models import CallableModel

YES_NO = Label(column="granted", favourable="yes", values=["no", "yes"])
UNDECLARED = Label(column="granted", favourable="yes")
FRAME = pd.DataFrame({"age": [20, 40, 60], "gender": ["female", "male", "male"]})


def model(
    function: Callable[[pd.DataFrame], Any], label: Label = YES_NO, **options: Any
) -> CallableModel:
    return CallableModel(function, label=label, name="mine", **options)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], r"shape \(0,\) for 3 rows"),
        (["yes"], r"shape \(1,\) for 3 rows; return one label or score a row"),
        (["yes"] * 4, r"shape \(4,\) for 3 rows"),
        ([0.5] * 4, r"shape \(4,\)"),
        (np.full((3, 2), 0.5), r"shape \(3, 2\).*the column of the favourable label"),
        (np.full((1, 3), 0.5), r"shape \(1, 3\)"),
        (np.full((3, 1, 1), 0.5), r"shape \(3, 1, 1\)"),
        (None, "returned None about 3 rows"),
        (0.5, r"shape \(\)"),
        ("yes", r"shape \(\)"),
        ({"yes": 3}, r"shape \(\)"),
        ((answer for answer in ["yes", "no", "yes"]), r"shape \(\)"),
        ([["yes"], ["no", "no"], []], "did not return one answer a row"),
        ([0.1, np.nan, 0.2], r"\(NaN\) for row 1"),
        ([0.1, 0.2, None], r"\(NaN\) for row 2"),
        (["yes", None, "no"], r"\(NaN\) for row 1"),
        (pd.Series(["yes", pd.NA, "no"], dtype="string"), r"\(NaN\) for row 1"),
        (pd.Series([0.1, pd.NA, 0.2], dtype="Float64"), r"\(NaN\) for row 1"),
        ([0.1, 1.5, 0.2], r"score 1\.5 for row 1, outside \[0, 1\]"),
        ([0.1, 0.2, -0.01], r"score -0\.01 for row 2"),
        ([0.1, np.inf, 0.2], "score inf for row 1"),
        (["no", "refer", "maybe"], "'maybe', which is not among the labels no, yes"),
        (["yes", "maybe", "yes"], "'maybe', which is not among the labels no, yes"),
        ([1, 0, 2], "'0', which is not among the labels no, yes"),
        ([True, False, "no"], "'False', which is not among"),
        (["Yes", "no", "no"], "'Yes', which is not among"),
        (["yes ", "no", "no"], "'yes ', which is not among"),
        ([b"yes", b"no", b"no"], "not among the labels"),
        ([1j, 0j, 1j], "not among the labels"),
        (pd.Series([{}, {}, {}]), "returned a dict for row 0"),
    ],
)
def test_what_cannot_be_used_is_described(answers: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        model(lambda frame: answers).decisions(FRAME)
    assert str(raised.value).startswith("model 'mine': ")
    assert raised.value.remedy


def test_two_labels_of_which_none_is_favourable_are_noticed() -> None:
    # Without declared labels nothing else would tell this from a model that favours nobody.
    with pytest.raises(ModelError, match=r"labels '0' and '1', none of which is.*'yes'"):
        model(lambda frame: [0, 1, 1], UNDECLARED).decisions(FRAME)


def test_a_third_label_is_one_of_the_rest_whenever_it_comes() -> None:
    answers = iter([["yes", "no", "no"], ["yes", "maybe", "maybe"]])
    mine = model(lambda frame: next(answers), UNDECLARED)
    mine.decisions(FRAME)
    assert mine.others == ()
    assert mine.decisions(FRAME).tolist() == [True, False, False]
    assert mine.others == ("maybe", "no")


def test_a_named_label_that_the_model_never_gives_leaves_unknown_labels_unknown() -> None:
    with pytest.raises(ModelError, match="'2', which is not among"):
        model(lambda frame: [2, 3, 3], favourable_given=True).decisions(FRAME)


def test_scores_after_labels_are_noticed() -> None:
    answers = iter([["yes", "no", "no"], [0.1, 0.2, 0.2]])
    mine = model(lambda frame: next(answers))
    mine.decisions(FRAME)
    with pytest.raises(ModelError, match="labels"):
        mine.decisions(FRAME)


def test_labels_after_scores_are_noticed() -> None:
    answers = iter([[0.1, 0.2, 0.2], ["yes", "no", "no"]])
    mine = model(lambda frame: next(answers))
    mine.decisions(FRAME)
    with pytest.raises(ModelError, match="scores at first, then 'yes'"):
        mine.decisions(FRAME)


def raise_error(frame: pd.DataFrame) -> None:
    raise KeyError("income")


def look_up(frame: pd.DataFrame) -> Any:
    return frame.apply(lambda row: row["income"], axis=1)


def leave(frame: pd.DataFrame) -> None:
    sys.exit(0)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raise_error, "raised KeyError: 'income'; (?!.*columns)"),
        (look_up, "raised KeyError: 'income'; .*columns age, gender"),
        (lambda frame: 1 / 0, "raised ZeroDivisionError"),
        (lambda: ["yes"] * 3, "raised TypeError"),
        (leave, "raised SystemExit"),
    ],
)
def test_what_the_function_raises_is_passed_on(function: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        model(function).decisions(FRAME)
    assert raised.value.__cause__ is not None


def test_an_error_of_the_family_passes_as_it_is() -> None:
    def fail(frame: pd.DataFrame) -> None:
        raise DataError("my own words")

    with pytest.raises(DataError, match="my own words"):
        model(fail).decisions(FRAME)


def test_an_interruption_is_no_mistake_of_the_model() -> None:
    def interrupted(frame: pd.DataFrame) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model(interrupted).decisions(FRAME)


WEIGHTS = {"age": 2}


def looks_up_weights(frame: pd.DataFrame) -> list[str]:
    return ["yes" if WEIGHTS["weights"] > age else "no" for age in frame["age"]]


def converts(frame: pd.DataFrame) -> list[bool]:
    return [float(text) > 0 for text in frame["gender"]]


def takes_another_column(frame: pd.DataFrame) -> Any:
    return frame["income"] > 3


def takes_another_attribute(frame: pd.DataFrame) -> Any:
    return frame.income > 3


def looks_up_weights_in_a_series(frame: pd.DataFrame) -> Any:
    return pd.Series(WEIGHTS)["weights"] > frame["age"]


def raised(function: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        model(function).decisions(FRAME)
    assert caught.value.__cause__ is not None
    return caught.value


@pytest.mark.parametrize("function", [looks_up_weights, converts, looks_up_weights_in_a_series])
def test_a_mistake_inside_the_function_is_said_with_its_line(function: Any) -> None:
    error = raised(function)
    assert Path(error.details["file"]).name == Path(__file__).name
    assert error.details["line"] == function.__code__.co_firstlineno + 1
    assert f"line {error.details['line']}" in error.remedy


@pytest.mark.parametrize(
    "function", [takes_another_column, takes_another_attribute, lambda first, second: [1, 2, 3]]
)
def test_a_function_of_other_columns_is_said_which_there_are(function: Any) -> None:
    error = raised(function)
    assert "age, gender" in error.remedy
    assert "line" not in error.remedy


def test_an_estimator_of_other_columns_is_said_which_there_are() -> None:
    other = pd.DataFrame({"age": [1, 2], "income": [3, 4]})
    tree = DecisionTreeClassifier().fit(other, ["no", "yes"])
    assert "age, gender" in raised(tree.predict).remedy
    # What the estimator says of a value is not of the columns.
    tree = DecisionTreeClassifier().fit(other.set_axis(["age", "gender"], axis=1), ["no", "yes"])
    error = raised(tree.predict)
    assert "age, gender" not in error.remedy
    assert "file" not in error.details
