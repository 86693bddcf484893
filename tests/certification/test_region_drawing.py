"""Points are drawn outside of rounded half-spaces: all of them, alike, and no others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from drawing_ways import WAYS, Floats, disjoint_half_spaces, draw, drawing, members
from scipy.stats import chi2_contingency, chisquare

from testsgd.certification.domain import (
    CategoryInput,
    Domain,
    DomainInput,
    IntegerInput,
    Marginal,
    RealInput,
)
from testsgd.certification.proving import Axes
from testsgd.certification.proving.axes import lay_out
from testsgd.certification.search import draw_points


def axes_of(inputs: list[DomainInput], marginals: dict[str, Marginal]) -> Axes:
    compared = IntegerInput("p", 0, 1)
    return lay_out(Domain("drawn", (*inputs, compared), ("p",), ((0.0,), (1.0,)), marginals))


def small_axes(generator: np.random.Generator) -> Axes:
    """Draw one to four axes of a few values, some of them with weights, and some of those 0."""
    inputs: list[DomainInput] = []
    marginals = {}
    for place in range(generator.integers(1, 5)):
        name, size, low = f"x{place}", int(generator.integers(2, 8)), int(generator.integers(-3, 4))
        if generator.random() < 0.6:
            inputs.append(IntegerInput(name, low, low + size - 1))
        else:
            inputs.append(CategoryInput(name, tuple("abcdefgh"[:size])))
        if generator.random() < 0.4:
            counts = generator.integers(0, 4, size)
            counts[generator.integers(size)] += 1
            cumulative = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
            marginals[name] = Marginal(np.arange(size + 1.0), cumulative)
    return axes_of(inputs, marginals)


def everybody(axes: Axes, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """List the points of a box, and the share of each."""
    values = [np.arange(a, b + 1) for a, b in zip(lo, hi, strict=True)]
    parts = [
        axes.part(axis, int(kind), values[axis], values[axis])
        for axis, kind in enumerate(axes.kinds)
    ]
    points = np.array(list(itertools.product(*values)))
    weights = np.array([np.prod(each) for each in itertools.product(*parts)])
    return points, weights / weights.sum()


def some_box(axes: Axes, generator: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw a box that weighs something; often the whole domain."""
    while True:
        first, last = axes.low.astype(int), axes.high.astype(int)
        ends = generator.integers(first, last + 1, (2, len(first)))
        lo, hi = ends.min(axis=0).astype(float), ends.max(axis=0).astype(float)
        wide = generator.random(len(lo)) < 0.8
        lo, hi = np.where(wide, axes.low, lo), np.where(wide, axes.high, hi)
        if axes.shares(lo[None], hi[None])[0] > 0:
            return lo, hi


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_all_points_outside_are_drawn_alike_and_no_others(way: str) -> None:
    module = drawing(way)
    many, tested = (10_000, 0) if way == "machine" else (2_000, 0)
    for seed in range(80 if way == "machine" else 25):
        generator = np.random.default_rng(seed)
        axes = small_axes(generator)
        lo, hi = some_box(axes, generator)
        people, weights = everybody(axes, lo, hi)
        forms, thresholds = disjoint_half_spaces(axes, people, generator)
        bins = int(generator.choice([3, 48, 200]))
        outside = ~members(axes, lo, hi, forms, thresholds, bins, people).any(axis=0)
        mass = float(weights[outside].sum())
        if mass < 1e-12:
            continue
        uniforms = generator.random((many, len(lo) + 1, 2))
        # The mass is that of the points outside, to the last digits.
        uniforms[0, -1, 0], uniforms[1, -1, 0] = mass * (1 - 1e-9), mass * (1 + 1e-9)
        _, drawn = draw(module, axes, lo, hi, forms, thresholds, bins, 1.0, uniforms[:2])
        assert drawn.tolist() == [True, False]
        uniforms[:, -1] = 0.0
        points, drawn = draw(module, axes, lo, hi, forms, thresholds, bins, 1.0, uniforms)
        assert drawn.all()
        place = {tuple(person): row for row, person in enumerate(people)}
        rows = np.array([place[tuple(point)] for point in points])
        assert outside[rows].all()
        chosen = np.flatnonzero(outside & (weights > 0))
        counts = np.bincount(rows, minlength=len(people))[chosen]
        assert counts.sum() == many
        if len(chosen) > 1:
            assert chisquare(counts, weights[chosen] / mass * many).pvalue > 1e-6
            tested += 1
    assert tested > (45 if way == "machine" else 12)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_drawn_if_nothing_is_outside(way: str) -> None:
    module, generator = drawing(way), np.random.default_rng(0)
    axes = axes_of([IntegerInput("a", 0, 9), CategoryInput("c", ("x", "y", "z"))], {})
    uniforms = generator.random((50, 3, 2))
    forms = np.array([[1.0, 0.0, 2.0, 5.0], [-1.0, 0.0, 0.0, 0.0]])
    for thresholds in ([-1.0, np.inf], [np.inf, -10.0], [4.5, -4.5]):
        given = forms if thresholds[0] != 4.5 else np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]])
        _, drawn = draw(
            module, axes, axes.low, axes.high, given, np.array(thresholds), 48, 1.0, uniforms
        )
        assert not drawn.any()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["integer", "real", "weighted integer", "weighted real"])
