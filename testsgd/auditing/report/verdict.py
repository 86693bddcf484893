"""The verdict of an audit in words, how certain it is, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from testsgd.auditing.guarantee import Method
from testsgd.auditing.report.base_rates import BaseRates
from testsgd.auditing.report.compared_groups import (
    judged_groups,
    named_sentences,
    not_judged_sentences,
    possible_features,
)
from testsgd.auditing.report.composition import ValueCounts, composition_sentences
from testsgd.auditing.report.controls import control_headline, control_sentences
from testsgd.auditing.report.further_looks import (
    FurtherGroup,
    WithinGroup,
    conditional_sentences,
    deeper_sentences,
    finer_sentences,
    within_sentences,
)
from testsgd.auditing.report.gate import (
    EXIT_CODES,
    GateMeasure,
    Outcome,
    gate_outcome,
    gate_sentence,
    undescribed_sentences,
    unjudged_share_sentences,
)
from testsgd.auditing.report.headline import (
    capitalised,
    compared_clause,
    headline_of,
    with_restrictions,
    worse_off_sentences,
)
from testsgd.auditing.report.leading import (
    largest_over_all,
    leading_control,
    leading_look,
)
from testsgd.auditing.report.own_effects import own_effect_sentence
from testsgd.auditing.report.ratio_gate import (
    RatioMeasure,
    ratio_gate_outcome,
    ratio_gate_sentence,
)
from testsgd.auditing.report.spoken_side import (
    is_turned,
    turned_sentences,
)
from testsgd.auditing.report.summary import AuditSummary, GroupSummary, Verdict
from testsgd.auditing.report.vocabulary import interval_sentence, vocabulary
from testsgd.auditing.report.wording import (
    ADJUSTMENTS,
    DISAGREEMENT,
    TEXT_LIMIT,
    by_own_effect,
    by_terms,
    disagree,
    error_rate_sentences,
    few_outside_sentences,
    inside_only,
    lower_bound_points,
    not_searched_sentences,
    unjudged_sentences,
    within_others,
)
from testsgd.auditing.report.worse_off import (
    Comparison,
    base_rates_sentence,
)
from testsgd.report.formatting import (
    brief_rules,
    count,
    interval,
    percent,
    plural,
    points,
    series,
    share,
    shorten,
    size_points,
)
from testsgd.report.summaries import brief_group

# Labels that a sentence lists.
_MOST_LABELS = 5
# A group that comes back in fewer bootstrap samples is remarked on.
_STABLE = 0.5
# A model that agrees with fewer of the labels may mean the other class.
_LEAST_AGREEMENT = 0.2
# A sentence names as many rules as explain so much of the variation, at most three.
_ENOUGH = 0.9
_NUMBERS = ("One rule explains", "Two rules explain", "Three rules explain")

# What a summary has until its verdict is known, which follows from all else in it.
PENDING = Verdict(status="not_enough_evidence", exit_code=3, headline="", sentences=[])


def verdict(
    summary: AuditSummary,
    measures: Sequence[GateMeasure],
    ratios: Sequence[RatioMeasure] = (),
    consists_of: Sequence[ValueCounts] = (),
    base_rates_of_look: BaseRates | None = None,
) -> Verdict:
    """Write in words what an audit found; `summary` needs no verdict yet.

    `consists_of` says of which values the group of the headline consists, and `base_rates_of_look`
    which base rates it has if it is of a look beyond the search, where that is known.
    """
    decided = [group for group in summary.groups if group.decided]
    outcome: Outcome = "reported" if decided else "not_enough_evidence"
    base: list[str] = []
    group_name = ""
    themselves: list[str] = []
    if decided:
        headline, base, sentences = _of_decided(decided[0], summary, base_rates_of_look)
        leading = leading_look(summary, decided[0]) or decided[0]
        # Behind a headline that begins with the complement it has to be said which the group is.
        if is_turned(leading, summary):
            group_name = brief_group(leading, TEXT_LIMIT)
            themselves = worse_off_sentences(headline, summary)
    else:
        headline = "Not enough evidence to judge any group."
        sentences = _why_nothing(summary)
    headline, sentences = _with_controls(headline, sentences, summary)
    headline = with_restrictions(headline, summary)
    parameters = summary.parameters
    first: list[str] = []
    lacking = _lacking_sentences(summary)
    if parameters.fail_above is not None:
        outcome = gate_outcome(measures, parameters.fail_above, strict=parameters.strict)
        first.append(
            gate_sentence(
                outcome,
                summary,
                measures,
                parameters.fail_above,
                judged=judged_groups(summary),
                passes=not lacking,
            )
        )
    if parameters.fail_below_ratio is not None:
        by_ratio = ratio_gate_outcome(ratios, parameters.fail_below_ratio, strict=parameters.strict)
        first.append(
            ratio_gate_sentence(
                by_ratio, summary, ratios, judged=judged_groups(summary), passes=not lacking
            )
        )
        outcome = by_ratio if parameters.fail_above is None else _worse(outcome, by_ratio)
    first += lacking
    if lacking and outcome != "gate_failed":
        outcome = "not_enough_evidence"
    code = EXIT_CODES[outcome]
    many = vocabulary(summary).many
    consisting = composition_sentences(
        consists_of, summary.unjudged.fewest, many, group_name=group_name
    )
    known = [
        *base,
        *themselves,
        *_unknown_categories(summary),
        *consisting,
        *first,
        *_unknown_labels(summary),
    ]
    sentences = [*known, *sentences]
    return Verdict(status=outcome, exit_code=code, headline=headline, sentences=sentences)


def _lacking_sentences(summary: AuditSummary) -> list[str]:
    """Write why a gate, or a strict audit, concludes nothing; nothing if it may."""
    parameters = summary.parameters
    sentences: list[str] = []
    if (parameters.fail_above, parameters.fail_below_ratio) != (None, None):
        sentences += not_judged_sentences(summary)
    if parameters.strict:
        people = vocabulary(summary).many
        sentences += unjudged_share_sentences(
            summary.unjudged.share, parameters.max_unjudged, people
        )
        sentences += undescribed_sentences(summary.unjudged.features)
    return sentences


def _unknown_categories(summary: AuditSummary) -> list[str]:
    """Write which cells the model's encoders were not fitted to, if there are any."""
    if not summary.model.unknown_categories:
        return []
    # Imported here: few models have an encoder that can be read.
    from testsgd.auditing.report.unknown_categories import unknown_category_sentences

    return unknown_category_sentences(summary.model.unknown_categories)


