"""Reweighing: weights that make a group and the favourable label independent in the training data.

Nothing is generated and no label is changed. Where a group rarely has the favourable label, those
of it who do have it count for more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import DataError


def reweighing_weights(
    members: NDArray[np.bool_] | NDArray[np.integer[Any]], favourable: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Give each training example the weight P(group) P(label) / P(group, label).

    Parameters
    ----------
    members : numpy.ndarray of bool or int, shape (n,)
        Who is in the group; or, if there are several, the number of the group that each is in.
    favourable : numpy.ndarray of bool, shape (n,)
        Who has the favourable label.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        Above 0; their sum is n. With them the favourable label has the same share in each group,
        unless a group has only one of the labels: no weights can change that.

    Raises
    ------
    DataError
        If all examples are in one group.

    References
    ----------
    Kamiran and Calders, Data preprocessing techniques for classification without discrimination,
    Knowledge and Information Systems 33, 2012.

    Examples
    --------
    >>> members = np.array([True, True, True, True, False, False, False, False])
    >>> favourable = np.array([True, False, False, False, True, True, True, False])
    >>> reweighing_weights(members, favourable).round(3).tolist()
    [2.0, 0.667, 0.667, 0.667, 0.667, 0.667, 0.667, 2.0]
    """
    if np.shape(members) != np.shape(favourable) or np.ndim(members) != 1:
        raise ValueError(f"members {np.shape(members)} and labels {np.shape(favourable)}")
    names, group = np.unique(members, return_inverse=True)
    if len(names) < 2:
        raise one_sided(len(group))
    combination = 2 * group + np.asarray(favourable, dtype=np.intp)
    counts = np.bincount(combination, minlength=2 * len(names)).reshape(-1, 2)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(group)
    weights: NDArray[np.float64] = (expected / np.maximum(counts, 1)).ravel()[combination]
    # Where a combination does not occur nobody gets its share, and the sum falls short.
    weights *= len(weights) / weights.sum()
    return weights


def reweighed(
    members: NDArray[np.bool_] | NDArray[np.integer[Any]],
    chances: NDArray[np.float64],
    *,
    strength: float = 1.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute weights and targets that reweigh softened labels.

    An example that has the favourable label with the chance p counts as a part p of one that has it
    and a part 1 - p of one that has not; each part gets its weight.

    Parameters
    ----------
    members : numpy.ndarray of bool or int, shape (n,)
        As for :func:`reweighing_weights`.
    chances : numpy.ndarray of float64, shape (n,)
        Each example's chance of the favourable label; 0 and 1 for labels as they are.
    strength : float
        The weights' power: with 0 nothing is changed, 1 is the method as published.

    Returns
    -------
    weights, targets : numpy.ndarray of float64, shape (n,)
        What each example weighs, n in all, and the share of the favourable part in it.

    Raises
    ------
    DataError
        If all examples are in one group.

    Examples
    --------
    >>> weights, targets = reweighed(np.array([1, 1, 0, 0]), np.array([0.5, 0.5, 1.0, 0.5]))
    >>> weights.round(2).tolist(), targets.round(3).tolist()
    ([1.0, 1.0, 0.83, 1.17], [0.625, 0.625, 1.0, 0.357])
    """
    names, group = np.unique(members, return_inverse=True)
    if len(names) < 2:
        raise one_sided(len(group))
    favourable = np.bincount(group, weights=chances)
    counts = np.column_stack([np.bincount(group) - favourable, favourable])
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(group)
    factors = np.divide(expected, counts, out=np.ones_like(counts), where=counts > 0) ** strength
    parts = np.column_stack([1 - chances, chances]) * factors[group]
    weights: NDArray[np.float64] = parts.sum(axis=1)
    targets: NDArray[np.float64] = parts[:, 1] / weights
    return weights * len(weights) / weights.sum(), targets


def one_sided(count: int) -> DataError:
    """Return the error of a group that nobody, or everybody, is in."""
    return DataError(
        f"all {count} training examples are on one side of the group, so there is nobody to "
        "compare with",
        where="reweighing",
        remedy="give training examples inside and outside of the group",
    )
