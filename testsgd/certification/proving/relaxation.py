"""Straight lines below and above an activation, between two bounds of its argument."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from testsgd.certification.proving.axes import Floats

# What tanh and expit of numpy and scipy may be wrong by, generously.
_FUNCTION_ERROR = 1e-13


@dataclass(frozen=True)
class Lines:
    """For each unit ``lower_slope * x + lower <= f(x) <= upper_slope * x + upper``.

    The argument x is the model's own sum; the lines are written in terms of the exact sum of the
    layer before, from which it is at most the noise away. Slopes are never negative.

    Attributes
    ----------
    lower_slope, lower, upper_slope, upper : numpy.ndarray, all of one shape
        The lines.
    gap : numpy.ndarray
        How far the two are apart, at most; 0 where the activation is a straight line.
    least, most : numpy.ndarray
        Bounds of the activation itself.
    """

    lower_slope: Floats
    lower: Floats
    upper_slope: Floats
    upper: Floats
    gap: Floats
    least: Floats
    most: Floats


def relax(kind: str, slope: float, error: float, low: Floats, high: Floats, noise: Floats) -> Lines:
    """Enclose an activation.

    Parameters
    ----------
    kind : {"leaky_relu", "sigmoid", "tanh"}
        The activation; a ReLU is leaky with slope 0, a linear unit with slope 1.
    slope : float
        Of the leaky part, between 0 and 1.
    error : float
        How far the model's own activation may lie from the exact one.
    low, high : numpy.ndarray
        Bounds of the model's own sums.
    noise : numpy.ndarray
        How far these may lie from the exact sums of the activations before.

    Returns
    -------
    Lines

    Notes
    -----
    The line above a ReLU is its chord, the one below is 0 or the identity, whichever leaves the
    smaller triangle (Zhang et al., CROWN, 2018). For a sigmoid or tanh: the chord where the
    function is bent to that side all over the interval, else a line through the end with the
    smaller of the ends' slopes, below which the slope nowhere falls (Singh et al., DeepPoly, 2019).
    Products of slopes are rounded later; any slope is valid as long as the constants belong to
    the slope that is used, and they are computed from it.
    """
    if kind == "leaky_relu":
        return _leaky(slope, error, low, high, noise)
    return _bent(kind, error, low, high, noise)


def activation_error(kind: str, slope: float, error: float, low: Floats) -> Floats:
    """Bound how far the model's own activation lies from the exact one, for sums above `low`."""
    if kind == "leaky_relu":
        # Only a product with a slope that is neither 0 nor 1 is rounded.
        return np.maximum(-low, 0.0) * (0.0 if slope in (0.0, 1.0) else error * slope)
    return np.full_like(low, error + _FUNCTION_ERROR)


def _leaky(slope: float, error: float, low: Floats, high: Floats, noise: Floats) -> Lines:
    on, off = low >= 0, high <= 0
    bent = ~(on | off) if slope != 1.0 else np.zeros_like(on)
    straight = np.where(off, slope, 1.0)
    width = np.where(bent, high - low, 1.0)
    chord = np.where(bent, (high - slope * low) / width, straight)
    beneath = np.where(bent, np.where(high > -low, 1.0, slope), straight)
    gap = np.where(bent, np.maximum((slope - chord) * low, (1.0 - chord) * high), 0.0)
    rounded = activation_error("leaky_relu", slope, error, low)
    least = np.where(low > 0, low, slope * low) - rounded
    most = np.where(high > 0, high, slope * high) + rounded
    return Lines(
        lower_slope=beneath,
        lower=-beneath * noise - rounded,
        upper_slope=chord,
        upper=gap * (1 + 1e-14) + chord * noise + rounded,
        gap=gap,
        least=least,
        most=most,
    )


def _bent(kind: str, error: float, low: Floats, high: Floats, noise: Floats) -> Lines:
    if kind == "tanh":
        at_low, at_high = np.tanh(low), np.tanh(high)
        steep_low, steep_high = 1 - at_low**2, 1 - at_high**2
    else:
        at_low, at_high = expit(low), expit(high)
        steep_low, steep_high = at_low * (1 - at_low), at_high * (1 - at_high)
    error = error + _FUNCTION_ERROR
    width = high - low
    chord = np.where(width > 1e-9, (at_high - at_low) / np.maximum(width, 1e-9), 0.0)
    # Slopes may be a little too large by rounding; a smaller one is as valid for these lines.
    least_slope = np.maximum(np.minimum(steep_low, steep_high) - 1e-12, 0.0)
    chord = np.clip(chord - 1e-12, 0.0, None)
    beneath = np.where(low >= 0, np.maximum(chord, least_slope), least_slope)
    aloft = np.where(high <= 0, np.maximum(chord, least_slope), least_slope)
    # A slope below the chord's keeps the line through the low end below, and that through the
    # high end above; slack covers the rounding of the constants.
    slack = error + 1e-14 * (np.abs(low) + np.abs(high))
    lower = at_low - beneath * low - slack
    upper = at_high - aloft * high + slack
    gap = np.maximum(
        upper - lower + np.maximum((aloft - beneath) * low, (aloft - beneath) * high), 0
    )
    return Lines(
        lower_slope=beneath,
        lower=lower - beneath * noise,
        upper_slope=aloft,
        upper=upper + aloft * noise,
        gap=gap,
        least=at_low - error,
        most=at_high + error,
    )