def _unknown_labels(summary: AuditSummary) -> list[str]:
    """Write which labels of the model are none of the data's, if there are any."""
    unknown = summary.model.unknown_labels
    if not unknown:
        return []
    shown = series([f"“{shorten(label, TEXT_LIMIT)}”" for label in unknown[:_MOST_LABELS]])
    more = len(unknown) - _MOST_LABELS
    return [
        f"The model gave {shown}{f' and {more} more' if more > 0 else ''}, not among the labels of "
        "the data: counted as not favourable."
    ]


def _of_decided(
    top: GroupSummary, summary: AuditSummary, base_rates_of_look: BaseRates | None
) -> tuple[str, list[str], list[str]]:
    """Write the headline, the base rates if it has no room for them, and the other sentences.

    They are about the first group of the search, and about what finer cuts and slices show; the
    largest finding of all is the headline.
    """
    headline, sentences = _of_group(top, summary)
    base = _base_rates_beside(
        top, headline, summary, BaseRates(top.base_rate_in, top.base_rate_out)
    )
    sentences = [*turned_sentences(top, summary), *sentences]
    within = summary.within
    over_all = largest_over_all(summary, top)
    depth = summary.parameters.depth if summary.terms is None else 0
    further = [
        *deeper_sentences(summary.deeper, searched=depth, over_all=over_all),
        *finer_sentences(summary.finer, over_all=over_all),
    ]
    if within is None and not summary.parameters.groups:
        further += within_others(summary.data)
    leading = leading_look(summary, top)
    if within is not None and isinstance(leading, WithinGroup):
        slice_text = brief_rules(leading.slice, TEXT_LIMIT)
        clause = compared_clause(
            leading,
            summary,
            estimand="observed",
            others="all others there",
            base_rates=base_rates_of_look,
        )
        first = f"Within {slice_text}, {clause}."
        about = within_sentences(within, is_headline=True)
        about = [*turned_sentences(leading, summary), *about]
        base_first = _base_rates_beside(leading, first, summary, base_rates_of_look)
        return first, base_first, [*about, headline, *base, *sentences, *further]
    if within is not None:
        further += within_sentences(within, is_headline=False)
    if isinstance(leading, FurtherGroup):
        clause = compared_clause(
            leading, summary, estimand="observed", base_rates=base_rates_of_look
        )
        first = f"{capitalised(clause)}."
        further = [*turned_sentences(leading, summary), *further]
        base_first = _base_rates_beside(leading, first, summary, base_rates_of_look)
        return first, base_first, [*further, headline, *base, *sentences]
    return headline, base, [*sentences, *further]


