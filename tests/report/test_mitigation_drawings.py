"""The drawings of a mitigation: everything stands where its number says, within the drawing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitigation_documents import (
    MITIGATIONS,
    as_mitigation,
    few_held_out_document,
    no_candidate_document,
    one_target_document,
    rates,
    several_targets_document,
)
from page_parts import Element, drawing, number, of_class, section, text
from page_planes import planes_of

from testsgd.mitigation import MitigationResult, MitigationSummary
from testsgd.mitigation.report import charts
from testsgd.report.charts import Plane, Strips
from testsgd.report.formatting import MINUS
from testsgd.report.html import draw

# Positions are rounded to a tenth of a per cent.
ROUNDED = 0.0501


@pytest.fixture(params=MITIGATIONS)
def summary(request: pytest.FixtureRequest) -> MitigationSummary:
    return as_mitigation(MITIGATIONS[request.param]())


def page_section(summary: MitigationSummary, key: str) -> Element:
    return section(MitigationResult.document.to_html(summary), key)


def gap_rows(summary: MitigationSummary, rank: int = 1) -> list[Element]:
    """The rows of the drawing of a target's rates."""
    targets = of_class(page_section(summary, "before-after"), "group", "article")
    article = next(one for one in targets if one.get("id") == f"target-{rank}")
    return list(of_class(article, "strip-row", "li"))


def label(row: Element) -> str:
    return text(next(of_class(row, "strip-label")))


def value(row: Element) -> str:
    return text(next(of_class(row, "value")))


def dot(row: Element, kind: str) -> float:
    """Where a row's mark of a kind is."""
    (mark,) = of_class(row, kind, "circle")
    return number(mark, "cx")


def ends(row: Element, kind: str) -> tuple[float, float]:
    """Where a row's line of a kind begins and ends."""
    (line,) = (one for one in of_class(row, kind, "line") if one.get("y1") == one.get("y2"))
    return number(line, "x1"), number(line, "x2")


def beside(row: Element) -> list[tuple[float, str, str]]:
    """What is written beside a row's marks: where, on which side of it, and what."""
    marks = of_class(row, "mark-text", "text")
    return [(number(mark, "x"), mark.get("text-anchor", ""), text(mark)) for mark in marks]


def shift_rows(summary: MitigationSummary) -> list[Element]:
    targets = summary.targets
    figure = charts.shifts(targets, charts.shift_scale(targets), "")
    (chart,) = figure.charts
    assert isinstance(chart, Strips)
    return list(of_class(drawing(draw(chart)), "strip-row", "li"))


def trade_off(summary: MitigationSummary) -> Plane:
    figure = charts.trade_off(summary)
    assert figure is not None
    (chart,) = figure.charts
    assert isinstance(chart, Plane)
    return chart


def at(low: float, high: float, value: float) -> float:
    return 100 * (value - low) / (high - low)


def test_a_gap_joins_the_two_rates() -> None:
    summary = as_mitigation(one_target_document())
    scale = charts.gap_scale(summary.targets)
    before, after, *held_out = gap_rows(summary)
    assert [label(row) for row in (before, after, *held_out)] == ["Before", "After"] * 2
    inside, outside = at(scale.low, scale.high, 0.4204), at(scale.low, scale.high, 0.1261)
    assert dot(before, "dot") == pytest.approx(inside, abs=ROUNDED)
    assert dot(before, "rest") == pytest.approx(outside, abs=ROUNDED)
    assert ends(before, "gap-line") == pytest.approx((outside, inside), abs=ROUNDED)
    assert beside(before) == [
        (dot(before, "rest"), "end", "12.6%"),
        (dot(before, "dot"), "start", "42.0%"),
    ]
    assert value(before) == "+29.4 points"
    low, high = ends(after, "gap-line")
    assert high - low < inside - outside
    headings = [text(one) for one in page_section(summary, "before-after").iter("h4")]
    assert headings == ["All rows", "Held-out rows"]


