"""Scales of charts, with round ticks.

Positions are per cent of the drawing, so that a chart fits any width while its text and its marks
keep their size: on a phone a picture that is scaled down as a whole cannot be read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from testsgd.report.formatting import count as write_count
from testsgd.report.formatting import tick_points

# From so large a ratio of the last to the first time on, time is drawn on a logarithmic scale,
# and nothing shorter than this part of the whole time is drawn.
_LOGARITHMIC = 30.0
_SHORTEST = 1e-4


@dataclass(frozen=True)
class Tick:
    """A labelled position on a scale, in per cent of its length."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """A scale from `low` to `high`, with its ticks; linear, or logarithmic."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        """Return where a value lies, in per cent; values beyond the ends lie at the ends."""
        return position(100 * self.share(value))

    def from_top(self, value: float) -> float:
        """Return where a value lies below the upper edge of an upright scale, in per cent."""
        return position(100 - self.place(value))

    def part(self, start: float, end: float, least: float) -> tuple[float, float]:
        """Return where a part begins and how wide it is, at least `least`, in per cent."""
        first = self.place(start)
        width = max(position(self.place(end) - first), least)
        return position(min(first, 100 - width)), width

    def share(self, value: float) -> float:
        """Return where a value lies, as a share of the length."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def tick_percent(value: float) -> str:
    """Write a share at the tick of an axis, as short as it goes."""
    return f"{100 * value:.4g}%"


def linear_scale(
    low: float, high: float, *, count: int, write: Callable[[float], str] = tick_percent
) -> Scale:
    """Return a scale that covers two values, with at most `count` intervals between round ticks."""
    step = _round_step(max(high - low, 0.004), count)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    scale = Scale(first * step, last * step, ())
    ticks = tuple(
        Tick(scale.place(index * step), write(index * step)) for index in range(first, last + 1)
    )
    return Scale(scale.low, scale.high, ticks)


def difference_scale(values: Iterable[float], *, count: int = 5) -> Scale:
    """Return a scale of signed differences, with zero on it and room on both sides."""
    known = [-0.01, 0.01, *values]
    return linear_scale(max(min(known), -1.0), min(max(known), 1.0), count=count, write=tick_points)


def count_scale(low: float, high: float) -> Scale:
    """Return a scale of counts between two ends, with about five round ticks."""
    step = max(round(_round_step(max(high - low, 1.0), 5)), 1)
    scale = Scale(low, high, ())
    marked = range(math.ceil(low / step) * step, math.floor(high) + 1, step)
    return Scale(low, high, tuple(Tick(scale.place(at), write_count(at)) for at in marked))


def rate_scale(rates: Iterable[float | None]) -> Scale:
    """Return the scale, from zero, on which rates are drawn as bars; missing ones do not count."""
    known = [rate for rate in rates if rate is not None]
    return linear_scale(0.0, min(max(known, default=0.0), 1.0), count=4)


def duration_scale(first: float, last: float, *, count: int = 5) -> Scale:
    """Return a scale of seconds that ends at `last`, logarithmic if that is many times `first`."""
    first = max(first, _SHORTEST * last)
    if last / first > _LOGARITHMIC:
        plain = Scale(first, last, (), logarithmic=True)
        times = _decades(first, last)
    else:
        plain = Scale(0.0, last, ())
        covered = linear_scale(0.0, last, count=count)
        step = covered.high / (len(covered.ticks) - 1)
        times = [step * index for index in range(len(covered.ticks)) if step * index <= last]
    return replace(plain, ticks=tuple(Tick(plain.place(time), f"{time:g} s") for time in times))


def position(value: float) -> float:
    """Round a position in per cent as far as a drawing shows it."""
    return round(value, 1)


def _round_step(span: float, count: int) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that covers `span` in `count` steps."""
    power = 10.0 ** math.floor(math.log10(span / count))
    return next(m * power for m in (1, 2, 5, 10) if m * power * count >= span * (1 - 1e-9))


def _decades(low: float, high: float) -> list[float]:
    """Return the powers of ten between two values, with thrice as much where these are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**power for power in powers]
    known = [value for value in tens if low <= value <= high]
    if len(known) < 3:
        known = [value for ten in tens for value in (ten, 3 * ten) if low <= value <= high]
    return known
