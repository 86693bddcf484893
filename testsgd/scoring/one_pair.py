"""One pair of rates at a time: without arrays, so fast.

A monitor asks for one pair at a time, and often. What is found here only saves work: the place of
the least product is where the search on arrays begins, which goes on from there if it is not close
enough; and a bound on the evidence says when there is no need to compute it.
"""

from __future__ import annotations

import math

_ITERATIONS = 40
# The series of the digamma and the trigamma function have ten digits from here on.
_SERIES_FROM = 8.0


def place_of_least(
    wins: tuple[float, float],
    losses: tuple[float, float],
    weight: float,
    gap: float,
    *,
    logarithmic: bool,
) -> float:
    """Find where the product is least of all places of which the first exceeds the second by `gap`.

    Parameters
    ----------
    wins, losses : tuple of float
        Successes and failures in the two groups, of which the first has the higher rate.
    weight : float
        As for :func:`testsgd.scoring.capital.log_capital`.
    gap : float
        Not negative.
    logarithmic : bool
        The places are logarithms of rates, or rates.

    Returns
    -------
    float
        Of the first; some place on the line if there is none to be found.

    Examples
    --------
    >>> place = place_of_least((600.0, 300.0), (400.0, 700.0), 244.0, 0.1, logarithmic=False)
    >>> round(place, 3)
    0.498
    """
    low, high = (math.log(1e-9), 0.0) if logarithmic else (gap, 1.0)
    place = _between(wins, losses, gap, logarithmic=logarithmic)
    if not low < place < high:
        place = (low + high) / 2
    for _ in range(_ITERATIONS):
        slope = bend = 0.0
        for group, where in ((0, place), (1, place - gap)):
            rate = math.exp(where) if logarithmic else where
            if not 0 < rate < 1:
                return place
            up, up_bend = _falling(rate, wins[group], weight)
            down, down_bend = _falling(1 - rate, losses[group], weight)
            first, second = up - down, up_bend + down_bend
            if logarithmic:
                first, second = rate * first, rate * (rate * second + first)
            slope, bend = slope + first, bend + second
        if slope > 0:
            high = place
        else:
            low = place
        following = place - slope / bend if bend > 0 else low
        if abs(slope * (following - place)) < 1e-11:
            return place
        place = following if low < following < high else (low + high) / 2
    return place


def evidence_at_most(
    wins: tuple[float, float],
    losses: tuple[float, float],
    weight: float,
    gap: float,
    *,
    logarithmic: bool,
) -> float:
    """Bound the least product of two capitals on a line from above, in microseconds.

    Parameters
    ----------
    wins, losses, weight, gap, logarithmic
        As for :func:`place_of_least`.

    Returns
    -------
    float
        The logarithm of the product at one place of the line, which is near the least. Infinite if
        there is no such place.

    Examples
    --------
    >>> found = evidence_at_most((600.0, 300.0), (400.0, 700.0), 244.0, 0.1, logarithmic=False)
    >>> round(found, 1)
    31.9
    """
    place = _between(wins, losses, gap, logarithmic=logarithmic)
    total = 0.0
    for group, where in ((0, place), (1, place - gap)):
        rate = math.exp(where) if logarithmic else where
        if not 0 < rate < 1:
            return math.inf
        total += _log_capital(rate, wins[group], losses[group], weight)
    return total


def _log_capital(rate: float, wins: float, losses: float, weight: float) -> float:
    yes, no, samples = weight * rate, weight * (1 - rate), wins + losses
    return (
        (math.lgamma(yes + wins) - math.lgamma(yes) - wins * math.log(rate))
        + (math.lgamma(no + losses) - math.lgamma(no) - losses * math.log1p(-rate))
        - (math.lgamma(weight + samples) - math.lgamma(weight))
    )


def _between(
    wins: tuple[float, float], losses: tuple[float, float], gap: float, *, logarithmic: bool
) -> float:
    """Give the mean of the observed places, each by how exactly it is known."""
    total = mean = 0.0
    for group, more in ((0, 0.0), (1, gap)):
        samples = wins[group] + losses[group]
        rate = (wins[group] + 1) / (samples + 2)
        sharp = samples * rate / (1 - rate) if logarithmic else samples / (rate * (1 - rate))
        total += sharp
        mean += sharp * ((math.log(rate) if logarithmic else rate) + more)
    return mean / total


def _falling(rate: float, wins: float, weight: float) -> tuple[float, float]:
    """Differentiate log Gamma(c p + S) - log Gamma(c p) - S log p once and twice."""
    if wins < 2:
        return 0.0, 0.0
    more, below = wins - 1, weight * rate + 1
    low, low_bend = _digamma(below)
    high, high_bend = _digamma(below + more)
    return (
        weight * (high - low) - more / rate,
        more / rate / rate - weight * weight * (low_bend - high_bend),
    )


def _digamma(value: float) -> tuple[float, float]:
    """Give the digamma and the trigamma function."""
    first = second = 0.0
    while value < _SERIES_FROM:
        part = 1 / value
        first -= part
        second += part * part
        value += 1
    part = 1 / value
    square = part * part
    first += (
        math.log(value)
        - part / 2
        - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    )
    second += part + square / 2
    second += part * square * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    return first, second
