"""Axes of a box cut into parts on which two rounded half-spaces make constant steps, compiled.

Positions on an axis are measured from its start: those of whole numbers and categories are edges,
of which edge k is before the value k, so that a part is always between two edges.

"""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import CATEGORY, INTEGER, REAL, WEIGHTED_REAL, Floats
from testsgd.certification.proving.compiled_counting import Ints, compiled, cumulative_at

# Axes of so many values are cut into single ones.
SINGLE = 64


class AxisView(NamedTuple):
    """The axes; see :class:`testsgd.certification.proving.axes.Axes`."""

    kinds: Ints
    columns: Ints
    edges: Floats
    cumulative: Floats
    starts: Ints
    shifts: Floats


@compiled
def is_discrete(where: AxisView, axis: int) -> bool:
    """Return whether an axis holds single values."""
    return bool(where.kinds[axis] != REAL and where.kinds[axis] != WEIGHTED_REAL)


@compiled
def span_of(where: AxisView, lo: Floats, hi: Floats, axis: int) -> float:
    """Return the last position of an axis."""
    return float(hi[axis] - lo[axis] + (1.0 if is_discrete(where, axis) else 0.0))


@compiled
def measure_below(where: AxisView, lo: Floats, hi: Floats, axis: int, position: float) -> float:
    """Share of an axis of the box below a position; a whole one, if it holds single values."""
    kind = where.kinds[axis]
    if kind == INTEGER:
        return float(position / (hi[axis] - lo[axis] + 1.0))
    if kind == REAL:
        return float(position / (hi[axis] - lo[axis]))
    start = where.starts[axis]
    stop = where.starts[axis + 1]
    if kind == WEIGHTED_REAL:
        least = cumulative_at(where.edges, where.cumulative, start, stop, lo[axis])
        most = cumulative_at(where.edges, where.cumulative, start, stop, hi[axis])
        below = cumulative_at(where.edges, where.cumulative, start, stop, lo[axis] + position)
        return float(min(max((below - least) / (most - least), 0.0), 1.0))
    first = start + int(lo[axis] - where.shifts[axis])
    last = start + int(hi[axis] - where.shifts[axis]) + 1
    below = where.cumulative[first + int(position)] - where.cumulative[first]
    return float(below / (where.cumulative[last] - where.cumulative[first]))


@compiled
def place_between(
    where: AxisView, lo: Floats, hi: Floats, axis: int, left: float, right: float, uniform: float
) -> float:
    """Return the value at some part of the measure between two positions."""
    kind = where.kinds[axis]
    if kind == INTEGER:
        # Never to whole numbers of the machine, which might overflow.
        return float(lo[axis] + min(np.floor(left + uniform * (right - left)), right - 1.0))
    if kind == REAL:
        return float(min(lo[axis] + left + uniform * (right - left), hi[axis]))
    start = where.starts[axis]
    stop = where.starts[axis + 1]
    cumulative = where.cumulative
    if kind == WEIGHTED_REAL:
        below = cumulative_at(where.edges, cumulative, start, stop, lo[axis] + left)
        upto = cumulative_at(where.edges, cumulative, start, stop, lo[axis] + right)
        low = start
        high = stop - 1
    else:
        low = start + int(lo[axis] - where.shifts[axis]) + int(left)
        high = start + int(lo[axis] - where.shifts[axis]) + int(right)
        below = cumulative[low]
        upto = cumulative[high]
    target = below + uniform * (upto - below)
    # The stretch between two edges that holds the target; the last ones may weigh nothing.
    least = low
    while high - low > 1:
        middle = (low + high) // 2
        if cumulative[middle] <= target:
            low = middle
        else:
            high = middle
    while low > least and cumulative[low + 1] <= cumulative[low]:
        low -= 1
    if kind != WEIGHTED_REAL:
        return float(low - start + where.shifts[axis])
    inside = cumulative[low + 1] - cumulative[low]
    part = min((target - cumulative[low]) / inside, 1.0) if inside > 0.0 else 0.0
    value = where.edges[low] + part * (where.edges[low + 1] - where.edges[low])
    return float(min(max(value, lo[axis] + left), lo[axis] + right, hi[axis]))


