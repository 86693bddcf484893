"""The largest sums over angles: what is left out changes no bit of them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from testsgd.metrics.definitions import Floats
from testsgd.metrics.sides import LogarithmicInterval, NumberInterval
from testsgd.scoring.exact_intervals import ALL_ANGLES, ShareInterval, exact_difference, lower_end
from testsgd.scoring.largest_sum import Differences, WideningInterval, least_of_positive
from testsgd.scoring.ratios import most_below

GROUPS = 3_000
ERRORS = [0.4, 0.05, 1e-4, 1e-9]


def _counts(source: np.random.Generator, *, whole: bool) -> tuple[Floats, Floats]:
    """Return successes and failures from few to very many, with rates down to 0 and up to 1."""
    sizes = np.exp(source.uniform(np.log(2), np.log(1e8), GROUPS))
    rates = source.choice([0, 1, 1e-5, 1e-3, 0.1, 0.5, 0.9, 0.999], GROUPS)
    rates = np.where(source.random(GROUPS) < 0.5, source.beta(0.3, 0.3, GROUPS), rates)
    if whole:
        sizes = np.rint(sizes)
        successes = source.binomial(sizes.astype(np.int64), rates).astype(np.float64)
    else:
        successes = sizes * rates
    return successes, sizes - successes


def _differences(source: np.random.Generator, *, whole: bool) -> Differences:
    """Return differences of shares, the larger one first."""
    pairs = np.array([_counts(source, whole=whole) for _ in range(2)])
    shares = pairs[:, 0] / pairs.sum(axis=1)
    turned = np.where(shares[0] >= shares[1], [[0], [1]], [[1], [0]])
    (first, failures), (second, failures_second) = pairs[
        turned[:, None], [[0], [1]], np.arange(GROUPS)
    ]
    shares = np.take_along_axis(shares, turned, axis=0)
    return Differences(
        first=shares[0],
        ends_first=ShareInterval(first, failures),
        second=shares[1],
        ends_second=ShareInterval(second, failures_second),
    )


def _logarithms(differences: Differences) -> Differences:
    """Return the differences of the logarithms, of the values above 0."""
    some = differences.take(np.flatnonzero(differences.second > 0))
    return Differences(
        first=np.log(some.first),
        ends_first=LogarithmicInterval(some.ends_first),
        second=np.log(some.second),
        ends_second=LogarithmicInterval(some.ends_second),
    )


def _from_all_angles(differences: Differences, error: float) -> Floats:
    excess = differences.first - differences.second
    least: Floats = np.nan_to_num(
        excess
        - most_below(
            differences.first,
            differences.ends_first,
            differences.second,
            differences.ends_second,
            error,
            ALL_ANGLES,
        )
    )
    return np.maximum(least, 0.0)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("ratio", [False, True])
def test_the_lower_ends_are_those_from_all_angles(error: float, whole: bool, ratio: bool) -> None:
    source = np.random.default_rng(0)
    differences = _differences(source, whole=whole)
    if ratio:
        differences = _logarithms(differences)
    expected = _from_all_angles(differences, error)
    assert (expected > 0).sum() > GROUPS // 4
    np.testing.assert_array_equal(least_of_positive(differences, error), expected)


@pytest.mark.parametrize("groups", [GROUPS, 20])
@pytest.mark.parametrize("error", ERRORS)
def test_least_sizes_are_those_of_the_intervals(error: float, groups: int) -> None:
    source = np.random.default_rng(2)
    differences = _differences(source, whole=False).take(np.arange(groups))
    # Every other one turned.
    turned = source.random(groups) < 0.5
    pairs = np.array([differences.first, differences.second])
    counts = np.array(
        [
            [ends.successes, ends.failures]
            for ends in (differences.ends_first, differences.ends_second)
        ]
    )
    pairs = np.where(turned, pairs[::-1], pairs)
    counts = np.where(turned, counts[::-1], counts)
    differences = Differences(
        first=pairs[0],
        ends_first=ShareInterval(*counts[0]),
        second=pairs[1],
        ends_second=ShareInterval(*counts[1]),
    )
    errors = np.full(groups, error)
    errors[::3] /= 7
    for given in (error, errors):
        low, high = differences.interval(given)
        expected = np.maximum(np.maximum(low, -high), 0.0)
        assert (expected[turned] > 0).any()
        assert (expected[~turned] > 0).any()
        np.testing.assert_array_equal(differences.least_sizes(given), expected)


def test_the_lower_ends_of_numbers_are_those_from_all_angles() -> None:
    source = np.random.default_rng(0)

    def ends(value: Floats) -> WideningInterval:
        spread = np.exp(source.uniform(-6, 1, GROUPS))
        return NumberInterval(value, spread, source.choice([1.0, 3.5, 1000.0], GROUPS))

    second = source.standard_normal(GROUPS)
    first = second + source.random(GROUPS)
    differences = Differences(
        first=first, ends_first=ends(first), second=second, ends_second=ends(second)
    )
    expected = _from_all_angles(differences, 0.05)
    assert (expected > 0).any()
    np.testing.assert_array_equal(least_of_positive(differences, 0.05), expected)


@pytest.mark.parametrize("ratio", [False, True])
def test_ends_that_are_said_to_move_ever_slower_do(ratio: bool) -> None:
    """The distances from the value are concave functions of the logarithm of the error."""
    source = np.random.default_rng(1)
    ends: WideningInterval = ShareInterval(*_counts(source, whole=False))
    if ratio:
        ends = LogarithmicInterval(ends)
    errors = np.exp(np.linspace(np.log(1e-9), 0, 40))
    with np.errstate(invalid="ignore"):
        for sign, of_errors in ((-1, ends.low), (1, ends.high)):
            distances = sign * np.array([of_errors(error) for error in errors])
            bends = np.diff(distances, n=2, axis=0)
            # Below the smallest numbers there is nothing to see.
            bends = np.where(np.isfinite(bends), bends, 0.0)[:, ends.slowing]
            assert bends.max() < 1e-9
    assert ends.slowing.any()


def test_few_ends_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    computed = []

    def counted(successes: Floats, failures: Floats, error: float) -> Floats:
        computed.append(len(successes))
        return lower_end(successes, failures, error)

    differences = _differences(np.random.default_rng(0), whole=True)
    expected = _from_all_angles(differences, 0.001)
    # Of the significant ones alone, so that the search for these is what is counted.
    differences = differences.take(np.flatnonzero(expected > 0))
    monkeypatch.setattr("testsgd.scoring.exact_intervals.lower_end", counted)
    least_of_positive(differences, 0.001)
    assert sum(computed) < 0.6 * 14 * len(differences.first)


@pytest.mark.parametrize("whole", [True, False])
def test_the_intervals_are_those_from_all_angles(whole: bool) -> None:
    """Also where each difference has an error rate of its own."""
    source = np.random.default_rng(0)
    differences = _differences(source, whole=whole)
    turned = source.random(GROUPS) < 0.5
    ends = differences.ends_first, differences.ends_second
    first, second = (
        ShareInterval(
            np.where(turned, one.successes, other.successes),
            np.where(turned, one.failures, other.failures),
        )
        for one, other in (ends, ends[::-1])
        if isinstance(one, ShareInterval) and isinstance(other, ShareInterval)
    )
    rates = [side.successes / (side.successes + side.failures) for side in (first, second)]
    error = source.choice(ERRORS, GROUPS)
    computed = Differences(
        first=rates[0], ends_first=first, second=rates[1], ends_second=second
    ).interval(error)

    def both_ends(side: ShareInterval, error: Floats) -> tuple[Floats, Floats]:
        return (
            lower_end(side.successes, side.failures, error),
            1 - lower_end(side.failures, side.successes, error),
        )

    expected = exact_difference(
        rates[0], partial(both_ends, first), rates[1], partial(both_ends, second), error
    )
    np.testing.assert_array_equal(computed, expected)
