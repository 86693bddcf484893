"""Fairness of a sequence of decisions: what is counted, and how far the groups are apart.

Each decision adds whole numbers to two counters of the person's group, a numerator and a
denominator; their ratio is the group's rate. The bias is how far the rates are apart. Everything
is decided in whole numbers, so that a bias that equals the bound is at most the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, model_validator

from testsgd.data.schema_parts import ExactShare, Part, mistake, repeated
from testsgd.errors import SpecificationError

RateMeasure = Literal["difference", "ratio"]
Measure = Literal[RateMeasure, "share"]
EmptyGroup = Literal["vacuous", "zero"]
Counts = NDArray[np.int64]

# [decision][label]
Increments = tuple[tuple[int, int], tuple[int, int]]

# Products of counters beyond this could leave the range of 64-bit integers.
_LARGEST = 2**62
_DECISIONS = {"reject": 0, "accept": 1}

_Named = Literal[
    "demographic_parity", "disparate_impact", "equal_opportunity", "predictive_equality"
]
PropertyName = Literal[_Named, "custom"]
# Of the shield alone: a share of what all groups have together.
ShieldPropertyName = Literal[PropertyName, "share_of_accepted"]

# Names that stand for more than one property with the same bound.
_JOINT = {"equalized_odds": ("equal_opportunity", "predictive_equality")}


def checked_groups(groups: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of groups, at least two and all different, or raise a SpecificationError."""

    def refused(what: str, remedy: str) -> SpecificationError:
        return SpecificationError(what, where="groups", remedy=remedy)

    if isinstance(groups, str):
        raise refused(f"{groups!r} is one name", "give a list of at least two")
    names = list(groups)
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise refused(f"{name!r} is no name of a group", "give texts")
    if (twice := repeated(names)) is not None:
        raise refused(f"the group {twice!r} stands twice", "name each group once")
    if len(names) < 2:
        what = f"{len(names)} group{'s are' if len(names) != 1 else ' is'} named"
        raise refused(what, "name at least two, there is nothing to compare otherwise")
    return tuple(map(str, names))


