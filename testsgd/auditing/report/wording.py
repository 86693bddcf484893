"""How numbers, rules, estimands and explanations are worded, in every view of an audit alike."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from testsgd.auditing.different_people import MOST_SHARED
from testsgd.auditing.explaining import CorrelatedFeature
from testsgd.auditing.report.error_rates import ErrorRateSummary
from testsgd.auditing.report.summary import (
    AuditSummary,
    CoarseBin,
    DataSummary,
    EstimandRates,
    GroupSummary,
    UnjudgedSummary,
)
from testsgd.auditing.report.term_summary import TermSummary
from testsgd.auditing.report.vocabulary import Words
from testsgd.report.formatting import (
    MINUS,
    NOTHING,
    brief_rules,
    confidence,
    count,
    how_often,
    interval,
    is_nothing,
    number,
    percent,
    plural,
    points,
    series,
    share,
    signed,
    size_points,
)
from testsgd.report.summaries import brief_group

FINDINGS = 10
MARGIN_NAMES = {"none": "none", "wald": "Wald", "wilson": "Wilson", "anytime": "anytime-valid"}
# Other features that a sentence names.
_NAMED = 3
# How intervals are adjusted for the number of groups, by the method of a guarantee.
ADJUSTMENTS = {
    "each": "no correction for multiple comparisons",
    "max-statistic": "max-statistic bootstrap",
    "bonferroni": "Bonferroni",
    "mixed": "max-statistic bootstrap, and Bonferroni",
    "false-coverage": "Benjamini and Yekutieli",
}
# A rule may list many values.
TEXT_LIMIT = 160
# In standard deviations; less is not worth naming.
_LEAST_DIFFERENCE = 0.1
# Of a group, the share with others like them, from which a comparison is about all of it.
_NEARLY_ALL = 0.95
# Estimands of one group disagree if they differ by more, or by more than the interval allows.
DISAGREEMENT = 0.05


def counterfactual_points(group: GroupSummary) -> str:
    """Write the counterfactual effect of a group's terms with its interval, without unit."""
    effect = group.counterfactual
    if effect is None:
        return NOTHING
    return f"{signed(effect.difference)} ({interval(effect.confidence_interval)})"


def findings(summary: AuditSummary) -> list[GroupSummary]:
    """Return the groups to show first: that of rank 1, and the other distinct ones.

    Of groups that the user named they are all that are decided.
    """
    decided = [group for group in summary.groups if group.decided]
    if summary.parameters.groups:
        return decided[:FINDINGS]
    return [group for group in decided if group.distinct or group is decided[0]][:FINDINGS]


def findings_intro(summary: AuditSummary) -> str:
    """Write which groups are shown first."""
    shown = findings(summary)
    by = ranked_by(summary)
    if summary.parameters.groups:
        return f"The groups that were named, by {by}; there was no search for others."
    if summary.data.kind == "rows":
        if len(shown) == 1:
            return f"The first group by {by}."
        instead = ""
        if shown[0].n_in > shown[0].n_out:
            instead = ", where the complement of the first, which is most rows, counts"
        significant = "that differ significantly"
        if summary.parameters.ranked_by == "counterfactual":
            significant = "that have a significant one"
        return (
            f"The first {count(len(shown))} groups by {by} {significant} and are "
            f"different people: any two share at most {share(MOST_SHARED)} of the smaller "
            f"one{instead}.{order_of_groups(summary)}"
        )
    if not summary.rules:
        return f"The first group by {by}."
    rules = sum(group.distinct for group in shown)
    if rules == len(shown):
        explain = "one group that explains" if rules == 1 else f"{count(rules)} groups that explain"
        return f"The {explain} the differences, by {by}."
    return f"The first group by {by}, and those that explain the differences."


def other_rates(other: EstimandRates) -> str:
    """Write a group's rates by the other estimand."""
    return f"{percent(other.rate_in)} against {percent(other.rate_out)}"


def order_of_groups(summary: AuditSummary) -> str:
    """Write that a later group can differ more than the first; empty if that cannot be."""
    if summary.parameters.ranked_by != "lower-bound":
        return ""
    return f" They are in the order of the {ranked_by(summary)}: a later one can differ more."


def by_terms(summary: AuditSummary) -> bool:
    """Return whether an audit goes by the counterfactual effects of terms."""
    return summary.parameters.ranked_by == "counterfactual" and summary.data.kind == "texts"


def by_own_effect(group: GroupSummary, summary: AuditSummary) -> bool:
    """Return whether a headline about a group is about its own effect.

    It is if groups are ranked by own effects, and this one is significant.
    """
    return own_effect_bound(group, summary) > 0


