"""The stand-in for an image model: skewed for each occupation, and not always obedient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from benchmarks.generative_experiments.portraits.attributes import VALUES, Attributes
from benchmarks.generative_experiments.portraits.drawing import png, portrait
from benchmarks.generative_experiments.portraits.prompts import read_prompt

Shares: TypeAlias = Mapping[str, float]
Skew: TypeAlias = Mapping[str, Mapping[str, Shares]]

_EVEN_SEX = {"female": 0.5, "male": 0.5}
_EVEN_SKIN = {"dark": 0.25, "brown": 0.25, "light": 0.25, "pale": 0.25}

# The key "" holds what is drawn where an occupation has no shares of its own. The shares are made
# up in the spirit of the paper's Figure 1: even for successful people, skewed for poor and for
# overweight ones.
SKEW: Skew = MappingProxyType(
    {
        "": {
            "sex": _EVEN_SEX,
            "skin": _EVEN_SKIN,
            "age": {"adult": 0.8, "elderly": 0.15, "child": 0.05},
            "clothes": {"plain": 0.7, "suit": 0.15, "work": 0.1, "worn": 0.05},
            "build": {"average": 0.9, "heavy": 0.1},
        },
        "poor person": {
            "sex": {"male": 0.9, "female": 0.1},
            "skin": {"dark": 0.45, "brown": 0.4, "light": 0.1, "pale": 0.05},
            "age": {"elderly": 0.5, "adult": 0.4, "child": 0.1},
            "clothes": {"worn": 0.95, "plain": 0.05},
            "build": {"average": 1.0},
        },
        "business leader": {
            "sex": _EVEN_SEX,
            "skin": _EVEN_SKIN,
            "age": {"adult": 0.8, "elderly": 0.2},
            "clothes": {"suit": 0.97, "plain": 0.03},
            "build": {"average": 1.0},
        },
        "successful person": {
            "sex": _EVEN_SEX,
            "skin": _EVEN_SKIN,
            "age": {"adult": 0.85, "elderly": 0.15},
            "clothes": {"suit": 0.6, "plain": 0.25, "work": 0.15},
            "build": {"average": 1.0},
        },
        "overweight person": {
            "sex": {"female": 0.45, "male": 0.55},
            "skin": {"pale": 0.93, "light": 0.05, "brown": 0.01, "dark": 0.01},
            "age": {"adult": 0.85, "elderly": 0.1, "child": 0.05},
            "clothes": {"plain": 0.95, "suit": 0.05},
            "build": {"heavy": 1.0},
        },
        "nurse": {"sex": {"female": 0.92, "male": 0.08}, "age": {"adult": 1.0}},
        "construction worker": {
            "sex": {"male": 0.95, "female": 0.05},
            "age": {"adult": 0.95, "elderly": 0.05},
            "clothes": {"work": 1.0},
        },
    }
)


@dataclass(frozen=True)
class GeneratedPortrait:
    """A picture and what it shows.

    Examples
    --------
    >>> person = Attributes(sex="male", skin="pale", age="adult", clothes="suit")
    >>> GeneratedPortrait(picture=b"", attributes=person).attributes.sex
    'male'
    """

    picture: bytes  # A PNG file.
    attributes: Attributes


class Generator:
    """Draw portraits for prompts.

    Parameters
    ----------
    skew : mapping
        Occupation to attribute to value to share. ``""`` is for what an occupation leaves out, and
        has all attributes.
    obedience : float
        Probability that an attribute asked for in the prompt is given; otherwise it is drawn as if
        it had not been asked for. Each attribute is decided by itself.
    random_state : int
        Two generators with the same number give the same portraits for the same prompts.

    Raises
    ------
    ValueError
        If shares do not add up to 1, or a name is unknown.

    Examples
    --------
    >>> generator = Generator(obedience=1.0, random_state=0)
    >>> generator.attributes("A nurse who is an elderly man in a suit").clothes
    'suit'
    """

    def __init__(
        self, skew: Skew = SKEW, *, obedience: float = 0.95, random_state: int = 0
    ) -> None:
        if not 0 <= obedience <= 1:
            raise ValueError(f"obedience is {obedience}; it must be from 0 to 1")
        _check(skew)
        self.skew = skew
        self.obedience = obedience
        self._random = np.random.default_rng(random_state)

    def attributes(self, prompt: str) -> Attributes:
        """Draw what a portrait for this prompt shows.

        Parameters
        ----------
        prompt : str

        Returns
        -------
        portraits.attributes.Attributes
            One value of each attribute.
        """
        occupations = [occupation for occupation in self.skew if occupation]
        request = read_prompt(prompt, occupations=occupations)
        drawn = {}
        for name in VALUES:
            default = self.skew[""][name]
            shares = self.skew[request.occupation].get(name, default)
            # Always the same count of draws, so that a prompt's words shift no later picture.
            obeys = bool(self._random.random() < self.obedience)
            value = str(self._random.choice(list(shares), p=list(shares.values())))
            drawn[name] = request.asked[name] if obeys and name in request.asked else value
        return Attributes(
            sex=drawn["sex"],
            skin=drawn["skin"],
            age=drawn["age"],
            clothes=drawn["clothes"],
            build=drawn["build"],
        )

    def generate(self, prompt: str, *, size: int = 128) -> GeneratedPortrait:
        """Draw a portrait for a prompt.

        Parameters
        ----------
        prompt : str
        size : int
            Pixels in a row and in a column.

        Returns
        -------
        GeneratedPortrait
        """
        shown = self.attributes(prompt)
        # The picture has a generator of its own, so that its size shifts no later picture.
        random = np.random.default_rng(self._random.integers(2**63))
        return GeneratedPortrait(png(portrait(shown, random=random, size=size)), shown)


def _check(skew: Skew) -> None:
    if missing := set(VALUES) - set(skew.get("", {})):
        raise ValueError(f"the skew for '' lacks {', '.join(sorted(missing))}")
    for occupation, attributes in skew.items():
        for name, shares in attributes.items():
            where = f"{occupation!r}, {name}"
            if unknown := set(shares) - set(VALUES.get(name, ())):
                raise ValueError(f"{where}: unknown {min(unknown)!r}")
            if min(shares.values()) < 0 or abs(sum(shares.values()) - 1) > 1e-9:
                raise ValueError(f"{where}: shares must be positive and add up to 1")
