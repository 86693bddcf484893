"""What is behind a group's difference: its rules, its other features, those who are like it.

None of this says why a model treats a group differently. The shares of the rules say which of the
rules it takes to tell the group; the contrasts say in what else its people differ from the rest,
as places to look at; the conditional score says what remains once both sides are alike in features
that the user chose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.conditional import ConditionalScore, conditional_scores, strata_of
from testsgd.auditing.contrasts import FeatureContrast, feature_contrasts
from testsgd.auditing.estimates import Counts, Floats
from testsgd.data import Table
from testsgd.rules import Contingency, Rule, RuleSet

# A simpler rule set must keep so much of the score.
KEPT_SCORE = 0.9

Members = NDArray[np.bool_]


@dataclass(frozen=True)
class RuleShare:
    """What a rule adds to a group's difference; a group's shares add up to it.

    Attributes
    ----------
    rule : Rule
        The rule.
    share : float
        Its Shapley value: how much the difference changes when the rule joins those before it, on
        average over the orders in which the rules may come.
    """

    rule: Rule
    share: float


@dataclass(frozen=True)
class Explanation:
    """What is behind a group's difference.

    Attributes
    ----------
    shares : tuple of RuleShare
        What each rule adds, in the rules' order; empty if the groups share no samples.
    simplest : RuleSet
        The fewest of the group's rules that keep 90% of its score, with the same sign; of equally
        few those that keep most.
    simplest_difference : float
        Rate inside minus rate outside of that rule set; NaN if the groups share no samples.
    contrasts : tuple of FeatureContrast
        The features in which the group differs most from the rest, largest first, at most five.
    conditional : ConditionalScore or None
        The difference from those who are like the group; None if it was not asked for, if the audit
        drew samples, or if nobody outside is like anybody inside.
    """

    shares: tuple[RuleShare, ...]
    simplest: RuleSet
    simplest_difference: float
    contrasts: tuple[FeatureContrast, ...]
    conditional: ConditionalScore | None


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
    """Explain groups of rows.

    Parameters
    ----------
    table : Table
        The rows.
    contingency : Contingency
        Their sensitive cells.
    rule_sets : sequence of RuleSet
        The groups.
    cell_samples, cell_favourable : numpy.ndarray of int64, shape (cells,)
        Samples in each cell that all groups share, and how many got the favourable label.
    row_favourable : numpy.ndarray of int, shape (n,), or None
        How many of each row's answers are favourable; None if not every row was asked about.
    answers : int
        Answers a row.
    condition_on : sequence of str
        Features of the conditional score; see :func:`testsgd.auditing.check_condition`.
    error : float
        How often a conditional interval may miss, two-sided.

    Returns
    -------
    list of Explanation
        One a group.

    References
    ----------
    Shapley, L. S. (1953), A value for n-person games; over the items of a subgroup: Pastor, de
    Alfaro and Baralis (2021), Looking for trouble: analyzing classifier behavior via pattern
    divergence.
    """
    if not rule_sets:
        return []
    one_a_cell = _one_row_a_cell(table, contingency)
    cells_of: dict[Rule, Members] = {
        rule: RuleSet((rule,)).matches(one_a_cell) for group in rule_sets for rule in group.rules
    }
    members = np.array(
        [np.logical_and.reduce([cells_of[rule] for rule in group.rules]) for group in rule_sets]
    )
    contrasts = feature_contrasts(table, contingency, members)
    conditional: list[ConditionalScore | None] = [None] * len(rule_sets)
    if condition_on and row_favourable is not None:
        conditional = conditional_scores(
            strata_of(table, condition_on),
            contingency,
            members,
            row_favourable,
            answers,
            features=tuple(condition_on),
            error=error,
        )
    explanations = []
    for place, group in enumerate(rule_sets):
        rules = np.array([cells_of[rule] for rule in group.rules])
        differences = _differences(rules, cell_samples, cell_favourable)
        shares, simplest = shapley_shares(differences), simplest_subset(differences)
        chosen = [rule for bit, rule in enumerate(group.rules) if (simplest >> bit) & 1]
        explanations.append(
            Explanation(
                tuple(map(RuleShare, group.rules, shares)),
                RuleSet(tuple(chosen)),
                float(differences[simplest]),
                contrasts[place],
                conditional[place],
            )
        )
    return explanations


def _one_row_a_cell(table: Table, contingency: Contingency) -> Table:
    """Give any row of each cell: a rule holds for all rows of a cell or for none."""
    row_of_cell = np.zeros(contingency.cells, dtype=np.intp)
    row_of_cell[contingency.cell_of_row] = np.arange(len(table))
    return table.take(row_of_cell)


def _differences(rules: Members, samples: Counts, favourable: Counts) -> Floats:
    """Give the difference of every subset of the rules; bit i of a place says that rule i is in.

    0 for no rules, and where nobody is outside; NaN for all if nobody is inside or outside the
    whole.
    """
    inside = np.ones((1, rules.shape[1]), dtype=bool)
    for rule in rules:
        inside = np.concatenate([inside, inside & rule])
    samples_in, favourable_in = inside @ samples, inside @ favourable
    samples_out, favourable_out = samples.sum() - samples_in, favourable.sum() - favourable_in
    if samples_in[-1] == 0 or samples_out[-1] == 0:
        return np.full(len(inside), np.nan)
    rate_out = favourable_out / np.maximum(samples_out, 1)
    return np.where(samples_out > 0, favourable_in / samples_in - rate_out, 0.0)


def shapley_shares(differences: Floats) -> list[float]:
    """Compute the Shapley value of each rule; none if the differences are not known."""
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
    """Choose the fewest rules that keep enough of the whole's difference."""
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
