"""The verdict of an audit of metrics in words, and its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from testsgd.auditing.report.gate import (
    EXIT_CODES,
    GateMeasure,
    Outcome,
    gate_outcome,
    kept_by,
    undescribed_sentences,
    unjudged_share_sentences,
)
from testsgd.auditing.report.vocabulary import PredictionWords
from testsgd.auditing.report.wording import (
    binned_features,
    described_by,
    not_searched_sentences,
    unjudged_sentences,
    within_others,
)
from testsgd.auditing.report.worse_off import Features
from testsgd.metrics.parameters import Measure
from testsgd.metrics.report import wording
from testsgd.metrics.report.summary import (
    ComparedGroup,
    MetricDifference,
    MetricsSummary,
    MetricSummary,
    MetricsVerdict,
    MetricUnjudged,
)
from testsgd.report.formatting import (
    confidence,
    count,
    number,
    percent,
    plural,
    series,
    share,
    shorten,
)

# Groups without enough rows that count, in one sentence.
_MOST_NAMED = 5

# Characters of the expression that rows were chosen by, in the headline.
_LONGEST_CHOICE = 120

# Found again less often than this, a group is said to be not stable.
_STABLE = 0.5

# What a summary has until its verdict is known, which follows from all else in it.
PENDING = MetricsVerdict(status="not_enough_evidence", exit_code=3, headline="", sentences=[])


def metrics_verdict(
    summary: MetricsSummary, *, values: Mapping[str, Sequence[str]]
) -> MetricsVerdict:
    """Return the verdict on an audit in words, with the exit code; `summary` needs none yet.

    `values` are those that rows have of each categorical sensitive feature.
    """
    features = wording.features_of(summary, values)
    judged = [metric for metric in summary.metrics if metric.judged]
    finer = wording.largest_finer(summary)
    outcome: Outcome = "reported" if judged or finer else "not_enough_evidence"
    limit = gate_size(summary)
    sentences: list[str] = []
    lacking = _lacking_sentences(summary) if summary.parameters.strict else []
    if limit is not None:
        measures = _gate_measures(summary)
        outcome = gate_outcome(
            [item.measure for item in measures], limit, strict=summary.parameters.strict
        )
        sentences.append(_gate_sentence(outcome, summary, measures, limit, passes=not lacking))
    sentences += lacking
    if lacking and outcome != "gate_failed":
        outcome = "not_enough_evidence"
    if judged:
        first = _first_to_name(judged)
        headline = f"{_sentence(first, summary, features)}."
        if finer is not None:
            # The largest finding of all is the headline.
            sentences.append(headline)
            headline = f"{wording.finer_sentence(finer, summary)}."
        sentences += [
            f"{_sentence(other, summary, features)}." for other in judged if other is not first
        ]
        sentences += _joint_sentences(summary, features)
        sentences.append(_guarantee_sentence(summary))
        sentences += _holdout_sentences(summary)
        sentences += _stability_sentences(first, summary)
    else:
        headline = "Not enough evidence to judge any group."
        if finer is not None:
            headline = f"{wording.finer_sentence(finer, summary)}."
        fewest = plural(summary.parameters.min_rows, "row")
        sentences.append(f"No metric counts at least {fewest} in a group and in its reference.")
    sentences += [
        f"{metric.title} could not be judged: no group and reference have "
        f"{plural(summary.parameters.min_rows, 'row')} that it counts."
        for metric in summary.metrics
        if not metric.judged and judged
    ]
    sentences += wording.finer_cuts_sentences(summary, but=finer)
    sentences += not_searched_sentences(
        summary.parameters.depth, _sensitive_features(summary), "feature"
    )
    sentences += within_others(summary.data)
    sentences += unjudged_sentences(
        summary.unjudged, PredictionWords("selection_rate"), finer=wording.looked_at_finer(summary)
    )
    return MetricsVerdict(
        status=outcome,
        exit_code=EXIT_CODES[outcome],
        headline=_restricted(headline, summary),
        sentences=sentences,
    )


def _restricted(headline: str, summary: MetricsSummary) -> str:
    """Write in the headline that only some of the rows were looked at."""
    restrictions = []
    if (chosen := summary.parameters.rows) is not None:
        restrictions.append(f"only rows with {shorten(chosen, _LONGEST_CHOICE)}")
    if (all_rows := summary.data.sampled_from) is not None:
        drawn = count(summary.data.rows)
        restrictions.append(f"in a sample of {drawn} of {plural(all_rows, 'row')}")
    if not restrictions:
        return headline
    return f"{headline.removesuffix('.')} ({'; '.join(restrictions)})."


def _sensitive_features(summary: MetricsSummary) -> int:
    return sum(feature.sensitive for feature in summary.data.features)


def _judged_size(summary: MetricsSummary) -> str:
    """Write how large judged groups are, and by how many features they are described."""
    fewest = plural(summary.parameters.min_rows, "row")
    depth = described_by(
        summary.parameters.depth,
        _sensitive_features(summary),
        "features",
        binned=binned_features(summary.data),
    )
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


def _sentence(metric: MetricSummary, summary: MetricsSummary, features: Features) -> str:
    """Write of a metric the group of the largest lower bound, without a full stop."""
    group = wording.first_group(metric)
    assert group is not None
    if not metric.significant:
        people, others = wording.both_sides(group, summary, features)
        none = f"no group {_judged_size(summary)}"
        if summary.holdout is not None:
            none = "of the groups estimated on rows held out none"
        return (
            f"{metric.title}: {none} differs significantly; first in the ranking are {people}, "
            f"{wording.value_text(group.value, metric)} against "
            f"{wording.value_text(group.reference_value, metric)} for {others}, "
            f"{confidence(summary.parameters.confidence)} interval "
            f"{wording.interval_text(group, metric, summary.parameters.measure)}"
        )
    return _capital(_clause(group, metric, summary, features))


def _clause(
    group: ComparedGroup | MetricDifference,
    metric: MetricSummary,
    summary: MetricsSummary,
    features: Features,
) -> str:
    """Write who is worse off by a metric, with the confidence of the interval."""
    return wording.worse_off_clause(
        group, metric, summary, features, sure=confidence(summary.parameters.confidence)
    )


def _capital(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}"


def _joint_sentences(summary: MetricsSummary, features: Features) -> list[str]:
    """Write of each joint metric which of its differences is the largest, and which is certain."""
    sentences = []
    for joint in summary.joint:
        if joint.largest is None or joint.most_certain is None:
            continue
        name = joint.name.replace("_", " ").capitalize()
        titles = series([item.replace("_", " ") for item in joint.metrics])
        most = "largest difference"
        if summary.parameters.measure == "ratio":
            most = "ratio furthest from 1"
        largest = _clause(joint.largest, summary.metric(joint.largest.metric), summary, features)
        chance = "" if joint.largest.lower_confidence_bound else ", which may be chance"
        certain = _most_certain(joint.largest, joint.most_certain, summary, features)
        sentences.append(f"{name}, the {most} in {titles}: {largest}{chance}{certain}.")
    return sentences


def _most_certain(
    largest: MetricDifference,
    surest: MetricDifference,
    summary: MetricsSummary,
    features: Features,
) -> str:
    """Write the largest lower bound, and whose it is; empty if nothing is certain."""
    if surest.lower_confidence_bound == 0:
        return ""
    measure = summary.parameters.measure
    metric = summary.metric(surest.metric)
    bound = wording.size_text(surest.lower_confidence_bound, metric, measure)
    extreme = "largest lower confidence bound"
    if measure == "ratio":
        extreme = "smallest upper confidence bound of the smaller value over the larger"
    if (surest.metric, surest.text) == (largest.metric, largest.text):
        return f"; this has the {extreme} too, {bound}"
    clause = _clause(surest, metric, summary, features)
    return f"; the {extreme}, {bound}, is of another: {clause}"


def _guarantee_sentence(summary: MetricsSummary) -> str:
    """Write for how many groups and metrics the intervals hold at once."""
    parameters = summary.parameters
    metrics = len(summary.metrics)
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
    """Return a sentence if the group of the headline comes back in few bootstrap samples."""
    group = wording.first_group(first)
    if group is None or group.stability is None or group.stability >= _STABLE:
        return []
    return [
        "Bootstrap stability is low: the first group is found again in "
        f"{wording.stability_text(group, summary)} samples."
    ]


@dataclass(frozen=True)
class _OfMetric:
    """What the gate looks at, with the metric that it is a size of."""

    measure: GateMeasure
    metric: MetricSummary


def _gate_measures(summary: MetricsSummary) -> list[_OfMetric]:
    """Return what the gate looks at.

    Bounds that hold for one group at a time do not hold for the largest of many, so then the gate
    goes by the largest size itself.
    """
    single = summary.parameters.guarantee == "per-group"
    return (
        [
            _OfMetric(
                GateMeasure(
                    metric.title.lower(),
                    metric.largest,
                    None if single else metric.largest_bound,
                    metric.largest_allowed,
                ),
                metric,
            )
            for metric in summary.metrics
        ]
        + [
            _OfMetric(
                GateMeasure.of_look(
                    f"{metric.title.lower()} by finer cuts", metric.finer.lower_confidence_bound
                ),
                metric,
            )
            for metric in summary.metrics
            if metric.finer is not None and metric.finer.lower_confidence_bound > 0
        ]
        + [
            _OfMetric(GateMeasure.of_unestimated(metric.unestimated, metric.title.lower()), metric)
            for metric in summary.metrics
            if metric.unestimated is not None
        ]
    )


def _lacking_sentences(summary: MetricsSummary) -> list[str]:
    """Write why a strict audit concludes nothing; nothing if it may."""
    unjudged = summary.unjudged
    allowed = summary.parameters.max_unjudged
    sentences = unjudged_share_sentences(unjudged.share, allowed, "rows")
    by_metric = [
        (metric.title.lower(), metric.unjudged)
        for metric in summary.metrics
        if metric.unjudged is not None
    ]
    if not sentences:
        for title, of_metric in by_metric:
            sentences += unjudged_share_sentences(
                of_metric.share, allowed, f"rows that count for the {title}"
            )
    for title, of_metric in by_metric:
        if of_metric.uncounted_share > allowed:
            sentences.append(_uncounted_sentence(title, of_metric, allowed))
    features = dict.fromkeys(unjudged.features)
    for _, of_metric in by_metric:
        features |= dict.fromkeys(of_metric.features)
    return [*sentences, *undescribed_sentences(list(features))]


def _uncounted_sentence(title: str, unjudged: MetricUnjudged, allowed: float) -> str:
    """Write that a metric counts too few rows of some groups."""
    named = unjudged.uncounted[:_MOST_NAMED]
    further = len(unjudged.uncounted) - len(named)
    if further:
        named = [*named, plural(further, "further group")]
    return (
        f"Not enough evidence: too few rows with {series(named)} count for the {title}, and these "
        f"are {percent(unjudged.uncounted_share)} of all rows, more than the {share(allowed)} "
        "allowed."
    )


def _gate_sentence(
    outcome: Outcome,
    summary: MetricsSummary,
    measures: Sequence[_OfMetric],
    limit: float,
    *,
    passes: bool,
) -> str:
    """Write how the gate came out, and by which numbers.

    `passes`: nothing else is in the way of passing.
    """
    measure = summary.parameters.measure
    ratio = measure == "ratio"
    gate = number(summary.parameters.fail_below if ratio else summary.parameters.fail_above)
    sides = ("below", "not below") if ratio else ("above", "not above")
    extreme = "smallest" if ratio else "largest"
    if outcome == "gate_failed":
        failed = [
            _written(item, item.measure.decisive, measure)
            for item in measures
            if item.measure.decisive > limit
        ]
        what = f"{extreme} {measure}"
        if summary.parameters.guarantee == "simultaneous":
            what = f"{extreme} {'upper' if ratio else 'lower'} confidence bound"
        return f"The gate failed: the {what} is {series(failed)}, {sides[0]} {gate}."
    if outcome == "gate_passed":
        sizes = [
            f"{wording.size_text(item.measure.largest, item.metric, measure)} "
            f"({item.measure.largest_name})"
            for item in measures
        ]
        judged = f"every group {_judged_size(summary)}".rstrip(",")
        if summary.holdout is not None:
            judged = f"{judged} of the rows held out"
        return (
            f"{kept_by(judged, passes=passes)}, as far as a metric counts its rows: the "
            f"{extreme} {measure} is {series(sizes)}, {sides[1]} {gate}."
            f"{_silent_up_to(summary, measures)}"
        )
    beyond = f"{sides[0]} {gate}"
    above = [
        item for item in measures if item.measure.largest is None or item.measure.largest > limit
    ]
    if not above:
        return (
            f"Not enough evidence for the gate, which is strict: no {measure} is {sides[0]} "
            f"{gate}.{_silent_up_to(summary, measures)}"
        )
    return f"Not enough evidence for the gate: {_unclear(above, summary, beyond=beyond)}."


def _unclear(above: Sequence[_OfMetric], summary: MetricsSummary, *, beyond: str) -> str:
    """Write by which metrics a group is beyond the limit by chance, perhaps, or none was judged."""
    measure = summary.parameters.measure
    extreme = "smallest" if measure == "ratio" else "largest"
    judged = [item for item in above if item.measure.largest is not None]
    uncertain = [item for item in judged if not item.measure.is_unestimated]
    unestimated = [item for item in judged if item.measure.is_unestimated]
    clauses = []
    for items, doubt in (
        (uncertain, "but chance may explain that"),
        (unestimated, "but no interval is known of it"),
    ):
        sizes = [_written(item, item.measure.largest, measure) for item in items]
        if sizes:
            clauses.append(f"the {extreme} {measure} is {series(sizes)}, {beyond}, {doubt}")
    unjudged = [item.measure.name for item in above if item.measure.largest is None]
    if unjudged:
        clauses.append(f"by {series(unjudged)} no group could be judged")
    return "; ".join(clauses)


def _written(item: _OfMetric, size: float | None, measure: Measure) -> str:
    return f"{wording.size_text(size, item.metric, measure)} ({item.measure.name})"


def _silent_up_to(summary: MetricsSummary, measures: Sequence[_OfMetric]) -> str:
    """Write up to which sizes the data are silent: those that the intervals still allow."""
    measure = summary.parameters.measure
    allowed = [
        _written(item, item.measure.allowed, measure)
        for item in measures
        if item.measure.allowed is not None
    ]
    if not allowed:
        return ""
    down = "ratios down to" if measure == "ratio" else "differences of up to"
    each = ", each by itself," if summary.parameters.guarantee == "per-group" else ""
    return f" The intervals{each} allow {down} {series(allowed)}."
