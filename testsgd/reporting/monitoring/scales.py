"""Scales of a monitor's drawings: biases from zero, and whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from testsgd.report.formatting import count
from testsgd.report.scales import Scale, Tick, linear_scale, position


def bias_scale(values: Sequence[float], threshold: float) -> Scale:
    """Make a scale of biases from zero that has these values and the threshold on it."""
    scale = linear_scale(0.0, min(max([*values, threshold, 0.01]), 1.0), count=4)
    steps = len(scale.ticks) - 1
    ticks = tuple(
        Tick(tick.at, f"{scale.high * place / steps:.3g}") for place, tick in enumerate(scale.ticks)
    )
    return Scale(scale.low, scale.high, ticks)


def down(value: float, scale: Scale) -> float:
    """Place a value, in per cent from the top."""
    return position(100 - scale.place(value))


def count_ticks(last: int) -> tuple[Tick, ...]:
    """Mark round numbers up to the last one on a scale of counts."""
    return tuple(
        Tick(position(100 * at / last), count(at)) for at in whole_numbers_between(0, last)
    )


def whole_numbers_between(first: int, last: int) -> list[int]:
    """Choose about five round whole numbers between two."""
    span = max(last - first, 1)
    power = 10 ** max(math.floor(math.log10(span / 5)), 0)
    step = next(m * power for m in (1, 2, 5, 10) if m * power * 5 >= span)
    return list(range(-(-first // step) * step, last + 1, step))
