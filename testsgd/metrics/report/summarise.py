"""From what an audit of metrics found to the document that every view is rendered from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.report.further_looks import finer_summary
from testsgd.auditing.report.summarise import rule_summary
from testsgd.auditing.report.summary import DataSummary, UnjudgedSummary
from testsgd.metrics.comparison import sizes
from testsgd.metrics.definitions import JOINT_METRICS
from testsgd.metrics.explaining import AlikeComparison, GroupExplanation
from testsgd.metrics.parameters import OVERALL, Measure
from testsgd.metrics.predictions import Predictions
from testsgd.metrics.report import summary as document
from testsgd.metrics.report.by_feature import values_by_feature
from testsgd.metrics.report.verdict import PENDING, metrics_verdict
from testsgd.metrics.report.wording import of_finer, reference_words
from testsgd.metrics.search import MetricFindings, MetricsFindings, SearchedGroup
from testsgd.report.summaries import RuleSummary, package_versions, present_moment
from testsgd.rules import CategoryAxis

_PACKAGES = ("numpy", "pandas", "scipy")
# Groups in the table of groups by metrics, of each metric.
_ACROSS = 8
# Sizes that differ by less are equal but for rounding.
_ROUNDING = 1e-12


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
    metrics = [_metric(findings, found, data) for found in findings.metrics]
    parameters = findings.parameters
    rows = int(findings.cells.rows.sum())
    holdout = findings.holdout
    # Rows that no group isolates are counted among those that were searched.
    searched = rows if holdout is None else holdout.searched
    without_verdict = document.MetricsSummary(
        created=present_moment(),
        versions=package_versions(_PACKAGES),
        seconds=dict(seconds),
        verdict=PENDING,
        parameters=parameters,
        data=data,
        predictions=predictions.kind,
        threshold=predictions.threshold,
        weighted=findings.cells.weighted,
        groups_compared=len(findings.rule_sets),
        replicates=findings.replicates,
        stability_samples=findings.stability_samples,
        holdout=holdout,
        metrics=metrics,
        groups=_across(findings),
        features=values_by_feature(findings.cells, confidence=parameters.confidence),
        joint=[_joint(name, findings, metrics) for name in joint],
        unjudged=UnjudgedSummary.of(
            findings.unjudged,
            fewest=parameters.min_rows,
            share=findings.unjudged.rows / max(1, searched),
            max_dilution=parameters.max_dilution,
        ),
    )
    verdict = metrics_verdict(without_verdict, values=_values_of(findings))
    return without_verdict.model_copy(update={"verdict": verdict})


def _values_of(findings: MetricsFindings) -> dict[str, Sequence[str]]:
    """Return the values that rows have of each categorical sensitive feature."""
    return {
        axis.feature: axis.values
        for axis in findings.cells.contingency.axes
        if isinstance(axis, CategoryAxis)
    }


def _metric(
    findings: MetricsFindings, found: MetricFindings, data: DataSummary
) -> document.MetricSummary:
    """Describe one metric, and its first groups."""
    compared = found.compared
    judged = int(compared.judged.sum())
    ranks = np.zeros(len(findings.rule_sets), dtype=np.intp)
    ranks[found.ranking] = np.arange(1, len(found.ranking) + 1)
    first = found.ranking[: findings.parameters.top].tolist()
    chosen = sorted({*first, *found.distinct}, key=ranks.__getitem__)
    intervals = compared.intervals(np.array(chosen, dtype=np.intp))
    # A ratio of 0 to 0 is no number.
    sizes_judged = compared.size[compared.judged & ~np.isnan(compared.size)]
    return document.MetricSummary(
        name=found.metric.name,
        title=found.metric.title,
        scale=found.metric.scale,
        better=found.metric.better,
        overall=found.overall,
        counted=found.counted,
        judged=judged,
        significant=int(compared.significant.sum()),
        error=compared.error,
        largest=float(sizes_judged.max()) if len(sizes_judged) else None,
        largest_bound=float(compared.lower_bound.max()) if judged else None,
        largest_allowed=_largest_allowed(findings, found),
        unestimated=found.unestimated,
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
    return document.MetricUnjudged(
        share=unjudged.share,
        features=list(unjudged.features),
        uncounted=list(unjudged.uncounted),
        uncounted_share=unjudged.uncounted_share,
    )


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
    base_rate, reference_base_rate = _base_rates(findings, found, group)
    return document.ComparedGroup(
        rank=rank,
        text=rule_set.text,
        rules=[rule_summary(rule) for rule in rule_set.rules],
        rows=int(findings.rule_sets.sums[0, group]),
        counted=int(compared.counted[group]),
        value=float(compared.value[group]),
        reference=words if reference < 0 else findings.rule_sets.rule_set(reference).text,
        reference_rules=_rules_of(findings, reference),
        reference_counted=int(compared.counted_reference[group]),
        reference_value=float(compared.reference[group]),
        base_rate=base_rate,
        reference_base_rate=reference_base_rate,
        effect=_finite(effect),
        confidence_interval=(low, _finite(high)),
        lower_confidence_bound=float(compared.lower_bound[group]),
        significant=bool(found.compared.significant[group]),
        distinct=group in found.distinct,
        explanation=_explanation(found.explanations.get(group)),
        stability=found.stability.get(group),
        in_search=_in_search(found.in_search.get(group)),
    )


def _rules_of(findings: MetricsFindings, group: int) -> list[RuleSummary]:
    """Return the rules of a group; none if it is -1, which is no group."""
    if group < 0:
        return []
    return [rule_summary(rule) for rule in findings.rule_sets.rule_set(group).rules]


def _base_rates(
    findings: MetricsFindings, found: MetricFindings, group: int
) -> tuple[float | None, float | None]:
    """Return the shares of favourable true labels in a group and in its reference.

    They are for selection rates, and None where no true label is known.
    """
    labels = findings.cells.labels
    if labels is None or found.metric.name != "selection_rate":
        return None, None
    contingency = findings.cells.contingency
    place = np.array([group])
    reference = int(found.reference_group[group])
    if reference >= 0:
        others = findings.rule_sets.members(np.array([reference]), contingency)[0]
    elif findings.parameters.reference == OVERALL:
        others = np.ones(contingency.cells, dtype=bool)
    else:
        others = findings.rule_sets.complement_members(place, contingency)[0]
    sides = (findings.rule_sets.members(place, contingency)[0], others)
    inside, outside = (labels[:, side].sum(axis=1) for side in sides)
    if not (inside[1] and outside[1]):
        return None, None
    return float(inside[0] / inside[1]), float(outside[0] / outside[1])


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


def _joint(
    name: str, findings: MetricsFindings, metrics: Sequence[document.MetricSummary]
) -> document.JointSummary:
    """Describe several metrics of which the larger effect counts.

    It is the larger by size among the judged groups. The largest lower bound, which is what a gate
    goes by, may be that of another group; so both are described.
    """
    asked = JOINT_METRICS[name]
    parts = [
        (found, metric)
        for found, metric in zip(findings.metrics, metrics, strict=True)
        if metric.name in asked
    ]
    names = [metric.name for _, metric in parts]
    largest = [
        _difference(findings, found, _of_largest_size(found))
        for found, _ in parts
        if len(found.ranking)
    ]
    certain = [
        _difference(findings, found, int(found.ranking[0]))
        for found, _ in parts
        if len(found.ranking)
    ]
    finer = [
        of_finer(metric, metric.speaks_first)
        for _, metric in parts
        if metric.speaks_first is not None
    ]
    if not largest and not finer:
        return document.JointSummary(
            name=name,
            metrics=names,
            metric=None,
            group=None,
            effect=None,
            lower_confidence_bound=None,
        )
    measure = findings.parameters.measure
    worst = max(largest + finer, key=lambda item: _size(item, measure))
    surest = max(
        certain + finer, key=lambda item: (item.lower_confidence_bound, _size(item, measure))
    )
    return document.JointSummary(
        name=name,
        metrics=names,
        metric=worst.metric,
        group=worst.text,
        effect=worst.effect,
        lower_confidence_bound=surest.lower_confidence_bound,
        largest=worst,
        most_certain=surest,
    )


def _of_largest_size(found: MetricFindings) -> int:
    """Return the judged group that differs most; of equal ones the first of the ranking."""
    size = np.nan_to_num(found.compared.size[found.ranking])
    return int(found.ranking[np.argmax(size >= size.max() - _ROUNDING)])


def _size(difference: document.MetricDifference, measure: Measure) -> float:
    """Return the size of an effect; that of a ratio to zero is 1."""
    effect = np.inf if difference.effect is None else difference.effect
    return float(sizes(np.array([effect]), measure)[0])


def _difference(
    findings: MetricsFindings, found: MetricFindings, group: int
) -> document.MetricDifference:
    """Describe a judged group in one of several metrics."""
    low, high = found.compared.intervals(np.array([group], dtype=np.intp))
    described = _group(findings, found, group, 1, np.concatenate([low, high]))
    return document.MetricDifference(
        metric=found.metric.name,
        text=described.text,
        rules=described.rules,
        value=described.value,
        reference=described.reference,
        reference_rules=described.reference_rules,
        reference_value=described.reference_value,
        effect=described.effect,
        confidence_interval=described.confidence_interval,
        lower_confidence_bound=described.lower_confidence_bound,
    )
