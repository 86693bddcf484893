"""The events that a fairness property counts, by the names that a specification gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testsgd.fairness import FairnessProperty


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
