"""The drawing of points outside of half-spaces; compiled and as it is written."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from testsgd import _machine_code
from testsgd.certification.proving import Axes, counted_points

Floats = NDArray[np.float64]


def drawing(way: str) -> ModuleType:
    """Return the module that draws, compiled or as it is written."""
    if way == "machine":
        return importlib.import_module(f"{_PROVING}.compiled_drawing")
    # Loaded as if there were no numba, and put back as it was.
    loaded = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(_NAMES)}
    _machine_code._warn_once.cache_clear()
    with pytest.MonkeyPatch.context() as patch, pytest.warns(RuntimeWarning, match="uncompiled"):  # noqa: PT031
        patch.setattr(_machine_code, "numba", None)
        module = importlib.import_module(f"{_PROVING}.compiled_drawing")
    for name in [name for name in sys.modules if name.startswith(_NAMES)]:
        del sys.modules[name]
    sys.modules.update(loaded)
    # The package has its modules as attributes too.
    package = importlib.import_module(_PROVING)
    for name in [name for name in vars(package) if f"{_PROVING}.{name}".startswith(_NAMES)]:
        delattr(package, name)
    for name, was in loaded.items():
        setattr(package, name.rpartition(".")[2], was)
    return module


_PROVING = "testsgd.certification.proving"
_NAMES = (f"{_PROVING}.compiled", f"{_PROVING}.machine_code")
WAYS = ["machine", "plain"]


def draw(
    module: ModuleType,
    axes: Axes,
    lo: Floats,
    hi: Floats,
    forms: Floats,
    thresholds: Floats,
    bins: int,
    mass: float,
    uniforms: Floats,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Draw points of one box outside of two half-spaces."""
    many = len(uniforms)
    points, drawn = np.zeros((many, len(lo))), np.zeros(many)
    module.draw_outside(
        axes.arrays, lo[None], hi[None], forms[None], thresholds[None], np.array([float(bins)]),
        np.array([mass]), np.array([0, many]), 0, 1, uniforms, points, drawn,
    )  # fmt: skip
    return points, drawn > 0


def members(
    axes: Axes, lo: Floats, hi: Floats, forms: Floats, thresholds: Floats, bins: int, points: Floats
) -> NDArray[np.bool_]:
    """Say which points each half-space counts, shape (half-spaces, n)."""
    many = len(points)
    return np.array(
        [
            counted_points(
                axes, np.tile(lo, (many, 1)), np.tile(hi, (many, 1)), np.tile(form, (many, 1)),
                np.full(many, threshold), np.full(many, float(bins)), points,
            )
            for form, threshold in zip(forms, thresholds, strict=True)
        ]
    )  # fmt: skip


def columns(axes: Axes, points: Floats) -> Floats:
    """Lay points out as forms have them: a column a number, one a value of a category."""
    out = np.zeros((len(points), axes.width))
    for axis, column in enumerate(axes.columns):
        if axes.kinds[axis] == 2:
            out[np.arange(len(points)), column + points[:, axis].astype(int)] = 1.0
        else:
            out[:, column] = points[:, axis]
    return out


def disjoint_half_spaces(
    axes: Axes, some: Floats, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Make two half-spaces that have none of some points in common; one or both may be missing."""
    forms = generator.normal(size=(2, axes.width))
    if generator.random() < 0.3:
        forms[1] = -forms[0] + generator.normal(size=axes.width) * 0.1
    if generator.random() < 0.2:
        forms[generator.integers(2)] *= generator.random(axes.width) < 0.5
    sums = columns(axes, some) @ forms.T
    thresholds = np.quantile(sums[:, 0], generator.uniform(0.3, 0.9), keepdims=True)
    above = sums[:, 0] > thresholds[0]
    highest = sums[above, 1].max() if above.any() else np.median(sums[:, 1])
    thresholds = np.append(thresholds, highest) + 1e-9
    kind = generator.integers(6)
    if kind == 0:
        thresholds[1] = np.inf
    if kind == 1:
        thresholds[:] = np.inf, np.quantile(sums[:, 1], 0.4) + 1e-9
    return forms, thresholds
