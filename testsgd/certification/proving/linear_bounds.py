"""Straight lines below and above a network's deciding sums, for many boxes at once.

Backward substitution: the line of an output in terms of the last activations is replaced, layer by
layer, by lines in terms of the activations before, down to the inputs (Zhang et al., CROWN, 2018).
What rounding may change is in the constants of the lines, see
:mod:`testsgd.certification.proving.problem`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import CATEGORY, Axes, Floats
from testsgd.certification.proving.problem import Problem
from testsgd.certification.proving.relaxation import Lines, activation_error, relax


@dataclass(frozen=True)
class Bounds:
    """Bounds of the deciding sums on each of B boxes, for P persons and M sums.

    Attributes
    ----------
    lower_form, upper_form : numpy.ndarray, shape (B, P, M, columns)
    lower_constant, upper_constant : numpy.ndarray, shape (B, P, M)
        ``lower_form @ x + lower_constant <= sum <= upper_form @ x + upper_constant``.
    low, high : numpy.ndarray, shape (B, P, M)
        Bounds on the whole box.
    least_change, most_change : numpy.ndarray, shape (B, P, M)
        By how much the sum differs from the first person's, everywhere in the box.
    score : numpy.ndarray, shape (B, axes)
        How much of the gaps between the lines is due to an axis.
    """

    lower_form: Floats
    lower_constant: Floats
    upper_form: Floats
    upper_constant: Floats
    low: Floats
    high: Floats
    least_change: Floats
    most_change: Floats
    score: Floats


def ranges(axes: Axes, forms: Floats, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Least and largest value of each axis's part of linear forms.

    Parameters
    ----------
    axes : Axes
    forms : numpy.ndarray, shape (B, ..., columns)
    lo, hi : numpy.ndarray, shape (B, axes)

    Returns
    -------
    (numpy.ndarray, numpy.ndarray), shape (B, ..., axes) each
    """
    between = (slice(None),) + (None,) * (forms.ndim - 2)
    numbers = axes.kinds != CATEGORY
    least = np.empty((*forms.shape[:-1], len(axes.kinds)))
    most = np.empty_like(least)
    chosen = forms[..., axes.columns[numbers]]
    one, two = chosen * lo[between][..., numbers], chosen * hi[between][..., numbers]
    least[..., numbers] = np.minimum(one, two)
    most[..., numbers] = np.maximum(one, two)
    for axis in np.flatnonzero(~numbers):
        size = int(axes.high[axis]) + 1
        part = forms[..., axes.columns[axis] : axes.columns[axis] + size]
        values = np.arange(size)
        inside = (values >= lo[:, axis, None]) & (values <= hi[:, axis, None])
        inside = inside.reshape(len(lo), *((1,) * (forms.ndim - 2)), size)
        least[..., axis] = np.where(inside, part, np.inf).min(axis=-1)
        most[..., axis] = np.where(inside, part, -np.inf).max(axis=-1)
    return least, most


def bound(problem: Problem, lo: Floats, hi: Floats) -> Bounds:
    """Bound the deciding sums on boxes.

    Parameters
    ----------
    problem : Problem
    lo, hi : numpy.ndarray, shape (B, axes)
        The boxes; of a category the first and the last index.

    Returns
    -------
    Bounds
    """
    work = _Boxes(problem, lo, hi)
    for k in range(1, len(problem.maps)):
        work.add_layer(k)
    return work.bounds()


