"""Straight lines below and above a network's deciding sums, for many boxes at once.

Backward substitution: the line of an output in terms of the last activations is replaced, layer by
layer, down to the inputs (Zhang et al., CROWN, 2018). What rounding may change is in the constants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from testsgd.certification.proving.axes import CATEGORY, Axes, Floats
from testsgd.certification.proving.problem import Problem

# What tanh and expit of numpy and scipy may be wrong by, generously.
_FUNCTION_ERROR = 1e-13


@dataclass(frozen=True)
class Lines:
    """For each unit ``lower_slope * x + lower <= f(x) <= upper_slope * x + upper``.

    The argument x is the model's own sum; the lines are written in terms of the exact sum of the
    layer before, from which it is at most the noise away. Slopes are never negative.
    """

    lower_slope: Floats
    lower: Floats
    upper_slope: Floats
    upper: Floats
    gap: Floats  # How far the two are apart at most.
    # Bounds of the activation itself.
    minimum: Floats
    maximum: Floats


def relax(kind: str, slope: float, error: float, low: Floats, high: Floats, noise: Floats) -> Lines:
    """Return the lines around an activation on the interval of its sums, from `low` to `high`.

    `error` is how far the model's own activation may lie from the exact one, `noise` how far its
    own sums may from the exact sums of the activations before. The line above a ReLU is its chord,
    the one below 0 or the identity, whichever leaves the smaller triangle (Zhang et al., CROWN,
    2018). For a sigmoid or tanh: the chord where the function is bent to that side all over the
    interval, else a line through the end with the smaller of the ends' slopes (Singh et al.,
    DeepPoly, 2019). Any slope is valid as long as the constants are computed from it.
    """
    if kind == "leaky_relu":
        return _leaky(slope, error, low, high, noise)
    return _bent(kind, error, low, high, noise)


def activation_error(kind: str, slope: float, error: float, low: Floats) -> Floats:
    """Bound how far the model's own activation lies from the exact one, for sums above `low`."""
    if kind == "leaky_relu":
        # Only a product with a slope that is neither 0 nor 1 is rounded.
        return np.maximum(-low, 0.0) * (0.0 if slope in (0.0, 1.0) else error * slope)
    return np.full_like(low, error + _FUNCTION_ERROR)


def _leaky(slope: float, error: float, low: Floats, high: Floats, noise: Floats) -> Lines:
    """Return the lines around f(x) = x for x >= 0 and slope * x below, on intervals [l, h].

    Where l < 0 < h the line above is the chord, of the slope ``c = (h - slope * l) / (h - l)``; the
    line below goes through 0 with the slope 1 if h > -l, and else with that of f below 0. Elsewhere
    f is a line itself. `low`, `high` and `noise` have the shape of the units, as the lines have.
    """
    on, off = low >= 0, high <= 0
    bent = ~(on | off) if slope != 1.0 else np.zeros_like(on)
    straight = np.where(off, slope, 1.0)
    width = np.where(bent, high - low, 1.0)
    chord = np.where(bent, (high - slope * low) / width, straight)
    beneath = np.where(bent, np.where(high > -low, 1.0, slope), straight)
    gap = np.where(bent, np.maximum((slope - chord) * low, (1.0 - chord) * high), 0.0)
    rounded = activation_error("leaky_relu", slope, error, low)
    minimum = np.where(low > 0, low, slope * low) - rounded
    maximum = np.where(high > 0, high, slope * high) + rounded
    return Lines(
        lower_slope=beneath,
        lower=-beneath * noise - rounded,
        upper_slope=chord,
        upper=gap * (1 + 1e-14) + chord * noise + rounded,
        gap=gap,
        minimum=minimum,
        maximum=maximum,
    )


