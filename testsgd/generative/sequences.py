"""Fairness of one sequence of outputs: which values appear, how soon, how far apart, how often.

A sequence is an array of labels, one an output, in the order in which the outputs came. The label
0 is "unrelated", and 1 to CG are the values of a concept grouping. :func:`related` selects the
outputs that a conditional requirement is about; the other functions work on the labels that are
left, in which there is no 0. Positions are counted from 1, as in the paper.

See Cheng, Wu, Zhao, Bensalem and Ruess, Runtime Monitoring and Enforcement of Conditional Fairness
in Generative AIs: Definitions 2 to 5 and 10, Equations 1 to 5 and 9, Lemma 1.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from testsgd.errors import DataError, ParameterError
from testsgd.scoring import clopper_pearson
from testsgd.scoring.sequences import confidence_sequence

Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Outputs after which the interval that holds at any time is narrowest: sequences are short.
_TUNED_FOR = 200.0


def removal(labels: ArrayLike, drop: Collection[int]) -> Indices:
    """Return the indices of the outputs that are left when some labels are removed.

    Parameters
    ----------
    labels : array_like of int, shape (outputs,)
        Labels of one grouping.
    drop : collection of int
        Labels to remove.

    Returns
    -------
    numpy.ndarray of intp, shape (kept,)
        Indices from 0, in order.

    Raises
    ------
    DataError
        If the labels are not whole numbers in one row.

    References
    ----------
    Definition 3 of the paper.

    Examples
    --------
    >>> removal([2, 0, 1, 2], {0}).tolist()
    [0, 2, 3]
    """
    row = _whole_numbers(labels)
    return np.flatnonzero(~np.isin(row, np.asarray(sorted(drop), dtype=np.int64)))


def related(condition_labels: ArrayLike | None, value: int, grouping_labels: ArrayLike) -> Indices:
    """Return the indices of the outputs that a conditional requirement is about.

    Parameters
    ----------
    condition_labels : array_like of int, shape (outputs,), or None
        Labels of the grouping that is the condition; None if there is no condition.
    value : int
        Label that the condition must have; not looked at without condition.
    grouping_labels : array_like of int, shape (outputs,)
        Labels of the grouping that is to be fair.

    Returns
    -------
    numpy.ndarray of intp, shape (kept,)
        Indices from 0, in order: the condition has the value, and the grouping is not 0.

    Raises
    ------
    DataError
        If labels are not whole numbers in one row, or the rows differ in length.

    References
    ----------
    Equation 1 of the paper.

    Examples
    --------
    Outputs of poor people (2) whose gender could be recognised:

    >>> related([2, 2, 1, 2], 2, [2, 0, 1, 1]).tolist()
    [0, 3]
    """
    grouping = _whole_numbers(grouping_labels)
    if condition_labels is None:
        return np.flatnonzero(grouping != 0)
    condition = _whole_numbers(condition_labels)
    if len(condition) != len(grouping):
        raise DataError(
            f"the condition has {len(condition)} labels and the grouping {len(grouping)}",
            remedy="give one label of each for every output",
        )
    return np.flatnonzero((condition == value) & (grouping != 0))


@dataclass(frozen=True)
class Appearances:
    """Which values appear in a sequence, and when first.

    Parameters
    ----------
    appear : numpy.ndarray of bool, shape (CG,)
        Whether the values 1 to CG appear.
    first : numpy.ndarray of int64, shape (CG,)
        Position of the first appearance, from 1; 0 for a value that does not appear.

    Examples
    --------
    >>> appears_eventually([2, 2, 1], values=3).missing
    [3]
    """

    appear: Booleans
    first: Integers

    @property
    def holds(self) -> bool:
        """Whether every value appears: fairness with eventual appearance, Equation 2."""
        return bool(self.appear.all())

    @property
    def missing(self) -> list[int]:
        """Values that do not appear."""
        return [int(value) for value in np.flatnonzero(~self.appear) + 1]


def appears_eventually(labels: ArrayLike, *, values: int) -> Appearances:
    """Compute which values of a grouping appear in a finite sequence, and when first.

    Parameters
    ----------
    labels : array_like of int, shape (outputs,)
        Labels from 1 to `values`, after removal.
    values : int
        Number of values of the grouping (CG).

    Returns
    -------
    Appearances

    Raises
    ------
    ParameterError
        If `values` is less than 1.
    DataError
        If a label is none of the values.

    References
    ----------
    Definition 4 of the paper, on finite sequences as in its Section 4.3.

    Examples
    --------
    >>> found = appears_eventually([2, 2, 1], values=2)
    >>> found.holds, found.first.tolist()
    (True, [3, 1])
    """
    return waits_of(labels, values=values).appearances()


@dataclass(frozen=True)
class BoundedRepetition:
    """Whether every value of a sequence comes back soon enough, and where not.

    Parameters
    ----------
    betas : numpy.ndarray of int64, shape (CG,)
        Bounds of the values.
    length : int
        Number of outputs.
    value_holds : numpy.ndarray of bool, shape (CG,)
        Whether a value fulfils Equation 9.
    deadlines : numpy.ndarray of int64, shape (CG,)
        Position of the first output by which a value should have appeared and had not; 0 where
        the value holds. It is beyond the sequence if a value never appears and its bound is
        larger than the length.

    Examples
    --------
    >>> result = bounded_repetition([1, 2, 1, 1, 1], betas=[2, 3])
    >>> result.holds, result.value_holds.tolist(), result.deadlines.tolist()
    (False, [True, False], [0, 5])
    """

    betas: Integers
    length: int
    value_holds: Booleans
    deadlines: Integers

    @property
    def long_enough(self) -> bool:
        """Whether the sequence is longer than every bound: condition (i) of Definition 10."""
        return bool(self.length > self.betas.max())

    @property
    def holds(self) -> bool:
        """Whether both conditions of Definition 10 hold."""
        return self.long_enough and bool(self.value_holds.all())


def bounded_repetition(labels: ArrayLike, *, betas: ArrayLike) -> BoundedRepetition:
    """Compute whether every value appears, and comes back, within its bound.

    For a value with bound b in a sequence of length n:

    - its first appearance is at a position of at most b;
    - after an appearance at position m the next one is at a position of at most m + b, or
      m + b is greater than n. An open end is judged in favour of the sequence, since it might go
      on with the value; but if m + b equals n the last chance has passed, and it is violated.

    Besides, n must be greater than every bound; that is in ``long_enough`` and does not change
    what is said of the single values.

    Parameters
    ----------
    labels : array_like of int, shape (outputs,)
        Labels from 1 to CG, after removal.
    betas : array_like of int, shape (CG,)
        Bound of each value, at least 1.

    Returns
    -------
    BoundedRepetition

    Raises
    ------
    ParameterError
        If a bound is less than 1 or no whole number.
    DataError
        If a label is none of the values.

    Notes
    -----
    Equation 9 writes ``img`` without a prime once; the removed sequence is meant.

    In temporal logic over finite traces, with W the weak next, the second condition is exactly
    "always (value implies W value or WW value or ... or W^b value)". Together the conditions are
    "always (value or W value or ... or W^(b-1) value)", which is "always, eventually within
    b - 1 steps", provided that b is at most n. If b is greater than n that formula holds of any
    sequence, while the first condition still wants an appearance; Definition 10 excludes such
    bounds. With b steps in place of b - 1 the formula is weaker by one output: it is Equation 9
    for the bound b + 1.

    References
    ----------
    Definition 10 and Equation 9 of the paper.

    Examples
    --------
    >>> bounded_repetition([1, 2, 1, 2, 1], betas=[2, 2]).holds
    True
    >>> bounded_repetition([1, 2, 1, 1, 1], betas=[4, 4]).holds
    True
    >>> bounded_repetition([1, 2, 1, 1, 1], betas=[4, 3]).holds
    False
    """
    bounds = _checked_betas(betas)
    return waits_of(labels, values=len(bounds)).bounded_repetition(bounds)


@dataclass(frozen=True)
class SmallestBetas:
    """The smallest bounds that a sequence keeps.

    Parameters
    ----------
    betas : numpy.ndarray of int64, shape (CG,)
        Smallest bound of each value; the length plus 1, beyond the sequence, for a value that
        never appears, which keeps no bound.
    length : int
        Number of outputs.

    Examples
    --------
    >>> smallest_betas([1, 1, 1, 2], values=2).long_enough
    False
    """

    betas: Integers
    length: int

    @property
    def exist(self) -> Booleans:
        """Whether a value keeps any bound: whether it appears; shape (CG,)."""
        return self.betas <= self.length

    @property
    def long_enough(self) -> bool:
        """Whether the sequence is longer than all these bounds: condition (i) of Definition 10.

        Where it is not, no bounds make the sequence fair by Definition 10.
        """
        return bool(self.length > self.betas.max())


def smallest_betas(labels: ArrayLike, *, values: int) -> SmallestBetas:
    """Compute the smallest bound of each value for which Equation 9 holds.

    It is the largest of the position of the first appearance, the distances between one appearance
    and the next, and n - m + 1 for the last appearance at m of n outputs: the open end is judged
    in favour of the sequence only if m plus the bound is greater than n. That is also the largest
    distance if the value is taken to appear at the positions 0 and n + 1.

    Parameters
    ----------
    labels : array_like of int, shape (outputs,)
        Labels from 1 to `values`, after removal.
    values : int
        Number of values of the grouping (CG).

    Returns
    -------
    SmallestBetas
        The bounds, and whether the sequence is also longer than them.

    Raises
    ------
    ParameterError
        If `values` is less than 1.
    DataError
        If a label is none of the values.

    References
    ----------
    Definition 10 and Equation 9 of the paper.

    Examples
    --------
    The first value appears last at position 3 of 5, so its bound is at least 3.

    >>> smallest_betas([1, 2, 1, 2, 2], values=3).betas.tolist()
    [3, 2, 6]
    """
    return waits_of(labels, values=values).smallest_betas()


@dataclass(frozen=True)
class Frequencies:
    """How often each value appears, with intervals for the probability behind it.

    Parameters
    ----------
    counts : numpy.ndarray of int64, shape (CG,)
        Number of outputs with the value.
    shares : numpy.ndarray of float64, shape (CG,)
        Share of the outputs, from 0 to 1; NaN if there are no outputs.
    exact_low, exact_high : numpy.ndarray of float64, shape (CG,)
        Clopper's and Pearson's interval, for a length that was fixed beforehand.
    anytime_low, anytime_high : numpy.ndarray of float64, shape (CG,)
        Interval that holds at all lengths at once, whatever ended the sequence.
    confidence : float
        Confidence of each interval.

    Examples
    --------
    >>> frequencies([1, 1, 2], values=2, confidence=0.95).counts.tolist()
    [2, 1]
    """

    counts: Integers
    shares: Floats
    exact_low: Floats
    exact_high: Floats
    anytime_low: Floats
    anytime_high: Floats
    confidence: float


def frequencies(labels: ArrayLike, *, values: int, confidence: float = 0.95) -> Frequencies:
    """Compute the share of each value, with exact and anytime-valid intervals.

    The intervals take the outputs to be independent draws from one distribution. Each is for its
    value alone; for all values at once ask for ``1 - (1 - confidence) / values``.

    Parameters
    ----------
    labels : array_like of int, shape (outputs,)
        Labels from 1 to `values`, after removal.
    values : int
        Number of values of the grouping (CG).
    confidence : float, default 0.95
        Confidence of each two-sided interval, between 0 and 1.

    Returns
    -------
    Frequencies

    Raises
    ------
    ParameterError
        If `values` is less than 1 or the confidence not between 0 and 1.
    DataError
        If a label is none of the values.

    References
    ----------
    Equation 4 of the paper, of which a share is the finite form.

    Examples
    --------
    >>> found = frequencies([2, 2, 1, 2], values=2, confidence=0.95)
    >>> found.shares.tolist(), found.exact_low.round(3).tolist()
    ([0.25, 0.75], [0.006, 0.194])
    """
    if not 0 < confidence < 1:
        raise ParameterError(
            f"the confidence is {confidence}", remedy="give a number between 0 and 1"
        )
    row = _values(labels, values)
    counts = np.bincount(row, minlength=values + 1)[1:].astype(np.int64)
    shares = np.full(values, np.nan) if len(row) == 0 else counts / len(row)
    exact_low, exact_high = clopper_pearson(counts, len(row), 1 - confidence)
    anytime_low, anytime_high = confidence_sequence(
        counts, len(row), confidence, tuned_for=_TUNED_FOR
    )
    return Frequencies(counts, shares, exact_low, exact_high, anytime_low, anytime_high, confidence)


def frequency_bound(betas: ArrayLike) -> float:
    """Compute how far the shares of two values may differ in a sequence that keeps its bounds.

    In the limit a value with bound b has a share of at least 1 / b, and at most what the least
    shares of the others leave. So the share of x exceeds that of y by at most 1, minus the sum of
    1 / b over all values but x, minus 1 / b of y. The largest such difference is returned, kept
    between 0 and 1; with equal bounds it is 1 - CG / b, the paper's lemma.

    It is about the limit of infinite sequences (Definition 5). In a finite sequence of n outputs a
    value with bound b appears at least floor(n / b) times, so that shares may differ by more:
    add at most CG / n. If the sum of 1 / b over all values is greater than 1, no infinite sequence
    keeps the bounds.

    Parameters
    ----------
    betas : array_like of int, shape (CG,)
        Bound of each value, at least 1.

    Returns
    -------
    float
        From 0 to 1; 0 if there is one value only.

    Raises
    ------
    ParameterError
        If a bound is less than 1 or no whole number.

    Notes
    -----
    The lemma is stated for the values from 0; it is true of the values from 1, which are those that
    removal leaves and its proof is about.

    References
    ----------
    Lemma 1 of the paper; its extension to unequal bounds is ours.

    Examples
    --------
    >>> frequency_bound([4, 4])
    0.5
    >>> frequency_bound([2, 10])
    0.8
    """
    least = 1 / _checked_betas(betas)
    if len(least) == 1:
        return 0.0
    difference = 1 - least.sum() + least.max() - least.min()
    return float(np.clip(difference, 0.0, 1.0))


@dataclass(frozen=True)
class Waits:
    """How long each value was waited for, value by value and in order of time.

    What is asked of the waits of one sequence needs one sort of it only.

    Parameters
    ----------
    since, wait : numpy.ndarray of int64, shape (outputs + CG,)
        Where each wait began (0 is before the first output), and how long it was. The last entry
        of each value is the open end, as if the value came after the last output.
    starts : numpy.ndarray of intp, shape (CG + 1,)
        Index of each value's first entry, and the number of entries.
    length : int
        Number of outputs.

    Examples
    --------
    >>> waits = waits_of([2, 2, 1], values=2)
    >>> waits.wait.tolist(), waits.starts.tolist()
    ([3, 1, 1, 1, 2], [0, 2, 5])
    """

    since: Integers
    wait: Integers
    starts: Indices
    length: int

    @property
    def first(self) -> Integers:
        """Position of each value's first appearance; the length plus 1 if there is none."""
        return self.wait[self.starts[:-1]]

    def appearances(self) -> Appearances:
        """Return what :func:`appears_eventually` does."""
        appear = self.first <= self.length
        return Appearances(appear, np.where(appear, self.first, 0))

    def smallest_betas(self) -> SmallestBetas:
        """Return what :func:`smallest_betas` does."""
        return SmallestBetas(np.maximum.reduceat(self.wait, self.starts[:-1]), self.length)

    def bounded_repetition(self, betas: ArrayLike) -> BoundedRepetition:
        """Return what :func:`bounded_repetition` does, for a bound of each value."""
        bounds = _checked_betas(betas)
        deadlines = np.zeros(len(bounds), dtype=np.int64)
        for index, bound in enumerate(bounds):
            own = slice(self.starts[index], self.starts[index + 1])
            late = self.wait[own] > bound
            # A value that never appears is late even if its bound is beyond the end.
            late[0] |= self.first[index] > self.length
            if late.any():
                deadlines[index] = self.since[own][np.argmax(late)] + bound
        return BoundedRepetition(bounds, self.length, deadlines == 0, deadlines)


