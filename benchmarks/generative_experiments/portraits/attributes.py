"""What a portrait shows: the attributes, their values, and the words that ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

SEX = ("female", "male")
SKIN = ("dark", "brown", "light", "pale")
AGE = ("child", "adult", "elderly")
CLOTHES = ("suit", "work", "plain", "worn")
BUILD = ("average", "heavy")

VALUES = MappingProxyType(
    {"sex": SEX, "skin": SKIN, "age": AGE, "clothes": CLOTHES, "build": BUILD}
)
"""The values of each attribute. The first is number 1; 0 is left for what cannot be read."""


@dataclass(frozen=True)
class Attributes:
    """What is shown of a person.

    Examples
    --------
    >>> Attributes(sex="female", skin="brown", age="adult", clothes="suit").build
    'average'
    """

    sex: str
    skin: str
    age: str
    clothes: str
    build: str = "average"

    def __post_init__(self) -> None:
        for name, values in VALUES.items():
            seen = getattr(self, name)
            if seen not in values:
                raise ValueError(f"{name} is {seen!r}; it must be one of {', '.join(values)}")

    def number(self, name: str) -> int:
        """Return the number of an attribute's value, from 1 on.

        Examples
        --------
        >>> Attributes(sex="male", skin="dark", age="adult", clothes="suit").number("sex")
        2
        """
        return VALUES[name].index(getattr(self, name)) + 1
