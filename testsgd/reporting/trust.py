"""From findings to the parts of a summary that say how far they can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing import Findings
from testsgd.auditing.explaining import Explanation
from testsgd.auditing.guarantee import assured_size
from testsgd.reporting.parts import RuleSummary
from testsgd.reporting.trust_parts import (
    ConditionalSummary,
    ContrastSummary,
    ExplanationSummary,
    FoundSummary,
    GuaranteeSummary,
    HoldoutSummary,
    RuleShareSummary,
    SimplestSummary,
)
from testsgd.rules import Rule

Floats = NDArray[np.float64]


def assured_sizes(
    findings: Findings, groups: NDArray[np.intp], low: Floats, high: Floats
) -> Floats:
    """Give what is assured of the differences of some groups: their smallest sizes.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    groups : numpy.ndarray of int
        The groups.
    low, high : numpy.ndarray of float64
        The ends of their intervals.

    Returns
    -------
    numpy.ndarray of float64, shape (groups,)
        0 where zero is within the interval, NaN where the group is not decided, and everywhere
        without a guarantee.
    """
    known = findings.estimates.decided[groups]
    if findings.guarantee is None:
        known = np.zeros(len(groups), dtype=bool)
    return np.where(known, assured_size(low, high), np.nan)


def q_values(findings: Findings, groups: NDArray[np.intp]) -> Floats:
    """Give the q-values of some groups, NaN unless false finds are to be limited."""
    guarantee = findings.guarantee
    if guarantee is None or guarantee.q_values is None:
        return np.full(len(groups), np.nan)
    values: Floats = guarantee.q_values[groups]
    return values


def guarantee_summary(findings: Findings, places: dict[int, int]) -> GuaranteeSummary | None:
    """Write down what the population intervals hold for.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    places : dict of int to int
        The rank of each group that is ranked.

    Returns
    -------
    GuaranteeSummary or None
    """
    guarantee = findings.guarantee
    if guarantee is None:
        return None
    sure = guarantee.sure
    if guarantee.q_values is not None:
        # The groups found are those of the q-values; an interval may fall on the other side.
        sure = len(guarantee.discoveries)
    return GuaranteeSummary(
        kind=guarantee.kind,
        confidence=guarantee.confidence,
        method=guarantee.method,
        groups=guarantee.groups,
        replicates=guarantee.replicates,
        critical=guarantee.critical,
        sure=sure,
        sure_complete=guarantee.sure_complete or guarantee.q_values is not None,
        sure_terms=findings.sure_terms,
        surest_rank=None if guarantee.surest is None else places.get(guarantee.surest),
    )


def holdout_summary(findings: Findings) -> HoldoutSummary | None:
    """Write down how the rows were split; None if they were not."""
    holdout = findings.holdout
    if holdout is None:
        return None
    return HoldoutSummary(
        share=holdout.share,
        searched=holdout.searched,
        estimated=holdout.estimated,
        groups=holdout.groups,
        missing=holdout.missing,
    )


def group_trust(findings: Findings, group: int) -> dict[str, Any]:
    """Write down what is known of a group beside its rates.

    Parameters
    ----------
    findings : Findings
        What the audit found.
    group : int
        The group.

    Returns
    -------
    dict
        Fields of :class:`GroupSummary`: ``q_value``, ``stability``, ``found`` and
        ``explanation``.
    """
    guarantee, holdout = findings.guarantee, findings.holdout
    q_values = None if guarantee is None else guarantee.q_values
    found = None if holdout is None else holdout.found.get(group)
    explanation = findings.explanations.get(group)
    return {
        "q_value": None if q_values is None else float(q_values[group]),
        "stability": findings.stability.get(group),
        "found": None
        if found is None
        else FoundSummary(rank=found.rank, score=found.score, n_in=found.n_in),
        "explanation": None if explanation is None else explanation_summary(explanation),
    }


def explanation_summary(explanation: Explanation) -> ExplanationSummary:
    """Write down what is behind a group's difference."""
    simplest, conditional = explanation.simplest, explanation.conditional
    return ExplanationSummary(
        shares=[
            RuleShareSummary(text=rule_summary(one.rule).text, share=one.share)
            for one in explanation.shares
        ],
        simplest=None
        if np.isnan(explanation.simplest_difference)
        else SimplestSummary(
            rules=[rule_summary(rule) for rule in simplest.rules],
            text=simplest.text,
            difference=explanation.simplest_difference,
        ),
        contrasts=[
            ContrastSummary(
                feature=one.feature,
                value=one.value,
                inside=one.inside,
                outside=one.outside,
                standardised=one.standardised,
                known=one.known,
            )
            for one in explanation.contrasts
        ],
        conditional=None
        if conditional is None
        else ConditionalSummary(
            features=list(conditional.features),
            difference=conditional.difference,
            interval=conditional.interval,
            covered=conditional.covered,
            strata=conditional.strata,
        ),
    )


def rule_summary(rule: Rule) -> RuleSummary:
    """Write a rule as a part of the document."""
    return RuleSummary.model_validate(rule.to_json())