def test_all_targets_are_drawn_on_one_scale_on_which_all_rates_lie() -> None:
    summary = as_mitigation(several_targets_document())
    scale = charts.gap_scale(summary.targets)
    known = [
        rate
        for target in summary.targets
        for side in (target.before, target.after, target.held_out_before, target.held_out_after)
        for rate in (side.rate_in, side.rate_out)
        if rate is not None
    ]
    assert scale.low <= min(known) < max(known) <= scale.high
    drawn = [
        [(number(tick, "x"), tick.text) for tick in axis.iter("text")]
        for figure in page_section(summary, "before-after").iter("figure")
        if list(of_class(figure, "gap-line"))
        for axis in of_class(figure, "strip-axis")
    ]
    assert len(drawn) == len(summary.targets)
    assert all(ticks == [(tick.at, tick.label) for tick in scale.ticks] for ticks in drawn)


def test_the_lower_rate_is_written_at_the_left_whichever_side_it_is_of() -> None:
    summary = as_mitigation(several_targets_document())
    before = gap_rows(summary, summary.targets[1].rank)[0]
    assert [(side, rate) for _, side, rate in beside(before)] == [
        ("end", "8.1%"), ("start", "26.3%"),
    ]  # fmt: skip
    assert ends(before, "gap-line")[0] == dot(before, "dot") < dot(before, "rest")
    # The whole row has the colour of those who get it less often, the dot too.
    assert list(of_class(before, "less", "svg"))
    assert not list(of_class(before, "more"))


def test_without_a_retrained_model_there_is_no_after() -> None:
    rows = gap_rows(as_mitigation(no_candidate_document()))
    assert [label(row) for row in rows] == ["Original model"] * 2


def test_few_held_out_rows_and_empty_sides_are_remarked_upon() -> None:
    document = few_held_out_document()
    summary = as_mitigation(document)
    everywhere, held_out = page_section(summary, "before-after").iter("h4")
    assert "too few" in text(held_out)
    assert "too few" not in text(everywhere)
    faint = ["faint" in row.get("class", "").split() for row in gap_rows(summary)]
    assert faint == [False, False, True, True]
    for key in ("held_out_before", "held_out_after"):
        document["targets"][0][key] = rates(0, 200, 0.0, 0.5)
    empty = as_mitigation(document)
    assert len(gap_rows(empty)) == 2
    _, held_out = page_section(empty, "before-after").iter("h4")
    assert text(held_out) != "Held-out rows"


def positions(element: Element) -> Iterator[float]:
    """Positions across of all that is drawn, and downwards of what has one in per cent."""
    for mark in element.iter():
        for name in ("x", "x1", "x2", "cx", "y", "cy"):
            if mark.get(name, "").endswith("%"):
                yield number(mark, name)


def test_everything_lies_within_the_drawing(summary: MitigationSummary) -> None:
    page = MitigationResult.document.to_html(summary)
    places = [
        place for key in ("before-after", "others") for place in positions(section(page, key))
    ]
    chart = trade_off(summary)
    places += positions(drawing(draw(chart)))
    assert min(places) >= 0
    assert max(places) <= 100


def test_a_shift_goes_from_before_to_after() -> None:
    summary = as_mitigation(one_target_document())
    scale = charts.shift_scale(summary.targets)
    (row,) = shift_rows(summary)
    target = summary.targets[0]
    before, after = at(scale.low, scale.high, 0.2943), at(scale.low, scale.high, 0.0808)
    assert dot(row, "was") == pytest.approx(before, abs=ROUNDED)
    assert dot(row, "dot") == pytest.approx(after, abs=ROUNDED)
    assert ends(row, "way-line") == pytest.approx((after, before), abs=ROUNDED)
    assert target.after.confidence_interval is not None
    interval = [at(scale.low, scale.high, end) for end in target.after.confidence_interval]
    assert ends(row, "whisker") == pytest.approx(interval, abs=ROUNDED)
    assert scale.low < 0 < scale.high
    (zero,) = of_class(row, "zero")
    assert number(zero, "x1") == pytest.approx(at(scale.low, scale.high, 0), abs=ROUNDED)


def test_the_drawing_of_all_targets_leads_to_each_of_them() -> None:
    summary = as_mitigation(several_targets_document())
    links = [link.get("href") for link in page_section(summary, "before-after").iter("a")]
    assert [f"#target-{target.rank}" for target in summary.targets] == [
        link for link in links if link is not None and link.startswith("#target")
    ]


