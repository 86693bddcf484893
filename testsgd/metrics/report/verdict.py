"""The verdict of an audit of metrics in words, and its exit code."""

from __future__ import annotations

from typing import Literal

from testsgd.auditing.report.vocabulary import PredictionWords
from testsgd.auditing.report.wording import (
    described_by,
    not_searched_sentences,
    unjudged_sentences,
    within_others,
)
from testsgd.metrics.report import wording
from testsgd.metrics.report.summary import MetricsSummary, MetricSummary, MetricsVerdict
from testsgd.report.formatting import count, number, plural, series, share

Outcome = Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"]

# Found again less often than this, a group is said to be not stable.
_STABLE = 0.5

_EXIT_CODES: dict[Outcome, Literal[0, 1, 3]] = {
    "reported": 0,
    "gate_passed": 0,
    "gate_failed": 1,
    "not_enough_evidence": 3,
}


def metrics_verdict(summary: MetricsSummary) -> MetricsVerdict:
    """Write in words what was found; `summary` needs no verdict yet."""
    judged = [metric for metric in summary.metrics if metric.judged]
    outcome: Outcome = "reported" if judged else "not_enough_evidence"
    limit = gate_size(summary)
    sentences: list[str] = []
    if limit is not None:
        outcome = _gate_outcome(summary, limit)
        sentences.append(_gate_sentence(outcome, summary, limit))
    if judged:
        first = _first_to_name(judged)
        headline = f"{_sentence(first, summary)}."
        sentences += [f"{_sentence(other, summary)}." for other in judged if other is not first]
        sentences += _joint_sentences(summary)
        sentences.append(_guarantee_sentence(summary))
        sentences += _holdout_sentences(summary)
        sentences += _stability_sentences(first, summary)
    else:
        headline = "Not enough evidence to judge any group."
        fewest = plural(summary.parameters.min_rows, "row")
        sentences.append(f"No metric counts at least {fewest} in a group and in its reference.")
    sentences += [
        f"{metric.title} could not be judged: no group and reference have "
        f"{plural(summary.parameters.min_rows, 'row')} that it counts."
        for metric in summary.metrics
        if not metric.judged and judged
    ]
    sentences += not_searched_sentences(
        summary.parameters.depth, _sensitive_features(summary), "features"
    )
    sentences += within_others(summary.data)
    sentences += unjudged_sentences(summary.unjudged, PredictionWords("selection_rate"))
    return MetricsVerdict(
        status=outcome, exit_code=_EXIT_CODES[outcome], headline=headline, sentences=sentences
    )


def _sensitive_features(summary: MetricsSummary) -> int:
    return sum(feature.sensitive for feature in summary.data.features)


def _judged_size(summary: MetricsSummary) -> str:
    """Write how large judged groups are, and by how many features they are described."""
    fewest = plural(summary.parameters.min_rows, "row")
    depth = described_by(summary.parameters.depth, _sensitive_features(summary), "features")
    return f"of at least {fewest}{depth}"


def gate_size(summary: MetricsSummary) -> float | None:
    """Return the size of an effect above which the gate fails; None without a gate."""
    parameters = summary.parameters
    if parameters.measure == "ratio":
        return None if parameters.fail_below is None else 1 - parameters.fail_below
    return parameters.fail_above


def _first_to_name(judged: list[MetricSummary]) -> MetricSummary:
    """Return the metric of the headline: the first asked for that has a significant group."""
    return next((metric for metric in judged if metric.significant), judged[0])


def _sentence(metric: MetricSummary, summary: MetricsSummary) -> str:
    """Write of a metric the group of the largest lower bound, without a full stop."""
    group = wording.first_group(metric)
    assert group is not None
    measure = summary.parameters.measure
    compared = wording.compared_sentence(group, metric, summary)
    ends = wording.interval_text(group, metric, measure)
    confidence = share(summary.parameters.confidence)
    if not metric.significant:
        return (
            f"{metric.title}: no group {_judged_size(summary)} "
            f"differs significantly; the first in the ranking is {group.text}, "
            f"{wording.value_text(group.value, metric)} against "
            f"{wording.value_text(group.reference_value, metric)} for {group.reference}, "
            f"{confidence} interval {ends}"
        )
    return f"{compared}, {confidence} interval {ends}"


def _joint_sentences(summary: MetricsSummary) -> list[str]:
    sentences = []
    for joint in summary.joint:
        name = joint.name.replace("_", " ").capitalize()
        if joint.metric is None or joint.group is None:
            continue
        metric = summary.metric(joint.metric)
        effect = wording.effect_text(joint.effect, metric, summary.parameters.measure)
        sentences.append(
            f"{name}, the larger of {series([item.replace('_', ' ') for item in joint.metrics])}: "
            f"the {joint.metric.replace('_', ' ')} of {joint.group}, {effect}."
        )
    return sentences