def own_effect_bound(group: GroupSummary, summary: AuditSummary) -> float:
    """Return the least size of a group's own effect that is certain; 0 if that ranks no groups."""
    effect = group.own_effect
    if effect is None or summary.parameters.ranked_by != "counterfactual":
        return 0.0
    low, high = effect.confidence_interval
    return max(low, -high, 0.0)


def figure_name(summary: AuditSummary) -> str:
    """Return what the figure is called that the headline would speak of."""
    return "counterfactual effect" if by_terms(summary) else "difference"


def spoken_difference(group: GroupSummary, summary: AuditSummary) -> float:
    """Return the difference of a group that the headline would speak of."""
    effect = group.counterfactual
    return group.difference if effect is None or not by_terms(summary) else effect.difference


def compared(group: GroupSummary, label: str, words: Words) -> str:
    """Write in a sentence how often a group is given the favourable label."""
    here, elsewhere = percent(group.rate_in), percent(group.rate_out)
    statement = words.predicate(label)
    sentence = (
        f"{statement[0].upper()}{statement[1:]} for {here} of the group against {elsewhere} of "
        f"{words.others}"
    )
    if is_nothing(group.score):
        return f"{sentence}, which is the same to a tenth of a point."
    return f"{sentence}: {how_often(group.difference)}."


def ranked_by(summary: AuditSummary) -> str:
    """Name what the groups of an audit are ranked by."""
    return {
        "score": "score",
        "lower-bound": "lower confidence bound of the difference",
        "counterfactual": "counterfactual effect of the terms"
        if summary.data.kind == "texts"
        else "own effect of the sensitive features",
    }[summary.parameters.ranked_by]


def sampling_margin(group: GroupSummary, words: Words) -> str:
    """Write how far a group's score may be off because the model was asked about samples only."""
    if group.exact:
        return f"exact: {words.exactly}, no sampling error"
    sizes = f"{count(group.samples_in)} samples inside, {count(group.samples_out)} outside"
    method = MARGIN_NAMES[group.margin_method]
    return f"± {size_points(group.margin)} ({method}; {sizes})"


def apart(group: GroupSummary, words: Words) -> str:
    """Compare a group with its strongest rule alone; empty if there is nothing to compare."""
    parts = [part for part in group.rules_alone if part.difference is not None]
    if len(group.rules_alone) < 2 or not parts:
        return ""
    strongest = max(parts, key=lambda part: abs(part.difference or 0.0))
    return (
        f"The {words.rule} that does most on its own, {brief_rules(strongest.text, 120)}, gives "
        f"{points(strongest.difference)}; together the {words.rule}s give "
        f"{points(group.difference)}."
    )


def doubts(term: TermSummary) -> str:
    """Write what is doubtful about a sensitive term; empty if nothing is."""
    remarks = [f"ambiguous: {term.ambiguous.rstrip('. ')}"] if term.ambiguous else []
    if term.known_to_model is False:
        remarks.append("not in the vocabulary of the model")
    elif term.as_nonsense:
        remarks.append("answered like a nonsense word, in every text")
    return "; ".join(remarks)


def mode_name(summary: AuditSummary) -> str:
    """Name the mode of an audit, and how samples were drawn if they were."""
    return f"{summary.mode}, {summary.sampling}" if summary.sampling else summary.mode


def inside_only(text: str, summary: AuditSummary) -> str:
    """Return a text about rows inside and outside, or inside only if the bound is on these."""
    if summary.parameters.theta_side == "both":
        return text
    return text.replace(" inside and outside", " inside, and 1 outside")


def few_outside_sentences(group: GroupSummary, summary: AuditSummary) -> list[str]:
    """Write that hardly anybody is outside of a group, where no bound forbids it."""
    if summary.parameters.theta_side == "both" or group.n_out >= summary.unjudged.fewest:
        return []
    others = "1 row is" if group.n_out == 1 else f"{count(group.n_out)} rows are"
    return [
        f"Hardly anybody is outside of this group: {others} (--theta-side inside), so the rate of "
        "everybody else says little, and with one more row the ranking may be another."
    ]


