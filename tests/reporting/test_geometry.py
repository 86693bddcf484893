"""The charts' geometry: what is where, and nothing outside the drawing."""

from __future__ import annotations

import pytest
from audit_documents import as_summary
from hypothesis import given
from hypothesis import strategies as st

from testsgd.report import scales
from testsgd.report.formatting import MINUS, tick_points
from testsgd.reporting import geometry, heat, scatter
from testsgd.reporting.summary import HeatMap
from testsgd.reporting.wording import findings


def test_linear_scale_covers_both_ends_with_round_ticks():
    scale = scales.linear_scale(-0.213, 0.07, count=5, write=tick_points)
    assert [tick.label for tick in scale.ticks] == [
        f"{MINUS}30",
        f"{MINUS}20",
        f"{MINUS}10",
        "0",
        "+10",
    ]
    assert [tick.at for tick in scale.ticks] == [0, 25, 50, 75, 100]
    assert scale.place(-0.15) == 37.5


@pytest.mark.parametrize("value", [-5.0, 5.0])
def test_values_beyond_the_scale_lie_at_its_ends(value):
    scale = scales.linear_scale(0.0, 1.0, count=4)
    assert scale.place(value) in (0, 100)


@pytest.mark.parametrize("high", [0.0, 1e-9, 0.003, 0.0999, 0.1, 1.0])
def test_scale_exists_for_any_height(high):
    scale = scales.rate_scale([0.0, None, high])
    assert scale.high >= high
    assert 2 <= len(scale.ticks) <= 6


@given(st.floats(1e-3, 1e5), st.floats(1e-3, 1e5), st.floats(0, 1))
def test_times_lie_between_the_ends_of_their_scale(one, other, between):
    first, last = sorted((one, other))
    scale = scales.duration_scale(first, last)
    inside = first + between * (last - first)
    assert scale.place(first) <= scale.place(inside) <= scale.place(last) == 100
    assert all(0 <= tick.at <= 100 for tick in scale.ticks)
    if scale.logarithmic:
        # Twice as long is the same way to the right, wherever it begins.
        steps = [scale.share(2 * time) - scale.share(time) for time in (scale.low, last / 2)]
        assert steps[0] == pytest.approx(steps[1])
        assert scale.share(scale.low) == 0
    else:
        assert scale.share(last / 2) == pytest.approx(0.5)


def test_scale_of_nothing():
    assert scales.rate_scale([]).high > 0
    assert geometry.difference_scale([]).place(0) == 50


def test_difference_scale_holds_intervals_parts_and_zero(summary):
    top = findings(summary)
    scale = geometry.difference_scale(top)
    for group in top:
        assert scale.low <= group.interval[0]
        assert group.interval[1] <= scale.high
    assert 0 < scale.place(0) < 100


def test_whisker_stands_where_the_numbers_say(summary):
    group = findings(summary)[0]
    scale = geometry.difference_scale([group])
    drawn = geometry.whisker(group, scale)
    assert drawn.at == scale.place(group.difference)
    assert drawn.start == scale.place(group.interval[0])
    assert drawn.start + drawn.width == pytest.approx(scale.place(group.interval[1]), abs=0.1)
    assert drawn.margin_width == 0
    assert "population interval" in drawn.title
    assert "sampling margin" not in drawn.title


def test_whisker_has_a_band_for_the_sampling_margin(sampled):
    group = findings(sampled)[0]
    drawn = geometry.whisker(group, geometry.difference_scale([group]))
    assert drawn.margin_start < drawn.at < drawn.margin_start + drawn.margin_width
    assert "sampling margin 3.1 points" in drawn.title


def test_side_follows_the_sign(summary):
    for group in findings(summary):
        drawn = geometry.whisker(group, geometry.difference_scale([group]))
        assert drawn.side == ("less" if group.difference < 0 else "more")


def test_scatter_keeps_every_point_inside(summary):
    plot = scatter.scatter_plot(summary, findings(summary))
    assert len(plot.points) == len(summary.charts.scatter)
    assert all(0 <= point.x <= 100 and 0 <= point.y <= 100 for point in plot.points)
    assert plot.tiles == ()
    assert plot.gate is None


