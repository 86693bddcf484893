"""How the bias of runs is distributed: counts in intervals that never straddle the threshold."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from testsgd.reporting.shielding.simulation_summary import BiasBin

# About so many intervals, and at most so many above the threshold.
_WANTED = 40
_MOST = 60

Runs = tuple[NDArray[np.float64], NDArray[np.bool_]]


def bias_bins(without: Runs, shielded: Runs, *, threshold: float) -> list[BiasBin]:
    """Count runs by their bias.

    Parameters
    ----------
    without, shielded : tuple of numpy.ndarray
        The bias of each run, and whether it is above the threshold, which was decided exactly; the
        bias itself is rounded.
    threshold : float
        An end of intervals.

    Returns
    -------
    list of BiasBin
        From 0 to the largest bias, without gaps. With a threshold of 0 the first interval is the
        number 0 alone.

    Examples
    --------
    >>> fair, unfair = np.array([0.0, 0.1]), np.array([0.1, 0.4])
    >>> bins = bias_bins(
    ...     (unfair, np.array([False, True])), (fair, np.array([False, False])), threshold=0.1)
    >>> sum(one.without for one in bins if one.above), sum(one.shielded for one in bins)
    (1, 2)
    """
    largest = max(float(without[0].max()), float(shielded[0].max()), threshold)
    below, beyond = _edges(threshold, largest)
    bins = _counted(below, without, shielded, above=False)
    return [*bins, *_counted(beyond, without, shielded, above=True)]


def _edges(threshold: float, largest: float) -> tuple[list[float], list[float]]:
    """Cut what is at most the threshold into equal intervals, and what is above into as wide ones.

    The last interval may reach beyond the largest bias.
    """
    if threshold <= 0:
        width = max(largest, 1e-3) / _WANTED
        below = [0.0, 0.0]
    else:
        parts = max(1, round(_WANTED * threshold / max(largest, threshold)))
        # Above a threshold that is a small part of the whole, intervals are wider than below.
        width = max(threshold / parts, (largest - threshold) / _MOST)
        below = [threshold * place / parts for place in range(parts + 1)]
    more = max(0, math.ceil((largest - threshold) / width - 1e-9))
    return below, [threshold + width * place for place in range(more + 1)]


def _counted(edges: list[float], without: Runs, shielded: Runs, *, above: bool) -> list[BiasBin]:
    counts = [_count(runs, edges, above=above) for runs in (without, shielded)]
    return [
        BiasBin(
            low=edges[place],
            high=edges[place + 1],
            above=above,
            without=int(counts[0][place]),
            shielded=int(counts[1][place]),
        )
        for place in range(len(edges) - 1)
    ]


def _count(runs: Runs, edges: list[float], *, above: bool) -> NDArray[np.int64]:
    bias, is_above = runs
    values = bias[is_above == above]
    if len(edges) < 2:
        return np.zeros(0, dtype=np.int64)
    # Intervals are open below: a bias belongs to the one that it ends.
    places = np.searchsorted(np.array(edges), values - 1e-12, side="left") - 1
    return np.bincount(np.clip(places, 0, len(edges) - 2), minlength=len(edges) - 1)
