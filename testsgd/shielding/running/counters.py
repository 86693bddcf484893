"""Where each decision is counted, on plain tuples: what a shield needs in every call."""

from __future__ import annotations

from dataclasses import dataclass

from testsgd.fairness import FairnessProperty

Tally = tuple[int, ...]

NOWHERE = -1


@dataclass(frozen=True, slots=True)
class CounterLayout:
    """Places of the counters in a flat tuple, group by group.

    Attributes
    ----------
    groups : int
    kinds : tuple of tuple of int
        What one event of each kind adds to numerator and denominator.
    places : tuple
        ``places[group][decision][label]`` is the counter of an event, or `NOWHERE`.

    Examples
    --------
    >>> from testsgd.shielding import NAMED_PROPERTIES
    >>> layout = CounterLayout.of(NAMED_PROPERTIES["demographic_parity"], groups=2)
    >>> tally = moved(layout.start, NOWHERE, layout.places[1][1][0])
    >>> tally, layout.numerators(tally), layout.denominators(tally)
    ((0, 0, 0, 1), (0, 1), (0, 1))
    """

    groups: int
    kinds: tuple[tuple[int, int], ...]
    places: tuple[tuple[tuple[int, int], tuple[int, int]], ...]

    @classmethod
    def of(cls, fairness: FairnessProperty, *, groups: int) -> CounterLayout:
        """Lay out the counters of a property."""
        width = len(fairness.kinds)

        def place(group: int, decision: int, label: int) -> int:
            kind = fairness.kind_of(decision, label)
            return NOWHERE if kind < 0 else group * width + kind

        places = tuple(
            (
                (place(group, 0, 0), place(group, 0, 1)),
                (place(group, 1, 0), place(group, 1, 1)),
            )
            for group in range(groups)
        )
        return cls(groups, fairness.kinds, places)

    @property
    def start(self) -> Tally:
        """Counters before anything has happened."""
        return (0,) * (self.groups * len(self.kinds))

    def numerators(self, tally: Tally) -> Tally:
        """Numerator of every group."""
        return self._sums(tally, 0)

    def denominators(self, tally: Tally) -> Tally:
        """Denominator of every group."""
        return self._sums(tally, 1)

    def by_group(self, tally: Tally) -> tuple[Tally, ...]:
        """Give the counters of every group, one tuple each."""
        width = len(self.kinds)
        return tuple(tally[start : start + width] for start in range(0, len(tally), width))

    def _sums(self, tally: Tally, part: int) -> Tally:
        return tuple(
            sum(times * kind[part] for times, kind in zip(counts, self.kinds, strict=True))
            for counts in self.by_group(tally)
        )


def moved(tally: Tally, old: int, new: int) -> Tally:
    """Take an event from one counter to another.

    Parameters
    ----------
    tally : tuple of int
    old, new : int
        Places, or `NOWHERE`.

    Examples
    --------
    >>> moved((2, 0), 0, 1)
    (1, 1)
    """
    if old == new:
        return tally
    if old >= 0:
        tally = (*tally[:old], tally[old] - 1, *tally[old + 1 :])
    if new >= 0:
        tally = (*tally[:new], tally[new] + 1, *tally[new + 1 :])
    return tally


def added(one: Tally, other: Tally) -> Tally:
    """Add two tallies.

    Examples
    --------
    >>> added((1, 0), (2, 3))
    (3, 3)
    """
    return tuple(first + second for first, second in zip(one, other, strict=True))
