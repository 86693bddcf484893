"""What makes up a group's difference, which features go with it, and what remains like with like.

None of this says why a model treats a group differently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from testsgd.auditing.conditional import ConditionalScore, conditional_scores, strata_of
from testsgd.auditing.estimates import Counts, Floats
from testsgd.data import Table
from testsgd.report.summaries import (
    Count,
    Part,
    RuleSummary,
)
from testsgd.rules import Contingency, IntervalRule, Rule, RuleSet

Members = NDArray[np.bool_]

# A report shows so many of the features in which a group differs from the rest.
MOST_CORRELATED = 5


class CorrelatedFeature(Part):
    """A feature that is not sensitive, in which a group differs from its complement."""

    feature: str = Field(description="the feature")
    value: str | None = Field(
        None, description="the value whose share differs most; null for a number"
    )
    mean_in: float = Field(description="mean in the group, or the value's share")
    mean_out: float = Field(description="the same in its complement")
    standardised_difference: float = Field(description="difference in standard deviations")
    n_known: Count = Field(description="rows in which the feature is not missing")


def correlated_features(
    table: Table, contingency: Contingency, members: Members, complements: Members
) -> list[list[CorrelatedFeature]]:
    """Find the features in which groups differ most from their complements, at most five each.

    Differences are taken in standard deviations over the rows of both sides together, not within
    the sides: a feature that tells the group from the rest without a mistake varies on neither
    side. Shapes: `members`, `complements` (groups, cells).
    """
    names = table.specification.insensitive
    compared = [_compare(table, contingency, name, members, complements) for name in names]
    largest = []
    for index in range(len(members)):
        features = [of_groups[index] for of_groups in compared]
        known = [feature for feature in features if feature is not None]
        known.sort(key=lambda item: -round(abs(item.standardised_difference), 12))
        largest.append(known[:MOST_CORRELATED])
    return largest


def _rounded(number: float) -> float:
    """Return a number with nine significant digits."""
    return float(f"{number:.9g}")


def _compare(
    table: Table, contingency: Contingency, name: str, members: Members, complements: Members
) -> list[CorrelatedFeature | None]:
    """Compare a feature inside and outside of groups; None where it is alike, or unknown.

    Shapes: `members`, `complements` (groups, cells). The standardised difference is the mean inside
    less the mean outside, divided by the standard deviation over all rows in which it is known. Of
    a categorical feature it is that of the value whose share differs most.
    """
    feature = table.specification.features[name]
    values: tuple[str | None, ...] = (None,)
    numbers: NDArray[Any] = table.numbers(name) if feature.continuous else table.codes(name)
    rows = ~np.isnan(numbers) if feature.continuous else numbers >= 0
    numbers = numbers[rows]
    if len(numbers) == 0 or numbers.min() == numbers.max():
        return [None] * len(members)
    if feature.continuous:
        # Around their mean, or small differences of large numbers are lost to rounding.
        centre = float(numbers.mean())
        codes = np.zeros(len(numbers), np.int64)
        amounts = numbers - centre
    else:
        values = tuple(feature.values or ())
        centre = 0.0
        codes = numbers.astype(np.int64)
        amounts = np.ones(len(numbers))
    cells = contingency.cell_of_row[rows].astype(np.int64)
    size = contingency.cells * len(values)
    flat = np.bincount(cells * len(values) + codes, weights=amounts, minlength=size)
    sums = flat.astype(np.float64).reshape(contingency.cells, len(values))
    squares = np.bincount(codes, weights=amounts**2, minlength=len(values)) / len(codes)
    spread = np.sqrt(np.maximum(squares - (sums.sum(axis=0) / len(codes)) ** 2, 0.0))
    known = np.bincount(cells, minlength=contingency.cells)
    compared: list[CorrelatedFeature | None] = []
    for inside, outside in zip(members, complements, strict=True):
        known_in, known_out = int(known[inside].sum()), int(known[outside].sum())
        mean_in = sums[inside].sum(axis=0) / max(known_in, 1)
        mean_out = sums[outside].sum(axis=0) / max(known_out, 1)
        gaps = mean_in - mean_out
        # Of a feature with two values both differ alike: name the one more frequent inside.
        most = int(np.lexsort((-np.sign(gaps), -np.round(np.abs(gaps), 12)))[0])
        if not known_in or not known_out or abs(gaps[most]) <= 1e-12 * spread[most]:
            compared.append(None)
            continue
        compared.append(
            CorrelatedFeature(
                feature=name,
                value=values[most],
                # Sums of floats depend on the order of the rows in their last digits.
                mean_in=_rounded(mean_in[most] + centre),
                mean_out=_rounded(mean_out[most] + centre),
                standardised_difference=_rounded(gaps[most] / spread[most]),
                n_known=known_in + known_out,
            )
        )
    return compared


# The least share of the score that a simpler rule set must keep.
KEPT_SCORE = 0.9


class ShapleyValue(Part):
    """The Shapley value of one rule of a group."""

    text: str = Field(description="the rule as people write it")
    value: float = Field(description="what it adds; the values add up to the difference")


class SimplestRules(Part):
    """The fewest of a group's rules that keep at least 90% of its difference."""

    rules: list[RuleSummary] = Field(description="the rules that stay")
    text: str = Field(description="the rules as people write them")
    difference: float = Field(ge=-1, le=1, description="their difference")