def test_scatter_tiles_are_darker_with_more_groups_and_touch(crime):
    plot = scatter.scatter_plot(crime, [])
    assert plot.points == ()
    levels = sorted(
        (cell.n, tile.level) for cell, tile in zip(crime.charts.scatter, plot.tiles, strict=True)
    )
    assert [level for _, level in levels] == sorted(level for _, level in levels)
    assert (levels[0][1], levels[-1][1]) == (1, scatter.TILE_LEVELS)
    assert plot.largest == levels[-1][0]
    column = sorted(tile.y for tile in plot.tiles if tile.x == plot.tiles[0].x)
    assert column[1] - column[0] == pytest.approx(plot.tiles[0].height, abs=0.11)


def test_scatter_of_a_single_tile(document):
    document["charts"] |= {"scatter": [{"support": 0.5, "score": 0.2, "n": 7}]}
    document["charts"] |= {"scatter_binned": True}
    (tile,) = scatter.scatter_plot(as_summary(document), []).tiles
    assert tile.level == scatter.TILE_LEVELS
    assert tile.width > 0 < tile.height


def test_scatter_shows_the_gate(sampled):
    plot = scatter.scatter_plot(sampled, [])
    assert plot.gate == pytest.approx(100 - plot.y_scale.place(0.1))


def test_scatter_of_nothing(empty):
    plot = scatter.scatter_plot(empty, [])
    assert plot.points == ()
    assert plot.marks == ()


def test_marks_are_by_rank_and_labels_keep_apart(summary):
    top = findings(summary)
    marks = scatter.scatter_plot(summary, top).marks
    assert [mark.title.split(".")[0] for mark in marks] == [str(group.rank) for group in top]
    places = [(mark.x, mark.y, mark.dx, mark.dy) for mark in marks if mark.label]
    assert len(places) == len(set(places))


def test_label_is_left_out_where_there_is_no_room(summary):
    group = findings(summary)[0]
    marks = scatter.scatter_plot(summary, [group] * 30).marks
    assert 0 < sum(bool(mark.label) for mark in marks) < 30


def _map(rates, counts):
    return HeatMap(
        row_feature="gender",
        column_feature="race",
        row_labels=[f"r{i}" for i in range(len(rates))],
        column_labels=[f"c{i}" for i in range(len(rates[0]))],
        rates=rates,
        counts=counts,
    )


def test_heat_table_shades_by_distance_from_the_overall_rate():
    heat_map = _map([[0.1, 0.3, 0.5, None]], [[100, 100, 12, 0]])
    table = heat.heat_table(heat_map, overall=0.3, step=0.05)
    ((label, cells),) = table.rows
    assert label == "r0"
    assert [cell.shade for cell in cells] == ["l4", "z", "m4", ""]
    assert [cell.text for cell in cells] == ["10", "30", "50", ""]
    assert [cell.few for cell in cells] == [False, False, True, False]
    assert cells[0].title == f"10.0%, {MINUS}20.0, 100 rows"
    assert cells[3].title == "no rows"


def test_cell_without_samples_is_not_called_empty():
    table = heat.heat_table(_map([[None]], [[12]]), overall=0.3, step=0.05)
    assert table.rows[0][1][0].title == "no samples of 12 rows"


def test_heat_step_is_not_stretched_by_cells_with_few_rows():
    quiet = [[0.30, 0.34]]
    assert heat.heat_step([_map(quiet, [[90, 90]])], 0.3) == 0.01
    assert heat.heat_step([_map([[0.30, 0.34, 1.0]], [[90, 90, 3]])], 0.3) == 0.01
    assert heat.heat_step([_map([[1.0]], [[3]])], 0.3) == 0.2
    assert heat.heat_step([], 0.3) > 0


def test_small_rates_keep_a_digit():
    table = heat.heat_table(_map([[0.004, 0.0, 0.0996]], [[50, 50, 50]]), 0.0, 0.01)
    assert [cell.text for cell in table.rows[0][1]] == ["0.4", "0", "10"]


def test_heat_keys_go_from_less_to_more():
    keys = heat.heat_keys(0.05)
    assert [key.shade for key in keys] == ["l4", "l3", "l2", "l1", "z", "m1", "m2", "m3", "m4"]
    assert (keys[0].label, keys[4].label, keys[-1].label) == (f"{MINUS}20", "0", "+20")
