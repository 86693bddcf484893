"""What makes up a group's difference in a metric, what goes with it, what is left like with like.

None of this says why groups differ. See :mod:`testsgd.auditing.explaining` for selection rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.auditing.conditional import strata_of
from testsgd.auditing.explaining import (
    CorrelatedFeature,
    correlated_features,
    shapley_values,
    simplest_subset,
)
from testsgd.data import Table
from testsgd.metrics.cells import MetricCells, row_sums
from testsgd.metrics.definitions import Floats, Scale
from testsgd.metrics.parameters import REST, Measure
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.sides import Sides, sides_of
from testsgd.rules import FrequentRuleSets, RuleSet
from testsgd.scoring import normal_quantile

Members = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class AlikeComparison:
    """A metric of a group beside that of others with the same mix of chosen features."""

    features: tuple[str, ...]
    value: float  # Of the rows of the group that others are like.
    reference_value: float  # Of the others, with the mix of the group.
    effect: float  # The difference of both, or their ratio.
    low: float  # Ends of its confidence interval.
    high: float
    covered: float  # Share of what the metric counts in the group that others are like.
    strata: int  # Combinations of the features' values that are compared.


@dataclass(frozen=True, kw_only=True)
class GroupExplanation:
    """What makes up a group's difference in a metric, and what goes with it."""

    rule_set: RuleSet
    shapley_values: list[float]  # What each rule adds to the difference of the values.
    simplest: RuleSet  # The fewest rules that keep 90% of it.
    simplest_difference: float
    correlated_features: list[CorrelatedFeature]
    alike: AlikeComparison | None  # None if not asked for, or nothing is alike.


def explain_groups(
    cells: MetricCells,
    index: int,
    rule_sets: FrequentRuleSets,
    groups: NDArray[np.intp],
    *,
    table: Table,
    reference: str,
    alike: Sequence[AlikeComparison | None],
) -> dict[int, GroupExplanation]:
    """Explain the differences of some groups in the metric `index`.

    What rules add is for the difference from the complement if groups are compared with that, and
    else for that from all rows.

    See Shapley, L. S. (1953), A value for n-person games; over the items of a subgroup: Pastor, de
    Alfaro and Baralis (2021), Looking for trouble: analyzing classifier behavior via pattern
    divergence.
    """
    members = rule_sets.members(groups, cells.contingency)
    others = rule_sets.complement_members(groups, cells.contingency)
    correlated = correlated_features(table, cells.contingency, members, others)
    of_cells = cells.of_metric(index)
    scale = cells.metrics[index].scale
    explained = {}
    for place, group in enumerate(groups.tolist()):
        rule_set = rule_sets.rule_set(group)
        selected, known = _cells_of_rules(rule_sets, group, cells)
        differences = _differences(selected, known, of_cells, scale=scale, reference=reference)
        subset = simplest_subset(differences)
        kept = tuple(rule for bit, rule in enumerate(rule_set.rules) if subset >> bit & 1)
        explained[group] = GroupExplanation(
            rule_set=rule_set,
            shapley_values=shapley_values(differences),
            simplest=RuleSet(kept),
            simplest_difference=float(differences[subset]),
            correlated_features=correlated[place],
            alike=alike[place],
        )
    return explained


def _cells_of_rules(
    rule_sets: FrequentRuleSets, group: int, cells: MetricCells
) -> tuple[Members, Members]:
    """Return the cells that each rule of a group selects, and those that it is compared within.

    Both have shape (rules, cells).
    """
    coordinates = cells.contingency.coordinates
    universes = rule_sets.universes
    of_universes = universes.members(cells.contingency)
    [(_, subset, rules)] = rule_sets.by_subset(np.array([group]))
    selected, known = [], []
    for axis, rule in zip(subset, rules, strict=True):
        matrix = rule_sets.axes[axis].matrix.astype(bool)
        selected.append(matrix[int(rule[0])][coordinates[:, axis]])
        universe = np.ravel(universes.of_rules((axis,), (rule,)))[0]
        known.append(of_universes[universe])
    return np.array(selected), np.array(known)


def _differences(
    rules: Members, known: Members, of_cells: Floats, *, scale: Scale, reference: str
) -> Floats:
    """Return the difference of each subset of rules, shape (2**rules,); 0 for the empty subset.

    Bit i of a subset's index is set if it has rule i. Shapes: `rules` and `known` (rules, cells),
    `of_cells` (6, cells).
    """
    subsets = np.arange(1 << len(rules))
    inside = np.ones((len(subsets), of_cells.shape[1]), dtype=bool)
    within = inside.copy()
    for bit, selected in enumerate(rules):
        chosen = subsets >> bit & 1 == 1
        inside[chosen] &= selected
        within[chosen] &= known[bit]
    of_subsets = sides_of(of_cells @ inside.T, scale=scale).value
    if reference == REST:
        others = sides_of(of_cells @ (within & ~inside).T, scale=scale).value
    else:
        others = np.repeat(of_subsets[0], len(subsets))
    # A subset that everything satisfies differs from nothing.
    differences: Floats = np.nan_to_num(of_subsets - others)
    return differences


