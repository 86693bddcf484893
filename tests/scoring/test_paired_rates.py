"""The change of a rate between two answers: score interval, exact test, combination."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import norm

from testsgd.scoring import combined_interval, mcnemar_p_value, paired_rates_interval


def end_by_likelihood(gained: int, lost: int, pairs: int, confidence: float) -> float:
    """Find the upper end with the share of losses found by maximising the likelihood."""
    quantile = norm.isf((1 - confidence) / 2)

    def score(change: float) -> float:
        def minus(losses: float) -> float:
            gains, same = losses + change, 1 - 2 * losses - change
            total = 0.0
            for count, share in ((gained, gains), (lost, losses), (pairs - gained - lost, same)):
                if count:
                    total -= count * math.log(max(share, 1e-300))
            return total

        least = max(0.0, -change)
        most = (1 - change) / 2
        losses = minimize_scalar(
            minus, bounds=(least, most), method="bounded", options={"xatol": 1e-13}
        ).x
        variance = 2 * losses + change * (1 - change)
        return pairs * change - (gained - lost) - quantile * math.sqrt(pairs * variance)

    return float(brentq(score, (gained - lost) / pairs + 1e-9, 1 - 1e-9, xtol=1e-11))


@pytest.mark.parametrize(
    ("gained", "lost", "pairs"), [(20, 5, 100), (5, 20, 100), (1, 7, 400), (13, 13, 60), (3, 1, 9)]
)
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_ends_are_those_of_the_likelihood(
    gained: int, lost: int, pairs: int, confidence: float
) -> None:
    low, high = paired_rates_interval(gained, lost, pairs, confidence)
    assert high == pytest.approx(end_by_likelihood(gained, lost, pairs, confidence), abs=2e-5)
    assert low == pytest.approx(-end_by_likelihood(lost, gained, pairs, confidence), abs=2e-5)


@pytest.mark.parametrize("gains", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("losses", [0.01, 0.1, 0.4])
def test_coverage_by_enumeration(gains: float, losses: float) -> None:
    """All outcomes of 60 cases, each with its chance."""
    pairs = 60
    gained, lost = np.meshgrid(np.arange(pairs + 1), np.arange(pairs + 1))
    possible = gained + lost <= pairs
    gained, lost = gained[possible], lost[possible]
    same = pairs - gained - lost
    logs = np.array([math.lgamma(count + 1) for count in range(pairs + 1)])
    chances = np.exp(
        logs[pairs] - logs[gained] - logs[lost] - logs[same]
        + gained * math.log(gains) + lost * math.log(losses)
        + same * math.log(1 - gains - losses)
    )  # fmt: skip
    assert chances.sum() == pytest.approx(1)
    low, high = paired_rates_interval(gained, lost, pairs, 0.95)
    covered = (low <= gains - losses) & (gains - losses <= high)
    # Where next to nobody changes it covers more than it says, as a score interval may.
    assert 0.93 <= chances[covered].sum() <= (0.997 if gains < 0.1 > losses else 0.985)


def test_nothing_changed_is_not_certain() -> None:
    low, high = paired_rates_interval(0, 0, 100, 0.95)
    # Nobody of a hundred: up to z squared in n plus z squared.
    assert (-low, high) == (pytest.approx(1.96**2 / (100 + 1.96**2), abs=1e-4),) * 2
    assert np.isnan(paired_rates_interval(0, 0, 0, 0.95)).all()


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 200))
def test_the_change_lies_inside_and_turns_round(gained: int, lost: int, same: int) -> None:
    pairs = max(gained + lost + same, 1)
    low, high = paired_rates_interval(gained, lost, pairs, 0.95)
    assert -1 <= low <= (gained - lost) / pairs <= high <= 1
    turned = paired_rates_interval(lost, gained, pairs, 0.95)
    assert (-turned[1], -turned[0]) == (pytest.approx(low), pytest.approx(high))


@given(st.integers(0, 40), st.integers(0, 40))
def test_exact_p_values_by_whole_numbers(gained: int, lost: int) -> None:
    changed = gained + lost
    tail = sum(math.comb(changed, count) for count in range(min(gained, lost) + 1))
    expected = min(Fraction(1), Fraction(2 * tail, 2**changed))
    assert mcnemar_p_value(gained, lost) == pytest.approx(float(expected))


def test_combined_intervals_of_normal_estimates() -> None:
    """A sum of independent normal estimates has the variances' sum."""
    errors, factors = (0.03, 0.04, 0.12), (1.0, -2.0, 0.5)
    parts = [(0.1 * place, (0.1 * place - e, 0.1 * place + e)) for place, e in enumerate(errors)]
    low, high = combined_interval(parts, factors)
    reach = math.sqrt(sum((f * e) ** 2 for f, e in zip(factors, errors, strict=True)))
    assert (low, high) == pytest.approx((-0.1 - reach, -0.1 + reach))
