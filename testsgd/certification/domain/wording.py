"""Lists of names and near misses, for messages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 8


def some(names: Iterable[str]) -> str:
    """List the first few of some names.

    Examples
    --------
    >>> some(["age", "sex"])
    'age, sex'
    """
    names = list(names)
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} ... ({len(names)} in all)"


def choice(wrong: str, names: Iterable[str]) -> str:
    """Say what to write instead of an unknown name: the one it resembles, or all of them.

    Examples
    --------
    >>> choice("raze", ["age", "race", "sex"])
    'did you mean race? Known are age, race, sex'
    >>> choice("income", ["age", "sex"])
    'choose among age, sex'
    """
    names = list(names)
    lower = {name.lower(): name for name in reversed(names)}
    near = difflib.get_close_matches(wrong.lower(), list(lower), n=1, cutoff=0.6)
    if near:
        return f"did you mean {lower[near[0]]}? Known are {some(names)}"
    return f"choose among {some(names)}"
