"""Clothes of a portrait: a suit, work clothes, plain clothes, or worn ones."""

from __future__ import annotations

import numpy as np

from benchmarks.generative_experiments.portraits.canvas import (
    Canvas,
    Colour,
    Point,
    curve,
    mixed,
    shaded,
)
from benchmarks.generative_experiments.portraits.looks import Looks

_SUITS: tuple[Colour, ...] = ((36, 42, 62), (52, 52, 58), (30, 32, 36), (60, 68, 92))
_TIES: tuple[Colour, ...] = ((168, 34, 44), (40, 74, 150), (38, 110, 84), (120, 50, 120))
_VESTS: tuple[Colour, ...] = ((250, 130, 20), (214, 230, 40))
_SHIRTS: tuple[Colour, ...] = (
    (66, 120, 190),
    (196, 70, 84),
    (70, 150, 110),
    (236, 236, 236),
    (126, 90, 160),
    (230, 176, 70),
)
_RAGS: tuple[Colour, ...] = ((118, 100, 78), (104, 106, 92), (128, 112, 100))
_PATCHES: tuple[Colour, ...] = ((70, 58, 46), (150, 80, 60), (80, 92, 110))
_WHITE: Colour = (242, 243, 246)
_SILVER: Colour = (226, 230, 232)


def dress(canvas: Canvas, looks: Looks, clothes: str, *, random: np.random.Generator) -> None:
    """Draw the clothes below a head; colours are drawn at random."""
    collar = looks.y + 1.28 * looks.height
    if clothes == "suit":
        _suit(canvas, looks, collar, random)
    elif clothes == "work":
        _work_clothes(canvas, looks, collar, random)
    elif clothes == "plain":
        _plain(canvas, looks, collar, _one_of(_SHIRTS, random))
    else:
        _worn(canvas, looks, collar, random)


def _one_of(colours: tuple[Colour, ...], random: np.random.Generator) -> Colour:
    return colours[int(random.integers(len(colours)))]


def _torso(looks: Looks, collar: float) -> list[Point]:
    neck = 0.62 * looks.width
    return [
        (collar - 0.012, neck),
        (collar + 0.03, 0.45 * (looks.shoulders + neck)),
        (collar + 0.075, 0.86 * looks.shoulders),
        (collar + 0.14, 0.98 * looks.shoulders),
        (1.3, 1.06 * looks.shoulders),
    ]


def _sleeves(canvas: Canvas, looks: Looks, collar: float, colour: Colour) -> None:
    for side in (-1, 1):
        top = (looks.x + side * 0.74 * looks.shoulders, collar + 0.17)
        bottom = (looks.x + side * 0.7 * looks.shoulders, 1.02)
        canvas.stroke([top, bottom], 0.007, shaded(colour, 0.7), opacity=0.8)


def _opening(canvas: Canvas, looks: Looks, collar: float, depth: float, colour: Colour) -> None:
    """Draw what a neckline leaves open."""
    half = 0.6 * looks.width
    outline = [(collar - 0.03, half), (collar + 0.4 * depth, 0.8 * half), (collar + depth, 0.0)]
    canvas.profile(looks.x, outline, colour)


def _suit(canvas: Canvas, looks: Looks, collar: float, random: np.random.Generator) -> None:
    cloth = _one_of(_SUITS, random)
    x = looks.x
    half = 0.66 * looks.width
    canvas.profile(x, _torso(looks, collar), cloth)
    _sleeves(canvas, looks, collar, cloth)
    canvas.polygon([(x - half, collar - 0.02), (x + half, collar - 0.02), (x, 1.06)], _WHITE)
    if random.random() < 0.7:
        tie = _one_of(_TIES, random)
        knot = [(x - 0.022, collar + 0.01), (x + 0.022, collar + 0.01), (x, collar + 0.06)]
        blade = [(x, collar + 0.03), (x + 0.026, 1.0), (x, 1.08), (x - 0.026, 1.0)]
        canvas.polygon(blade, tie)
        canvas.polygon(knot, shaded(tie, 0.8))
    else:
        _opening(canvas, looks, collar, 0.07, shaded(looks.skin, 0.86))
    for side in (-1, 1):
        points = [(side * half * 0.9, collar - 0.03), (side * 0.004, collar + 0.045)]
        points = [*points, (side * half * 0.75, collar + 0.07)]
        _mirrored(canvas, x, points, shaded(_WHITE, 0.95), side)
        lapel = [
            (side * half * 1.02, collar - 0.02),
            (side * half * 0.1, 1.04),
            (side * half * 1.05, collar + 0.17),
            (side * half * 1.5, collar + 0.09),
        ]
        _mirrored(canvas, x, lapel, shaded(cloth, 1.35), side)


