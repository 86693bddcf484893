"""From bounds to half-spaces: where in an open box the lines decide, and for how many points.

In a box that is not decided as a whole, those points are for which the lower line is above the
threshold for everybody, or the upper line below it for everybody, or one person's lower line is
above and another's upper line below. Each is a half-space of the box, or two, that can be counted.

How many points x of a box have ``form @ x > threshold``? The axes are independent, so the sum's
distribution is a convolution. Each axis's contribution, measured from its least value, is rounded
down to a multiple of a step, and the multiples are convolved as whole numbers; the axis that
contributes most is solved for. Rounding down can only lose points, with more bins fewer. The points
that are counted are themselves a set, and membership can be asked: :func:`counted_points`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import Axes, Floats

# At most so many assumptions are made about a box.
ASSUMPTIONS = 16
# Half-spaces of a box: everybody above, everybody below, one above, another below; assumptions.
SPACES = 4 + ASSUMPTIONS


def counted_points(
    axes: Axes,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    thresholds: Floats,
    bins: Floats,
    points: Floats,
) -> NDArray[np.bool_]:
    """Return which of n points are counted in their box's half-space ``form @ x > threshold``.

    Contributions of axes are rounded down to steps, so a point that is counted lies in the
    half-space, and a point near its edge may not be counted.

    Parameters
    ----------
    axes : Axes
        The axes of all boxes.
    lo, hi : numpy.ndarray, shape (n, axes)
        The ends of the box of each point.
    forms : numpy.ndarray, shape (n, columns)
        The linear form of each half-space.
    thresholds : numpy.ndarray, shape (n,)
        Its threshold; a half-space of an infinite one holds no point.
    bins : numpy.ndarray, shape (n,)
        How many steps the rounded axes of the box make together at most.
    points : numpy.ndarray, shape (n, axes)
        The points.

    Returns
    -------
    numpy.ndarray of bool, shape (n,)
        Which points are counted.
    """
    # Imported here: the machine code takes a second to load.
    from testsgd.certification.proving.compiled_counting import find_counted

    counted = np.zeros(len(points), dtype=np.bool_)
    find_counted(axes.arrays, lo, hi, forms, thresholds, bins, points, counted)
    return counted
