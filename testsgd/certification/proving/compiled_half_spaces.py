"""Which half-spaces of an open box to count, and what their counts prove, compiled.

Assumptions are half-spaces too: what is proved is less by the share of points that fail one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from testsgd.certification.proving.axes import Box, Floats
from testsgd.certification.proving.compiled_counting import (
    Histogram,
    compiled,
    form_above,
    form_range,
    form_size,
    share_above,
)
from testsgd.certification.proving.half_spaces import SPACES

# Shares that are not worth counting.
_LEAST_SHARE = 1e-6
_LEAST_UNFAIR = 1e-4
# Of sums of as many terms as there are axes.
_SUMS = 1e-14
# The same, for a sum of two forms; nine times what such sums err by.
_ROUNDING = 1e-15


class Forms(NamedTuple):
    """Lines below and above the deciding sum of each person.

    ``low[p] @ x + low_constant[p]`` is below the sum of person p, ``high[p] @ x +
    high_constant[p]`` above it; the changes bound by how much it differs from that of the first
    person.
    """

    low: Floats  # Shape (persons, columns).
    high: Floats  # Shape (persons, columns).
    low_constant: Floats  # The others have the shape (persons,).
    high_constant: Floats
    least_change: Floats
    most_change: Floats


class Spaces(NamedTuple):
    """The half-spaces ``forms[k] @ x > thresholds[k]`` of a box and the share counted in each.

    A threshold is infinite where there is no half-space, and minus infinity where no assumption.
    """

    forms: Floats  # Shape (SPACES, columns).
    thresholds: Floats  # Shape (SPACES,).
    counted: Floats  # Shape (SPACES,).
    rows: Floats  # Room for other forms, shape (4, columns).


@compiled.inner
def make_forms(persons: int, width: int) -> Forms:
    """Return room for the lines of `persons` persons, of `width` columns each."""
    shape = (persons, width)
    return Forms(
        low=np.zeros(shape),
        high=np.zeros(shape),
        low_constant=np.zeros(persons),
        high_constant=np.zeros(persons),
        least_change=np.zeros(persons),
        most_change=np.zeros(persons),
    )


@compiled
def make_spaces(width: int) -> Spaces:
    """Return room for the half-spaces of a box; no assumption is made."""
    return Spaces(
        forms=np.zeros((SPACES, width)),
        thresholds=np.full(SPACES, -np.inf),
        counted=np.zeros(SPACES),
        rows=np.zeros((4, width)),
    )


@compiled.inner
def _better(
    form: Floats, threshold: float, sign: float, box: Box, k: int, best: float, spaces: Spaces
) -> float:
    """Choose ``sign * form @ x > sign * threshold`` as half-space k if its share beats the best."""
    share = form_above(form, threshold, box)
    if sign < 0.0:
        share = 1.0 - share
    if share <= best:
        return best
    spaces.thresholds[k] = sign * threshold
    for i in range(len(form)):
        spaces.forms[k, i] = sign * form[i]
    return share


@compiled.inner
def choose_fair(
    above: float, below: float, box: Box, forms: Forms, spaces: Spaces
) -> tuple[float, float]:
    """Choose half-spaces 0 and 1: all persons above, and all below; return roughly their shares.

    All persons are above where one person's lower line is, by more than the others can fall short
    of that person; or where the mean of all lower lines is, by more than any can fall short of the
    mean. The half-space with the largest share is taken. The same holds below, by upper lines.
    """
    persons, width = forms.low.shape
    rows = spaces.rows
    axes = len(box.lo)
    best_up = -1.0
    best_down = -1.0
    for i in range(width):
        x = 0.0
        y = 0.0
        for p in range(persons):
            x += forms.low[p, i]
            y += forms.high[p, i]
        rows[0, i] = x / persons
        rows[1, i] = y / persons
    low_size = form_size(rows[0], box)
    high_size = form_size(rows[1], box)
    shared_low = np.inf
    shared_high = -np.inf
    for p in range(persons):
        for i in range(width):
            rows[2, i] = forms.low[p, i] - rows[0, i]
            rows[3, i] = forms.high[p, i] - rows[1, i]
        x, _ = form_range(rows[2], box)
        _, y = form_range(rows[3], box)
        # A person's constants cover the rounding of that person's form, not of the mean.
        x -= _SUMS * (axes + 4) * (low_size + form_size(forms.low[p], box))
        y += _SUMS * (axes + 4) * (high_size + form_size(forms.high[p], box))
        shared_low = min(shared_low, forms.low_constant[p] + x)
        shared_high = max(shared_high, forms.high_constant[p] + y)
        # By how much the others may fall short of this person, or exceed it.
        dip = 0.0
        rise = 0.0
        for q in range(persons):
            if q != p:
                dip = min(dip, forms.least_change[q] - forms.most_change[p])
                rise = max(rise, forms.most_change[q] - forms.least_change[p])
        t = above - forms.low_constant[p] - dip
        best_up = _better(forms.low[p], t, 1.0, box, 0, best_up, spaces)
        t = below - forms.high_constant[p] - rise
        best_down = _better(forms.high[p], t, -1.0, box, 1, best_down, spaces)
    best_up = _better(rows[0], above - shared_low, 1.0, box, 0, best_up, spaces)
    best_down = _better(rows[1], below - shared_high, -1.0, box, 1, best_down, spaces)
    if best_up <= _LEAST_SHARE:
        spaces.thresholds[0] = np.inf
    if best_down <= _LEAST_SHARE:
        spaces.thresholds[1] = np.inf
    return best_up, best_down


@compiled.inner
def choose_unfair(above: float, below: float, box: Box, forms: Forms, spaces: Spaces) -> float:
    """Choose half-spaces 2 and 3: one person above and another below; return roughly their share.

    Of all pairs (p, q) the one with the largest P(p above) + P(q below) - 1 is taken, by a normal
    approximation of the forms; both thresholds are infinite if no pair is worth counting.
    """
    persons, width = forms.low.shape
    best = _LEAST_UNFAIR
    upper = -1
    lower = -1
    for p in range(persons):
        up = form_above(forms.low[p], above - forms.low_constant[p], box)
        if up <= best:
            continue
        for q in range(persons):
            if q == p:
                continue
            down = 1.0 - form_above(forms.high[q], below - forms.high_constant[q], box)
            if up + down - 1.0 > best:
                best = up + down - 1.0
                upper = p
                lower = q
    spaces.thresholds[2] = np.inf
    spaces.thresholds[3] = np.inf
    if upper < 0:
        return 0.0
    for i in range(width):
        spaces.forms[2, i] = forms.low[upper, i]
        spaces.forms[3, i] = -forms.high[lower, i]
    spaces.thresholds[2] = above - forms.low_constant[upper]
    spaces.thresholds[3] = forms.high_constant[lower] - below
    return best


@compiled
def choose_half_spaces(above: float, below: float, box: Box, forms: Forms, spaces: Spaces) -> float:
    """Choose the first four half-spaces of a box; return roughly the share left undecided."""
    up, down = choose_fair(above, below, box, forms, spaces)
    pair = choose_unfair(above, below, box, forms, spaces)
    return max(1.0 - max(up, 0.0) - max(down, 0.0) - pair, 0.0)


@compiled.inner
def _count(k: int, box: Box, bins: int, spaces: Spaces, histogram: Histogram) -> float:
    """Count the points of a box in half-space k; return at most their share of the box."""
    share = share_above(spaces.forms[k], spaces.thresholds[k], box, bins, histogram)
    spaces.counted[k] = share
    return share


@compiled.inner
def _disjoint(one: int, two: int, box: Box, spaces: Spaces) -> bool:
    """Return whether two half-spaces of a box surely have no point in common, or one has none."""
    thresholds = spaces.thresholds
    if thresholds[one] == np.inf or thresholds[two] == np.inf:
        return True
    row = spaces.rows[0]
    for i in range(len(row)):
        row[i] = spaces.forms[one, i] + spaces.forms[two, i]
    # Whatever is in both has a sum of forms above the sum of thresholds.
    _, most = form_range(row, box)
    size = form_size(spaces.forms[one], box) + form_size(spaces.forms[two], box)
    size += abs(thresholds[one]) + abs(thresholds[two])
    # With room for the rounding of these sums.
    reached = most + _ROUNDING * (len(box.lo) + 4) * size
    return bool(reached < thresholds[one] + thresholds[two])


@compiled
def count_half_spaces(
    box: Box, bins: int, spaces: Spaces, histogram: Histogram
) -> tuple[float, float, float, int]:
    """Count the chosen half-spaces, and return what is proved of the box.

    With c0 to c3 the counted shares and ``lost`` the sum of the shares that fail an assumption, the
    four numbers are

    - the share that is surely fair: ``c0 + c1 - lost`` if "all above" and "all below" are disjoint,
      else ``max(c0 - lost, 0) + max(c1 - lost, 0)``,
    - the share that is surely unfair: ``c2 + c3 - 1 - lost``,
    - at most the sum of the shares of the pieces that cover the rest, see search.disjoint_cover,
    - which half-spaces are surely disjoint: 1 if 0 and 1 are, 2 if 1 and 2 are and 0 and 3 are, 3
      if both holds, 0 if neither.

    Shares are of the box, and none is below 0.
    """
    thresholds = spaces.thresholds
    for k in range(SPACES):
        spaces.counted[k] = 0.0
    lost = 0.0
    for k in range(4, SPACES):
        if thresholds[k] == -np.inf:
            break
        lost += 1.0 - _count(k, box, bins, spaces, histogram)
        if lost >= 1.0:
            return 0.0, 0.0, 1.0, 0
    for k in range(2):
        if thresholds[k] < np.inf:
            _count(k, box, bins, spaces, histogram)
    above = spaces.counted[0]
    below = spaces.counted[1]
    # Everything holds only for those for whom every assumption does. Half-spaces that contradict
    # each other may have common points among the others.
    apart = 3
    if lost > 0.0:
        apart = 1 if _disjoint(0, 1, box, spaces) else 0
        if _disjoint(1, 2, box, spaces) and _disjoint(0, 3, box, spaces):
            apart += 2
    if apart % 2 == 1:
        fair = above + below - lost
        cover = 1.0 - above - below + lost
    else:
        # Common points are lost to both.
        fair = max(above - lost, 0.0) + max(below - lost, 0.0)
        cover = 1.0 - max(above, below) + lost
    fair = min(max(fair, 0.0), 1.0)
    unfair = 0.0
    if thresholds[2] < np.inf:
        one = _count(2, box, bins, spaces, histogram)
        other = _count(3, box, bins, spaces, histogram)
        unfair = min(max(one + other - 1.0 - lost, 0.0), 1.0 - fair)
        if apart == 3 and unfair > 0.0:
            cover = min(cover, 2.0 - above - below - one - other + lost)
    return fair, unfair, min(max(cover, 0.0), 1.0), apart