# As the counts have them.
_UP = 1.0 + 4e-15
_LEAST_STEPS = 1e-290


class Workspace(NamedTuple):
    """Memory for the work on one box.

    Of each half-space `need`, `step`, the axis that is `solved`, and the `reach` of each axis. The
    parts of axis d are those from ``first[d]`` on: from position `left` to `right`, with their
    `mass` and the `steps` of each half-space. ``inside[f, k, s]`` is the
    share of ways to go on from the k-th axis in order, with s steps so far, that end in half-space
    f; `beyond` is the same for the second one after the axis in the middle.
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
        np.zeros(parts, dtype=np.int64), np.zeros(parts, dtype=np.int64), np.full(1, _UP),
    )  # fmt: skip


@compiled
def choose(weights: Floats, many: int, uniform: float) -> int:
    """Choose a place in proportion to weights; -1 if none has any. Negative ones are rounding."""
    whole = 0.0
    for place in range(many):
        whole += max(weights[place], 0.0)
    target = uniform * whole
    upto = 0.0
    chosen = -1
    for place in range(many):
        if weights[place] > 0.0:
            chosen = place
            upto += weights[place]
            if upto > target:
                break
    return chosen


@compiled
def lay_half_space(
    where: AxisView,
    lo: Floats,
    hi: Floats,
    form: Floats,
    threshold: float,
    bins: int,
    f: int,
    work: Workspace,
) -> None:
    """Lay out half-space f as it is counted; one that holds all or nothing has no axes."""
    axes = len(lo)
    sizes = work.sizes
    base = 0.0
    total = 0.0
    solved = -1
    for axis in range(axes):
        work.reach[f, axis] = 0
        c = where.columns[axis]
        if where.kinds[axis] == CATEGORY:
            least = form[c + int(lo[axis])]
            most = least
            for v in range(int(lo[axis]) + 1, int(hi[axis]) + 1):
                least = min(least, form[c + v])
                most = max(most, form[c + v])
            base += least
            sizes[axis] = most - least
        else:
            base += form[c] * lo[axis] if form[c] > 0.0 else form[c] * hi[axis]
            sizes[axis] = abs(form[c]) * (hi[axis] - lo[axis])
            if sizes[axis] > 0.0 and (solved < 0 or sizes[axis] > sizes[solved]):
                solved = axis
        total += sizes[axis]
    work.solved[f] = -1
    work.step[f] = 1.0
    work.need[f] = np.inf
    if threshold == np.inf:
        return
    need = threshold - base
    if need < 0.0:
        work.need[f] = -1.0
        return
    if need >= total:
        return
    work.need[f] = need
    work.solved[f] = solved
    others = 0.0
    for axis in range(axes):
        if axis != solved:
            others += sizes[axis]
    step = others / bins if others > _LEAST_STEPS else 1.0
    work.step[f] = step
    for axis in range(axes):
        if axis != solved:
            work.reach[f, axis] = int(sizes[axis] / step / _UP)


@compiled
def solved_edge(
    a: float, span: float, width: float, discrete: bool, need: float, step: float, s: int
) -> float:
    """Where on the axis that is solved the counted points begin, or end if it runs backwards.

    Of single numbers only: to pass the workspace takes longer than the work.
    """
    left = (need - s * step / _UP) / abs(a)
    upto = 0.0
    if left >= 0.0:
        upto = min(left * _UP, width + 1.0)
        if discrete:
            upto = floor(upto) + 1.0
        upto = min(upto, span)
    return float(span - upto if a < 0.0 else upto)


@compiled
def shares_beyond(
    where: AxisView, lo: Floats, hi: Floats, forms: Floats, f: int, top: int, work: Workspace
) -> None:
    """Share of the axis that is solved where points are counted, by the sum of steps so far."""
    axis = work.solved[f]
    a = forms[f, where.columns[axis]]
    discrete = is_discrete(where, axis)
    span = span_of(where, lo, hi, axis)
    width = hi[axis] - lo[axis]
    need = work.need[f]
    step = work.step[f]
    beyond = work.beyond[f]
    # Many sums reach the same edge.
    before = -1.0
    below = 0.0
    for s in range(top + 1):
        edge = solved_edge(a, span, width, discrete, need, step, s)
        if edge != before:
            below = measure_below(where, lo, hi, axis, edge)
            before = edge
        beyond[s] = below if a < 0.0 else 1.0 - below


@compiled
def spread_steps(f: int, axis: int, work: Workspace) -> int:
    """Add up the measure of an axis by the steps it makes; gives the most steps."""
    most = 0
    for part in range(work.first[axis], work.first[axis + 1]):
        most = max(most, work.steps[f, part])
    for q in range(most + 1):
        work.shares[q] = 0.0
    for part in range(work.first[axis], work.first[axis + 1]):
        work.shares[work.steps[f, part]] += work.mass[part]
    return int(most)


@compiled
def _step_edge(a: float, span: float, discrete: bool, step: float, reach: int, place: int) -> float:
    """Position of an edge, numbered along the axis, at which one more step begins or ends."""
    if place >= reach:
        return span
    q = reach - place if a < 0.0 else place + 1
    upto = q / (abs(a) / step) * _UP
    # Beyond the axis before it becomes a whole number of the machine, which must not overflow.
    upto = min(upto, span)
    if discrete:
        upto = min(float(ceil(upto)), span)
    return float(span - upto if a < 0.0 else upto)


@compiled
def _value_steps(
    where: AxisView,
    lo: Floats,
    hi: Floats,
    axis: int,
    form: Floats,
    f: int,
    at: int,
    work: Workspace,
) -> None:
    """Fill in how many steps each value of an axis makes."""
    many = int(hi[axis] - lo[axis]) + 1
    reach = work.reach[f, axis]
    c = where.columns[axis]
    least = np.inf
    if where.kinds[axis] == CATEGORY:
        for k in range(many):
            least = min(least, form[c + int(lo[axis]) + k])
    for k in range(many):
        if reach == 0:
            q = 0
        elif where.kinds[axis] == CATEGORY:
            q = int((form[c + int(lo[axis]) + k] - least) / work.step[f] / _UP)
        else:
            distance = many - 1 - k if form[c] < 0.0 else k
            q = int(abs(form[c]) / work.step[f] * distance / _UP)
        work.steps[f, at + k] = min(q, reach)


@compiled
def cut_axis(
    where: AxisView, lo: Floats, hi: Floats, axis: int, forms: Floats, at: int, work: Workspace
) -> int:
    """Cut an axis into parts on which both half-spaces make the same steps throughout.

    They go to place `at` and on; gives the next place.
    """
    span = span_of(where, lo, hi, axis)
    discrete = is_discrete(where, axis)
    if not discrete and span <= 0.0:
        work.left[at] = 0.0
        work.right[at] = 0.0
        work.mass[at] = 1.0
        work.steps[0, at] = 0
        work.steps[1, at] = 0
        return at + 1
    if where.kinds[axis] == CATEGORY or (discrete and span <= SINGLE):
        for f in range(2):
            _value_steps(where, lo, hi, axis, forms[f], f, at, work)
        for k in range(int(span)):
            work.left[at + k] = k
            work.right[at + k] = k + 1.0
            share = measure_below(where, lo, hi, axis, k + 1.0)
            work.mass[at + k] = share - measure_below(where, lo, hi, axis, float(k))
        return at + int(span)
    passed = work.sums
    passed[0] = 0
    passed[1] = 0
    start = 0.0
    below = 0.0
    while start < span:
        end = span
        for f in range(2):
            a = forms[f, where.columns[axis]]
            reach = work.reach[f, axis]
            edge = _step_edge(a, span, discrete, work.step[f], reach, passed[f])
            while passed[f] < reach and edge <= start:
                passed[f] += 1
                edge = _step_edge(a, span, discrete, work.step[f], reach, passed[f])
            end = min(end, edge)
        upto = measure_below(where, lo, hi, axis, end)
        work.left[at] = start
        work.right[at] = end
        work.mass[at] = upto - below
        for f in range(2):
            backwards = forms[f, where.columns[axis]] < 0.0
            work.steps[f, at] = work.reach[f, axis] - passed[f] if backwards else passed[f]
        at += 1
        start = end
        below = upto
    return at
