"""Axes of a box cut into parts on which two rounded half-spaces make constant steps, compiled.

Positions are measured from an axis's start; edge k stands before the value k of single values.
"""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import (
    CATEGORY,
    INTEGER,
    REAL,
    WEIGHTED_REAL,
    Box,
    Floats,
    Ints,
)
from testsgd.certification.proving.compiled_counting import (
    UP,
    compiled,
    cumulative_at,
    is_discrete,
    lay_out_form,
    steps_at,
)

# Axes of so many values are cut into single ones.
SINGLE = 64


@compiled
def span_of(box: Box, axis: int) -> float:
    """Return the last position of an axis."""
    return float(box.hi[axis] - box.lo[axis] + (1.0 if is_discrete(box.kinds[axis]) else 0.0))


@compiled
def measure_below(box: Box, axis: int, position: float) -> float:
    """Share of an axis of the box below a position; a whole one, if it holds single values."""
    kind = box.kinds[axis]
    lo = box.lo[axis]
    hi = box.hi[axis]
    if kind == INTEGER:
        return float(position / (hi - lo + 1.0))
    if kind == REAL:
        return float(position / (hi - lo))
    if kind == WEIGHTED_REAL:
        minimum = cumulative_at(box, axis, lo)
        maximum = cumulative_at(box, axis, hi)
        below = cumulative_at(box, axis, lo + position)
        return float(min(max((below - minimum) / (maximum - minimum), 0.0), 1.0))
    first = box.starts[axis] + int(lo - box.shifts[axis])
    last = box.starts[axis] + int(hi - box.shifts[axis]) + 1
    below = box.cumulative[first + int(position)] - box.cumulative[first]
    return float(below / (box.cumulative[last] - box.cumulative[first]))


@compiled
def value_between(box: Box, axis: int, left: float, right: float, uniform: float) -> float:
    """Return the value at some part of the measure between two positions."""
    kind = box.kinds[axis]
    lo = box.lo[axis]
    hi = box.hi[axis]
    if kind == INTEGER:
        # Never to whole numbers of the machine, which might overflow.
        return float(lo + min(np.floor(left + uniform * (right - left)), right - 1.0))
    if kind == REAL:
        return float(min(lo + left + uniform * (right - left), hi))
    start = box.starts[axis]
    cumulative = box.cumulative
    if kind == WEIGHTED_REAL:
        below = cumulative_at(box, axis, lo + left)
        upto = cumulative_at(box, axis, lo + right)
        low = start
        high = box.starts[axis + 1] - 1
    else:
        low = start + int(lo - box.shifts[axis]) + int(left)
        high = start + int(lo - box.shifts[axis]) + int(right)
        below = cumulative[low]
        upto = cumulative[high]
    target = below + uniform * (upto - below)
    # The stretch between two edges that holds the target; the last ones may weigh nothing.
    minimum = low
    while high - low > 1:
        middle = (low + high) // 2
        if cumulative[middle] <= target:
            low = middle
        else:
            high = middle
    while low > minimum and cumulative[low + 1] <= cumulative[low]:
        low -= 1
    if kind != WEIGHTED_REAL:
        return float(low - start + box.shifts[axis])
    inside = cumulative[low + 1] - cumulative[low]
    part = min((target - cumulative[low]) / inside, 1.0) if inside > 0.0 else 0.0
    value = box.edges[low] + part * (box.edges[low + 1] - box.edges[low])
    return float(min(max(value, lo + left), lo + right, hi))


class Workspace(NamedTuple):
    """Memory for the work on one box.

    Of each half-space `need`, `step`, the axis that is `solved`, and the `reach` of each axis. The
    parts of axis d are those from ``first[d]`` on: from `left` to `right`, with their `mass` and
    the `steps` of each half-space. ``inside[f, k, s]`` is the share of ways to go on from the k-th
    axis in order, with s steps so far, that end in half-space f; `beyond` after the axis in the
    middle.
    """

    need: Floats
    step: Floats
    solved: Ints
    reach: Ints
    sizes: Floats
    order: Ints
    reached: Ints
    first: Ints
    left: Floats
    right: Floats
    mass: Floats
    steps: Ints
    inside: Floats
    beyond: Floats
    tail: Floats
    shares: Floats
    cuts: Floats
    sums: Ints
    weights: Floats
    part_left: Floats
    part_right: Floats
    part_reaching: Ints
    part_of: Ints
    up: Floats


@compiled
def make_workspace(axes: int, width: int, bins: int) -> Workspace:
    """Make a workspace for boxes whose rounded axes make `bins` steps together at most."""
    steps = bins + axes + 3
    parts = 3 * steps + (SINGLE + 2) * axes + width
    return Workspace(
        np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64), np.zeros((2, axes), dtype=np.int64),
        np.zeros(axes), np.zeros(axes, dtype=np.int64), np.zeros((2, axes + 1), dtype=np.int64),
        np.zeros(axes + 1, dtype=np.int64), np.zeros(parts), np.zeros(parts), np.zeros(parts),
        np.zeros((2, parts), dtype=np.int64), np.zeros((2, axes + 1, steps)),
        np.zeros((2, steps)), np.zeros(steps + 1), np.zeros(steps), np.zeros(steps),
        np.zeros(2, dtype=np.int64), np.zeros(parts), np.zeros(parts), np.zeros(parts),
        np.zeros(parts, dtype=np.int64), np.zeros(parts, dtype=np.int64), np.full(1, UP),
    )  # fmt: skip


