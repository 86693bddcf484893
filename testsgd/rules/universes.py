"""Universes: the rows that groups are compared within.

A rule on a number is not about rows in which the number is missing: they are a group of their
own. So for `age < 24` the complement is all other rows whose age is known, and for rules on several
numbers all other rows in which each of these is known. A rule on a category, and the rule that a
number is missing, leave no row out.

The rows that are left are a universe. There is one for each choice of numbers with missing values,
and only one, all rows, where no number is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testsgd.rules.axes import Axis, IntervalAxis, Number
from testsgd.rules.contingency import Block, Contingency, feature_subsets

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Universes:
    """Universes of all rule sets of some depth: the rows that groups are compared within.

    A universe is the rows in which certain numbers are known. The first one has all rows; it is the
    only one where no number is missing.

    Examples
    --------
    >>> axes = (IntervalAxis("age", (0.0, 50.0, 100.0), has_missing=True),)
    >>> Universes(axes, 2).known
    ((), (0,))
    """

    axes: tuple[Axis, ...]
    max_features: int  # Most rules in a rule set.

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The axes of numbers with missing values; on each the last cell and rule are these."""
        return tuple(
            index
            for index, axis in enumerate(self.axes)
            if isinstance(axis, IntervalAxis) and axis.has_missing
        )

    @cached_property
    def known(self) -> tuple[tuple[int, ...], ...]:
        """The axes whose numbers are known in each universe; the first is that of all rows."""
        chosen = feature_subsets([self.axes[number] for number in self.numbers], self.max_features)
        return ((), *(tuple(self.numbers[place] for place in subset) for subset in chosen))

    @cached_property
    def _place(self) -> dict[tuple[int, ...], int]:
        return {axes: place for place, axes in enumerate(self.known)}

    def __len__(self) -> int:
        return len(self.known)

    def of_rules(self, subset: tuple[int, ...], rules: Sequence[Places]) -> Places | int:
        """Return the universe of each rule set over a subset, (n,), or one number if all share it.

        `rules` are the rule of each axis of the subset, as from `decode`.
        """
        intervals = {
            axis: rule < self.axes[axis].rule_count - 1
            for axis, rule in zip(subset, rules, strict=True)
            if axis in self.numbers
        }
        return self._universe_of(intervals)

    def of_block(self, block: Block[Number], subset: tuple[int, ...]) -> Places | int:
        """Return the universe of each rule set of a block, shape (n,), or one that all share."""
        intervals = {}
        step = 1
        places = np.arange(block.first, block.first + block.sums.shape[1])
        for axis in reversed(subset):
            count = self.axes[axis].rule_count
            if axis in self.numbers:
                intervals[axis] = places // step % count < count - 1
            step *= count
        return self._universe_of(intervals)

    def of_cells(self, subset: tuple[int, ...], cells: Sequence[Places]) -> Places | int:
        """Return the universe of each combination of single cells, shape (n,); one if all share it.

        `cells` are the cell on each axis of the subset, an array (n,) an axis.
        """
        known = {
            axis: cell < len(self.axes[axis].labels) - 1
            for axis, cell in zip(subset, cells, strict=True)
            if axis in self.numbers
        }
        return self._universe_of(known)

    def _universe_of(self, intervals: dict[int, NDArray[np.bool_]]) -> Places | int:
        """Return the universes, given for each number where there is an interval of it."""
        if not intervals:
            return 0
        numbers = sorted(intervals)
        code = sum(intervals[number].astype(np.intp) << bit for bit, number in enumerate(numbers))
        universe_of_code = np.array(
            [
                self._place[tuple(number for bit, number in enumerate(numbers) if code >> bit & 1)]
                for code in range(1 << len(numbers))
            ]
        )
        universes: Places = universe_of_code[code]
        return universes

    def parts(self, universe: Places | int, size: int) -> Iterator[tuple[int, Places]]:
        """Yield each universe that occurs, and the places of the rule sets in it."""
        if not isinstance(universe, np.ndarray):
            yield universe, np.arange(size)
            return
        for number in np.unique(universe).tolist():
            yield number, np.flatnonzero(universe == number)

    def members(self, contingency: Contingency) -> NDArray[np.bool_]:
        """Return a mask of the cells that belong to each universe, shape (universes, cells)."""
        inside = np.ones((len(self), contingency.cells), dtype=bool)
        for place, numbers in enumerate(self.known):
            for axis in numbers:
                inside[place] &= contingency.coordinates[:, axis] < len(self.axes[axis].labels) - 1
        return inside

    def totals(self, contingency: Contingency, quantities: NDArray[Number]) -> NDArray[Number]:
        """Return sums of quantities (q, cells) over each universe, shape (q, universes)."""
        sums = [quantities.sum(axis=1)]
        if len(self) > 1:
            sums += [quantities[:, cells].sum(axis=1) for cells in self.members(contingency)[1:]]
        return np.stack(sums, axis=1)