def _base_rates_beside(
    group: GroupSummary | FurtherGroup | WithinGroup,
    headline: str,
    summary: AuditSummary,
    base_rates: BaseRates | None,
) -> list[str]:
    """Write the base rates for right behind a headline about a group, if they are not in it."""
    if base_rates is None:
        return []
    comparison = Comparison(
        group.rules,
        group.rate_in,
        group.rate_out,
        base_rate_in=base_rates.inside,
        base_rate_out=base_rates.outside,
    )
    label = summary.data.label.favourable
    base = base_rates_sentence(comparison, label, headline, turned=is_turned(group, summary))
    return [base] if base else []


def _with_controls(
    headline: str, sentences: list[str], summary: AuditSummary
) -> tuple[str, list[str]]:
    """Add what neutral words in place of terms show: first, if that is the larger finding."""
    if summary.terms is None:
        return headline, sentences
    label = summary.data.label.favourable
    control = leading_control(summary)
    shown = control_sentences(summary.terms.controls, label)
    if control is None:
        return headline, [*sentences, *shown]
    return control_headline(control, label), [*shown, headline, *sentences]


def _worse(*outcomes: Outcome) -> Outcome:
    """Return the outcome that counts of several gates."""
    order: tuple[Outcome, ...] = ("gate_failed", "not_enough_evidence", "gate_passed")
    return min(outcomes, key=order.index)


def _of_group(top: GroupSummary, summary: AuditSummary) -> tuple[str, list[str]]:
    """Write of the first group the headline, and what qualifies it."""
    counts = summary.counts
    words = vocabulary(summary)
    label = summary.data.label.favourable
    effect_first = by_terms(summary) and top.counterfactual is not None
    if effect_first:
        headline, *qualified = words.by_terms(top, label, _interval_name(summary))
    else:
        headline = headline_of(top, summary)
        qualified = [*_disagreement(top, summary), _interval_sentence(top, summary)]
        own = top.own_effect
        if own is not None and (own.not_given or summary.parameters.ranked_by == "counterfactual"):
            qualified.insert(0, own_effect_sentence(own))
    sentences = [
        *few_outside_sentences(top, summary),
        *_held_out(top, summary),
        *qualified,
        *error_rate_sentences(summary, words),
        *_significance(top, summary, effect_first=effect_first),
        *_other_first(top, summary),
        *_explaining(summary),
    ]
    sentences += conditional_sentences(summary.conditional)
    if top.stability is not None and top.stability < _STABLE:
        samples = summary.stability_samples
        sentences.append(
            "Bootstrap stability is low: the rule is selected again in "
            f"{count(round(top.stability * samples))} of {count(samples)} samples."
        )
    sentences += words.remarks(top, label, summary.terms, effect=not effect_first)
    if top.score == 0 and top.rate_in in (0, 1):
        who = words.every if top.rate_in else words.no
        asked = "" if summary.data.predictions_given else " it was asked about"
        gave = f"{words.judged[0].upper()}{words.judged[1:]} gave"
        sentences.append(f"{gave} “{label}” to {who}{asked}; check that this is the label meant.")
    if (draws := summary.parameters.nondeterministic) is not None:
        sentences.append(
            "The model may answer the same question differently each time: the rates are those of "
            f"its mean answer, estimated from {draws} answers to each question where all are "
            "asked, and from a new answer for each sample where samples are drawn."
        )
    if undecided := counts.undecided_frequent:
        have = "has" if undecided == 1 else "have"
        few = f"{have} too few {words.many} as they are on one side"
        why = few if top.exact else "did not reach the error margin"
        sentences.append(f"{plural(undecided, 'group')} {why}: undecided, neither fair nor unfair.")
    sentences += [*_units(summary), *_agreement(summary)]
    if summary.parameters.groups:
        sentences += named_sentences(summary)
    elif summary.deeper is None:
        sentences += not_searched_sentences(
            summary.parameters.depth, possible_features(summary), words.feature
        )
    finer = summary.finer.features if summary.finer is not None else []
    return headline, [*sentences, *unjudged_sentences(summary.unjudged, words, finer=finer)]