def test_long_axes_against_rejection(kind: str, way: str) -> None:
    # More values than there are steps, so parts of axes are drawn first, and real numbers.
    module, tested = drawing(way), 0
    for seed in range(12 if way == "machine" else 4):
        generator = np.random.default_rng(seed)
        inputs: list[DomainInput] = []
        marginals = {}
        for place in range(3):
            name, high = f"x{place}", int(generator.integers(100, 400))
            if "integer" in kind:
                inputs.append(IntegerInput(name, -5, high - 6))
                positions = np.arange(high + 1.0)
            else:
                inputs.append(RealInput(name, -5.0, float(high - 6)))
                positions = np.linspace(-5.0, high - 6, 8)
            if "weighted" in kind:
                steps = generator.random(len(positions) - 1)
                steps *= generator.random(len(steps)) < 0.7
                steps[0] += 0.1
                upto = np.concatenate([[0.0], np.cumsum(steps)])
                marginals[name] = Marginal(positions, upto / upto[-1])
        inputs.append(CategoryInput("c", ("u", "v", "w")))
        axes = axes_of(inputs, marginals)
        lo, hi = axes.low.copy(), axes.high.copy()
        lo[1], hi[2] = 7.0, 60.0
        if axes.shares(lo[None], hi[None])[0] == 0:
            continue
        # What is not compiled runs the same lines, some hundred times slower.
        many, more = (6_000 if way == "machine" else 2_000), 40_000
        wide = np.tile(lo, (more, 1)), np.tile(hi, (more, 1))
        people = draw_points(axes, *wide, generator)
        forms, thresholds = disjoint_half_spaces(axes, people, generator)
        # A point that was not tried may be in both.
        if np.isfinite(thresholds).all():
            thresholds[1] += 20.0
        bins = int(generator.choice([3, 48]))
        inside = members(axes, lo, hi, forms, thresholds, bins, people)
        outside = ~inside.any(axis=0)
        if outside.mean() < 0.05:
            continue
        uniforms = generator.random((many, len(lo) + 1, 2))
        points, drawn = draw(module, axes, lo, hi, forms, thresholds, bins, 1.0, uniforms)
        points = points[drawn]
        error = 5 * np.sqrt(outside.mean() * (1 - outside.mean()) * (1 / many + 1 / more))
        assert abs(drawn.mean() - outside.mean()) <= error + 1e-3
        assert not members(axes, lo, hi, forms, thresholds, bins, points).any()
        assert ((points >= lo) & (points <= hi)).all()
        # Against points of the box from which those inside were thrown away: each axis, and each
        # half-space's own form, in ten cells.
        for of in (*np.eye(len(lo)), *generator.normal(size=(2, len(lo)))):
            expected, found = people[outside] @ of, points @ of
            cells = np.unique(np.quantile(expected, np.linspace(0.1, 0.9, 9)))
            table = np.array(
                [
                    np.bincount(np.searchsorted(cells, side), minlength=len(cells) + 1)
                    for side in (expected, found)
                ]
            )
            table = table[:, table.sum(axis=0) > 0]
            assert chi2_contingency(table).pvalue > 1e-7
            tested += 1
    assert tested > (30 if way == "machine" else 5)
