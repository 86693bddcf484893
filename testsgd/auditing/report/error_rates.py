"""How the error rates of groups whose selection rates were compared stand in the document."""

from __future__ import annotations

import numpy as np
from pydantic import Field

from testsgd.auditing.error_rates import ErrorRate
from testsgd.auditing.findings import Findings, TableFindings
from testsgd.auditing.guarantee import Method
from testsgd.auditing.parameters import MetricName
from testsgd.report.summaries import Count, Difference, Part, RuleSummary, Share
from testsgd.scoring import lower_confidence_bound


class ErrorRateGroup(Part):
    """A group by an error rate, compared with its complement."""

    rules: list[RuleSummary] = Field(description="the rules, at most one a feature; all hold")
    text: str = Field(description="the rules as people write them")
    n_in: Count = Field(description="rows in the group that the rate counts")
    n_out: Count = Field(description="rows outside that it counts")
    rate_in: Share = Field(description="the rate in the group")
    rate_out: Share = Field(description="the rate of its complement")
    difference: Difference = Field(description="`rate_in - rate_out`")
    confidence_interval: tuple[Difference, Difference] = Field(
        description="confidence interval of that difference, for all groups and both rates at once"
    )
    lower_confidence_bound: Share = Field(
        description="smallest size of the difference within `confidence_interval`"
    )


class ErrorRateSummary(Part):
    """An error rate of the groups whose selection rates were compared."""

    metric: MetricName = Field(description="the rate")
    examined: Count = Field(description="groups whose selection rates were compared")
    judged: Count = Field(
        description="those with at least `unjudged.fewest` rows that the rate counts, inside and "
        "outside"
    )
    significant: Count = Field(description="those whose confidence interval leaves out zero")
    confidence: Share = Field(
        description="confidence with which the intervals of all groups and of both rates hold at "
        "once"
    )
    method: Method = Field(description="how the intervals were made wide enough")
    first: ErrorRateGroup | None = Field(
        description="the group with the largest lower bound, or, if all are 0, with the largest "
        "difference; null if none could be judged"
    )


def error_rate_summaries(findings: Findings) -> list[ErrorRateSummary]:
    """Describe the error rates of an audit of selection rates; empty if they are not known."""
    if not isinstance(findings, TableFindings):
        return []
    return [
        ErrorRateSummary.of(
            rate.guarantee,
            metric=rate.metric,
            examined=len(findings.rule_sets),
            judged=len(rate.groups),
            confidence=findings.parameters.confidence,
            first=_first(findings, rate),
        )
        for rate in findings.error_rates
    ]


def _first(findings: TableFindings, rate: ErrorRate) -> ErrorRateGroup | None:
    """Describe the group that differs most by an error rate."""
    if rate.first is None:
        return None
    place = np.array([rate.first], dtype=np.intp)
    low, high = rate.guarantee.confidence_intervals(rate.estimates, place)
    estimates = rate.estimates.take(place)
    rule_set = findings.rule_set(int(rate.groups[rate.first]))
    return ErrorRateGroup(
        rules=[RuleSummary.model_validate(rule.to_json()) for rule in rule_set.rules],
        text=rule_set.text,
        n_in=int(estimates.rows_in[0]),
        n_out=int(estimates.rows_out[0]),
        rate_in=float(estimates.rate_in[0]),
        rate_out=float(estimates.rate_out[0]),
        difference=float(estimates.difference[0]),
        confidence_interval=(float(low[0]), float(high[0])),
        lower_confidence_bound=float(lower_confidence_bound(low, high)[0]),
    )
