"""The audit of metrics: from sums over cells to groups that differ, with one guarantee for all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.errors import ParameterError
from testsgd.metrics.bootstrap import References, largest_deviations, shared_error
from testsgd.metrics.cells import MetricCells
from testsgd.metrics.comparison import (
    Compared,
    compare_independent,
    compare_with_chosen,
    of_the_whole,
)
from testsgd.metrics.definitions import Floats, Metric
from testsgd.metrics.parameters import BEST, OVERALL, REST, MetricParameters
from testsgd.metrics.sides import Sides, sides_of
from testsgd.rules import FrequentRuleSets, Unjudged, mine, unjudged_rows
from testsgd.scoring import block_of, distinct_groups, member_overlaps, rank_groups


@dataclass(frozen=True, kw_only=True)
class MetricFindings:
    """What an audit found of one metric; arrays of shape (groups,)."""

    metric: Metric
    overall: float  # The metric of all rows.
    counted: int  # Rows that it counts.
    compared: Compared
    # The group that each is compared with, where it is one of the groups; else -1.
    reference_group: NDArray[np.intp]
    error: float  # Two-sided error rate of each interval.
    ranking: NDArray[np.intp]  # The judged groups, those with the largest lower bounds first.
    distinct: tuple[int, ...]  # The first of them that are no near copies of one before.

    @property
    def significant(self) -> NDArray[np.bool_]:
        """Where the interval leaves out no difference."""
        return self.compared.lower_bound > 0


@dataclass(frozen=True, kw_only=True)
class MetricsFindings:
    """What an audit of metrics found, before anything is rendered."""

    cells: MetricCells
    parameters: MetricParameters
    rule_sets: FrequentRuleSets
    unjudged: Unjudged
    metrics: tuple[MetricFindings, ...]
    replicates: int  # Bootstrap samples behind the intervals; 0 if there are none.


def audit_cells(cells: MetricCells, parameters: MetricParameters) -> MetricsFindings:
    """Compare metrics of all frequent groups with their references.

    All metrics share the error rate: with the guarantee "simultaneous" each gets an equal part of
    it, and within a metric the bootstrap says how much of that each group's interval needs.

    Raises
    ------
    ParameterError
        If the reference is no group, or has too few rows, or a metric has no best value or no
        ratios.
    """
    contingency = cells.contingency
    rule_sets = mine(
        contingency,
        cells.rows[None],
        min_count=parameters.min_rows,
        min_outside=0 if parameters.reference in (OVERALL, BEST) else 1,
        max_features=parameters.max_features,
    )
    unjudged = unjudged_rows(
        contingency,
        min_count=parameters.min_rows,
        max_features=parameters.max_features,
        rows=cells.rows,
    )
    found = tuple(
        _of_metric(cells, index, rule_sets, parameters) for index in range(len(cells.metrics))
    )
    return MetricsFindings(
        cells=cells,
        parameters=parameters,
        rule_sets=rule_sets,
        unjudged=unjudged,
        metrics=found,
        replicates=parameters.replicates if parameters.guarantee == "simultaneous" else 0,
    )


def _of_metric(
    cells: MetricCells, index: int, rule_sets: FrequentRuleSets, parameters: MetricParameters
) -> MetricFindings:
    """Compare one metric of all groups."""
    metric, of_cells = cells.metrics[index], cells.of_metric(index)
    total = of_cells.sum(axis=1)
    everything = sides_of(total[:, None], scale=metric.scale)
    inside_sums = rule_sets.sums_of(cells.contingency, of_cells)
    inside = sides_of(inside_sums, scale=metric.scale)
    if parameters.measure == "ratio" and _has_negatives(metric, inside):
        raise ParameterError(
            f"{metric.name} may be negative, and ratios of negative numbers say nothing",
            where="measure",
            remedy="compare by difference",
            metric=metric.name,
        )
    references, outside, chosen = _references(
        cells, inside, inside_sums, of_cells, rule_sets, metric, parameters
    )
    fewest = parameters.min_rows
    judged = (inside.counted >= fewest) & (outside.counted >= fewest)
    # A group that is its own reference is compared with nothing.
    judged &= chosen != np.arange(len(rule_sets))
    error = 1 - parameters.confidence
    if parameters.guarantee == "simultaneous":
        error /= len(cells.metrics)
        largest = largest_deviations(
            cells.contingency,
            rule_sets,
            of_cells,
            judged if references.compared else inside.counted >= fewest,
            references,
            scale=metric.scale,
            samples=parameters.replicates,
            seed=parameters.seed + index,
        )
        error = shared_error(largest, error, len(rule_sets))
    compared = _compared(inside, outside, everything, judged, error, parameters)
    ranking = rank_groups(
        np.nan_to_num(compared.size),
        rule_sets.sums[0],
        rule_sets.rule_counts(),
        judged,
        compared.lower_bound,
    )
    ranking = ranking[judged[ranking]]
    return MetricFindings(
        metric=metric,
        overall=float(everything.value[0]),
        counted=int(total[0]),
        compared=compared,
        reference_group=chosen,
        error=float(error),
        ranking=ranking,
        distinct=_distinct(cells, rule_sets, ranking, parameters),
    )


def _has_negatives(metric: Metric, inside: Sides) -> bool:
    return metric.scale == "number" and bool((inside.numerator < 0).any())


def _references(
    cells: MetricCells,
    inside: Sides,
    inside_sums: Floats,
    of_cells: Floats,
    rule_sets: FrequentRuleSets,
    metric: Metric,
    parameters: MetricParameters,
) -> tuple[References, Sides, NDArray[np.intp]]:
    """Return what groups are compared with, and which group that is for each, -1 for none."""
    nothing = np.full(len(rule_sets), -1, dtype=np.intp)
    wanted = parameters.reference
    if wanted in (REST, OVERALL):
        references = References()
        outside = sides_of(references.sums(inside_sums, of_cells), scale=metric.scale)
        return references, outside, nothing
    if wanted == BEST:
        best = _best_of_features(metric, inside, rule_sets, parameters)
        return References(compared=False), inside.take(best), best
    group = find_group(rule_sets, wanted)
    members = rule_sets.members(np.array([group]), cells.contingency)[0]
    references = References(cells=members)
    one = sides_of(references.sums(inside_sums, of_cells), scale=metric.scale)
    return references, one, np.full(len(rule_sets), group, dtype=np.intp)


def _best_of_features(
    metric: Metric, inside: Sides, rule_sets: FrequentRuleSets, parameters: MetricParameters
) -> NDArray[np.intp]:
    """Return for each group the one over the same features with the best value."""
    if metric.better == "neither":
        raise ParameterError(
            f"no value of {metric.name} is best",
            where="reference",
            remedy="compare with rest, overall, or one group",
            metric=metric.name,
        )
    sign = 1.0 if metric.better == "higher" else -1.0
    eligible = inside.counted >= parameters.min_rows
    value = np.where(eligible, sign * np.nan_to_num(inside.value), -np.inf)
    best = np.arange(len(rule_sets), dtype=np.intp)
    for subset in np.unique(rule_sets.subset):
        groups = np.flatnonzero(rule_sets.subset == subset)
        # Of equal values the larger group's says more.
        order = np.lexsort((-inside.counted[groups], -value[groups]))
        best[groups] = groups[order[0]]
    return best


def find_group(rule_sets: FrequentRuleSets, text: str) -> int:
    """Return the group that a text such as "sex = Male and race = White" describes.

    Raises
    ------
    ParameterError
        If no frequent group is described so.
    """
    wanted = {" ".join(part.split()) for part in text.split(" and ")}
    texts = rule_sets.texts(np.arange(len(rule_sets)))
    for group, described in enumerate(texts.tolist()):
        if described == text or set(described.split(" and ")) == wanted:
            return group
    single = [item for item in texts.tolist() if " and " not in item]
    raise ParameterError(
        f"no group of enough rows is {text!r}",
        where="reference",
        remedy=f"write rest, overall, best, or a group such as {', '.join(single[:6])}",
        reference=text,
    )


def _compared(
    inside: Sides,
    outside: Sides,
    everything: Sides,
    judged: NDArray[np.bool_],
    error: float,
    parameters: MetricParameters,
) -> Compared:
    """Compare values at an error rate, those of groups that are not judged without intervals."""
    measure, wanted = parameters.measure, parameters.reference
    effect, low, high = np.full((3, len(judged)), np.nan)
    groups = np.flatnonzero(judged)
    if len(groups):
        compare = compare_with_chosen if wanted == BEST else compare_independent
        found, lowest, highest = compare(
            inside.take(groups), outside.take(groups), error, measure=measure
        )
        if wanted == OVERALL:
            share = inside.denominator[groups] / everything.denominator[0]
            found = of_the_whole(found, share, measure=measure)
            lowest = of_the_whole(lowest, share, measure=measure)
            highest = of_the_whole(highest, share, measure=measure)
        effect[groups], low[groups], high[groups] = found, lowest, highest
    whole = wanted == OVERALL
    return Compared(
        measure=measure,
        value=inside.value,
        reference=np.repeat(everything.value, len(judged)) if whole else outside.value,
        counted=inside.counted,
        counted_reference=np.repeat(everything.counted, len(judged)) if whole else outside.counted,
        judged=judged,
        effect=effect,
        low=low,
        high=high,
    )


def _distinct(
    cells: MetricCells,
    rule_sets: FrequentRuleSets,
    ranking: NDArray[np.intp],
    parameters: MetricParameters,
) -> tuple[int, ...]:
    """Return the first groups of a ranking that are no near copies of one before them."""
    overlaps = member_overlaps(
        lambda groups: rule_sets.members(groups, cells.contingency), cells.rows
    )
    return tuple(
        distinct_groups(
            ranking,
            overlaps,
            overlap=parameters.overlap,
            limit=parameters.top,
            block=block_of(cells.contingency.cells),
        )
    )
