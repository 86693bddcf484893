"""From what an audit of metrics found to the document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.report.further_looks import finer_summary
from testsgd.auditing.report.summarise import rule_summary
from testsgd.auditing.report.summary import DataSummary, UnjudgedSummary
from testsgd.metrics.comparison import sizes
from testsgd.metrics.definitions import JOINT_METRICS
from testsgd.metrics.explaining import AlikeComparison, GroupExplanation
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.report import summary as document
from testsgd.metrics.report.by_feature import values_by_feature
from testsgd.metrics.report.verdict import metrics_verdict
from testsgd.metrics.report.wording import reference_words
from testsgd.metrics.search import MetricFindings, MetricsFindings, SearchedGroup
from testsgd.report.summaries import package_versions, present_moment

_PACKAGES = ("numpy", "pandas", "scipy")
# Groups in the table of groups by metrics, of each metric.
_ACROSS = 8


def summarise_metrics(
    findings: MetricsFindings,
    data: DataSummary,
    *,
    predictions: Predictions,
    joint: Sequence[str],
    seconds: Mapping[str, float],
) -> document.MetricsSummary:
    """Return an audit of metrics as one document, with its verdict in words.

    `predictions`: the predictions; `joint`: the joint metrics asked for.
    """
    metrics = [_metric(findings, found) for found in findings.metrics]
    parameters = findings.parameters
    rows = int(findings.cells.rows.sum())
    holdout = findings.holdout
    # Rows that no group isolates are counted among those that were searched.
    searched = rows if holdout is None else holdout.searched
    parts: dict[str, Any] = {
        "parameters": parameters,
        "data": data,
        "predictions": predictions.kind,
        "threshold": predictions.threshold,
        "weighted": findings.cells.weighted,
        "groups_compared": len(findings.rule_sets),
        "replicates": findings.replicates,
        "stability_samples": findings.stability_samples,
        "holdout": holdout,
        "metrics": metrics,
        "groups": _across(findings),
        "features": values_by_feature(findings.cells, confidence=parameters.confidence),
        "joint": [_joint(name, metrics) for name in joint],
        "unjudged": UnjudgedSummary.of(
            findings.unjudged,
            fewest=parameters.min_rows,
            share=findings.unjudged.rows / max(1, searched),
            max_dilution=parameters.max_dilution,
        ),
    }
    verdict = metrics_verdict(document.MetricsSummary.model_construct(**parts))
    return document.MetricsSummary(
        created=present_moment(),
        versions=package_versions(_PACKAGES),
        verdict=verdict,
        seconds=dict(seconds),
        **parts,
    )


def _metric(findings: MetricsFindings, found: MetricFindings) -> document.MetricSummary:
    """Describe one metric, and its first groups."""
    compared = found.compared
    judged = int(compared.judged.sum())
    ranks = np.zeros(len(findings.rule_sets), dtype=np.intp)
    ranks[found.ranking] = np.arange(1, len(found.ranking) + 1)
    first = found.ranking[: findings.parameters.top].tolist()
    chosen = sorted({*first, *found.distinct}, key=ranks.__getitem__)
    intervals = compared.intervals(np.array(chosen, dtype=np.intp))
    return document.MetricSummary(
        name=found.metric.name,
        title=found.metric.title,
        scale=found.metric.scale,
        overall=found.overall,
        counted=found.counted,
        judged=judged,
        significant=int(compared.significant.sum()),
        error=compared.error,
        largest=float(np.nanmax(compared.size[compared.judged])) if judged else None,
        largest_bound=float(compared.lower_bound.max()) if judged else None,
        largest_allowed=_largest_allowed(findings, found),
        unjudged=_unjudged(found),
        finer=finer_summary(found.finer),
        within_bins=list(found.within_bins),
        groups=[
            _group(findings, found, group, int(ranks[group]), interval)
            for group, interval in zip(chosen, np.column_stack(intervals), strict=True)
        ],
    )


def _unjudged(found: MetricFindings) -> document.MetricUnjudged | None:
    unjudged = found.unjudged
    if unjudged is None:
        return None
    return document.MetricUnjudged(share=unjudged.share, features=list(unjudged.features))


def _largest_allowed(findings: MetricsFindings, found: MetricFindings) -> float | None:
    """Return the largest size that the interval of a judged group allows, if there is a gate."""
    parameters = findings.parameters
    compared = found.compared
    has_gate = parameters.fail_above is not None or parameters.fail_below is not None
    if not has_gate or len(found.ranking) == 0:
        return None
    ends = np.concatenate(compared.intervals(found.ranking))
    return float(np.nanmax(sizes(ends, compared.measure)))


def _group(
    findings: MetricsFindings,
    found: MetricFindings,
    group: int,
    rank: int,
    interval: NDArray[np.float64],
) -> document.ComparedGroup:
    """Describe one group in a metric; `interval` are both ends of its effect, shape (2,)."""
    compared = found.compared
    rule_set = findings.rule_sets.rule_set(group)
    reference = int(found.reference_group[group])
    words = reference_words(findings.parameters.reference)
    low, high = map(float, interval)
    effect = float(compared.effect[group])
    return document.ComparedGroup(
        rank=rank,
        text=rule_set.text,
        rules=[rule_summary(rule) for rule in rule_set.rules],
        rows=int(findings.rule_sets.sums[0, group]),
        counted=int(compared.counted[group]),
        value=float(compared.value[group]),
        reference=words if reference < 0 else findings.rule_sets.rule_set(reference).text,
        reference_counted=int(compared.counted_reference[group]),
        reference_value=float(compared.reference[group]),
        effect=_finite(effect),
        confidence_interval=(low, _finite(high)),
        lower_confidence_bound=float(compared.lower_bound[group]),
        significant=bool(found.compared.significant[group]),
        distinct=group in found.distinct,
        explanation=_explanation(found.explanations.get(group)),
        stability=found.stability.get(group),
        in_search=_in_search(found.in_search.get(group)),
    )


def _explanation(explained: GroupExplanation | None) -> document.MetricExplanation | None:
    """Describe what makes up the difference of a group."""
    if explained is None:
        return None
    rules = explained.rule_set.rules
    alike = explained.alike
    return document.MetricExplanation(
        shapley_values=[
            document.AddedByRule(text=rule.text, value=value)
            for rule, value in zip(rules, explained.shapley_values, strict=True)
        ],
        simplest=document.SimplestRules(
            rules=[rule_summary(rule) for rule in explained.simplest.rules],
            text=explained.simplest.text,
            difference=explained.simplest_difference,
        ),
        correlated_features=explained.correlated_features,
        alike=None if alike is None else _alike(alike),
    )


def _alike(alike: AlikeComparison) -> document.AlikeSummary:
    return document.AlikeSummary(
        features=list(alike.features),
        value=alike.value,
        reference_value=alike.reference_value,
        effect=_finite(alike.effect),
        confidence_interval=(alike.low, _finite(alike.high)),
        covered=min(1.0, alike.covered),
        strata=alike.strata,
    )


def _in_search(searched: SearchedGroup | None) -> document.SearchedGroupSummary | None:
    if searched is None:
        return None
    return document.SearchedGroupSummary(
        rank=searched.rank, effect=_finite(searched.effect), counted=searched.counted
    )


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _across(findings: MetricsFindings) -> list[document.GroupByMetrics]:
    """Describe the first distinct groups of each metric by all metrics."""
    chosen: dict[int, None] = {}
    for found in findings.metrics:
        chosen |= dict.fromkeys(found.distinct[:_ACROSS])
    return [
        document.GroupByMetrics(
            text=findings.rule_sets.rule_set(group).text,
            rows=int(findings.rule_sets.sums[0, group]),
            metrics=[
                document.ValueOfGroup(
                    metric=found.metric.name,
                    value=_known(found.compared.value, group),
                    effect=_known(found.compared.effect, group),
                    significant=bool(found.compared.significant[group]),
                )
                for found in findings.metrics
            ],
        )
        for group in chosen
    ]


def _known(values: NDArray[np.float64], group: int) -> float | None:
    return _finite(float(values[group]))


def _joint(name: str, metrics: Sequence[document.MetricSummary]) -> document.JointSummary:
    """Describe several metrics of which the larger effect counts."""
    parts = [metric for metric in metrics if metric.name in JOINT_METRICS[name]]
    known = [metric for metric in parts if metric.groups or metric.speaks_first is not None]
    if not known:
        return document.JointSummary(
            name=name,
            metrics=[metric.name for metric in parts],
            metric=None,
            group=None,
            effect=None,
            lower_confidence_bound=None,
        )

    def size(metric: document.MetricSummary) -> tuple[float, float]:
        found = metric.speaks_first
        bound = metric.largest_bound if found is None else found.lower_confidence_bound
        return bound or 0.0, metric.largest or 0.0

    worst = max(known, key=size)
    finer = worst.speaks_first
    if finer is not None:
        return document.JointSummary(
            name=name,
            metrics=[metric.name for metric in parts],
            metric=worst.name,
            group=finer.text,
            effect=finer.difference,
            lower_confidence_bound=finer.lower_confidence_bound,
        )
    first = worst.groups[0]
    return document.JointSummary(
        name=name,
        metrics=[metric.name for metric in parts],
        metric=worst.name,
        group=first.text,
        effect=first.effect,
        lower_confidence_bound=worst.largest_bound,
    )
