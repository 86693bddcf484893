"""Named groups: axes whose only rules are those of given groups, and the groups over them.

A search has every rule over a feature; here a feature has just the rules that somebody named. So
numbers may be cut at any limit, and a categorical feature may have any number of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from testsgd.data import MISSING, Table
from testsgd.rules.axes import Axis, CategoryAxis, IntervalAxis, Number, bin_edges
from testsgd.rules.contingency import feature_subsets
from testsgd.rules.mining import FrequentRuleSets
from testsgd.rules.rule import IntervalRule, Rule, RuleSet, ValueRule


@dataclass(frozen=True)
class NamedValuesAxis(CategoryAxis):
    """Values of a categorical feature that occur, a cell each; only named subsets are rules.

    Examples
    --------
    >>> axis = NamedValuesAxis("region", ("north", "east"), (0, 1), named=(("north", "west"),))
    >>> axis.rule(0).text, axis.matrix.tolist()
    ('region in {north, west}', [[1, 0]])
    """

    named: tuple[tuple[str, ...], ...] = ()  # The values of each rule; some may not occur.

    @property
    def rule_count(self) -> int:
        """As many as are named."""
        return len(self.named)

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """The 0/1 matrix, shape (rules, cells)."""
        chosen = [[value in values for value in self.values] for values in self.named]
        return np.array(chosen, dtype=np.int64).reshape(len(self.named), len(self.values))

    def rule(self, index: int) -> ValueRule:
        """Return one rule."""
        return ValueRule(self.feature, self.named[index])

    def contract(self, counts: NDArray[Number], axis: int) -> NDArray[Number]:
        """Replace values along an axis by sums over each named subset of them."""
        matrix = self.matrix.astype(counts.dtype)
        sums: NDArray[Number] = np.tensordot(matrix, np.moveaxis(counts, axis, 0), axes=1)
        return np.moveaxis(sums, 0, axis)


@dataclass(frozen=True)
class NamedIntervalsAxis(IntervalAxis):
    """Bins of a number, a cell each; only named runs of bins are rules, and missing values.

    Examples
    --------
    >>> axis = NamedIntervalsAxis("age", (0.0, 18.0, 25.0, 90.0), named=((1, 2),))
    >>> axis.rule(0).text, axis.matrix.tolist()
    ('18 <= age < 25', [[0, 1, 0]])
    """

    # The first bin of each rule, and the bin after its last.
    named: tuple[tuple[int, int], ...] = ()

    @cached_property
    def _runs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        starts, stops = np.array(self.named, dtype=np.intp).reshape(-1, 2).T
        return starts, stops


def named_axes(table: Table, rule_sets: Sequence[RuleSet]) -> tuple[Axis, ...]:
    """Return one axis for each sensitive feature, which has only the rules of given groups.

    Parameters
    ----------
    table : Table
        The rows.
    rule_sets : sequence of RuleSet
        The groups. A number that they have intervals of is cut at just their limits, any other as
        its description says.

    Returns
    -------
    tuple of Axis
        In the order of the description.
    """
    axes: list[Axis] = []
    for name in table.specification.sensitive:
        rules = [rule for group in rule_sets for rule in group.rules if rule.feature == name]
        if table.specification.features[name].continuous:
            intervals = [rule for rule in rules if isinstance(rule, IntervalRule)]
            axes.append(_intervals_axis(table, name, intervals))
        else:
            values = [rule.values for rule in rules if isinstance(rule, ValueRule)]
            axes.append(_values_axis(table, name, values))
    return tuple(axes)


def groups_of_rule_sets(axes: tuple[Axis, ...], rule_sets: Sequence[RuleSet]) -> FrequentRuleSets:
    """Return given groups over axes that have their rules; nothing is summed over them yet.

    Parameters
    ----------
    axes : tuple of Axis
        Those of :func:`named_axes` for these groups, or for more.
    rule_sets : sequence of RuleSet
        The groups.

    Returns
    -------
    FrequentRuleSets
        In the order given; its ``sums`` are empty.

    Examples
    --------
    >>> axes = (NamedValuesAxis("sex", ("f", "m"), (0, 1), named=(("f",),)),)
    >>> groups = groups_of_rule_sets(axes, [RuleSet((ValueRule("sex", ("f",)),))])
    >>> groups.rule_set(0).text
    'sex = f'
    """
    subsets = feature_subsets(axes, max((len(group.rules) for group in rule_sets), default=1))
    place = {axis.feature: index for index, axis in enumerate(axes)}
    number = {
        (axis.feature, axis.rule(index)): index for axis in axes for index in range(axis.rule_count)
    }
    of_subset = []
    positions = []
    for group in rule_sets:
        rules: dict[int, Rule] = {place[rule.feature]: rule for rule in group.rules}
        subset = tuple(sorted(rules))
        indices = tuple(number[rules[axis].feature, rules[axis]] for axis in subset)
        shape = tuple(axes[axis].rule_count for axis in subset)
        of_subset.append(subsets.index(subset))
        positions.append(int(np.ravel_multi_index(indices, shape)))
    return FrequentRuleSets(
        axes=axes,
        subsets=subsets,
        subset=np.array(of_subset, dtype=np.int32),
        position=np.array(positions, dtype=np.int64),
        sums=np.zeros((0, len(rule_sets)), dtype=np.int64),
        candidates=len(rule_sets),
        frequent=len(rule_sets),
    )


def _intervals_axis(
    table: Table, name: str, intervals: Sequence[IntervalRule]
) -> NamedIntervalsAxis:
    """Return the axis of a number, cut at the limits of intervals."""
    edges = bin_edges(table.specification.features[name])
    limits = {limit for rule in intervals for limit in (rule.low, rule.high) if limit is not None}
    if limits:
        cuts = sorted(limits)
        # No limit is an end of the range: rules are open there.
        first = edges[0] if edges[0] < cuts[0] else cuts[0] - max(1.0, abs(cuts[0]))
        last = edges[-1] if edges[-1] > cuts[-1] else cuts[-1] + max(1.0, abs(cuts[-1]))
        edges = (first, *cuts, last)
    runs = [
        (
            0 if rule.low is None else edges.index(rule.low),
            len(edges) - 1 if rule.high is None else edges.index(rule.high),
        )
        for rule in intervals
    ]
    return NamedIntervalsAxis(
        feature=name,
        edges=edges,
        has_missing=table.missing[name] > 0,
        named=tuple(dict.fromkeys(runs)),
    )


def _values_axis(table: Table, name: str, named: Sequence[tuple[str, ...]]) -> NamedValuesAxis:
    """Return the axis of a categorical feature: the values that occur in a table."""
    present = {int(code) for code in np.unique(table.codes(name))}
    declared = table.specification.features[name].values or []
    codes = [code for code in range(len(declared)) if code in present]
    values = [declared[code] for code in codes]
    if -1 in present:
        codes.append(-1)
        values.append(MISSING)
    return NamedValuesAxis(
        feature=name,
        values=tuple(values),
        codes=tuple(codes),
        named=tuple(dict.fromkeys(named)),
    )
