"""What the compiled code works on: named arrays, because machine code knows no other classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import Floats
from testsgd.certification.proving.compiled_counting import Ints

Marks = NDArray[np.int8]

# At most so many assumptions are made about a box.
ASSUMPTIONS = 16
# Half-spaces of a box: everybody above, everybody below, one above, another below; assumptions.
SPACES = 4 + ASSUMPTIONS


class Flat(NamedTuple):
    """A problem for the compiled code; see :func:`_flatten` of the prover.

    `sizes` are the columns and the units of each layer; `weights` hold a row a unit, layer after
    layer from `weight_at`; units are numbered through all layers, those of layer k from
    `neuron_at[k]`. `last_absolute` are the absolute terms of the deciding sum, its bias last.
    """

    sizes: Ints
    weights: Floats
    weight_at: Ints
    neuron_at: Ints
    biases: Floats
    extra: Floats
    slopes: Floats
    rounding: Floats
    offsets: Floats
    offset_noise: Floats
    first_absolute: Floats
    last_absolute: Floats
    above: float
    below: float
    kinds: Ints
    columns: Ints
    edges: Floats
    cumulative: Floats
    starts: Ints
    shifts: Floats


class Units(NamedTuple):
    """What is known of each person's units, shape (persons, units) but for `reach`.

    `low` and `high` bound the model's own sums; `noise` is how far they lie from the exact ones;
    the activation is above ``alpha * x + under`` and below ``chord * x + over``, at most `gap`
    apart. `sense` is how much the deciding sum depends on a unit, `reach` (persons, units, axes)
    what each axis does to the width of its bounds.
    """

    low: Floats
    high: Floats
    noise: Floats
    alpha: Floats
    chord: Floats
    under: Floats
    over: Floats
    gap: Floats
    sense: Floats
    reach: Floats
    least_change: Floats
    most_change: Floats


class Views(NamedTuple):
    """Where results go, a row a box; see :class:`testsgd.certification.proving.prover.Looked`."""

    status: Marks
    fair: Floats
    unfair: Floats
    cover: Floats
    apart: Marks
    axis: Ints
    expected: Floats
    known: Marks
    forms: Floats
    thresholds: Floats
    counted: Floats


class Scratch(NamedTuple):
    """Room for one box's work."""

    form_low: Floats
    form_high: Floats
    constant_low: Floats
    constant_high: Floats
    out_low: Floats
    out_high: Floats
    next_least: Floats
    next_most: Floats
    spaces: Floats
    thresholds: Floats
    counted: Floats
    score: Floats
    order: Ints
    spans: Floats
    histogram: Floats
    other: Floats
