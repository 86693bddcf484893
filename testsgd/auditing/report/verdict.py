"""The verdict of an audit in words, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
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
from testsgd.auditing.report.uncertainty import (
    GateMeasure,
    certainty_sentences,
    gate_sentence,
    holdout_sentences,
    unstable_sentences,
)
from testsgd.auditing.report.vocabulary import Words, words_for
from testsgd.auditing.report.wording import (
    disagreement_sentences,
    explaining_sentences,
    judged_groups,
    judged_size,
    unjudged_sentences,
)
from testsgd.report.formatting import count, how_often, interval, percent, plural, share

DONE = 0
GATE_FAILED = 1
NOT_ENOUGH_EVIDENCE = 3

Outcome = Literal["reported", "gate_passed", "gate_failed", "not_enough_evidence"]

_EXIT_CODES: dict[Outcome, int] = {
    "reported": DONE,
    "gate_passed": DONE,
    "gate_failed": GATE_FAILED,
    "not_enough_evidence": NOT_ENOUGH_EVIDENCE,
}


def verdict(
    groups: list[GroupSummary],
    *,
    top_score: float | None,
    counts: Counts,
    label: str,
    parameters: Parameters,
    words: Words | None = None,
    terms: TermsSummary | None = None,
    measures: Sequence[GateMeasure] = (),
    moved: Sequence[MovedFeature] = (),
    rules: Sequence[ExplainingRuleSummary] = (),
    unjudged: UnjudgedSummary | None = None,
    guarantee: GuaranteeSummary | None = None,
    holdout: HoldoutSummary | None = None,
    stability_samples: int = 0,
) -> Verdict:
    """Write in words what an audit found."""
    words = words or words_for("rows")
    decided = [group for group in groups if group.decided]
    if top_score is None or not decided:
        return _judged(
            "Not enough evidence to judge any group.",
            _why_nothing(counts, parameters, unjudged, words),
            measures,
            parameters,
            unjudged,
            guarantee,
            words,
            without="not_enough_evidence",
        )
    top = decided[0]
    by_terms = parameters.rank_by == "counterfactual" and top.counterfactual is not None
    if by_terms:
        headline, *sentences = words.by_terms(top, label)
    else:
        headline = _headline(top, label, parameters, guarantee, unjudged, words)
        sentences = disagreement_sentences(top, moved, words)
        sentences.append(_population_sentence(top, words))
    sentences = [*holdout_sentences(holdout, top, words, estimated=counts.groups), *sentences]
    sentences += certainty_sentences(
        guarantee, groups, top, words, examined=counts.groups, by_terms=by_terms
    )
    sentences += explaining_sentences(rules, words)
    sentences += unstable_sentences(top, stability_samples)
    sentences += words.beside_top(top, label, terms, own=not by_terms)
    if top.score == 0 and top.rate_in in (0, 1):
        who = words.every if top.rate_in else words.no
        sentences.append(
            f"The model gave “{label}” to {who} it was asked about; check that this is the label "
            "meant."
        )
    if parameters.nondeterministic is not None:
        sentences.append(_means_sentence(parameters))
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
    sentences += unjudged_sentences(unjudged, words)
    return _judged(headline, sentences, measures, parameters, unjudged, guarantee, words)


def _judged(
    headline: str,
    sentences: list[str],
    measures: Sequence[GateMeasure],
    parameters: Parameters,
    unjudged: UnjudgedSummary | None,
    guarantee: GuaranteeSummary | None,
    words: Words,
    *,
    without: Outcome = "reported",
) -> Verdict:
    """Add the outcome of the gate, and of strictness; `without` is the outcome without a gate."""
    gate = parameters.fail_above
    outcome = without
    first: list[str] = []
    if gate is not None:
        outcome = gate_outcome(measures, gate)
        first.append(
            gate_sentence(
                outcome,
                measures,
                gate=gate,
                judged=judged_groups(unjudged, words),
                kind=None if guarantee is None else guarantee.kind,
            )
        )
    if parameters.strict and unjudged is not None and unjudged.share > parameters.max_unjudged:
        first.append(
            f"Not enough evidence: {percent(unjudged.share)} of the {words.many} could not be "
            f"judged, more than the {share(parameters.max_unjudged)} allowed."
        )
        if outcome != "gate_failed":
            outcome = "not_enough_evidence"
    return Verdict.model_validate(
        {
            "status": outcome,
            "exit_code": _EXIT_CODES[outcome],
            "headline": headline,
            "sentences": [*first, *sentences],
        }
    )


def gate_outcome(measures: Sequence[GateMeasure], gate: float) -> Outcome:
    """Tell how the gate comes out.

    It fails if anything is above it by more than chance explains. It passes if there was something
    to judge, everything could be judged and nothing is above it.
    """
    if any(
        measure.largest is not None
        and (measure.largest if measure.sure is None else measure.sure) > gate
        for measure in measures
    ):
        return "gate_failed"
    if measures and all(
        measure.largest is not None and measure.largest <= gate for measure in measures
    ):
        return "gate_passed"
    return "not_enough_evidence"


def _headline(
    group: GroupSummary,
    label: str,
    parameters: Parameters,
    guarantee: GuaranteeSummary | None,
    unjudged: UnjudgedSummary | None,
    words: Words,
) -> str:
    difference = (
        f"the model predicts “{label}” {how_often(group.difference)} for "
        f"{words.target(group)} ({percent(group.rate_in)}) than for {words.others} "
        f"({percent(group.rate_out)})"
    )
    estimand = words.estimands[parameters.estimand]
    if guarantee is None or guarantee.kind == "per-group":
        return f"{estimand}, {difference}."
    if guarantee.sure == 0:
        return (
            f"{estimand}, no group {judged_size(unjudged, words)}differs by more than chance "
            f"explains. The first in the ranking: {difference}."
        )
    sure = (
        (group.q_value or 0.0) <= 1 - guarantee.confidence
        if guarantee.kind == "fdr"
        else group.assured
    )
    if not sure:
        return f"{estimand}, {difference}, which chance may explain."
    return f"{estimand}, {difference}."


def _means_sentence(parameters: Parameters) -> str:
    """Return what the rates of a model that answers at random are."""
    return (
        "The model may answer the same question differently each time: the rates are those of its "
        f"mean answer, estimated from {parameters.nondeterministic} answers to each question where "
        "all are asked, and from a new answer for each sample where samples are drawn."
    )


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


def _why_nothing(
    counts: Counts, parameters: Parameters, unjudged: UnjudgedSummary | None, words: Words
) -> list[str]:
    if counts.groups == 0:
        fewest = 1 if unjudged is None else unjudged.fewest
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