def _units(summary: AuditSummary) -> list[str]:
    """Write that several rows are one unit; nothing if each is one."""
    independent = summary.data.independent
    if summary.data.kind != "rows" or independent is None:
        return []
    rows = count(summary.data.rows)
    units = f"in intervals they count as {plural(independent, 'unit')}"
    if summary.data.cluster is not None:
        sentence = (
            f"Some of the {rows} rows are of the same people, as the column "
            f"“{summary.data.cluster}” says: {units}."
        )
    else:
        sentence = (
            f"Some of the {rows} rows are copies of one another, or of the same people: {units}. "
            "(Copies count one by one with --equal-rows each.)"
        )
    return [sentence, *_not_looked_at(summary)]


def _not_looked_at(summary: AuditSummary) -> list[str]:
    """Write which looks are left out where several rows are one unit; nothing if none is."""
    if summary.parameters.groups:
        return []
    has_numbers = any(
        feature.sensitive and feature.type != "categorical" for feature in summary.data.features
    )
    looks = []
    if has_numbers and summary.finer is None:
        looks.append("finer cuts of numbers")
    if summary.deeper is None and summary.parameters.depth < possible_features(summary):
        looks.append("groups of more features")
    if summary.parameters.stability != 0 and not summary.stability_samples:
        looks.append("the stability of the groups")
    if not looks:
        return []
    return [f"Not looked at, as it takes rows for independent: {series(looks)}."]


def _agreement(summary: AuditSummary) -> list[str]:
    """Ask whether the label is the one meant, if the model says the opposite of the file."""
    accuracy = summary.model.accuracy
    if accuracy is None or accuracy >= _LEAST_AGREEMENT:
        return []
    return [
        f"The model agrees with {percent(accuracy)} of the labels in the file: check that "
        f"“{summary.data.label.favourable}” is the class that it means."
    ]


def _interval_name(summary: AuditSummary) -> str:
    """Name the confidence intervals, with their confidence and what they are adjusted for."""
    name = f"{share(summary.guarantee.confidence)} confidence interval"
    # That of a group that was named alone has nothing to hold together with.
    together = summary.guarantee.kind == "simultaneous" and summary.guarantee.groups != 1
    return f"simultaneous {name}" if together else name


def _difference_name(group: GroupSummary, summary: AuditSummary) -> str:
    """Return what the difference of a group is called behind a headline about it."""
    of_effect = by_own_effect(group, summary)
    return "the group's difference" if of_effect or is_turned(group, summary) else "that difference"


def _interval_sentence(group: GroupSummary, summary: AuditSummary) -> str:
    sizes = vocabulary(summary).sides(group)
    size_in = group.effective_sample_size_in
    size_out = group.effective_sample_size_out
    if size_in is not None and size_out is not None:
        worth = f"{count(round(size_in))} and {count(round(size_out))}"
        sizes += f"; effective sample sizes {worth}, as some repeat others"
    return interval_sentence(
        f"{_interval_name(summary)} of {_difference_name(group, summary)}",
        group.confidence_interval,
        sizes,
    )


