"""When a training from scratch is at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from testsgd.models.refitting.protocol import Examples, Stage

M = TypeVar("M")

# So little is a score at least away from 0 and from 1: one mistake does not count without end.
_SMALLEST = 1e-7


def until_no_better(
    stages: Iterator[Stage[M]], loss: Callable[[M], float], patience: int | None
) -> Iterator[Stage[M]]:
    """Give stages until so many of them one after another have brought no smaller loss.

    Parameters
    ----------
    stages : iterator of Stage
        The training.
    loss : callable
        From a model to its loss on examples that it is not trained on.
    patience : int or None
        How many; None: all stages are given.

    Examples
    --------
    >>> losses = {"a": 3.0, "b": 1.0, "c": 2.0, "d": 2.0, "e": 0.0}
    >>> stages = (Stage(name, name) for name in losses)
    >>> [stage.name for stage in until_no_better(stages, losses.__getitem__, 2)]
    ['a', 'b', 'c', 'd']
    """
    least, waited = np.inf, 0
    for stage in stages:
        yield stage
        if patience is None:
            continue
        found = loss(stage.model)
        least, waited = (found, 0) if found < least else (least, waited + 1)
        if waited >= patience:
            return


def cross_entropy(scores: NDArray[np.float64], examples: Examples) -> float:
    """Give the mean, by the examples' weights, of minus the logarithm of their labels' scores.

    Examples
    --------
    >>> examples = Examples(("a", "b"), np.array([True, False]))
    >>> bool(np.isclose(cross_entropy(np.array([0.5, 0.5]), examples), np.log(2)))
    True
    """
    right = np.where(examples.favourable, scores, 1 - scores)
    losses = -np.log(np.clip(right, _SMALLEST, 1))
    return float(np.average(losses, weights=examples.full_weights()))
