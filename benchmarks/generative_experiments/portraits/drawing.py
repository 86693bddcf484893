"""Portraits drawn from attributes: a background, clothes, a head with hair and a face."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.generative_experiments.portraits.attributes import Attributes
from benchmarks.generative_experiments.portraits.canvas import (
    Canvas,
    Colour,
    Floats,
    Point,
    curve,
    mixed,
    shaded,
)
from benchmarks.generative_experiments.portraits.clothing import dress
from benchmarks.generative_experiments.portraits.looks import Looks, draw_looks
from benchmarks.generative_experiments.portraits.png import png

__all__ = ["png", "portrait"]

_BACKGROUNDS: tuple[Colour, ...] = (
    (206, 214, 222),
    (188, 204, 190),
    (222, 208, 190),
    (176, 192, 212),
    (214, 200, 214),
    (150, 164, 172),
)
_LIP_RED: Colour = (178, 44, 54)
_DARK: Colour = (34, 26, 26)
# Standard deviation of the grain, in steps of 255.
_GRAIN = 3.0


def portrait(
    attributes: Attributes, *, random: np.random.Generator, size: int = 128
) -> NDArray[np.uint8]:
    """Return a portrait of a person with given attributes.

    Position, light, background, hair, colours and grain are drawn at random. The same state of the
    generator gives the same picture.

    Parameters
    ----------
    attributes : Attributes
    random : numpy.random.Generator
    size : int
        Pixels in a row and in a column.

    Returns
    -------
    numpy.ndarray of uint8, shape (size, size, 3)

    Examples
    --------
    >>> person = Attributes(sex="female", skin="brown", age="adult", clothes="suit")
    >>> portrait(person, random=np.random.default_rng(0)).shape
    (128, 128, 3)
    """
    looks = draw_looks(attributes, random=random)
    backdrop = _BACKGROUNDS[int(random.integers(len(_BACKGROUNDS)))]
    canvas = Canvas(size, shaded(backdrop, random.uniform(0.88, 1.04)))
    glow = (looks.x + random.uniform(-0.2, 0.2), looks.y)
    canvas.ellipse(glow, (0.62, 0.62), shaded(backdrop, 1.15), opacity=0.8, soft=1.0)
    _hair_behind(canvas, looks)
    _neck(canvas, looks)
    dress(canvas, looks, attributes.clothes, random=random)
    if looks.hair == "long":
        _locks(canvas, looks)
    _head(canvas, looks)
    _wrinkles(canvas, looks)
    _eyes(canvas, looks)
    _nose(canvas, looks)
    _beard(canvas, looks)
    _mouth(canvas, looks)
    _hair_in_front(canvas, looks)
    _extras(canvas, looks)
    canvas.light(random.uniform(0.95, 1.04), (random.uniform(-0.14, 0.14), -0.08))
    grain = random.normal(0.0, _GRAIN, size=(size, size, 1))
    return np.clip(np.rint(canvas.pixels + grain), 0, 255).astype(np.uint8, order="C")


def _outline(looks: Looks, *, widen: float = 1.0) -> list[Point]:
    """Return the profile of the face from its top to its chin."""
    jaw = looks.jaw
    shape = (
        (-1.0, 0.0),
        (-0.95, 0.36),
        (-0.82, 0.66),
        (-0.55, 0.9),
        (-0.1, 1.0),
        (0.3, 0.5 + 0.47 * (0.3 + 0.7 * jaw) / 0.88),
        (0.62, jaw),
        (0.84, 0.66 * jaw),
        (0.95, 0.4 * jaw),
        (1.0, 0.0),
    )
    return [(looks.y + at * looks.height, half * looks.width * widen) for at, half in shape]


def _neck(canvas: Canvas, looks: Looks) -> None:
    top = looks.y + 0.4 * looks.height
    bottom = looks.y + 1.75 * looks.height
    half = looks.width * (0.5 + 0.22 * (looks.jaw - 0.73) + 0.1 * looks.heavy)
    colour = shaded(looks.skin, 0.86)
    outline = [(top, half), (looks.y + 1.2 * looks.height, half), (bottom, half * 1.7)]
    canvas.profile(looks.x, outline, colour)
    shadow = (looks.x, looks.y + 1.0 * looks.height)
    canvas.ellipse(
        shadow, (half * 1.1, 0.3 * looks.height), shaded(looks.skin, 0.62), opacity=0.6, soft=0.6
    )


def _head(canvas: Canvas, looks: Looks) -> None:
    for side in (-1, 1):
        ear = (looks.x + side * looks.width * 0.99, looks.y + 0.06 * looks.height)
        canvas.ellipse(ear, (0.15 * looks.width, 0.2 * looks.height), shaded(looks.skin, 0.88))
    canvas.profile(looks.x, _outline(looks), looks.skin)
    cheek_colour = mixed(looks.skin, (214, 84, 76), 0.35)
    for side in (-1, 1):
        cheek = (looks.x + side * 0.56 * looks.width, looks.y + 0.36 * looks.height)
        canvas.ellipse(cheek, (0.055, 0.045), cheek_colour, opacity=0.6, soft=1.0)
    forehead = (looks.x - 0.2 * looks.width, looks.y - 0.42 * looks.height)
    canvas.ellipse(forehead, (0.07, 0.05), shaded(looks.skin, 1.15), opacity=0.45, soft=1.0)
    if looks.heavy:
        chin = looks.y + 0.93 * looks.height
        ends = 0.5 * looks.width
        fold = curve((looks.x - ends, chin), (looks.x, chin + 0.055), (looks.x + ends, chin))
        canvas.stroke(fold, 0.006, shaded(looks.skin, 0.72), opacity=0.8)


def _wrinkles(canvas: Canvas, looks: Looks) -> None:
    if not looks.wrinkles:
        return
    colour = shaded(looks.skin, 0.66)
    for level in (-0.62, -0.5, -0.39):
        y = looks.y + level * looks.height
        ends = 0.45 * looks.width
        line = curve((looks.x - ends, y), (looks.x, y - 0.012), (looks.x + ends, y))
        canvas.stroke(line, 0.006, colour, opacity=0.75 * looks.wrinkles)
    for side in (-1, 1):
        nose = (looks.x + side * 0.24 * looks.width, looks.y + 0.3 * looks.height)
        mouth = (looks.x + side * 0.5 * looks.width, looks.y + 0.68 * looks.height)
        pull = (looks.x + side * 0.5 * looks.width, looks.y + 0.42 * looks.height)
        canvas.stroke(curve(nose, pull, mouth), 0.008, colour, opacity=0.8 * looks.wrinkles)
        eye = (looks.x + side * 0.42 * looks.width, looks.y - 0.02 * looks.height)
        under = curve(
            (eye[0] - looks.eyes, eye[1] + 0.035),
            (eye[0], eye[1] + 0.055),
            (eye[0] + looks.eyes, eye[1] + 0.035),
        )
        canvas.stroke(under, 0.006, colour, opacity=0.7 * looks.wrinkles)
        corner = (eye[0] + side * 1.25 * looks.eyes, eye[1])
        for slope in (-0.016, 0.0, 0.016):
            end = (corner[0] + side * 0.026, corner[1] + slope)
            canvas.stroke([corner, end], 0.005, colour, opacity=0.7 * looks.wrinkles)


def _eyes(canvas: Canvas, looks: Looks) -> None:
    size = looks.eyes
    y = looks.y - 0.06 * looks.height
    brow_colour = mixed(shaded(looks.hair_colour, 0.75), _DARK, 0.25)
    for side in (-1, 1):
        x = looks.x + side * 0.42 * looks.width
        canvas.ellipse((x, y), (1.5 * size, size), shaded(looks.skin, 0.8), opacity=0.5, soft=0.8)
        canvas.ellipse((x, y), (size, 0.58 * size), (248, 246, 242))
        canvas.ellipse((x, y), (0.52 * size, 0.54 * size), looks.iris)
        canvas.ellipse((x, y), (0.26 * size, 0.28 * size), (12, 10, 12))
        canvas.ellipse((x - 0.2 * size, y - 0.2 * size), (0.15 * size, 0.15 * size), (255,) * 3)
        lid = curve((x - 1.08 * size, y), (x, y - 1.25 * size), (x + 1.08 * size, y))
        canvas.stroke(lid, 0.005 + 0.009 * looks.lashes, _DARK, opacity=0.9)
        corner = (x + side * 1.0 * size, y - 0.1 * size)
        tip = (x + side * 1.55 * size, y - 0.65 * size)
        canvas.stroke([corner, tip], 0.008, _DARK, opacity=looks.lashes)
        inner = (x - side * 1.1 * size, y - 1.35 * size)
        outer = (x + side * 1.3 * size, y - 1.25 * size)
        brow = curve(inner, (x + side * 0.2 * size, y - 2.1 * size), outer)
        canvas.stroke(brow, looks.brows, brow_colour)


def _nose(canvas: Canvas, looks: Looks) -> None:
    tip = looks.y + 0.3 * looks.height
    half = 0.17 * looks.width
    shade = shaded(looks.skin, 0.74)
    ridge = curve(
        (looks.x + 0.1 * looks.width, looks.y + 0.02 * looks.height),
        (looks.x + 0.14 * looks.width, tip - 0.03),
        (looks.x + half, tip),
    )
    canvas.stroke(ridge, 0.007, shade, opacity=0.6)
    below = curve((looks.x - half, tip), (looks.x, tip + 0.024), (looks.x + half, tip))
    canvas.stroke(below, 0.009, shade)
    light = (looks.x - 0.03 * looks.width, tip - 0.015)
    canvas.ellipse(light, (0.016, 0.02), shaded(looks.skin, 1.2), opacity=0.6, soft=1.0)


def _beard(canvas: Canvas, looks: Looks) -> None:
    if looks.beard == "none":
        return
    colour = shaded(looks.hair_colour, 0.9)
    mouth = looks.y + 0.62 * looks.height
    if looks.beard != "moustache":
        opacity = 0.42 if looks.beard == "stubble" else 1.0
        # The beard is the lower part of the face but for the oval of the cheeks.
        lower = [point for point in _outline(looks) if point[0] >= looks.y + 0.2 * looks.height]
        fuller = [(y + 0.012 * (opacity == 1.0), half * 1.03) for y, half in lower]
        canvas.profile(looks.x, fuller, colour, opacity=opacity)
        inner = [
            (looks.y + 0.05 * looks.height, 0.9 * looks.width),
            (looks.y + 0.3 * looks.height, 0.86 * looks.width),
            (looks.y + 0.44 * looks.height, 0.62 * looks.width),
            (looks.y + 0.5 * looks.height, 0.0),
        ]
        canvas.profile(looks.x, inner, looks.skin, opacity=0.97)
        _nose(canvas, looks)
    if looks.beard != "stubble":
        half = 0.44 * looks.width
        top = mouth - 0.042
        for side in (-1, 1):
            wing = curve(
                (looks.x, top + 0.008),
                (looks.x + side * 0.5 * half, top),
                (looks.x + side * half, top + 0.035),
            )
            canvas.stroke(wing, 0.024, colour)


def _mouth(canvas: Canvas, looks: Looks) -> None:
    y = looks.y + 0.62 * looks.height
    half = 0.37 * looks.width
    natural = mixed(shaded(looks.skin, 0.8), (190, 84, 84), 0.35)
    colour = mixed(natural, _LIP_RED, looks.rouge)
    left = (looks.x - half, y - looks.smile)
    right = (looks.x + half, y - looks.smile)
    pull = y + looks.smile
    upper = curve(left, (looks.x, pull - 0.5 * looks.lips), right)
    lower = curve(left, (looks.x, pull + 1.4 * looks.lips), right)
    canvas.stroke(upper, 0.75 * looks.lips, colour)
    canvas.stroke(lower, 1.0 * looks.lips, colour)
    line = curve(left, (looks.x, pull + 0.3 * looks.lips), right)
    canvas.stroke(line, 0.006, shaded(colour, 0.5))


def _hair_behind(canvas: Canvas, looks: Looks) -> None:
    colour = shaded(looks.hair_colour, 0.78)
    w, h, y = looks.width, looks.height, looks.y
    if looks.hair == "receding":
        canvas.ellipse((looks.x, y - 0.05 * h), (1.1 * w, 0.48 * h), looks.hair_colour)
        return
    if looks.hair == "bun":
        canvas.ellipse((looks.x, y - 1.2 * h), (0.42 * w, 0.32 * h), looks.hair_colour)
    ends = {"long": 1.85, "bob": 0.9, "bun": 0.2, "short": 0.2}[looks.hair]
    full = 1.3 if looks.hair in ("long", "bob") else 1.12
    outline = [
        (y - 1.16 * h, 0.0),
        (y - 1.1 * h, 0.5 * w),
        (y - 0.75 * h, 0.98 * w),
        (y - 0.2 * h, full * w * 0.97),
        (y + (0.5 * ends - 0.1) * h, full * w),
        (y + 0.9 * ends * h, full * w * 0.95),
        (y + ends * h, full * w * 0.7),
    ]
    canvas.profile(looks.x, outline, colour)
    if looks.curly:
        _curls(canvas, looks, full)


def _curls(canvas: Canvas, looks: Looks, full: float) -> None:
    """Draw curls around the head, further down for longer hair."""
    low = {"long": 2.5, "bob": 2.3, "bun": 1.6, "short": 1.6}[looks.hair]
    for angle in np.linspace(-low, low, 15):
        x = looks.x + float(np.sin(angle)) * looks.width * full
        y = looks.y - float(np.cos(angle)) * looks.height * 1.08
        radius = 0.32 * looks.width
        shade = 0.86 if abs(angle) > 1.2 else 1.0
        canvas.ellipse((x, y), (radius, radius), shaded(looks.hair_colour, shade))


def _locks(canvas: Canvas, looks: Looks) -> None:
    """Draw long hair that falls over the shoulders."""
    w, h = looks.width, looks.height
    for side in (-1, 1):
        start = (looks.x + side * 1.06 * w, looks.y)
        end = (looks.x + side * 1.12 * w, looks.y + 1.85 * h)
        lock = curve(start, (looks.x + side * 1.32 * w, looks.y + h), end)
        canvas.stroke(lock, 0.34 * w, looks.hair_colour)
        canvas.stroke(lock, 0.05 * w, shaded(looks.hair_colour, 0.8), opacity=0.6)


def _hairline(looks: Looks) -> Callable[[Floats], Floats]:
    """Return the height of the hairline across the picture."""
    top = looks.y - 0.6 * looks.height
    rise = 0.2 * looks.height
    temples = (0.5 if looks.hair in ("short", "bun") else 0.72) * looks.height

    def height(x: Floats) -> Floats:
        across = (x - looks.x) / looks.width
        parted = rise * np.clip(1 - abs(across - looks.parting), 0, 1)
        return np.asarray(top - parted + temples * np.clip(abs(across), 0, 1.1) ** 6)

    return height


def _hair_in_front(canvas: Canvas, looks: Looks) -> None:
    w, h, y = looks.width, looks.height, looks.y
    if looks.hair == "receding":
        for side in (-1, 1):
            tuft = (looks.x + side * 1.03 * w, y - 0.2 * h)
            canvas.ellipse(tuft, (0.16 * w, 0.3 * h), looks.hair_colour)
        return
    crown = 1.26 if looks.curly else 1.14
    outline = [
        (y - crown * h, 0.0),
        (y - (crown - 0.06) * h, 0.5 * w),
        (y - 0.74 * h, 0.98 * w),
        (y - 0.3 * h, 1.09 * w),
        (y + 0.15 * h, 1.06 * w),
    ]
    canvas.profile(looks.x, outline, looks.hair_colour, above=_hairline(looks))
    if looks.hair in ("long", "bob"):
        for side in (-1, 1):
            strand = curve(
                (looks.x + side * 0.92 * w, y - 0.5 * h),
                (looks.x + side * 1.14 * w, y - 0.1 * h),
                (looks.x + side * 1.1 * w, y + (0.8 if looks.hair == "bob" else 1.0) * h),
            )
            canvas.stroke(strand, 0.24 * w, looks.hair_colour)
    shine = shaded(mixed(looks.hair_colour, (255, 255, 255), 0.16), 1.1)
    for offset in (-0.45, -0.1, 0.3):
        x = looks.x + offset * w
        lock = curve((x, y - 1.04 * h), (x - 0.06 * w, y - 0.95 * h), (x - 0.14 * w, y - 0.82 * h))
        canvas.stroke(lock, 0.012, shine, opacity=0.7)


def _extras(canvas: Canvas, looks: Looks) -> None:
    w, h = looks.width, looks.height
    if looks.earrings:
        for side in (-1, 1):
            lobe = (looks.x + side * 1.05 * w, looks.y + 0.32 * h)
            canvas.ellipse(lobe, (0.013, 0.016), (236, 196, 72))
    if looks.glasses:
        frame: Colour = (40, 36, 44)
        y = looks.y - 0.05 * h
        for side in (-1, 1):
            x = looks.x + side * 0.42 * w
            ring = [
                (x + 0.34 * w * float(np.cos(angle)), y + 0.2 * h * float(np.sin(angle)))
                for angle in np.linspace(0, 2 * np.pi, 13)
            ]
            canvas.ellipse((x, y), (0.34 * w, 0.2 * h), (255, 255, 255), opacity=0.14)
            canvas.stroke(ring, 0.009, frame)
            canvas.stroke([(x + side * 0.34 * w, y), (looks.x + side * w, y - 0.01)], 0.009, frame)
        canvas.stroke([(looks.x - 0.09 * w, y), (looks.x + 0.09 * w, y)], 0.009, frame)
