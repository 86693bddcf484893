"""The verdict of an audit in words, how far it can be trusted, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from testsgd.auditing.report.summary import (
    Counts,
    ExplainingRuleSummary,
    GroupSummary,
    GuaranteeSummary,
    HoldoutSummary,
    MovedFeature,
    Parameters,
    TermsSummary,
    UnjudgedSummary,
    Verdict,
)
from testsgd.auditing.report.vocabulary import Words
from testsgd.auditing.report.wording import TEXT_LIMIT, assured_points, disagree, unjudged_sentences
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
    # The size that is assured, which the gate goes by; None where groups are taken at `largest`
    sure: float | None

    @property
    def decisive(self) -> float:
        """The size that the gate goes by."""
        if self.largest is None:
            return 0.0
        return self.largest if self.sure is None else self.sure


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a verdict is about; the parts of the summary have their names."""

    groups: Sequence[GroupSummary]
    top_score: float | None  # The largest score of a decided group; None if none is decided
    counts: Counts
    label: str  # The favourable label
    parameters: Parameters
    words: Words = field(default_factory=Words)
    terms: TermsSummary | None = None
    measures: Sequence[GateMeasure] = ()
    moved: Sequence[MovedFeature] = ()
    rules: Sequence[ExplainingRuleSummary] = ()
    unjudged: UnjudgedSummary | None = None
    guarantee: GuaranteeSummary | None = None
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
    by_terms = evidence.parameters.rank_by == "counterfactual" and top.counterfactual is not None
    if by_terms:
        headline, *sentences = words.by_terms(top, label)
    else:
        headline = _headline(top, evidence)
        sentences = [*_disagreement(top, evidence.moved, words), _population_sentence(top, words)]
    sentences = [
        *_held_out(evidence, top),
        *sentences,
        *_certainty(evidence, top, by_terms=by_terms),
        *_explaining(evidence.rules, words),
        *_unstable(top, evidence.stability_samples),
        *words.beside_top(top, label, evidence.terms, own=not by_terms),
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
    if parameters.strict and unjudged is not None and unjudged.share > parameters.max_unjudged:
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

    It fails if anything is above it by more than chance explains. It passes if there was something
    to judge, everything could be judged and nothing is above it.
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
    if guarantee is None or guarantee.kind == "per-group":
        return f"{estimand}, {difference}."
    if guarantee.sure == 0:
        return (
            f"{estimand}, no group {_judged_size(evidence)}differs by more than chance "
            f"explains. The first in the ranking: {difference}."
        )
    sure: bool | float | None = group.assured
    if guarantee.kind == "fdr":
        sure = (group.q_value or 0.0) <= 1 - guarantee.confidence
    return f"{estimand}, {difference}{'' if sure else ', which chance may explain'}."


def _judged_size(evidence: Evidence) -> str:
    """Write how large judged groups are, with a blank behind; empty if it is not known."""
    unjudged, words = evidence.unjudged, evidence.words
    if unjudged is None:
        return ""
    return f"of at least {plural(unjudged.fewest, words.one, words.many)} "


def _population_sentence(group: GroupSummary, words: Words) -> str:
    low, high = group.interval
    sentence = (
        f"Taken as a sample of a larger population, {words.sides(group)} put that difference at "
        f"{interval(group.interval)} points."
    )
    if group.effective_in is not None and group.effective_out is not None:
        worth = f"{count(round(group.effective_in))} and {count(round(group.effective_out))}"
        sentence += f" As some repeat others, they count as {worth} independent ones."
    if low <= 0 <= high:
        sentence += " No difference at all is within that interval."
    return sentence


def _why_nothing(evidence: Evidence) -> list[str]:
    counts, parameters, words = evidence.counts, evidence.parameters, evidence.words
    if counts.groups == 0:
        fewest = 1 if evidence.unjudged is None else evidence.unjudged.fewest
        return [
            words.nothing_frequent.format(count(fewest)),
            f"Lower min_rows or theta, or bring more {words.many}.",
        ]
    return [
        f"None of {count(counts.groups)} groups reached an error margin of "
        f"{parameters.error_margin:g} with more than {parameters.min_samples:,} samples a side "
        f"within {parameters.max_queries:,} queries.",
        "Allow more queries, or a wider margin.",
    ]


def _certainty(evidence: Evidence, top: GroupSummary, *, by_terms: bool) -> list[str]:
    """Write what the intervals hold for, how many groups differ, and of which most is assured.

    There is nothing about a single group: its interval says all.
    """
    guarantee, words = evidence.guarantee, evidence.words
    examined = evidence.counts.groups
    if guarantee is None or examined < 2:
        return []
    if by_terms:
        others = f" from {words.others} (topic and terms together)"
        told = [*_by_themselves(guarantee, examined), _differing(guarantee, examined, others)]
    else:
        told = [_differing(guarantee, examined, ""), *_most_assured(guarantee, evidence, top)]
    return [*_intervals(guarantee, examined, by_terms=by_terms), *told]


def _intervals(guarantee: GuaranteeSummary, examined: int, *, by_terms: bool) -> list[str]:
    if guarantee.kind == "simultaneous":
        alone = (
            f"With a confidence of {share(guarantee.confidence)} the intervals of the terms alone "
            "hold for all groups at once."
        )
        return [alone] if by_terms else []
    if by_terms or guarantee.kind == "per-group":
        return [
            f"The interval is meant for this one group; of the {count(examined)} that were looked "
            "at, the first may look bad by luck."
        ]
    return []


def _differing(guarantee: GuaranteeSummary, examined: int, others: str) -> str:
    error = share(1 - guarantee.confidence)
    differ = f"differ{'s' if guarantee.sure < 2 else ''}{others}"
    if guarantee.sure == examined:
        of_all = f"All {count(examined)} groups {differ}"
    elif guarantee.sure == 0:
        of_all = f"Of {count(examined)} groups, none {differ}"
    else:
        least = "" if guarantee.sure_complete else "at least "
        of_all = f"Of {count(examined)} groups, {least}{count(guarantee.sure)} {differ}"
    if guarantee.kind == "simultaneous":
        return (
            f"{of_all} by more than chance explains; with a confidence of "
            f"{share(guarantee.confidence)} the intervals of all {count(guarantee.groups)} hold at "
            "once."
        )
    if guarantee.kind == "per-group":
        return (
            f"{of_all} by more than chance explains if each is taken by itself; if there were no "
            f"differences, about {error} would seem to."
        )
    if guarantee.sure == 0:
        return f"{of_all} clearly enough to count as found."
    finds = "of these finds, and of their intervals,"
    return f"{of_all}; {finds} at most {error} are expected to be false."


def _by_themselves(guarantee: GuaranteeSummary, examined: int) -> list[str]:
    """Write in how many groups the terms make a difference by themselves."""
    if guarantee.sure_terms is None:
        return []
    terms = "the terms make no difference by themselves that"
    if guarantee.sure_terms:
        number = count(guarantee.sure_terms)
        terms = f"in {number} the terms make a difference by themselves that"
        return [f"Of {count(examined)} groups, {terms} is larger than chance explains."]
    return [f"In all {count(examined)} groups {terms} is larger than chance explains."]


def _most_assured(guarantee: GuaranteeSummary, evidence: Evidence, top: GroupSummary) -> list[str]:
    """Name the group of which most is assured; only intervals that hold at once can choose it."""
    groups = evidence.groups
    chosen = next((group for group in groups if group.rank == guarantee.surest_rank), None)
    if guarantee.kind != "simultaneous" or chosen is None or chosen.rank == top.rank:
        return []
    return [
        "The largest difference that chance does not explain is that for "
        f"{evidence.words.target(chosen)}: at least {assured_points(chosen)}."
    ]


def _unstable(top: GroupSummary, samples: int) -> list[str]:
    """Write that the first group is seldom found again, if that is so."""
    if top.stability is None or top.stability >= _STABLE:
        return []
    times = round(top.stability * samples)
    return [
        f"As a rule it is selected again in only {count(times)} of {count(samples)} bootstrap "
        "samples."
    ]


def _held_out(evidence: Evidence, top: GroupSummary) -> list[str]:
    """Write that groups were found on some rows and estimated on others."""
    holdout, words = evidence.holdout, evidence.words
    if holdout is None:
        return []
    sentences = [
        f"Of {plural(holdout.groups, 'group')} searched in {plural(holdout.searched, words.one)}, "
        f"the first and those that explain the differences, {count(evidence.counts.groups)}, were "
        f"estimated on {count(holdout.estimated)} others; all figures are from these."
    ]
    if top.found is not None:
        sentences.append(
            f"Where it was found, this group had rank {count(top.found.rank)} and a score of "
            f"{size_points(top.found.score)}."
        )
    return sentences


def _disagreement(top: GroupSummary, moved: Sequence[MovedFeature], words: Words) -> list[str]:
    """Write that the estimands disagree about the first group, and why; nothing if they agree."""
    other = top.other
    if other is None or other.interval is None or not disagree(top):
        return []
    estimand = words.estimands[other.estimand]
    sentence = (
        f"The estimands disagree: {estimand[0].lower()}{estimand[1:]}, that difference is "
        f"{points(other.difference)} ({interval(other.interval)})."
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
    kind = None if evidence.guarantee is None else evidence.guarantee.kind
    if outcome == "gate_passed":
        largest = series([f"{item.largest:.3f} ({item.name})" for item in measures])
        judged = f"every group {_judged_size(evidence)}".rstrip()
        return f"The gate passed for {judged}: the largest is {largest}, not above {gate:g}."
    if outcome == "gate_failed":
        above = [item for item in measures if item.decisive > gate]
        size = series([f"{item.decisive:.3f} ({item.name})" for item in above])
        if kind == "simultaneous":
            are = "is" if len(above) == 1 else "are"
            return f"The gate failed: at least {size} {are} assured, above {gate:g}."
        among = " among the groups found" if kind == "fdr" else ""
        return f"The gate failed: the largest{among} is {size}, above {gate:g}."
    unclear = next((item for item in measures if item.largest is None or item.largest > gate), None)
    if unclear is None:
        return "Not enough evidence for the gate: no group could be judged."
    if unclear.largest is None:
        return f"Not enough evidence for the gate: no group could be judged by {unclear.name}."
    if kind == "fdr":
        known = (
            f"the largest among the groups found is {unclear.sure:.3f}"
            if unclear.sure
            else "none is found"
        )
    else:
        known = (
            f"no more than {unclear.sure:.3f} is assured"
            if unclear.sure
            else "nothing of it is assured"
        )
    return (
        f"Not enough evidence for the gate: the largest {unclear.name}, {unclear.largest:.3f}, is "
        f"above {gate:g}, but {known}."
    )
