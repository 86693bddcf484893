"""The lattice: sums over every rule set at once.

For each subset of the sensitive features the contingency table is contracted, axis by axis, with
the features' rule matrices; what comes out holds, for every combination of one rule a feature, the
sum over the rows that satisfy them all. What would be too large is cut along the rules contracted
so far, so that the room needed is bounded whatever the number of rule sets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from testsgd.rules.axes import Axis, Number
from testsgd.rules.contingency import Contingency
from testsgd.rules.rule import RuleSet

# Numbers in one block; 2 MB, which a processor keeps at hand.
_BLOCK_NUMBERS = 1 << 18


@dataclass(frozen=True)
class Block(Generic[Number]):
    """Sums over consecutive rule sets of one subset of the features.

    Attributes
    ----------
    subset : int
        Which of :func:`feature_subsets`.
    first : int
        Place of the first rule set among those of the subset.
    sums : numpy.ndarray of the quantities' type, shape (q, rule sets)
    """

    subset: int
    first: int
    sums: NDArray[Number]


def feature_subsets(axes: Sequence[Axis], max_features: int) -> tuple[tuple[int, ...], ...]:
    """List the subsets of features that rule sets may be over, small ones first."""
    sizes = range(1, min(max_features, len(axes)) + 1)
    return tuple(
        subset for size in sizes for subset in itertools.combinations(range(len(axes)), size)
    )


def candidate_count(axes: Sequence[Axis], max_features: int) -> int:
    """Count the rule sets that the axes allow, whether anybody satisfies them or not."""
    return sum(
        math.prod(axes[axis].rule_count for axis in subset)
        for subset in feature_subsets(axes, max_features)
    )


def rule_set_sums(
    contingency: Contingency, quantities: NDArray[Number], max_features: int
) -> Iterator[Block[Number]]:
    """Sum quantities over the rows of every rule set.

    Parameters
    ----------
    contingency : Contingency
        The sensitive features' combinations.
    quantities : numpy.ndarray of int64 or float, shape (q, cells)
        What to sum, tallied by cell.
    max_features : int
        Most rules in a rule set.

    Yields
    ------
    Block
    """
    axes = contingency.axes
    for index, subset in enumerate(feature_subsets(axes, max_features)):
        rule_counts = [axes[axis].rule_count for axis in subset]
        if 0 in rule_counts:
            continue
        cells = contingency.dense(subset, quantities)[:, None]
        for first, sums in _expand(cells, [axes[axis] for axis in subset], 0):
            yield Block(index, first, sums)


def _expand(
    sums: NDArray[Number], axes: list[Axis], first: int
) -> Iterator[tuple[int, NDArray[Number]]]:
    """Contract the remaining axes, in blocks of bounded size.

    `sums` has the shape (q, rule sets of the axes before, cells of each remaining axis); `first` is
    the place of its first rule set once everything is contracted.
    """
    rest = math.prod(axis.rule_count for axis in axes)
    before = sums.shape[1]
    fits = len(sums) * before * rest <= _BLOCK_NUMBERS
    if fits or (before == 1 and len(axes) == 1):
        for place, axis in enumerate(axes, start=2):
            sums = axis.contract(sums, place)
        yield first, np.ascontiguousarray(sums).reshape(len(sums), -1)
    elif before > 1:
        step = max(1, _BLOCK_NUMBERS // (len(sums) * rest))
        for start in range(0, before, step):
            yield from _expand(sums[:, start : start + step], axes, first + start * rest)
    else:
        yield from _expand(axes[0].contract(sums, 2)[:, 0], axes[1:], first)


def decode(
    axes: Sequence[Axis], subset: tuple[int, ...], places: NDArray[np.int64]
) -> tuple[NDArray[np.intp], ...]:
    """Give the rule of each axis of a subset, from places among the subset's rule sets."""
    shape = tuple(axes[axis].rule_count for axis in subset)
    return tuple(np.unravel_index(places, shape))


def rule_set_at(axes: Sequence[Axis], subset: tuple[int, ...], place: int) -> RuleSet:
    """Give one rule set from its place among those of a subset of the features."""
    indices = decode(axes, subset, np.array([place], dtype=np.int64))
    return RuleSet(
        tuple(axes[axis].rule(int(index[0])) for axis, index in zip(subset, indices, strict=True))
    )