def waits_of(labels: ArrayLike, *, values: int) -> Waits:
    """Compute all waits by one sort, in which labels of one byte take a time linear in them.

    Parameters
    ----------
    labels : array_like of int, shape (outputs,)
        Labels from 1 to `values`, after removal.
    values : int
        Number of values of the grouping (CG).

    Returns
    -------
    Waits

    Raises
    ------
    ParameterError
        If `values` is less than 1.
    DataError
        If a label is none of the values.

    Examples
    --------
    >>> waits_of([2, 2, 1], values=2).smallest_betas().betas.tolist()
    [3, 2]
    """
    row = _values(labels, values)
    length = len(row)
    narrow = np.empty(length + values, dtype=np.min_scalar_type(values))
    narrow[:length] = row
    narrow[length:] = np.arange(1, values + 1)
    order = np.argsort(narrow, kind="stable")
    starts = np.zeros(values + 1, dtype=np.intp)
    np.cumsum(np.bincount(narrow, minlength=values + 1)[1:], out=starts[1:])
    until = np.minimum(order + 1, length + 1).astype(np.int64, copy=False)
    since = np.zeros_like(until)
    since[1:] = until[:-1]
    since[starts[:-1]] = 0
    return Waits(since, until - since, starts, length)


def _values(labels: ArrayLike, values: int) -> Integers:
    """Return labels as an array, checked to lie between 1 and the number of values."""
    if values < 1:
        raise ParameterError(f"the number of values is {values}", remedy="give at least 1")
    row = _whole_numbers(labels)
    if len(row) and (row.min() < 1 or row.max() > values):
        index = int(np.flatnonzero((row < 1) | (row > values))[0])
        raise DataError(
            f"the label {int(row[index])} is none of the values 1 to {values}",
            where=f"output {index + 1}",
            remedy="remove unrelated outputs (label 0) first, and give the number of all values",
            label=int(row[index]),
            position=index + 1,
        )
    return row


def _whole_numbers(labels: ArrayLike) -> Integers:
    """Return labels as one row of whole numbers."""
    row = np.asarray(labels)
    if row.size == 0 and row.ndim == 1:
        return np.zeros(0, dtype=np.int64)
    if row.ndim != 1 or not np.issubdtype(row.dtype, np.integer):
        raise DataError(
            f"labels of the type {row.dtype} and the shape {row.shape}",
            remedy="give one row of whole numbers, 0 for unrelated",
        )
    return row.astype(np.int64, copy=False)


def _checked_betas(betas: ArrayLike) -> Integers:
    """Return bounds as one row of whole numbers of at least 1."""
    row = np.asarray(betas)
    if row.ndim != 1 or row.size == 0 or not np.issubdtype(row.dtype, np.integer) or row.min() < 1:
        raise ParameterError(
            f"the bounds are {row.tolist()}",
            remedy="give one whole number of at least 1 for each value",
        )
    return row.astype(np.int64)