class Explanation(Part):
    """What makes up a group's difference, and what goes with it."""

    shapley_values: list[ShapleyValue] = Field(description="what each rule adds, if it is known")
    simplest: SimplestRules | None = Field(
        None, description="the fewest rules that keep 90% of it; null if it is not known"
    )
    correlated_features: list[CorrelatedFeature] = Field(
        description="features in which it differs most, the largest first; not causes"
    )
    equalised: list[ConditionalScore] = Field(
        default_factory=list,
        description="what is left at the same mix of each correlated feature, where it is known",
    )
    conditional: ConditionalScore | None = Field(
        None, description="compared like with like; null if not asked for, or not known"
    )


def explain_groups(
    table: Table,
    contingency: Contingency,
    rule_sets: Sequence[RuleSet],
    cell_samples: Counts,
    cell_favourable: Counts,
    row_favourable: NDArray[np.integer] | None,
    answers: int,
    *,
    condition_on: Sequence[str] = (),
    error: float = 0.05,
) -> list[Explanation]:
    """Return the explanations of groups of rows.

    Each has the Shapley values of the group's rules, the fewest rules that keep most of its
    difference, the features in which it differs from its complement, each with the difference that
    is left when its mix is made the same, and the conditional score if `condition_on` names
    features. The intervals of a group's features hold at once.

    Shapes: `cell_samples`, `cell_favourable` (cells,); `row_favourable`, of `answers` answers about
    each row (n,), None if not every row was asked about. Rows are taken for independent.

    See Shapley, L. S. (1953), A value for n-person games; over the items of a subgroup: Pastor, de
    Alfaro and Baralis (2021), Looking for trouble: analyzing classifier behavior via pattern
    divergence.
    """
    if not rule_sets:
        return []
    distinct = dict.fromkeys(rule for group in rule_sets for rule in group.rules)
    sides = dict(zip(distinct, sides_of_rules(table, contingency, tuple(distinct)), strict=True))
    members = np.array(
        [np.logical_and.reduce([sides[rule].inside for rule in group.rules]) for group in rule_sets]
    )
    known = np.array(
        [np.logical_and.reduce([sides[rule].known for rule in group.rules]) for group in rule_sets]
    )
    complements = known & ~members
    correlated = correlated_features(table, contingency, members, complements)
    conditional: list[ConditionalScore | None] = [None] * len(rule_sets)
    equalised: list[list[ConditionalScore]] = [[] for _ in rule_sets]
    if row_favourable is not None:

        def among_alike(
            features: Sequence[str], groups: NDArray[np.intp], error: float
        ) -> list[ConditionalScore | None]:
            """Compare some groups with others of the same mix of features."""
            return conditional_scores(
                strata_of(table, features),
                contingency,
                members[groups],
                row_favourable,
                answers,
                features=features,
                error=error,
                complements=complements[groups],
            )

        equalised = _equalised(correlated, among_alike, error=error)
        if condition_on:
            conditional = among_alike(condition_on, np.arange(len(rule_sets)), error)
    explanations = []
    for index, group in enumerate(rule_sets):
        rules = [sides[rule] for rule in group.rules]
        differences = _differences(rules, cell_samples, cell_favourable)
        explanations.append(
            explanation_of(
                group,
                differences,
                correlated[index],
                equalised=equalised[index],
                conditional=conditional[index],
            )
        )
    return explanations


def _equalised(
    correlated: Sequence[Sequence[CorrelatedFeature]],
    among_alike: Callable[[Sequence[str], NDArray[np.intp], float], list[ConditionalScore | None]],
    *,
    error: float,
) -> list[list[ConditionalScore]]:
    """Return what is left of each group's difference at the same mix of its correlated features.

    `among_alike` compares groups with others of the same mix of features, by their numbers and an
    error rate; a group's own error rate is shared out among its features.
    """
    named = [[item.feature for item in of_group] for of_group in correlated]
    scores: dict[tuple[int, str], ConditionalScore | None] = {}
    for name in dict.fromkeys(name for names in named for name in names):
        groups = [index for index, names in enumerate(named) if name in names]
        compared = among_alike([name], np.array(groups), error / MOST_CORRELATED)
        scores |= {(group, name): score for group, score in zip(groups, compared, strict=True)}
    return [
        [score for name in names if (score := scores[index, name]) is not None]
        for index, names in enumerate(named)
    ]


