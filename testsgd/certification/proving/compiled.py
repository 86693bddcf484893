"""Looking at boxes one by one in machine code, for narrow networks of ReLU layers.

The same as :mod:`testsgd.certification.proving.linear_bounds` and
:mod:`testsgd.certification.proving.half_spaces`, and one thing more: where much of a box is left
undecided, it is looked at again under the assumptions of
:mod:`testsgd.certification.proving.compiled_sums`.
"""

from __future__ import annotations

import numpy as np

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.compiled_arrays import (
    SPACES,
    Flat,
    Marks,
    Scratch,
    Units,
    Views,
)
from testsgd.certification.proving.compiled_forms import axis_range
from testsgd.certification.proving.compiled_half_spaces import (
    choose_fair,
    choose_unfair,
    count_half_spaces,
)
from testsgd.certification.proving.compiled_sums import bound_sums
from testsgd.certification.proving.machine_code import compiled

__all__ = ["SPACES", "Flat", "Views", "look"]

# Assumptions are tried if more than about this share of a box is left.
_MUCH = 0.1


@compiled
def _bound_box(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    rare: float,
    known: Marks,
    units: Units,
    scratch: Scratch,
    rows: Floats,
) -> tuple[int, float]:
    """Bound a box and choose its half-spaces.

    Gives the status of the box, and roughly the share that they leave undecided.
    """
    persons = len(flat.offsets)
    for place in range(4, SPACES):
        scratch.thresholds[place] = -np.inf
    made, about = bound_sums(flat, lo, hi, rare, known, units, scratch, rows)
    if made == 0:
        ups = 0
        downs = 0
        for p in range(persons):
            if scratch.out_low[p] > flat.above:
                ups += 1
            if scratch.out_high[p] < flat.below:
                downs += 1
        if ups == persons or downs == persons:
            return 1, 0.0
        if ups > 0 and downs > 0:
            return 2, 0.0
    up, down = choose_fair(flat, lo, hi, units, scratch, rows)
    pair = choose_unfair(flat, lo, hi, scratch)
    left = 1.0 - max(up, 0.0) - max(down, 0.0) - pair
    return 0, min(max(left, 0.0) + about, 1.0)


@compiled
def _split_axis(flat: Flat, lo: Floats, hi: Floats, units: Units, scratch: Scratch) -> int:
    """Give the axis that does most to the gaps; -1 if every axis has one value."""
    axes = len(lo)
    score = scratch.score
    for d in range(axes):
        score[d] = 0.0
    for p in range(len(flat.offsets)):
        for j in range(flat.neuron_at[len(flat.sizes) - 2]):
            if units.gap[p, j] > 0.0:
                whole = 1e-300
                for d in range(axes):
                    whole += units.reach[p, j, d]
                part = units.gap[p, j] * units.sense[p, j] / whole
                for d in range(axes):
                    score[d] += part * units.reach[p, j, d]
    best = -1
    for d in range(axes):
        if hi[d] > lo[d] and (best < 0 or score[d] > score[best]):
            best = d
    if best >= 0 and score[best] <= 0.0:
        # No gap: what is left is lost to counting, so the widest part of the sum is halved.
        most = -1.0
        for d in range(axes):
            if hi[d] > lo[d]:
                a, b = axis_range(scratch.form_low[0], flat.columns[d], flat.kinds[d], lo[d], hi[d])
                if b - a > most:
                    most = b - a
                    best = d
    return best


@compiled
def _look_at_one(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    b: int,
    bins: int,
    rare: Floats,
    known: Marks,
    views: Views,
    units: Units,
    scratch: Scratch,
    rows: Floats,
) -> None:
    """Look at one box without and, if much is left, with assumptions; the better is counted."""
    status, expected = _bound_box(flat, lo, hi, 0.0, known, units, scratch, rows)
    views.status[b] = status
    views.axis[b] = -1
    views.fair[b] = 1.0 if status == 1 else 0.0
    views.unfair[b] = 1.0 if status == 2 else 0.0
    views.cover[b] = 0.0
    views.apart[b] = 3
    views.expected[b] = 0.0
    if status != 0:
        return
    views.axis[b] = _split_axis(flat, lo, hi, units, scratch)
    if expected > _MUCH:
        best = 0.0
        tried = 0.0
        for place in range(len(rare)):
            tried = rare[place] * expected
            _, left = _bound_box(flat, lo, hi, tried, known, units, scratch, rows)
            if left < expected:
                expected = left
                best = tried
        if tried != best:
            _bound_box(flat, lo, hi, best, known, units, scratch, rows)
    views.expected[b] = expected
    fair, unfair, cover, apart = count_half_spaces(flat, lo, hi, bins, scratch, rows[0])
    views.fair[b] = fair
    views.unfair[b] = unfair
    views.cover[b] = cover
    views.apart[b] = apart
    if len(views.forms) > 0:
        for place in range(SPACES):
            views.thresholds[b, place] = scratch.thresholds[place]
            views.counted[b, place] = scratch.counted[place]
            for i in range(flat.sizes[0]):
                views.forms[b, place, i] = scratch.spaces[place, i]


@compiled
def look(
    flat: Flat, lo: Floats, hi: Floats, start: int, stop: int, bins: int, rare: Floats, views: Views
) -> None:
    """Look at boxes start..stop.

    Parameters
    ----------
    flat : Flat
    lo, hi : numpy.ndarray, shape (boxes, axes)
    start, stop : int
    bins : int
        How finely to count.
    rare : numpy.ndarray
        What to try: a unit is assumed to be on one side if less than about this part, of what is
        left undecided without assumptions, is on the other. Empty: no assumptions.
    views : Views
        Filled; `forms`, `thresholds` and `counted` have a row a box, or none if not wanted.
    """
    persons = len(flat.offsets)
    axes = lo.shape[1]
    width = flat.sizes[0]
    widest = flat.sizes.max()
    neurons = flat.neuron_at[len(flat.sizes) - 2]
    shape = (persons, neurons)
    units = Units(
        np.zeros(shape), np.zeros(shape), np.zeros((persons, neurons + 1)),
        np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape),
        np.zeros(shape), np.zeros(shape), np.zeros((persons, neurons, axes)),
        np.zeros((persons, widest)), np.zeros((persons, widest)),
    )  # fmt: skip
    scratch = Scratch(
        np.zeros((persons, width)), np.zeros((persons, width)),
        np.zeros(persons), np.zeros(persons), np.zeros(persons), np.zeros(persons),
        np.zeros(widest), np.zeros(widest), np.zeros((SPACES, width)), np.zeros(SPACES),
        np.zeros(SPACES),
        np.zeros(axes), np.zeros(axes, dtype=np.int64), np.zeros(axes),
        np.zeros(bins + 2), np.zeros(bins + 2),
    )  # fmt: skip
    rows = np.zeros((4, widest))
    for b in range(start, stop):
        known = views.known[b]
        _look_at_one(flat, lo[b], hi[b], b, bins, rare, known, views, units, scratch, rows)