class _Boxes:
    """The layers that are bounded so far; arrays are (boxes, persons, units)."""

    def __init__(self, problem: Problem, lo: Floats, hi: Floats) -> None:
        self.problem, self.lo, self.hi = problem, lo, hi
        first = problem.maps[0]
        rows = np.broadcast_to(first.weights.T, (len(lo), *first.weights.T.shape))
        least, most = ranges(problem.axes, rows, lo, hi)
        ends = _largest(problem.axes, lo, hi)
        noise = (ends @ first.absolute)[:, None] + problem.offset_noise
        self.noise = noise
        self.low = least.sum(axis=2)[:, None] + problem.offsets - noise
        self.high = most.sum(axis=2)[:, None] + problem.offsets + noise
        change = problem.offsets - problem.offsets[0]
        # Both persons' sums are rounded, and the first person's may be rounded by more.
        both = noise + noise[:, :1]
        self.least_change = change - both
        self.most_change = change + both
        # Of each layer: what every axis does to the width of a unit's bounds.
        self.reach = [np.broadcast_to((most - least)[:, None], (*noise.shape, lo.shape[1]))]
        self.lines: list[Lines] = []
        persons, units = problem.persons, first.weights.shape[1]
        shape = (len(lo), persons, units, problem.axes.width)
        self.forms = [np.broadcast_to(first.weights.T, shape)] * 2
        self.constants = [problem.offsets - noise, problem.offsets + noise]
        self.sense: list[Floats] = []

    def add_layer(self, k: int) -> None:
        problem = self.problem
        layer = problem.maps[k]
        kind, slope = problem.activations[k - 1]
        lines = relax(
            kind, slope, problem.activation_errors[k - 1], self.low, self.high, self.noise
        )
        self.lines.append(lines)
        up, down = np.maximum(layer.weights, 0), np.minimum(layer.weights, 0)
        magnitude = np.maximum(np.abs(lines.least), np.abs(lines.most))
        self.noise = layer.rounding * (magnitude @ layer.absolute + layer.bias_absolute)
        self.noise += layer.extra
        self._change(kind, slope, problem.activation_errors[k - 1], lines)
        least, most = self.least_change, self.most_change
        both = self.noise + self.noise[:, :1]
        self.least_change = least @ up + most @ down - both
        self.most_change = most @ up + least @ down + both
        low = lines.least @ up + lines.most @ down + layer.bias - self.noise
        high = lines.most @ up + lines.least @ down + layer.bias + self.noise
        self._substitute(k)
        least, most = ranges(problem.axes, self.forms[0], self.lo, self.hi)
        reach = most - least
        low = np.maximum(low, least.sum(axis=-1) + self.constants[0])
        least, most = ranges(problem.axes, self.forms[1], self.lo, self.hi)
        high = np.minimum(high, most.sum(axis=-1) + self.constants[1])
        self.reach.append(np.maximum(reach, most - least))
        self.low, self.high = low, high

    def _change(self, kind: str, slope: float, error: float, lines: Lines) -> None:
        """Bound how the activations differ from the first person's."""
        low, high = self.low[:, :1], self.high[:, :1]
        least, most = self.least_change, self.most_change
        if kind == "leaky_relu":
            # Convex: the more it rises, the further right one starts.
            start = np.where(least >= 0, low, high)
            fall = _leak(start + least, slope) - _leak(start, slope)
            start = np.where(most >= 0, high, low)
            rise = _leak(start + most, slope) - _leak(start, slope)
        else:
            steepest = 1.0 if kind == "tanh" else 0.25
            fall, rise = np.minimum(steepest * least, 0), np.maximum(steepest * most, 0)
        # Both persons' activations may be rounded.
        spread = 2 * activation_error(kind, slope, error, self.low.min(axis=1, keepdims=True))
        self.least_change = np.maximum(fall - spread, lines.least - lines.most[:, :1])
        self.most_change = np.minimum(rise + spread, lines.most - lines.least[:, :1])

    def _substitute(self, k: int) -> None:
        """Write layer k's sums as lines in the inputs."""
        problem = self.problem
        weights = problem.maps[k].weights.T
        lower, upper = weights, weights
        low = problem.maps[k].bias - self.noise
        high = problem.maps[k].bias + self.noise
        last = k == len(problem.maps) - 1
        sense = []
        for back in range(k - 1, -1, -1):
            lines = self.lines[back]
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
        self.sense = sense[::-1]
        self.forms, self.constants = [lower, upper], [low, high]

    def bounds(self) -> Bounds:
        if not self.lines:  # a linear model: its first layer decides
            score = (self.high - self.low).max(axis=(1, 2))[:, None] * 0.0 + self.reach[0].max(
                axis=(1, 2)
            )
        else:
            score = np.zeros_like(self.lo)
            for lines, sense, reach in zip(self.lines, self.sense, self.reach, strict=False):
                whole = reach.sum(axis=-1) + 1e-300
                score += ((lines.gap * sense / whole)[..., None] * reach).sum(axis=(1, 2))
        return Bounds(
            lower_form=self.forms[0],
            lower_constant=self.constants[0],
            upper_form=self.forms[1],
            upper_constant=self.constants[1],
            low=self.low,
            high=self.high,
            least_change=self.least_change,
            most_change=self.most_change,
            score=score,
        )


def _through(form: Floats, lines: Lines, *, below: bool) -> tuple[Floats, Floats]:
    """Replace activations by lines; form is (rows, units) or (boxes, persons, rows, units)."""
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


def settled(problem: Problem, bounds: Bounds) -> tuple[NDArray[np.int8], NDArray[np.intp]]:
    """Say which boxes are decided as a whole.

    Returns
    -------
    status : numpy.ndarray of int8, shape (B,)
        1 everybody in it gets one decision, 2 two persons always get different ones, 0 open.
    decision : numpy.ndarray of int, shape (B,)
        Where status is 1, the decision.
    """
    up, down = bounds.low > problem.above, bounds.high < problem.below
    wins = np.zeros((*up.shape[:2], problem.classes), dtype=np.int64)
    loses = np.zeros_like(wins, dtype=bool)
    if not problem.pairs:
        wins[..., 1], wins[..., 0] = up[..., 0], down[..., 0]
        needed = 1
        loses[..., 0], loses[..., 1] = up[..., 0], down[..., 0]
    else:
        needed = problem.classes - 1
        for place, (one, two) in enumerate(problem.pairs):
            wins[..., one] += up[..., place]
            wins[..., two] += down[..., place]
            loses[..., two] |= up[..., place]
            loses[..., one] |= down[..., place]
    sure = wins == needed
    everybody = sure.all(axis=1)
    status = np.zeros(len(up), dtype=np.int8)
    status[everybody.any(axis=1)] = 1
    # One person surely gets a class that another surely does not.
    apart = (sure.any(axis=1) & loses.any(axis=1)).any(axis=1)
    status[apart] = 2
    return status, np.asarray(everybody.argmax(axis=1), dtype=np.intp)
