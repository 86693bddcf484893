"""From findings to the parts of a summary on estimands, explaining rules and unjudged people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Estimates, Findings, TableFindings
from testsgd.auditing.findings import Estimated
from testsgd.auditing.guarantee import Guarantee, assured_size
from testsgd.reporting.estimand_parts import (
    EstimandRates,
    EstimandSummary,
    ExplainingRuleSummary,
    MovedFeature,
    UnjudgedSummary,
)

# Estimands of one group disagree if they differ by more, or by more than the interval allows.
DISAGREEMENT = 0.05

# Near-duplicates that are named, and features whose move changes the first group's difference.
_EXAMPLES = 3
_MOVED = 3


def other_rates(findings: Findings, groups: NDArray[np.intp]) -> list[EstimandRates | None]:
    """Return what the other estimand says of some groups, None of each if it was not estimated."""
    if not findings.others:
        return [None] * len(groups)
    other = findings.others[0]
    estimates = other.estimates.take(groups)
    low, high = other.intervals(groups)
    assured = assured_size(low, high)
    return [
        EstimandRates(
            estimand=other.estimand,
            rate_in=_known(estimates.rate_in[at]),
            rate_out=_known(estimates.rate_out[at]),
            difference=_known(estimates.difference[at]),
            interval=None if np.isnan(low[at]) else (float(low[at]), float(high[at])),
            decided=bool(estimates.decided[at]),
            assured=_known(assured[at]) if estimates.decided[at] else None,
        )
        for at in range(len(groups))
    ]


def estimand_summaries(findings: Findings) -> list[EstimandSummary]:
    """Return what the audit found by each estimand, the one that groups are ranked by first."""
    if findings.guarantee is None:
        return []
    first = Estimated(findings.parameters.estimand, findings.estimates, findings.guarantee)
    return [_estimand(estimated) for estimated in (first, *findings.others)]


def _estimand(estimated: Estimated) -> EstimandSummary:
    estimates, guarantee = estimated.estimates, estimated.guarantee
    decided = estimates.score[estimates.decided]
    return EstimandSummary(
        estimand=estimated.estimand,
        groups=len(decided),
        largest=float(decided.max()) if len(decided) else None,
        assured=gate_size(estimates, guarantee),
        guarantee=guarantee.kind,
    )


def gate_size(estimates: Estimates, guarantee: Guarantee | None) -> float | None:
    """Return the size of a difference that is assured, which the gate goes by.

    Parameters
    ----------
    estimates : Estimates
        The groups' rates.
    guarantee : Guarantee or None
        What their intervals hold for.

    Returns
    -------
    float or None
        If the guarantee is simultaneous, the largest size that an interval assures. For a limited
        false discovery rate, the largest difference among the groups found; 0 if there are none.
        None if single groups are taken at their differences.
    """
    if guarantee is None or guarantee.kind == "per-group":
        return None
    if guarantee.kind == "simultaneous":
        return float(guarantee.assured)
    return float(estimates.score[guarantee.discoveries].max(initial=0.0))


def moved_features(findings: Findings) -> list[MovedFeature]:
    """Return which features' moves change the first group's difference, if estimands disagree."""
    first = findings.first
    if first is None or not isinstance(findings, TableFindings) or not findings.others:
        return []
    group = np.array([first])
    [other] = other_rates(findings, group)
    low, high = findings.intervals(group)
    difference = float(findings.estimates.difference[first])
    if other is None or not disagree(difference, (float(low[0]), float(high[0])), other):
        return []
    estimands = (findings.parameters.estimand, other.estimand)
    observed = difference if estimands[0] == "observed" else other.difference or 0.0
    moved = findings.moved_differences(first)
    order = sorted(moved, key=lambda name: -abs(moved[name] - observed))
    return [
        MovedFeature(feature=name, difference=moved[name])
        for name in order[:_MOVED]
        if abs(moved[name] - observed) > DISAGREEMENT / 2
    ]


def disagree(difference: float, interval: tuple[float, float], other: EstimandRates) -> bool:
    """Tell whether two estimands of a group disagree by more than its interval, or 5 points."""
    if other.difference is None:
        return False
    within = interval[0] <= other.difference <= interval[1]
    return not within or abs(other.difference - difference) > DISAGREEMENT


def rule_summaries(findings: Findings, ranks: dict[int, int]) -> list[ExplainingRuleSummary]:
    """Return the explaining rules, with the first of their near-duplicates."""
    return [
        ExplainingRuleSummary(
            rank=ranks[rule.group],
            text=findings.rule_set(rule.group).text,
            share=None if np.isnan(rule.share) else min(1.0, rule.share),
            near_duplicates=len(rule.near_duplicates),
            examples=[findings.rule_set(other).text for other in rule.near_duplicates[:_EXAMPLES]],
        )
        for rule in findings.rules
        if rule.group in ranks
    ]


def unjudged_summary(findings: Findings) -> UnjudgedSummary:
    """Return how many people are only in combinations that could not be judged."""
    unjudged, holdout = findings.unjudged, findings.holdout
    # Groups are judged where they are searched.
    rows = findings.rows if holdout is None else holdout.searched
    return UnjudgedSummary(
        fewest=findings.parameters.fewest_rows(rows),
        combinations=unjudged.combinations,
        unjudged=unjudged.unjudged,
        rows=unjudged.rows,
        share=unjudged.rows / rows if rows else 0.0,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
