"""From bounds to half-spaces: where in an open box the lines decide, and for how many points.

In a box that is not decided as a whole, many points are: those where the lower line is above the
threshold for everybody, or the upper line below it for everybody, or one person's lower line above
and another's upper line below. Each of these is a half-space of the box, or two of them, and its
points can be counted.

How many points x of a box have ``form @ x > threshold``? The axes are independent, so the sum's
distribution is a convolution. Each axis's contribution, measured from its least value, is rounded
down to a multiple of a step, and the multiples are convolved as whole numbers; the axis that
contributes most is not rounded but solved for. Rounding down can only lose points: a point is
counted if its rounded sum exceeds the threshold, and then its true sum does. With more bins the
steps are finer and fewer points are lost. The points that are counted are themselves a set, the
rounded half-space, and membership can be asked: :func:`counted_points`.

"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.certification.proving.axes import CATEGORY, Axes, Floats
from testsgd.certification.proving.linear_bounds import ranges

# At most so many assumptions are made about a box.
ASSUMPTIONS = 16
# Half-spaces of a box: everybody above, everybody below, one above, another below; assumptions.
SPACES = 4 + ASSUMPTIONS
# As the count has them, see compiled_counting: rounds a quotient up by more than its own rounding,
# and contributions whose sum is below count as 0.
_UP = 1.0 + 4e-15
_LEAST_STEPS = 1e-290


def counted_points(
    axes: Axes,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    thresholds: Floats,
    bins: Floats,
    points: Floats,
) -> NDArray[np.bool_]:
    """Return which points are counted in their box's half-space; a row a point, each its own box.

    Parameters
    ----------
    axes : Axes
    lo, hi, points : numpy.ndarray, shape (n, axes)
        A box and a point of it.
    forms : numpy.ndarray, shape (n, columns)
    thresholds, bins : numpy.ndarray, shape (n,)
        The half-space is ``form @ x > threshold``, and none of an infinite threshold holds points;
        the sum of all rounded axes makes so many steps.

    Returns
    -------
    numpy.ndarray of bool, shape (n,)
    """
    least, most = ranges(axes, forms, lo, hi)
    sizes = most - least
    plain = axes.kinds != CATEGORY
    # As the count does it, too: the ends themselves may be rounded by more than their distance.
    sizes[:, plain] = np.abs(forms[:, axes.columns[plain]]) * (hi - lo)[:, plain]
    numbers = np.where(axes.kinds == CATEGORY, -1.0, sizes)
    largest = numbers.argmax(axis=1)
    rows = np.arange(len(lo))
    solved = numbers[rows, largest] > 0
    rounded = sizes.copy()
    rounded[rows[solved], largest[solved]] = 0.0
    others = rounded.sum(axis=1)
    step = np.where(others > _LEAST_STEPS, others / bins, 1.0)
    need = thresholds - least.sum(axis=1)
    sums = np.zeros(len(lo))
    parts, _ = ranges(axes, forms, points, points)
    contributions = parts - least
    for axis in range(len(axes.kinds)):
        used = rounded[:, axis] > 0
        if axes.kinds[axis] == CATEGORY:
            steps = np.floor(contributions[:, axis] / step / _UP)
        else:
            # As the count does it: the distance from the end where the form is least.
            form = forms[:, axes.columns[axis]]
            distance = np.where(
                form < 0, hi[:, axis] - points[:, axis], points[:, axis] - lo[:, axis]
            )
            steps = np.floor(np.abs(form) / step * distance / _UP)
        sums += np.where(used, np.minimum(steps, np.floor(sizes[:, axis] / step / _UP)), 0.0)
    sums *= step / _UP
    form = forms[rows, axes.columns[largest]]
    value = points[rows, largest]
    distance = np.where(form < 0, hi[rows, largest] - value, value - lo[rows, largest])
    left = need - sums
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reached = distance > left / np.abs(form) * _UP
    above = np.where(solved, (left < 0) | reached, left < 0)
    held = np.where(need < 0, True, np.where(need >= sizes.sum(axis=1), False, above))
    return np.asarray(held & np.isfinite(thresholds))
