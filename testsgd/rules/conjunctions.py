"""Conjunctions of single values of many features, found level by level.

The lattice sums over every subset of values and every range, so it goes only a few features deep
where there are many. Of single values there are far fewer conjunctions with enough rows: none has
fewer rows than a conjunction of fewer conditions, so one without enough rows is never extended.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.rules.axes import Axis, IntervalAxis
from testsgd.rules.contingency import Contingency, Counts
from testsgd.rules.rule import Rule, RuleSet

# Conjunctions extended at once; their counts take some megabytes.
_TOGETHER = 8192


@dataclass(frozen=True)
class Level:
    """Conjunctions of equally many conditions with enough rows."""

    conditions: NDArray[np.int32]  # Numbers of conditions, ascending; shape (n, conditions).
    rows: Counts  # Shape (n,).


@dataclass(frozen=True)
class Conditions:
    """Single values of the features that enough rows have, one bit a row."""

    rules: tuple[Rule, ...]
    feature: NDArray[np.int32]  # The number of the feature of each; shape (conditions,).
    bits: NDArray[np.uint64]  # Shape (conditions, words).
    rows: Counts  # Shape (conditions,).
    # Rows in which each number is known that has missing values, one bit a row, after all rows;
    # shape (1 + numbers, words).
    known: NDArray[np.uint64]
    # Which of these each condition is compared within; shape (conditions,).
    known_of: NDArray[np.int32]

    @classmethod
    def of(cls, contingency: Contingency, *, min_rows: int) -> Conditions:
        """Return the single values of a table's features that enough rows have."""
        rules: list[Rule] = []
        features: list[int] = []
        bits: list[NDArray[np.uint64]] = []
        rows: list[int] = []
        known_of: list[int] = []
        everything = np.ones(len(contingency.cell_of_row), dtype=bool)
        known = [row_bits(everything)]
        for index, axis in enumerate(contingency.axes):
            cells = contingency.coordinates[:, index][contingency.cell_of_row]
            missing = len(axis.labels)
            if isinstance(axis, IntervalAxis) and axis.has_missing:
                missing -= 1
                known.append(row_bits(cells != missing))
            for cell, rule in _single_values(axis):
                inside = cells == cell
                count = int(inside.sum())
                if min_rows <= count < len(inside):
                    rules.append(rule)
                    features.append(index)
                    bits.append(row_bits(inside))
                    rows.append(count)
                    # That a number is missing is compared with all other rows.
                    is_interval = missing < len(axis.labels) and cell != missing
                    known_of.append(len(known) - 1 if is_interval else 0)
        return cls(
            rules=tuple(rules),
            feature=np.array(features, dtype=np.int32),
            bits=np.array(bits, dtype=np.uint64).reshape(len(rules), len(known[0])),
            rows=np.array(rows, dtype=np.int64),
            known=np.array(known, dtype=np.uint64),
            known_of=np.array(known_of, dtype=np.int32),
        )

    def rule_set(self, conditions: NDArray[np.int32]) -> RuleSet:
        """Return a conjunction as a rule set."""
        return RuleSet(tuple(self.rules[number] for number in conditions.tolist()))

    def levels(
        self, *, min_rows: int, most: int, longest: int | None = None
    ) -> tuple[list[Level], bool]:
        """Return the conjunctions with enough rows, by their number of conditions.

        Parameters
        ----------
        min_rows : int
            Fewest rows of a conjunction.
        most : int
            Most conjunctions of a level.
        longest : int, optional
            Most conditions of a conjunction.

        Returns
        -------
        levels : list of Level
            Those of one condition first, up to the level that would have more than `most`.
        complete : bool
            Whether there are no more.
        """
        level: Level | None = Level(np.arange(len(self.rules), dtype=np.int32)[:, None], self.rows)
        levels: list[Level] = []
        while level is not None and len(level.rows):
            levels.append(level)
            if len(levels) == longest:
                break
            level = self._extended(level, min_rows=min_rows, most=most)
        return levels, level is not None and len(levels) != longest

    def _extended(self, level: Level, *, min_rows: int, most: int) -> Level | None:
        """Return the conjunctions of one more condition; None if there are more than `most`."""
        # Imported here: machine code takes a second to load, and most audits need none.
        from testsgd.rules.compiled_conjunctions import count_extended

        extended: list[NDArray[np.int32]] = []
        rows: list[Counts] = []
        total = 0
        # Only conditions of later features, so that each conjunction comes once.
        first = np.searchsorted(self.feature, self.feature[level.conditions[:, -1]], side="right")
        for start in range(0, len(level.rows), _TOGETHER):
            part = slice(start, start + _TOGETHER)
            before = level.conditions[part]
            counts = np.zeros((len(before), len(self.rules)), dtype=np.int32)
            count_extended(self.bits, before, first[part].astype(np.int32), counts)
            index, condition = np.nonzero(counts >= max(min_rows, 1))
            extended.append(np.column_stack([before[index], condition.astype(np.int32)]))
            rows.append(counts[index, condition].astype(np.int64))
            total += len(index)
            if total > most:
                return None
        return Level(np.concatenate(extended), np.concatenate(rows))

    def count(self, level: Level, rows: NDArray[np.bool_]) -> Counts:
        """Count the rows of a mask (rows,) that fulfil each conjunction of a level, shape (n,)."""
        from testsgd.rules.compiled_conjunctions import count_within

        counts = np.zeros(len(level.rows), dtype=np.int64)
        count_within(self.bits, level.conditions, row_bits(rows), counts)
        return counts

    def count_together(self, level: Level, rows: NDArray[np.bool_]) -> Counts:
        """Count the rows of a mask that are in each conjunction or in its complement, shape (n,).

        Rows in which a number is missing that a conjunction has an interval of are in neither.
        """
        from testsgd.rules.compiled_conjunctions import count_within

        if len(self.known) == 1:
            return np.full(len(level.rows), rows.sum(), dtype=np.int64)
        within, universe = np.unique(self.known_of[level.conditions], axis=0, return_inverse=True)
        counts = np.zeros(len(within), dtype=np.int64)
        count_within(self.known, within, row_bits(rows), counts)
        of_levels: Counts = counts[universe.ravel()]
        return of_levels


def _single_values(axis: Axis) -> list[tuple[int, Rule]]:
    """Return each cell of an axis that has a rule of its own, with that rule."""
    rules = [(cell, axis.cell_rule(cell)) for cell in range(len(axis.labels))]
    return [(cell, rule) for cell, rule in rules if rule is not None]


def row_bits(inside: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return a mask of rows as bits, 64 of them a word; unused bits of the last word are 0.

    Examples
    --------
    >>> row_bits(np.array([True, False, True])).tolist()
    [5]
    """
    packed = np.packbits(inside, bitorder="little")
    whole = np.zeros(-(-len(packed) // 8) * 8, dtype=np.uint8)
    whole[: len(packed)] = packed
    return whole.view(np.uint64)