def compare_alike(
    table: Table,
    cells: MetricCells,
    index: int,
    predictions: Predictions,
    members: Members,
    others: Members,
    *,
    features: Sequence[str],
    measure: Measure,
    error: float,
) -> list[AlikeComparison | None]:
    """Compare groups with others of the same mix of features; None where nothing is alike.

    Each stratum, a combination of the features' values, weighs as much as the metric counts of the
    group in it. Shapes: `members`, `others` (groups, cells).

    Direct standardisation: see Fleiss, Levin and Paik (2003), Statistical Methods for Rates and
    Proportions, chapter 19; the weights are those of the effect on the treated of Imbens (2004),
    The Review of Economics and Statistics 86.
    """
    strata = strata_of(table, features).astype(np.int64)
    width = int(strata.max()) + 1
    # The rows of a cell and a stratum always go together.
    pair_of_row, pairs = pd.factorize(
        cells.contingency.cell_of_row.astype(np.int64) * width + strata
    )
    pair_cell, pair_stratum = np.divmod(np.asarray(pairs), width)
    metric = cells.metrics[index]
    of_pairs = row_sums(predictions, metric, pair_of_row, len(pairs))

    def by_stratum(chosen: Members) -> Floats:
        sums = [
            np.bincount(pair_stratum, weights=row * chosen, minlength=width) for row in of_pairs
        ]
        return np.array(sums)

    compared: list[AlikeComparison | None] = []
    for inside, outside in zip(members[:, pair_cell], others[:, pair_cell], strict=True):
        sums_in = by_stratum(inside)
        sums_out = by_stratum(outside)
        both = (sums_in[0] > 0) & (sums_out[0] > 0)
        if not both.any():
            compared.append(None)
            continue
        first = sides_of(sums_in[:, both], scale=metric.scale)
        second = sides_of(sums_out[:, both], scale=metric.scale)
        compared.append(
            _standardised(
                first,
                second,
                features=tuple(features),
                covered=float(
                    first.denominator.sum()
                    / sides_of(sums_in, scale=metric.scale).denominator.sum()
                ),
                measure=measure,
                error=error,
            )
        )
    return compared


def _standardised(
    first: Sides,
    second: Sides,
    *,
    features: tuple[str, ...],
    covered: float,
    measure: Measure,
    error: float,
) -> AlikeComparison:
    """Return the standardised comparison of a group with others; sides of shape (strata,).

    With the group's share w of each stratum, the values are sum(w * first) and sum(w * second). The
    variance of the effect is that of both, and of w.
    """
    weights = first.denominator / first.denominator.sum()
    value = float(weights @ first.value)
    reference = float(weights @ second.value)
    # How the effect, or its logarithm, changes with both values.
    is_ratio = measure == "ratio"
    known = not is_ratio or (value > 0 and reference > 0)
    per_first = 1 / value if is_ratio and known else 1.0
    per_second = 1 / reference if is_ratio and known else 1.0
    variance = weights**2 @ (per_first**2 * _variances(first) + per_second**2 * _variances(second))
    # The mix in which the group comes varies, too.
    strayed = per_first * (first.value - value) - per_second * (second.value - reference)
    size = first.denominator.sum() ** 2 / first.denominator_squared.sum()
    variance += weights @ strayed**2 / size
    margin = normal_quantile(1 - error) * float(np.sqrt(variance))
    if not is_ratio:
        effect = value - reference
        low, high = effect - margin, effect + margin
        if first.scale != "number":
            low, high = max(-1.0, low), min(1.0, high)
    else:
        effect = value / reference if reference else float("inf")
        low, high = (effect * np.exp(-margin), effect * np.exp(margin)) if known else (0.0, np.inf)
    return AlikeComparison(
        features=features,
        value=value,
        reference_value=reference,
        effect=effect,
        low=float(low),
        high=float(high),
        covered=covered,
        strata=len(weights),
    )


def _variances(sides: Sides) -> Floats:
    """Return the variance of each stratum's value."""
    if sides.scale == "share":
        # With a row of nothing but yes and one of none: a stratum of one row varies not at all.
        size = sides.effective_size
        guarded = (size * sides.value + 1) / (size + 2)
        return guarded * (1 - guarded) / size
    # One usual row more stands for the one that the stratum's own mean uses up.
    freedom = max(1.0, float(sides.counted.sum() - len(sides.counted)))
    spread = float(sides.residual.sum()) / freedom
    return (sides.residual + spread) / sides.denominator**2
