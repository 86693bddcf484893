"""The limits of bins are the decimals that people would write."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_rules import make_table

from testsgd.data import Feature
from testsgd.rules import IntervalAxis, bin_edges, sensitive_axes


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6), st.integers(1, 200))
def test_limits_of_two_digits_are_exact(low, width, bins):
    # Hundredths, divided as whole numbers: each quotient is the float of the written decimal.
    high = low + width * bins
    feature = Feature(type="decimal", range=(low / 100, high / 100), bins=bins)
    assert bin_edges(feature) == tuple((low + width * k) / 100 for k in range(bins + 1))


def test_row_at_a_limit_is_in_the_bin_that_starts_there():
    hundredths = [float(f"{number / 100:.2f}") for number in range(100)]
    for bins in (10, 20, 50, 100):
        table = make_table(
            {"share": {"type": "decimal", "range": [0, 1], "bins": bins}}, {"share": hundredths}
        )
        (axis,) = sensitive_axes(table)
        assert axis.cells(table).tolist() == [number * bins // 100 for number in range(100)]


def test_rule_texts_have_no_rounding_errors():
    axis = IntervalAxis("x", bin_edges(Feature(type="decimal", range=(0, 1))))
    assert "0.3 <= x < 0.7" in [axis.rule(index).text for index in range(axis.rule_count)]
    assert axis.edges[3] == 0.3


def test_highest_value_is_in_the_last_bin():
    table = make_table(
        {"age": {"type": "integer", "range": [17, 90], "bins": 10}}, {"age": [17, 90, 24, 25]}
    )
    (axis,) = sensitive_axes(table)
    assert axis.cells(table).tolist() == [0, 9, 0, 1]


@pytest.mark.parametrize(
    ("feature", "bins", "edges"),
    [
        ({"type": "integer", "range": (0, 100)}, None, range(0, 101, 10)),
        ({"type": "integer", "range": (0, 100), "bins": 4}, None, range(0, 101, 25)),
        ({"type": "integer", "range": (0, 100), "bins": 4}, 2, (0, 50, 100)),
        ({"type": "integer", "range": (0, 100), "edges": [0, 18, 65, 100]}, None, (0, 18, 65, 100)),
        ({"type": "integer", "range": (0, 100), "edges": [0, 18, 65, 100]}, 2, (0, 50, 100)),
        ({"type": "integer", "range": (1, 4)}, None, (1, 2, 3, 4, 5)),
        ({"type": "integer", "range": (1, 4)}, 4, (1, 2, 3, 4, 5)),
        ({"type": "integer", "range": (1, 4)}, 3, (1, 2, 3, 4)),
        ({"type": "integer", "range": (0, 1)}, None, (0, 1, 2)),
        ({"type": "decimal", "range": (0, 1), "bins": 2}, None, (0, 0.5, 1)),
        ({"type": "decimal", "range": (1e-7, 3e-7), "bins": 2}, None, (1e-7, 2e-7, 3e-7)),
    ],
)
def test_bins_come_from_the_option_then_the_edges_then_the_description(feature, bins, edges):
    assert bin_edges(Feature(**feature), bins=bins) == tuple(edges)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(1, 200))
def test_any_range_is_cut_into_equal_bins(low, width, bins):
    high = low + width
    edges = bin_edges(Feature(type="decimal", range=(low, high), bins=bins))
    assert (edges[0], edges[-1], len(edges)) == (low, high, bins + 1)
    for step, edge in enumerate(edges):
        assert edge == pytest.approx(low + (high - low) * step / bins, rel=1e-12, abs=1e-9)


@given(
    st.integers(-(10**6), 10**6),
    st.integers(1, 300),
    st.integers(2, 200),
    st.lists(st.integers(0, 300), min_size=1, max_size=20),
)
def test_whole_limits_move_no_row(low, width, bins, offsets):
    feature = Feature(type="integer", range=(low, low + width))
    ages = [low + min(offset, width) for offset in offsets]
    table = make_table({"age": {"type": "integer", "range": [low, low + width]}}, {"age": ages})
    (whole,) = sensitive_axes(table, bins=bins)
    (equal,) = sensitive_axes(table, bins=bins, whole_limits=False)
    assert all(edge % 1 == 0 for edge in whole.edges)
    assert whole.edges == bin_edges(feature, bins=bins)
    assert whole.bins <= bins
    assert whole.cells(table).tolist() == equal.cells(table).tolist()
    # No bin is without a whole number.
    assert all(second - first >= 1 for first, second in itertools.pairwise(whole.edges))


def test_bins_as_in_the_paper_are_equally_wide():
    feature = Feature(type="integer", range=(18, 79))
    assert bin_edges(feature, bins=4, whole_limits=False) == (18, 33.25, 48.5, 63.75, 79)
    assert bin_edges(feature, bins=4) == (18, 34, 49, 64, 79)
