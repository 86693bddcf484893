"""The tree that an expression is read into."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Order = Literal["<", "<=", ">", ">="]
# None stands for `missing`.
Given: TypeAlias = "int | float | str | None"

_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True)
class Ordering:
    """A number under a name is smaller or larger than a given one."""

    name: str
    order: Order
    bound: int | float


@dataclass(frozen=True)
class Membership:
    """The value under a name is one of those that are given; None among them is `missing`."""

    name: str
    values: tuple[Given, ...]
    among: bool = True  # False: it is known, and none of them


@dataclass(frozen=True)
class Negation:
    """The part does not hold."""

    part: Node


@dataclass(frozen=True)
class Junction:
    """All parts hold, or at least one."""

    parts: tuple[Node, ...]
    every: bool


Node: TypeAlias = Ordering | Membership | Negation | Junction


def read_number(text: str) -> int | float | None:
    """Return the number that a text is, a whole one exactly, or None.

    Parameters
    ----------
    text : str
        Digits, with a sign, a decimal point and an exponent if needed; nothing around them.

    Returns
    -------
    int, float or None
        An int if there is neither a point nor an exponent, else a float. None if the text is no
        such number, or has more than 300 digits in a row or more than three in its exponent.

    Examples
    --------
    >>> read_number("-30"), read_number("2.50"), read_number("1e3")
    (-30, 2.5, 1000.0)
    >>> read_number("30 years"), read_number("nan")
    (None, None)
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return int(text) if match[2] is None and match[1].isdigit() and not match[3] else float(text)
