"""Categories move to their neighbours in the declared order, whatever the column's type."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_moves import same_cell

from testsgd.data import Feature, category_text
from testsgd.errors import DataError
from testsgd.sampling import moved

pytest.importorskip("pyarrow")

# The declared order is neither the alphabet's nor that of the last two categorical types.
WORDS = ["low", "mid", "high"]
KINDS = {
    "inferred": (None, WORDS),
    "object": (object, WORDS),
    "string": ("string", WORDS),
    "string[pyarrow]": ("string[pyarrow]", WORDS),
    "categorical": (pd.CategoricalDtype(WORDS), WORDS),
    "ordered": (pd.CategoricalDtype(WORDS, ordered=True), WORDS),
    "other order": (pd.CategoricalDtype(["mid", "high", "low"]), WORDS),
    "unused category": (pd.CategoricalDtype(["none", "mid", "high", "low"], ordered=True), WORDS),
    "object of whole numbers": (object, [2, 1, 3]),
    "Int64": ("Int64", [2, 1, 3]),
    "float64": ("float64", [2.0, 1.0, 3.0]),
    "int64[pyarrow]": ("int64[pyarrow]", [2, 1, 3]),
    "categorical of whole numbers": (pd.CategoricalDtype([1, 2, 3]), [2, 1, 3]),
    "boolean": ("boolean", [True, False]),
    "bool[pyarrow]": ("bool[pyarrow]", [True, False]),
    "object of booleans": (object, [True, False]),
}
# These cannot hold a missing cell.
FULL_KINDS = {
    "int64": ("int64", [2, 1, 3]),
    "int8": ("int8", [2, 1, 3]),
    "uint8": ("uint8", [2, 1, 3]),
    "bool": ("bool", [True, False]),
}


@given(st.data())
@pytest.mark.parametrize("kind", [*KINDS, *FULL_KINDS])
def test_cells_move_one_place_along_the_declared_order(kind, data):
    dtype, values = {**KINDS, **FULL_KINDS}[kind]
    feature = Feature(type="categorical", values=[category_text(value) for value in values])
    choices = values if kind in FULL_KINDS else [*values, None]
    cells = data.draw(st.lists(st.sampled_from(choices), max_size=6))
    directions = [data.draw(st.sampled_from([-1, 0, 1])) for _ in cells]
    column = pd.Series(cells, dtype=dtype, index=range(10, 10 + len(cells)))
    before = column.copy(deep=True)

    result, changed = moved(column, feature, "x", np.array(directions, dtype=np.int64))
    for cell, direction, target, differs in zip(
        cells, directions, result.tolist(), changed, strict=True
    ):
        place = None if cell is None else values.index(cell) + direction
        expected = values[place] if place is not None and 0 <= place < len(values) else cell
        assert same_cell(target, expected)
        assert differs == (not same_cell(cell, expected))
    assert result.dtype == column.dtype
    assert result.index.equals(column.index)
    pd.testing.assert_series_equal(column, before)

    # One direction for all cells is the same as that direction for each.
    everywhere, _ = moved(column, feature, "x", 1)
    each, _ = moved(column, feature, "x", np.ones(len(column), dtype=np.int64))
    pd.testing.assert_series_equal(everywhere, each)
    back, _ = moved(result, feature, "x", -np.array(directions, dtype=np.int64))
    assert back[changed].tolist() == column[changed].tolist()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_cell_stays_as_it_was_written(missing):
    column = pd.Series(["low", missing], dtype=object)
    result, changed = moved(column, Feature(type="categorical", values=WORDS), "x", 1)
    assert result[0] == "mid"
    assert result[1] is missing
    assert changed.tolist() == [True, False]


@pytest.mark.parametrize(
    ("cells", "dtype", "declared", "expected", "new_dtype"),
    [
        ([0, 1, 2], "int64", ["0", "1", "2", "3"], [1, 2, 3], "int64"),
        ([True, True], "bool", ["True", "False"], [False, False], "bool"),
        ([0, 1, 2], "int64", ["0", "1", "2", "3+"], [1, 2, "3+"], object),
        ([0, 1, 2], "Int64", ["0", "1", "2", "3+"], [1, 2, "3+"], object),
        ([0.0, 2.0], "float64", ["0", "1", "2", "3+"], [1, "3+"], object),
        ([1, 2], object, ["1", "2", "3+"], [2, "3+"], object),
        ([1, 1], object, ["1", "2", "3+"], [2, 2], object),
        ([1, 2], "int64", ["1", "2", "02"], [2, "02"], object),
        ([True, False], "bool", ["False", "True", "unknown"], ["unknown", True], object),
        ([126, 127], "int8", ["126", "127", "200"], [127, 200], "int64"),
    ],
)
def test_value_that_no_cell_has_is_written_as_the_column_would(
    cells, dtype, declared, expected, new_dtype
):
    feature = Feature(type="categorical", values=declared)
    result, changed = moved(pd.Series(cells, dtype=dtype), feature, "x", 1)
    assert result.tolist() == expected
    assert [type(cell) is str for cell in result] == [type(cell) is str for cell in expected]
    assert result.dtype == new_dtype
    assert changed.all()


def test_category_is_added_behind_the_others():
    column = pd.Series(["mid", "low"], dtype=pd.CategoricalDtype(["mid", "low", "unused"]))
    result, _ = moved(column, Feature(type="categorical", values=WORDS), "x", 1)
    assert result.tolist() == ["high", "mid"]
    assert result.cat.categories.tolist() == ["mid", "low", "unused", "high"]
    assert not result.cat.ordered


def test_category_is_added_to_an_ordered_type_where_it_belongs():
    column = pd.Series(["mid", "high"], dtype=pd.CategoricalDtype(["mid", "high"], ordered=True))
    result, _ = moved(column, Feature(type="categorical", values=WORDS), "x", -1)
    assert result.tolist() == ["low", "mid"]
    assert (result < "high").tolist() == [True, True]


def test_undeclared_value_is_refused():
    with pytest.raises(DataError, match=r"'lowest'.*not among the declared values of 'wage'"):
        moved(pd.Series(["lowest"]), Feature(type="categorical", values=WORDS), "wage", 1)


def test_single_value_has_nowhere_to_go():
    column = pd.Series(["a", "a"])
    result, changed = moved(column, Feature(type="categorical", values=["a"]), "x", 1)
    assert result.tolist() == ["a", "a"]
    assert not changed.any()
