"""The verdict of an audit in words, how certain it is, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from testsgd.auditing.guarantee import Method
from testsgd.auditing.parameters import AuditParameters
from testsgd.auditing.report.summary import (
    Counts,
    ExplainingRuleSummary,
    GroupSummary,
    GuaranteeSummary,
    HoldoutSummary,
    MovedFeature,
    TermsSummary,
    UnjudgedSummary,
    Verdict,
)
from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.wording import (
    ADJUSTMENTS,
    TEXT_LIMIT,
    disagree,
    lower_bound_points,
    unjudged_sentences,
)
from testsgd.report.formatting import (
    count,
    how_often,
    interval,
    percent,
    plural,
    points,
    series,
    share,
    shorten,
    size_points,
)

Outcome = Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"]

_EXIT_CODES: dict[Outcome, Literal[0, 1, 3]] = {
    "reported": 0,
    "gate_passed": 0,
    "gate_failed": 1,
    "not_enough_evidence": 3,
}

# A group that comes back in fewer bootstrap samples is remarked on.
_STABLE = 0.5
# A sentence names as many rules as explain so much of the variation.
_ENOUGH = 0.9
_MOST_NAMED = 3
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class GateMeasure:
    """What the gate looks at."""

    name: str  # What it is
    largest: float | None  # The largest of any judged group; None if no group could be judged by it
    # The largest lower confidence bound, which the gate goes by; None where it goes by `largest`
    bound: float | None

    @property
    def decisive(self) -> float:
        """The size that the gate goes by."""
        if self.largest is None:
            return 0.0
        return self.largest if self.bound is None else self.bound


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a verdict is about; the parts of the summary have their names."""

    groups: Sequence[GroupSummary]
    top_score: float | None  # The largest score of a decided group; None if none is decided
    counts: Counts
    label: str  # The favourable label
    parameters: AuditParameters
    guarantee: GuaranteeSummary
    unjudged: UnjudgedSummary
    words: Words = field(default_factory=Words)
    terms: TermsSummary | None = None
    measures: Sequence[GateMeasure] = ()
    moved: Sequence[MovedFeature] = ()
    rules: Sequence[ExplainingRuleSummary] = ()
    holdout: HoldoutSummary | None = None
    stability_samples: int = 0


def verdict(evidence: Evidence) -> Verdict:
    """Write in words what an audit found."""
    counts, words, label = evidence.counts, evidence.words, evidence.label
    decided = [group for group in evidence.groups if group.decided]
    if evidence.top_score is None or not decided:
        nothing = "Not enough evidence to judge any group."
        return _judged(nothing, _why_nothing(evidence), evidence, without="not_enough_evidence")
    top = decided[0]
    by_terms = evidence.parameters.ranked_by == "counterfactual" and top.counterfactual is not None
    if by_terms:
        headline, *sentences = words.by_terms(top, label, _interval_name(evidence))
    else:
        headline = _headline(top, evidence)
        sentences = [*_disagreement(top, evidence.moved, words), _interval_sentence(top, evidence)]
    sentences = [
        *_held_out(evidence, top),
        *sentences,
        *_significance(evidence, top, by_terms=by_terms),
        *_explaining(evidence.rules, words),
        *_unstable(top, evidence.stability_samples),
        *words.remarks(top, label, evidence.terms, effect=not by_terms),
    ]
    if top.score == 0 and top.rate_in in (0, 1):
        who = words.every if top.rate_in else words.no
        sentences.append(
            f"The model gave “{label}” to {who} it was asked about; check that this is the label "
            "meant."
        )
    if evidence.parameters.nondeterministic is not None:
        sentences.append(
            "The model may answer the same question differently each time: the rates are those of "
            f"its mean answer, estimated from {evidence.parameters.nondeterministic} answers to "
            "each question where all are asked, and from a new answer for each sample where "
            "samples are drawn."
        )
    if counts.undecided_frequent:
        why = (
            f"{'has' if counts.undecided_frequent == 1 else 'have'} too few {words.many} as they "
            "are on one side"
            if top.exact
            else "did not reach the error margin"
        )
        sentences.append(
            f"{plural(counts.undecided_frequent, 'group')} {why}: undecided, neither fair nor "
            "unfair."
        )
    sentences += unjudged_sentences(evidence.unjudged, words)
    return _judged(headline, sentences, evidence)


