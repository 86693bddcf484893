"""Drawing points of a box outside of one or two rounded half-spaces, exactly and without rejection.

Each axis adds a whole number of steps (:mod:`testsgd.certification.proving.half_spaces`). So for
each sum of steps it can be counted, from the last axis backwards, which share of the ways to go on
ends inside; of two half-spaces without common points these add up. A point is drawn axis by axis,
each part in proportion to its measure times the share that ends outside: ancestral sampling.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import AxisArrays, Box, Floats, Ints
from testsgd.certification.proving.compiled_axis_parts import (
    Workspace,
    choose,
    cut_axis,
    lay_half_space,
    make_workspace,
    measure_below,
    shares_beyond,
    solved_edge,
    span_of,
    spread_steps,
    value_between,
)
from testsgd.certification.proving.compiled_counting import compiled, is_discrete, make_box


class Plan(NamedTuple):
    """The axes in the order in which they are drawn, and the share of the box outside of both.

    First the `many` axes that neither half-space solves, then `middle`, which only the first one
    solves, then `last`; -1 if there is none.
    """

    many: int
    middle: int
    last: int
    mass: float


@compiled.inner
def _order_axes(axes: int, middle: int, last: int, work: Workspace) -> int:
    """Order the axes that neither half-space solves, those of few steps first; return how many."""
    many = 0
    for axis in range(axes):
        if axis in (last, middle):
            continue
        index = many
        steps = work.reach[0, axis] + work.reach[1, axis]
        while index > 0:
            before = work.order[index - 1]
            if work.reach[0, before] + work.reach[1, before] <= steps:
                break
            work.order[index] = before
            index -= 1
        work.order[index] = axis
        many += 1
    return many


@compiled.inner
def _go_back(table: Floats, ahead: Floats, shares: Floats, maximum: int, top: int) -> None:
    """Fill a table of `inside` from the one after it, for 0 to `top` steps so far.

    It is ``table[s] = sum over q of shares[q] * ahead[s + q]``, computed in new memory, so that
    several numbers are added at once.
    """
    many = top + 1
    filled = np.zeros(many)
    for q in range(maximum + 1):
        share = shares[q]
        if share > 0.0:
            for s in range(many):
                filled[s] += share * ahead[s + q]
    for s in range(many):
        table[s] = filled[s]


@compiled.inner
def _prepare(box: Box, forms: Floats, work: Workspace) -> Plan:
    """Fill `first`, `order`, `reached`, `inside`, `beyond` and `tail`, and return the plan.

    Both half-spaces must be laid out. The share outside of both is ``1 - inside[0, 0, 0] -
    inside[1, 0, 0]``, as they have no point in common.
    """
    axes = len(box.lo)
    last = work.solved[1] if work.solved[1] >= 0 else work.solved[0]
    middle = work.solved[0] if work.solved[0] != last else -1
    many = _order_axes(axes, middle, last, work)
    at = 0
    for axis in range(axes):
        work.first[axis] = at
        at = cut_axis(box, axis, forms, at, work)
    work.first[axes] = at
    work.reached[0, 0] = 0
    work.reached[1, 0] = 0
    for k in range(many):
        for f in range(2):
            work.reached[f, k + 1] = work.reached[f, k] + work.reach[f, work.order[k]]
    for f in range(2):
        top = work.reached[f, many]
        if work.solved[f] < 0:
            for s in range(top + 1):
                counted = s * work.step[f] / work.up[0] > work.need[f]
                work.inside[f, many, s] = 1.0 if counted else 0.0
            continue
        # The axis that the other one solves is one of the rounded axes.
        maximum = 0
        if middle >= 0:
            maximum = spread_steps(f, last if f == 0 else middle, work)
        shares_beyond(box, forms, f, top + maximum, work)
        if middle < 0:
            work.shares[0] = 1.0
        _go_back(work.inside[f, many], work.beyond[f], work.shares, maximum, top)
        if f == 0 and middle >= 0:
            work.tail[maximum + 1] = 0.0
            for q in range(maximum, -1, -1):
                work.tail[q] = work.tail[q + 1] + work.shares[q]
    for k in range(many - 1, -1, -1):
        for f in range(2):
            maximum = spread_steps(f, work.order[k], work)
            _go_back(
                work.inside[f, k], work.inside[f, k + 1], work.shares, maximum, work.reached[f, k]
            )
    mass = max(1.0 - work.inside[0, 0, 0] - work.inside[1, 0, 0], 0.0)
    return Plan(many, middle, last, mass)


@compiled.inner
def _draw_middle(
    box: Box, forms: Floats, plan: Plan, uniforms: Floats, point: Floats, work: Workspace
) -> int:
    """Draw on the axis that only the first half-space solves.

    Gives with how many steps on the last axis the first one is reached; -1 if nothing is left.
    """
    axis = plan.middle
    a = forms[0, box.columns[axis]]
    backwards = a < 0.0
    discrete = is_discrete(box.kinds[axis])
    span = span_of(box, axis)
    width = box.hi[axis] - box.lo[axis]
    maximum = 0
    for part in range(work.first[plan.last], work.first[plan.last + 1]):
        maximum = max(maximum, work.steps[0, part])
    # Where one more step on the last axis would reach; ascending.
    for q in range(maximum + 1):
        edge = solved_edge(a, span, width, discrete, work.need[0], work.step[0], work.sums[0] + q)
        work.cuts[q if backwards else maximum - q] = edge
    passed = 0
    many = 0
    for part in range(work.first[axis], work.first[axis + 1]):
        start = work.left[part]
        stop = work.right[part]
        while passed <= maximum and work.cuts[passed] <= start:
            passed += 1
        while start < stop:
            end = stop
            if passed <= maximum:
                end = min(end, work.cuts[passed])
            # More steps reach further, so those that do not reach a part are the fewest.
            reaching = passed if backwards else maximum + 1 - passed
            share = measure_below(box, axis, end)
            share -= measure_below(box, axis, start)
            outside = 1.0 - work.tail[reaching]
            outside -= work.beyond[1, work.sums[1] + work.steps[1, part]]
            work.weights[many] = share * outside
            work.part_left[many] = start
            work.part_right[many] = end
            work.part_reaching[many] = reaching
            work.part_of[many] = part
            many += 1
            start = end
            while passed <= maximum and work.cuts[passed] <= start:
                passed += 1
    chosen = choose(work.weights, many, uniforms[axis, 0])
    if chosen < 0:
        return -1
    work.sums[1] += work.steps[1, work.part_of[chosen]]
    point[axis] = value_between(
        box, axis, work.part_left[chosen], work.part_right[chosen], uniforms[axis, 1]
    )
    return int(work.part_reaching[chosen])


@compiled.inner
def _draw_last(
    box: Box,
    forms: Floats,
    plan: Plan,
    reaching: int,
    uniforms: Floats,
    point: Floats,
    work: Workspace,
) -> bool:
    """Write into `point` a value of the axis that is solved last; False if no part is left.

    What the other axes have added up to leaves the positions from `start` to `stop`. Parts within
    them are chosen in proportion to their measure there, by ``uniforms[axis, 0]``, and the value
    within the part by ``uniforms[axis, 1]``. Where there is an axis in the middle, parts in which
    the first half-space makes `reaching` steps or more are left out.
    """
    axis = plan.last
    discrete = is_discrete(box.kinds[axis])
    span = span_of(box, axis)
    start = work.left[work.first[axis]]
    stop = work.right[work.first[axis + 1] - 1]
    for f in range(2):
        if work.solved[f] != axis:
            continue
        a = forms[f, box.columns[axis]]
        edge = solved_edge(
            a, span, box.hi[axis] - box.lo[axis], discrete, work.need[f], work.step[f], work.sums[f]
        )
        if a < 0.0:
            start = max(start, edge)
        else:
            stop = min(stop, edge)
    many = 0
    for part in range(work.first[axis], work.first[axis + 1]):
        left = max(work.left[part], start)
        right = min(work.right[part], stop)
        if left >= right or (plan.middle >= 0 and work.steps[0, part] >= reaching):
            continue
        share = measure_below(box, axis, right)
        work.weights[many] = share - measure_below(box, axis, left)
        work.part_left[many] = left
        work.part_right[many] = right
        many += 1
    chosen = choose(work.weights, many, uniforms[axis, 0])
    if chosen < 0:
        return False
    point[axis] = value_between(
        box, axis, work.part_left[chosen], work.part_right[chosen], uniforms[axis, 1]
    )
    return True


@compiled.inner
def _draw_one(
    box: Box, forms: Floats, plan: Plan, uniforms: Floats, point: Floats, work: Workspace
) -> bool:
    """Draw one point; False if rounding leaves none."""
    sums = work.sums
    sums[0] = 0
    sums[1] = 0
    for k in range(plan.many):
        axis = work.order[k]
        first = work.first[axis]
        many = work.first[axis + 1] - first
        for index in range(many):
            part = first + index
            outside = 1.0 - work.inside[0, k + 1, sums[0] + work.steps[0, part]]
            outside -= work.inside[1, k + 1, sums[1] + work.steps[1, part]]
            work.weights[index] = work.mass[part] * outside
        chosen = choose(work.weights, many, uniforms[axis, 0])
        if chosen < 0:
            return False
        part = first + chosen
        sums[0] += work.steps[0, part]
        sums[1] += work.steps[1, part]
        point[axis] = value_between(box, axis, work.left[part], work.right[part], uniforms[axis, 1])
    reaching = 0
    if plan.middle >= 0:
        reaching = _draw_middle(box, forms, plan, uniforms, point, work)
        if reaching < 0:
            return False
    if plan.last < 0:
        return True
    return bool(_draw_last(box, forms, plan, reaching, uniforms, point, work))


@compiled
def draw_outside(
    axes: AxisArrays,
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
    """Draw points outside of two half-spaces that have no point in common, in several groups.

    Groups `start` to `stop` - 1 are drawn, each from its own box with its own half-spaces.

    The ends of boxes have the shape (groups, axes), `forms` (groups, 2, columns), `thresholds`
    (groups, 2), an infinite one for no points. `masses` are at least the share outside: a draw
    fails with the probability by which it is exceeded. The draws of group g are numbered from
    ``firsts[g]`` to ``firsts[g + 1]`` - 1; `uniforms`, shape (draws, axes + 1, 2), are random.
    Filled are `points` (draws, axes) and `drawn`, 1 for a point, else 0.
    """
    count = lo.shape[1]
    maximum = 0
    for group in range(start, stop):
        maximum = max(maximum, int(bins[group]))
    work = make_workspace(count, forms.shape[2], maximum)
    for group in range(start, stop):
        box = make_box(axes, lo[group], hi[group])
        for f in range(2):
            form = forms[group, f]
            lay_half_space(box, form, thresholds[group, f], floor(bins[group]), f, work)
        plan = _prepare(box, forms[group], work)
        for draw in range(firsts[group], firsts[group + 1]):
            drawn[draw] = 0.0
            if uniforms[draw, count, 0] * masses[group] >= plan.mass:
                continue
            if _draw_one(box, forms[group], plan, uniforms[draw], points[draw], work):
                drawn[draw] = 1.0
