"""Fairness of a sequence of decisions: what is counted, and how far the groups are apart.

Each decision adds whole numbers to two counters of the person's group, a numerator and a
denominator; their ratio is the group's rate. The bias is how far the rates are apart. Everything
is decided in whole numbers, so that a bias that equals the threshold is at most the threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import SpecificationError

Measure = Literal["difference", "ratio"]
EmptyGroup = Literal["vacuous", "zero"]
Counts = NDArray[np.int64]
# [decision][label]
Increments = tuple[tuple[int, int], tuple[int, int]]

# Products of counters beyond this could leave the range of 64-bit integers.
_LARGEST = 2**62


@dataclass(frozen=True)
class FairnessProperty:
    """What is counted, and how rates are compared.

    Attributes
    ----------
    name : str
    measure : {"difference", "ratio"}
        The largest difference of two groups' rates, or 1 minus the smallest rate over the largest.
    numerator, denominator : tuple of tuple of int
        What a decision adds to its group's counters: ``numerator[decision][label]``. Where labels
        play no part, both labels' entries are the same.

    Notes
    -----
    Properties of this form are those with additive counters; their difference is what the paper on
    fairness shields calls a difference of ratios (section 4).

    Examples
    --------
    >>> NAMED_PROPERTIES["equal_opportunity"].kinds
    ((0, 1), (1, 1))
    >>> NAMED_PROPERTIES["equal_opportunity"].kind_of(decision=1, label=0)
    -1
    """

    name: str
    measure: Measure
    numerator: Increments
    denominator: Increments

    @property
    def labelled(self) -> bool:
        """Whether the true label says what is counted."""
        return any(added[0] != added[1] for added in (*self.numerator, *self.denominator))

    @property
    def kinds(self) -> tuple[tuple[int, int], ...]:
        """The different things that a decision can add: pairs of numerator and denominator.

        Nothing at all is not among them. How often each has happened in each group is all that a
        shield needs to remember.
        """
        return tuple(sorted({pair for pair in self._added if pair != (0, 0)}))

    @property
    def always_counts(self) -> bool:
        """Whether every decision adds something, whatever the label."""
        return (0, 0) not in self._added

    @property
    def _added(self) -> list[tuple[int, int]]:
        return [
            (self.numerator[decision][label], self.denominator[decision][label])
            for decision in (0, 1)
            for label in (0, 1)
        ]

    def kind_of(self, decision: int, label: int = 1) -> int:
        """Place in `kinds` of what a decision adds; -1 if it adds nothing."""
        pair = (self.numerator[decision][label], self.denominator[decision][label])
        return -1 if pair == (0, 0) else self.kinds.index(pair)


def _of_decisions(name: str, measure: Measure) -> FairnessProperty:
    return FairnessProperty(name, measure, ((0, 0), (1, 1)), ((1, 1), (1, 1)))


NAMED_PROPERTIES: Mapping[str, FairnessProperty] = MappingProxyType(
    {
        "demographic_parity": _of_decisions("demographic_parity", "difference"),
        "disparate_impact": _of_decisions("disparate_impact", "ratio"),
        "equal_opportunity": FairnessProperty(
            "equal_opportunity", "difference", ((0, 0), (0, 1)), ((0, 1), (0, 1))
        ),
        "predictive_equality": FairnessProperty(
            "predictive_equality", "difference", ((0, 0), (1, 0)), ((1, 0), (1, 0))
        ),
    }
)

_DECISIONS = {"reject": 0, "accept": 1}


def property_from_events(
    name: str,
    *,
    numerator: Sequence[str],
    denominator: Sequence[str],
    measure: Measure = "difference",
) -> FairnessProperty:
    """Make a property from the events that its counters count.

    Parameters
    ----------
    name : str
    numerator, denominator : sequence of str
        Events: "accept" or "reject", with ":0" or ":1" behind it if only that label counts.
    measure : {"difference", "ratio"}

    Returns
    -------
    FairnessProperty

    Raises
    ------
    SpecificationError
        If an event is unknown, or a shield could not change anything.

    Examples
    --------
    >>> parity = property_from_events(
    ...     "precision", numerator=["accept:1"], denominator=["accept:1", "accept:0"])
    >>> parity.labelled, parity.kinds
    (True, ((0, 1), (1, 1)))
    """
    made = FairnessProperty(
        name,
        measure,
        _increments(numerator, "numerator"),
        _increments(denominator, "denominator"),
    )
    if len(made.kinds) < 2:
        raise SpecificationError(
            "the rate of a group would be the same whatever is decided",
            where="fairness.numerator",
            remedy="count other events in the numerator than in the denominator",
            numerator=list(numerator),
            denominator=list(denominator),
        )
    return made


def _increments(events: Sequence[str], where: str) -> Increments:
    added = [[0, 0], [0, 0]]
    for event in events:
        word, colon, label = event.partition(":")
        if word not in _DECISIONS or label not in (("0", "1") if colon else ("",)):
            raise SpecificationError(
                f"{event!r} is no event",
                where=f"fairness.{where}",
                remedy='give "accept" or "reject", with ":0" or ":1" if only that label counts',
                event=event,
            )
        for value in (0, 1) if not label else (int(label),):
            added[_DECISIONS[word]][value] += 1
    reject, accept = added
    return (reject[0], reject[1]), (accept[0], accept[1])


def bias(
    numerators: Sequence[int],
    denominators: Sequence[int],
    *,
    measure: Measure,
    empty_group: EmptyGroup,
) -> Fraction:
    """Compute the exact bias of counters.

    Parameters
    ----------
    numerators, denominators : sequence of int
        One of each a group.
    measure : {"difference", "ratio"}
    empty_group : {"vacuous", "zero"}
        A group whose denominator is 0 is left out, or its rate is 0.

    Returns
    -------
    fractions.Fraction
        0 if there is nothing to compare.

    Examples
    --------
    >>> bias([3, 1], [4, 2], measure="difference", empty_group="vacuous")
    Fraction(1, 4)
    >>> bias([3, 1], [4, 2], measure="ratio", empty_group="vacuous")
    Fraction(1, 3)
    """
    rates = [
        Fraction(int(top), int(bottom)) if bottom else Fraction(0)
        for top, bottom in zip(numerators, denominators, strict=True)
        if bottom or empty_group == "zero"
    ]
    if len(rates) < 2:
        return Fraction(0)
    if measure == "difference":
        return max(rates) - min(rates)
    return Fraction(0) if max(rates) == 0 else 1 - min(rates) / max(rates)


def bias_at_most(
    numerators: Counts,
    denominators: Counts,
    threshold: Fraction,
    *,
    measure: Measure,
    empty_group: EmptyGroup,
) -> NDArray[np.bool_]:
    """Say of many states whether their bias is at most a threshold, in whole numbers.

    Parameters
    ----------
    numerators, denominators : numpy.ndarray of int, shape (n, groups)
    threshold : fractions.Fraction
    measure, empty_group : str
        As for :func:`bias`.

    Returns
    -------
    numpy.ndarray of bool, shape (n,)

    Examples
    --------
    >>> bias_at_most(np.array([[1, 0]]), np.array([[10, 5]]), Fraction(1, 10),
    ...              measure="difference", empty_group="vacuous")
    array([ True])
    """
    tops, bottoms = whole_numbers(numerators, denominators, threshold)
    empty = bottoms == 0
    if empty_group == "zero" and empty.any():
        tops, bottoms = np.where(empty, 0, tops), np.where(empty, 1, bottoms)
    part, whole = threshold.numerator, threshold.denominator
    holds = np.ones(len(tops), dtype=bool)
    for one, other in combinations(range(tops.shape[1]), 2):
        first, second = tops[:, one] * bottoms[:, other], tops[:, other] * bottoms[:, one]
        if measure == "difference":
            both = bottoms[:, one] * bottoms[:, other]
            kept = np.abs(first - second) * whole <= part * both
        else:
            kept = np.minimum(first, second) * whole >= (whole - part) * np.maximum(first, second)
        if empty_group == "vacuous":
            kept = kept | empty[:, one] | empty[:, other]
        holds &= kept.astype(bool)
    return holds


def whole_numbers(
    numerators: Counts, denominators: Counts, *fractions: Fraction
) -> tuple[Counts, Counts]:
    """Give counters in a type in which products with each other and with fractions are exact.

    That is int64, or Python's integers if these products could be too large for it.
    """
    tops, bottoms = np.asarray(numerators), np.asarray(denominators)
    most = max(int(tops.max(initial=1)), int(bottoms.max(initial=1)))
    factor = max(max(abs(one.numerator), one.denominator) for one in fractions)
    # A difference of fractions has at most twice the size of each.
    if 2 * most * most * factor < _LARGEST:
        return tops.astype(np.int64, copy=False), bottoms.astype(np.int64, copy=False)
    return tops.astype(object), bottoms.astype(object)
