"""Boxes with half-spaces, drawn for tests, and their exact shares by trying every point."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from testsgd.certification.domain import CategoryInput, Domain, IntegerInput, Marginal
from testsgd.certification.proving import Axes
from testsgd.certification.proving.axes import lay_out

Floats = NDArray[np.float64]

# A form's sum is rounded in float64; whoever makes a threshold leaves room for that.
ROUNDING = 1e-13

_FACTORS = st.one_of(
    st.sampled_from((0.0, 1.0, -1.0, 0.5, 1 / 3, -0.1, 100.0, -1e6, 1e-9, 5e-324, -1e-310)),
    st.floats(-3, 3),
)


@dataclass(frozen=True)
class Cut:
    """A box of axes that hold single values, and a form with a threshold."""

    axes: Axes
    lo: Floats
    hi: Floats
    form: Floats
    threshold: float

    def points(self) -> tuple[Floats, Floats]:
        """List the box's points, and their shares of the box."""
        values = [np.arange(a, b + 1) for a, b in zip(self.lo, self.hi, strict=True)]
        points = np.array(list(itertools.product(*values))).reshape(-1, len(self.lo))
        parts = []
        for axis, kind in enumerate(self.axes.kinds):
            of_domain = self.axes.part(axis, int(kind), values[axis], values[axis])
            whole = of_domain.sum()
            parts.append(of_domain / whole if whole > 0 else of_domain)
        weights = np.array([np.prod(each) for each in itertools.product(*parts)])
        return points, weights

    def sums(self, points: Floats) -> Floats:
        """Compute the form at points."""
        total = np.zeros(len(points))
        for axis, column in enumerate(self.axes.columns):
            if self.axes.kinds[axis] == 2:
                total += self.form[column + points[:, axis].astype(int)]
            else:
                total += self.form[column] * points[:, axis]
        return total

    def exact(self) -> float:
        """Share of points above the threshold, or not below it by more than rounding."""
        points, weights = self.points()
        sums = self.sums(points)
        room = ROUNDING * (np.abs(self.form).sum() * (1 + np.abs(points).max()))
        return float(weights[sums > self.threshold - room].sum())


@st.composite
def cuts(draw: st.DrawFn, *, most_axes: int = 3, largest: int = 9) -> Cut:
    """Draw whole numbers and categories, weighted or not, a box of them, and a form."""
    inputs: list[IntegerInput | CategoryInput] = []
    marginals = {}
    for place in range(draw(st.integers(1, most_axes))):
        size = draw(st.integers(1, largest))
        name = f"x{place}"
        low = draw(st.sampled_from((0, -3, 17, 10**6)))
        if draw(st.booleans()):
            inputs.append(IntegerInput(name, low, low + size - 1))
        else:
            inputs.append(CategoryInput(name, tuple("abcdefghi"[: max(size, 2)])))
            size = max(size, 2)
        if draw(st.booleans()):
            # Zeros make stretches that weigh nothing.
            counts = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any))
            cumulative = np.concatenate([[0.0], np.cumsum(counts)]) / sum(counts)
            marginals[name] = Marginal(np.arange(size + 1.0), cumulative)
    domain = Domain(
        "drawn", (*inputs, IntegerInput("p", 0, 1)), ("p",), ((0.0,), (1.0,)), marginals
    )
    axes = lay_out(domain)
    ends = [
        sorted(draw(st.tuples(*[st.integers(int(low), int(high))] * 2)))
        for low, high in zip(axes.low, axes.high, strict=True)
    ]
    lo, hi = np.array(ends, dtype=float).T.copy()
    form = np.array(draw(st.lists(_FACTORS, min_size=axes.width, max_size=axes.width)))
    cut = Cut(axes, lo, hi, form, 0.0)
    points, _ = cut.points()
    # A threshold at a point's sum, so that there is a tie, or beside it.
    at = float(cut.sums(points[[draw(st.integers(0, len(points) - 1))]])[0])
    threshold = at + draw(st.sampled_from((0.0, 0.0, 1e-3, -1e-3, 0.4)))
    return Cut(axes, lo, hi, form, threshold)


def counted_share(
    axes: Axes, lo: Floats, hi: Floats, form: Floats, threshold: float, bins: int
) -> float:
    """Count the points of a box in one half-space, as the prover does; gives their share."""
    from testsgd.certification.proving import compiled_counting as machine

    box = machine.make_box(axes.arrays, lo, hi)
    histogram = machine.make_histogram(len(lo), bins)
    return float(machine.share_above(form, float(threshold), box, bins, histogram))
