"""Boxes analysed one by one in compiled code, for narrow networks of ReLU layers."""

from __future__ import annotations

import numpy as np

from testsgd.certification.proving.axes import Box, Floats
from testsgd.certification.proving.box_bounds import BoxBounds
from testsgd.certification.proving.compiled_bounds import (
    Flat,
    Marks,
    Scratch,
    Units,
    bound_sums,
)
from testsgd.certification.proving.compiled_counting import (
    axis_range,
    compiled,
    make_box,
    make_histogram,
)
from testsgd.certification.proving.compiled_half_spaces import (
    choose_half_spaces,
    count_half_spaces,
    make_forms,
    make_spaces,
)
from testsgd.certification.proving.half_spaces import SPACES

# Assumptions are tried if more than about this share of a box is left.
_MUCH = 0.1


@compiled.inner
def _bound_box(
    flat: Flat, box: Box, rare: float, known: Marks, units: Units, scratch: Scratch
) -> tuple[int, float]:
    """Bound a box, choose its half-spaces, and return its status and roughly the undecided share.

    `rare` is the share of points below which a side is assumed not to occur; 0: no assumptions.
    """
    persons = len(flat.offsets)
    for k in range(4, SPACES):
        scratch.spaces.thresholds[k] = -np.inf
    assumptions, failing = bound_sums(flat, box, rare, known, units, scratch)
    if assumptions == 0:
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
    left = choose_half_spaces(flat.above, flat.below, box, scratch.forms, scratch.spaces)
    return 0, min(left + failing, 1.0)


@compiled.inner
def _split_axis(flat: Flat, box: Box, units: Units, scratch: Scratch) -> int:
    """Return the axis that does most to the gaps; -1 if every axis has one value.

    The score of axis d is ``sum over persons p and units j of gap[p, j] * sense[p, j] *
    reach[p, j, d] / sum over axes e of reach[p, j, e]``.
    """
    axes = len(box.lo)
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
        if box.hi[d] > box.lo[d] and (best < 0 or score[d] > score[best]):
            best = d
    if best >= 0 and score[best] <= 0.0:
        # No gap: what is left is lost to counting, so the widest part of the sum is halved.
        maximum = -1.0
        for d in range(axes):
            if box.hi[d] > box.lo[d]:
                a, b = axis_range(scratch.forms.low[0], box, d)
                if b - a > maximum:
                    maximum = b - a
                    best = d
    return best


@compiled.inner
def _analyse_box(
    flat: Flat,
    box: Box,
    b: int,
    bins: int,
    rare: Floats,
    analysed: BoxBounds,
    units: Units,
    scratch: Scratch,
) -> None:
    """Analyse box b without and, if much is left, with assumptions, and count the better way.

    Row b of the arrays in `analysed` is filled in.
    """
    known = analysed.known[b]
    status, expected = _bound_box(flat, box, 0.0, known, units, scratch)
    analysed.status[b] = status
    analysed.axis[b] = -1
    analysed.fair[b] = 1.0 if status == 1 else 0.0
    analysed.unfair[b] = 1.0 if status == 2 else 0.0
    analysed.cover[b] = 0.0
    analysed.apart[b] = 3
    analysed.expected[b] = 0.0
    if status != 0:
        return
    analysed.axis[b] = _split_axis(flat, box, units, scratch)
    if expected > _MUCH:
        best = 0.0
        tried = 0.0
        for index in range(len(rare)):
            tried = rare[index] * expected
            _, left = _bound_box(flat, box, tried, known, units, scratch)
            if left < expected:
                expected = left
                best = tried
        if tried != best:
            _bound_box(flat, box, best, known, units, scratch)
    analysed.expected[b] = expected
    spaces = scratch.spaces
    fair, unfair, cover, apart = count_half_spaces(box, bins, spaces, scratch.histogram)
    analysed.fair[b] = fair
    analysed.unfair[b] = unfair
    analysed.cover[b] = cover
    analysed.apart[b] = apart
    if len(analysed.forms) > 0:
        analysed.forms[b] = spaces.forms
        analysed.thresholds[b] = spaces.thresholds
        analysed.counted[b] = spaces.counted


@compiled
def analyse_boxes(
    flat: Flat,
    lo: Floats,
    hi: Floats,
    start: int,
    stop: int,
    bins: int,
    rare: Floats,
    analysed: BoxBounds,
) -> None:
    """Analyse boxes start to stop - 1 and fill in what is proved of them.

    `lo` and `hi` are the ends of all boxes, shape (boxes, axes) each. A unit is assumed to be on
    one side if less than about a part in `rare`, of what is left undecided without assumptions, is
    on the other; each part is tried.
    """
    persons = len(flat.offsets)
    axes = lo.shape[1]
    width = flat.sizes[0]
    widest = flat.sizes.max()
    neurons = flat.neuron_at[len(flat.sizes) - 2]
    shape = (persons, neurons)
    units = Units(
        low=np.zeros(shape),
        high=np.zeros(shape),
        noise=np.zeros((persons, neurons + 1)),
        alpha=np.zeros(shape),
        chord=np.zeros(shape),
        under=np.zeros(shape),
        over=np.zeros(shape),
        gap=np.zeros(shape),
        sense=np.zeros(shape),
        reach=np.zeros((persons, neurons, axes)),
        least_change=np.zeros((persons, widest)),
        most_change=np.zeros((persons, widest)),
    )
    scratch = Scratch(
        forms=make_forms(persons, width),
        spaces=make_spaces(width),
        histogram=make_histogram(axes, bins),
        out_low=np.zeros(persons),
        out_high=np.zeros(persons),
        next_least=np.zeros(widest),
        next_most=np.zeros(widest),
        score=np.zeros(axes),
        rows=np.zeros((4, widest)),
    )
    for b in range(start, stop):
        box = make_box(flat.axes, lo[b], hi[b])
        _analyse_box(flat, box, b, bins, rare, analysed, units, scratch)