@dataclass(frozen=True)
class FairnessProperty:
    """A fairness property: what each decision adds to its group's counters, and how rates compare.

    The rate of a group is its numerator over its denominator. The bias is the largest difference of
    two rates, or 1 minus the smallest rate over the largest, see :func:`bias`. Every decision adds
    a fixed pair to the counters of its group, which depends on the decision and on its true label.

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
    # The largest difference of two groups' rates, or 1 minus the smallest rate over the largest;
    # or how far a group's share of all groups' denominators is outside of its range.
    measure: Measure
    # What a decision adds to its group's counters: ``numerator[decision][label]``. Where labels
    # play no part, both labels' entries are the same.
    numerator: Increments
    denominator: Increments
    # Lowest and highest share of each group, in their order, if the measure is the share.
    shares: tuple[tuple[Fraction, Fraction], ...] = ()

    @property
    def labelled(self) -> bool:
        """Whether the true label says what is counted."""
        return any(added[0] != added[1] for added in (*self.numerator, *self.denominator))

    @property
    def kinds(self) -> tuple[tuple[int, int], ...]:
        """The different pairs that a decision can add to numerator and denominator, but (0, 0)."""
        return tuple(sorted({pair for pair in self._added if pair != (0, 0)}))

    @property
    def always_counts(self) -> bool:
        """Whether every decision adds something, with either label."""
        return (0, 0) not in self._added

    @property
    def _added(self) -> list[tuple[int, int]]:
        rows = zip(self.numerator, self.denominator, strict=True)
        return [pair for tops, bottoms in rows for pair in zip(tops, bottoms, strict=True)]

    def kind_of(self, decision: int, label: int = 1) -> int:
        """Return the index in `kinds` of what a decision adds; -1 if it adds nothing.

        Parameters
        ----------
        decision, label : int
            0 or 1 each; the label plays no part unless the property is :attr:`labelled`.

        Returns
        -------
        int
        """
        pair = (self.numerator[decision][label], self.denominator[decision][label])
        return -1 if pair == (0, 0) else self.kinds.index(pair)


# Name, measure, and what is added to the numerator and to the denominator.
_KNOWN: tuple[tuple[str, Measure, Increments, Increments], ...] = (
    ("demographic_parity", "difference", ((0, 0), (1, 1)), ((1, 1), (1, 1))),
    ("disparate_impact", "ratio", ((0, 0), (1, 1)), ((1, 1), (1, 1))),
    ("equal_opportunity", "difference", ((0, 0), (0, 1)), ((0, 1), (0, 1))),
    ("predictive_equality", "difference", ((0, 0), (1, 0)), ((1, 0), (1, 0))),
)
NAMED_PROPERTIES: Mapping[str, FairnessProperty] = MappingProxyType(
    {
        name: FairnessProperty(name, measure, numerator, denominator)
        for name, measure, numerator, denominator in _KNOWN
    }
)

SHARE_OF_ACCEPTED = FairnessProperty(
    "share_of_accepted", "share", numerator=((0, 0), (1, 1)), denominator=((0, 0), (1, 1))
)


def property_from_events(
    name: str,
    *,
    numerator: Sequence[str],
    denominator: Sequence[str],
    measure: RateMeasure = "difference",
) -> FairnessProperty:
    """Return the property whose counters count given events.

    Parameters
    ----------
    name : str
    numerator, denominator : sequence of str
        What each counter counts: "accept" or "reject", with ":0" or ":1" behind it if only that
        label counts. An event that is listed twice adds 2.
    measure : {"difference", "ratio"}, optional

    Returns
    -------
    FairnessProperty

    Raises
    ------
    SpecificationError
        If an event is none of these, or if the rate of a group would not depend on the decisions.

    Examples
    --------
    >>> parity = property_from_events(
    ...     "parity", numerator=["accept"], denominator=["accept", "reject"])
    >>> parity.numerator == NAMED_PROPERTIES["demographic_parity"].numerator
    True
    """
    custom = FairnessProperty(
        name=name,
        measure=measure,
        numerator=_increments(numerator, "numerator"),
        denominator=_increments(denominator, "denominator"),
    )
    if len(custom.kinds) < 2:
        what = "the rate of a group would be the same whatever is decided"
        remedy = "count other events in the numerator than in the denominator"
        raise SpecificationError(what, where="fairness.numerator", remedy=remedy)
    return custom


def _increments(events: Sequence[str], where: str) -> Increments:
    """Return what decisions add to a counter of events, by decision and label."""
    added = [[0, 0], [0, 0]]
    for event in events:
        word, colon, label = event.partition(":")
        if word not in _DECISIONS or label not in (("0", "1") if colon else ("",)):
            remedy = 'give "accept" or "reject", with ":0" or ":1" if only that label counts'
            what = f"{event!r} is no event"
            raise SpecificationError(what, where=f"fairness.{where}", remedy=remedy, event=event)
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
    """Compute the exact bias of the rates of groups.

    Parameters
    ----------
    numerators, denominators : sequence of int
        The counters, one of each a group, in the same order.
    measure : {"difference", "ratio"}
        The largest rate minus the smallest, or 1 minus the smallest over the largest.
    empty_group : {"vacuous", "zero"}
        A group whose denominator is 0 is left out (vacuous), or its rate is 0 (zero).

    Returns
    -------
    Fraction
        From 0, which is also the bias if there are not two groups to compare, or if the measure is
        the ratio and all rates are 0.

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


def rounded_biases(
    numerators: Counts, denominators: Counts, *, measure: Measure, empty_group: EmptyGroup
) -> NDArray[np.float64]:
    """Compute the biases of many states in floating point.

    Both counters have shape (..., groups), and the biases shape (...). Otherwise as :func:`bias`.
    """
    rates = np.where(denominators > 0, numerators / np.maximum(denominators, 1), 0.0)
    counted = (denominators > 0) | (empty_group == "zero")
    compared = counted.sum(axis=-1) >= 2
    highest = np.where(compared, np.where(counted, rates, -np.inf).max(axis=-1), 0.0)
    lowest = np.where(compared, np.where(counted, rates, np.inf).min(axis=-1), 0.0)
    if measure == "difference":
        return np.asarray(highest - lowest)
    positive = highest > 0
    return np.asarray(np.where(positive, 1 - lowest / np.where(positive, highest, 1), 0.0))


def bias_at_most(
    numerators: Counts,
    denominators: Counts,
    bound: Fraction,
    *,
    measure: Measure,
    empty_group: EmptyGroup,
) -> NDArray[np.bool_]:
    """Return a mask of the states whose bias is at most a bound, shape (n,), in whole numbers.

    Both counters have shape (n, groups). With counters a / b and c / d of two groups and the bound
    p / q, a difference is within the bound if |a d - c b| q <= p b d, and a ratio if
    min(a d, c b) q >= (q - p) max(a d, c b).
    """
    tops, bottoms = whole_numbers(numerators, denominators, bound)
    empty = bottoms == 0
    if empty_group == "zero" and empty.any():
        tops, bottoms = np.where(empty, 0, tops), np.where(empty, 1, bottoms)
    part, whole = bound.numerator, bound.denominator
    holds = np.ones(len(tops), dtype=bool)
    for i, j in combinations(range(tops.shape[1]), 2):
        first = tops[:, i] * bottoms[:, j]
        second = tops[:, j] * bottoms[:, i]
        if measure == "difference":
            kept = np.abs(first - second) * whole <= part * (bottoms[:, i] * bottoms[:, j])
        else:
            kept = np.minimum(first, second) * whole >= (whole - part) * np.maximum(first, second)
        if empty_group == "vacuous":
            kept = kept | empty[:, i] | empty[:, j]
        holds &= kept.astype(bool)
    return holds