def described_by(depth: int, possible: int, features: str, *, binned: Sequence[str] = ()) -> str:
    """Write how groups are described, with a comma before and after: by how many of the features.

    Of numbers, the features in `binned`, only whole bins describe a group.

    Examples
    --------
    >>> described_by(3, 5, "features"), described_by(4, 4, "features")
    (', described by up to 3 of 5 features,', ', described by up to 4 features,')
    >>> described_by(3, 3, "features", binned=["age"])
    ', described by up to 3 features, with age in bins,'
    """
    if possible < 2:
        return f", described by bins of {series(binned)}," if binned else ""
    of_all = f"{depth} of {possible}" if depth < possible else f"{possible}"
    bins = f", with {series(binned)} in bins" if binned else ""
    return f", described by up to {of_all} {features}{bins},"


def binned_features(data: DataSummary) -> list[str]:
    """Return the names of the sensitive numbers, of which groups have whole bins."""
    return [
        feature.name
        for feature in data.features
        if feature.sensitive and feature.type in ("integer", "decimal")
    ]


def within_others(data: DataSummary) -> list[str]:
    """Write that nothing was looked for within slices of other features, if there are any."""
    others = [feature.name for feature in data.features if not feature.sensitive]
    if not others:
        return []
    named = others[:_NAMED] if len(others) > _NAMED + 1 else others
    more = len(others) - len(named)
    listed = series([*named, f"{count(more)} more"] if more else named)
    return [
        f"The search was over all values of the other features ({listed}), not within slices of "
        "them."
    ]


def not_searched_sentences(depth: int, possible: int, feature: str) -> list[str]:
    """Write that groups of more features were not searched; nothing if there are no more."""
    if depth >= possible:
        return []
    return [f"Groups that are described by more than {plural(depth, feature)} were not searched."]


def unjudged_sentences(
    unjudged: UnjudgedSummary, words: Words, *, finer: Collection[str] = ()
) -> list[str]:
    """Write who could not be judged, and which features say little; nothing if there are none.

    `finer` are the numbers that were looked at again with finer cuts.
    """
    return [
        *unjudged_features(unjudged, words, finer=finer),
        *_combinations_sentences(unjudged, words),
    ]


def unjudged_features(
    unjudged: UnjudgedSummary, words: Words, *, finer: Collection[str] = ()
) -> list[str]:
    """Write by which features no group could be described, and whose bins are coarse."""
    sentences = []
    if unjudged.features:
        sentences.append(
            f"No group could be described by {series(unjudged.features)}: no value or range has "
            f"{plural(unjudged.fewest, words.one, words.many)} inside and outside."
        )
    finer_only = [item for item in unjudged.coarse_bins if item.feature in finer]
    coarse = [item for item in unjudged.coarse_bins if item.feature not in finer]
    most = f"More than half of the {words.many} are in one bin of a number, within which"
    # Cuts of other places would not tell the rows of one value apart.
    telling = [item for item in finer_only if not item.one_value]
    if telling:
        sentences.append(f"{most} only finer cuts looked: {_bins(telling)}.")
    if coarse:
        advice = " Other bins (--bins, or edges) look finer."
        if all(item.one_value for item in coarse):
            advice = ""
        sentences.append(f"{most} nothing was looked for: {_bins(coarse)}.{advice}")
    return sentences


def _bins(coarse: Sequence[CoarseBin]) -> str:
    return series([f"{item.text} ({percent(item.share)})" for item in coarse])


def unjudged_in_short(unjudged: UnjudgedSummary, words: Words) -> str:
    """Write how many combinations could not be judged, and that nothing follows for them."""
    combinations = plural(unjudged.combinations, words.combination, words.combinations)
    return (
        f"{count(unjudged.unjudged)} of {combinations}, {percent(unjudged.share)} of the "
        f"{words.many}: neither fair nor unfair; what {words.deciding} is unknown."
    )


def _combinations_sentences(unjudged: UnjudgedSummary, words: Words) -> list[str]:
    """Write how many people are only in combinations that could not be judged; nothing if none."""
    if not unjudged.unjudged:
        return []
    of_all = plural(unjudged.combinations, words.combination, words.combinations)
    people = (
        f"{plural(unjudged.rows, words.one, words.many)} ({percent(unjudged.share)})"
        if unjudged.rows
        else ""
    )
    unfair = f"which does not make {words.judged} fair to them"
    if unjudged.max_dilution is not None:
        return [
            f"Of {of_all}, {count(unjudged.unjudged)} could not be judged, as their values are no "
            f"group of at least {plural(unjudged.fewest, words.one, words.many)}, or are only in "
            f"groups of more than {number(unjudged.max_dilution)} times their size: {people}, "
            f"{unfair}."
        ]
    have = "has" if unjudged.unjudged == 1 else "have"
    few = (
        f"Of {of_all}, {count(unjudged.unjudged)} {have} fewer than "
        f"{plural(unjudged.fewest, words.one, words.many)} inside or outside and could not be "
        "judged"
    )
    if not unjudged.rows:
        return [f"{few}; all that are in them are in another that could."]
    are = "is" if unjudged.rows == 1 else "are"
    return [f"{few}; {people} {are} only in such combinations, {unfair}."]


