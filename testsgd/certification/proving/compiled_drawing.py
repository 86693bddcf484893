"""Drawing points of a box outside of one or two rounded half-spaces, compiled.

The same as :mod:`testsgd.certification.proving.drawing`, in machine code. See there for how.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.compiled_counting import Ints
from testsgd.certification.proving.compiled_drawing_parts import (
    Room,
    choose,
    cut_axis,
    lay_half_space,
    make_room,
    shares_beyond,
    solved_edge,
    spread_steps,
)
from testsgd.certification.proving.compiled_measures import (
    is_discrete,
    measure_below,
    place_between,
    span_of,
)
from testsgd.certification.proving.drawing_parts import Where
from testsgd.certification.proving.machine_code import compiled


class Plan(NamedTuple):
    """The axes in the order in which they are drawn, see the plain twin."""

    many: int
    middle: int
    last: int
    mass: float


@compiled
def _order_axes(axes: int, middle: int, last: int, room: Room) -> int:
    """Put axes that nobody solves in order, those that make few steps first; gives how many."""
    many = 0
    for axis in range(axes):
        if axis in (last, middle):
            continue
        place = many
        steps = room.reach[0, axis] + room.reach[1, axis]
        while place > 0:
            before = room.order[place - 1]
            if room.reach[0, before] + room.reach[1, before] <= steps:
                break
            room.order[place] = before
            place -= 1
        room.order[place] = axis
        many += 1
    return many


@compiled
def _go_back(table: Floats, ahead: Floats, shares: Floats, most: int, top: int) -> None:
    """Fill a table from the one after it; in new room, so that the machine adds many at once."""
    many = top + 1
    filled = np.zeros(many)
    for q in range(most + 1):
        share = shares[q]
        if share > 0.0:
            for s in range(many):
                filled[s] += share * ahead[s + q]
    for s in range(many):
        table[s] = filled[s]


@compiled
def _prepare(where: Where, lo: Floats, hi: Floats, forms: Floats, room: Room) -> Plan:
    """Count the ways to go on, once both half-spaces are laid out."""
    axes = len(lo)
    last = room.solved[1] if room.solved[1] >= 0 else room.solved[0]
    middle = room.solved[0] if room.solved[0] != last else -1
    many = _order_axes(axes, middle, last, room)
    at = 0
    for axis in range(axes):
        room.first[axis] = at
        at = cut_axis(where, lo, hi, axis, forms, at, room)
    room.first[axes] = at
    room.reached[0, 0] = 0
    room.reached[1, 0] = 0
    for k in range(many):
        for f in range(2):
            room.reached[f, k + 1] = room.reached[f, k] + room.reach[f, room.order[k]]
    for f in range(2):
        top = room.reached[f, many]
        if room.solved[f] < 0:
            for s in range(top + 1):
                held = s * room.step[f] / room.up[0] > room.need[f]
                room.inside[f, many, s] = 1.0 if held else 0.0
            continue
        # The axis that the other one solves is one of the rounded axes.
        most = 0
        if middle >= 0:
            most = spread_steps(f, last if f == 0 else middle, room)
        shares_beyond(where, lo, hi, forms, f, top + most, room)
        if middle < 0:
            room.shares[0] = 1.0
        _go_back(room.inside[f, many], room.beyond[f], room.shares, most, top)
        if f == 0 and middle >= 0:
            room.tail[most + 1] = 0.0
            for q in range(most, -1, -1):
                room.tail[q] = room.tail[q + 1] + room.shares[q]
    for k in range(many - 1, -1, -1):
        for f in range(2):
            most = spread_steps(f, room.order[k], room)
            _go_back(
                room.inside[f, k], room.inside[f, k + 1], room.shares, most, room.reached[f, k]
            )
    mass = max(1.0 - room.inside[0, 0, 0] - room.inside[1, 0, 0], 0.0)
    return Plan(many, middle, last, mass)


@compiled
def _draw_middle(
    where: Where,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    plan: Plan,
    uniforms: Floats,
    point: Floats,
    room: Room,
) -> int:
    """Draw on the axis that only the first half-space solves.

    Gives with how many steps on the last axis the first half-space is reached; -1 if nothing is
    left to be drawn.
    """
    axis = plan.middle
    a = forms[0, where.columns[axis]]
    backwards = a < 0.0
    discrete = is_discrete(where, axis)
    span = span_of(where, lo, hi, axis)
    most = 0
    for part in range(room.first[plan.last], room.first[plan.last + 1]):
        most = max(most, room.steps[0, part])
    # Where one more step on the last axis would reach; ascending.
    for q in range(most + 1):
        edge = solved_edge(
            a, span, hi[axis] - lo[axis], discrete, room.need[0], room.step[0], room.sums[0] + q
        )
        room.cuts[q if backwards else most - q] = edge
    passed = 0
    many = 0
    for part in range(room.first[axis], room.first[axis + 1]):
        start = room.left[part]
        stop = room.right[part]
        while passed <= most and room.cuts[passed] <= start:
            passed += 1
        while start < stop:
            end = stop
            if passed <= most:
                end = min(end, room.cuts[passed])
            # More steps reach further, so those that do not reach a part are the fewest.
            reaching = passed if backwards else most + 1 - passed
            share = measure_below(where, lo, hi, axis, end)
            share -= measure_below(where, lo, hi, axis, start)
            outside = 1.0 - room.tail[reaching]
            outside -= room.beyond[1, room.sums[1] + room.steps[1, part]]
            room.weights[many] = share * outside
            room.part_left[many] = start
            room.part_right[many] = end
            room.part_reaching[many] = reaching
            room.part_of[many] = part
            many += 1
            start = end
            while passed <= most and room.cuts[passed] <= start:
                passed += 1
    chosen = choose(room.weights, many, uniforms[axis, 0])
    if chosen < 0:
        return -1
    room.sums[1] += room.steps[1, room.part_of[chosen]]
    point[axis] = place_between(
        where, lo, hi, axis, room.part_left[chosen], room.part_right[chosen], uniforms[axis, 1]
    )
    return int(room.part_reaching[chosen])


@compiled
def _draw_last(
    where: Where,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    plan: Plan,
    reaching: int,
    uniforms: Floats,
    point: Floats,
    room: Room,
) -> bool:
    """Draw on the axis that is solved last; False if nothing is left to be drawn."""
    axis = plan.last
    discrete = is_discrete(where, axis)
    span = span_of(where, lo, hi, axis)
    start = room.left[room.first[axis]]
    stop = room.right[room.first[axis + 1] - 1]
    for f in range(2):
        if room.solved[f] != axis:
            continue
        a = forms[f, where.columns[axis]]
        edge = solved_edge(
            a, span, hi[axis] - lo[axis], discrete, room.need[f], room.step[f], room.sums[f]
        )
        if a < 0.0:
            start = max(start, edge)
        else:
            stop = min(stop, edge)
    many = 0
    for part in range(room.first[axis], room.first[axis + 1]):
        left = max(room.left[part], start)
        right = min(room.right[part], stop)
        if left >= right or (plan.middle >= 0 and room.steps[0, part] >= reaching):
            continue
        share = measure_below(where, lo, hi, axis, right)
        room.weights[many] = share - measure_below(where, lo, hi, axis, left)
        room.part_left[many] = left
        room.part_right[many] = right
        many += 1
    chosen = choose(room.weights, many, uniforms[axis, 0])
    if chosen < 0:
        return False
    point[axis] = place_between(
        where, lo, hi, axis, room.part_left[chosen], room.part_right[chosen], uniforms[axis, 1]
    )
    return True


@compiled
def _draw_one(
    where: Where,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    plan: Plan,
    uniforms: Floats,
    point: Floats,
    room: Room,
) -> bool:
    """Draw one point; False if rounding leaves none."""
    sums = room.sums
    sums[0] = 0
    sums[1] = 0
    for k in range(plan.many):
        axis = room.order[k]
        first = room.first[axis]
        many = room.first[axis + 1] - first
        for place in range(many):
            part = first + place
            outside = 1.0 - room.inside[0, k + 1, sums[0] + room.steps[0, part]]
            outside -= room.inside[1, k + 1, sums[1] + room.steps[1, part]]
            room.weights[place] = room.mass[part] * outside
        chosen = choose(room.weights, many, uniforms[axis, 0])
        if chosen < 0:
            return False
        part = first + chosen
        sums[0] += room.steps[0, part]
        sums[1] += room.steps[1, part]
        point[axis] = place_between(
            where, lo, hi, axis, room.left[part], room.right[part], uniforms[axis, 1]
        )
    reaching = 0
    if plan.middle >= 0:
        reaching = _draw_middle(where, lo, hi, forms, plan, uniforms, point, room)
        if reaching < 0:
            return False
    if plan.last < 0:
        return True
    return bool(_draw_last(where, lo, hi, forms, plan, reaching, uniforms, point, room))


@compiled
def draw_outside(
    where: Where,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    thresholds: Floats,
    bins: Floats,
    masses: Floats,
    firsts: Ints,
    start: int,
    stop: int,
    uniforms: Floats,
    points: Floats,
    drawn: Floats,
) -> None:
    """Draw points outside of groups start..stop of two half-spaces, as the plain twin does."""
    axes = lo.shape[1]
    most = 0
    for group in range(start, stop):
        most = max(most, int(bins[group]))
    room = make_room(axes, forms.shape[2], most)
    for group in range(start, stop):
        for f in range(2):
            lay_half_space(
                where, lo[group], hi[group], forms[group, f], thresholds[group, f],
                floor(bins[group]), f, room,
            )  # fmt: skip
        plan = _prepare(where, lo[group], hi[group], forms[group], room)
        for draw in range(firsts[group], firsts[group + 1]):
            drawn[draw] = 0.0
            if uniforms[draw, axes, 0] * masses[group] >= plan.mass:
                continue
            if _draw_one(
                where, lo[group], hi[group], forms[group], plan, uniforms[draw], points[draw], room
            ):
                drawn[draw] = 1.0
