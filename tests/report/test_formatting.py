"""How numbers, times and texts are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.report.formatting import (
    MINUS,
    count,
    decimals_of,
    either,
    how_often,
    interval,
    moment,
    number,
    percent,
    plural,
    points,
    seconds,
    sentence,
    series,
    share,
    shorten,
    signed,
    size,
    size_points,
    tick_points,
    z_value,
)


def test_count() -> None:
    assert (count(48842)) == "48,842"


def test_plural() -> None:
    assert (plural(1, "group"), plural(1200, "group"), plural(2, "query", "queries")) == (
        "1 group",
        "1,200 groups",
        "2 queries",
    )


def test_percent() -> None:
    assert (percent(0.2346), percent(0.0001)) == ("23.5%", "<0.1%")


@given(st.floats(1e-9, 1 - 1e-9), st.integers(1, 10**12))
def test_decimals_show_what_an_interval_tells_apart(rate: float, size: int) -> None:
    decimals = decimals_of(rate, size)
    assert decimals >= 1
    # Rates five standard errors apart are written differently.
    apart = rate + 5 * (rate * (1 - rate) / size) ** 0.5
    if size * min(rate, 1 - rate) > 10 and apart < 1 and (decimals > 1 or apart - rate > 0.001):
        assert percent(rate, decimals) != percent(apart, decimals)


@pytest.mark.parametrize("decimals", [1, 3, 7])
def test_rates_near_the_ends_are_not_written_as_them(decimals: int) -> None:
    near = 0.3 * 10.0 ** -(decimals + 2)
    for rate, sign in ((near, "<"), (1 - near, ">")):
        written = percent(rate, decimals)
        assert written[0] == sign
        assert len(written.rstrip("%").partition(".")[2]) == decimals


def test_share() -> None:
    assert (share(0.05), share(0.0125)) == ("5%", "1.25%")


def test_signed() -> None:
    assert (signed(0.1994), signed(0.0), signed(-0.05) == MINUS + "5.0") == ("+19.9", "0.0", True)


def test_points() -> None:
    assert (points(0.1994)) == "+19.9 points"


def test_size() -> None:
    assert (size(0.1994), size(0.0)) == ("19.9", "0.0")


def test_size_points() -> None:
    assert (size_points(0.1994)) == "19.9 points"


def test_interval() -> None:
    assert (interval((0.185, 0.213))) == "+18.5 to +21.3"


def test_number() -> None:
    assert (number(0.05), number(40.0), number(1234567), number(None)) == (
        "0.05",
        "40",
        "1234567",
        "none",
    )


def test_seconds() -> None:
    assert (seconds(0.0421), seconds(12.31), seconds(185)) == ("0.04 s", "12.3 s", "3 min 5 s")


def test_moment() -> None:
    assert (moment("2026-03-01T09:05:30Z")) == "2026-03-01 09:05 UTC"


def test_shorten() -> None:
    assert (shorten("country = Cambodia, Canada or China", 20)) == "country = Cambodia, …"


def test_either() -> None:
    assert (either(["Asian", "Black", "White"])) == "Asian, Black or White"


def test_series() -> None:
    assert (series(["gender", "race", "age"])) == "gender, race and age"


def test_how_often() -> None:
    assert (how_often(-0.065)) == "6.5 points less often"


def test_z_value() -> None:
    assert (z_value(0.95)) == "1.96"


def test_tick_points() -> None:
    assert (tick_points(0.2), tick_points(0.0)) == ("+20", "0")


def test_sentence() -> None:
    assert (sentence("weights of the training rows")) == "Weights of the training rows."
