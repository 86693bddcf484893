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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from testsgd.certification.proving.axes import CATEGORY, Axes, Floats
from testsgd.certification.proving.linear_bounds import Bounds, ranges
from testsgd.certification.proving.problem import Problem

# Shares that are not worth counting, see the compiled twin.
LEAST_SHARE = 1e-6
LEAST_UNFAIR = 1e-4
# More than sums of the parts of a form, and of a threshold, are rounded by: up to 4,000 axes.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class HalfSpaces:
    """Up to four half-spaces ``form @ x > threshold`` of each box; infinite where there is none.

    `forms`: shape (B, 4, columns), everybody above; everybody below; one person above; another
    below. The box's points in the first or the second get one decision, those in both the third and
    the fourth two; `thresholds`: shape (B, 4); `expected`: shape (B,), roughly the share of a box
    that the four leave undecided, if sums are normal; a guide for the search that proves nothing.
    """

    forms: Floats
    thresholds: Floats
    expected: Floats


def choose_half_spaces(problem: Problem, bounds: Bounds, lo: Floats, hi: Floats) -> HalfSpaces:
    """Choose the half-spaces that promise most.

    Everybody is above where one person's lower line is above the threshold by more than the others
    can fall short of that person; or where the mean of all lower lines is, by more than any of them
    can fall short of the mean. The better of these, person by person, is taken.

    `lo`, `hi`: shape (B, axes).
    """
    axes = problem.axes
    low, high = bounds.lower_form[:, :, 0], bounds.upper_form[:, :, 0]
    low_constant, high_constant = bounds.lower_constant[..., 0], bounds.upper_constant[..., 0]
    fall, rise = _changes(bounds)
    up_forms = np.concatenate([low, low.mean(axis=1, keepdims=True)], axis=1)
    down_forms = np.concatenate([high, high.mean(axis=1, keepdims=True)], axis=1)
    beneath, _ = ranges(axes, low - up_forms[:, -1:], lo, hi)
    _, over = ranges(axes, high - down_forms[:, -1:], lo, hi)
    # A person's own noise covers the rounding of its own form's terms, not of the others'.
    own = _magnitude(axes, low, lo, hi), _magnitude(axes, high, lo, hi)
    mean = _magnitude(axes, up_forms[:, -1:], lo, hi), _magnitude(axes, down_forms[:, -1:], lo, hi)
    shared_low = low_constant + beneath.sum(axis=2) - _ROUNDING * (own[0] + mean[0])
    shared_high = high_constant + over.sum(axis=2) + _ROUNDING * (own[1] + mean[1])
    shared_low, shared_high = shared_low.min(axis=1), shared_high.max(axis=1)
    up_thresholds = problem.above - np.column_stack([low_constant + fall, shared_low])
    down_thresholds = problem.below - np.column_stack([high_constant + rise, shared_high])
    ups = _normal_above(axes, up_forms, up_thresholds, lo, hi)
    downs = _normal_above(axes, -down_forms, -down_thresholds, lo, hi)
    rows = np.arange(len(lo))
    up, down = ups.argmax(axis=1), downs.argmax(axis=1)

    one = _normal_above(axes, low, problem.above - low_constant, lo, hi)
    other = _normal_above(axes, -high, high_constant - problem.below, lo, hi)
    both = one[:, :, None] + other[:, None, :] - 1.0
    persons = problem.persons
    both[:, np.arange(persons), np.arange(persons)] = -1.0
    pair = both.reshape(len(lo), -1).argmax(axis=1)
    above, below = pair // persons, pair % persons
    unfair = both[rows, above, below]
    worth = unfair > LEAST_UNFAIR
    forms = np.stack(
        [up_forms[rows, up], -down_forms[rows, down], low[rows, above], -high[rows, below]], axis=1
    )
    thresholds = np.column_stack(
        [
            np.where(ups[rows, up] > LEAST_SHARE, up_thresholds[rows, up], np.inf),
            np.where(downs[rows, down] > LEAST_SHARE, -down_thresholds[rows, down], np.inf),
            np.where(worth, problem.above - low_constant[rows, above], np.inf),
            np.where(worth, high_constant[rows, below] - problem.below, np.inf),
        ]
    )
    expected = 1.0 - ups[rows, up] - downs[rows, down] - np.where(worth, unfair, 0.0)
    return HalfSpaces(forms, thresholds, np.maximum(expected, 0.0))


def _magnitude(axes: Axes, forms: Floats, lo: Floats, hi: Floats) -> Floats:
    """Bound the absolute terms of forms on boxes, added up; (B, n)."""
    least, most = ranges(axes, forms, lo, hi)
    return np.asarray(np.maximum(np.abs(least), np.abs(most)).sum(axis=2))


