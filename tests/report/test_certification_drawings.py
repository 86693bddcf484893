"""The drawings of a certification: everything stands where its number says."""

from __future__ import annotations

import math
import re

import pytest
from certification_documents import CERTIFICATIONS, bounded, enumerated
from hypothesis import given
from hypothesis import strategies as st
from page_parts import Element, drawing, extent, number, of_class, section, text

from testsgd.certification import CertificationResult, summarise_certification
from testsgd.certification.outcome import Certification, Moment, Shares
from testsgd.certification.report.charts import proved_stack, shares_over_time
from testsgd.report.html import draw

# Positions are rounded to a tenth of a per cent.
ROUNDED = 0.0501
# Nothing that is there is thinner than this, in per cent.
THIN = 0.2


def drawn_section(found: Certification, key: str) -> Element:
    return section(CertificationResult(summarise_certification(found)).to_html(), key)


def extents(drawn: Element) -> dict[str, tuple[float, float]]:
    """Where the parts of a bar are, by their colour."""
    return {rect.get("class", ""): extent(rect) for rect in drawn.iter("rect")}


def whole_bar(found: Certification) -> Element:
    return next(of_class(drawn_section(found, "proved"), "stack"))


def test_the_bar_is_fair_from_the_left_and_unfair_at_the_right() -> None:
    bar = whole_bar(bounded())
    parts = extents(bar)
    assert parts["more"] == pytest.approx((0, 94.281), abs=ROUNDED)
    assert parts["less"] == pytest.approx((100 - 0.862, 100), abs=ROUNDED)
    assert parts["open"] == pytest.approx((parts["more"][1], parts["less"][0]), abs=1e-9)
    lengths = [end - start for name, (start, end) in parts.items() if name != "pale"]
    assert sum(lengths) == pytest.approx(100)
    assert "at least 94.2%" in text(bar)


def test_the_key_names_the_parts_with_their_bounds() -> None:
    keys = [text(key) for key in next(of_class(drawn_section(bounded(), "proved"), "keys"))]
    assert keys[:3] == ["fair ≥ 94.2%", "undecided ≤ 5.0%", "unfair ≥ 0.8%"]
    assert "estimated, not proved" in keys[3]
    assert keys[3].endswith("1.05% to 1.17%")


def test_the_estimate_is_drawn_on_the_undecided_part_alone() -> None:
    proved = drawn_section(bounded(), "proved")
    (box,) = of_class(proved, "boxed")
    (bar,) = of_class(box, "stack")
    assert extents(bar)["open"] == (0, 100)
    assert extents(bar)["pale"] == pytest.approx((4.696, 5.569), abs=ROUNDED)
    (dot,) = of_class(bar, "dot")
    assert number(dot, "cx") == pytest.approx(5.12, abs=ROUNDED)
    (axis,) = of_class(box, "stack-axis")
    assert [(number(tick, "x"), tick.text) for tick in axis] == [
        (0, "0%"),
        (50, "50%"),
        (100, "100%"),
    ]
    # Lines lead to it from the ends of the undecided part.
    (zoom,) = of_class(proved, "zoom")
    parts = extents(whole_bar(bounded()))
    assert [(number(line, "x1"), line.get("x2")) for line in zoom] == [
        (parts["open"][0], "0"),
        (parts["open"][1], "100%"),
    ]


def test_the_estimate_for_the_domain_is_drawn_on_the_whole_bar() -> None:
    bar = whole_bar(bounded())
    parts = extents(bar)
    assert parts["pale"] == pytest.approx((100 - 1.17, 100 - 1.05), abs=THIN / 2)
    assert parts["open"][0] <= parts["pale"][0]
    assert parts["pale"][1] <= parts["open"][1]
    ends = [number(line, "x1") for line in of_class(bar, "whisker")]
    assert ends == pytest.approx([100 - 1.17, 100 - 1.05], abs=ROUNDED)
    assert "unfair, estimated by sampling: 1.05% to 1.17%" in text(bar)


def test_where_all_is_decided_nothing_is_drawn_as_undecided_or_estimated() -> None:
    proved = drawn_section(enumerated(), "proved")
    parts = extents(next(of_class(proved, "stack")))
    assert set(parts) == {"more", "less"}
    assert parts["more"] == pytest.approx((0, 100 * 607 / 624), abs=ROUNDED)
    assert parts["less"] == pytest.approx((parts["more"][1], 100))
    assert list(of_class(proved, "boxed")) == list(of_class(proved, "zoom")) == []


@given(st.floats(0, 1), st.floats(0, 1))
def test_every_part_is_where_its_share_says_and_none_is_invisible(
    certified: float, of_rest: float
) -> None:
    falsified = (1 - certified) * of_rest
    undecided = max(0.0, 1 - certified - falsified)
    found = bounded(shares=Shares(certified, falsified, undecided), remainder=None)
    (bar,) = of_class(drawing(draw(proved_stack(summarise_certification(found)))), "stack")
    parts = extents(bar)
    for name, share, start in (("more", certified, 0.0), ("less", falsified, 1 - falsified)):
        if share > 1e-15:
            low, high = parts[name]
            assert 0 <= low < high <= 100 + 1e-9
            assert low == pytest.approx(100 * start, abs=THIN + ROUNDED)
            assert high - low == pytest.approx(100 * share, abs=THIN + 2 * ROUNDED)
            assert high - low >= THIN - 1e-9
        if not share:
            assert name not in parts


