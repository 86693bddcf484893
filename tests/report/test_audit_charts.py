"""The charts of an audit: what is drawn where, and nothing outside of the drawing."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from audit_documents import as_summary, census_document
from text_documents import comments_document, text_summary

import testsgd
from testsgd.auditing.report import charts as audit_charts
from testsgd.auditing.report.summary import HeatMap
from testsgd.auditing.report.vocabulary import vocabulary
from testsgd.auditing.report.wording import findings
from testsgd.report import scales
from testsgd.report.charts import HeatMap as DrawnMap
from testsgd.report.charts import Plane, Strips
from testsgd.report.formatting import MINUS, points, tick_points
from testsgd.report.html import draw


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


def test_scale_of_nothing():
    assert scales.rate_scale([]).high > 0
    assert audit_charts.groups_scale([]).place(0) == 50


def test_difference_scale_holds_intervals_parts_and_zero(summary):
    top = findings(summary)
    scale = audit_charts.groups_scale(top)
    for group in top:
        assert scale.low <= group.confidence_interval[0]
        assert group.confidence_interval[1] <= scale.high
    assert 0 < scale.place(0) < 100


def strips(summary) -> Strips:
    (chart,) = audit_charts.first_groups(summary, findings(summary), vocabulary(summary)).charts
    assert isinstance(chart, Strips)
    return chart


def test_rows_stand_where_the_numbers_say(summary):
    chart = strips(summary)
    ((_, rows),) = chart.parts
    for row, group in zip(rows, findings(summary), strict=True):
        (mark,) = row.marks
        assert (mark.value, mark.interval, mark.margin) == (
            group.difference,
            group.confidence_interval,
            None,
        )
        assert row.side == ("less" if group.difference < 0 else "more")
        assert "confidence interval" in row.title
        assert "sampling margin" not in row.title
    drawn = str(draw(chart))
    for group in findings(summary):
        low, high = (chart.scale.place(end) for end in group.confidence_interval)
        assert f'class="whisker" x1="{low}%" x2="{high}%"' in drawn
        assert f'cx="{chart.scale.place(group.difference)}%"' in drawn


def test_the_sampling_margin_is_a_band(sampled):
    ((_, rows),) = strips(sampled).parts
    (mark,), group = rows[0].marks, findings(sampled)[0]
    assert mark.margin is not None
    assert mark.margin[0] < group.difference < mark.margin[1]
    assert "sampling margin 3.1 points" in rows[0].title


def scatter(summary, marked) -> Plane:
    only = audit_charts.all_groups(summary, marked, vocabulary(summary))
    chart = only.blocks[1].charts[0]
    assert isinstance(chart, Plane)
    return chart


def test_scatter_keeps_every_point_inside(summary):
    chart = scatter(summary, findings(summary))
    assert len(chart.points) == len(summary.charts.scatter)
    places = re.findall(r'<circle cx="([\d.]+)%" cy="([\d.]+)%"', str(draw(chart)))
    assert len(places) == len(chart.points)
    assert all(0 <= float(end) <= 100 for place in places for end in place)
    assert chart.tiles == ()
    assert [line.upright for line in chart.thresholds] == [True]


def test_scatter_tiles_are_darker_with_more_groups_and_touch(crime):
    chart = scatter(crime, [])
    assert chart.points == ()
    tiles = re.findall(
        r'class="tile t(\d)" x="([\d.]+)%" y="([-\d.]+)%" width="([\d.]+)%" height="([\d.]+)%"',
        str(draw(chart)),
    )
    levels = sorted(
        (cell.n, int(tile[0])) for cell, tile in zip(crime.charts.scatter, tiles, strict=True)
    )
    assert [level for _, level in levels] == sorted(level for _, level in levels)
    assert (levels[0][1], levels[-1][1]) == (1, 5)
    column = sorted(float(tile[2]) for tile in tiles if tile[1] == tiles[0][1])
    assert column[1] - column[0] == pytest.approx(float(tiles[0][4]), abs=0.11)


def test_scatter_of_a_single_tile(document):
    document["charts"] |= {"scatter": [{"support": 0.5, "score": 0.2, "n": 7}]}
    document["charts"] |= {"scatter_binned": True}
    drawn = str(draw(scatter(as_summary(document), [])))
    (tile,) = re.findall(r'class="tile t5" [^>]*width="([\d.]+)%" height="([\d.]+)%"', drawn)
    assert all(float(length) > 0 for length in tile)


def test_scatter_shows_the_gate(sampled):
    assert scatter(sampled, []).thresholds[-1].value == 0.1


def test_scatter_of_nothing(empty):
    chart = scatter(empty, [])
    assert chart.points == ()
    assert chart.highlights == ()


def labelled(drawn: str) -> list[tuple[str, ...]]:
    """Where the labels of diamonds are."""
    pattern = r'<text x="([\d.]+)%" y="([\d.]+)%" dx="([-\d]+)" dy="([-\d]+)" text-anchor="\w+">\d'
    return re.findall(pattern, drawn)


def test_marks_are_by_rank_and_labels_keep_apart(summary):
    top = findings(summary)
    chart = scatter(summary, top)
    assert [mark.label for mark in chart.highlights] == [str(group.rank) for group in top]
    places = labelled(str(draw(chart)))
    assert len(places) == len(set(places)) > 0


def test_label_is_left_out_where_there_is_no_room(summary):
    group = findings(summary)[0]
    assert 0 < len(labelled(str(draw(scatter(summary, [group] * 30))))) < 30


def _map(rates, counts):
    return HeatMap(
        row_feature="gender",
        column_feature="race",
        row_labels=[f"r{i}" for i in range(len(rates))],
        column_labels=[f"c{i}" for i in range(len(rates[0]))],
        rates=rates,
        counts=counts,
    )


def heat(document, *maps, overall):
    """The drawn heat maps of a document, and the labels of their colours."""
    document["charts"]["heat_maps"] = [one.model_dump() for one in maps]
    document["overall_rate"] = overall
    summary = as_summary(document)
    keys, figure, *_ = audit_charts.heat_maps(summary, vocabulary(summary))
    assert all(isinstance(chart, DrawnMap) for chart in figure.charts)
    return figure.charts, keys.charts[0].labels


def test_heat_maps_are_shaded_by_distance_from_the_overall_rate(document):
    (drawn,), labels = heat(
        document, _map([[0.1, 0.3, 0.5, None]], [[100, 100, 12, 0]]), overall=0.3
    )
    assert (labels[0], labels[4], labels[-1]) == (f"{MINUS}20", "0", "+20")
    ((label, cells),) = drawn.rows
    assert label == "r0"
    assert [cell.steps for cell in cells] == [-4, 0, 4, None]
    assert [cell.text for cell in cells] == ["10", "30", "50", ""]
    assert [cell.few for cell in cells] == [False, False, True, False]
    assert cells[0].title == f"10.0%, {MINUS}20.0, 100 rows"
    assert cells[3].title == "no rows"
    classes = re.findall(r'<td class="(\w+)', str(draw(drawn)))
    assert classes == ["l4", "z", "m4", "no"]


def test_cell_without_samples_is_not_called_empty(document):
    (drawn,), _ = heat(document, _map([[None]], [[12]]), overall=0.3)
    assert drawn.rows[0][1][0].title == "no samples of 12 rows"


@pytest.mark.parametrize(
    ("rates", "counts", "end"),
    [
        ([[0.30, 0.34]], [[90, 90]], "+4"),
        ([[0.30, 0.34, 1.0]], [[90, 90, 3]], "+4"),
        ([[1.0]], [[3]], "+80"),
    ],
)
def test_shades_are_not_stretched_by_cells_with_few_rows(document, rates, counts, end):
    assert heat(document, _map(rates, counts), overall=0.3)[1][-1] == end


def test_small_rates_keep_a_digit(document):
    (drawn,), _ = heat(document, _map([[0.004, 0.0, 0.0996]], [[50, 50, 50]]), overall=0.0)
    assert [cell.text for cell in drawn.rows[0][1]] == ["0.4", "0", "10"]


def test_no_side_is_called_worse_off_without_a_description_of_the_label() -> None:
    people = pd.DataFrame({"sex": ["f", "m"] * 200})
    decided = [0, 1, 1, 1] * 100
    summary = testsgd.audit_predictions(decided, sensitive_features=people).summary
    assert summary.data.inferred
    figure = audit_charts.first_groups(summary, findings(summary), vocabulary(summary))
    assert "worse off" not in figure.caption


@pytest.mark.parametrize(("outcome", "orange_is_right"), [("benefit", False), ("harm", True)])
def test_orange_marks_those_who_are_worse_off(outcome, orange_is_right):
    document = census_document()
    document["data"]["label"]["outcome"] = outcome
    summary = as_summary(document)
    words = vocabulary(summary)
    groups = summary.groups[:6]
    (chart,) = audit_charts.first_groups(summary, groups, words).charts
    sides = re.findall(r'<g class="(less|more)">', draw(chart))
    orange = [(group.difference > 0) == orange_is_right for group in groups]
    assert [side == "less" for side in sides] == orange


@pytest.mark.parametrize("ranked_by", ["counterfactual", "score"])
def test_the_number_of_a_row_is_that_of_its_dot(ranked_by):
    document = comments_document()
    document["parameters"]["rank_by"] = ranked_by
    told = text_summary(document)
    figure = audit_charts.first_groups(told, told.groups, vocabulary(told))
    ((_, rows),) = figure.charts[0].parts
    for group, row in zip(told.groups, rows, strict=True):
        (dot,) = [mark for mark in row.marks if mark.shape == "dot"]
        (ring,) = [mark for mark in row.marks if mark.shape == "ring"]
        pair = [group.counterfactual, group]
        leading, other = pair if ranked_by == "counterfactual" else reversed(pair)
        assert (dot.value, dot.interval) == (leading.difference, leading.confidence_interval)
        assert (ring.value, ring.interval) == (other.difference, other.confidence_interval)
        assert row.value == points(dot.value)
        assert row.title.index(points(dot.value)) <= row.title.index(points(ring.value))
        # The colour of the number is that of the dot.
        assert row.side == dot.side


def test_each_row_of_one_quantity_is_a_dot():
    told = text_summary()
    for group in told.groups:
        figure = audit_charts.group_parts(
            group, audit_charts.groups_scale([group]), vocabulary(told)
        )
        for _, rows in figure.charts[0].parts:
            for row in rows:
                for mark in row.marks:
                    assert (mark.shape, points(mark.value)) == ("dot", row.value)
