"""Every neighbour of every row is counted once, as a row by row search counts it."""

from __future__ import annotations

import collections

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_moves import make_table, plain_neighbours, same_cell

import testsgd.sampling.neighbourhood as neighbourhood
from testsgd.models import CallableModel
from testsgd.sampling import explore_neighbourhood, neighbourhood_size

FEATURES = {
    "person": {"type": "integer", "range": [0, 1000], "sensitive": True},
    "gender": {"type": "categorical", "values": ["f", "m"], "sensitive": True},
    "wage": {"type": "integer", "range": [0, 3]},
    "share": {"type": "decimal", "range": [0, 100]},
    "town": {"type": "categorical", "values": ["c", "a", "b"]},
}
WORTH = {"a": 1, "b": 5, "c": 2}


@st.composite
def tables(draw):
    rows = st.tuples(
        st.sampled_from(["f", "m", None]),
        st.integers(0, 3),
        st.sampled_from([None, 0.0, 0.5, 1.0, 42.0, 99.0, 100.0]),
        st.sampled_from(["a", "b", "c", None]),
    )
    gender, wage, share, town = zip(*draw(st.lists(rows, min_size=1, max_size=12)), strict=True)
    return make_table(
        FEATURES,
        {
            # Numbers the rows, and is sensitive: a variant that changed it would be found out.
            "person": range(len(wage)),
            "gender": pd.Series(gender, dtype=object),
            "wage": pd.Series(wage, dtype="int8"),
            "share": pd.Series(share, dtype="float64"),
            "town": pd.Series(town, dtype=object),
        },
    )


def plain_decision(row):
    """Decide on one row in a way that every feature has a part in."""
    share = 7 if pd.isna(row["share"]) else int(2 * row["share"])
    town = 4 if pd.isna(row["town"]) else WORTH[row["town"]]
    return (3 * row["person"] + 2 * row["wage"] + share + town) % 3 == 0


class Witness:
    """A model that keeps what it is shown, and sees to it that nobody's sensitive values change."""

    def __init__(self, table):
        self.table = table
        self.genders = table.frame["gender"].tolist()
        self.asked = []

    def __call__(self, frame):
        assert frame.columns.tolist() == list(self.table.specification.features)
        assert frame.dtypes.equals(self.table.frame.dtypes)
        rows = frame.to_dict("records")
        for row in rows:
            assert same_cell(row["gender"], self.genders[row["person"]])
        self.asked.extend(rows)
        return ["yes" if plain_decision(row) else "no" for row in rows]

    def model(self):
        return CallableModel(
            self, label=self.table.specification.label, name="witness", output="labels"
        )


def as_key(row):
    return tuple(None if pd.isna(cell) else cell for cell in row.values())


@settings(max_examples=50)
@given(tables())
def test_neighbours_are_those_of_a_row_by_row_search(table):
    witness = Witness(table)
    found = explore_neighbourhood(witness.model(), table)
    fewest = collections.Counter()
    for place, (row, neighbours) in enumerate(plain_neighbours(table)):
        assert found.decisions[place] == plain_decision(row)
        assert found.favourable[place] == sum(map(plain_decision, neighbours))
        # The row itself is asked about, and each neighbour that is somebody else.
        others = [as_key(other) for other in neighbours if as_key(other) != as_key(row)]
        fewest.update([as_key(row), *others])
    asked = collections.Counter(map(as_key, witness.asked))
    assert set(asked) == set(fewest)
    assert asked >= fewest
    assert found.queries == asked.total() <= 7 * len(table)
    assert found.size == neighbourhood_size(table) == 6


@settings(max_examples=20)
@given(tables(), st.integers(1, 5), st.sampled_from([1, 2, 3]))
def test_answer_does_not_depend_on_threads_or_chunks(table, chunk, jobs):
    before = table.frame.copy(deep=True)
    whole = explore_neighbourhood(Witness(table).model(), table)
    calls, witness = [], Witness(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbourhood, "CHUNK_ROWS", chunk)
        pieces = explore_neighbourhood(
            witness.model(), table, jobs=jobs, progress=lambda *call: calls.append(call)
        )
    assert np.array_equal(pieces.favourable, whole.favourable)
    assert np.array_equal(pieces.decisions, whole.decisions)
    assert pieces.size == whole.size
    assert pieces.queries == len(witness.asked)
    # Answers are counted: to each row, and to two neighbours for each feature that is moved.
    [total] = {total for _, total in calls}
    assert total == len(table) * (1 + 2 * len(table.specification.insensitive))
    shares = [done for done, _ in calls]
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] == total
    # Each chunk of rows brings it on.
    assert len(set(shares)) >= -(-len(table) // chunk)
    pd.testing.assert_frame_equal(table.frame, before)


def test_without_a_feature_to_move_each_row_is_its_own_neighbour():
    table = make_table(
        {name: FEATURES[name] for name in ("person", "gender")},
        {"person": [0, 1, 2], "gender": ["f", "m", "f"]},
    )
    model = CallableModel(
        lambda frame: frame["gender"].eq("f").map({True: "yes", False: "no"}),
        label=table.specification.label,
        name="women",
    )
    found = explore_neighbourhood(model, table)
    assert found.favourable.tolist() == [1, 0, 1]
    assert found.decisions.tolist() == [True, False, True]
    assert (found.size, found.queries, neighbourhood_size(table)) == (1, 3, 1)


def test_index_of_the_rows_does_not_matter():
    # Half of a larger frame, its index out of order and with a number twice.
    table = make_table(FEATURES, {
        "person": [0, 1, 2], "gender": ["f", "m", "f"], "wage": [0, 1, 3],
        "share": [0.0, 50.0, np.nan], "town": ["a", "b", "c"],
    })  # fmt: skip
    plain = explore_neighbourhood(Witness(table).model(), table)
    table.frame.index = [7, 3, 7]
    found = explore_neighbourhood(Witness(table).model(), table)
    assert found.favourable.tolist() == plain.favourable.tolist()
    assert found.queries == plain.queries
