"""Quantiles of beta distributions, of very many at once.

Nearly all the time of exact intervals goes into these. Each is found from a good first guess by
Halley's method on the logarithm of the distribution function, which far out in a tail is nearly a
parabola; so two steps are usually enough, for the price of two values of the function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Halley's method triples the digits that are right: after a step of this share of the distance to
# the nearer of 0 and 1 less than a ten-billionth of it is left.
_LAST_STEP = 1e-4
_MOST_STEPS = 10
# As many are solved at once: the numbers of each stay in a processor's cache.
_TOGETHER = 1 << 14
# Up to this the first term of the series is the better guess.
_SMALL = 1.0


def beta_quantile(first: Any, second: Any, level: Any) -> Floats:
    """Compute quantiles of beta distributions.

    Parameters
    ----------
    first, second : array_like of float
        The parameters of the distributions, above 0.
    level : array_like of float
        The share of each distribution that lies below its quantile, from 0 to 1.

    Returns
    -------
    numpy.ndarray of float64
        The solutions x of ``I_x(first, second) = level``, of the shape that the arguments broadcast
        to; the regularised incomplete beta function there is scipy's. NaN where an argument is no
        number.

    Notes
    -----
    The first guess is that of Abramowitz and Stegun (1964), Handbook of Mathematical Functions,
    26.5.22, and near 0 the first term of the series. Where neither leads there, scipy's inverse
    does. That inverse takes three times as long, and with a first parameter of exactly 1,000 and a
    second of a billion it is twice the quantile (seen in scipy 1.17), as the distribution function
    itself shows.

    Examples
    --------
    >>> beta_quantile([10, 2], [91, 2], 0.025).round(4).tolist()
    [0.049, 0.0943]
    """
    # Imported here: a tenth of a second, and `import testsgd` needs it not.
    from scipy.special import betaincinv

    given = [np.asarray(each, np.float64) for each in (first, second, level)]
    if not given[0].shape == given[1].shape == given[2].shape:
        given = list(np.broadcast_arrays(*given))
    a, b, p = (each.ravel() for each in given)
    ordinary = (a > 1) & (b > 1) & (p > 0) & (p < 1)
    if len(a) <= _TOGETHER and ordinary.all():
        # As below; very many calls are about a few distributions, and are over the sooner.
        quantile = _solved(a, b, p)
    else:
        quantile = np.full(len(a), np.nan)
        places = np.flatnonzero(ordinary)
        for start in range(0, len(places), _TOGETHER):
            solved = places[start : start + _TOGETHER]
            quantile[solved] = _solved(a[solved], b[solved], p[solved])
    unknown = np.isnan(quantile)
    if unknown.any():
        quantile[unknown] = betaincinv(a[unknown], b[unknown], p[unknown])
    return quantile.reshape(given[0].shape)


def _solved(a: Floats, b: Floats, p: Floats) -> Floats:
    """Return the quantiles of distributions with parameters above 1; NaN where none was found.

    With L(x) = log(I_x(a, b) / p) a step is ``L / L' / (1 - L L'' / (2 L'^2))``.
    """
    from scipy.special import betainc, betaln

    solved = np.full(len(a), np.nan)
    scale = betaln(a, b)
    x = _guess(a, b, p, scale)
    places = np.arange(len(a))
    # What is not found within a few steps, or not a number on the way, is left to another method.
    with np.errstate(all="ignore"):
        for _ in range(_MOST_STEPS):
            below = betainc(a, b, x)
            density = np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - scale)
            inverse_slope = below / density
            apart = np.log(below / p)
            bend = inverse_slope * ((a - 1) / x - (b - 1) / (1 - x)) - 1
            step = inverse_slope * apart / (1 - 0.5 * apart * np.minimum(bend, 1.0))
            x = x - step
            within = (x > 0) & (x < 1)
            near = within & (np.abs(step) <= _LAST_STEP * np.minimum(x, 1 - x))
            solved[places[near]] = x[near]
            far = within & ~near
            if not far.any():
                break
            # After the first step usually all are far still.
            if not far.all():
                places = places[far]
                a, b, p, x, scale = a[far], b[far], p[far], x[far], scale[far]
    return solved


def _guess(a: Floats, b: Floats, p: Floats, scale: Floats) -> Floats:
    """Return about where the quantiles are, for parameters above 1; `scale` is log B(a, b)."""
    from scipy.special import ndtri

    normal = -ndtri(p)
    inverse_a = 1 / (2 * a - 1)
    inverse_b = 1 / (2 * b - 1)
    mean = 2 / (inverse_a + inverse_b)
    curvature = (normal**2 - 3) / 6
    spread = normal * np.sqrt(np.maximum(mean + curvature, 0.0)) / mean
    lean = (inverse_b - inverse_a) * (curvature + 5 / 6 - 2 / (3 * mean))
    with np.errstate(over="ignore"):
        guess = a / (a + b * np.exp(2 * (spread - lean)))
    # I_x(a, b) is x^a / (a B(a, b)) where (b - 1) x is small, and less elsewhere.
    near_zero = np.exp((np.log(p) + np.log(a) + scale) / a)
    return np.where((b - 1) * near_zero < _SMALL, near_zero, guess)