def explanation_of(
    group: RuleSet,
    differences: Floats,
    correlated: Sequence[CorrelatedFeature] = (),
    *,
    equalised: Sequence[ConditionalScore] = (),
    conditional: ConditionalScore | None = None,
) -> Explanation:
    """Explain a group by the differences of all subsets of its rules, as :func:`_differences`."""
    subset = simplest_subset(differences)
    simplest = None
    chosen = RuleSet(tuple(rule for bit, rule in enumerate(group.rules) if subset >> bit & 1))
    if not np.isnan(differences[subset]):
        simplest = SimplestRules(
            rules=[RuleSummary.model_validate(rule.to_json()) for rule in chosen.rules],
            text=chosen.text,
            difference=float(differences[subset]),
        )
    values = shapley_values(differences)
    return Explanation(
        # None if the groups share no samples.
        shapley_values=[
            ShapleyValue(text=rule.text, value=value)
            for rule, value in zip(group.rules, values, strict=False)
        ],
        simplest=simplest,
        correlated_features=list(correlated),
        equalised=list(equalised),
        conditional=conditional,
    )


@dataclass(frozen=True)
class RuleSides:
    """The cells of which a rule holds, and those in which its feature is known; shape (cells,)."""

    inside: Members
    known: Members  # All cells, but for a rule on a number.

    @property
    def outside(self) -> Members:
        """The cells of the complement."""
        return self.known & ~self.inside


def sides_of_rules(
    table: Table, contingency: Contingency, rules: Sequence[Rule]
) -> list[RuleSides]:
    """Return the cells on both sides of each rule."""
    # A rule holds for all rows of a cell or for none.
    row_of_cell = np.zeros(contingency.cells, dtype=np.intp)
    row_of_cell[contingency.cell_of_row] = np.arange(len(table))
    one_a_cell = table.take(row_of_cell)
    sides = []
    for rule in rules:
        inside = RuleSet((rule,)).matches(one_a_cell)
        known = np.ones(contingency.cells, dtype=bool)
        if isinstance(rule, IntervalRule):
            known = rule.known(one_a_cell)
        sides.append(RuleSides(inside, known))
    return sides


def _differences(rules: Sequence[RuleSides], samples: Counts, favourable: Counts) -> Floats:
    """Return the difference of each subset of the rules, shape (2 ** rules,).

    The subset at place p has rule i if bit i of p is 1. The difference is 0 for no rules, and where
    no sample is outside; all are NaN if no sample is inside, or none outside, of the whole group.
    Shapes: `samples`, `favourable` (cells,).
    """
    inside = known = np.ones((1, len(samples)), dtype=bool)
    for rule in rules:
        inside = np.concatenate([inside, inside & rule.inside])
        known = np.concatenate([known, known & rule.known])
    samples_in = inside @ samples
    favourable_in = inside @ favourable
    samples_out = known @ samples - samples_in
    favourable_out = known @ favourable - favourable_in
    if samples_in[-1] == 0 or samples_out[-1] == 0:
        return np.full(len(inside), np.nan)
    rate_out = favourable_out / np.maximum(samples_out, 1)
    return np.where(samples_out > 0, favourable_in / samples_in - rate_out, 0.0)


def shapley_values(differences: Floats) -> list[float]:
    """Return the Shapley value of each rule; none if the differences are not known.

    It is the sum over the subsets S without rule i of |S|! (n - |S| - 1)! / n! times what rule i
    adds, v(S and i) - v(S), for n rules; `differences` are the values v, as of
    :func:`_differences`.
    """
    rules = len(differences).bit_length() - 1
    if np.isnan(differences[-1]):
        return []
    subsets = np.arange(len(differences))
    sizes = np.array([subset.bit_count() for subset in range(len(differences))])
    # The share of the orders in which just the rules of a subset come before a rule not in it.
    weights = np.array([1 / (rules * math.comb(rules - 1, size)) for size in range(rules)])
    shares = []
    for bit in range(rules):
        without = subsets[(subsets >> bit) & 1 == 0]
        gains = differences[without | (1 << bit)] - differences[without]
        shares.append(float(weights[sizes[without]] @ gains))
    return shares


def simplest_subset(differences: Floats) -> int:
    """Return the place of the smallest subset of rules that keeps enough of the difference."""
    whole = differences[-1]
    keep = [
        subset
        for subset in range(1, len(differences))
        if np.sign(differences[subset]) == np.sign(whole)
        # A score that is equal but for rounding is kept.
        and abs(differences[subset]) >= KEPT_SCORE * abs(whole) - 1e-12
    ]
    keep = keep or [len(differences) - 1]
    return min(keep, key=lambda subset: (subset.bit_count(), -abs(differences[subset]), subset))