def test_the_chart_has_every_candidate_once(summary: MitigationSummary) -> None:
    chart = trade_off(summary)
    chosen = [mark for mark in chart.highlights if mark.shape == "diamond"]
    figure = charts.trade_off(summary)
    assert figure is not None
    beyond = re.search(r"(\d+) models? further right", figure.caption)
    left_out = int(beyond.group(1)) if beyond else 0
    assert len(chart.symbols) + len(chosen) + left_out == len(summary.candidates)
    assert len(chosen) == sum(one.chosen for one in summary.candidates)
    (drawn,) = planes_of(draw(chart))
    (budget,) = drawn.numbers("plane", "line", "threshold", "x1")
    allowed = drawn.numbers("plane", "use", "more", "x")
    refused = drawn.numbers("plane", "use", "soft", "x")
    assert len(allowed) == sum(one.allowed and not one.chosen for one in summary.candidates)
    assert len(allowed) + len(refused) == len(chart.symbols)
    diamonds = [
        float(mark["x"][:-1]) for mark in drawn.marks("plane", "use") if mark["href"] == "#diamond"
    ]
    assert len(diamonds) == len(chosen)
    # A position is rounded to a tenth of a per cent.
    assert all(x <= budget[0] + 0.1 for x in (*(x for (x,) in allowed), *diamonds))
    assert all(x >= budget[0] - 0.1 for (x,) in refused)


def test_candidates_are_where_their_figures_say() -> None:
    summary = as_mitigation(one_target_document())
    chart = trade_off(summary)
    (drawn,) = planes_of(draw(chart))
    places = Counter(drawn.numbers("plane", "use", "", "x", "y"))
    for one in summary.candidates:
        if chart.across.low <= one.accuracy_drop / 100 <= chart.across.high:
            assert one.scores[0] is not None
            x = at(chart.across.low, chart.across.high, one.accuracy_drop / 100)
            y = 100 - at(0, chart.upwards.high, one.scores[0])
            near = [place for place in places if place == pytest.approx((x, y), abs=2 * ROUNDED)]
            assert near, one


def test_points_know_the_kind_of_their_samples(summary: MitigationSummary) -> None:
    chart = trade_off(summary)
    shapes = {"none": "cross", "counter": "circle", "odds": "square", "shifted": "triangle",
              "anchored": "wedge"}  # fmt: skip
    listed = Counter(shapes[one.kind] for one in summary.candidates if not one.chosen)
    (drawn,) = planes_of(draw(chart))
    hrefs = [mark["href"] for mark in drawn.marks("plane", "use")]
    found = Counter(href.removeprefix("#symbol-") for href in hrefs if href != "#diamond")
    assert found <= listed
    assert found.total() == len(chart.symbols)
    if len(found) > 1:
        assert list(chart.keys) == [
            (shape, kind) for kind, shape in shapes.items() if shape in found
        ]
    else:
        assert chart.keys == ()


def test_a_chosen_point_tells_its_kind_and_weight() -> None:
    document = one_target_document()
    for one in document["candidates"]:
        if one["chosen"]:
            one |= {"kind": "odds", "weight": 2.5, "samples": 690}
    chart = trade_off(as_mitigation(document))
    told = "690 samples of the kind odds, weight 2.5"
    titles = [mark.title for mark in chart.highlights if mark.shape == "diamond"]
    assert len(titles) == chart.about.count(told) == 3
    assert all(told in title for title in titles)


def test_the_original_model_loses_nothing() -> None:
    summary = as_mitigation(one_target_document())
    chart = trade_off(summary)
    (drawn,) = planes_of(draw(chart))
    ((x, y),) = drawn.numbers("plane", "circle", "origin", "cx", "cy")
    assert x == next(tick.at for tick in chart.across.ticks if tick.label == "0")
    assert summary.targets[0].choice_before is not None
    before = 100 * (1 - summary.targets[0].choice_before / chart.upwards.high)
    assert y == pytest.approx(before, abs=ROUNDED)
    document = one_target_document()
    document["targets"][0]["choice_before"] = None
    without = trade_off(as_mitigation(document))
    assert [mark.shape for mark in without.highlights] == ["diamond"] * 3


def test_points_of_accuracy_are_no_per_cent() -> None:
    document = one_target_document()
    document["candidates"][-1] |= {"accuracy_drop": 0.97, "allowed": False, "chosen": False}
    (drawn,) = planes_of(draw(trade_off(as_mitigation(document))))
    labels = [tick for _, tick in drawn.texts["x-axis"]]
    assert labels[0].startswith(MINUS)
    assert labels[-1] == "1"
    assert not any("%" in label or "-" in label for label in labels)


