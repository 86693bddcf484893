"""Removal and the outputs that a conditional requirement is about, by the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sequence_formulas import removed

from testsgd.errors import DataError
from testsgd.generative.sequences import related, removal

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30)


@given(labels=st.lists(st.integers(0, 4), max_size=30), drop=st.sets(st.integers(0, 4)))
def test_removal_keeps_what_the_definition_keeps(labels: list[int], drop: set[int]) -> None:
    outputs = list(range(len(labels)))
    assert removal(labels, drop).tolist() == removed(outputs, labels, drop)


@given(rows=pairs, value=st.integers(0, 3))
def test_related_is_removal_twice(rows: list[tuple[int, int]], value: int) -> None:
    condition, grouping = [row[0] for row in rows], [row[1] for row in rows]
    outputs = list(range(len(rows)))
    others = {0, 1, 2, 3} - {value}
    kept = removed(outputs, condition, others)
    kept = removed(kept, [grouping[index] for index in kept], {0})
    assert related(condition, value, grouping).tolist() == kept


@given(grouping=st.lists(st.integers(0, 3), max_size=30))
def test_without_condition_only_unrelated_outputs_are_removed(grouping: list[int]) -> None:
    kept = removed(list(range(len(grouping))), grouping, {0})
    assert related(None, 1, grouping).tolist() == kept


def test_the_papers_fifth_example() -> None:
    # Fourteen outputs of poor people (2); the gender in the sixth could not be recognised. The
    # other genders are made up: the paper shows them in a picture only.
    poor = np.full(14, 2)
    gender = np.array([2, 2, 1, 2, 2, 0, 2, 2, 1, 2, 2, 2, 2, 2])
    assert related(poor, 2, gender).tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13]
    assert len(removal(poor, {0, 1})) == 14


def test_rows_of_different_length_are_an_error() -> None:
    with pytest.raises(DataError):
        related([1, 1], 1, [1])


@pytest.mark.parametrize("labels", [[1.5, 2.0], [[1, 2]], 3, ["a"]])
def test_what_is_no_row_of_whole_numbers_is_an_error(labels: object) -> None:
    with pytest.raises(DataError):
        removal(labels, {0})  # type: ignore[arg-type]
