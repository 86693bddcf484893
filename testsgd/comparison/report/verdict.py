"""The outcome of a comparison in words: counts, and the widest difference; no method wins."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.comparison.outcome import ComparedFindingSummary, FigureSummary, MethodSummary
from testsgd.comparison.report.summary import (
    ComparisonSettings,
    ComparisonSummary,
    ComparisonVerdict,
)
from testsgd.report.formatting import (
    MINUS,
    NOTHING,
    capital,
    count,
    how_often,
    interval,
    is_nothing,
    percent,
    plural,
    points,
    sentence,
    series,
    share,
    shorten,
)

# The audit's short name among the methods.
AUDIT = "testsgd"

# What the intervals of the audit hold for.
HOLDS_FOR = {
    "per-group": "for each group alone",
    "simultaneous": "for all groups at once",
    "fdr": "for the groups that are found",
}


def own_value(value: float) -> str:
    """Write a value of a method's own measure: three digits after the point where it is small."""
    if value == 0:
        return "0"
    size = abs(value)
    digits = f"{size:.1f}" if size >= 10 else f"{size:.3f}" if size >= 0.01 else f"{size:.1g}"
    return f"{MINUS if value < 0 else ''}{digits}"


def figure_value(figure: FigureSummary) -> str:
    """Write the value of a figure: shares in per cent."""
    if isinstance(figure.value, str):
        return figure.value
    if isinstance(figure.value, int):
        return count(figure.value)
    if figure.meaning.lower().startswith("share of") and 0 <= figure.value <= 1:
        return percent(figure.value)
    return own_value(figure.value)


def figure_sentences(method: MethodSummary) -> tuple[tuple[str, str], ...]:
    """Return a method's figures: for each its name with the value, and its meaning."""
    return tuple(
        (f"{capital(figure.name)}: {figure_value(figure)}", sentence(figure.meaning))
        for figure in method.figures
    )


def change_sentences(method: MethodSummary) -> tuple[str, ...]:
    """Write for findings that are features, not groups, how many people's decisions they change."""
    changes = []
    for finding in method.findings:
        if finding.side is None:
            whole = finding.text == "all sensitive features"
            features = "the sensitive features" if whole else finding.text.removesuffix(" alone")
            changes.append(
                f"Changing only {features} changes the decision for {percent(finding.value)} of "
                "the people."
            )
    return tuple(changes)


def similarity(value: float) -> str:
    """Write Jaccard's index."""
    return f"{value:.2f}"


def smallest_share(settings: ComparisonSettings) -> str:
    """Write the share of the rows that a group has at least: three digits of one that has more."""
    return f"{100 * settings.theta:.3g}%"


def speed(value: float | None) -> str:
    """Write groups a second."""
    if value is None:
        return NOTHING
    if value < 10:
        return f"{value:.1f}"
    return count(100 * round(value / 100) if value >= 10_000 else round(value))


_TEXT = 160
# Differences that are less apart are the same but for rounding.
_ROUNDING = 1e-9


def comparison_verdict(
    methods: Sequence[MethodSummary], settings: ComparisonSettings, *, label: str
) -> ComparisonVerdict:
    """Write what the methods, the audit first, have in common and what each found alone.

    It never fails: a comparison judges no model. `label` is the favourable one.
    """
    missing = [method.title for method in methods if not method.available]
    return ComparisonVerdict(
        status="compared",
        exit_code=0,
        headline=_restricted(_headline(methods), settings),
        sentences=[
            *_first_group(methods, settings, label),
            *_widest(methods, settings),
            *_missed(methods),
            # The first of what methods found that look at people, not at groups.
            *(text for method in methods for text in change_sentences(method)[:1]),
            *_speed(methods),
            *([f"Not run here: {series(missing)}; why is said below."] if missing else ()),
        ],
    )


def _restricted(headline: str, settings: ComparisonSettings) -> str:
    """Write in the headline that only some of the rows were looked at."""
    if settings.rows is None:
        return headline
    return f"{headline.removesuffix('.')} (only rows with {shorten(settings.rows, _TEXT)})."


def without_times(summary: ComparisonSummary) -> ComparisonSummary:
    """Return a summary of which the times were left out with a verdict that tells none either."""
    label = summary.data.label.favourable
    verdict = comparison_verdict(summary.methods, summary.settings, label=label)
    return summary.model_copy(update={"verdict": verdict})