def _why_nothing(summary: AuditSummary) -> list[str]:
    counts = summary.counts
    parameters = summary.parameters
    words = vocabulary(summary)
    if counts.groups == 0 and parameters.groups:
        return [
            *named_sentences(summary),
            f"Lower {_binding_limit(summary)}, name larger groups, or bring more {words.many}.",
        ]
    if counts.groups == 0:
        return [
            inside_only(words.nothing_frequent.format(count(summary.unjudged.fewest)), summary),
            f"Lower {_binding_limit(summary)}, or bring more {words.many}.",
        ]
    which = "The only group" if counts.groups == 1 else f"None of {count(counts.groups)} groups"
    lone, several = _frequent_categories(summary)
    if lone and (not several or summary.mode == "exact"):
        return _no_other_term(lone)
    listed = summary.groups
    if summary.mode == "exact" or (listed and all(group.exact for group in listed)):
        has = "does not have" if counts.groups == 1 else "has"
        fewest = f"{count(summary.unjudged.fewest)} {words.many} as they are"
        return [
            f"{which} {has} {fewest} on each side.",
            f"Lower {_binding_limit(summary)}, or bring more {words.many}.",
        ]
    reached = "did not reach" if counts.groups == 1 else "reached"
    return [
        f"{which} {reached} an error margin of {parameters.error_margin:g} with more than "
        f"{parameters.min_samples:,} samples a side within {parameters.max_queries:,} queries.",
        _sampling_remedy(summary),
        *_no_other_term(lone),
    ]


def _frequent_categories(summary: AuditSummary) -> tuple[list[str], list[str]]:
    """Return the frequent categories with one term, and those with several, if effects count."""
    if summary.terms is None or not by_terms(summary):
        return [], []
    frequent = [
        category
        for category in summary.terms.categories
        if category.texts >= summary.unjudged.fewest
    ]
    return (
        [category.name for category in frequent if len(category.terms) == 1],
        [category.name for category in frequent if len(category.terms) > 1],
    )


def _no_other_term(categories: Sequence[str]) -> list[str]:
    """Write that groups of categories with one term have no counterfactual effect, and a remedy."""
    if not categories:
        return []
    each = "each " if len(categories) > 1 else ""
    return [
        f"The list of terms has only one term {each}of {series(categories)}: no other can be put "
        "in its place, so that there is no counterfactual effect.",
        f"Name a second term {each}of {series(categories)}, or rank by the difference from other "
        "texts (--rank-by score).",
    ]


def _sampling_remedy(summary: AuditSummary) -> str:
    """Write what would let groups be judged that got too few samples, or a margin too wide."""
    least = summary.parameters.min_samples
    enough = [group for group in summary.groups if min(group.samples_in, group.samples_out) > least]
    if enough:
        return "Allow more queries, or a wider margin (--error-margin)."
    # No margin is wide enough for groups with fewer samples than are asked for.
    narrow = all(group.margin > summary.parameters.error_margin for group in summary.groups)
    wider = " with a wider margin (--error-margin)" if narrow else ""
    return f"Allow more queries, or fewer samples a side (--min-samples){wider}."


def _binding_limit(summary: AuditSummary) -> str:
    """Return the parameter that says how many rows a group has at least."""
    given = summary.parameters
    if given.theta is None:
        return "min_rows"
    is_larger = given.min_rows is not None and summary.unjudged.fewest <= given.min_rows
    return "min_rows" if is_larger else "theta"


def _significance(top: GroupSummary, summary: AuditSummary, *, effect_first: bool) -> list[str]:
    """Write how many groups differ significantly, by which test, and which has the largest bound.

    There is nothing about a single group: its interval says all.
    """
    guarantee = summary.guarantee
    words = vocabulary(summary)
    examined = summary.counts.groups
    simultaneous = guarantee.kind == "simultaneous"
    if examined < 2:
        return []
    sentences = []
    if guarantee.kind == "per-group" or (effect_first and guarantee.kind == "fdr"):
        sentences.append(
            f"The interval holds for this group by itself. It is the first of {count(examined)}, "
            "so its difference is likely to be overestimated."
        )
    what = "difference"
    if effect_first:
        what = f"difference from {words.others}, topic and terms together"
        if (effects := guarantee.significant_terms) is not None:
            test: Method = "bonferroni" if simultaneous else "each"
            sentences.append(_significant(summary, effects, "counterfactual effect", test))
    sentences.append(_significant(summary, guarantee.significant, what))
    if simultaneous and not effect_first:
        # Only simultaneous bounds compare.
        sentences += [
            f"The largest lower confidence bound is that for {words.target(group)}: "
            f"{lower_bound_points(group)}."
            for group in summary.groups
            if group.rank == guarantee.largest_bound_rank and group.rank != top.rank
        ]
    return sentences