def _bent(kind: str, error: float, low: Floats, high: Floats, noise: Floats) -> Lines:
    """Return the lines around a sigmoid or tanh f on intervals [l, h].

    With the chord's slope ``c = (f(h) - f(l)) / (h - l)`` and ``m = min(f'(l), f'(h))`` the line
    below is ``f(l) + a (x - l)``, where a is c if l >= 0 and else m; the line above is
    ``f(h) + b (x - h)``, where b is c if h <= 0 and else m; the constants have room for rounding.
    `low`, `high` and `noise` have the shape of the units, as the lines have.
    """
    if kind == "tanh":
        at_low, at_high = np.tanh(low), np.tanh(high)
        steep_low, steep_high = 1 - at_low**2, 1 - at_high**2
    else:
        at_low, at_high = expit(low), expit(high)
        steep_low, steep_high = at_low * (1 - at_low), at_high * (1 - at_high)
    error = error + _FUNCTION_ERROR
    width = high - low
    chord = np.where(width > 1e-9, (at_high - at_low) / np.maximum(width, 1e-9), 0.0)
    # Slopes may be a little too large by rounding; a smaller one is as valid for these lines.
    least_slope = np.maximum(np.minimum(steep_low, steep_high) - 1e-12, 0.0)
    chord = np.clip(chord - 1e-12, 0.0, None)
    beneath = np.where(low >= 0, np.maximum(chord, least_slope), least_slope)
    aloft = np.where(high <= 0, np.maximum(chord, least_slope), least_slope)
    # A slope below the chord's keeps the line through the low end below, and that through the
    # high end above; slack covers the rounding of the constants.
    slack = error + 1e-14 * (np.abs(low) + np.abs(high))
    lower = at_low - beneath * low - slack
    upper = at_high - aloft * high + slack
    gap = np.maximum(
        upper - lower + np.maximum((aloft - beneath) * low, (aloft - beneath) * high), 0
    )
    return Lines(
        lower_slope=beneath,
        lower=lower - beneath * noise,
        upper_slope=aloft,
        upper=upper + aloft * noise,
        gap=gap,
        minimum=at_low - error,
        maximum=at_high + error,
    )