def test_a_candidate_far_away_does_not_squeeze_the_others() -> None:
    document = one_target_document()
    document["candidates"].append(
        document["candidates"][1] | {"accuracy_drop": 35.0, "allowed": False}
    )
    summary = as_mitigation(document)
    figure = charts.trade_off(summary)
    assert figure is not None
    assert "1 model further right is not drawn" in figure.caption
    assert trade_off(summary).across.high < 0.02


def test_without_any_score_there_is_no_chart() -> None:
    document = one_target_document()
    document["candidates"] = [one | {"scores": [None]} for one in document["candidates"]]
    assert charts.trade_off(as_mitigation(document)) is None


def candidate(drop: float, score: float, *, chosen: bool, limit: float) -> dict[str, Any]:
    return {
        "run": 1, "step": 1, "stage": "epoch 1", "kind": "odds", "weight": 1.0, "samples": 50,
        "accuracy_drop": drop, "scores": [score], "allowed": drop <= limit,
        "chosen": chosen and drop <= limit,
    }  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.floats(-20, 60, allow_nan=False), st.floats(0, 1, allow_nan=False), st.booleans()
        ),
        min_size=1,
        max_size=12,
    ),
    st.floats(0, 5, allow_nan=False),
)
@pytest.mark.slow
def test_any_candidates_can_be_drawn(found: list[tuple[float, float, bool]], limit: float) -> None:
    document = one_target_document()
    document["settings"]["max_accuracy_drop"] = limit
    document["candidates"] = [
        candidate(drop, score, chosen=chosen, limit=limit) for drop, score, chosen in found
    ]
    summary = as_mitigation(document)
    figure, chart = charts.trade_off(summary), trade_off(summary)
    assert figure is not None
    beyond = re.search(r"(\d+) models? further right", figure.caption)
    chosen = sum(mark.shape == "diamond" for mark in chart.highlights)
    left_out = int(beyond.group(1)) if beyond else 0
    assert len(chart.symbols) + chosen + left_out == len(found)
    assert chosen == sum(chosen and drop <= limit for drop, _, chosen in found)
    # Nothing is moved to an edge: all that is drawn is on the scales.
    for mark in (*chart.symbols, *chart.highlights):
        assert chart.across.low - 1e-9 <= mark.x <= chart.across.high + 1e-9
        assert 0 <= mark.y <= chart.upwards.high + 1e-9
    assert all(0 <= place <= 100 for place in positions(drawing(draw(chart))))


def labelled(document: dict[str, Any], outcome: str) -> MitigationSummary:
    label = document["data"]["label"] | {"outcome": outcome}
    return as_mitigation(document | {"data": document["data"] | {"label": label}})


@pytest.mark.parametrize("outcome", ["benefit", "harm", "neither"])
def test_orange_is_for_the_group_that_is_worse_off(outcome: str) -> None:
    summary = labelled(several_targets_document(), outcome)
    for target in summary.targets:
        before = gap_rows(summary, target.rank)[0]
        assert target.before.difference is not None
        orange = (target.before.difference > 0) == (outcome == "harm")
        right, wrong = ("less", "more") if orange else ("more", "less")
        assert list(of_class(before, right, "svg"))
        assert not list(of_class(before, wrong))


@pytest.mark.parametrize("outcome", ["benefit", "harm", "neither"])
def test_a_difference_that_is_left_has_the_colour_of_harm(outcome: str) -> None:
    summary = labelled(several_targets_document(), outcome)
    rows = [
        row
        for key in ("before-after", "others")
        for row in of_class(page_section(summary, key), "strip-row", "li")
        if list(of_class(row, "was", "circle"))
    ]
    assert len(rows) > len(summary.targets)
    for row in rows:
        (mark,) = (one for one in row.iter("g") if list(of_class(one, "dot", "circle")))
        orange = value(row).startswith("+") == (outcome == "harm")
        assert mark.get("class") == ("less" if orange else "more")


def test_the_captions_say_what_the_colours_mean() -> None:
    told = {}
    for outcome in ("benefit", "harm", "neither"):
        summary = labelled(several_targets_document(), outcome)
        page = page_section(summary, "before-after")
        captions = [text(one) for one in page.iter("figcaption")]
        told[outcome] = [caption for caption in captions if "range" in caption]
        assert len(told[outcome]) == 2
    assert len({tuple(captions) for captions in told.values()}) == 3
