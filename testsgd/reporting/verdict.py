"""The verdict of an audit in words, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence

from testsgd.reporting.certainty import (
    certainty_sentences,
    gate_sentence,
    holdout_sentences,
    unstable_sentences,
)
from testsgd.reporting.summary import (
    Counts,
    GroupSummary,
    GuaranteeSummary,
    HoldoutSummary,
    Parameters,
    TermsSummary,
    Verdict,
)
from testsgd.reporting.vocabulary import words_for
from testsgd.reporting.wording import (
    count,
    how_often,
    interval,
    percent,
    plural,
    share,
)
from testsgd.reporting.words import Words

DONE = 0
GATE_FAILED = 1
NOT_ENOUGH_EVIDENCE = 3


def verdict(
    groups: list[GroupSummary],
    *,
    top_score: float | None,
    counts: Counts,
    label: str,
    parameters: Parameters,
    rows: int,
    words: Words | None = None,
    terms: TermsSummary | None = None,
    small_features: Sequence[str] = (),
    guarantee: GuaranteeSummary | None = None,
    sure_size: float | None = None,
    holdout: HoldoutSummary | None = None,
    stability_samples: int = 0,
) -> Verdict:
    """Say in words what an audit found.

    Parameters
    ----------
    groups : list of GroupSummary
        The top groups and the distinct ones, by rank.
    top_score : float or None
        What the first decided group is ranked by, such as its score, None if no group is decided.
    counts : Counts
        How many rule sets there were.
    label : str
        The favourable label.
    parameters : Parameters
        What the user asked for, with the gate.
    rows : int
        Rows or texts audited.
    words : Words, optional
        How they are spoken of; as rows, if not given.
    terms : TermsSummary, optional
        For texts: the sensitive terms.
    small_features : sequence of str
        For texts: categories of terms that too few texts mention.
    guarantee : GuaranteeSummary, optional
        What the population intervals hold for.
    sure_size : float, optional
        The size of difference that is assured, which the gate then goes by; not given where groups
        are taken at their scores.
    holdout : HoldoutSummary, optional
        How the rows were split.
    stability_samples : int
        In how many bootstrap samples the first groups were looked for.

    Returns
    -------
    Verdict
    """
    words = words or words_for("rows")
    decided = [group for group in groups if group.decided]
    if top_score is None or not decided:
        return Verdict(
            status="not_enough_evidence",
            exit_code=NOT_ENOUGH_EVIDENCE,
            headline="Not enough evidence to judge any group.",
            sentences=_why_nothing(counts, parameters, words),
        )
    top = decided[0]
    fewest = parameters.theta * rows
    headline = _headline(top, label, fewest, words)
    sentences = [_population_sentence(top, words)]
    by_terms = parameters.rank_by == "counterfactual" and top.counterfactual is not None
    if by_terms:
        headline, *sentences = words.by_terms(top, label)
    sentences = [*holdout_sentences(holdout, top, words, estimated=counts.groups), *sentences]
    sentences += certainty_sentences(
        guarantee, groups, top, words, examined=counts.groups, by_terms=by_terms
    )
    sentences += unstable_sentences(top, stability_samples)
    sentences += words.beside_top(top, label, terms, own=not by_terms)
    if top.score == 0 and top.rate_in in (0, 1):
        who = words.every if top.rate_in else words.no
        sentences.append(
            f"The model gave “{label}” to {who} it was asked about; check that this is the label "
            "meant."
        )
    balanced = next((group for group in decided if group.n_out >= fewest), None)
    if top.n_out < fewest and balanced is not None and not by_terms:
        sentences.append(_balanced_sentence(balanced, label, parameters.theta, words))
    if counts.undecided_frequent:
        sentences.append(
            f"{plural(counts.undecided_frequent, 'frequent group')} did not reach the error "
            "margin: undecided, neither fair nor unfair."
        )
    if counts.undecided_small:
        sentences.append(words.too_small(counts.undecided_small, parameters.theta, small_features))
    if parameters.fail_above is None:
        return Verdict(status="reported", exit_code=DONE, headline=headline, sentences=sentences)
    gate = parameters.fail_above
    largest = "difference by the terms themselves" if by_terms else "score"
    failed = (top_score if sure_size is None else sure_size) > gate
    enough = failed or top_score <= gate
    sentence = gate_sentence(
        failed=failed,
        enough=enough,
        largest=largest,
        top=top_score,
        sure=sure_size,
        gate=gate,
        kind=None if guarantee is None else guarantee.kind,
    )
    if not enough:
        status, code = "not_enough_evidence", NOT_ENOUGH_EVIDENCE
    else:
        status, code = ("gate_failed", GATE_FAILED) if failed else ("gate_passed", DONE)
    return Verdict.model_validate(
        {
            "status": status,
            "exit_code": code,
            "headline": headline,
            "sentences": [sentence, *sentences],
        }
    )


def _headline(group: GroupSummary, label: str, fewest: float, words: Words) -> str:
    few = f", only {plural(group.n_out, words.one)}" if group.n_out < fewest else ""
    return (
        f"The model predicts “{label}” {how_often(group.difference)} for "
        f"{words.target(group)} ({percent(group.rate_in)}) than for {words.others} "
        f"({percent(group.rate_out)}{few})."
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


def _balanced_sentence(group: GroupSummary, label: str, theta: float, words: Words) -> str:
    return (
        f"With at least {share(theta)} of the {words.many} on both sides the largest difference "
        f"among the groups shown is for {words.target(group)}: “{label}” "
        f"{how_often(group.difference)} ({percent(group.rate_in)} against "
        f"{percent(group.rate_out)})."
    )


def _why_nothing(counts: Counts, parameters: Parameters, words: Words) -> list[str]:
    if counts.groups == 0:
        return [
            words.nothing_frequent.format(share(parameters.theta)),
            f"Lower theta, or bring more {words.many}.",
        ]
    return [
        f"None of {count(counts.groups)} groups reached an error margin of "
        f"{parameters.error_margin:g} with more than {parameters.min_samples:,} samples a side "
        f"within {parameters.max_queries:,} queries.",
        "Allow more queries, or a wider margin.",
    ]
