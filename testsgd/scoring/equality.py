"""How likely a difference of two rates is if there is none: p-values that hold in small groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def equality_p_values(successes_in: Any, size_in: Any, successes_out: Any, size_out: Any) -> Floats:
    """Compute the p-value of the hypothesis that two rates are equal.

    It is the likelihood ratio test, with the number of successes inside moved by one half towards
    what equal rates would give. With that correction it keeps its level also for small groups, rare
    labels and levels as small as one in 100,000; tests/scoring/test_equality.py enumerates all
    outcomes.

    Parameters
    ----------
    successes_in, size_in, successes_out, size_out : array_like of float
        How many of how many on each side; they need not be whole.

    Returns
    -------
    numpy.ndarray of float64
        1 where a side is empty.

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio. Annals of Mathematical
    Statistics 9; Yates (1934) for the correction, there of Pearson's test.

    Examples
    --------
    >>> equality_p_values([30, 9], 100, [150, 81], 900).round(4).tolist()
    [0.0029, 1.0]
    """
    # Imported here: a tenth of a second.
    from scipy.special import ndtr

    successes_in, size_in, successes_out, size_out = np.broadcast_arrays(
        *(
            np.asarray(value, dtype=np.float64)
            for value in (successes_in, size_in, successes_out, size_out)
        )
    )
    known = (size_in > 0) & (size_out > 0)
    first, second = np.where(known, size_in, 1), np.where(known, size_out, 1)
    rate = np.where(known, (successes_in + successes_out) / (first + second), 0.5)
    excess = successes_in - first * rate
    excess = np.sign(excess) * np.maximum(np.abs(excess) - 0.5, 0)
    ratio = 2 * (
        _divergence(rate + excess / first, rate, first)
        + _divergence(rate - excess / second, rate, second)
    )
    p_values = 2 * ndtr(-np.sqrt(np.maximum(ratio, 0)))
    return np.where(known, np.minimum(p_values, 1.0), 1.0)


def _divergence(seen: Floats, rate: Floats, size: Floats) -> Floats:
    """Compute the log likelihood ratio of a rate as seen against another, over so many answers."""
    from scipy.special import xlogy

    seen = np.clip(seen, 0.0, 1.0)
    # A rate of 0 or 1 is seen as such on both sides: there is nothing to tell apart.
    inner = (rate > 0) & (rate < 1)
    rate = np.where(inner, rate, 0.5)
    likelihood_ratio = size * (xlogy(seen, seen / rate) + xlogy(1 - seen, (1 - seen) / (1 - rate)))
    return np.where(inner, likelihood_ratio, 0.0)
