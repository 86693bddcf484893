"""Counters of groups, which are found as they come or known before."""

from __future__ import annotations

from typing import Any


class GroupCounts:
    """A numerator and a denominator of each group.

    Parameters
    ----------
    names : tuple of str
        The groups that are known before.

    Attributes
    ----------
    names : list of str
        In the order in which they were found.
    numerators, denominators : list of int
    trials : int
        How many trials were counted, whatever they added.

    Examples
    --------
    >>> counts = GroupCounts()
    >>> counts.add("a", (1, 1))
    0
    >>> counts.names, counts.numerators, counts.trials
    (['a'], [1], 1)
    """

    __slots__ = ("_places", "denominators", "names", "numerators", "trials")

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.names = list(names)
        self._places = {name: place for place, name in enumerate(names)}
        self.numerators = [0] * len(names)
        self.denominators = [0] * len(names)
        self.trials = 0

    def add(self, group: str, added: tuple[int, int]) -> int:
        """Count a trial; give the place of its group."""
        place = self._places.get(group)
        if place is None:
            place = self._places[group] = len(self.names)
            self.names.append(group)
            self.numerators.append(0)
            self.denominators.append(0)
        self.numerators[place] += added[0]
        self.denominators[place] += added[1]
        self.trials += 1
        return place

    def remove(self, group: str, added: tuple[int, int]) -> None:
        """Take back a trial that was counted."""
        place = self._places[group]
        self.numerators[place] -= added[0]
        self.denominators[place] -= added[1]
        self.trials -= 1

    def to_state(self) -> list[Any]:
        """Give the counters, as JSON has them."""
        return [[*self.names], [*self.numerators], [*self.denominators], self.trials]

    @classmethod
    def from_state(cls, state: list[Any]) -> GroupCounts:
        """Make counters of what :meth:`to_state` gave."""
        counts = cls(tuple(state[0]))
        numerators, denominators, counts.trials = state[1:]
        counts.numerators, counts.denominators = list(numerators), list(denominators)
        return counts
