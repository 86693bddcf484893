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
        raise DataError(
            f"all {len(group)} training examples are on one side of the group, so there is nobody "
            "to compare with",
            where="reweighing",
            remedy="give training examples inside and outside of the group",
        )
    combination = 2 * group + np.asarray(favourable, dtype=np.intp)
    counts = np.bincount(combination, minlength=2 * len(names)).reshape(-1, 2)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(group)
    weights: NDArray[np.float64] = (expected / np.maximum(counts, 1)).ravel()[combination]
    # Where a combination does not occur nobody gets its share, and the sum falls short.
    weights *= len(weights) / weights.sum()
    return weights
