"""How values of metrics, their differences and ratios are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testsgd.auditing.report.further_looks import FinerSummary
from testsgd.auditing.report.wording import DISAGREEMENT, TEXT_LIMIT, correlated_lines
from testsgd.auditing.report.worse_off import (
    ALL_OTHERS,
    Features,
    complement_in_words,
    group_in_words,
    sexes_of,
)
from testsgd.metrics.parameters import BEST, OVERALL, REST, Measure
from testsgd.metrics.report.summary import (
    ComparedGroup,
    MetricDifference,
    MetricsSummary,
    MetricSummary,
)
from testsgd.report.formatting import (
    MINUS,
    NOTHING,
    count,
    decimals_of,
    percent,
    plural,
    points,
    series,
    signed,
    size_points,
)
from testsgd.report.summaries import brief_group

# What a list of first groups says of its order.
FIRST_GROUPS = (
    "The first groups of each metric that are no near copies of one another, in the order of the "
    "lower confidence bound, the smallest size that an interval allows: a later one can differ more"
)


def value_text(value: float | None, metric: MetricSummary) -> str:
    """Write a value of a metric."""
    if value is None:
        return NOTHING
    return _figure(value) if metric.scale == "number" else percent(value, _decimals(metric))


def _decimals(metric: MetricSummary) -> int:
    """Return how many decimals rates and differences of a metric have, in points."""
    return decimals_of(metric.overall, metric.counted)


def effect_text(effect: float | None, metric: MetricSummary, measure: Measure) -> str:
    """Write a difference with its unit, or a ratio."""
    if effect is None:
        return NOTHING
    if measure == "ratio":
        return f"{effect:.3f}"
    if metric.scale == "number":
        return _signed_figure(effect)
    return points(effect, _decimals(metric))


def interval_text(group: ComparedGroup, metric: MetricSummary, measure: Measure) -> str:
    """Write the confidence interval of a group's difference or ratio."""
    return ends_text(group.confidence_interval, metric, measure)


def ends_text(ends: tuple[float, float | None], metric: MetricSummary, measure: Measure) -> str:
    """Write the ends of a confidence interval of a difference or a ratio."""
    low, high = ends
    if measure == "ratio":
        return f"{low:.3f} to {'no limit' if high is None else f'{high:.3f}'}"
    assert high is not None
    if metric.scale == "number":
        return f"{_signed_figure(low)} to {_signed_figure(high)}"
    decimals = _decimals(metric)
    return f"{signed(low, decimals)} to {signed(high, decimals)}"


def size_text(size: float | None, metric: MetricSummary, measure: Measure) -> str:
    """Write the size of a difference, or how far a ratio is from 1."""
    if size is None:
        return NOTHING
    if measure == "ratio":
        return f"{1 - size:.3f}"
    return _figure(size) if metric.scale == "number" else size_points(size, _decimals(metric))


def reference_words(reference: str) -> str:
    """Write what groups are compared with."""
    return {
        REST: "everybody else",
        OVERALL: "all rows",
        BEST: "the best group over the same features",
    }.get(reference, reference)


def effect_name(measure: Measure) -> str:
    """Return what is compared, as a heading."""
    return "Difference" if measure == "difference" else "Ratio"


def first_group(metric: MetricSummary) -> ComparedGroup | None:
    """Return the first group of a metric's ranking, None if none was judged."""
    return metric.groups[0] if metric.groups else None


def compared_sentence(group: ComparedGroup, metric: MetricSummary, summary: MetricsSummary) -> str:
    """Write a metric of a group beside that of its reference, without a full stop."""
    measure = summary.parameters.measure
    effect = effect_text(group.effect, metric, measure)
    effect_in_words = f"ratio {effect}" if measure == "ratio" else effect
    return (
        f"{metric.title}: {value_text(group.value, metric)} for {brief_group(group, TEXT_LIMIT)}, "
        f"{value_text(group.reference_value, metric)} for {group.reference} "
        f"({effect_in_words})"
    )


def largest_finer(summary: MetricsSummary) -> MetricSummary | None:
    """Return the metric whose finer cuts show the largest finding of all; None if the search did.

    Metrics that are no shares do not compare with it.
    """
    found = [metric for metric in summary.metrics if metric.speaks_first is not None]
    largest = max(found, key=_finer_bound, default=None)
    searched = [
        metric.largest_bound or 0.0 for metric in summary.metrics if metric.scale == "share"
    ]
    if largest is None or _finer_bound(largest) <= max(searched) + DISAGREEMENT:
        return None
    return largest


def _finer_bound(metric: MetricSummary) -> float:
    return 0.0 if metric.finer is None else metric.finer.lower_confidence_bound


def finer_sentence(metric: MetricSummary, summary: MetricsSummary) -> str:
    """Write the group that finer cuts of numbers show in a metric, without a full stop."""
    finer = metric.finer
    assert finer is not None
    clause = worse_off_clause(of_finer(metric, finer), metric, summary, features_of(summary))
    return (
        f"With finer cuts of {finer.cuts}, {clause} ({brief_group(finer, TEXT_LIMIT)}; "
        f"{finer.comparison_note})"
    )