def _significant(
    summary: AuditSummary, significant: int, what: str, test: Method | None = None
) -> str:
    """Write how many groups are statistically significant, by which test and at which error rate.

    `test` names the test if it is not the guarantee's.
    """
    guarantee = summary.guarantee
    examined = summary.counts.groups
    error = share(1 - guarantee.confidence)
    rates = {
        "simultaneous": f"family-wise error rate at most {error}",
        "fdr": f"false discovery rate at most {error}",
        "per-group": f"about {error} would be so if there were no differences",
    }
    least = "" if guarantee.significant_complete else "at least "
    number = f"{least}{count(significant)} {'has' if significant == 1 else 'have'}"
    if significant in (0, examined):
        number = f"{'none' if not significant else 'all'} have"
    return (
        f"Of {count(examined)} groups, {number} a statistically significant {what} "
        f"({ADJUSTMENTS[test or guarantee.method]}; "
        f"{rates['per-group' if test == 'each' else guarantee.kind]})."
    )


def _held_out(top: GroupSummary, summary: AuditSummary) -> list[str]:
    """Write that groups were selected on some rows and estimated on others."""
    holdout = summary.holdout
    words = vocabulary(summary)
    if holdout is None:
        return []
    sentences = [
        f"Of {plural(holdout.groups, 'group')} searched in {plural(holdout.searched, words.one)}, "
        f"the distinct ones and those that explain the differences, "
        f"{count(summary.counts.groups)}, were "
        f"estimated on {count(holdout.estimated)} held-out ones; all figures are from these."
    ]
    if (searched := top.in_search) is not None:
        sentences.append(
            f"In the {words.many} searched this group had rank {count(searched.rank)} and a score "
            f"of {size_points(searched.score)}."
        )
    return sentences


def _disagreement(top: GroupSummary, summary: AuditSummary) -> list[str]:
    """Write that the estimands disagree about the first group, and why; nothing if they agree."""
    other = top.other
    if other is None or other.difference is None or other.confidence_interval is None:
        return []
    if not disagree(top):
        return []
    estimand = vocabulary(summary).estimands[other.estimand]
    sentences = [
        f"The estimands disagree: {estimand[0].lower()}{estimand[1:]}, "
        f"{_difference_name(top, summary)} is {points(other.difference)} "
        f"({interval(other.confidence_interval)})."
    ]
    if summary.moved:
        changed = [f"{item.feature} ({points(item.difference)})" for item in summary.moved]
        sentences.append(
            "The reason: a step of one feature that is not sensitive changes what the model "
            f"decides. The difference with that feature moved: {series(changed)}."
        )
    return sentences


def _other_first(top: GroupSummary, summary: AuditSummary) -> list[str]:
    """Write which group differs most by the other estimand, if that is more, and another one."""
    if len(summary.estimands) < 2:
        return []
    other = summary.estimands[1]
    difference = other.first_difference
    if difference is None or other.first == top.text or not other.largest_bound:
        return []
    if abs(difference) <= abs(top.difference) + DISAGREEMENT:
        return []
    estimand = vocabulary(summary).estimands[other.estimand]
    return [
        f"{estimand}, another group comes first: {brief_rules(other.first, TEXT_LIMIT)}, "
        f"{points(difference)} (lower confidence bound {size_points(other.largest_bound)})."
    ]


def _explaining(summary: AuditSummary) -> list[str]:
    """Write how much of the differences the fewest rules explain; nothing if it is not known."""
    rules = summary.rules
    if summary.guarantee.kind != "per-group" and not summary.guarantee.significant:
        # Rules explain chance as well; that is nothing to conclude from.
        return []
    explained = list(accumulate(rule.share or 0.0 for rule in rules))
    enough = next((index for index, part in enumerate(explained) if part >= _ENOUGH), len(rules))
    named = rules[: min(enough + 1, len(_NUMBERS))]
    if not named or any(rule.share is None for rule in named):
        return []
    groups = {group.rank: group for group in summary.groups}
    texts = "; ".join(
        brief_group(groups[rule.rank], TEXT_LIMIT)
        if rule.rank in groups
        else brief_rules(rule.text, TEXT_LIMIT)
        for rule in named
    )
    left = len(rules) - len(named)
    rest = f" ({plural(left, 'more rule')} in the report)" if left else ""
    return [
        f"{_NUMBERS[len(named) - 1]} {percent(explained[len(named) - 1])} of "
        f"{vocabulary(summary).variation}: {texts}{rest}."
    ]
