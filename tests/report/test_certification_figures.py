"""How shares of a certification are written: never in favour of what is proved."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testsgd.certification.outcome import Shares
from testsgd.certification.report.wording import (
    at_least,
    at_most,
    between,
    lower_beside,
    proved_texts,
    upper_beside,
)

SHARES = st.floats(0, 1).filter(lambda share: share == 0 or share > 1e-9)


def value(text: str) -> Fraction:
    """What a written share says."""
    return Fraction(text.removesuffix("%")) / 100


def as_written(share: float) -> Fraction:
    """A share as the JSON document writes it."""
    return Fraction(Decimal(repr(share)))


def proved(certified: float, falsified: float, undecided: float) -> Shares:
    return Shares(certified=certified, falsified=falsified, undecided=undecided)


@given(SHARES, st.integers(1, 6))
def test_a_lower_bound_is_never_rounded_up_nor_an_upper_bound_down(
    share: float, digits: int
) -> None:
    assert 0 <= as_written(share) - value(at_least(share, digits)) < Fraction(1, 100 * 10**digits)
    assert 0 <= value(at_most(share, digits)) - as_written(share) < Fraction(1, 100 * 10**digits)


@given(SHARES, SHARES)
def test_the_three_shares_add_up_and_claim_no_more_than_is_proved(one: float, other: float) -> None:
    certified, falsified = one, (1 - one) * other
    undecided = max(0.0, 1 - certified - falsified)
    texts = proved_texts(proved(certified, falsified, undecided))
    told = [value(text) for text in (texts.certified, texts.falsified, texts.undecided)]

    assert told[0] <= as_written(certified)
    assert told[1] <= as_written(falsified)
    if undecided:
        assert sum(told) == 1
        # Float rounding of the sum aside, the rest is an upper bound.
        assert told[2] >= as_written(undecided) - Fraction(1, 10**15)
    else:
        assert told[2] == 0
        assert sum(told) <= 1


@pytest.mark.parametrize(
    ("shares", "written"),
    [
        # Rounding to the nearest would claim 94.3% and 0.9%.
        ((0.9428, 0.0086, 0.0486), ("94.2%", "0.8%", "5.0%")),
        ((607 / 624, 17 / 624, 0.0), ("97.27%", "2.72%", "0%")),
        ((1.0, 0.0, 0.0), ("100%", "0%", "0%")),
        ((0.0, 1.0, 0.0), ("0%", "100%", "0%")),
        ((0.0, 0.0, 1.0), ("0%", "0%", "100%")),
        # What is small is not written as nothing.
        ((0.99654, 0.00004, 0.00342), ("99.654%", "0.004%", "0.342%")),
        ((0.9999, 0.0, 0.0001), ("99.99%", "0%", "0.01%")),
    ],
)
def test_worked_examples(shares: tuple[float, ...], written: tuple[str, ...]) -> None:
    texts = proved_texts(proved(*shares))
    assert (texts.certified, texts.falsified, texts.undecided) == written


@given(SHARES, SHARES)
def test_an_interval_is_rounded_outwards(one: float, other: float) -> None:
    low, high = sorted((one, other))
    told_low, told_high = (value(end) for end in between(low, high))
    assert told_low <= as_written(low) <= as_written(high) <= told_high <= 1


@given(SHARES, st.sampled_from([0.01, 0.05, 0.0123, 0.9, 0.95]))
def test_beside_a_limit_a_share_is_on_its_own_side(share: float, limit: float) -> None:
    assert (value(upper_beside(share, limit, 1)) <= as_written(limit)) == (share <= limit) or (
        abs(share - limit) < 1e-13
    )
    assert (value(lower_beside(share, limit, 1)) >= as_written(limit)) == (share >= limit) or (
        abs(share - limit) < 1e-13
    )