def of_finer(metric: MetricSummary, finer: FinerSummary) -> MetricDifference:
    """Return the group that finer cuts of numbers show, beside its complement."""
    return MetricDifference(
        metric=metric.name,
        text=finer.text,
        rules=finer.rules,
        value=finer.rate_in,
        reference=reference_words(REST),
        reference_value=finer.rate_out,
        effect=finer.difference,
        confidence_interval=finer.confidence_interval,
        lower_confidence_bound=finer.lower_confidence_bound,
    )


def features_of(
    summary: MetricsSummary, values: Mapping[str, Sequence[str]] | None = None
) -> Features:
    """Return what is known of the sensitive features; `values` are those that rows have."""
    return Features(
        whole_numbers=frozenset(
            feature.name for feature in summary.data.features if feature.type == "integer"
        ),
        values=values or {},
        sexes=sexes_of(summary.data.features),
    )


def worse_off_clause(
    group: ComparedGroup | MetricDifference,
    metric: MetricSummary,
    summary: MetricsSummary,
    features: Features,
    *,
    sure: str = "",
) -> str:
    """Write who is worse off by a metric, by how much and than whom, with the interval.

    The group comes first where no value is better. So it does if it is compared with all rows, or
    with the best group, which are nobody in particular. `sure` is the confidence of the interval.

    Returns
    -------
    str
        A clause that begins with a small letter, without a full stop.
    """
    measure = summary.parameters.measure
    people, others = both_sides(group, summary, features)
    first, second = people, others
    value, other_value = group.value, group.reference_value
    effect, ends = group.effect, group.confidence_interval
    base_rate, other_base_rate = None, None
    if isinstance(group, ComparedGroup):
        base_rate, other_base_rate = group.base_rate, group.reference_base_rate
    if reference_is_worse_off(group, metric, summary):
        first, second = second, first
        value, other_value = other_value, value
        effect, ends = _turned(effect, ends, measure)
        base_rate, other_base_rate = other_base_rate, base_rate
    title = metric.title.lower()
    article = "an" if title[:1] in "aeio" else "a"
    verb = "has" if first.startswith(ALL_OTHERS) else "have"
    figures = f"{value_text(value, metric)} against {value_text(other_value, metric)}"
    if base_rate is not None and other_base_rate is not None:
        decimals = _decimals(metric)
        base_rates = (percent(rate, decimals) for rate in (base_rate, other_base_rate))
        figures += f"; in the file {' against '.join(base_rates)}"
    interval = f"{f'{sure} ' if sure else ''}interval {ends_text(ends, metric, measure)}"
    if metric.better == "zero" and measure == "difference":
        # An error's sign says in which direction; that one is the higher says not which is worse.
        return (
            f"{first} {verb} {article} {title} of {_error_text(value, metric)}, {second} one of "
            f"{_error_text(other_value, metric)}; they differ by "
            f"{effect_text(effect, metric, measure)}, {interval}"
        )
    return (
        f"{first} {verb} {article} {title} {_how_much(effect, metric, measure)} {second} "
        f"({figures}), {interval}"
    )


def _error_text(value: float, metric: MetricSummary) -> str:
    """Write a mean error, and in which direction it is."""
    written = value_text(value, metric)
    if not value:
        return written
    return f"{written} (too {'high' if value > 0 else 'low'})"


def both_sides(
    group: ComparedGroup | MetricDifference, summary: MetricsSummary, features: Features
) -> tuple[str, str]:
    """Write who is in a group, and whom it is compared with."""
    people = group_in_words(group.rules, features) if group.rules else group.text
    if group.reference_rules:
        return people, group_in_words(group.reference_rules, features)
    if summary.parameters.reference == REST and group.rules:
        return people, complement_in_words(group.rules, features)
    return people, group.reference


def reference_is_worse_off(
    group: ComparedGroup | MetricDifference, metric: MetricSummary, summary: MetricsSummary
) -> bool:
    """Return whether a clause on who is worse off begins with the reference."""
    if summary.parameters.reference in (OVERALL, BEST):
        return False
    if metric.better == "neither" or group.value == group.reference_value:
        return False
    if metric.better == "zero":
        return abs(group.value) < abs(group.reference_value)
    return (group.value > group.reference_value) == (metric.better == "higher")


def _turned(
    effect: float | None, ends: tuple[float, float | None], measure: Measure
) -> tuple[float | None, tuple[float, float | None]]:
    """Return the effect and its interval as they are seen from the reference."""
    low, high = ends
    if measure == "difference":
        assert effect is not None
        assert high is not None
        return -effect, (-high, -low)
    inverse = 0.0 if effect is None else _inverse(effect)
    least = 0.0 if high is None else _inverse(high)
    return inverse, (least or 0.0, _inverse(low))


