"""Some rows of a table: chosen or drawn, with everything that belongs to them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.data import Table, check_table, specification_from_mapping
from testsgd.errors import ParameterError

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "few"},
        "label": {"column": "label", "favourable": "yes", "values": ["no", "yes"]},
        "features": {
            "number": {"type": "integer", "range": [0, 99]},
            "share": {"type": "decimal", "range": [0, 1]},
            "town": {"type": "categorical", "values": ["a", "b"], "sensitive": True},
        },
    }
)
COUNT = 20


def some_table(*, labels: bool = True) -> Table:
    """Rows that say their own number; every third share and every fourth town is missing."""
    numbers = np.arange(COUNT)
    towns = [None if number % 4 == 0 else "ba"[number % 2] for number in range(COUNT)]
    frame = pd.DataFrame(
        {
            "number": numbers,
            "share": np.where(numbers % 3 == 0, np.nan, numbers / COUNT),
            "town": pd.Categorical(towns),
        },
        index=100 + numbers,
    )
    if labels:
        frame["label"] = np.where(numbers % 5, "no", "yes")
    return check_table(frame, SPECIFICATION, source="somewhere")


@given(rows=st.lists(st.integers(0, COUNT - 1)))
def test_the_rows_taken_come_with_all_that_belongs_to_them(rows: list[int]) -> None:
    table = some_table()
    taken = table.take(np.array(rows, dtype=np.intp))
    assert len(taken) == len(rows)
    assert taken.frame["number"].tolist() == rows
    assert taken.frame.index.tolist() == [100 + row for row in rows]
    assert taken.frame.dtypes.equals(table.frame.dtypes)
    assert taken.labels is not None
    assert taken.labels.tolist() == ["no" if row % 5 else "yes" for row in rows]
    assert taken.missing == {
        "number": 0,
        "share": sum(row % 3 == 0 for row in rows),
        "town": sum(row % 4 == 0 for row in rows),
    }
    assert taken.codes("town").tolist() == [-1 if row % 4 == 0 else 1 - row % 2 for row in rows]
    assert (taken.specification, taken.source) == (SPECIFICATION, "somewhere")
    assert table.missing == {"number": 0, "share": 7, "town": 5}, "the table itself is as it was"


def test_labels_that_are_not_there_stay_away() -> None:
    assert some_table(labels=False).take(np.array([1, 2])).labels is None


@given(count=st.integers(1, COUNT - 1), seed=st.integers(0, 1000))
def test_a_sample_is_so_many_of_the_rows_in_their_order(count: int, seed: int) -> None:
    table = some_table()
    sample = table.sample(count, seed)
    rows = sample.frame["number"].tolist()
    assert rows == sorted(set(rows))
    assert len(rows) == count
    pd.testing.assert_frame_equal(sample.frame, table.take(np.array(rows)).frame)
    assert sample.missing == table.take(np.array(rows)).missing
    assert sample.notes == (f"a sample of {count} of the 20 rows, drawn with seed {seed}",)


@pytest.mark.parametrize("count", [COUNT, COUNT + 1])
def test_all_rows_are_no_sample(count: int) -> None:
    table = some_table()
    assert table.sample(count, 0) is table


@pytest.mark.parametrize(
    ("count", "seed", "name"), [(0, 0, "count"), (-1, 0, "count"), (3, -1, "seed")]
)
def test_a_sample_that_cannot_be_drawn(count: int, seed: int, name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        some_table().sample(count, seed)
    assert caught.value.details["name"] == name
