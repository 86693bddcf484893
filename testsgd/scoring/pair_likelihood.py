"""The e-process of a pair of rates: its minimum along a line, and where that reaches a level.

The e-process is the product of the wealths of two betting martingales, one for each rate. On a line
the first rate, or its logarithm, exceeds the second by a gap. The logarithm of a wealth is convex
on both scales, so a line has one minimum, and the minima are convex in the gap. Newton's method
finds both, the gap from outside, because the tangents of a convex function lie below it; a step out
of what is known to hold the answer is replaced by halving that.

A monitor asks for one pair at a time, and often. So the minimum is first sought without arrays,
which is fast; the search on arrays begins there and goes on if that is not close enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.scoring import betting_martingale as betting
from testsgd.scoring.betting_martingale import LEAST_RATE

_SCALAR_ITERATIONS = 40
# Share of the line at each end in which no search begins.
_MARGIN = 1e-6
# The series of the digamma and the trigamma function have ten digits from here on.
_SERIES_FROM = 8.0


def minimising_position(
    wins: tuple[float, float],
    losses: tuple[float, float],
    weight: float,
    gap: float,
    *,
    logarithmic: bool,
) -> float:
    """Minimise the e-process over pairs of rates that differ by `gap`; return the first rate.

    The first of the two groups has the higher rate. `logarithmic`: search, and answer, on the scale
    of logarithms. If the minimum is not found, it is some position on the line.
    """
    low, high = (math.log(1e-9), 0.0) if logarithmic else (gap, 1.0)
    # At the very end of the line a step of Newton's is lost in rounding.
    margin = _MARGIN * (high - low)
    position = _weighted_mean_rate(wins, losses, gap, logarithmic=logarithmic)
    if not low + margin < position < high - margin:
        position = (low + high) / 2
    for _ in range(_SCALAR_ITERATIONS):
        slope = curvature = 0.0
        for group, place in ((0, position), (1, position - gap)):
            rate = math.exp(place) if logarithmic else place
            if not 0 < rate < 1:
                return position
            slope_wins, curvature_wins = _term_derivatives(rate, wins[group], weight)
            slope_losses, curvature_losses = _term_derivatives(1 - rate, losses[group], weight)
            group_slope = slope_wins - slope_losses
            group_curvature = curvature_wins + curvature_losses
            if logarithmic:
                # By the chain rule: derivatives by the logarithm of the rate.
                group_curvature = rate * (rate * group_curvature + group_slope)
                group_slope = rate * group_slope
            slope += group_slope
            curvature += group_curvature
        if slope > 0:
            high = position
        else:
            low = position
        following = position - slope / curvature if curvature > 0 else low
        if abs(slope * (following - position)) < 1e-11:
            return position
        position = following if low < following < high else (low + high) / 2
    return position


def evidence_at_most(
    wins: tuple[float, float],
    losses: tuple[float, float],
    weight: float,
    gap: float,
    *,
    logarithmic: bool,
) -> float:
    """Bound the minimum of the e-process on a line from above, in microseconds.

    It is its logarithm at one position of the line, which is near the minimum; infinite if there is
    no such position.
    """
    position = _weighted_mean_rate(wins, losses, gap, logarithmic=logarithmic)
    total = 0.0
    for group, place in ((0, position), (1, position - gap)):
        rate = math.exp(place) if logarithmic else place
        if not 0 < rate < 1:
            return math.inf
        total += _log_capital(rate, wins[group], losses[group], weight)
    return total


def _log_capital(rate: float, wins: float, losses: float, weight: float) -> float:
    """Return the logarithm of the capital of a bet against one rate, without arrays."""
    yes = weight * rate
    no = weight * (1 - rate)
    samples = wins + losses
    return (
        (math.lgamma(yes + wins) - math.lgamma(yes) - wins * math.log(rate))
        + (math.lgamma(no + losses) - math.lgamma(no) - losses * math.log1p(-rate))
        - (math.lgamma(weight + samples) - math.lgamma(weight))
    )


def _weighted_mean_rate(
    wins: tuple[float, float], losses: tuple[float, float], gap: float, *, logarithmic: bool
) -> float:
    """Return the mean of the observed rates, each weighted by its precision."""
    total = mean = 0.0
    for group, shift in ((0, 0.0), (1, gap)):
        samples = wins[group] + losses[group]
        rate = (wins[group] + 1) / (samples + 2)
        precision = samples * rate / (1 - rate) if logarithmic else samples / (rate * (1 - rate))
        total += precision
        mean += precision * ((math.log(rate) if logarithmic else rate) + shift)
    return mean / total


def _term_derivatives(rate: float, wins: float, weight: float) -> tuple[float, float]:
    """Return two derivatives by p of log Gamma(c p + S) - log Gamma(c p) - S log p."""
    if wins < 2:
        return 0.0, 0.0
    further_wins = wins - 1
    below = weight * rate + 1
    digamma_below, trigamma_below = _digamma_and_trigamma(below)
    digamma_above, trigamma_above = _digamma_and_trigamma(below + further_wins)
    return (
        weight * (digamma_above - digamma_below) - further_wins / rate,
        further_wins / rate / rate - weight * weight * (trigamma_below - trigamma_above),
    )


def _digamma_and_trigamma(value: float) -> tuple[float, float]:
    """Return the digamma and the trigamma function of a positive number."""
    digamma = trigamma = 0.0
    while value < _SERIES_FROM:
        inverse = 1 / value
        digamma -= inverse
        trigamma += inverse * inverse
        value += 1
    inverse = 1 / value
    square = inverse * inverse
    digamma += (
        math.log(value)
        - inverse / 2
        - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    )
    trigamma += inverse + square / 2
    trigamma += inverse * square * (1 / 6 - square * (1 / 30 - square * (1 / 42 - square / 30)))
    return digamma, trigamma


Floats = NDArray[np.float64]

_ITERATIONS = 100
# Of logarithms of capitals; what is found is moved by ten times as much to the safe side.
PRECISION = 1e-10
_LEAST_LOG = math.log(LEAST_RATE)
# Rates whose logarithms are farther apart have the ratio 0 (1 - min/max is 1) to all digits.
_LARGEST_LOG_GAP = 280.0


@dataclass(frozen=True)
class Scale:
    """Scale on which two rates are subtracted: that of rates, or of their logarithms."""

    logarithmic: bool
    least: float
    most: float
    largest_gap: float

    def gap(self, measured: float) -> float:
        """Return the distance on the scale at which the measure has a value below 1."""
        return -math.log1p(-measured) if self.logarithmic else measured

    def measured(self, gap: Floats) -> Floats:
        """Return the measure at a distance; 0 at a negative one, 1 at the largest."""
        apart = np.maximum(gap, 0.0)
        values = -np.expm1(-apart) if self.logarithmic else apart
        return np.where(gap >= self.largest_gap, 1.0, values)


SCALES = {
    "difference": Scale(False, 0.0, 1.0, 1.0),
    "ratio": Scale(True, _LEAST_LOG, 0.0, _LARGEST_LOG_GAP),
}


@dataclass(frozen=True)
class Seen:
    """Successes and failures of pairs of groups, shape (2, pairs), on one scale."""

    wins: Floats
    losses: Floats
    weight: float
    scale: Scale

    @property
    def samples(self) -> Floats:
        """Successes and failures together."""
        return self.wins + self.losses

    def at(self, positions: NDArray[np.intp]) -> Seen:
        """Return the chosen pairs."""
        return Seen(self.wins[:, positions], self.losses[:, positions], self.weight, self.scale)

    def observed(self) -> Floats:
        """Return the observed rates on the scale; one half without samples."""
        rates = np.where(self.samples > 0, self.wins / np.maximum(self.samples, 1), 0.5)
        if not self.scale.logarithmic:
            return rates
        return np.log(np.maximum(rates, LEAST_RATE))

    def precisions(self) -> Floats:
        """Return approximate curvatures of the capitals' logarithms, shape (2, pairs).

        Each is one over the variance of the observed rate, on the scale.
        """
        rates = (self.wins + 1) / (self.samples + 2)
        if self.scale.logarithmic:
            return self.samples * rates / (1 - rates)
        return self.samples / (rates * (1 - rates))

    def capital(self, positions: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the logarithm of the capital at places on the scale, and two derivatives of it.

        `positions` and all results have the shape (2, pairs).
        """
        rates = np.exp(positions) if self.scale.logarithmic else positions
        value = betting.log_wealth(rates, self.wins, self.losses, self.weight)
        slope = betting.log_wealth_slope(rates, self.wins, self.losses, self.weight)
        curvature = betting.log_wealth_curvature(rates, self.wins, self.losses, self.weight)
        if self.scale.logarithmic:
            rates = np.maximum(rates, LEAST_RATE)
            # By the chain rule: derivatives by the logarithm of the rate.
            curvature = rates * (rates * curvature + slope)
            slope = rates * slope
        return value, slope, np.maximum(curvature, 0.0)