@compiled
def choose(weights: Floats, many: int, uniform: float) -> int:
    """Choose a place in proportion to weights; -1 if none has any. Negative ones are rounding."""
    whole = 0.0
    for index in range(many):
        whole += max(weights[index], 0.0)
    target = uniform * whole
    upto = 0.0
    chosen = -1
    for index in range(many):
        if weights[index] > 0.0:
            chosen = index
            upto += weights[index]
            if upto > target:
                break
    return chosen


@compiled
def lay_half_space(
    box: Box, form: Floats, threshold: float, bins: int, f: int, work: Workspace
) -> None:
    """Lay out half-space f as it is counted; one that holds all or nothing has no axes."""
    sizes = work.sizes
    need, step, solved = lay_out_form(form, threshold, box, bins, sizes)
    work.need[f] = need
    work.step[f] = step
    work.solved[f] = solved
    for axis in range(len(box.lo)):
        rounded = axis != solved and 0.0 <= need < np.inf
        work.reach[f, axis] = int(sizes[axis] / step / UP) if rounded else 0


@compiled
def solved_edge(
    a: float, span: float, width: float, discrete: bool, need: float, step: float, s: int
) -> float:
    """Where on the axis that is solved the counted points begin, or end if it runs backwards."""
    left = (need - s * step / UP) / abs(a)
    upto = 0.0
    if left >= 0.0:
        upto = min(left * UP, width + 1.0)
        if discrete:
            upto = floor(upto) + 1.0
        upto = min(upto, span)
    return float(span - upto if a < 0.0 else upto)


@compiled
def shares_beyond(box: Box, forms: Floats, f: int, top: int, work: Workspace) -> None:
    """Share of the axis that is solved where points are counted, by the sum of steps so far."""
    axis = work.solved[f]
    a = forms[f, box.columns[axis]]
    discrete = is_discrete(box.kinds[axis])
    span = span_of(box, axis)
    width = box.hi[axis] - box.lo[axis]
    need = work.need[f]
    step = work.step[f]
    beyond = work.beyond[f]
    # Many sums reach the same edge.
    before = -1.0
    below = 0.0
    for s in range(top + 1):
        edge = solved_edge(a, span, width, discrete, need, step, s)
        if edge != before:
            below = measure_below(box, axis, edge)
            before = edge
        beyond[s] = below if a < 0.0 else 1.0 - below


@compiled
def spread_steps(f: int, axis: int, work: Workspace) -> int:
    """Add up the measure of an axis by the steps it makes; gives the most steps."""
    maximum = 0
    for part in range(work.first[axis], work.first[axis + 1]):
        maximum = max(maximum, work.steps[f, part])
    for q in range(maximum + 1):
        work.shares[q] = 0.0
    for part in range(work.first[axis], work.first[axis + 1]):
        work.shares[work.steps[f, part]] += work.mass[part]
    return int(maximum)


@compiled
def _step_edge(a: float, span: float, discrete: bool, step: float, reach: int, index: int) -> float:
    """Position of an edge, numbered along the axis, at which one more step begins or ends."""
    if index >= reach:
        return span
    q = reach - index if a < 0.0 else index + 1
    upto = q / (abs(a) / step) * UP
    # Beyond the axis before it becomes a whole number of the machine, which must not overflow.
    upto = min(upto, span)
    if discrete:
        upto = min(float(ceil(upto)), span)
    return float(span - upto if a < 0.0 else upto)


@compiled
def _value_steps(box: Box, axis: int, form: Floats, f: int, at: int, work: Workspace) -> None:
    """Fill in how many steps each value of an axis makes."""
    reach = work.reach[f, axis]
    for k in range(int(box.hi[axis] - box.lo[axis]) + 1):
        value = box.lo[axis] + k
        q = steps_at(form, box, axis, work.step[f], reach, value) if reach > 0 else 0
        work.steps[f, at + k] = q


@compiled
def cut_axis(box: Box, axis: int, forms: Floats, at: int, work: Workspace) -> int:
    """Cut an axis, from place `at` on, into parts of constant steps; gives the next place."""
    span = span_of(box, axis)
    discrete = is_discrete(box.kinds[axis])
    if not discrete and span <= 0.0:
        work.left[at] = 0.0
        work.right[at] = 0.0
        work.mass[at] = 1.0
        work.steps[0, at] = 0
        work.steps[1, at] = 0
        return at + 1
    if box.kinds[axis] == CATEGORY or (discrete and span <= SINGLE):
        for f in range(2):
            _value_steps(box, axis, forms[f], f, at, work)
        for k in range(int(span)):
            work.left[at + k] = k
            work.right[at + k] = k + 1.0
            share = measure_below(box, axis, k + 1.0)
            work.mass[at + k] = share - measure_below(box, axis, float(k))
        return at + int(span)
    passed = work.sums
    passed[0] = 0
    passed[1] = 0
    start = 0.0
    below = 0.0
    while start < span:
        end = span
        for f in range(2):
            a = forms[f, box.columns[axis]]
            reach = work.reach[f, axis]
            edge = _step_edge(a, span, discrete, work.step[f], reach, passed[f])
            while passed[f] < reach and edge <= start:
                passed[f] += 1
                edge = _step_edge(a, span, discrete, work.step[f], reach, passed[f])
            end = min(end, edge)
        upto = measure_below(box, axis, end)
        work.left[at] = start
        work.right[at] = end
        work.mass[at] = upto - below
        for f in range(2):
            backwards = forms[f, box.columns[axis]] < 0.0
            work.steps[f, at] = work.reach[f, axis] - passed[f] if backwards else passed[f]
        at += 1
        start = end
        below = upto
    return at