def bars(drawn: Element) -> list[tuple[dict[str, tuple[float, float]], str]]:
    """The bars of a chart in its own units, with what they say."""
    (axis,) = of_class(drawn, "strip-axis")
    *_, last = axis.iter("text")
    assert number(last, "x") == 100
    assert last.text is not None
    whole = float(last.text.removesuffix("%")) / 100
    return [
        (
            {
                name: (start * whole / 100, end * whole / 100)
                for name, (start, end) in extents(row).items()
            },
            text(row),
        )
        for row in drawn.iter("li")
    ]


def test_regions_are_bars_of_the_domain() -> None:
    first, second = (parts for parts, _ in bars(drawn_section(bounded(), "regions")))
    rounded = ROUNDED * 0.06 / 100 * 2
    assert first["less"] == pytest.approx((0, 0.00862), abs=rounded)
    assert first["open"] == pytest.approx((0.00862, 0.00862 + 0.03338), abs=rounded)
    assert second["open"] == pytest.approx((0, 0.01), abs=rounded)
    assert "less" not in second


def test_the_estimated_part_of_a_region_is_the_beginning_of_its_undecided_part() -> None:
    (first, told), (second, _) = bars(drawn_section(bounded(), "regions"))
    assert first["pale"][0] == first["open"][0]
    assert first["pale"][1] - first["pale"][0] == pytest.approx(0.03338 * 0.061, abs=0.0001)
    assert first["pale"][1] < first["open"][1]
    assert "of which 6.1% is unfair by the samples" in told
    assert "pale" not in second


def test_later_parts_of_a_bar_are_drawn_above_the_undecided_one() -> None:
    row = next(drawn_section(bounded(), "regions").iter("li"))
    assert [rect.get("class") for rect in row.iter("rect")] == ["open", "pale", "less"]


@given(
    st.lists(st.floats(0.001, 1000), min_size=3, max_size=20, unique=True),
    st.floats(0, 0.9),
    st.floats(0, 0.1),
)
def test_areas_over_time_are_steps_within_the_drawing(
    times: list[float], certified: float, falsified: float
) -> None:
    times.sort()
    end = Shares(certified, falsified, max(0.0, 1 - certified - falsified))
    moments = tuple(
        Moment(
            seconds,
            index,
            Shares(
                certified * index / len(times),
                falsified * index / len(times),
                max(0.0, 1 - (certified + falsified) * index / len(times)),
            ),
        )
        for index, seconds in enumerate(times, start=1)
    )
    found = bounded(moments=moments, seconds=times[-1] + 0.5, shares=end)
    summary = summarise_certification(found)
    chart = shares_over_time(summary)
    assert chart is not None
    drawn = drawing(draw(chart))
    undecided, fair, unfair = (path.attrib for path in drawn.iter("path"))
    tones = [path["class"].split()[0] for path in (undecided, fair, unfair)]
    assert tones == ["open", "more", "less"]
    assert corners(undecided["d"]) == [(0, 100), (0, 0), (100, 0), (100, 100)]
    written = [moment.seconds for moment in summary.moments]
    places = [place(seconds, written) for seconds in written]
    fairs = [100 - 100 * moment.certified for moment in summary.moments]
    unfairs = [100 * moment.falsified for moment in summary.moments]
    for path, ground, heights in ((fair, 100, fairs), (unfair, 0, unfairs)):
        drawn_corners = corners(path["d"])
        # From the ground to the first value, along each until the next, and back to the ground.
        expected = [(places[0], ground), (places[0], heights[0])]
        for index in range(1, len(places)):
            expected += [(places[index], heights[index - 1]), (places[index], heights[index])]
        expected.append((100, ground))
        for near in drawn_corners:
            assert any(near == pytest.approx(corner, abs=0.006) for corner in expected)
        for corner in expected:
            assert any(near == pytest.approx(corner, abs=0.006) for near in drawn_corners)
        across = [x for x, _ in drawn_corners]
        assert across == sorted(across)
        assert all(0 <= value <= 100 for near in drawn_corners for value in near)
    # The last step before the ground is the end of the search.
    assert corners(fair["d"])[-2][1] == pytest.approx(100 - 100 * certified, abs=0.006)
    assert falsified == 0 or corners(unfair["d"])[-2][1] == pytest.approx(
        100 * falsified, abs=0.006
    )
    (axis,) = of_class(drawn, "x-axis")
    for tick in axis:
        assert tick.text is not None
        seconds = float(tick.text.removesuffix(" s"))
        assert number(tick, "x") == pytest.approx(place(seconds, written), abs=ROUNDED)


def corners(path: str) -> list[tuple[float, float]]:
    """Read the corners of an outline: how far to the right and how far down."""
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) (-?[\d.]+)", path)]


def place(seconds: float, times: list[float]) -> float:
    """Where a time lies between the first and the last, in per cent."""
    last = times[-1]
    first = max(times[0], last / 10_000)
    if last / first <= 30:
        return 100 * seconds / last
    return 100 * math.log(max(seconds, first) / first) / math.log(last / first)


def test_few_moments_are_no_chart() -> None:
    same = tuple(Moment(0.0, 1, Shares(0.5, 0.0, 0.5)) for _ in range(5))
    for found in (enumerated(), bounded(moments=same, seconds=0.0)):
        page = CertificationResult(summarise_certification(found)).to_html()
        assert 'id="time"' not in page
        assert 'href="#time"' not in page


@pytest.mark.parametrize("name", CERTIFICATIONS)
def test_a_drawing_says_what_it_shows(name: str) -> None:
    proved = section(CertificationResult(CERTIFICATIONS[name]()).to_html(), "proved")
    for drawn in proved.iter("svg"):
        if drawn.get("role") == "img":
            assert text(next(drawn.iter("title")))
