"""Axes of a box cut into parts on which two rounded half-spaces make constant steps, compiled.

The same as :mod:`testsgd.certification.proving.drawing_parts`, in machine code.
"""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import CATEGORY, Floats
from testsgd.certification.proving.compiled_counting import Ints
from testsgd.certification.proving.compiled_measures import is_discrete, measure_below, span_of
from testsgd.certification.proving.drawing_parts import SINGLE, Where
from testsgd.certification.proving.machine_code import compiled

# As the counts have them.
_UP = 1.0 + 4e-15
_LEAST_STEPS = 1e-290


class Room(NamedTuple):
    """Room for the work on one box.

    Of each half-space `need`, `step`, the axis that is `solved`, and the `reach` of each axis. The
    parts of axis d are those from ``first[d]`` on: from position `left` to `right`, with their
    `mass` and the `steps` of each half-space. The tables are those of the plain twin.
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
def make_room(axes: int, width: int, bins: int) -> Room:
    """Make room for boxes whose rounded axes make `bins` steps together at most."""
    steps = bins + axes + 3
    parts = 3 * steps + (SINGLE + 2) * axes + width
    return Room(
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
    where: Where,
    lo: Floats,
    hi: Floats,
    form: Floats,
    threshold: float,
    bins: int,
    f: int,
    room: Room,
) -> None:
    """Lay out half-space f as it is counted; one that holds all or nothing has no axes."""
    axes = len(lo)
    sizes = room.sizes
    base = 0.0
    total = 0.0
    solved = -1
    for axis in range(axes):
        room.reach[f, axis] = 0
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
    room.solved[f] = -1
    room.step[f] = 1.0
    room.need[f] = np.inf
    if threshold == np.inf:
        return
    need = threshold - base
    if need < 0.0:
        room.need[f] = -1.0
        return
    if need >= total:
        return
    room.need[f] = need
    room.solved[f] = solved
    others = 0.0
    for axis in range(axes):
        if axis != solved:
            others += sizes[axis]
    step = others / bins if others > _LEAST_STEPS else 1.0
    room.step[f] = step
    for axis in range(axes):
        if axis != solved:
            room.reach[f, axis] = int(sizes[axis] / step / _UP)


@compiled
def solved_edge(
    a: float, span: float, width: float, discrete: bool, need: float, step: float, s: int
) -> float:
    """Where on the axis that is solved the counted points begin, or end if it runs backwards.

    Of single numbers only: to pass the room takes longer than the work.
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
    where: Where, lo: Floats, hi: Floats, forms: Floats, f: int, top: int, room: Room
) -> None:
    """Share of the axis that is solved where points are counted, by the sum of steps so far."""
    axis = room.solved[f]
    a = forms[f, where.columns[axis]]
    discrete = is_discrete(where, axis)
    span = span_of(where, lo, hi, axis)
    width = hi[axis] - lo[axis]
    need = room.need[f]
    step = room.step[f]
    beyond = room.beyond[f]
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
def spread_steps(f: int, axis: int, room: Room) -> int:
    """Add up the measure of an axis by the steps it makes; gives the most steps."""
    most = 0
    for part in range(room.first[axis], room.first[axis + 1]):
        most = max(most, room.steps[f, part])
    for q in range(most + 1):
        room.shares[q] = 0.0
    for part in range(room.first[axis], room.first[axis + 1]):
        room.shares[room.steps[f, part]] += room.mass[part]
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
    where: Where, lo: Floats, hi: Floats, axis: int, form: Floats, f: int, at: int, room: Room
) -> None:
    """Fill in how many steps each value of an axis makes."""
    many = int(hi[axis] - lo[axis]) + 1
    reach = room.reach[f, axis]
    c = where.columns[axis]
    least = np.inf
    if where.kinds[axis] == CATEGORY:
        for k in range(many):
            least = min(least, form[c + int(lo[axis]) + k])
    for k in range(many):
        if reach == 0:
            q = 0
        elif where.kinds[axis] == CATEGORY:
            q = int((form[c + int(lo[axis]) + k] - least) / room.step[f] / _UP)
        else:
            distance = many - 1 - k if form[c] < 0.0 else k
            q = int(abs(form[c]) / room.step[f] * distance / _UP)
        room.steps[f, at + k] = min(q, reach)


@compiled
def cut_axis(
    where: Where, lo: Floats, hi: Floats, axis: int, forms: Floats, at: int, room: Room
) -> int:
    """Cut an axis into parts on which both half-spaces make the same steps throughout.

    They go to place `at` and on; gives the next place.
    """
    span = span_of(where, lo, hi, axis)
    discrete = is_discrete(where, axis)
    if not discrete and span <= 0.0:
        room.left[at] = 0.0
        room.right[at] = 0.0
        room.mass[at] = 1.0
        room.steps[0, at] = 0
        room.steps[1, at] = 0
        return at + 1
    if where.kinds[axis] == CATEGORY or (discrete and span <= SINGLE):
        for f in range(2):
            _value_steps(where, lo, hi, axis, forms[f], f, at, room)
        for k in range(int(span)):
            room.left[at + k] = k
            room.right[at + k] = k + 1.0
            share = measure_below(where, lo, hi, axis, k + 1.0)
            room.mass[at + k] = share - measure_below(where, lo, hi, axis, float(k))
        return at + int(span)
    passed = room.sums
    passed[0] = 0
    passed[1] = 0
    start = 0.0
    below = 0.0
    while start < span:
        end = span
        for f in range(2):
            a = forms[f, where.columns[axis]]
            reach = room.reach[f, axis]
            edge = _step_edge(a, span, discrete, room.step[f], reach, passed[f])
            while passed[f] < reach and edge <= start:
                passed[f] += 1
                edge = _step_edge(a, span, discrete, room.step[f], reach, passed[f])
            end = min(end, edge)
        upto = measure_below(where, lo, hi, axis, end)
        room.left[at] = start
        room.right[at] = end
        room.mass[at] = upto - below
        for f in range(2):
            backwards = forms[f, where.columns[axis]] < 0.0
            room.steps[f, at] = room.reach[f, axis] - passed[f] if backwards else passed[f]
        at += 1
        start = end
        below = upto
    return at