def _judged(
    headline: str, sentences: list[str], evidence: Evidence, *, without: Outcome = "reported"
) -> Verdict:
    """Add the outcome of the gate, and of strictness; `without` is the outcome without a gate."""
    parameters, unjudged, outcome = evidence.parameters, evidence.unjudged, without
    first: list[str] = []
    if parameters.fail_above is not None:
        outcome = gate_outcome(evidence.measures, parameters.fail_above)
        first.append(_gate_sentence(outcome, evidence, parameters.fail_above))
    if parameters.strict and unjudged.share > parameters.max_unjudged:
        first.append(
            f"Not enough evidence: {percent(unjudged.share)} of the {evidence.words.many} could "
            f"not be judged, more than the {share(parameters.max_unjudged)} allowed."
        )
        if outcome != "gate_failed":
            outcome = "not_enough_evidence"
    return Verdict(
        status=outcome,
        exit_code=_EXIT_CODES[outcome],
        headline=headline,
        sentences=[*first, *sentences],
    )


def gate_outcome(measures: Sequence[GateMeasure], gate: float) -> Outcome:
    """Tell how the gate comes out.

    It fails if a lower confidence bound is above it. It passes if there was something to judge,
    everything could be judged and no difference is above it.
    """
    if any(measure.decisive > gate for measure in measures if measure.largest is not None):
        return "gate_failed"
    if measures and all(
        measure.largest is not None and measure.largest <= gate for measure in measures
    ):
        return "gate_passed"
    return "not_enough_evidence"


def _headline(group: GroupSummary, evidence: Evidence) -> str:
    words, guarantee = evidence.words, evidence.guarantee
    difference = (
        f"the model predicts “{evidence.label}” {how_often(group.difference)} for "
        f"{words.target(group)} ({percent(group.rate_in)}) than for {words.others} "
        f"({percent(group.rate_out)})"
    )
    estimand = words.estimands[evidence.parameters.estimand]
    if guarantee.kind == "per-group":
        return f"{estimand}, {difference}."
    if guarantee.significant == 0:
        return (
            f"{estimand}, no group {_judged_size(evidence)} has a statistically significant "
            f"difference. The first in the ranking: {difference}."
        )
    significant = bool(group.lower_confidence_bound)
    if guarantee.kind == "fdr":
        significant = (group.q_value or 0.0) <= 1 - guarantee.confidence
    return f"{estimand}, {difference}{'' if significant else ', not statistically significant'}."


def _judged_size(evidence: Evidence) -> str:
    """Write how large judged groups are."""
    words = evidence.words
    return f"of at least {plural(evidence.unjudged.fewest, words.one, words.many)}"


def _interval_name(evidence: Evidence) -> str:
    """Name the confidence intervals, with their confidence and what they are adjusted for."""
    name = f"{share(evidence.guarantee.confidence)} confidence interval"
    return f"simultaneous {name}" if evidence.guarantee.kind == "simultaneous" else name


def _interval_sentence(group: GroupSummary, evidence: Evidence) -> str:
    low, high = group.confidence_interval
    sizes = evidence.words.sides(group)
    size_in, size_out = group.effective_sample_size_in, group.effective_sample_size_out
    if size_in is not None and size_out is not None:
        worth = f"{count(round(size_in))} and {count(round(size_out))}"
        sizes += f"; effective sample sizes {worth}, as some repeat others"
    zero = ", which includes zero" if low <= 0 <= high else ""
    return (
        f"The {_interval_name(evidence)} of that difference is "
        f"{interval(group.confidence_interval)} points{zero} ({sizes})."
    )


