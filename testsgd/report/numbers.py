"""Numbers of a result that cannot be: not finite, or larger than anything that is measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from testsgd.io import levels_of

# The product of two is finite still, so that nothing that is computed of them overflows.
LARGEST = 1e150


def impossible_number(document: Any) -> tuple[str, float] | None:
    """Return the first number of a JSON document that no result can hold, with its place.

    Parameters
    ----------
    document : dict, list, str, int, float, bool or None
        What a parser made of the text.

    Returns
    -------
    tuple of str and float, or None
        The keys that lead to it, joined by points, and the number. It is NaN, infinite, or further
        from 0 than :data:`LARGEST`. None without any. A whole number may have any length: counts of
        what is possible grow like that.

    Examples
    --------
    >>> impossible_number({"groups": [{"rate_in": 0.5}, {"rate_in": 1e308}]})
    ('groups.1.rate_in', 1e+308)
    >>> impossible_number({"rate": 1.0, "exact": True}) is None
    True
    """
    if not _holds_impossible(document):
        return None
    level: list[tuple[str, Any]] = [("", document)]
    while level:
        inner: list[tuple[str, Any]] = []
        for place, value in level:
            if isinstance(value, float):
                if not math.isfinite(value) or abs(value) > LARGEST:
                    return place, value
            else:
                inner += _parts_of(value, f"{place}." if place else "")
        level = inner
    return None


def _holds_impossible(document: Any) -> bool:
    """Return whether there is such a number at all. Most documents have none."""
    # NaN is not less than anything.
    return any(
        isinstance(value, float) and not abs(value) <= LARGEST
        for level in levels_of(document)
        for value in level
    )


def _parts_of(value: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of an object or a list, each with its place."""
    if isinstance(value, dict):
        yield from ((f"{before}{key}", part) for key, part in value.items())
    elif isinstance(value, list):
        yield from ((f"{before}{index}", part) for index, part in enumerate(value))
