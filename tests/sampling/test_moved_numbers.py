"""Numbers move by one step, inside their domain, whatever the column's type."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_moves import plain_move, same_cell

from testsgd.data import Feature
from testsgd.sampling import DECIMAL_STEP, moved, perturbation_step

pytest.importorskip("pyarrow")

WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NULLABLE_WHOLE = ["Int8", "Int64", "UInt8", "int8[pyarrow]", "int64[pyarrow]"]
FLOATS = ["float32", "float64", "Float32", "Float64", "float[pyarrow]", "double[pyarrow]"]
AGE = Feature(type="integer", range=(10, 20))


def check_unchanged(column, before, result):
    """A move leaves its input alone and keeps the rows' index and the type."""
    pd.testing.assert_series_equal(column, before)
    assert result.index.equals(column.index)
    assert result.dtype == column.dtype


# Also cells beyond the domain, which a checked table cannot hold: a move may bring them back in.
@given(st.data())
@pytest.mark.parametrize("kind", [*WHOLE, *NULLABLE_WHOLE, *FLOATS])
def test_whole_numbers_move_as_single_cells_would(kind, data):
    cells = st.integers(8, 22) if kind in WHOLE else st.one_of(st.none(), st.integers(8, 22))
    drawn = data.draw(st.lists(cells, max_size=6))
    column = pd.Series(drawn, dtype=kind, index=[f"row {place}" for place in range(len(drawn))])
    directions = data.draw(
        st.lists(st.sampled_from([-1, 0, 1]), min_size=len(drawn), max_size=len(drawn))
    )
    before = column.copy(deep=True)
    result, changed = moved(column, AGE, "age", np.array(directions, dtype=np.int64))
    expected = [plain_move(AGE, cell, way) for cell, way in zip(drawn, directions, strict=True)]
    assert all(map(same_cell, result.tolist(), expected))
    assert changed.tolist() == [
        not same_cell(cell, target) for cell, target in zip(drawn, expected, strict=True)
    ]
    check_unchanged(column, before, result)


@given(st.lists(st.integers(10, 20), min_size=1), st.sampled_from([-1, 1]))
@pytest.mark.parametrize("kind", [*WHOLE, *NULLABLE_WHOLE, *FLOATS])
def test_there_and_back_again(kind, cells, direction):
    column = pd.Series(cells, dtype=kind)
    there, changed = moved(column, AGE, "age", direction)
    back, _ = moved(there, AGE, "age", -direction)
    assert back[changed].tolist() == column[changed].tolist()
    assert there[~changed].tolist() == column[~changed].tolist()


@given(st.lists(st.one_of(st.none(), st.integers(0, 100))), st.sampled_from([-1, 1]))
@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("top", [1, 50, 3])
def test_decimals_move_by_a_hundredth_of_their_range(top, kind, cells, direction):
    feature = Feature(type="decimal", range=(0, top))
    column = pd.Series([None if cell is None else cell * top / 100 for cell in cells], dtype=kind)
    before = column.copy(deep=True)
    result, changed = moved(column, feature, "x", direction)
    single = column.dtype.name.lower() in {"float32", "float[pyarrow]"}
    for cell, target, differs in zip(cells, result.tolist(), changed, strict=True):
        if cell is None:
            assert pd.isna(target)
            assert not differs
            continue
        # At the end of the range a step stays; on the last but one it arrives exactly there.
        place = cell + direction
        assert differs == (0 <= place <= 100)
        place = min(max(place, 0), 100)
        assert target == pytest.approx(place * top / 100, abs=1e-6 if single else 1e-12)
        assert 0 <= target <= top
        if place in (0, 100):
            assert target == place * top / 100
    check_unchanged(column, before, result)


def test_step_that_leaves_the_range_is_not_cut_short():
    column = pd.Series([0.995, 0.005])
    feature = Feature(type="decimal", range=(0, 1))
    assert moved(column, feature, "x", 1)[0].tolist() == [0.995, 0.005 + 0.01]
    assert moved(column, feature, "x", -1)[0].tolist() == [0.995 - 0.01, 0.005]


@pytest.mark.parametrize(
    ("feature", "step"),
    [
        (Feature(type="integer", range=(0, 1000)), 1),
        (Feature(type="decimal", range=(0, 1)), DECIMAL_STEP),
        (Feature(type="decimal", range=(-10, 40)), 0.5),
        (Feature(type="decimal", range=(0, 1), step=0.25), 0.25),
        (Feature(type="integer", range=(0, 1000), step=10), 10),
    ],
)
def test_size_of_a_step(feature, step):
    assert perturbation_step(feature) == step
    column, _ = moved(pd.Series([0.5 * sum(feature.range)]), feature, "x", 1)
    assert column.tolist() == [pytest.approx(0.5 * sum(feature.range) + step)]


@pytest.mark.parametrize(
    ("kind", "wide"),
    [
        ("int64", "float64"),
        ("uint8", "float64"),
        ("Int64", "Float64"),
        ("int64[pyarrow]", "double[pyarrow]"),
    ],
)
def test_decimals_in_a_column_of_whole_numbers_get_room_for_their_fraction(kind, wide):
    # Nobody can earn a half in a column of integers, so the neighbours' column is one of floats.
    feature = Feature(type="decimal", range=(0, 50))
    result, changed = moved(pd.Series([20, 21, 50], dtype=kind), feature, "x", 1)
    assert result.tolist() == [20.5, 21.5, 50]
    assert changed.tolist() == [True, True, False]
    assert result.dtype == pd.Series([], dtype=wide).dtype


@pytest.mark.parametrize(
    ("kind", "cell", "direction", "wide"),
    [
        ("int8", 127, 1, "int64"),
        ("int8", -128, -1, "int64"),
        ("uint8", 0, -1, "int64"),
        ("Int8", 127, 1, "Int64"),
        ("UInt8", 0, -1, "Int64"),
        ("UInt8", 255, 1, "Int64"),
        ("int8[pyarrow]", 127, 1, "int64[pyarrow]"),
        ("uint8[pyarrow]", 0, -1, "int64[pyarrow]"),
    ],
)
def test_whole_numbers_that_outgrow_their_column_get_a_wider_one(kind, cell, direction, wide):
    feature = Feature(type="integer", range=(-1000, 1000))
    result, changed = moved(pd.Series([cell, 5], dtype=kind), feature, "x", direction)
    assert result.tolist() == [cell + direction, 5 + direction]
    assert changed.all()
    assert result.dtype == pd.Series([], dtype=wide).dtype


@pytest.mark.parametrize("kind", ["float64", "Int64", "Float64", "double[pyarrow]"])
def test_column_of_missing_cells_stays(kind):
    column = pd.Series([None, None], dtype=kind)
    result, changed = moved(column, AGE, "age", 1)
    assert result.isna().all()
    assert not changed.any()
    assert result.dtype == column.dtype
