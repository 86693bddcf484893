"""The headline of an audit: how the first finding differs, of which rows, and who is worse off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from testsgd.auditing.parameters import Estimand
from testsgd.auditing.report.base_rates import BaseRates
from testsgd.auditing.report.compared_groups import compared_alone, judged_size
from testsgd.auditing.report.further_looks import (
    FurtherGroup,
    WithinGroup,
)
from testsgd.auditing.report.leading import (
    is_judged_different,
    leads_by_own_effect,
)
from testsgd.auditing.report.spoken_side import (
    is_turned,
    names_who_is_worse_off,
    nothing_significant,
)
from testsgd.auditing.report.summary import AuditSummary, GroupSummary
from testsgd.auditing.report.vocabulary import vocabulary
from testsgd.auditing.report.wording import (
    DISAGREEMENT,
    by_own_effect,
    findings,
    own_effect_bound,
    significant_error_rate,
)
from testsgd.auditing.report.worse_off import (
    ALL_OTHERS,
    Comparison,
    Features,
    base_rates_clause,
    complement_in_words,
    group_in_words,
    worse_off_clause,
)
from testsgd.report.formatting import (
    count,
    how_often,
    number,
    percent,
    plural,
    series,
    shorten,
    size_points,
)

# Of a longer expression for the rows the headline has the beginning.
_LONGEST_CHOICE = 120
# Groups that a sentence names beside a headline about all others.
_MOST_WORSE_OFF = 2
# Scores above it count as the favourable label, if nothing else is said.
_USUAL_THRESHOLD = 0.5


def headline_of(group: GroupSummary, summary: AuditSummary) -> str:
    """Write the headline about the first group of the search."""
    words = vocabulary(summary)
    guarantee = summary.guarantee
    if by_own_effect(group, summary):
        return _of_own_effect(group, summary)
    no_own = _no_own_effect(group, summary)
    if nothing_significant(summary):
        unequal = significant_error_rate(summary, words)
        subject = f"No group {judged_size(summary)} has a"
        if (compared := compared_alone(summary)) is not None:
            subject = f"None of {compared} has a"
            if summary.counts.groups == 1:
                subject = f"{capitalised(compared)} has no"
        return (
            f"{subject} statistically significant {no_own}difference "
            f"in {words.rate.lower()}{f'; {unequal}' if unequal else ''}. "
            f"{_may_be_chance(group, summary)}"
        )
    base_rates = BaseRates(group.base_rate_in, group.base_rate_out)
    compared = compared_clause(
        group, summary, estimand=summary.parameters.estimand, base_rates=base_rates
    )
    significant = bool(group.lower_confidence_bound)
    if guarantee.kind == "per-group" and summary.counts.groups > 1:
        # Of many intervals that each hold by themselves, one without zero says little.
        significant = True
    if guarantee.kind == "fdr":
        significant = (group.q_value or 0.0) <= 1 - guarantee.confidence
    ending = "" if significant else ", not statistically significant"
    if no_own:
        which = "named group" if summary.parameters.groups else "group"
        ending += f"; no {which} has a statistically significant {no_own.removesuffix(' or ')}"
    return f"{capitalised(compared)}{ending}."


def _no_own_effect(group: GroupSummary, summary: AuditSummary) -> str:
    """Return what comes before "difference" where no own effect is significant; else nothing.

    `group` is the first one, by its own effect.
    """
    ranked = summary.parameters.ranked_by == "counterfactual" and group.own_effect is not None
    if not ranked or by_own_effect(group, summary):
        return ""
    return "own effect of the sensitive features or "


def _of_own_effect(group: GroupSummary, summary: AuditSummary) -> str:
    """Write the headline about the own effect of a group, beside what its rates are in all."""
    own, in_all = _own_effect_clauses(group, summary, turned=is_turned(group, summary))
    parameters = summary.parameters
    words = vocabulary(summary)
    among = words.estimands[parameters.estimand]
    if parameters.estimand == "observed":
        among = words.observed(summary.data.label.favourable)
    chance = "" if is_judged_different(group, summary) else ", not statistically significant"
    headline = f"{capitalised(own)}. {in_all}, {among[0].lower()}{among[1:]}{chance}."
    surest = _surest_difference(summary)
    if surest is None:
        return headline
    # A gate would fail by it, unseen behind smaller numbers. A complement has the same difference.
    least = (group.lower_confidence_bound or 0.0) + DISAGREEMENT
    if (surest.lower_confidence_bound or 0.0) <= max(least, own_effect_bound(group, summary)):
        return headline
    clause = compared_clause(surest, summary, estimand=parameters.estimand)
    return f"{headline} The surest difference in all is another: {clause}."


def _own_effect_clauses(
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


def _surest_difference(summary: AuditSummary) -> GroupSummary | None:
    """Return the group with the largest lower bound of its difference, where bounds compare."""
    if summary.guarantee.kind != "simultaneous":
        return None
    rank = summary.guarantee.largest_bound_rank
    return next((group for group in summary.groups if group.rank == rank), None)


def _may_be_chance(group: GroupSummary, summary: AuditSummary) -> str:
    """Write that the difference of the first group may be chance, as none is significant."""
    words = vocabulary(summary)
    label = summary.data.label.favourable
    parameters = summary.parameters
    estimand = parameters.estimand
    among = words.observed(label) if estimand == "observed" else words.estimands[estimand]
    if names_who_is_worse_off(summary):
        features = Features.of(summary)
        people = group_in_words(group.rules, features)
        others = complement_in_words(group.rules, features)
    else:
        people, others = words.target(group), words.others
    # Groups whose lower bounds are all zero are ranked by size; by own effects they are not.
    by_bounds = parameters.ranked_by == "lower-bound" and not group.lower_confidence_bound
    by_size = parameters.ranked_by == "score" or by_bounds
    which = (
        "The largest difference that was seen" if by_size else "The difference of the first group"
    )
    if by_size and summary.holdout is not None:
        which = "The largest difference there"
    if by_size and compared_alone(summary) is not None and summary.counts.groups == 1:
        which = "Its difference"
    return (
        f"{which}, of {people} ({how_often(group.difference)}, {percent(group.rate_in)} "
        f"against {percent(group.rate_out)} of {others}, {among[0].lower()}{among[1:]}), may be "
        "chance."
    )


def compared_clause(
    group: GroupSummary | FurtherGroup | WithinGroup,
    summary: AuditSummary,
    *,
    estimand: Estimand,
    others: str = "",
    base_rates: BaseRates | None = None,
) -> str:
    """Write how the two sides of a group differ, as a clause without a full stop.

    The side that is worse off comes first, where one is. `others` is what the complement is called,
    if not by the opposite of the group's rules. `base_rates` are there if they are known.
    """
    words = vocabulary(summary)
    label = summary.data.label.favourable
    among = words.observed(label) if estimand == "observed" else words.estimands[estimand]
    among = f"{among[0].lower()}{among[1:]}"
    if names_who_is_worse_off(summary):
        comparison = Comparison(group.rules, group.rate_in, group.rate_out)
        if base_rates is not None:
            comparison = replace(
                comparison, base_rate_in=base_rates.inside, base_rate_out=base_rates.outside
            )
        features = Features.of(summary)
        clause = worse_off_clause(
            comparison, label, features, outcome=summary.data.label.outcome, others=others
        )
    else:
        clause = (
            f"{words.predicate(label)} {how_often(group.difference)} for "
            f"{words.target(group)} ({percent(group.rate_in)}) than for {others or words.others} "
            f"({percent(group.rate_out)})"
        )
    return f"{clause}, {among}"


def capitalised(clause: str) -> str:
    """Return a clause with a capital letter."""
    return f"{clause[0].upper()}{clause[1:]}"


def with_restrictions(headline: str, summary: AuditSummary) -> str:
    """Write in the headline what restricts it: a sample, rows held out, theta, a threshold."""
    data = summary.data
    parameters = summary.parameters
    words = vocabulary(summary)
    restrictions = []
    holdout = summary.holdout
    if parameters.rows is not None:
        restrictions.append(f"only {words.many} with {shorten(parameters.rows, _LONGEST_CHOICE)}")
    if data.sampled_from is not None:
        drawn = data.rows if holdout is None else holdout.searched + holdout.estimated
        restrictions.append(
            f"in a sample of {count(drawn)} of {plural(data.sampled_from, words.one)}"
        )
    if holdout is not None:
        rows_estimated = plural(holdout.estimated, words.one, words.many)
        restrictions.append(f"estimated on {rows_estimated} held out")
    restrictions += _drawn_rows(summary)
    if parameters.groups:
        which = "named groups" if summary.counts.candidates > 1 else "a named group"
        restrictions.append(f"{which}, no search")
    fewest = f"of at least {plural(summary.unjudged.fewest, words.one, words.many)}"
    if parameters.theta is not None and fewest not in headline and not parameters.groups:
        restrictions.append(f"among groups {fewest}")
    threshold = summary.model.threshold
    if summary.model.output == "scores" and threshold not in (None, _USUAL_THRESHOLD):
        restrictions.append(f"scores above {number(threshold)} counting as this prediction")
    if not restrictions:
        return headline
    return f"{headline.removesuffix('.')} ({'; '.join(restrictions)})."


def _drawn_rows(summary: AuditSummary) -> list[str]:
    """Write that the observed rates are of some rows only, and how far they may be off."""
    top = next((group for group in summary.groups if group.decided), None)
    of_rows = summary.data.kind == "rows" and summary.parameters.estimand == "observed"
    if top is None or not of_rows or top.exact:
        return []
    asked = top.samples_in + top.samples_out
    rows = top.n_in + top.n_out
    if asked >= rows:
        return []
    of_all = plural(rows, vocabulary(summary).one)
    margin = size_points(top.margin)
    return [f"estimated from {count(asked)} of {of_all}, with a sampling margin of {margin}"]


def worse_off_sentences(headline: str, summary: AuditSummary) -> list[str]:
    """Write which of the first groups are worse off, if a headline says so of all others only."""
    if not headline.startswith(ALL_OTHERS.capitalize()):
        return []
    shown = findings(summary)
    if leads_by_own_effect(summary, shown[0]):
        return _worse_off_by_own_effect(shown, summary, limit=_MOST_WORSE_OFF)
    features = Features.of(summary)
    clauses = [
        f"{group_in_words(group.rules, features)} ({how_often(group.difference)} than "
        f"{complement_in_words(group.rules, features)})"
        for group in shown
        if group.score > 0 and not is_turned(group, summary)
    ]
    if not clauses:
        return []
    what = "group that is" if len(clauses) == 1 else "groups that are"
    which = "is" if len(clauses) == 1 else "are"
    return [f"The first {what} worse off {which} {series(clauses[:_MOST_WORSE_OFF])}."]


def _worse_off_by_own_effect(
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
