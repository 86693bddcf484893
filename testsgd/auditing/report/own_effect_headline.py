"""The headline of an audit of rows that ranks groups by the own effects of sensitive features."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.auditing.report.spoken_side import is_turned
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.wording import by_own_effect
from testsgd.auditing.report.worse_off import (
    ALL_OTHERS,
    Comparison,
    Features,
    base_rates_clause,
    complement_in_words,
    group_in_words,
)
from testsgd.report.formatting import how_often, percent, series, size_points


def own_effect_clauses(
    group: GroupSummary, summary: AuditSummary, *, turned: bool
) -> tuple[str, str]:
    """Write whom the sensitive features themselves are against, and how the rates differ in all.

    `turned` says whether the complement is named first. The rates have the same order.
    """
    effect = group.own_effect
    assert effect is not None
    features = Features.of(summary)
    people = group_in_words(group.rules, features)
    others = complement_in_words(group.rules, features)
    sign = -1 if turned else 1
    first, second = (others, people) if turned else (people, others)
    rates = (group.rate_out, group.rate_in) if turned else (group.rate_in, group.rate_out)
    verb = "is" if first.startswith(ALL_OTHERS) else "are"
    smallest, largest = sorted(abs(end) for end in effect.confidence_interval)
    own = (
        f"{first} {verb} predicted “{summary.data.label.favourable}” "
        f"{how_often(sign * effect.difference)} than {second} by the sensitive features themselves "
        f"(confidence interval {100 * smallest:.1f} to {size_points(largest)})"
    )
    comparison = Comparison(
        group.rules,
        group.rate_in,
        group.rate_out,
        base_rate_in=group.base_rate_in,
        base_rate_out=group.base_rate_out,
    )
    base = base_rates_clause(comparison, turned=turned)
    in_all = (
        f"In all it is {how_often(sign * group.difference)} "
        f"({percent(rates[0])} against {percent(rates[1])}{f'; {base}' if base else ''})"
    )
    return own, in_all


def no_own_effect(group: GroupSummary, summary: AuditSummary) -> str:
    """Return what comes before "difference" where no own effect is significant; else nothing.

    `group` is the first one, by its own effect.
    """
    ranked = summary.parameters.ranked_by == "counterfactual" and group.own_effect is not None
    if not ranked or by_own_effect(group, summary):
        return ""
    return "own effect of the sensitive features or "


def first_worse_off_sentences(
    shown: Sequence[GroupSummary], summary: AuditSummary, *, limit: int
) -> list[str]:
    """Write which of the first groups the sensitive features themselves are against, if any."""
    features = Features.of(summary)
    clauses = [
        f"{group_in_words(group.rules, features)} ({how_often(group.own_effect.difference)} than "
        f"{complement_in_words(group.rules, features)})"
        for group in shown
        if group.own_effect is not None
        and by_own_effect(group, summary)
        and not is_turned(group, summary)
    ]
    if not clauses:
        return []
    what = "group that is" if len(clauses) == 1 else "groups that are"
    which = "is" if len(clauses) == 1 else "are"
    return [
        f"By the sensitive features themselves the first {what} worse off {which} "
        f"{series(clauses[:limit])}."
    ]