def _changes(bounds: Bounds) -> tuple[Floats, Floats]:
    """By how much everybody's sum may fall short of, or exceed, each person's; (B, P) each."""
    least, most = bounds.least_change[..., 0], bounds.most_change[..., 0]
    persons = least.shape[1]
    fall, rise = np.zeros_like(least), np.zeros_like(most)
    for person in range(persons):
        for other in range(persons):
            if other == person:
                continue
            # The first person's own change is 0, not the rounding noise around it.
            least_other = least[:, other] if other else 0.0
            most_other = most[:, other] if other else 0.0
            least_own = least[:, person] if person else 0.0
            most_own = most[:, person] if person else 0.0
            fall[:, person] = np.minimum(fall[:, person], least_other - most_own)
            rise[:, person] = np.maximum(rise[:, person], most_other - least_own)
    return fall, rise


def _normal_above(axes: Axes, forms: Floats, thresholds: Floats, lo: Floats, hi: Floats) -> Floats:
    """Roughly the share of boxes where forms exceed thresholds, (B, n) each."""
    discrete = axes.discrete
    mean = np.zeros(thresholds.shape)
    variance = np.full(thresholds.shape, 1e-300)
    for axis, column in enumerate(axes.columns):
        width = hi[:, axis] - lo[:, axis] + 1.0
        if axes.kinds[axis] == CATEGORY:
            values = np.arange(int(axes.high[axis]) + 1)
            inside = (values >= lo[:, axis, None]) & (values <= hi[:, axis, None])
            share = (inside / width[:, None])[:, None]
            part = forms[..., column : column + len(values)]
            first = (part * share).sum(axis=2)
            mean += first
            variance += np.maximum((part**2 * share).sum(axis=2) - first**2, 0.0)
        else:
            part = forms[..., column]
            mean += part * ((lo[:, axis] + hi[:, axis]) / 2)[:, None]
            span = hi[:, axis] - lo[:, axis]
            spread = span * (span + 2.0) if discrete[axis] else span**2
            variance += part**2 * (spread / 12.0)[:, None]
    return np.asarray(ndtr((mean - thresholds) / np.sqrt(variance)))


# Rounds a quotient up (or, as divisor, down) by more than its own rounding.
_UP = 1.0 + 4e-15
# Contributions whose sum is below this count as 0: a step must not be.
_LEAST_STEPS = 1e-290


@dataclass(frozen=True)
class RoundedHalfSpace:
    """The part of one box that is counted.

    Attributes
    ----------
    axes : Axes
    lo, hi : numpy.ndarray, shape (axes,)
        The box.
    form : numpy.ndarray, shape (columns,)
    threshold : float
        The half-space is ``form @ x > threshold``.
    bins : int
        How many steps the rounded axes may reach together.
    """

    axes: Axes
    lo: Floats
    hi: Floats
    form: Floats
    threshold: float
    bins: int

    @property
    def share(self) -> float:
        """Share of the box that is counted: at most the share where the form is above."""
        # Imported here: the machine code takes a second to load.
        from testsgd.certification.proving.compiled_counting import share_above

        axes, many = self.axes, len(self.lo)
        share = share_above(
            self.form, self.threshold, self.lo, self.hi, axes.kinds, axes.columns,
            np.append(axes.edges, 0.0), np.append(axes.cumulative, 0.0), axes.starts, axes.shifts,
            self.bins, np.zeros(many, dtype=np.int64), np.zeros(many), np.zeros(self.bins + 2),
            np.zeros(self.bins + 2),
        )  # fmt: skip
        return float(share)


def round_half_space(
    axes: Axes, lo: Floats, hi: Floats, form: Floats, threshold: float, bins: int
) -> RoundedHalfSpace:
    """Lay out a half-space of a box for counting.

    Parameters
    ----------
    axes : Axes
    lo, hi : numpy.ndarray, shape (axes,)
        The box.
    form : numpy.ndarray, shape (columns,)
    threshold : float
        The half-space is ``form @ x > threshold``.
    bins : int
        How finely to round: the sum of all rounded axes makes this many steps.

    Returns
    -------
    RoundedHalfSpace

    Examples
    --------
    >>> from testsgd.certification.domain import Domain, IntegerInput
    >>> from testsgd.certification.proving.axes import lay_out
    >>> inputs = (IntegerInput("a", 0, 9), IntegerInput("b", 0, 9), IntegerInput("p", 0, 1))
    >>> axes = lay_out(Domain("example", inputs, ("p",), ((0.0,), (1.0,))))
    >>> one = np.array([1.0, 1.0])
    >>> round_half_space(axes, axes.low, axes.high, one, 9.0, 64).share  # 45 of 100
    0.449...
    """
    return RoundedHalfSpace(axes, lo, hi, form, float(threshold), bins)


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
        As for :func:`round_half_space`; an infinite threshold holds no points.

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