def _guarantee_sentence(summary: MetricsSummary) -> str:
    parameters, metrics = summary.parameters, len(summary.metrics)
    groups = count(summary.groups_compared)
    if parameters.guarantee == "per-group":
        return (
            f"Each interval holds for its group and metric by itself; the first of {groups} groups "
            "is likely to be overestimated."
        )
    if summary.holdout is not None:
        groups = count(summary.groups_compared)
        return f"The intervals hold for the {groups} groups that were estimated, at once."
    of_metrics = f" and {metrics} metrics" if metrics > 1 else ""
    return f"The intervals hold for all {groups} groups{of_metrics} at once."


def _holdout_sentences(summary: MetricsSummary) -> list[str]:
    holdout = summary.holdout
    if holdout is None:
        return []
    return [
        f"Of {plural(holdout.groups, 'group')} searched in {plural(holdout.searched, 'row')}, the "
        f"first were estimated on {count(holdout.estimated)} held-out ones; all figures are from "
        "these."
    ]


def _stability_sentences(first: MetricSummary, summary: MetricsSummary) -> list[str]:
    """Say if the group of the headline would often not be found again."""
    group = wording.first_group(first)
    if group is None or group.stability is None or group.stability >= _STABLE:
        return []
    return [
        "Bootstrap stability is low: the first group is found again in "
        f"{wording.stability_text(group, summary)} samples."
    ]


def _decisive(metric: MetricSummary, summary: MetricsSummary) -> float:
    """Return the size that the gate goes by.

    Bounds that hold for one group at a time do not hold for the largest of many, so then it is the
    largest size itself.
    """
    if summary.parameters.guarantee == "per-group":
        return metric.largest or 0.0
    return metric.largest_bound or 0.0


def _gate_outcome(summary: MetricsSummary, limit: float) -> Outcome:
    """Return how the gate comes out.

    It fails if a lower confidence bound is above it. It passes if every metric could be judged, and
    no size is above it.
    """
    metrics = summary.metrics
    if any(_decisive(metric, summary) > limit for metric in metrics):
        return "gate_failed"
    small = [metric.largest is not None and metric.largest <= limit for metric in metrics]
    return "gate_passed" if small and all(small) else "not_enough_evidence"


def _gate_sentence(outcome: Outcome, summary: MetricsSummary, limit: float) -> str:
    """Write how the gate came out, and by which numbers."""
    ratio = summary.parameters.measure == "ratio"
    measure = summary.parameters.measure
    gate = number(summary.parameters.fail_below if ratio else summary.parameters.fail_above)
    sides = ("below", "not below") if ratio else ("above", "not above")
    extreme = "smallest" if ratio else "largest"
    if outcome == "gate_failed":
        failed = [
            f"{wording.size_text(_decisive(metric, summary), metric, measure)} "
            f"({metric.title.lower()})"
            for metric in summary.metrics
            if _decisive(metric, summary) > limit
        ]
        what = f"{extreme} {measure}"
        if summary.parameters.guarantee == "simultaneous":
            what = f"{extreme} {'upper' if ratio else 'lower'} confidence bound"
        return f"The gate failed: the {what} is {series(failed)}, {sides[0]} {gate}."
    if outcome == "gate_passed":
        sizes = [
            f"{wording.size_text(metric.largest, metric, measure)} ({metric.title.lower()})"
            for metric in summary.metrics
        ]
        judged = _judged_size(summary).rstrip(",")
        return (
            f"The gate passed for every group {judged}, as far as a metric counts its rows: the "
            f"{extreme} {measure} is {series(sizes)}, {sides[1]} {gate}."
            f"{_silent_up_to(summary, limit)}"
        )
    unclear = [
        metric.title.lower()
        for metric in summary.metrics
        if metric.largest is None or metric.largest > limit
    ]
    return (
        f"Not enough evidence for the gate: by {series(unclear)} a group may be {sides[0]} {gate}, "
        "or no group could be judged."
    )


def _silent_up_to(summary: MetricsSummary, limit: float) -> str:
    """Write which sizes the intervals still allow; empty if none is above the gate."""
    measure = summary.parameters.measure
    allowed = [
        f"{wording.size_text(metric.largest_allowed, metric, measure)} ({metric.title.lower()})"
        for metric in summary.metrics
        if metric.largest_allowed is not None and metric.largest_allowed > limit
    ]
    if not allowed or summary.parameters.guarantee == "per-group":
        return ""
    down = "ratios down to" if measure == "ratio" else "differences of up to"
    return f" The intervals allow {down} {series(allowed)}."
