"""An axis: the rules over one feature, as objects, as a 0/1 matrix and as sums."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies
from plain_rules import make_table, plain_rules, tables

from testsgd.errors import ParameterError
from testsgd.rules import CategoryAxis, IntervalAxis, sensitive_axes


def rules_of(axis):
    return [axis.rule(index) for index in range(axis.rule_count)]


@given(tables(most_cells=4))
def test_rules_are_those_that_the_definition_lists(table):
    for axis in sensitive_axes(table):
        expected = {rule for rule, _ in plain_rules(table, axis.feature)}
        assert len(rules_of(axis)) == len(expected)
        assert set(rules_of(axis)) == expected


@given(tables(most_cells=4))
def test_matrix_rows_say_what_the_rules_match(table):
    for axis in sensitive_axes(table):
        cells = axis.cells(table)
        assert axis.matrix.shape == (axis.rule_count, len(axis.labels))
        for row, rule in zip(axis.matrix, rules_of(axis), strict=True):
            assert row[cells].tolist() == rule.matches(table).astype(int).tolist()


@given(tables(most_cells=4))
def test_rule_of_a_cell_matches_the_rows_in_it(table):
    for axis in sensitive_axes(table):
        cells = axis.cells(table)
        for cell in range(len(axis.labels)):
            rule = axis.cell_rule(cell)
            if rule is not None:
                assert rule.matches(table).tolist() == (cells == cell).tolist()
            elif isinstance(axis, IntervalAxis):
                # Missing numbers, or a single bin that leaves nobody out.
                assert (cell == axis.bins and axis.has_missing) or axis.bins == 1


@given(tables(), st.integers(0, 20), st.integers(0, 20))
def test_cells_of_some_rows_are_those_of_all(table, start, stop):
    for axis in sensitive_axes(table):
        part = slice(start, stop)
        assert axis.cells(table, part).tolist() == axis.cells(table)[part].tolist()


@given(st.integers(1, 12))
def test_proper_subsets_of_values(values):
    axis = CategoryAxis("x", tuple(map(str, range(values))), tuple(range(values)))
    assert axis.rule_count == len(axis.matrix) == 2**values - 2
    assert len(np.unique(axis.matrix, axis=0)) == axis.rule_count
    assert axis.value_counts.tolist() == [len(rule.values) for rule in rules_of(axis)]
    assert not axis.widths.any()


@given(st.integers(1, 30), st.booleans())
def test_proper_runs_of_bins(bins, has_missing):
    axis = IntervalAxis("x", tuple(float(edge) for edge in range(bins + 1)), has_missing)
    runs = bins * (bins + 1) // 2 - 1
    assert axis.rule_count == len(axis.matrix) == runs + has_missing
    assert axis.widths[:runs].tolist() == axis.matrix[:runs].sum(axis=1).tolist()
    assert not axis.value_counts[:runs].any()
    if has_missing:
        assert axis.labels[-1] == "missing"
        assert axis.matrix[:, -1].tolist() == [0] * runs + [1]
        assert axis.matrix[-1].tolist() == [0] * bins + [1]
        assert (axis.widths[-1], axis.value_counts[-1]) == (0, 1)


AXES = st.one_of(
    st.builds(
        lambda size: CategoryAxis("x", tuple(map(str, range(size))), tuple(range(size))),
        st.integers(1, 5),
    ),
    st.builds(
        lambda bins, missing: IntervalAxis("x", tuple(range(bins + 1)), missing),
        st.integers(1, 6),
        st.booleans(),
    ),
)


@given(AXES, st.data())
def test_contraction_is_the_product_with_the_matrix_and_wraps_like_it(axis, data):
    shape = [data.draw(st.integers(1, 3)) for _ in range(3)]
    place = data.draw(st.integers(0, 2))
    shape[place] = len(axis.labels)
    whole = np.iinfo(np.int64)
    # Numbers near both ends of 64 bits: the fingerprints of the lattice are such.
    counts = data.draw(
        numpy_strategies.arrays(np.int64, tuple(shape), elements=st.integers(whole.min, whole.max))
    )
    exact = np.tensordot(axis.matrix.astype(object), counts.astype(object), axes=(1, place))
    wrapped = np.moveaxis((exact + 2**63) % 2**64 - 2**63, 0, place)
    before = counts.copy()
    found = axis.contract(counts, place)
    assert found.dtype == np.int64
    assert found.shape == wrapped.shape
    assert found.tolist() == wrapped.tolist()
    assert np.array_equal(counts, before)


def test_values_that_do_not_occur_give_no_rules():
    table = make_table(
        {"race": {"type": "categorical", "values": ["Black", "Asian", "White"]}},
        {"race": ["White", "Black", "White"]},
    )
    (axis,) = sensitive_axes(table)
    assert axis.labels == ("Black", "White")
    assert [rule.text for rule in rules_of(axis)] == ["race = Black", "race = White"]


def test_missing_category_is_a_value():
    table = make_table(
        {"race": {"type": "categorical", "values": ["Black", "White"]}},
        {"race": [None, "White"]},
    )
    (axis,) = sensitive_axes(table)
    assert [rule.text for rule in rules_of(axis)] == ["race = White", "race = missing"]


def test_missing_number_has_a_rule_of_its_own():
    table = make_table(
        {"age": {"type": "integer", "range": [0, 100], "bins": 2}}, {"age": [10.0, 50.0, np.nan]}
    )
    (axis,) = sensitive_axes(table)
    assert [rule.text for rule in rules_of(axis)] == ["age < 50", "age >= 50", "age = missing"]
    assert axis.labels == ("0 to 49", "50 to 100", "missing")
    assert axis.cells(table).tolist() == [0, 1, 2]
    missing = axis.cell_rule(2)
    assert missing == axis.rule(2)
    assert missing.matches(table).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("values", "missing", "rules"),
    [(12, 0, 4094), (13, 0, 255 + 5), (12, 1, 255 + 5), (30, 1, 255 + 23)],
)
def test_of_many_values_each_and_every_subset_of_the_commonest_is_a_rule(values, missing, rules):
    names = [f"v{place:02}" for place in range(values)]
    cells = [*names, *names[::2], *[None] * missing]
    table = make_table({"town": {"type": "categorical", "values": names}}, {"town": cells})
    (axis,) = sensitive_axes(table)
    assert axis.rule_count == rules
    chosen = [set(rule.values) for rule in rules_of(axis)]
    assert len({frozenset(values) for values in chosen}) == rules
    present = {value or "missing" for value in cells}
    assert {next(iter(values)) for values in chosen if len(values) == 1} == present
    several = set().union(*(values for values in chosen if len(values) > 1))
    assert len(several) == (12 if rules == 4094 else 8)
    # A value of the subsets has as many rows as any that is not among them.
    rows = Counter(value or "missing" for value in cells)
    assert min(rows[value] for value in several) >= max(
        (rows[value] for value in present - several), default=0
    )


def test_the_commonest_values_are_those_of_the_most_rows_that_are_counted():
    names = [f"v{place:02}" for place in range(14)]
    table = make_table({"town": {"type": "categorical", "values": names}}, {"town": names})
    rows = np.arange(14)[::-1].copy()
    (axis,) = sensitive_axes(table, rows=rows + 1)
    several = {value for rule in rules_of(axis) if len(rule.values) > 1 for value in rule.values}
    assert several == set(names[:8])


def test_values_with_too_few_rows_are_a_group_together():
    names = [f"v{place:02}" for place in range(14)]
    cells = [name for place, name in enumerate(names) for _ in range(3 if place % 4 else 1)]
    table = make_table({"town": {"type": "categorical", "values": names}}, {"town": cells})
    (axis,) = sensitive_axes(table, min_rows=2)
    (together,) = [
        set(rule.values) for rule in rules_of(axis) if "v00" in rule.values and len(rule.values) > 1
    ]
    assert together == {"v00", "v04", "v08", "v12"}
    (axis,) = sensitive_axes(table, min_rows=1)
    assert not [rule for rule in rules_of(axis) if "v00" in rule.values and len(rule.values) > 1]


def test_the_rules_of_many_values_have_the_rows_of_their_values():
    generator = np.random.default_rng(3)
    names = [f"v{place:02}" for place in range(17)]
    table = make_table(
        {"town": {"type": "categorical", "values": names}},
        {"town": generator.choice(names, 400).tolist()},
    )
    (axis,) = sensitive_axes(table, min_rows=24)
    cells = axis.cells(table)
    counts = generator.integers(0, 9, (3, 17, 2))
    sums = axis.contract(counts, 1)
    for index in [*generator.choice(axis.rule_count, 60), axis.rule_count - 1]:
        rule = axis.rule(int(index))
        chosen = [axis.values.index(value) for value in rule.values]
        assert np.flatnonzero(axis.matrix[index]).tolist() == sorted(chosen)
        assert (sums[:, index] == counts[:, chosen].sum(axis=1)).all()
        assert (axis.matrix[index][cells] == rule.matches(table)).all()


def test_more_values_than_can_be_looked_at_are_refused_with_the_way_out():
    names = [f"v{place}" for place in range(1001)]
    table = make_table({"town": {"type": "categorical", "values": names}}, {"town": names})
    with pytest.raises(ParameterError, match="join values") as caught:
        sensitive_axes(table)
    assert caught.value.details == {"feature": "town", "values": 1001}


@pytest.mark.parametrize(
    ("described", "numbers", "labels"),
    [
        (
            {"range": [0, 100], "edges": [0, 18, 65, 101]},
            [3, 100],
            ("0 to 17", "18 to 64", "65 to 100"),
        ),
        ({"range": [0, 100], "edges": [0, 99, 100, 101]}, [3, 100], ("0 to 98", "99", "100")),
        ({"range": [0, 90], "bins": 3}, [3, 90], ("0 to 29", "30 to 59", "60 to 90")),
        ({"range": [1, 3]}, [1, 3], ("1", "2", "3")),
        # Equally wide bins of the paper: a whole number is named in the one bin that has it.
        ({"range": [0, 9], "edges": [0, 4.5, 9]}, [1, 9], ("0 to 4", "5 to 9")),
    ],
)
def test_bins_of_whole_numbers_name_what_they_hold(described, numbers, labels):
    table = make_table({"age": {"type": "integer", **described}}, {"age": [*map(float, numbers)]})
    (axis,) = sensitive_axes(table)
    assert axis.labels == labels
    # The number that a bin's name begins or ends with is in that bin.
    for cell, label in enumerate(labels):
        ends = {"age": [float(end) for end in label.split(" to ")]}
        assert set(
            axis.cells(make_table({"age": {"type": "integer", **described}}, ends)).tolist()
        ) == {cell}


def test_bins_of_decimals_name_their_limits():
    table = make_table(
        {"age": {"type": "decimal", "range": [0, 1], "bins": 2}}, {"age": [0.0, 0.5]}
    )
    (axis,) = sensitive_axes(table)
    assert axis.labels == ("0 to 0.5", "0.5 to 1")
