"""Drawing points of a box outside of one or two rounded half-spaces, exactly and without rejection.

What is counted in a half-space is a set of points that can be told, because each axis adds a whole
number of steps (:mod:`testsgd.certification.proving.counting`). So for each sum of steps so far it
can be counted, axis by axis from the last one backwards, which share of all ways to go on ends
inside. Of two half-spaces without common points these shares add up, and what is left of 1 ends
outside of both. A point is drawn axis by axis, each part of an axis in proportion to its measure
times the share of ways to go on from there that end outside: ancestral sampling.

With numba the compiled twin is used, :mod:`testsgd.certification.proving.compiled_drawing`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.drawing_parts import (
    Ints,
    Laid,
    Parts,
    Where,
    choose,
    cut_axis,
    lay_half_space,
    measure_below,
    place_between,
    span_of,
)

__all__ = ["Tables", "Where", "draw_outside", "prepare"]


class Tables(NamedTuple):
    """All that is needed to draw points of one box outside of two half-spaces.

    `order` are the axes that neither half-space solves, in the order in which they are drawn, with
    their `parts`; then comes `middle`, the axis that the first one solves if the second one solves
    another, and then `last`; -1 if there is none. ``inside[f, k, s]`` is the share of ways to go on
    from place k of the order, with s steps so far, that end in half-space f. `beyond` is the same
    for the second one after the axis in the middle. `mass` is the share of the box outside of both.
    """

    one: Laid
    two: Laid
    order: Ints
    parts: list[Parts]
    middle: int
    middle_parts: Parts
    last: int
    last_parts: Parts
    tail: Floats
    inside: Floats
    beyond: Floats
    mass: float


def _solved_edges(where: Where, lo: Floats, hi: Floats, laid: Laid, sums: Floats) -> Floats:
    """Where on the axis that is solved the counted points begin, or end if it runs backwards."""
    axis = laid.solved
    span, discrete = span_of(where, lo, hi, axis)
    a = laid.form[where.columns[axis]]
    left = (laid.need - sums * laid.step / laid.up) / abs(a)
    upto = np.minimum(np.maximum(left, 0.0) * laid.up, hi[axis] - lo[axis] + 1.0)
    if discrete:
        upto = np.floor(upto) + 1.0
    upto = np.minimum(np.where(left < 0.0, 0.0, upto), span)
    return span - upto if a < 0.0 else upto


def _share_beyond(where: Where, lo: Floats, hi: Floats, laid: Laid, sums: Floats) -> Floats:
    """Share of the axis that is solved, where points with some sums so far are counted."""
    below = measure_below(where, lo, hi, laid.solved, _solved_edges(where, lo, hi, laid, sums))
    return below if laid.form[where.columns[laid.solved]] < 0.0 else 1.0 - below


def _ends(
    where: Where, lo: Floats, hi: Floats, laid: Laid, most: int, other: int, each: Floats
) -> Floats:
    """Share of what is counted, by the steps of all axes that nobody solves."""
    if laid.solved < 0:
        sums = np.arange(most + 1, dtype=np.float64)
        return np.where(sums * laid.step / laid.up > laid.need, 1.0, 0.0)
    if other < 0 or other == laid.solved:
        return _share_beyond(where, lo, hi, laid, np.arange(most + 1, dtype=np.float64))
    # The other half-space's axis is one of the rounded axes of this one.
    sums = np.arange(most + len(each), dtype=np.float64)
    beyond: Floats = _share_beyond(where, lo, hi, laid, sums)
    return np.asarray(np.correlate(beyond, each, "valid"))


def prepare(
    where: Where,
    lo: Floats,
    hi: Floats,
    form: Floats,
    threshold: float,
    other_form: Floats,
    other_threshold: float,
    bins: int,
) -> Tables:
    """Count the ways to go on, for drawing points of a box outside of two half-spaces.

    Parameters
    ----------
    where : Where
        The axes.
    lo, hi : numpy.ndarray, shape (axes,)
        The box.
    form, other_form : numpy.ndarray, shape (columns,)
        The half-spaces are ``form @ x > threshold``, rounded as they are counted. They must have no
        point in common.
    threshold, other_threshold : float
        Infinite: there are no such points.
    bins : int
        How finely they are rounded.

    Returns
    -------
    Tables
    """
    axes = len(lo)
    one = lay_half_space(where, lo, hi, form, threshold, bins)
    two = lay_half_space(where, lo, hi, other_form, other_threshold, bins)
    last = two.solved if two.solved >= 0 else one.solved
    middle = one.solved if one.solved != last else -1
    order = np.zeros(axes, dtype=np.int64)
    many = 0
    for axis in range(axes):
        if axis in (last, middle):
            continue
        # Narrow axes first: few sums are reached before the wide ones.
        place = many
        steps = one.reach[axis] + two.reach[axis]
        while place > 0 and one.reach[order[place - 1]] + two.reach[order[place - 1]] > steps:
            order[place] = order[place - 1]
            place -= 1
        order[place] = axis
        many += 1
    order = order[:many]
    parts = [cut_axis(where, lo, hi, int(axis), one, two) for axis in order]
    reached = np.zeros((2, many + 1), dtype=np.int64)
    for k in range(many):
        reached[0, k + 1] = reached[0, k] + one.reach[order[k]]
        reached[1, k + 1] = reached[1, k] + two.reach[order[k]]
    middle_parts = cut_axis(where, lo, hi, max(middle, 0), one, two)
    last_parts = cut_axis(where, lo, hi, max(last, 0), one, two)
    each: Floats = np.ones(1)
    other_each: Floats = np.ones(1)
    if middle >= 0:
        each = np.asarray(np.bincount(last_parts.one, last_parts.mass), dtype=np.float64)
        other_each = np.asarray(np.bincount(middle_parts.two, middle_parts.mass), dtype=np.float64)
    inside = np.zeros((2, many + 1, max(reached[0, many], reached[1, many]) + 1))
    most = reached[0, many]
    inside[0, many, : most + 1] = _ends(where, lo, hi, one, most, last, each)
    most = reached[1, many]
    inside[1, many, : most + 1] = _ends(where, lo, hi, two, most, middle, other_each)
    beyond = np.zeros(1)
    tail = np.zeros(1)
    if middle >= 0:
        sums = np.arange(most + len(other_each), dtype=np.float64)
        beyond = _share_beyond(where, lo, hi, two, sums)
        tail = np.concatenate((np.cumsum(each[::-1])[::-1], np.zeros(1)))
    for k in range(many - 1, -1, -1):
        for f in range(2):
            steps = parts[k].one if f == 0 else parts[k].two
            shares = np.bincount(steps, parts[k].mass)
            # No further than what can be reached, and what the steps that occur lead to.
            upto = reached[f, k] + len(shares)
            inside[f, k, : reached[f, k] + 1] = np.correlate(
                inside[f, k + 1, :upto], shares, "valid"
            )
    mass = max(1.0 - inside[0, 0, 0] - inside[1, 0, 0], 0.0)
    return Tables(
        one, two, order, parts, middle, middle_parts, last, last_parts, tail, inside, beyond, mass
    )


def _draw_middle(
    where: Where, lo: Floats, hi: Floats, tables: Tables, sums: Ints, first: float, second: float
) -> tuple[float, int]:
    """Draw on the axis that only the first half-space solves.

    Adds the second's steps to the sums; gives the value, and with how many steps on the last axis
    the first half-space is reached: -1 steps if nothing is left to be drawn.
    """
    axis, parts = tables.middle, tables.middle_parts
    more = np.arange(len(tables.tail) - 1, dtype=np.float64)
    cuts = np.sort(_solved_edges(where, lo, hi, tables.one, sums[0] + more))
    edges = np.sort(np.concatenate((parts.edges, cuts)))
    left, right = edges[:-1], edges[1:]
    backwards = tables.one.form[where.columns[axis]] < 0.0
    # More steps reach further, so those that do not reach a part are the fewest.
    if backwards:
        reaching = np.searchsorted(cuts, right, "left")
    else:
        reaching = len(cuts) - np.searchsorted(cuts, left, "right")
    of = np.searchsorted(parts.edges, left, "right") - 1
    of = np.minimum(of, len(parts.mass) - 1)
    steps = parts.two[of]
    outside = 1.0 - tables.tail[reaching] - tables.beyond[sums[1] + steps]
    below = measure_below(where, lo, hi, axis, edges)
    chosen = choose((below[1:] - below[:-1]) * outside, first)
    if chosen < 0:
        return lo[axis], -1
    sums[1] += steps[chosen]
    value = place_between(where, lo, hi, axis, left[chosen], right[chosen], second)
    return value, int(reaching[chosen])


def _draw_last(
    where: Where,
    lo: Floats,
    hi: Floats,
    tables: Tables,
    sums: Ints,
    reaching: int,
    first: float,
    second: float,
) -> tuple[float, bool]:
    """Draw on the axis that is solved last; gives the value, and whether there is one."""
    axis, parts = tables.last, tables.last_parts
    start, stop = parts.edges[0], parts.edges[-1]
    for f in range(2):
        laid = tables.one if f == 0 else tables.two
        if laid.solved != axis:
            continue
        edge = _solved_edges(where, lo, hi, laid, np.full(1, sums[f] * 1.0))[0]
        if laid.form[where.columns[axis]] < 0.0:
            start = max(start, edge)
        else:
            stop = min(stop, edge)
    if start > stop:
        return lo[axis], False
    edges = np.minimum(np.maximum(parts.edges, start), stop)
    below = measure_below(where, lo, hi, axis, edges)
    mass = below[1:] - below[:-1]
    if tables.middle >= 0:
        mass = np.where(parts.one < reaching, mass, 0.0)
    chosen = choose(mass, first)
    if chosen < 0:
        return lo[axis], False
    return place_between(where, lo, hi, axis, edges[chosen], edges[chosen + 1], second), True


def _draw_one(
    where: Where, lo: Floats, hi: Floats, tables: Tables, uniforms: Floats, point: Floats
) -> bool:
    """Draw one point; False if rounding leaves none."""
    sums = np.zeros(2, dtype=np.int64)
    for k in range(len(tables.order)):
        axis, parts = tables.order[k], tables.parts[k]
        outside = (
            1.0
            - tables.inside[0, k + 1][sums[0] + parts.one]
            - tables.inside[1, k + 1][sums[1] + parts.two]
        )
        chosen = choose(parts.mass * outside, uniforms[axis, 0])
        if chosen < 0:
            return False
        sums[0] += parts.one[chosen]
        sums[1] += parts.two[chosen]
        point[axis] = place_between(
            where, lo, hi, axis, parts.edges[chosen], parts.edges[chosen + 1], uniforms[axis, 1]
        )
    reaching = 0
    if tables.middle >= 0:
        axis = tables.middle
        point[axis], reaching = _draw_middle(
            where, lo, hi, tables, sums, uniforms[axis, 0], uniforms[axis, 1]
        )
        if reaching < 0:
            return False
    if tables.last < 0:
        return True
    axis = tables.last
    point[axis], drawn = _draw_last(
        where, lo, hi, tables, sums, reaching, uniforms[axis, 0], uniforms[axis, 1]
    )
    return bool(drawn)


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
    """Draw points outside of groups start..stop of two half-spaces.

    Parameters
    ----------
    where : Where
    lo, hi : numpy.ndarray, shape (groups, axes)
        The box of each group.
    forms, thresholds : numpy.ndarray, shape (groups, 2, columns) and (groups, 2)
        As for :func:`prepare`.
    bins, masses : numpy.ndarray, shape (groups,)
        How finely is counted; at least the share of the box that is outside. A draw in so many as
        exceeds that share gives no point.
    firsts : numpy.ndarray of int, shape (groups + 1,)
        Where the draws of each group start.
    start, stop : int
        Groups.
    uniforms : numpy.ndarray, shape (draws, axes + 1, 2)
        Random numbers from 0 to 1.
    points : numpy.ndarray, shape (draws, axes)
        Filled.
    drawn : numpy.ndarray, shape (draws,)
        Filled: 1 if there is a point, else 0.

    Examples
    --------
    Of the numbers from 0 to 9 those that are not above 7.5, and not below 1.5:

    >>> none = np.zeros(0)
    >>> axis = Where(np.zeros(1, int), np.zeros(1, int), none, none, np.zeros(2, int), np.zeros(1))
    >>> lo, hi = np.array([[0.0]]), np.array([[9.0]])
    >>> forms, thresholds = np.array([[[1.0], [-1.0]]]), np.array([[7.5, -1.5]])
    >>> uniforms = np.random.default_rng(0).random((100, 2, 2))
    >>> points, drawn = np.zeros((100, 1)), np.zeros(100)
    >>> draw_outside(axis, lo, hi, forms, thresholds, np.array([48.0]), np.array([0.6]),
    ...              np.array([0, 100]), 0, 1, uniforms, points, drawn)
    >>> sorted({int(x) for x in points[:, 0]}), int(drawn.sum())
    ([2, 3, 4, 5, 6, 7], 100)
    """
    for group in range(start, stop):
        tables = prepare(
            where, lo[group], hi[group], forms[group, 0], thresholds[group, 0],
            forms[group, 1], thresholds[group, 1], int(bins[group]),
        )  # fmt: skip
        for draw in range(firsts[group], firsts[group + 1]):
            drawn[draw] = 0.0
            if uniforms[draw, len(lo[group]), 0] * masses[group] >= tables.mass:
                continue
            if _draw_one(where, lo[group], hi[group], tables, uniforms[draw], points[draw]):
                drawn[draw] = 1.0
