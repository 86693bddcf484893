"""Errors: one line each, their parts kept as data, whole after crossing a process border."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd import errors
from testsgd.errors import MissingExtraError, TestSGDError

KINDS = [
    getattr(errors, name)
    for name in errors.__all__
    if getattr(errors, name) is not MissingExtraError
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_of_the_one_family(kind: type[TestSGDError]) -> None:
    assert issubclass(kind, TestSGDError)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_every_part(kind: type[TestSGDError], protocol: int) -> None:
    error = kind("age is 200", where="row 3", remedy="correct it", row=3, seen=[1, {"a": None}])
    back = pickle.loads(pickle.dumps(error, protocol))
    assert type(back) is kind
    assert (back.what, back.where, back.remedy) == ("age is 200", "row 3", "correct it")
    assert back.details == {"row": 3, "seen": [1, {"a": None}]}
    assert str(back) == str(error) == "row 3: age is 200; correct it"


def test_copying_keeps_every_part() -> None:
    error = copy.deepcopy(errors.DataError("age is 200", row=3))
    assert (error.what, error.where, error.details) == ("age is 200", "", {"row": 3})


@pytest.mark.parametrize(
    ("where", "remedy", "message"),
    [
        ("", "", "what"),
        ("here", "", "here: what"),
        ("", "mend it", "what; mend it"),
        ("here", "mend it", "here: what; mend it"),
    ],
)
def test_a_part_that_is_not_given_leaves_no_mark(where: str, remedy: str, message: str) -> None:
    assert str(TestSGDError("what", where=where, remedy=remedy)) == message


@given(what=st.text(), where=st.text(), remedy=st.text())
def test_a_message_is_one_line_and_the_parts_stay_as_given(
    what: str, where: str, remedy: str
) -> None:
    error = TestSGDError(what, where=where, remedy=remedy)
    assert len(str(error).splitlines()) <= 1
    assert (error.what, error.where, error.remedy) == (what, where, remedy)


def test_braces_and_per_cents_in_a_value_are_printed_as_they_are() -> None:
    assert str(TestSGDError("seen {0} and %s", where="{x}")) == "{x}: seen {0} and %s"


def test_a_missing_extra_names_the_line_to_run() -> None:
    error = MissingExtraError("tensorflow", extra="tensorflow", purpose="training a network")
    assert str(error) == (
        "training a network needs tensorflow; run: pip install 'testsgd[tensorflow]'"
    )


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_missing_extra_pickles_too(protocol: int) -> None:
    error = MissingExtraError("pyarrow", extra="parquet", purpose="writing Parquet")
    back = pickle.loads(pickle.dumps(error, protocol))
    assert type(back) is MissingExtraError
    assert str(back) == str(error)
    assert back.details == {"package": "pyarrow", "extra": "parquet", "purpose": "writing Parquet"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        (np.float32(-1e-7), "-1e-07"),
        (np.int64(3), "3"),
        (np.str_("a (b)"), "'a (b)'"),
        (np.str_("it's"), '"it\'s"'),
        (np.bool_(True), "True"),
        ([np.float64(0.5), np.str_("a")], "[0.5, 'a']"),
    ],
)
def test_values_of_numpy_are_written_as_others_are(value: object, text: str) -> None:
    assert str(TestSGDError(f"{value!r} is seen", remedy=f"not {value!r}")) == (
        f"{text} is seen; not {text}"
    )