def ranges(axes: Axes, forms: Floats, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Least and largest value of each axis's part of forms (B, ..., columns) on boxes (B, axes)."""
    between = (slice(None),) + (None,) * (forms.ndim - 2)
    numbers = axes.kinds != CATEGORY
    minimum = np.empty((*forms.shape[:-1], len(axes.kinds)))
    maximum = np.empty_like(minimum)
    chosen = forms[..., axes.columns[numbers]]
    one, two = chosen * lo[between][..., numbers], chosen * hi[between][..., numbers]
    minimum[..., numbers] = np.minimum(one, two)
    maximum[..., numbers] = np.maximum(one, two)
    for axis in np.flatnonzero(~numbers):
        size = int(axes.high[axis]) + 1
        part = forms[..., axes.columns[axis] : axes.columns[axis] + size]
        values = np.arange(size)
        inside = (values >= lo[:, axis, None]) & (values <= hi[:, axis, None])
        inside = inside.reshape(len(lo), *((1,) * (forms.ndim - 2)), size)
        minimum[..., axis] = np.where(inside, part, np.inf).min(axis=-1)
        maximum[..., axis] = np.where(inside, part, -np.inf).max(axis=-1)
    return minimum, maximum


def bound(problem: Problem, lo: Floats, hi: Floats) -> Bounds:
    """Return the bounds of the deciding sums on B boxes, of ends of shape (B, axes)."""
    bounds = Bounds(problem, lo, hi)
    for k in range(1, len(problem.maps)):
        bounds.add_layer(k)
    return bounds


class Bounds:
    """Bounds of the sums of one layer, in the end the deciding ones, on each of B boxes.

    For P persons and M sums ``lower_form @ x + lower_constant <= sum <= upper_form @ x +
    upper_constant``, forms of the shape (B, P, M, columns); `low` and `high` bound it on the whole
    box, `least_change` and `most_change` how it differs from the first person's; shape (B, P, M).
    """

    def __init__(self, problem: Problem, lo: Floats, hi: Floats) -> None:
        self._problem = problem
        self._lo = lo
        self._hi = hi
        first = problem.maps[0]
        rows = np.broadcast_to(first.weights.T, (len(lo), *first.weights.T.shape))
        minimum, maximum = ranges(problem.axes, rows, lo, hi)
        ends = _largest(problem.axes, lo, hi)
        noise = (ends @ first.absolute)[:, None] + problem.offset_noise
        self._noise = noise
        self.low = minimum.sum(axis=2)[:, None] + problem.offsets - noise
        self.high = maximum.sum(axis=2)[:, None] + problem.offsets + noise
        change = problem.offsets - problem.offsets[0]
        # Both persons' sums are rounded, and the first person's may be rounded by more.
        both = noise + noise[:, :1]
        self.least_change = change - both
        self.most_change = change + both
        # Of each layer: what every axis does to the width of a unit's bounds.
        self._reach = [np.broadcast_to((maximum - minimum)[:, None], (*noise.shape, lo.shape[1]))]
        self._lines: list[Lines] = []
        # How much the deciding sums depend on the units of each layer.
        self._sense: list[Floats] = []
        shape = (len(lo), problem.persons, first.weights.shape[1], problem.axes.width)
        self.lower_form: Floats = np.broadcast_to(first.weights.T, shape)
        self.upper_form = self.lower_form
        self.lower_constant = problem.offsets - noise
        self.upper_constant = problem.offsets + noise

    def add_layer(self, k: int) -> None:
        """Replace the bounds of the sums of layer k - 1 by those of layer k."""
        problem = self._problem
        layer = problem.maps[k]
        kind, slope = problem.activations[k - 1]
        lines = relax(
            kind, slope, problem.activation_errors[k - 1], self.low, self.high, self._noise
        )
        self._lines.append(lines)
        up, down = np.maximum(layer.weights, 0), np.minimum(layer.weights, 0)
        magnitude = np.maximum(np.abs(lines.minimum), np.abs(lines.maximum))
        self._noise = layer.rounding * (magnitude @ layer.absolute + layer.bias_absolute)
        self._noise += layer.extra
        self._change(kind, slope, problem.activation_errors[k - 1], lines)
        minimum, maximum = self.least_change, self.most_change
        both = self._noise + self._noise[:, :1]
        self.least_change = minimum @ up + maximum @ down - both
        self.most_change = maximum @ up + minimum @ down + both
        low = lines.minimum @ up + lines.maximum @ down + layer.bias - self._noise
        high = lines.maximum @ up + lines.minimum @ down + layer.bias + self._noise
        self._substitute(k)
        minimum, maximum = ranges(problem.axes, self.lower_form, self._lo, self._hi)
        reach = maximum - minimum
        low = np.maximum(low, minimum.sum(axis=-1) + self.lower_constant)
        minimum, maximum = ranges(problem.axes, self.upper_form, self._lo, self._hi)
        high = np.minimum(high, maximum.sum(axis=-1) + self.upper_constant)
        self._reach.append(np.maximum(reach, maximum - minimum))
        self.low = low
        self.high = high

    def _change(self, kind: str, slope: float, error: float, lines: Lines) -> None:
        """Bound how the activations differ from those of the first person, shape (B, P, units)."""
        low, high = self.low[:, :1], self.high[:, :1]
        minimum, maximum = self.least_change, self.most_change
        if kind == "leaky_relu":
            # Convex: the more it rises, the further right one starts.
            start = np.where(minimum >= 0, low, high)
            fall = _leak(start + minimum, slope) - _leak(start, slope)
            start = np.where(maximum >= 0, high, low)
            rise = _leak(start + maximum, slope) - _leak(start, slope)
        else:
            steepest = 1.0 if kind == "tanh" else 0.25
            fall, rise = np.minimum(steepest * minimum, 0), np.maximum(steepest * maximum, 0)
        # Both persons' activations may be rounded.
        spread = 2 * activation_error(kind, slope, error, self.low.min(axis=1, keepdims=True))
        self.least_change = np.maximum(fall - spread, lines.minimum - lines.maximum[:, :1])
        self.most_change = np.minimum(rise + spread, lines.maximum - lines.minimum[:, :1])

    def _substitute(self, k: int) -> None:
        """Bound the sums of layer k by lines in the inputs.

        Fills the forms, shape (B, P, M, columns), and the constants, shape (B, P, M), by backward
        substitution from layer k - 1 to the first; of the last layer also how much the deciding
        sums depend on each unit.
        """
        problem = self._problem
        weights = problem.maps[k].weights.T
        lower, upper = weights, weights
        low = problem.maps[k].bias - self._noise
        high = problem.maps[k].bias + self._noise
        last = k == len(problem.maps) - 1
        sense = []
        for back in range(k - 1, -1, -1):
            lines = self._lines[back]
            if last:
                shape = (*lines.gap.shape[:2], *weights.shape[:1], lines.gap.shape[2])
                both = np.maximum(np.abs(lower), np.abs(upper))
                sense.append(np.broadcast_to(both, shape).max(axis=2))
            lower, constant = _through(lower, lines, below=True)
            low = low + constant
            upper, constant = _through(upper, lines, below=False)
            high = high + constant
            layer = problem.maps[back]
            if back == 0:
                low = low + np.einsum("bprn,pn->bpr", lower, problem.offsets)
                high = high + np.einsum("bprn,pn->bpr", upper, problem.offsets)
            else:
                low = low + lower @ layer.bias
                high = high + upper @ layer.bias
            lower, upper = lower @ layer.weights.T, upper @ layer.weights.T
        self._sense = sense[::-1]
        self.lower_form = lower
        self.upper_form = upper
        self.lower_constant = low
        self.upper_constant = high

    @property
    def score(self) -> Floats:
        """How much of the gaps between the lines is due to an axis, shape (B, axes)."""
        if not self._lines:  # a linear model: its first layer decides
            return np.asarray(self._reach[0].max(axis=(1, 2)))
        score = np.zeros_like(self._lo)
        for lines, sense, reach in zip(self._lines, self._sense, self._reach, strict=False):
            whole = reach.sum(axis=-1) + 1e-300
            score += ((lines.gap * sense / whole)[..., None] * reach).sum(axis=(1, 2))
        return score


def _through(form: Floats, lines: Lines, *, below: bool) -> tuple[Floats, Floats]:
    """Return a form after activations are replaced by their lines, and the constant it gains.

    The form has the shape (rows, units) or (B, P, rows, units). With `below` a coefficient c
    becomes ``max(c, 0) * lower_slope + min(c, 0) * upper_slope``; the constants
    likewise, shape (B, P, rows). Else lower and upper lines change places.
    """
    up, down = np.maximum(form, 0), np.minimum(form, 0)
    steep, flat = lines.lower_slope, lines.upper_slope
    constant_up, constant_down = lines.lower, lines.upper
    if not below:
        steep, flat, constant_up, constant_down = flat, steep, constant_down, constant_up
    slopes = up * steep[:, :, None] + down * flat[:, :, None]
    if form.ndim == 2:
        constant = constant_up @ up.T + constant_down @ down.T
    else:
        constant = (up @ constant_up[..., None] + down @ constant_down[..., None])[..., 0]
    return slopes, constant


def _leak(x: Floats, slope: float) -> Floats:
    return np.where(x > 0, x, slope * x)


def _largest(axes: Axes, lo: Floats, hi: Floats) -> Floats:
    """Largest absolute value of each column, shape (B, columns)."""
    out = np.zeros((len(lo), axes.width))
    ends = np.maximum(np.abs(lo), np.abs(hi))
    for axis, column in enumerate(axes.columns):
        if axes.kinds[axis] == CATEGORY:
            # Of a category only one column is 1: the largest would do, their sum is more.
            values = np.arange(int(axes.high[axis]) + 1)
            inside = (values >= lo[:, axis, None]) & (values <= hi[:, axis, None])
            out[:, column : column + len(values)] = inside
        else:
            out[:, column] = ends[:, axis]
    return out


def winners(
    problem: Problem, up: NDArray[np.bool_], down: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which decisions are surely made and surely not, by which sums are above and below.

    From the shape (..., sums) to the shape (..., decisions).
    """
    wins = np.zeros((*up.shape[:-1], problem.classes), dtype=np.int64)
    loses = np.zeros_like(wins, dtype=bool)
    for index, (one, two) in enumerate(problem.pairs or ((1, 0),)):
        wins[..., one] += up[..., index]
        wins[..., two] += down[..., index]
        loses[..., two] |= up[..., index]
        loses[..., one] |= down[..., index]
    return wins == problem.classes - 1, loses


def settled(problem: Problem, bounds: Bounds) -> NDArray[np.int8]:
    """Return the status of boxes, shape (B,): 1 fair as a whole, 2 unfair as a whole, 0 open."""
    sure, loses = winners(problem, bounds.low > problem.above, bounds.high < problem.below)
    status = np.zeros(len(sure), dtype=np.int8)
    status[np.any(sure.all(axis=1), axis=1)] = 1
    # One person surely gets a class that another surely does not.
    status[np.any(sure.any(axis=1) & loses.any(axis=1), axis=1)] = 2
    return status


def only_decision(problem: Problem) -> int | None:
    """Return the decision that bounds of the whole domain prove of all of it; None if they do not.

    A domain may get one decision all over without these bounds being narrow enough to prove it.

    Parameters
    ----------
    problem : Problem
        The network and its domain, whose axes are bounded as one box, shapes (1, inputs).

    Returns
    -------
    int or None
        The index of the label that every input of the domain gets.
    """
    bounds = bound(problem, problem.axes.low[None], problem.axes.high[None])
    sure, _ = winners(problem, bounds.low > problem.above, bounds.high < problem.below)
    everywhere = np.flatnonzero(sure[0].all(axis=0))
    return int(everywhere[0]) if len(everywhere) else None