@dataclass(frozen=True)
class OnLines:
    """The minimum on lines, shape (pairs,): value, slope by the gap, place, share of the second."""

    least: Floats
    slope: Floats
    position: Floats
    share: Floats


def least_on_lines(seen: Seen, gaps: Floats, start: Floats | None) -> OnLines:
    """Minimise the product of the capitals on lines: first place = second place + gap.

    `gaps` and `start`, the first place at which to begin, have the shape (pairs,). With L the sum
    of the logarithms of both capitals, each step is Newton's, L' / L'', or halves the bracket.
    """
    scale = seen.scale
    low = least_end = scale.least + np.maximum(gaps, 0.0)
    high = most_end = scale.most + np.minimum(gaps, 0.0)
    if start is None:
        precision = seen.precisions() + 1e-9
        observed = seen.observed()
        start = precision[0] * observed[0] + precision[1] * (observed[1] + gaps)
        start = start / precision.sum(axis=0)
    # The capital is infinite at an end of the scale that two answers speak against; else the end
    # may be the minimum, and is tried once.
    two_wins = seen.wins >= 2
    two_losses = seen.losses >= 2
    at_low = (two_wins[0] & (gaps <= 0)) | (two_wins[1] & (gaps >= 0))
    at_high = (two_losses[0] & (gaps >= 0)) | (two_losses[1] & (gaps <= 0))
    inside = 1e-3 * (high - low)
    position = np.clip(
        start, np.where(at_low, low + inside, low), np.where(at_high, high - inside, high)
    )
    minima = np.zeros((4, len(gaps)))
    active = np.arange(len(gaps))
    for _ in range(_ITERATIONS):
        value, slope, curvature = seen.capital(np.stack([position, position - gaps]))
        total = value.sum(axis=0)
        total_slope = slope.sum(axis=0)
        total_curvature = curvature.sum(axis=0)
        rising = total_slope >= 0
        falling = total_slope <= 0
        high = np.where(rising, position, high)
        at_high = at_high | rising
        low = np.where(falling, position, low)
        at_low = at_low | falling
        following = position - total_slope / np.maximum(total_curvature, 1e-100)
        middle = (low + high) / 2
        following = np.where(following <= low, np.where(at_low, middle, low), following)
        following = np.where(following >= high, np.where(at_high, middle, high), following)
        gain = np.abs(total_slope * (following - position))
        ended = rising & (following <= least_end[active])
        ended |= falling & (following >= most_end[active])
        done = (gain <= PRECISION * (1 + np.abs(total))) | (high - low <= 0)
        # Where the second place is at an end of the scale only the first one moves with the gap.
        # Elsewhere both slopes are the same but for the sign, except for what is left to gain.
        share = np.where(
            ended,
            np.where(gaps > 0, rising, falling),
            curvature[1] / np.maximum(total_curvature, 1e-100),
        )
        minima[:, active] = (
            # Until it is done, what the tangent allows it to be.
            np.where(done, total, total - np.abs(total_slope) * (high - low)),
            share * slope[0] - (1 - share) * slope[1],
            position,
            share,
        )
        if done.all():
            break
        unfinished = ~done
        seen = seen.at(np.flatnonzero(unfinished))
        active = active[unfinished]
        gaps = gaps[unfinished]
        low = low[unfinished]
        high = high[unfinished]
        at_low = at_low[unfinished]
        at_high = at_high[unfinished]
        position = following[unfinished]
    return OnLines(least=minima[0], slope=minima[1], position=minima[2], share=minima[3])


