"""The words for what a fairness property counts, for a bias and for its bound."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from testsgd.report.formatting import number, series
from testsgd.report.summaries import ExactNumber, Part

if TYPE_CHECKING:
    from testsgd.fairness import EmptyGroup, FairnessProperty
    from testsgd.fairness.property import Increments

_DECISIONS = ((1, "accept"), (0, "reject"))
# What becomes of a group without a rate, by `empty_group`.
EMPTY_GROUPS = {"vacuous": "is left out of the comparison", "zero": "has rate 0"}
EMPTY_GROUP_NOTES = {
    "vacuous": "A group that has no rate yet is left out of the comparison.",
    "zero": "A group that has no rate yet counts as one with rate 0.",
}


class CountedProperty(Part):
    """What is counted of each group, how rates are compared, and how far they may be apart."""

    name: str
    property: str = Field(description="the fairness property")
    numerator: list[str] = Field(description="events that count above the line of a group's rate")
    denominator: list[str] = Field(description="events that count below it")
    labelled: bool = Field(description="true: the property counts by the true labels")
    measure: Literal["difference", "ratio", "share"] = Field(
        description="the largest difference of two rates, 1 minus the smallest over the largest, "
        "or how far a share of all groups together is outside of its range"
    )
    bound: float
    bound_exact: ExactNumber = Field(description="the same as a fraction")
    empty_group: Literal["vacuous", "zero"] = Field(
        description="a group without a rate is left out, or has rate 0"
    )


def counted_property(
    fairness: FairnessProperty, bound: Fraction, empty_group: EmptyGroup
) -> dict[str, Any]:
    """Return the fields of a :class:`CountedProperty`, but for its name."""
    return {
        "property": fairness.name,
        "numerator": _counted_events(fairness, fairness.numerator),
        "denominator": _counted_events(fairness, fairness.denominator),
        "labelled": fairness.labelled,
        "measure": fairness.measure,
        "bound": float(bound),
        "bound_exact": str(bound),
        "empty_group": empty_group,
    }


def _counted_events(fairness: FairnessProperty, added: Increments) -> list[str]:
    """Name the events that add something to a counter, as a specification names them."""
    if not fairness.labelled:
        return [name for decision, name in _DECISIONS if added[decision][1]]
    events = [(decision, name, label) for decision, name in _DECISIONS for label in (1, 0)]
    return [f"{name}:{label}" for decision, name, label in events if added[decision][label]]


def bound_text(counted: CountedProperty) -> str:
    """Return the bound as text, exactly."""
    return exact_number(counted.bound_exact)


def rate_text(counted: CountedProperty, known: Mapping[str, str], group: str) -> str:
    """Describe a group's rate, in the words of a `known` property or by the events it counts."""
    own = (
        f"how often {events_text(counted.numerator)} happened in {group}, over how often "
        f"{events_text(counted.denominator)} did"
    )
    return known.get(counted.property, own)


def exact_number(text: str) -> str:
    """Return a fraction as text, as a decimal number if that is exact and short."""
    value = Fraction(text)
    decimal = number(float(value))
    return decimal if len(decimal) <= 8 and Fraction(decimal) == value else text


def bias_text(bias: float) -> str:
    """Return a bias as text, with three decimals."""
    return f"{bias:.3f}"


def events_text(names: list[str]) -> str:
    """Return the events that are counted as words, such as "an acceptance or a rejection"."""
    words = []
    for name in names:
        decision, _, label = name.partition(":")
        noun = {"accept": "an acceptance", "reject": "a rejection"}.get(decision, decision)
        words.append(f"{noun} with true label {label}" if label else noun)
    return series(words, last="or")
