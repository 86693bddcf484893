"""Categories: one text for one value, one code for one text, whatever the column's type."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from testsgd.data import (
    category_codes,
    category_text,
    category_texts,
    declared_indices,
    distinct_values,
)
from testsgd.errors import DataError

WHOLE = st.integers(-(10**6), 10**6)
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(["a", "b", "1", "0", "True", "1.0", "1.5", ""]),
    st.integers(-2, 2),
    st.booleans(),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0]),
)
MISSING_CELLS = st.sampled_from([None, np.nan, pd.NA, pd.NaT])


@given(number=WHOLE)
def test_a_whole_number_has_one_text(number: int) -> None:
    writings: list[Any] = [number, float(number), np.int32(number), np.float64(number)]
    writings += [np.int64(number), np.float64(number), str(number), np.str_(number)]
    assert {category_text(writing) for writing in writings} == {str(number)}


@pytest.mark.parametrize("truth", [True, False])
def test_a_boolean_has_one_text_which_is_no_numbers(truth: bool) -> None:
    assert category_text(truth) == category_text(np.bool_(truth)) == str(truth)
    assert category_text(truth) != category_text(int(truth))


@given(text=st.text())
def test_a_text_is_its_own_text(text: str) -> None:
    assert category_text(text) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.0, "0"), (0.1, "0.1"), (2.50, "2.5"), (Decimal("1.5"), "1.5"), (1e3, "1000")],
)
def test_texts_of_other_values(value: Any, text: str) -> None:
    assert category_text(value) == text


def by_hand(values: list[Any], declared: list[str]) -> list[int]:
    """Look up one cell after another."""
    return [-1 if pd.isna(value) else declared.index(category_text(value)) for value in values]


@given(values=st.lists(st.one_of(VALUES, MISSING_CELLS)), extra=st.lists(st.text(min_size=3)))
@example(values=[1, True, 1.0, "1", "True", None], extra=[])
@example(values=[0, False, -0.0, pd.NA], extra=[])
def test_codes_of_mixed_objects_are_those_found_by_hand(
    values: list[Any], extra: list[str]
) -> None:
    known = [category_text(value) for value in values if not pd.isna(value)]
    declared = list(dict.fromkeys(extra + known[::-1]))
    codes = category_codes(pd.Series(values, dtype=object), declared, feature="x")
    assert codes.dtype == np.int16
    assert codes.tolist() == by_hand(values, declared)


@given(values=st.lists(st.one_of(VALUES, MISSING_CELLS)))
def test_distinct_values_and_codes_give_the_column_back(values: list[Any]) -> None:
    codes, distinct = distinct_values(pd.Series(values, dtype=object))
    texts = [category_text(value) for value in distinct]
    assert len(set(texts)) == len(texts)
    assert [-1 if code < 0 else texts[code] for code in codes] == [
        -1 if pd.isna(value) else category_text(value) for value in values
    ]


TYPES: dict[str, tuple[list[Any], list[str]]] = {
    "object": (["b", None, "a", "b"], ["a", "b"]),
    "str": (["b", None, "a", "b"], ["a", "b"]),
    "string": (["b", None, "a", "b"], ["a", "b"]),
    "string[pyarrow]": (["b", None, "a", "b"], ["a", "b"]),
    "category": (["b", None, "a", "b"], ["a", "b"]),
    "Int8": ([1, None, 0, 1], ["0", "1"]),
    "Int64": ([1, None, 0, 1], ["0", "1"]),
    "float32": ([1, None, 0, 1], ["0", "1"]),
    "float64": ([1, None, 0, 1], ["0", "1"]),
    "Float64": ([1, None, 0, 1], ["0", "1"]),
    "int64[pyarrow]": ([1, None, 0, 1], ["0", "1"]),
    "double[pyarrow]": ([1, None, 0, 1], ["0", "1"]),
    "boolean": ([True, None, False, True], ["False", "True"]),
    "bool[pyarrow]": ([True, None, False, True], ["False", "True"]),
}


@pytest.mark.parametrize("dtype", TYPES)
def test_codes_of_every_type(dtype: str) -> None:
    values, declared = TYPES[dtype]
    column = pd.Series(values, dtype=dtype, index=[9, 9, 3, 0])
    assert category_codes(column, declared, feature="x").tolist() == [1, -1, 0, 1]
    assert category_codes(column.iloc[2:], declared, feature="x").tolist() == [0, 1]
    assert category_codes(column.iloc[:0], declared, feature="x").tolist() == []


@pytest.mark.parametrize("categories", [["a", "b"], ["b", "a"], ["c", "b", "x", "a"]])
@pytest.mark.parametrize("ordered", [True, False])
def test_the_order_of_a_types_categories_does_not_matter(
    categories: list[str], ordered: bool
) -> None:
    column = pd.Series(pd.Categorical(["b", None, "a"], categories=categories, ordered=ordered))
    assert category_codes(column, ["a", "b", "c"], feature="x").tolist() == [1, -1, 0]


def test_one_type_may_be_asked_for_with_several_declarations() -> None:
    """Places are remembered; what is remembered must be that of the declaration."""
    column = pd.Series(pd.Categorical(["a", "b"]))
    for declared, codes in [(["a", "b"], [0, 1]), (["b", "a"], [1, 0]), (["a", "b"], [0, 1])]:
        assert category_codes(column, declared, feature="x").tolist() == codes
    other = pd.Series(pd.Categorical(["b", "a"], categories=["b", "a"]))
    assert category_codes(other, ["a", "b"], feature="x").tolist() == [1, 0]


def test_remembered_places_cannot_be_spoiled() -> None:
    dtype = pd.CategoricalDtype(["b", "a", "z"])
    places = declared_indices(dtype, ["a", "b"])
    assert places.tolist() == [1, 0, -1]
    with pytest.raises(ValueError, match="read-only"):
        places[0] = 7


@pytest.mark.parametrize("dtype", ["object", "category", "str"])
def test_a_value_that_is_not_declared_is_named_with_its_row(dtype: str) -> None:
    column = pd.Series(["a", None, "c", "c"], dtype=dtype, index=[10, 11, 12, 13])
    with pytest.raises(DataError) as caught:
        category_codes(column, ["a", "b"], feature="letter")
    assert "the value 'c' (row 12)" in str(caught.value)
    assert "declared: a, b" in caught.value.remedy
    assert caught.value.details == {"feature": "letter", "value": "c", "row": 12}


def test_a_long_declaration_is_cut_short_in_the_message() -> None:
    with pytest.raises(DataError, match=r"declared: 0, 1, 2, 3, 4, 5, 6, 7, \.\.\. \(30 in all\)"):
        category_codes(pd.Series([99]), [str(value) for value in range(30)], feature="x")


COLUMNS = {
    "texts": pd.Series(["b", None, "a", "b", "", "\ud800"], dtype=object),
    "strings": pd.Series(["b", None, "a", "b", ""], dtype="str"),
    "numbers": pd.Series([0.0, -0.0, 1.5, np.nan, 1e300, 3.0, np.inf]),
    "single": pd.Series([0.1, np.nan, 2.0], dtype=np.float32),
    "whole": pd.Series([3, 1, 3, -7]),
    "nullable": pd.Series([3, None, 3], dtype="Int64"),
    "flags": pd.Series([True, False, True]),
    "mixed": pd.Series([True, 1, 1.0, "1", None, np.nan, pd.NA], dtype=object),
    "decimals": pd.Series([Decimal("1.0"), Decimal("1.00"), None], dtype=object),
    "categories": pd.Series(["x", None, "y"], dtype=pd.CategoricalDtype(["y", "x", "z"])),
    "dates": pd.Series(pd.to_datetime(["2026-01-01", None, "2026-01-02"])),
    "none": pd.Series([], dtype=float),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_texts_of_a_column_are_those_of_its_cells(name: str) -> None:
    column = COLUMNS[name]
    assert category_texts(column).tolist() == [category_text(cell) for cell in column]