def _why_nothing(evidence: Evidence) -> list[str]:
    counts, parameters, words = evidence.counts, evidence.parameters, evidence.words
    if counts.groups == 0:
        return [
            words.nothing_frequent.format(count(evidence.unjudged.fewest)),
            f"Lower min_rows or theta, or bring more {words.many}.",
        ]
    return [
        f"None of {count(counts.groups)} groups reached an error margin of "
        f"{parameters.error_margin:g} with more than {parameters.min_samples:,} samples a side "
        f"within {parameters.max_queries:,} queries.",
        "Allow more queries, or a wider margin.",
    ]


def _significance(evidence: Evidence, top: GroupSummary, *, by_terms: bool) -> list[str]:
    """Write how many groups differ significantly, by which test, and which has the largest bound.

    There is nothing about a single group: its interval says all.
    """
    guarantee, words = evidence.guarantee, evidence.words
    examined = evidence.counts.groups
    if examined < 2:
        return []
    each = guarantee.kind == "per-group"
    sentences = []
    if each or (by_terms and guarantee.kind == "fdr"):
        sentences.append(
            f"The interval holds for this group by itself. It is the first of {count(examined)}, "
            "so its difference is likely to be overestimated."
        )
    if not by_terms:
        differ = _significant(examined, guarantee, guarantee.significant, "difference")
        return [*sentences, differ, *_largest_lower_bound(guarantee, evidence, top)]
    if (effects := guarantee.significant_terms) is not None:
        test: Method = "bonferroni" if guarantee.kind == "simultaneous" else "each"
        told = _significant(examined, guarantee, effects, "counterfactual effect", test)
        sentences.append(told)
    others = f"difference from {words.others}, topic and terms together"
    return [*sentences, _significant(examined, guarantee, guarantee.significant, others)]


def _significant(
    examined: int,
    guarantee: GuaranteeSummary,
    significant: int,
    what: str,
    test: Method | None = None,
) -> str:
    """Write how many groups are statistically significant, by which test and at which error rate.

    `test` names the test if it is not the guarantee's.
    """
    error = share(1 - guarantee.confidence)
    rates = {
        "simultaneous": f"family-wise error rate at most {error}",
        "fdr": f"false discovery rate at most {error}",
        "per-group": f"about {error} would be so if there were no differences",
    }
    kind = "per-group" if test == "each" else guarantee.kind
    have = "has" if significant == 1 else "have"
    if significant in (0, examined):
        number = f"{'none' if not significant else 'all'} have"
    else:
        least = "" if guarantee.significant_complete else "at least "
        number = f"{least}{count(significant)} {have}"
    return (
        f"Of {count(examined)} groups, {number} a statistically significant {what} "
        f"({ADJUSTMENTS[test or guarantee.method]}; {rates[kind]})."
    )


def _largest_lower_bound(
    guarantee: GuaranteeSummary, evidence: Evidence, top: GroupSummary
) -> list[str]:
    """Name the group of the largest lower confidence bound; only simultaneous ones compare."""
    groups = evidence.groups
    chosen = next((group for group in groups if group.rank == guarantee.largest_bound_rank), None)
    if guarantee.kind != "simultaneous" or chosen is None or chosen.rank == top.rank:
        return []
    return [
        f"The largest lower confidence bound is that for {evidence.words.target(chosen)}: "
        f"{lower_bound_points(chosen)}."
    ]


def _unstable(top: GroupSummary, samples: int) -> list[str]:
    """Write that the first group is seldom selected again, if that is so."""
    if top.stability is None or top.stability >= _STABLE:
        return []
    times = round(top.stability * samples)
    return [
        f"Bootstrap stability is low: the rule is selected again in {count(times)} of "
        f"{count(samples)} samples."
    ]


