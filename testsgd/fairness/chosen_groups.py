"""Which groups of an audit are taken: the first distinct ones, or those that were named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TypeAlias, TypeVar

from testsgd.expressions import Expression, Junction, Membership, Node, Ordering, parse

# Of a search, unless another number is asked for.
_FOUND = 3

Group = TypeVar("Group")
_Comparison: TypeAlias = "Ordering | Membership"


def in_given_order(
    groups: Sequence[Group], conditions: Sequence[str], given: Sequence[str]
) -> list[Group]:
    """Return groups in the order in which they were named.

    Parameters
    ----------
    groups : sequence
        In any order.
    conditions : sequence of str
        The expression of each, a conjunction of comparisons.
    given : sequence of str
        The expressions by which they were named. They may be written otherwise: an audit sorts the
        rules by their features, and of whole numbers ``age <= 29`` is ``age < 30``.

    Returns
    -------
    list
        All of them; those that no expression names are the last.

    Examples
    --------
    >>> conditions = ["age < 30", "sex = f and age >= 30"]
    >>> in_given_order("ab", conditions, ["age >= 30 and sex = f", "age <= 29"])
    ['b', 'a']
    """
    named = [_by_name(text) for text in given]
    places = []
    for condition in conditions:
        rules = _by_name(condition)
        same = (place for place, other in enumerate(named) if _are_same(rules, other))
        places.append(next(same, len(named)))
    # Sorting keeps the order of what has the same place.
    return [groups[index] for index in sorted(range(len(groups)), key=places.__getitem__)]


def first_of(groups: Sequence[Group], most: int | None, *, named: bool) -> Sequence[Group]:
    """Return the first groups; without a number all that were named, or three of a search."""
    if most is None and named:
        return groups
    return groups[: _FOUND if most is None else most]


def _by_name(text: str) -> dict[str, list[_Comparison]]:
    """Return the comparisons of a conjunction, by the names that they are about."""
    found: dict[str, list[_Comparison]] = {}
    open_nodes: list[Node] = [parse(text).root]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, Junction):
            open_nodes += node.parts
        elif isinstance(node, Ordering | Membership):
            found.setdefault(node.name, []).append(node)
    return found


def _are_same(first: dict[str, list[_Comparison]], second: dict[str, list[_Comparison]]) -> bool:
    return first.keys() == second.keys() and all(
        _agree(first[name], second[name], name) for name in first
    )


def _agree(first: list[_Comparison], second: list[_Comparison], name: str) -> bool:
    """Return whether comparisons of one name hold for the same of the values that they speak of."""
    one, other = (Expression("", Junction(tuple(parts), every=True)) for parts in (first, second))
    values = _values_near(chain(first, second))
    return all(one.holds({name: value}) == other.holds({name: value}) for value in values)


def _values_near(comparisons: Iterable[_Comparison]) -> list[int | float | str | None]:
    """Return values at which comparisons may differ.

    An interval begins or ends at its bound or, of whole numbers, beside it.
    """
    values: list[int | float | str | None] = [None]
    for comparison in comparisons:
        if isinstance(comparison, Membership):
            values += comparison.values
        else:
            values += [comparison.bound - 1, comparison.bound, comparison.bound + 1]
    return values