def largest_gaps(seen: Seen, levels: Floats) -> Floats:
    """Return the largest gap, first place - second, with capital below each level, shape (pairs,).

    `levels` are logarithms of capitals, shape (pairs,).
    """
    scale = seen.scale
    gaps = np.full(seen.wins.shape[1], scale.largest_gap)
    # At most one success leaves a rate of 0 possible, at most one failure a rate of 1: there the
    # capital is at most 1.
    open_ended = seen.wins[1] <= 1
    if not scale.logarithmic:
        open_ended = open_ended & (seen.losses[0] <= 1)
    active = np.flatnonzero(~open_ended)
    seen = seen.at(active)
    level = levels[active]
    observed = seen.observed()
    spread = 1 / (seen.precisions() + 1e-9)
    inner = observed[0] - observed[1]
    outer = gaps[active]
    height = level + 0.5 * np.log1p(seen.samples / seen.weight).sum(axis=0)
    gap = np.minimum(inner + np.sqrt(2 * height * spread.sum(axis=0)), (inner + outer) / 2)
    start: Floats | None = None
    for _ in range(_ITERATIONS):
        if not active.size:
            break
        line = least_on_lines(seen, gap, start)
        excess = line.least - level
        inner = np.where(excess < 0, gap, inner)
        outer = np.where(excess >= 0, gap, outer)
        # The tangent of a convex function reaches the level outside, or where the function does.
        following = gap - excess / np.where(line.slope > 0, line.slope, np.inf)
        known = (line.slope > 0) & (following <= outer) & (following >= inner)
        following = np.where(known, following, (inner + outer) / 2)
        # What the next step would add is of the order of the square of this one's.
        unfinished = ~known | (np.abs(excess) > 1e-6 * (1 + level))
        unfinished &= outer - inner > 1e-15 * (1 + np.abs(outer))
        gaps[active] = np.where(known & ~unfinished, following, outer)
        start = (line.position + line.share * (following - gap))[unfinished]
        seen = seen.at(np.flatnonzero(unfinished))
        active = active[unfinished]
        level = level[unfinished]
        inner = inner[unfinished]
        outer = outer[unfinished]
        gap = following[unfinished]
    return gaps
