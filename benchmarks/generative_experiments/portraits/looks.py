"""The looks of one person: measures and colours, drawn at random for given attributes.

Sex and age only shift the distributions, which overlap: some women have short hair, most men have
no beard.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.generative_experiments.portraits.attributes import Attributes
from benchmarks.generative_experiments.portraits.canvas import Colour, mixed

_SKIN_COLOURS: dict[str, Colour] = {
    "dark": (92, 58, 42),
    "brown": (158, 106, 72),
    "light": (221, 172, 130),
    "pale": (249, 221, 203),
}
_BLACK: Colour = (28, 24, 24)
_DARK_BROWN: Colour = (62, 40, 28)
_CHESTNUT: Colour = (112, 68, 38)
_RED: Colour = (158, 74, 34)
_BLOND: Colour = (214, 170, 92)
_GREY: Colour = (172, 172, 174)
_WHITE: Colour = (232, 232, 230)
_HAIR_COLOURS: dict[str, tuple[Colour, ...]] = {
    "dark": (_BLACK, _BLACK, _BLACK, _DARK_BROWN),
    "brown": (_BLACK, _BLACK, _DARK_BROWN, _DARK_BROWN),
    "light": (_BLACK, _DARK_BROWN, _CHESTNUT, _CHESTNUT),
    "pale": (_DARK_BROWN, _CHESTNUT, _RED, _BLOND, _BLOND),
}
_DARK_IRIS: Colour = (58, 36, 22)
_IRISES: tuple[Colour, ...] = (_DARK_IRIS, (92, 120, 150), (88, 116, 76))
_CURLY = {"dark": 0.75, "brown": 0.25, "light": 0.12, "pale": 0.1}


@dataclass(frozen=True)
class Looks:
    """Measures are shares of the picture's side; colours are red, green and blue up to 255."""

    x: float  # Middle of the face.
    y: float
    width: float  # Half the width of the face.
    height: float  # Half its height.
    jaw: float  # Width of the jaw as a share of that of the face.
    shoulders: float  # Half the width of the shoulders.
    eyes: float  # Size of an eye.
    brows: float  # Thickness.
    lips: float  # Thickness.
    rouge: float  # How red the lips are, from 0 to 1.
    lashes: float  # Strength from 0 to 1.
    smile: float  # How far the corners of the mouth are raised.
    hair: str  # "long", "bob", "bun", "short", "receding"
    curly: bool
    parting: float  # Where the hair parts, from -1 to 1.
    beard: str  # "none", "stubble", "moustache", "full"
    earrings: bool
    glasses: bool
    wrinkles: float  # Strength from 0 to 1.
    heavy: bool
    skin: Colour
    hair_colour: Colour
    iris: Colour


def draw_looks(attributes: Attributes, *, random: np.random.Generator) -> Looks:
    """Draw the looks of a person with given attributes.

    Parameters
    ----------
    attributes : Attributes
    random : numpy.random.Generator

    Returns
    -------
    Looks

    Examples
    --------
    >>> person = Attributes(sex="male", skin="pale", age="elderly", clothes="suit")
    >>> draw_looks(person, random=np.random.default_rng(0)).wrinkles > 0.5
    True
    """
    child = attributes.age == "child"
    elderly = attributes.age == "elderly"
    male = attributes.sex == "male"
    heavy = attributes.build == "heavy"
    grown_man = male and not child
    size = random.normal(1.0, 0.03)
    width = (0.163 if child else 0.15) * size * (1.17 if heavy else 1.0)
    jaw = random.normal(0.84 if grown_man else 0.73, 0.04) + 0.1 * heavy
    shoulders = 0.25 if child else 0.385 if male else 0.33
    return Looks(
        x=0.5 + random.uniform(-0.04, 0.04),
        y=(0.53 if child else 0.43) + random.uniform(-0.025, 0.025),
        width=width,
        height=(0.172 if child else 0.2) * size,
        jaw=float(np.clip(jaw, 0.6, 1.0)),
        shoulders=shoulders * random.normal(1.0, 0.04) * (1.18 if heavy else 1.0),
        eyes=(0.041 if child else 0.031) * random.normal(1.0, 0.05),
        brows=max(0.006, random.normal(0.015 if grown_man else 0.009, 0.002)),
        lips=max(0.008, random.normal(0.012 if male else 0.019, 0.0022)),
        rouge=float(np.clip(random.normal(0.08 if male else 0.66, 0.1), 0, 1)),
        lashes=float(np.clip(random.normal(0.15 if male else 0.8, 0.12), 0, 1)),
        smile=random.uniform(-0.004, 0.016),
        hair=_hair(male=male, child=child, elderly=elderly, random=random),
        curly=bool(random.random() < _CURLY[attributes.skin]),
        parting=random.uniform(-0.8, 0.8),
        beard=_beard(random) if grown_man else "none",
        earrings=bool(random.random() < (0.04 if male else 0.55)),
        glasses=bool(random.random() < (0.4 if elderly else 0.04 if child else 0.15)),
        wrinkles=random.uniform(0.7, 1.0) if elderly else 0.0,
        heavy=heavy,
        skin=_skin(attributes.skin, random),
        hair_colour=_hair_colour(attributes.skin, elderly=elderly, random=random),
        iris=_IRISES[int(random.integers(3))] if attributes.skin == "pale" else _DARK_IRIS,
    )


def _hair(*, male: bool, child: bool, elderly: bool, random: np.random.Generator) -> str:
    draw = random.random()
    styles: tuple[tuple[str, float], ...]
    if not male:
        styles = (("long", 0.5), ("bob", 0.75), ("bun", 0.92), ("short", 1.0))
    elif child:
        styles = (("short", 0.92), ("bob", 1.0))
    elif elderly:
        styles = (("receding", 0.55), ("short", 0.97), ("long", 1.0))
    else:
        styles = (("short", 0.82), ("receding", 0.93), ("long", 1.0))
    return next(style for style, limit in styles if draw < limit)


def _beard(random: np.random.Generator) -> str:
    draw = random.random()
    styles = (("full", 0.25), ("moustache", 0.37), ("stubble", 0.55), ("none", 1.0))
    return next(style for style, limit in styles if draw < limit)


def _skin(tone: str, random: np.random.Generator) -> Colour:
    red, green, blue = _SKIN_COLOURS[tone]
    factor = random.normal(1.0, 0.025)
    warmth = random.normal(0.0, 2.5)
    return (min(red * factor + warmth, 255.0), green * factor, blue * factor - warmth)


def _hair_colour(tone: str, *, elderly: bool, random: np.random.Generator) -> Colour:
    colours = _HAIR_COLOURS[tone]
    natural = colours[int(random.integers(len(colours)))]
    if not elderly:
        return natural
    return mixed(_GREY, _WHITE, random.random())
