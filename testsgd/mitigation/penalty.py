"""A penalty on the differences of all groups, and its slopes.

The penalty is a smooth stand-in for the worst difference in the rates that are compared: a soft
maximum over all groups of all rates, each with both signs, of the differences that soft decisions
make. Its slope by a row's decision follows from the groups' weights by the transposed contraction
of the lattice of rule sets; no matrix of groups and rows is ever made.

References
----------
Boyd and Vandenberghe, Convex Optimization, Cambridge University Press 2004, section 3.1.5: the
logarithm of a sum of exponentials, between the maximum and the maximum plus a logarithm.
"""

from __future__ import annotations

import numpy as np

from testsgd.mitigation.compared_rates import ComparedRates
from testsgd.mitigation.play import Floats, group_weights


def soft_decisions(margins: Floats, *, steepness: float) -> Floats:
    """Return decisions that pass smoothly from 0 to 1 where the margin passes 0.

    Parameters
    ----------
    margins : numpy.ndarray of shape (rows,)
        Log odds of the favourable label less those of the threshold, in nats.
    steepness : float
        How sharply the decisions turn: at 1 and a threshold of 0.5 they are the scores.

    Returns
    -------
    numpy.ndarray of shape (rows,)
        In [0, 1].

    Examples
    --------
    >>> soft_decisions(np.array([-2.0, 0.0, 2.0]), steepness=2.0).round(3)
    array([0.018, 0.5  , 0.982])
    """
    # By the hyperbolic tangent, which is finite everywhere.
    return np.asarray((1 + np.tanh(steepness * margins / 2)) / 2)


def soft_maximum(differences: Floats, *, temperature: float) -> float:
    """Return a smooth upper bound of the largest size of any difference.

    It is the temperature times the logarithm of the sum of ``exp(d / temperature)`` over all
    differences ``d``, each with both signs. It exceeds the largest size by the temperature times
    ``log(2 * groups)`` at most. Its slopes are :func:`~testsgd.mitigation.play.group_weights`.

    Parameters
    ----------
    differences : numpy.ndarray of shape (groups,)
        Shares, in [-1, 1].
    temperature : float
        In the same unit; greater than 0.

    Returns
    -------
    float
        0 if there are no groups.

    References
    ----------
    Boyd and Vandenberghe, Convex Optimization, section 3.1.5.

    Examples
    --------
    >>> round(soft_maximum(np.array([0.3, -0.1]), temperature=0.02), 6)
    0.300001
    """
    sizes = np.abs(differences)
    if not len(sizes):
        return 0.0
    most = sizes.max()
    terms = np.exp((sizes - most) / temperature) + np.exp((-sizes - most) / temperature)
    return float(most + temperature * np.log(terms.sum()))


def penalty(rates: ComparedRates, decisions: Floats, *, temperature: float) -> float:
    """Return the soft maximum of the differences of all groups in the rates of soft decisions.

    Parameters
    ----------
    rates : ComparedRates
        What is compared: one rate, or several together.
    decisions : numpy.ndarray of shape (rows,)
        Soft decisions, in [0, 1].
    temperature : float
        As for :func:`soft_maximum`.

    Returns
    -------
    float
        A share, not below the largest size of a difference.
    """
    return soft_maximum(rates.differences(decisions)[0], temperature=temperature)


def penalty_slopes(rates: ComparedRates, decisions: Floats, *, temperature: float) -> Floats:
    """Return the slope of :func:`penalty` by the decision on each row.

    Parameters
    ----------
    rates, decisions, temperature
        As for :func:`penalty`.

    Returns
    -------
    numpy.ndarray of shape (rows,)
        0 for rows that no rate counts. Of the order of 1 over the number of rows.
    """
    weights = group_weights(rates.differences(decisions)[0], temperature=temperature)
    return rates.derivative(weights)
