"""P-values of equal rates: against scipy's test, and by enumerating every outcome."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, chi2_contingency

from testsgd.scoring import equality_p_values

COUNTS = st.tuples(st.integers(1, 200), st.floats(0, 1)).map(
    lambda drawn: (round(drawn[0] * drawn[1]), drawn[0])
)


@given(inside=COUNTS, outside=COUNTS)
def test_it_is_scipys_likelihood_ratio_test(inside, outside):
    favourable = inside[0] + outside[0]
    assume(0 < favourable < inside[1] + outside[1])
    table = [[found, size - found] for found, size in (inside, outside)]
    expected = chi2_contingency(table, correction=True, lambda_="log-likelihood").pvalue
    found = float(equality_p_values(inside[0], inside[1], outside[0], outside[1]))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("sizes", [(3, 500), (9, 300), (50, 50), (50, 950), (200, 800)])
@pytest.mark.parametrize("level", [0.05, 1e-3, 1e-5])
def test_equal_rates_are_called_unequal_no_more_often_than_the_level(sizes, level):
    found_in, found_out = (np.arange(size + 1) for size in sizes)
    unequal = equality_p_values(found_in[:, None], sizes[0], found_out[None], sizes[1]) <= level
    for rate in (0.001, 0.005, 0.02, 0.1, 0.3, 0.5, 0.9):
        chances = np.outer(
            binom.pmf(found_in, sizes[0], rate), binom.pmf(found_out, sizes[1], rate)
        )
        assert chances[unequal].sum() <= level


def test_nothing_is_known_of_an_empty_side_or_of_equal_answers():
    assert equality_p_values([0, 5, 0], [0, 5, 5], [3, 9, 0], [9, 9, 9]).tolist() == [1, 1, 1]