def disagree(group: GroupSummary) -> bool:
    """Return whether the estimands of a group disagree by more than its interval, or 5 points.

    Where they were estimated from samples they do not unless they are further apart than the
    sampling margins of both together.
    """
    if group.other is None or group.other.difference is None:
        return False
    apart = abs(group.other.difference - group.difference)
    if apart <= group.margin + (group.other.margin or 0.0):
        # Without samples these are equal.
        return False
    low, high = group.confidence_interval
    within = low <= group.other.difference <= high
    return not within or apart > DISAGREEMENT


def lower_bound_points(group: GroupSummary) -> str:
    """Write the lower confidence bound of a group's difference, as points more or less often."""
    if not group.lower_confidence_bound:
        return "zero"
    low, _ = group.confidence_interval
    bound = group.lower_confidence_bound
    return how_often(bound if low > 0 else -bound)


def trust_facts(group: GroupSummary, summary: AuditSummary, words: Words) -> list[tuple[str, str]]:
    """List how certain a group's difference is, as far as it is known: names and texts."""
    facts = []
    if group.lower_confidence_bound is not None:
        # A counterfactual effect has an interval of its own.
        name = f"Lower confidence bound{', from other texts' * by_terms(summary)}"
        facts.append((name, lower_bound_points(group)))
    if group.q_value is not None:
        facts.append(("q-value", q_text(group.q_value)))
    if group.stability is not None:
        samples = summary.stability_samples
        times = f"{count(round(group.stability * samples))} of {count(samples)}"
        facts.append(("Bootstrap stability", f"selected again in {times} bootstrap samples"))
    if (searched := group.in_search) is not None:
        then = f"rank {count(searched.rank)}, score {size_points(searched.score)}"
        rows = plural(searched.n_in, words.one)
        facts.append((f"In the {words.many} searched", f"{then}, {rows}"))
    return facts


def q_text(q_value: float | None) -> str:
    """Write a q-value; empty if there is none."""
    if q_value is None:
        return ""
    return "<0.001" if q_value < 0.001 else f"{q_value:.3f}"


def simplest_sentence(group: GroupSummary, words: Words) -> str:
    """Write which of a group's rules would do; empty if there is nothing to choose from."""
    simplest = group.explanation.simplest if group.explanation else None
    if simplest is None or len(group.rules) < 2:
        return ""
    if len(simplest.rules) == len(group.rules):
        return f"No {words.rule} can be left out: without it less than 90% would remain."
    return (
        f"Simpler, with at least 90% of the difference: {brief_group(simplest, TEXT_LIMIT)}, "
        f"{points(simplest.difference)}."
    )


def conditional_sentence(group: GroupSummary) -> str:
    """Write what remains of a group's difference like with like; empty if it is not known."""
    explanation = group.explanation
    alike = None if explanation is None else explanation.conditional
    if alike is None:
        return ""
    covered = f" {percent(alike.covered)} of the group have somebody like them."
    return (
        f"Compared with others of the same mix of {series(alike.features)}: "
        f"{points(alike.difference)}, confidence interval "
        f"{interval(alike.confidence_interval)}.{covered * (alike.covered != 1)}"
    )


def correlated_features(group: GroupSummary) -> list[CorrelatedFeature]:
    """Return the features worth naming in which a group differs most from its complement."""
    known = group.explanation.correlated_features if group.explanation else ()
    return [item for item in known if abs(item.standardised_difference) >= _LEAST_DIFFERENCE]


def correlated_lines(features: Sequence[CorrelatedFeature]) -> list[tuple[str, str, str, str]]:
    """Write features worth naming: name, inside, outside, standard deviations between them."""
    written = []
    for item in features:
        deviations = item.standardised_difference
        write: Callable[[float], str] = _mean if item.value is None else percent
        name = f"{item.feature}, mean" if item.value is None else f"{item.feature} = {item.value}"
        if abs(deviations) >= _LEAST_DIFFERENCE:
            distance = f"{MINUS if deviations < 0 else '+'}{abs(deviations):.2f}"
            written.append((name, write(item.mean_in), write(item.mean_out), distance))
    return written


