"""The quick search for one pair: against the sign of the slope on both sides, and a fine grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from testsgd.scoring.betting_martingale import log_wealth
from testsgd.scoring.pair_likelihood import minimising_position

COUNTS = st.integers(2, 20) | st.integers(2, 5_000)


@settings(deadline=None)
@given(
    wins=st.tuples(COUNTS, COUNTS),
    losses=st.tuples(COUNTS, COUNTS),
    gap=st.sampled_from([0.0, 0.01, 0.1, 0.4]),
    weight=st.sampled_from([3.0, 244.0]),
    logarithmic=st.booleans(),
)
# The observed rates meet at the very end of the line.
@example(wins=(2, 2), losses=(11, 11), gap=0.4, weight=3.0, logarithmic=False)
def test_no_place_of_the_line_has_less(wins, losses, gap, weight, logarithmic):
    def product(places):
        rates = [places, places - gap]
        if logarithmic:
            rates = [np.exp(one) for one in rates]
        both = zip(rates, wins, losses, strict=True)
        return sum(log_wealth(*one, weight) for one in both)

    wins = tuple(float(one) for one in wins)
    losses = tuple(float(one) for one in losses)
    found = minimising_position(wins, losses, weight, gap, logarithmic=logarithmic)
    low, high = (-12.0, 0.0) if logarithmic else (gap, 1.0)
    places = np.linspace(low, high, 3_001)[1:-1]
    assert low < found < high
    least = float(product(np.array(found)))
    assert least <= product(places).min() + 1e-9
    # It lies in the middle of places that have hardly more.
    near = places[product(places) <= least + 1e-3]
    if near.size > 20:
        assert found == pytest.approx(near.mean(), abs=(near.max() - near.min()) / 2)


def test_where_every_place_is_as_good_it_gives_one():
    for wins, losses in (((1.0, 0.0), (1.0, 1.0)), ((1e9, 0.0), (0.0, 1e9))):
        place = minimising_position(wins, losses, 244.0, 0.1, logarithmic=False)
        assert 0.1 <= place <= 1
