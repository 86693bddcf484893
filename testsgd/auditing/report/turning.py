"""Differences of a group less its complement, and the other way round."""

from __future__ import annotations


def turned_difference(difference: float, *, turned: bool) -> float:
    """Return a difference of the group less its complement, the other way round if turned.

    Examples
    --------
    >>> turned_difference(0.3, turned=True)
    -0.3
    """
    return -difference if turned else difference


def turned_interval(ends: tuple[float, float], *, turned: bool) -> tuple[float, float]:
    """Return the interval of a difference, of the other way round if turned.

    Examples
    --------
    >>> turned_interval((0.285, 0.332), turned=True)
    (-0.332, -0.285)
    """
    low, high = ends
    return (-high, -low) if turned else (low, high)
