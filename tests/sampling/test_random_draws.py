"""Random neighbours: uniform over rows, features and directions, one cell moved at most."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_moves import make_table, plain_move, same_cell
from scipy import stats

import testsgd.sampling.neighbourhood as draws_module
from testsgd.models import CallableModel
from testsgd.sampling import Draws, decide_draws, draw, drawn_frame, drawn_neighbours

TABLE = make_table(
    {
        "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
        "wage": {"type": "integer", "range": [0, 3]},
        "share": {"type": "decimal", "range": [0, 100]},
        "town": {"type": "categorical", "values": ["c", "a", "b"]},
    },
    {
        "gender": ["f", "m", None, "m"],
        "wage": pd.Series([0, 1, 3, None], dtype="Int64"),
        "share": [0.0, np.nan, 99.5, 100.0],
        "town": pd.Series(["a", "b", None, "c"], dtype="category"),
    },
)
FEATURES = len(TABLE.specification.insensitive)


@pytest.mark.parametrize("candidates", [7, np.array([3, 5, 8, 13, 21, 34, 55])])
def test_every_combination_is_equally_likely(candidates):
    count = 42_000
    drawn = draw(np.random.default_rng(5), candidates, 3, count)
    rows = np.arange(7) if isinstance(candidates, int) else candidates
    assert set(drawn.rows) == set(rows)
    assert set(drawn.features) == {0, 1, 2}
    assert set(drawn.directions) == {-1, 1}
    # Each of the 7 * 3 * 2 combinations falls as a binomial count; together: one in a million.
    combinations = np.column_stack([drawn.rows, drawn.features, drawn.directions])
    _, counts = np.unique(combinations, axis=0, return_counts=True)
    assert len(counts) == 42
    fewest, most = stats.binom.interval(1 - 1e-6 / 42, count, 1 / 42)
    assert fewest <= counts.min() <= counts.max() <= most
    assert stats.chisquare(counts).pvalue > 1e-6


def test_same_seed_same_draws():
    first, again, other = (draw(np.random.default_rng(seed), 1000, 9, 500) for seed in (1, 1, 2))
    assert np.array_equal(first.rows, again.rows)
    assert np.array_equal(first.features, again.features)
    assert np.array_equal(first.directions, again.directions)
    assert not np.array_equal(first.rows, other.rows)
    assert len(first) == 500


@st.composite
def some_draws(draw_value):
    count = draw_value(st.integers(0, 20))
    rows, features, ways = (
        np.array([draw_value(choice) for _ in range(count)], dtype=np.int64)
        for choice in (
            st.integers(0, len(TABLE) - 1),
            st.integers(0, FEATURES - 1),
            st.sampled_from([-1, 1]),
        )
    )
    return Draws(rows, features, ways)


@given(some_draws())
def test_drawn_row_is_its_seed_with_one_cell_moved_or_none(drawn):
    before = TABLE.frame.copy(deep=True)
    frame = drawn_frame(TABLE, drawn)
    assert frame.columns.tolist() == TABLE.frame.columns.tolist()
    assert frame.dtypes.equals(TABLE.frame.dtypes)
    assert frame.index.tolist() == list(range(len(drawn)))
    for place in range(len(drawn)):
        expected = TABLE.frame.iloc[drawn.rows[place]].to_dict()
        name = TABLE.specification.insensitive[drawn.features[place]]
        feature = TABLE.specification.features[name]
        expected[name] = plain_move(feature, expected[name], int(drawn.directions[place]))
        found = frame.iloc[place].to_dict()
        assert all(same_cell(found[column], expected[column]) for column in expected)
    pd.testing.assert_frame_equal(TABLE.frame, before)


@given(some_draws())
def test_it_is_told_which_drawn_rows_differ_from_their_seeds(drawn):
    frame, changed = drawn_neighbours(TABLE, drawn)
    pd.testing.assert_frame_equal(frame, drawn_frame(TABLE, drawn))
    seeds = TABLE.frame.iloc[drawn.rows].to_dict("records")
    assert changed.tolist() == [
        not all(same_cell(found[name], seed[name]) for name in seed)
        for found, seed in zip(frame.to_dict("records"), seeds, strict=True)
    ]


@given(some_draws(), st.integers(1, 6))
def test_batches_decide_like_the_whole(drawn, batch):
    def function(frame):
        favoured = (frame["wage"].fillna(9) >= 2) ^ (frame["share"].fillna(0) > 50)
        return favoured.map({True: "yes", False: "no"}).astype(object)

    model = CallableModel(function, label=TABLE.specification.label, name="plain", output="labels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draws_module, "BATCH_ROWS", batch)
        decided = decide_draws(model, TABLE, drawn)
    assert decided.dtype == bool
    assert decided.tolist() == (function(drawn_frame(TABLE, drawn)) == "yes").tolist()


def test_without_a_feature_to_move_the_seed_rows_are_drawn():
    table = make_table(
        {"gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True}},
        {"gender": ["f", "m", "m"]},
    )
    drawn = draw(np.random.default_rng(0), 3, 0, 50)
    frame = drawn_frame(table, drawn)
    assert frame["gender"].tolist() == table.frame["gender"].iloc[drawn.rows].tolist()
