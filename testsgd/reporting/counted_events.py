"""What a fairness property counts, as documents and specifications name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from testsgd.reporting.parts import Part

if TYPE_CHECKING:
    from testsgd.fairness import FairnessProperty


class CountedProperty(Part):
    """What is counted of each group, and how rates are compared."""

    name: str
    property: str = Field(description="the fairness property")
    numerator: list[str] = Field(description="events that count above the line of a group's rate")
    denominator: list[str] = Field(description="events that count below it")
    labelled: bool = Field(description="true: the property counts by the true labels")
    measure: Literal["difference", "ratio"] = Field(
        description="the largest difference of two rates, or 1 minus the smallest over the largest"
    )


def counted_events(
    fairness: FairnessProperty, added: tuple[tuple[int, int], tuple[int, int]]
) -> list[str]:
    """Name the events that add something to a counter.

    Parameters
    ----------
    fairness : FairnessProperty
        The property.
    added : tuple of tuple of int
        Its numerator or its denominator.

    Returns
    -------
    list of str
        As a specification names them.

    Examples
    --------
    >>> from testsgd.fairness import NAMED_PROPERTIES
    >>> chance = NAMED_PROPERTIES["equal_opportunity"]
    >>> counted_events(chance, chance.denominator)
    ['accept:1', 'reject:1']
    """
    found = []
    for decision, name in ((1, "accept"), (0, "reject")):
        if not fairness.labelled:
            found += [name] if added[decision][1] else []
            continue
        found += [f"{name}:{label}" for label in (1, 0) if added[decision][label]]
    return found
