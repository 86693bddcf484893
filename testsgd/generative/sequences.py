"""Fairness of finite sequences of labels: which values appear, how often, and how far apart.

A label is the number of a value, from 1 to CG, or 0 for an output that is unrelated. Positions are
counted from 1, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.scoring import clopper_pearson, confidence_sequence

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Outputs after which the interval that holds at any time is narrowest: sequences are short.
_TUNED_FOR = 200.0


def removal(labels: ArrayLike, removed: ArrayLike) -> Integers:
    """Return which outputs stay when those with some labels are removed (Definition 3).

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Label of each output.
    removed : array_like of int
        The labels that are removed.

    Returns
    -------
    numpy.ndarray of int64, shape (m,)
        Indices of the outputs that stay, counted from 0, ascending.

    Examples
    --------
    >>> removal([2, 0, 1, 0], [0]).tolist()
    [0, 2]
    """
    return np.flatnonzero(~np.isin(np.asarray(labels), np.asarray(removed)))


@dataclass(frozen=True)
class Appearance:
    """Which values appear in a sequence (Definition 4, on a finite sequence)."""

    first: Integers  # Position of the first output of each value, from 1; 0: never. Shape (CG,).

    @property
    def appeared(self) -> Flags:
        """Which values appear, shape (CG,)."""
        return self.first > 0

    @property
    def holds(self) -> bool:
        """Whether every value appears."""
        return bool(self.appeared.all())


def appears_eventually(labels: ArrayLike, *, values: int) -> Appearance:
    """Return which values appear in a sequence, and where first (Definition 4).

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Labels from 1 to `values`, without unrelated outputs.
    values : int
        The number of values, CG.

    Returns
    -------
    Appearance

    Examples
    --------
    >>> found = appears_eventually([2, 2, 1], values=3)
    >>> found.first.tolist(), found.holds
    ([3, 1, 0], False)
    """
    found, first = np.unique(np.asarray(labels), return_index=True)
    positions = np.zeros(values, dtype=np.int64)
    positions[found - 1] = first + 1
    return Appearance(positions)


def smallest_betas(labels: ArrayLike, *, values: int) -> Integers:
    """Return within how many outputs each value comes, and comes again, at the smallest.

    That is the smallest beta of a value for which the sequence has beta-bounded repeated appearance
    (Definition 10), but for the condition that the sequence is longer than beta. It is the largest
    of the position of the first appearance, of the distances between appearances, and of the
    distance from the last appearance to the position behind the end: the definition is optimistic
    about what follows, so the value is taken to come with the next output.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Labels from 1 to `values`, without unrelated outputs.
    values : int
        The number of values, CG.

    Returns
    -------
    numpy.ndarray of int64, shape (CG,)
        n + 1 for a value that never appears: beyond the sequence.

    Examples
    --------
    >>> smallest_betas([1, 2, 2, 2, 1, 2, 2], values=2).tolist()
    [4, 2]
    """
    sequence = np.asarray(labels)
    behind = len(sequence) + 1
    smallest = np.full(values, behind, dtype=np.int64)
    for value in range(1, values + 1):
        positions = np.flatnonzero(sequence == value) + 1
        smallest[value - 1] = np.diff(positions, prepend=0, append=behind).max()
    return smallest


@dataclass(frozen=True)
class Repetition:
    """Whether values come again within their number of outputs (Definition 10)."""

    long_enough: bool  # The sequence is longer than every beta, condition (i).
    kept: Flags  # Which values come as soon as they must, condition (ii); shape (CG,).
    # Position by which a value should first have come, but did not; 0 if it is kept. Shape (CG,).
    missed_at: Integers

    @property
    def holds(self) -> bool:
        """Whether the sequence has beta-bounded repeated appearance."""
        return self.long_enough and bool(self.kept.all())


def bounded_repetition(labels: ArrayLike, *, betas: Sequence[int]) -> Repetition:
    """Return whether each value comes, and comes again, within its number of outputs.

    This is Definition 10. A value k must appear among the first beta_k outputs, and after an
    appearance at position m again at m + beta_k at the latest, unless m + beta_k lies behind the
    end. In equation (9) of the paper one prime is missing: all positions are those of the sequence
    after removal.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Labels from 1 on, without unrelated outputs.
    betas : sequence of int, length CG
        The number of outputs of each value.

    Returns
    -------
    Repetition

    Examples
    --------
    >>> found = bounded_repetition([1, 2, 2, 2, 1, 2, 2], betas=(3, 3))
    >>> found.kept.tolist(), found.missed_at.tolist(), found.long_enough
    ([False, True], [4, 0], True)

    A value that never came in a sequence that is too short to ask for it is not missed yet.

    >>> bounded_repetition([2, 2], betas=(3, 3)).kept.tolist()
    [True, True]
    """
    sequence = np.asarray(labels)
    missed_at = np.zeros(len(betas), dtype=np.int64)
    for index, beta in enumerate(betas):
        positions = np.flatnonzero(sequence == index + 1) + 1
        # Position 0 stands before the start, as if the value had come there.
        due = np.concatenate(([0], positions)) + beta
        come = np.append(positions, len(sequence) + 1)
        late = np.flatnonzero((come > due) & (due <= len(sequence)))
        if len(late):
            missed_at[index] = due[late[0]]
    return Repetition(
        long_enough=len(sequence) > max(betas), kept=missed_at == 0, missed_at=missed_at
    )


@dataclass(frozen=True)
class Frequencies:
    """How often each value comes, with intervals; arrays of shape (CG,)."""

    counts: Integers
    shares: Floats  # Not a number without any output.
    # Ends of the exact interval for this number of outputs (Clopper and Pearson).
    exact_low: Floats
    exact_high: Floats
    # Ends of the interval that holds for every number of outputs at once.
    low: Floats
    high: Floats


def frequencies(labels: ArrayLike, *, values: int, confidence: float) -> Frequencies:
    """Compute how often each value comes, with an exact and an anytime-valid interval.

    Parameters
    ----------
    labels : array_like of int, shape (n,)
        Labels from 1 to `values`, without unrelated outputs.
    values : int
        The number of values, CG.
    confidence : float
        Of the interval of each value alone, if outputs are independent and shares do not change.

    Returns
    -------
    Frequencies

    Examples
    --------
    >>> found = frequencies([1, 2, 2, 2], values=2, confidence=0.95)
    >>> found.shares.tolist(), found.exact_low.round(3).tolist()
    ([0.25, 0.75], [0.006, 0.194])
    """
    sequence = np.asarray(labels, dtype=np.int64)
    counts = np.bincount(sequence, minlength=values + 1)[1:]
    number = len(sequence)
    shares = counts / number if number else np.full(values, np.nan)
    exact_low, exact_high = clopper_pearson(counts, np.full(values, number), 1 - confidence)
    low, high = confidence_sequence(
        counts, np.full(values, number), confidence, tuned_for=_TUNED_FOR
    )
    return Frequencies(counts, shares, exact_low, exact_high, low, high)


def frequency_bound(betas: Sequence[int]) -> float:
    """Compute how far two values' shares can be apart in the long run, at most (Lemma 1).

    A value that comes again within beta outputs has a share of at least 1 / beta in the limit, so
    at most what the others leave is the share of one. For equal betas that is 1 - CG / beta, as in
    Lemma 1; of unequal ones it is the largest such difference of two values. The shares of a finite
    sequence may be a little farther apart.

    Parameters
    ----------
    betas : sequence of int, length CG
        The number of outputs of each value.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> frequency_bound((4, 4)), frequency_bound((2, 2)), round(frequency_bound((3, 6)), 3)
    (0.5, 0.0, 0.667)
    """
    least = [1 / beta for beta in betas]
    total = sum(least)
    largest = 0.0
    for above, most in enumerate(least):
        for below, few in enumerate(least):
            if above != below:
                largest = max(largest, 1 - (total - most) - few)
    return min(largest, 1.0)
