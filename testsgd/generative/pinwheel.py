"""Betas below the number of values: a pinwheel schedule, decided on the graph of counters.

With betas of at least CG there is always an order of values that meets them: one after the other.
A smaller beta of one value takes outputs from the others, and whether all betas can be met is a
pinwheel problem. It is decided by the greatest set of counters from which some value leads back
into the set without a missed deadline; from outside no order goes on for ever.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]

# A set of more states would take too long, and too much memory.
MOST_STATES = 4_000_000
_MOST_TRIED = 3_000


class Pinwheel:
    """The counters from which the betas can be met for ever.

    Large betas are cut where there would be too many states. That is on the safe side: a larger
    counter is never worse than a smaller one.

    Parameters
    ----------
    betas : sequence of int, length CG
        The number of outputs within which each value must come, and come again.
    most_states : int
        The largest number of states.

    Examples
    --------
    >>> Pinwheel((2, 4, 4)).is_feasible, Pinwheel((2, 3, 5)).is_feasible
    (True, False)
    >>> Pinwheel((2, 4, 4)).candidates((1, 3, 3), wasted=False)
    (0,)
    """

    def __init__(self, betas: Sequence[int], *, most_states: int = MOST_STATES) -> None:
        self.betas = capped(betas, most_states=most_states)
        # The index of a state is its counters, each less 1.
        self.safe = safe_states(self.betas)

    @property
    def is_feasible(self) -> bool:
        """Whether the betas can be met from the start."""
        return bool(self.safe[tuple(beta - 1 for beta in self.betas)])

    def candidates(self, counters: Sequence[int], *, wasted: bool) -> tuple[int, ...]:
        """Return the values among which one must be asked for; none: waiting is safe.

        Parameters
        ----------
        counters : sequence of int, length CG
            Outputs within which each value must come, the next one included.
        wasted : bool
            Whether an output that is not asked for may serve no value.

        Returns
        -------
        tuple of int
            Indices of values. Where no deadline can be kept any more, the most urgent value.
        """
        known = [min(counter, beta) for counter, beta in zip(counters, self.betas, strict=True)]
        leading = [index for index in range(len(known)) if self._leads_back(known, index)]
        if wasted:
            waits = min(known) > 1 and bool(self.safe[tuple(counter - 2 for counter in known)])
        else:
            waits = len(leading) == len(known)
        if waits:
            return ()
        return tuple(leading) or (min(range(len(known)), key=lambda index: known[index]),)

    def _leads_back(self, counters: list[int], value: int) -> bool:
        """Return whether an output of a value leads to safe counters."""
        after = []
        for index, (counter, beta) in enumerate(zip(counters, self.betas, strict=True)):
            if index == value:
                after.append(beta - 1)
            elif counter == 1:
                return False
            else:
                after.append(counter - 2)
        return bool(self.safe[tuple(after)])


def capped(betas: Sequence[int], *, most_states: int) -> tuple[int, ...]:
    """Return betas, the largest of them cut to one limit, so that there are few enough states.

    Examples
    --------
    >>> capped((2, 100, 100), most_states=1000)
    (2, 22, 22)
    """
    limit = max(betas)
    if math.prod(betas) > most_states:
        low, high = 1, limit
        while low < high:
            middle = (low + high + 1) // 2
            if math.prod(min(beta, middle) for beta in betas) <= most_states:
                low = middle
            else:
                high = middle - 1
        limit = low
    return tuple(min(beta, limit) for beta in betas)


def safe_states(betas: Sequence[int]) -> Flags:
    """Return the greatest set of counters from which some value leads back into the set.

    Parameters
    ----------
    betas : sequence of int, length CG

    Returns
    -------
    numpy.ndarray of bool, shape `betas`
        True at the index (c1 - 1, c2 - 1, ...) if the counters (c1, c2, ...) are in the set.

    Examples
    --------
    >>> bool(safe_states((3, 3, 3))[2, 2, 2]), bool(safe_states((2, 3, 5)).any())
    (True, False)
    """
    safe = np.ones(tuple(betas), dtype=bool)
    while True:
        following = np.zeros_like(safe)
        for value, beta in enumerate(betas):
            # States after an output of this value, by the counters of the others before it.
            after = safe.take(beta - 1, axis=value)
            before = np.zeros_like(after)
            later = (slice(1, None),) * after.ndim
            earlier = (slice(None, -1),) * after.ndim
            before[later] = after[earlier]
            following |= np.expand_dims(before, value)
        following &= safe
        if np.array_equal(following, safe):
            return safe
        safe = following


def nearest_feasible(betas: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the betas nearest to others, none of them smaller, that can be met.

    Nearest are those with the smallest sum of increases. If there are too many to try, the betas
    that are raised to the number of values, which can always be met.

    Examples
    --------
    >>> nearest_feasible((2, 3, 3))
    ((3, 3, 3),)
    >>> nearest_feasible((2, 3, 5))
    ((2, 4, 5), (3, 3, 5))
    """
    number = len(betas)
    raised = tuple(max(beta, number) for beta in betas)
    largest = sum(raised) - sum(betas)
    tried = 0
    for total in range(largest + 1):
        found = []
        for increases in _increases(number, total):
            vector = tuple(beta + increase for beta, increase in zip(betas, increases, strict=True))
            # Outputs are shared: each value takes at least 1 / beta of them.
            if sum(1 / beta for beta in vector) > 1 + 1e-9:
                continue
            tried += 1
            if tried > _MOST_TRIED:
                return (raised,)
            if min(vector) >= number or Pinwheel(vector, most_states=100_000).is_feasible:
                found.append(vector)
        if found:
            return tuple(found)
    return (raised,)


def _increases(number: int, total: int) -> Iterator[tuple[int, ...]]:
    """Return all ways to share a total among some values."""
    for bars in itertools.combinations(range(total + number - 1), number - 1):
        ends = (-1, *bars, total + number - 1)
        yield tuple(ends[index + 1] - ends[index] - 1 for index in range(number))
