"""Texts from Python: any sequence, series or data frame; what is no text is named by its row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from plain_texts import comments

from testsgd.data.text import check_texts
from testsgd.errors import DataError

TEXTS = ("a <br /> b", "", "\u0130stanbul \U0001f600", " \n", "x" * 1_000_000)
LABELS = ["rude", "fine", "fine", "rude", "fine"]


class Own(str):
    """A text of another class, as libraries have them."""


def arrow(kind: str) -> Callable[[Any], Any]:
    def make(texts: Any) -> Any:
        pyarrow = pytest.importorskip("pyarrow")
        return getattr(pyarrow, kind)([list(texts)] if kind == "chunked_array" else list(texts))

    return make


SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "object array": lambda texts: np.array(texts, dtype=object),
    "string array": lambda texts: np.array(texts[:4]),
    "string objects": lambda texts: [np.str_(text) for text in texts],
    "own class": lambda texts: [Own(text) for text in texts],
    "pandas": lambda texts: pd.Series(texts, index=list("abcde")),
    "pandas objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas categories": lambda texts: pd.Series(texts, dtype="category"),
    "pandas index": pd.Index,
    "polars": polars.Series,
    "[pyarrow] array": arrow("array"),
    "[pyarrow] chunks": arrow("chunked_array"),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_any_sequence_of_texts(name: str) -> None:
    data = SEQUENCES[name](TEXTS)
    expected = TEXTS[:4] if name == "string array" else TEXTS
    texts = check_texts(data, comments(), source="mine")
    assert texts.texts == expected
    assert all(type(text) is str for text in texts.texts)
    assert texts.labels is texts.parts is texts.clusters is texts.training_only is None
    assert texts.notes == ("2 texts are empty or blank",)
    assert texts.source == "mine"


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": polars.DataFrame,
    "[pyarrow]": lambda data: pytest.importorskip("pyarrow").table(data),
}


@pytest.mark.parametrize("name", FRAMES)
def test_any_data_frame(name: str) -> None:
    data = {"other": [1, 2, 3, 4, 5], "rude": LABELS, "comment": list(TEXTS)}
    texts = check_texts(FRAMES[name](data), comments())
    assert texts.texts == TEXTS
    assert texts.labels is not None
    assert texts.labels.tolist() == LABELS
    del data["rude"]
    assert check_texts(FRAMES[name](data), comments()).labels is None


@pytest.mark.parametrize(
    "labels", [[True, False], [1, 0], [1.0, 0.0], ["1", "0"], ["rude", "fine"]]
)
def test_labels_of_a_frame_are_renamed(labels: list[Any]) -> None:
    names = {"1": "rude", "0": "fine", "True": "rude", "False": "fine"}
    label = {"column": "rude", "favourable": "rude", "map": names}
    frame = pd.DataFrame({"comment": ["a", "b"], "rude": labels})
    texts = check_texts(frame, comments(label=label))
    assert texts.labels is not None
    assert texts.labels.tolist() == ["rude", "fine"]
    assert frame["rude"].tolist() == labels, "the frame is left alone"


def test_texts_that_were_checked_are_left_as_they_are() -> None:
    texts = check_texts(["a"], comments())
    assert check_texts(texts, comments()) is texts


def failure(data: Any, **parts: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        check_texts(data, comments(**parts), source="mine")
    error = caught.value
    assert len(str(error).splitlines()) == 1
    assert error.where.startswith("mine")
    assert error.remedy
    return error


@pytest.mark.parametrize("value", [None, np.nan, float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("kind", [list, lambda data: pd.Series(data, dtype=object)])
def test_a_missing_text_is_named_by_its_row(value: Any, kind: Callable[[Any], Any]) -> None:
    error = failure(kind(["a", "b", value, value]))
    assert error.what == "the text in row 2 is missing"
    assert error.details == {"row": 2}


def test_a_row_is_named_as_the_user_knows_it() -> None:
    series = pd.Series(["a", None], index=["first", "second"])
    assert failure(series).details == {"row": "second"}
    frame = pd.DataFrame({"comment": ["a", None]}, index=[10, 20])
    assert failure(frame).details == {"row": 20}
    labelled = frame.assign(comment="a", rude=["rude", None])
    assert "the label in row 20 is missing" in failure(labelled).what


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "row 1 holds 3, which is a int and no text"),
        (2.5, "which is a float"),
        (True, "which is a bool"),
        (b"bytes", "which is a bytes"),
        (["a", "b"], "which is a list"),
        (("a",), "which is a tuple"),
        ({"text": "a"}, "which is a dict"),
        (np.array(["a", "b"]), "which is a ndarray"),
        (list(range(1000)), "..., which is a list"),
    ],
)
def test_what_is_no_text_is_named_by_its_row(value: Any, words: str) -> None:
    error = failure(["a", value])
    assert words in error.what
    assert error.details["row"] == 1
    assert len(error.what) < 100


def test_a_table_of_numpy_is_no_sequence_of_texts() -> None:
    assert "row 0 holds ['a', 'b']" in failure(np.array([["a", "b"]])).what


@pytest.mark.parametrize("data", [[], (), pd.Series([], dtype=object), np.array([], dtype=object)])
def test_no_texts_at_all(data: Any) -> None:
    assert failure(data).what == "there are no texts"
    assert failure(pd.DataFrame({"comment": []})).what == "there are no texts"


@pytest.mark.parametrize("data", ["one text", b"one text", np.array("one text")])
def test_one_text_is_no_sequence_of_texts(data: Any) -> None:
    assert "not texts" in failure(data).what or "one text" in failure(data).what


@pytest.mark.parametrize("data", [3, None, {"a": "b"}, {"a"}, iter(["a"]), object()])
def test_what_is_no_sequence(data: Any) -> None:
    assert f"the data are a {type(data).__name__}, not texts" in failure(data).what


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"Comment": ["a"]}), "the column 'comment' is missing"),
        (pd.DataFrame({"comment": ["a"], "rude": ["odd"]}), "the label 'odd' is not among"),
        (pd.DataFrame({"comment": ["a"], "rude": ["fine"]}), "'rude' does not occur"),
        (pd.DataFrame([["a", "b"]], columns=["comment", "comment"]), "two columns are called"),
        (
            pd.DataFrame([["a", "rude", "fine"]], columns=["comment", "rude", "rude"]),
            "two columns are called 'rude'",
        ),
    ],
)
def test_frames_that_do_not_fit(frame: pd.DataFrame, words: str) -> None:
    assert words in failure(frame).what