def _held_out(evidence: Evidence, top: GroupSummary) -> list[str]:
    """Write that groups were selected on some rows and estimated on others."""
    holdout, words = evidence.holdout, evidence.words
    if holdout is None:
        return []
    sentences = [
        f"Of {plural(holdout.groups, 'group')} searched in {plural(holdout.searched, words.one)}, "
        f"the first and those that explain the differences, {count(evidence.counts.groups)}, were "
        f"estimated on {count(holdout.estimated)} held-out ones; all figures are from these."
    ]
    if (searched := top.in_search) is not None:
        sentences.append(
            f"In the {words.many} searched this group had rank {count(searched.rank)} and a score "
            f"of {size_points(searched.score)}."
        )
    return sentences


def _disagreement(top: GroupSummary, moved: Sequence[MovedFeature], words: Words) -> list[str]:
    """Write that the estimands disagree about the first group, and why; nothing if they agree."""
    other = top.other
    if other is None or other.confidence_interval is None or not disagree(top):
        return []
    estimand = words.estimands[other.estimand]
    sentence = (
        f"The estimands disagree: {estimand[0].lower()}{estimand[1:]}, that difference is "
        f"{points(other.difference)} ({interval(other.confidence_interval)})."
    )
    if not moved:
        return [sentence]
    changed = [f"{item.feature} ({points(item.difference)})" for item in moved]
    return [
        sentence,
        f"The reason: a step of one feature that is not sensitive changes what the model decides. "
        f"The difference with that feature moved: {series(changed)}.",
    ]


def _explaining(rules: Sequence[ExplainingRuleSummary], words: Words) -> list[str]:
    """Write how much of the differences the fewest rules explain; nothing if it is not known."""
    named: list[ExplainingRuleSummary] = []
    explained = 0.0
    for rule in rules[:_MOST_NAMED]:
        if rule.share is None:
            return []
        named.append(rule)
        explained += rule.share
        if explained >= _ENOUGH:
            break
    if not named:
        return []
    explain = "explains" if len(named) == 1 else "explain"
    texts = "; ".join(shorten(rule.text, TEXT_LIMIT) for rule in named)
    of_all = len(rules) - len(named)
    rest = f" ({plural(of_all, 'more rule')} in the report)" if of_all else ""
    return [
        f"{_NUMBERS[len(named)]} {'rule' if len(named) == 1 else 'rules'} {explain} "
        f"{percent(explained)} of {words.variation}: "
        f"{texts}{rest}."
    ]


def _gate_sentence(outcome: Outcome, evidence: Evidence, gate: float) -> str:
    """Write how the gate came out, and by which numbers."""
    measures = evidence.measures
    kind = evidence.guarantee.kind
    if outcome == "gate_passed":
        largest = series([f"{item.largest:.3f} ({item.name})" for item in measures])
        judged = f"every group {_judged_size(evidence)}"
        return f"The gate passed for {judged}: the largest is {largest}, not above {gate:g}."
    if outcome == "gate_failed":
        above = [item for item in measures if item.decisive > gate]
        size = series([f"{item.decisive:.3f} ({item.name})" for item in above])
        largest = {
            "simultaneous": "the largest lower confidence bound",
            "fdr": "the largest difference of a discovery",
        }.get(kind, "the largest")
        return f"The gate failed: {largest} is {size}, above {gate:g}."
    unclear = next((item for item in measures if item.largest is None or item.largest > gate), None)
    if unclear is None:
        return "Not enough evidence for the gate: no group could be judged."
    if unclear.largest is None:
        return f"Not enough evidence for the gate: no group could be judged by {unclear.name}."
    if kind == "fdr":
        known = (
            f"the largest of a discovery is {unclear.bound:.3f}"
            if unclear.bound
            else "there is no discovery"
        )
    else:
        known = (
            f"the largest lower confidence bound is {unclear.bound:.3f}"
            if unclear.bound
            else "no lower confidence bound is above zero"
        )
    return (
        f"Not enough evidence for the gate: the largest {unclear.name}, {unclear.largest:.3f}, is "
        f"above {gate:g}, but {known}."
    )