def _inverse(ratio: float) -> float | None:
    return 1 / ratio if ratio > 0 else None


def _how_much(effect: float | None, metric: MetricSummary, measure: Measure) -> str:
    """Write an effect; the people who have the other value follow it."""
    if measure == "ratio":
        return "above nothing for" if effect is None else f"{effect:.3f} times that of"
    assert effect is not None
    size = size_text(abs(effect), metric, measure)
    return f"{size} {'lower' if effect < 0 else 'higher'} than"


def finer_cuts_sentences(summary: MetricsSummary, *, but: MetricSummary | None = None) -> list[str]:
    """Write what finer cuts show in each metric but one, and where nothing was looked for."""
    sentences: list[str] = []
    lacking: dict[tuple[str, ...], list[str]] = {}
    for metric in summary.metrics:
        if metric.within_bins:
            lacking.setdefault(tuple(metric.within_bins), []).append(metric.title.lower())
        if metric is not but:
            sentences += finer_look(metric, summary)
    for features, titles in lacking.items():
        by = "" if len(titles) == len(summary.metrics) else f" by {series(titles)}"
        sentences.append(f"Values within a bin of {series(features)} were not looked at{by}.")
    return sentences


def looked_at_finer(summary: MetricsSummary) -> set[str]:
    """Return the numbers that were looked at with finer cuts in every metric."""
    by_metric = [
        set() if metric.finer is None else set(metric.finer.features) for metric in summary.metrics
    ]
    return set.intersection(*by_metric) if by_metric else set()


def finer_look(metric: MetricSummary, summary: MetricsSummary) -> list[str]:
    """Write what finer cuts show in a metric; nothing if nothing was looked at."""
    finer = metric.finer
    if finer is None:
        return []
    # A finding of finer cuts is said where it is larger than that of the search.
    if finer.lower_confidence_bound > (metric.largest_bound or 0.0):
        return [f"{finer_sentence(metric, summary)}."]
    return [
        f"{metric.title}, with finer cuts of {finer.cuts}: no group stands out more "
        f"({finer.comparison_note})."
    ]


def difference_text(difference: float, metric: MetricSummary) -> str:
    """Write a difference of values with its unit."""
    return effect_text(difference, metric, "difference")


def added_texts(group: ComparedGroup, metric: MetricSummary) -> list[str]:
    """Write what each rule of a group adds; nothing if there is one rule only."""
    explanation = group.explanation
    if explanation is None or len(explanation.shapley_values) < 2:
        return []
    return [
        f"{item.text}: {difference_text(item.value, metric)}" for item in explanation.shapley_values
    ]


def simpler_text(group: ComparedGroup, metric: MetricSummary) -> str:
    """Write which of a group's rules keep 90% of its difference; empty if all are needed."""
    explanation = group.explanation
    if explanation is None or len(explanation.simplest.rules) == len(group.rules):
        return ""
    simplest = explanation.simplest
    return f"{simplest.text} ({difference_text(simplest.difference, metric)})"


def correlated_texts(group: ComparedGroup) -> list[str]:
    """Write the features in which a group differs most, with both values and the deviations."""
    if group.explanation is None:
        return []
    return [
        f"{name}: {inside} against {outside} ({deviations} SD)"
        for name, inside, outside, deviations in correlated_lines(
            group.explanation.correlated_features
        )
    ]


def alike_texts(group: ComparedGroup, metric: MetricSummary, measure: Measure) -> list[str]:
    """Write what is left of a difference like with like, its interval, and how much is covered."""
    alike = None if group.explanation is None else group.explanation.alike
    if alike is None:
        return []
    lines = [
        effect_text(alike.effect, metric, measure),
        ends_text(alike.confidence_interval, metric, measure),
    ]
    if alike.covered < 1:
        lines.append(f"{percent(alike.covered)} of the group")
    return lines


def stability_text(group: ComparedGroup, summary: MetricsSummary) -> str:
    """Write in how many bootstrap samples a group is found again."""
    if group.stability is None:
        return NOTHING
    samples = summary.stability_samples
    return f"{count(round(group.stability * samples))} of {count(samples)}"


def searched_texts(group: ComparedGroup, metric: MetricSummary, measure: Measure) -> list[str]:
    """Write what a group was in the rows searched."""
    searched = group.in_search
    if searched is None:
        return []
    return [
        f"rank {count(searched.rank)}: {effect_text(searched.effect, metric, measure)}",
        plural(searched.counted, "row"),
    ]


def _figure(value: float) -> str:
    """Write a number of any size with four digits."""
    text = f"{abs(value):,.4g}" if abs(value) < 1e4 else f"{abs(value):,.0f}"
    return f"{MINUS}{text}" if value < 0 and float(text.replace(",", "")) else text


def _signed_figure(value: float) -> str:
    return _figure(value) if value <= 0 else f"+{_figure(value)}"