def _headline(methods: Sequence[MethodSummary]) -> str:
    """Write how many findings only the audit or only another method has."""
    audit = next(method for method in methods if method.method == AUDIT)
    others = [method for method in methods if method.method != AUDIT and method.compared]
    if not others and not audit.findings:
        return (
            "The audit found no group, so there is nothing to compare other methods' findings with."
        )
    if not others:
        return (
            f"The audit found {plural(len(audit.findings), 'distinct group')}; no other method "
            "found groups to compare them with."
        )
    missing = sum(method.only for method in others)
    listed = sum(method.compared for method in others)
    rest = f"finding{'' if listed == 1 else 's'} of {plural(len(others), 'other method')}"
    first = f"first group{'' if audit.compared == 1 else 's'} of the audit"
    if not audit.compared:
        return f"The audit found no group; {_alone(missing, listed, rest)}."
    of_audit = _alone(audit.only, audit.compared, first)
    return f"{of_audit[:1].upper()}{of_audit[1:]}; {_alone(missing, listed, rest)}."


def _alone(alone: int, listed: int, things: str) -> str:
    """Write how many findings only one method has."""
    if listed == 1:
        return f"the {things} was found by {'no other' if alone else 'another method too'}"
    if not alone:
        return f"each of the {count(listed)} {things} was found by another method too"
    return (
        f"{count(alone)} of the {count(listed)} {things} {'was' if alone == 1 else 'were'} found "
        "by no other"
    )


def _first_group(
    methods: Sequence[MethodSummary], settings: ComparisonSettings, label: str
) -> list[str]:
    """Write the rate of the audit's first group, and the interval of its difference."""
    audit = methods[0]
    if not audit.findings:
        return ["The audit found no group that it could judge."]
    first = audit.findings[0]
    if first.side is None or first.side.difference is None:
        return []
    how = (
        "as often as everybody else"
        if is_nothing(first.side.difference)
        else how_often(first.side.difference)
    )
    return [
        f"The audit's first group, {shorten(first.text, _TEXT)}, with "
        f"{percent(first.side.share)} of the rows, gets “{label}” {how}, by the model's decisions "
        "on the rows as they are.",
        *_interval(first, settings),
    ]


def _interval(first: ComparedFindingSummary, settings: ComparisonSettings) -> list[str]:
    """Write the interval of the difference of the audit's first group."""
    if first.confidence_interval is None:
        return []
    low, high = first.confidence_interval
    reading = "which leaves out zero" if low > 0 or high < 0 else "which includes zero"
    return [
        f"In the population, with {share(settings.confidence)} confidence "
        f"{HOLDS_FOR[settings.guarantee]}, its score's difference is "
        f"{interval(first.confidence_interval)} points, {reading}."
    ]


def _widest(methods: Sequence[MethodSummary], settings: ComparisonSettings) -> list[str]:
    """Name the widest difference of all methods, if another method than the audit found it."""
    sizes = [
        (abs(finding.side.difference), method, finding)
        for method in methods
        for finding in method.findings
        if finding.side is not None
        and finding.side.difference is not None
        # Large enough on both sides for the audit to judge it too.
        and settings.theta <= finding.side.share <= 1 - settings.theta
    ]
    if not sizes:
        return []
    size, method, finding = max(sizes, key=lambda item: item[0])
    if method.method == AUDIT or is_nothing(size) or finding.side is None:
        return []
    # Most groups of the audit are not listed.
    of_audit = max((each.widest or 0.0 for each in methods), default=0.0)
    if size <= of_audit + _ROUNDING:
        return []
    return [
        f"Of all groups with {smallest_share(settings)} of the rows or more inside and outside, "
        f"{method.title} found the widest difference: {points(finding.side.difference)} for "
        f"{shorten(finding.text, _TEXT)}."
    ]


def _missed(methods: Sequence[MethodSummary]) -> list[str]:
    """Write how many of the other methods' findings are among all groups of the audit."""
    found = [
        finding.in_audit.similarity
        for method in methods
        for finding in method.findings
        if method.method != AUDIT and finding.side is not None and finding.in_audit is not None
    ]
    if not found:
        return []
    near = sum(similarity >= 0.8 for similarity in found)
    return [
        f"Of {plural(len(found), 'finding')} of other methods {count(near)} "
        f"{'is' if near == 1 else 'are'} among all groups of the audit nearly row by row, at "
        "whatever rank."
    ]


def _speed(methods: Sequence[MethodSummary]) -> list[str]:
    """Compare the speed of the audit's search with that of the other search of all groups."""
    known = {method.method: method for method in methods}
    audit = known[AUDIT]
    other = known.get("divexplorer")
    if other is None or not other.groups_per_second or not audit.groups_per_second:
        return []
    factor = audit.groups_per_second / other.groups_per_second
    return [
        f"Given the decisions, the audit's search examines {_work(audit)} and {other.title} "
        f"{_work(other)}: per second {count(round(factor)) if factor >= 10 else f'{factor:.1f}'} "
        "times as many."
    ]


def _work(method: MethodSummary) -> str:
    groups = method.groups or 0
    groups_per_second = method.groups_per_second or 1.0
    return f"{plural(groups, 'group')} in {groups / groups_per_second:.2g} s"