def whole_numbers(
    numerators: Counts, denominators: Counts, *fractions: Fraction
) -> tuple[Counts, Counts]:
    """Return counters as int64, or as objects where products with fractions could be too large."""
    tops, bottoms = np.asarray(numerators), np.asarray(denominators)
    most = max(int(tops.max(initial=1)), int(bottoms.max(initial=1)))
    factor = max(max(abs(fraction.numerator), fraction.denominator) for fraction in fractions)
    # A difference of fractions has at most twice the size of each.
    if 2 * most * most * factor < _LARGEST:
        return tops.astype(np.int64, copy=False), bottoms.astype(np.int64, copy=False)
    return tops.astype(object), bottoms.astype(object)


def _group_names(names: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return checked_groups(names)
    except SpecificationError as error:
        raise mistake((), error.what, error.remedy) from error


GroupNames = Annotated[tuple[str, ...], AfterValidator(_group_names)]


class PropertyTable(Part):
    """What is counted, and how far groups may be apart; which names are known, each kind says."""

    property: str = Field(description="a known property, or custom")
    bound: ExactShare = Field(description="the largest bias, exactly as written")
    empty_group: EmptyGroup = Field(
        "vacuous", description="a group of which nobody came is left out, or its rate is zero"
    )
    numerator: tuple[str, ...] | None = Field(None, description="events that it counts (custom)")
    denominator: tuple[str, ...] | None = Field(None, description="events that it counts (custom)")
    measure: RateMeasure | None = Field(None, description="how rates are compared (custom)")

    @model_validator(mode="after")
    def _events_make_a_property(self) -> PropertyTable:
        for key in ("numerator", "denominator", "measure"):
            given, events = getattr(self, key), key != "measure"
            if self.property != "custom" and given is not None:
                what = f'only property = "custom" has it, {self.property} is known'
                raise mistake(key, what, "remove it")
            if self.property == "custom" and events and not given:
                remedy = 'give one such as ["accept:1"]'
                raise mistake(key, "a custom property needs a list of events", remedy)
            if given and events and (twice := repeated(list(given))):
                raise mistake(key, f"the event {twice!r} stands twice")
        try:
            self.all_made()
        except SpecificationError as error:
            key = error.where.removeprefix("fairness.")
            raise mistake(key, error.what, error.remedy) from error
        return self

    def all_made(self) -> tuple[FairnessProperty, ...]:
        """Return the property, or the properties that a joint name stands for."""
        if self.property != "custom":
            names = _JOINT.get(self.property, (self.property,))
            return tuple(NAMED_PROPERTIES[name] for name in names)
        custom = property_from_events(
            "custom",
            numerator=self.numerator or (),
            denominator=self.denominator or (),
            measure=self.measure or "difference",
        )
        return (custom,)


class FairnessPart(PropertyTable):
    """What is counted, and how far groups may be apart."""

    property: ShieldPropertyName = Field(description="a known property, or custom")
    shares: dict[str, tuple[ExactShare, ExactShare]] | None = Field(
        None, description="lowest and highest share of each group (share_of_accepted)"
    )

    @model_validator(mode="after")
    def _shares_agree(self) -> FairnessPart:
        if (self.property == "share_of_accepted") != bool(self.shares):
            what = 'property = "share_of_accepted" and shares belong together'
            raise mistake(
                "shares", what, "give both or neither, as in shares = { women = [0.4, 1] }"
            )
        if self.shares is None:
            return self
        for group, (low, high) in self.shares.items():
            if low > high:
                raise mistake(("shares", group), f"{low} is above {high}", "give [lowest, highest]")
        if self.empty_group == "zero":
            what = "without an accepted person there are no shares"
            raise mistake("empty_group", what, "remove it")
        return self

    def all_made(self) -> tuple[FairnessProperty, ...]:
        """Return the property; the shares of its groups are not in it yet."""
        if self.property == "share_of_accepted":
            return (SHARE_OF_ACCEPTED,)
        return super().all_made()

    def made(self, groups: Sequence[str]) -> FairnessProperty:
        """Return the property, with the shares of these groups if it is about them."""
        made = self.all_made()[0]
        if self.shares is None:
            return made
        free = Fraction(0), Fraction(1)
        return replace(made, shares=tuple(self.shares.get(group, free) for group in groups))
