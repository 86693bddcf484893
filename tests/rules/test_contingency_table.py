"""The contingency table: the combinations that occur, and sums over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rules import make_table, tables

import testsgd.rules.contingency as contingency_module
from testsgd.errors import ParameterError
from testsgd.rules import IntervalAxis, feature_subsets, lay_out, sensitive_axes


def combinations_of_rows(axes, table):
    """Give each row's cells, one number a feature, as a tuple."""
    return list(zip(*(axis.cells(table).tolist() for axis in axes), strict=True))


@given(tables())
def test_combinations_are_those_of_the_rows(table):
    axes = sensitive_axes(table)
    found = lay_out(table, axes)
    rows = combinations_of_rows(axes, table)
    assert [tuple(found.coordinates[cell].tolist()) for cell in found.cell_of_row] == rows
    assert found.cells == len(set(rows))


@given(tables(), st.integers(1, 7))
def test_rows_laid_out_in_pieces_give_the_same(table, chunk):
    axes = sensitive_axes(table)
    whole = lay_out(table, axes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contingency_module, "_CHUNK", chunk)
        pieces = lay_out(table, axes)
    assert np.array_equal(pieces.coordinates, whole.coordinates)
    assert np.array_equal(pieces.cell_of_row, whole.cell_of_row)


@given(tables(), st.data())
def test_tally_sums_the_weights_of_the_rows(table, data):
    axes = sensitive_axes(table)
    found = lay_out(table, axes)
    # As large as squared numbers of neighbours may get.
    weights = np.array(
        data.draw(st.lists(st.integers(0, 10**12), min_size=len(table), max_size=len(table)))
    )
    expected, counts = {}, {}
    for row, weight in zip(combinations_of_rows(axes, table), weights.tolist(), strict=True):
        expected[row] = expected.get(row, 0) + weight
        counts[row] = counts.get(row, 0) + 1
    cells = [tuple(cell) for cell in found.coordinates.tolist()]
    assert dict(zip(cells, found.tally(weights).tolist(), strict=True)) == expected
    assert dict(zip(cells, found.tally().tolist(), strict=True)) == counts


@given(tables())
def test_marginal_and_dense_sums_agree_with_a_count_of_the_rows(table):
    axes = sensitive_axes(table)
    found = lay_out(table, axes)
    for subset in feature_subsets(axes, 3):
        rows = combinations_of_rows([axes[axis] for axis in subset], table)
        joint, sums = found.marginal(subset, found.tally()[None, :])
        places = np.column_stack(np.unravel_index(joint, found.shape(subset))).tolist()
        counted = {tuple(cells): int(n) for cells, n in zip(places, sums[0], strict=True)}
        assert counted == {row: rows.count(row) for row in rows}
        dense = found.dense(subset, found.tally()[None, :])
        assert dense.sum() == len(table)
        assert all(dense[(0, *row)] == rows.count(row) for row in rows)


def test_sums_wrap_around_like_64_bits():
    table = make_table(
        {"x": {"type": "categorical", "values": ["a", "b"]},
         "y": {"type": "categorical", "values": ["a", "b"]}},
        {"x": ["a", "a", "b"], "y": ["a", "b", "a"]},
    )  # fmt: skip
    found = lay_out(table, sensitive_axes(table))
    marks = np.full((1, found.cells), 2**63 - 1)
    _, sums = found.marginal([0], marks)
    assert sums.tolist() == [[-2, 2**63 - 1]]


@pytest.mark.parametrize(("features", "refused"), [(26, False), (27, True)])
def test_too_many_combinations_to_number_are_refused(features, refused):
    # 5 cells each: 5**26 is below 2**62, 5**27 above.
    names = [f"x{place}" for place in range(features)]
    table = make_table(
        {name: {"type": "decimal", "range": [0, 1]} for name in names},
        {name: [0.1, 0.9, 0.9] for name in names},
    )
    axes = [IntervalAxis(name, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)) for name in names]
    if refused:
        with pytest.raises(ParameterError, match=r"27 sensitive features.*use fewer bins"):
            lay_out(table, axes)
    else:
        assert lay_out(table, axes).coordinates.tolist() == [[0] * 26, [4] * 26]