def _mirrored(canvas: Canvas, x: float, points: list[Point], colour: Colour, side: int) -> None:
    """Fill a polygon given beside the middle, clockwise on either side."""
    corners = [(x + across, y) for across, y in points]
    canvas.polygon(corners if side > 0 else corners[::-1], colour)


def _work_clothes(canvas: Canvas, looks: Looks, collar: float, random: np.random.Generator) -> None:
    vest = _one_of(_VESTS, random)
    under: Colour = (48, 66, 104)
    x = looks.x
    canvas.profile(x, _torso(looks, collar), under)
    _opening(canvas, looks, collar, 0.05, shaded(looks.skin, 0.86))
    inner = 0.66 * looks.width
    outer = max(0.8 * looks.shoulders, inner + 0.03)
    for side in (-1, 1):
        panel = [
            (side * inner, collar + 0.01),
            (side * 0.012, 0.99),
            (side * 0.012, 1.1),
            (side * outer, 1.1),
            (side * outer, collar + 0.065),
        ]
        _mirrored(canvas, x, panel[::-1], vest, side)
        middle = 0.5 * (inner + outer)
        band = [(x + side * middle, collar + 0.045), (x + side * middle, 1.05)]
        canvas.stroke(band, 0.028, _SILVER)
        canvas.stroke([(x + side * 0.05, 0.965), (x + side * outer, 0.965)], 0.03, _SILVER)


def _plain(canvas: Canvas, looks: Looks, collar: float, cloth: Colour) -> None:
    canvas.profile(looks.x, _torso(looks, collar), cloth)
    _sleeves(canvas, looks, collar, cloth)
    _opening(canvas, looks, collar, 0.045, shaded(looks.skin, 0.86))
    half = 0.6 * looks.width
    hem = curve(
        (looks.x - half, collar - 0.015),
        (looks.x, collar + 0.105),
        (looks.x + half, collar - 0.015),
    )
    canvas.stroke(hem, 0.018, shaded(cloth, 0.82))


def _worn(canvas: Canvas, looks: Looks, collar: float, random: np.random.Generator) -> None:
    cloth = _one_of(_RAGS, random)
    _plain(canvas, looks, collar, cloth)
    x = looks.x
    for side in (-1, 1):
        patch = _one_of(_PATCHES, random)
        left = x + side * random.uniform(0.42, 0.6) * looks.shoulders - 0.045
        top = collar + random.uniform(0.1, 0.15)
        lean = random.uniform(-0.02, 0.02)
        corners = [
            (left, top),
            (left + 0.09, top + lean),
            (left + 0.085, top + 0.08 + lean),
            (left - 0.005, top + 0.08),
        ]
        canvas.polygon(corners, patch)
        thread = mixed(patch, (235, 225, 200), 0.75)
        for share in (0.1, 0.4, 0.7, 1.0):
            for line in (0.0, 0.08):
                at = (left + 0.085 * share, top + line + lean * share)
                canvas.stroke([(at[0], at[1] - 0.012), (at[0], at[1] + 0.012)], 0.006, thread)
    tear = [(x - 0.03, collar + 0.04), (x - 0.045, collar + 0.1), (x - 0.02, collar + 0.15)]
    canvas.stroke(tear, 0.014, shaded(looks.skin, 0.75))
    for _ in range(4):
        stain = (x + random.uniform(-0.8, 0.8) * looks.shoulders, random.uniform(collar + 0.1, 1.0))
        canvas.ellipse(stain, (0.05, 0.03), shaded(cloth, 0.6), opacity=0.6, soft=0.9)
