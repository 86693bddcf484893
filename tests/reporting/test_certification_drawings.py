"""The drawings of a certification: everything stands where its number says."""

from __future__ import annotations

import re

import pytest
from certification_documents import bounded, enumerated
from hypothesis import given
from hypothesis import strategies as st

from testsgd.certification.outcome import Moment, Shares
from testsgd.reporting import summarise_certification
from testsgd.reporting.certification import drawings


def test_the_bar_is_fair_from_the_left_and_unfair_at_the_right() -> None:
    stack = drawings.proved_stack(summarise_certification(bounded()))
    assert (stack.fair, stack.unfair) == pytest.approx((94.3, 0.9))
    assert stack.fair + stack.undecided == pytest.approx(stack.unfair_start)
    assert "at least 94.2%" in stack.title


def test_the_estimate_is_drawn_on_the_undecided_part_alone() -> None:
    spread = drawings.estimated_spread(summarise_certification(bounded()))
    assert spread is not None
    assert (spread.at, spread.start, spread.width) == pytest.approx((5.1, 4.7, 0.9))
    assert drawings.estimated_spread(summarise_certification(enumerated())) is None


def test_the_estimate_for_the_domain_is_drawn_on_the_whole_bar() -> None:
    stack = drawings.proved_stack(summarise_certification(bounded()))
    assert stack.likely == pytest.approx((98.8, 0.2), abs=0.051)
    assert stack.likely is not None
    assert stack.fair <= stack.likely[0]
    assert sum(stack.likely) <= stack.unfair_start
    assert "unfair, estimated by sampling: 1.05% to 1.17%" in stack.title
    assert drawings.proved_stack(summarise_certification(enumerated())).likely is None


def test_the_estimated_part_of_a_region_is_the_beginning_of_its_undecided_part() -> None:
    scale, (first, second) = drawings.region_bars(summarise_certification(bounded()).regions)
    length = scale.high - scale.low
    assert first.likely == pytest.approx(100 * 0.03338 * 0.061 / length, abs=0.11)
    assert first.likely < first.undecided
    assert "of which 6.1% is unfair by the samples" in first.title
    assert second.likely == 0


def test_regions_are_bars_of_the_domain() -> None:
    scale, bars = drawings.region_bars(summarise_certification(bounded()).regions)
    length = scale.high - scale.low
    assert bars[0].unfair == pytest.approx(100 * 0.00862 / length, abs=0.06)
    assert bars[0].unfair + bars[0].undecided == pytest.approx(100 * 0.042 / length, abs=0.11)
    assert all(bar.unfair + bar.undecided <= 100.05 for bar in bars)


@given(
    st.lists(st.floats(0.001, 1000), min_size=3, max_size=20, unique=True),
    st.floats(0, 0.9),
    st.floats(0, 0.1),
)
def test_areas_over_time_are_steps_within_the_drawing(
    times: list[float], certified: float, falsified: float
) -> None:
    times.sort()
    end = Shares(certified, falsified, 1 - certified - falsified)
    moments = tuple(
        Moment(
            seconds,
            place,
            Shares(
                certified * place / len(times),
                falsified * place / len(times),
                1 - (certified + falsified) * place / len(times),
            ),
        )
        for place, seconds in enumerate(times, start=1)
    )
    found = bounded(moments=moments, seconds=times[-1] + 0.5, shares=end)
    drawn = drawings.over_time(summarise_certification(found).moments)
    assert drawn is not None
    for path, ground in ((drawn.fair, 100), (drawn.unfair, 0)):
        across = [float(x) for x in re.findall(r"[MH](-?[\d.]+)", path)]
        heights = [float(y) for y in re.findall(r"V(-?[\d.]+)", path)]
        assert across == sorted(across)
        assert (across[-1], heights[-1]) == (100, ground)
        assert all(0 <= number <= 100 for number in [*across, *heights])
    # The last step before the ground is the end of the search.
    assert float(re.findall(r"V([\d.]+)", drawn.fair)[-2]) == pytest.approx(
        100 - 100 * certified, abs=0.006
    )
    assert all(0 <= tick.at <= 100 for tick in drawn.ticks)


def test_few_moments_are_no_chart() -> None:
    assert drawings.over_time(summarise_certification(enumerated()).moments) is None
    same = tuple(Moment(0.0, 1, Shares(0.5, 0.0, 0.5)) for _ in range(5))
    found = summarise_certification(bounded(moments=same, seconds=0.0))
    assert drawings.over_time(found.moments) is None
