"""A canvas in numpy: shapes with smooth edges, in coordinates from 0 to 1, y downwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

Colour: TypeAlias = tuple[float, float, float]
Point: TypeAlias = tuple[float, float]
Floats: TypeAlias = NDArray[np.float64]

# Each row of pixels is cut into so many when the outline of a profile is filled.
_SUBROWS = 3


def shaded(colour: Colour, factor: float) -> Colour:
    """Return a colour, darker (factor below 1) or lighter (above 1).

    Examples
    --------
    >>> shaded((100.0, 200.0, 50.0), 0.5)
    (50.0, 100.0, 25.0)
    """
    red, green, blue = colour
    return (min(red * factor, 255.0), min(green * factor, 255.0), min(blue * factor, 255.0))


def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """Return a colour between two; ``share`` is that of the other.

    Examples
    --------
    >>> mixed((0.0, 0.0, 0.0), (100.0, 200.0, 50.0), 0.5)
    (50.0, 100.0, 25.0)
    """
    red, green, blue = (a + share * (b - a) for a, b in zip(one, other, strict=True))
    return (red, green, blue)


class Canvas:
    """A square of pixels to paint on.

    Parameters
    ----------
    size : int
        Pixels in a row and in a column.
    colour : tuple of float
        Of the background: red, green and blue from 0 to 255.

    Examples
    --------
    >>> canvas = Canvas(32, (255.0, 255.0, 255.0))
    >>> canvas.ellipse((0.5, 0.5), (0.3, 0.2), (200.0, 0.0, 0.0))
    >>> canvas.pixels[16, 16]
    array([200.,   0.,   0.])
    """

    def __init__(self, size: int, colour: Colour) -> None:
        self.size = size
        # One plane for each of red, green and blue: long rows are painted faster than triples.
        self.pixels = np.moveaxis(np.empty((3, size, size)), 0, -1)
        self.pixels[:] = colour
        self._centres = (np.arange(size) + 0.5) / size

    def ellipse(
        self,
        centre: Point,
        radii: Point,
        colour: Colour,
        *,
        opacity: float = 1.0,
        soft: float = 0.0,
    ) -> None:
        """Fill an ellipse; ``soft`` is the share of its radii over which it fades out."""
        rows = self._range(centre[1] - radii[1], centre[1] + radii[1])
        columns = self._range(centre[0] - radii[0], centre[0] + radii[0])
        x = (self._centres[columns] - centre[0])[None, :] / radii[0]
        y = (self._centres[rows] - centre[1])[:, None] / radii[1]
        radius = np.sqrt(x * x + y * y)
        if soft:
            cover = _from_0_to_1((1 - radius) / soft)
        else:
            cover = _from_0_to_1(0.5 + (1 - radius) * min(radii) * self.size)
        self._blend(rows, columns, cover, colour, opacity)

    def profile(
        self,
        middle: float,
        outline: Sequence[Point],
        colour: Colour,
        *,
        opacity: float = 1.0,
        above: Callable[[Floats], Floats] | None = None,
    ) -> None:
        """Fill a symmetric shape: ``outline`` is pairs of a height and half the width there.

        With ``above``, only what lies above that curve is filled.
        """
        heights = np.array([height for height, _ in outline])
        widths = np.array([width for _, width in outline])
        rows = self._range(heights[0], heights[-1])
        columns = self._range(middle - widths.max(), middle + widths.max())
        within = (np.arange(_SUBROWS) + 0.5) / _SUBROWS
        lines = (np.arange(rows.start, rows.stop)[:, None] + within).ravel() / self.size
        half = np.asarray(PchipInterpolator(heights, widths, extrapolate=False)(lines))
        half = np.where(np.isnan(half), -1.0, half)
        x = abs(self._centres[columns] - middle)
        fine = _from_0_to_1(0.5 + (half[:, None] - x[None, :]) * self.size)
        fine *= (half > 0)[:, None]
        cover = fine.reshape(-1, _SUBROWS, fine.shape[1]).mean(axis=1)
        if above is not None:
            edge = above(self._centres[columns])
            distance = edge[None, :] - self._centres[rows][:, None]
            cover = cover * _from_0_to_1(0.5 + distance * self.size)
        self._blend(rows, columns, cover, colour, opacity)

    def polygon(self, corners: Sequence[Point], colour: Colour, *, opacity: float = 1.0) -> None:
        """Fill a convex polygon, whose corners come in the clockwise order of the screen."""
        xs = [x for x, _ in corners]
        ys = [y for _, y in corners]
        rows = self._range(min(ys), max(ys))
        columns = self._range(min(xs), max(xs))
        x = self._centres[columns][None, :]
        y = self._centres[rows][:, None]
        inside = np.full((y.shape[0], x.shape[1]), np.inf)
        for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
            length = max(float(np.hypot(x1 - x0, y1 - y0)), 1e-9)
            side = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / length
            inside = np.minimum(inside, side)
        self._blend(rows, columns, _from_0_to_1(0.5 + inside * self.size), colour, opacity)

    def stroke(
        self, points: Sequence[Point], width: float, colour: Colour, *, opacity: float = 1.0
    ) -> None:
        """Draw a line through points, with round ends."""
        half = width / 2
        xs = [x for x, _ in points]
        ys = [y for _, y in points]
        rows = self._range(min(ys) - half, max(ys) + half)
        columns = self._range(min(xs) - half, max(xs) + half)
        # The first axis holds the pieces of the line.
        x0, y0 = np.array(points[:-1]).T[:, :, None, None]
        x1, y1 = np.array(points[1:]).T[:, :, None, None]
        along_x = x1 - x0
        along_y = y1 - y0
        square = np.maximum(along_x**2 + along_y**2, 1e-12)
        right = self._centres[columns][None, None, :] - x0
        down = self._centres[rows][None, :, None] - y0
        share = _from_0_to_1(right * (along_x / square) + down * (along_y / square))
        right = right - share * along_x
        down = down - share * along_y
        nearest = np.sqrt((right * right + down * down).min(axis=0))
        # A line thinner than a pixel is paler, not wider.
        strength = min(1.0, width * self.size)
        reach = max(half, 0.5 / self.size)
        cover = _from_0_to_1(0.5 + (reach - nearest) * self.size)
        self._blend(rows, columns, cover * strength, colour, opacity)

    def light(self, brightness: float, slope: Point) -> None:
        """Multiply by a brightness that rises or falls across the picture."""
        x = self._centres[None, :, None] - 0.5
        y = self._centres[:, None, None] - 0.5
        self.pixels *= brightness * (1 + slope[0] * x + slope[1] * y)

    def _range(self, low: float, high: float) -> slice:
        """Return the pixels from ``low`` to ``high``, one more on both sides."""
        first = min(max(math.floor(low * self.size) - 1, 0), self.size)
        last = min(max(math.ceil(high * self.size) + 1, first), self.size)
        return slice(first, last)

    def _blend(
        self, rows: slice, columns: slice, cover: Floats, colour: Colour, opacity: float
    ) -> None:
        part = self.pixels[rows, columns]
        part += (opacity * cover)[:, :, None] * (np.asarray(colour) - part)


def _from_0_to_1(values: Floats) -> Floats:
    """Return values, raised to 0 or lowered to 1 where they lie outside; np.clip is slower."""
    return np.minimum(np.maximum(values, 0.0), 1.0)


def curve(start: Point, middle: Point, end: Point, *, pieces: int = 6) -> list[Point]:
    """Return points along the quadratic curve from ``start`` to ``end`` pulled to ``middle``.

    Examples
    --------
    >>> curve((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), pieces=2)
    [(0.0, 0.0), (1.0, 0.5), (2.0, 0.0)]
    """
    points = []
    for step in range(pieces + 1):
        share = step / pieces
        weights = ((1 - share) ** 2, 2 * share * (1 - share), share**2)
        x = weights[0] * start[0] + weights[1] * middle[0] + weights[2] * end[0]
        y = weights[0] * start[1] + weights[1] * middle[1] + weights[2] * end[1]
        points.append((x, y))
    return points
