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


@compiled.inner
def span_of(box: Box, axis: int) -> float:
    """Return the last position of an axis."""
    return float(box.hi[axis] - box.lo[axis] + (1.0 if is_discrete(box.kinds[axis]) else 0.0))


@compiled.inner
def measure_below(box: Box, axis: int, position: float) -> float:
    """Return the share of an axis of the box below a position.

    The position is a whole number if the axis holds single values.
    """
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


@compiled.inner
def value_between(box: Box, axis: int, left: float, right: float, uniform: float) -> float:
    """Return the value with the part `uniform` of the measure between two positions below it.

    With the measure F below a position it is the x for which ``F(x) = F(left) + uniform * (F(right)
    - F(left))``; of single values it is the one whose stretch from F(x) to F(x + 1) holds that.
    """
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
    """Memory for the work on one box with two half-spaces, numbered f = 0 and 1.

    Axes are cut into parts; those of axis d are numbered from ``first[d]`` to ``first[d + 1]``,
    at most P in all. A sum of steps is below S.
    """

    need: Floats  # What the sum of contributions must exceed, shape (2,).
    step: Floats  # Size of a step, shape (2,).
    solved: Ints  # The axis that is solved for, -1 if there is none; shape (2,).
    reach: Ints  # The most steps of each axis, shape (2, axes).
    sizes: Floats  # How much each axis contributes at most, of one half-space; shape (axes,).
    order: Ints  # The axes that neither half-space solves, those of few steps first; (axes,).
    reached: Ints  # The most steps of the first k axes in order, shape (2, axes + 1).
    first: Ints  # The first part of each axis, shape (axes + 1,).
    left: Floats  # Where a part begins, shape (P,),
    right: Floats  # where it ends,
    mass: Floats  # and its share of the axis.
    steps: Ints  # The steps that a part makes, shape (2, P).
    # inside[f, k, s]: the share of ways to go on from the k-th axis in order, with s steps so far,
    # that end in half-space f; shape (2, axes + 1, S).
    inside: Floats
    # beyond[f, s]: the share of the axis that f solves where points are counted, with s steps so
    # far; shape (2, S).
    beyond: Floats
    # tail[q]: the share of the last axis on which half-space 0 makes at least q steps; (S + 1,).
    tail: Floats
    shares: Floats  # The share of an axis that makes q steps, shape (S,).
    # Where the axis in the middle is cut, by what the last axis must still reach; shape (S,).
    cuts: Floats
    sums: Ints  # Steps so far, shape (2,).
    weights: Floats  # Of the parts to choose from, shape (P,); the next four belong to these.
    part_left: Floats  # Where such a part begins,
    part_right: Floats  # and ends.
    part_reaching: Ints  # From how many steps on the last axis reaches half-space 0.
    part_of: Ints  # The part of the axis that it lies in.
    up: Floats  # The constant UP, in an array; shape (1,).


@compiled.inner
def make_workspace(axes: int, width: int, bins: int) -> Workspace:
    """Return a workspace for boxes whose rounded axes make at most `bins` steps together."""
    steps = bins + axes + 3
    parts = 3 * steps + (SINGLE + 2) * axes + width
    return Workspace(
        need=np.zeros(2),
        step=np.zeros(2),
        solved=np.zeros(2, dtype=np.int64),
        reach=np.zeros((2, axes), dtype=np.int64),
        sizes=np.zeros(axes),
        order=np.zeros(axes, dtype=np.int64),
        reached=np.zeros((2, axes + 1), dtype=np.int64),
        first=np.zeros(axes + 1, dtype=np.int64),
        left=np.zeros(parts),
        right=np.zeros(parts),
        mass=np.zeros(parts),
        steps=np.zeros((2, parts), dtype=np.int64),
        inside=np.zeros((2, axes + 1, steps)),
        beyond=np.zeros((2, steps)),
        tail=np.zeros(steps + 1),
        shares=np.zeros(steps),
        cuts=np.zeros(steps),
        sums=np.zeros(2, dtype=np.int64),
        weights=np.zeros(parts),
        part_left=np.zeros(parts),
        part_right=np.zeros(parts),
        part_reaching=np.zeros(parts, dtype=np.int64),
        part_of=np.zeros(parts, dtype=np.int64),
        up=np.full(1, UP),
    )


@compiled.inner
def choose(weights: Floats, many: int, uniform: float) -> int:
    """Return one of the first `many` indices, in proportion to its weight; -1 if none has any.

    Negative weights come from rounding and count as 0. `uniform` is a random number from 0 to 1.
    """
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


@compiled.inner
def lay_half_space(
    box: Box, form: Floats, threshold: float, bins: int, f: int, work: Workspace
) -> None:
    """Fill in `need`, `step`, `solved` and `reach` of half-space f, as it is counted.

    If it holds all points or none, no axis makes steps.
    """
    sizes = work.sizes
    need, step, solved = lay_out_form(form, threshold, box, bins, sizes)
    work.need[f] = need
    work.step[f] = step
    work.solved[f] = solved
    for axis in range(len(box.lo)):
        rounded = axis != solved and 0.0 <= need < np.inf
        work.reach[f, axis] = int(sizes[axis] / step / UP) if rounded else 0


@compiled.inner
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


@compiled.inner
def shares_beyond(box: Box, forms: Floats, f: int, top: int, work: Workspace) -> None:
    """Fill `beyond` with the counted share of the solved axis, for 0 to `top` steps so far."""
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


@compiled.inner
def spread_steps(f: int, axis: int, work: Workspace) -> int:
    """Fill `shares` with the share of an axis that makes q steps; return the most steps."""
    maximum = 0
    for part in range(work.first[axis], work.first[axis + 1]):
        maximum = max(maximum, work.steps[f, part])
    for q in range(maximum + 1):
        work.shares[q] = 0.0
    for part in range(work.first[axis], work.first[axis + 1]):
        work.shares[work.steps[f, part]] += work.mass[part]
    return int(maximum)


@compiled.inner
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


@compiled.inner
def _value_steps(box: Box, axis: int, form: Floats, f: int, at: int, work: Workspace) -> None:
    """Fill in how many steps each value of an axis makes."""
    reach = work.reach[f, axis]
    for k in range(int(box.hi[axis] - box.lo[axis]) + 1):
        value = box.lo[axis] + k
        q = steps_at(form, box, axis, work.step[f], reach, value) if reach > 0 else 0
        work.steps[f, at + k] = q


@compiled.inner
def cut_axis(box: Box, axis: int, forms: Floats, at: int, work: Workspace) -> int:
    """Cut an axis into parts of constant steps, numbered from `at` on; return the next number.

    For each part k it writes the ends ``left[k]`` and ``right[k]``, the share of the axis
    ``mass[k]``, and the steps of both half-spaces ``steps[0, k]`` and ``steps[1, k]``. `forms` has
    the shape (2, columns). A part ends where either half-space makes one more step; categories and
    axes of few values have a part for each value.
    """
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
