"""Expressions: what holds for an event holds for the row, and what is wrong is said in one line."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.errors import ExpressionError
from testsgd.expressions import is_expression, parse, quoted
from testsgd.rules.rule import IntervalRule, RuleSet, ValueRule

WORDS = ("White", "Asian-Pac-Islander", "Married spouse absent", "x", "7")
PEOPLE = pd.DataFrame(
    {
        "age": [17, 18, 40, 59.5, 60, None],
        "race": ["White", "Asian-Pac-Islander", "Black", None, "White", ""],
        "gender": ["Male", "Female", "Male", "Male", "Male", "Male"],
        "hours per week": [1, 2, 3, 4, 5, 6],
        "member": [True, False, True, False, True, False],
        "code": ["1", "01", "a", "2", None, "1e0"],
    }
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("age >= 40", [2, 3, 4]),
        ("40 <= age", [2, 3, 4]),
        ("40 <= age < 60", [2, 3]),
        ("60 > age >= 40", [2, 3]),
        ("age = missing", [5]),
        ("age != missing", [0, 1, 2, 3, 4]),
        ("not age >= 40", [0, 1, 5]),
        ("not (age >= 40) and age != missing", [0, 1]),
        ("not(age>=40)and(age<18)", [0]),
        ("race in {White, Asian-Pac-Islander}", [0, 1, 4]),
        ("race in [White, 'Black']", [0, 2, 4]),
        ("race in {White, missing}", [0, 3, 4, 5]),
        ("race not in {White}", [1, 2]),
        ("race != White", [1, 2]),
        ('"race" == "White" or gender = Female', [0, 1, 4]),
        ("gender = Male and age < 18 or gender = Female", [0, 1]),
        ("gender = Male and (age < 18 or gender = Female)", [0]),
        ("hours per week in {1, 6}", [0, 5]),
        ("member = true", [0, 2, 4]),
        ("member != true", [1, 3, 5]),
        ("member = 1", []),
        ("code = 1", [0, 1, 5]),
        ('code = "1"', [0]),
        ("age = 59.5 or age = 1.8e+01", [1, 3]),
        ("40 <= age < 70 and race in {White, Asian-Pac-Islander} and gender = Male", [4]),
    ],
)
def test_rows_that_an_expression_is_about(text: str, rows: list[int]) -> None:
    expression = parse(text)
    assert np.flatnonzero(expression.mask(PEOPLE)).tolist() == rows
    events = PEOPLE.to_dict("records")
    assert [row for row, event in enumerate(events) if expression.holds(event)] == rows
    assert is_expression(text)
    assert pickle.loads(pickle.dumps(expression)) == expression


def test_no_field_is_as_none() -> None:
    assert not parse("age >= 40").holds({})
    assert parse("age = missing").holds({})
    assert parse("age = missing").holds({"age": math.nan})


def test_names_are_in_their_order_and_once() -> None:
    assert parse("b = 1 and (not a b > 2 or b < 3)").names == ("b", "a b")


def numbers() -> st.SearchStrategy[float | int]:
    return st.integers(-3, 3) | st.sampled_from([0.5, 2.0, -1.5, 1e20, 2**53 + 1])


def cells() -> st.SearchStrategy[object]:
    return st.none() | numbers() | st.booleans() | st.sampled_from(["", "a", "1", "true", "b c"])


def comparisons() -> st.SearchStrategy[str]:
    value = numbers().map(str) | st.sampled_from(["a", '"1"', "true", "b c", "missing"])
    name = st.sampled_from(["mixed", "number", "text", "category", "whole"])
    ordered = st.tuples(
        st.sampled_from(["number", "whole"]), st.sampled_from(["<", "<=", ">", ">="]), numbers()
    ).map(lambda parts: " ".join(map(str, parts)))
    equal = st.tuples(name, st.sampled_from(["=", "!="]), value).map(" ".join)
    member = st.tuples(name, st.sampled_from(["in", "not in"]), st.lists(value, min_size=1)).map(
        lambda parts: f"{parts[0]} {parts[1]} {{{', '.join(parts[2])}}}"
    )
    return ordered | equal | member


def expressions() -> st.SearchStrategy[str]:
    return st.recursive(
        comparisons(),
        lambda inner: (
            inner.map(lambda text: f"not ({text})")
            | st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
                lambda parts: f"({parts[0]}) {parts[1]} {parts[2]}"
            )
        ),
        max_leaves=6,
    )


@given(
    text=expressions(),
    rows=st.lists(
        st.tuples(
            cells(),
            st.none() | st.floats(-3, 3) | st.just(1e20),
            st.none() | st.sampled_from(["", "a", "1", "true", "b c"]),
            st.integers(-3, 3),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_a_frame_is_answered_as_its_rows_are(
    text: str, rows: list[tuple[object, float | None, str | None, int]]
) -> None:
    expression = parse(text)
    mixed, number, texts, whole = zip(*rows, strict=True)
    frame = pd.DataFrame(
        {
            "mixed": pd.Series(mixed, dtype=object),
            "number": pd.Series(number, dtype=float),
            "text": pd.Series(texts, dtype=object),
            "category": pd.Series(texts, dtype="category"),
            "whole": pd.Series(whole, dtype=np.int64),
        }
    )
    events = [dict(zip(frame.columns, (*row[:3], row[2], row[3]), strict=True)) for row in rows]
    assert expression.mask(frame).tolist() == [expression.holds(event) for event in events]


@given(
    rules=st.lists(
        st.one_of(
            st.lists(st.sampled_from(WORDS[:4]), min_size=1, max_size=3, unique=True).map(
                lambda values: ValueRule("marital-status", tuple(values))
            ),
            st.tuples(st.none() | st.integers(-5, 5), st.none() | st.integers(6, 10**6))
            .filter(any)
            .map(lambda ends: IntervalRule("hours per week", *ends)),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_rules_are_read_as_reports_write_them(rules: list[ValueRule | IntervalRule]) -> None:
    expression = parse(RuleSet(tuple(rules)).text)
    for status in WORDS:
        for hours in (-6, 0, 5.5, 7, 10**6, None):
            wanted = all(
                status in rule.values
                if isinstance(rule, ValueRule)
                else hours is not None
                and (rule.low is None or rule.low <= hours)
                and (rule.high is None or hours < rule.high)
                for rule in rules
            )
            event = {"marital-status": status, "hours per week": hours}
            assert expression.holds(event) is wanted


@given(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_quoted_name_is_read_back(name: str) -> None:
    expression = parse(f"{quoted(name)} = {quoted(name)}")
    assert expression.names == (name,)
    assert expression.holds({name: name})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "age",
        "age <",
        "age < young",
        "age < 'young'",
        "< 40",
        "40 < 50",
        "age >= 40 and",
        "age >= 40 age < 50",
        "age >= 40)",
        "(age >= 40",
        "race in White",
        "race in {}",
        "race in {White",
        "race in {White]",
        "race = 'White",
        "race = ",
        "race = a = b",
        "race ! White",
        "and = 3",
        "not",
        "age is 40",
        "__import__('os').system('true')",
        "age >= 40; x = 1",
        "a = 1 \x00",
        "(" * 51 + "a = 1" + ")" * 51,
        "not " * 51 + "a = 1",
        "not(a)" * 1600,
        "(" * 9_000,
        "a = 1 or " * 200_000,
        "x" * 10**6,
    ],
)
def test_what_is_no_expression_is_said_in_one_line(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text).mask(PEOPLE)
    error = caught.value
    assert error.where
    assert error.remedy
    assert "\n" not in str(error)
    assert len(str(error)) < 500


def test_fifty_deep_is_deep_enough() -> None:
    assert parse("(" * 50 + "a = 1" + ")" * 50).holds({"a": 1})
    wide = " or ".join(f"a = {number}" for number in range(1_000))[:9_000].rpartition(" or ")[0]
    assert parse(wide).holds({"a": 500})


def test_a_text_is_neither_smaller_nor_larger() -> None:
    expression = parse("gender < 4 or age > 3")
    for ask in (expression.holds, lambda event: expression.mask(pd.DataFrame([event]))):
        with pytest.raises(ExpressionError) as caught:
            ask({"gender": "Male", "age": 40})
        assert caught.value.where == "gender"


def test_an_unknown_column_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("agee > 3").mask(PEOPLE)
    assert caught.value.details["name"] == "agee"
    assert "age" in caught.value.remedy