def equalised_points(group: GroupSummary) -> dict[str, str]:
    """Write what is left at the same mix of each correlated feature, by feature, without unit.

    Where only a part of the group has people like them outside, its share is written, too.
    """
    written = {}
    for left in group.explanation.equalised if group.explanation else ():
        ends = interval(left.confidence_interval)
        if left.covered < _NEARLY_ALL:
            ends += f"; {percent(left.covered)} of the group"
        written[left.features[0]] = f"{signed(left.difference)} ({ends})"
    return written


def carried_sentence(group: GroupSummary) -> str:
    """Write which feature a difference goes with most; empty if sensitive features have effects."""
    if group.explanation is None or group.own_effect is None or not group.own_effect.not_given:
        return ""
    listed = {item.feature for item in correlated_features(group)}
    known = [
        left
        for left in group.explanation.equalised
        # Of a part of the group it says nothing of the whole difference.
        if left.covered >= _NEARLY_ALL
        and left.features[0] in listed
        and abs(left.difference) < abs(group.difference)
    ]
    if not known:
        return ""
    least = min(known, key=lambda left: abs(left.difference))
    return (
        f"Of the features below, {least.features[0]} takes away the most: compared with others of "
        f"the same mix of it, {signed(least.difference)} of {points(group.difference)} are left."
    )


def no_correlated_features(group: GroupSummary) -> str:
    """Write that a group differs in no other feature worth naming; empty if it does."""
    explanation = group.explanation
    if explanation is None or not explanation.correlated_features or correlated_features(group):
        return ""
    return (
        "In no other feature does it differ by as much as a tenth of a standard deviation, in the "
        "mean or in the share of a value."
    )


def _mean(value: float) -> str:
    """Write a mean with three digits at least, and no more decimals than they need."""
    sign = MINUS if value < 0 else ""
    size = abs(value)
    return sign + (f"{size:,.0f}" if size >= 100 else f"{size:.3g}")


def ratio_text(group: GroupSummary) -> str:
    """Write the ratio of a group's rates with its interval."""
    if group.ratio is None or group.ratio_interval is None:
        return NOTHING
    low, high = group.ratio_interval
    return f"{group.ratio:.2f}, confidence interval {low:.2f} to {high:.2f}"


def metric_name(metric: str) -> str:
    """Write a metric as a sentence has it.

    Examples
    --------
    >>> metric_name("true_positive_rate"), metric_name("selection_rate")
    ('true-positive rate', 'selection rate')
    """
    return metric.replace("_positive_", "-positive ").replace("_", " ")


def error_rate_sentences(summary: AuditSummary, words: Words) -> list[str]:
    """Write for whom the error rates differ most, and that the gate is not about them."""
    parts = [_error_rate_part(item, words) for item in summary.error_rates]
    if not parts:
        return []
    sentences = [f"Of the same groups {'; '.join(parts)}."]
    limit = summary.parameters.fail_above
    beyond = [
        f"{metric_name(item.metric)} ({item.first.lower_confidence_bound:.3f})"
        for item in summary.error_rates
        if limit is not None and item.first and item.first.lower_confidence_bound > limit
    ]
    if beyond and limit is not None:
        one = len(beyond) == 1
        names = ",".join(item.metric for item in summary.error_rates)
        sentences.append(
            f"The lower confidence {'bound' if one else 'bounds'} of the {series(beyond)} "
            f"{'is' if one else 'are'} above {limit:g}, and not part of this gate, which is about "
            f"selection rates: --metrics {names} has a gate of its own."
        )
    return sentences


def _error_rate_part(rate: ErrorRateSummary, words: Words) -> str:
    name = metric_name(rate.metric)
    first = rate.first
    if first is None:
        return f"none has enough {words.many} on both sides to judge the {name}"
    low, high = first.confidence_interval
    zero = ", which includes zero" if low <= 0 <= high else ""
    return (
        f"the {name} differs most for {words.target(first)}, by {points(first.difference)} "
        f"({percent(first.rate_in)} and {percent(first.rate_out)}; simultaneous "
        f"{confidence(rate.confidence)} confidence interval "
        f"{interval(first.confidence_interval)}{zero})"
    )


def significant_error_rate(summary: AuditSummary, words: Words) -> str:
    """Write by which error rate groups differ that are alike in selection rate; empty if none."""
    for item in summary.error_rates:
        if item.significant and (first := item.first):
            more = "lower" if first.difference < 0 else "higher"
            return (
                f"but the {metric_name(item.metric)} is {size_points(abs(first.difference))} "
                f"{more} for {words.target(first)} ({percent(first.rate_in)}) than for "
                f"{words.others} ({percent(first.rate_out)})"
            )
    return ""
