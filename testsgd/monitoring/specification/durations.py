"""Lengths of time, as a person writes them: "730 d", "1.5 h"; or a number of seconds."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from testsgd.data.exact_numbers import plain_number, seen

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_WRITTEN = re.compile(r"(\d{1,15}(?:\.\d{1,30})?)\s*([a-z]+)", re.ASCII)
# Ten thousand years. More is a slip of the pen.
_LONGEST = 3_652_425 * 86_400
_SHORTEST = 1e-6
_WORDS = 'a length of time is written as "730 d", "2 w", "1.5 h", "90 min" or "30 s"'


def seconds_in(value: Any) -> float:
    """Read a length of time.

    Parameters
    ----------
    value : float or str
        A number of seconds, or a number with a unit: s, min, h, d or w.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    ValueError
        If it is none, or shorter than a microsecond or longer than ten thousand years.

    Examples
    --------
    >>> seconds_in("730 d"), seconds_in("1.5h"), seconds_in(90)
    (63072000.0, 5400.0, 90.0)
    """
    given, value = value, plain_number(value)
    if isinstance(value, str):
        found = _WRITTEN.fullmatch(value.strip())
        if found is None:
            raise ValueError(f"{_WORDS}{seen(given)}")
        number, unit = found.groups()
        if unit not in _SECONDS:
            raise ValueError(f"there is no unit {unit!r}: {_WORDS}")
        seconds = float(Decimal(number) * _SECONDS[unit])
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_WORDS}{seen(given)}")
    else:
        seconds = value
    if not _SHORTEST <= seconds <= _LONGEST:
        raise ValueError(
            f"a length of time is at least a microsecond and at most 10,000 years{seen(given)}"
        )
    return float(seconds)


def duration_text(seconds: float) -> str:
    """Word a length of time in the largest unit, up to days, of which it is a whole number.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str
        What :func:`seconds_in` reads as the same number.

    Examples
    --------
    >>> duration_text(63072000.0), duration_text(5400), duration_text(0.25)
    ('730 d', '90 min', '0.25 s')
    """
    for unit in ("d", "h", "min", "s"):
        if seconds % _SECONDS[unit] == 0:
            return f"{int(seconds) // _SECONDS[unit]} {unit}"
    return f"{format(Decimal(repr(float(seconds))), 'f')} s"


Duration = Annotated[
    float,
    BeforeValidator(seconds_in),
    Field(gt=0),
    WithJsonSchema({"type": ["number", "string"]}),
]


def _lateness(value: Any) -> float:
    nothing = isinstance(value, str) and re.fullmatch(r"0\s*(s|min|h|d|w)", value.strip())
    return 0.0 if nothing or (value == 0 and not isinstance(value, bool)) else seconds_in(value)


# The same, but none at all is a length too.
Lateness = Annotated[
    float,
    BeforeValidator(_lateness),
    Field(ge=0),
    WithJsonSchema({"type": ["number", "string"]}),
]
