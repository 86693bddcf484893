"""The verdict of an audit in words, and its exit code."""

from __future__ import annotations

from testsgd.reporting.summary import Counts, GroupSummary, Parameters, Verdict
from testsgd.reporting.wording import interval, percent, plural, share, size_points

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
) -> Verdict:
    """Say in words what an audit found.

    Parameters
    ----------
    groups : list of GroupSummary
        The top groups and the distinct ones, by rank.
    top_score : float or None
        The largest score of a decided group, None if no group is decided.
    counts : Counts
        How many rule sets there were.
    label : str
        The favourable label.
    parameters : Parameters
        What the user asked for, with the gate.
    rows : int
        Rows audited.

    Returns
    -------
    Verdict
    """
    decided = [group for group in groups if group.decided]
    if top_score is None or not decided:
        return Verdict(
            status="not_enough_evidence",
            exit_code=NOT_ENOUGH_EVIDENCE,
            headline="Not enough evidence to judge any group.",
            sentences=_why_nothing(counts, parameters),
        )
    top = decided[0]
    fewest = parameters.theta * rows
    headline = _headline(top, label, fewest)
    sentences = [_population_sentence(top)]
    if top.score == 0 and top.rate_in in (0, 1):
        who = "everybody" if top.rate_in else "nobody"
        sentences.append(
            f"The model gave “{label}” to {who} it was asked about; check that this is the label "
            "meant."
        )
    balanced = next((group for group in decided if group.n_out >= fewest), None)
    if top.n_out < fewest and balanced is not None:
        sentences.append(_balanced_sentence(balanced, label, parameters.theta))
    if counts.undecided_frequent:
        sentences.append(
            f"{plural(counts.undecided_frequent, 'frequent group')} did not reach the error "
            "margin: undecided, neither fair nor unfair."
        )
    if counts.undecided_small:
        sentences.append(
            f"{plural(counts.undecided_small, 'combination')} of values "
            f"{'has' if counts.undecided_small == 1 else 'have'} less than "
            f"{share(parameters.theta)} of the rows: too few to judge, which does not make them "
            "fair."
        )
    if parameters.fail_above is None:
        return Verdict(status="reported", exit_code=DONE, headline=headline, sentences=sentences)
    failed = top_score > parameters.fail_above
    relation = "above" if failed else "not above"
    gate = (
        f"The gate {'failed' if failed else 'passed'}: the largest score, {top_score:.3f}, is "
        f"{relation} {parameters.fail_above:g}."
    )
    return Verdict(
        status="gate_failed" if failed else "gate_passed",
        exit_code=GATE_FAILED if failed else DONE,
        headline=headline,
        sentences=[gate, *sentences],
    )


def _headline(group: GroupSummary, label: str, fewest: float) -> str:
    often = "less" if group.difference < 0 else "more"
    few = f", only {plural(group.n_out, 'row')}" if group.n_out < fewest else ""
    return (
        f"The model predicts “{label}” {size_points(group.score)} {often} often for "
        f"{group.text} ({percent(group.rate_in)}) than for everybody else "
        f"({percent(group.rate_out)}{few})."
    )


def _population_sentence(group: GroupSummary) -> str:
    low, high = group.interval
    sentence = (
        f"Taken as a sample of a larger population, the {plural(group.n_in, 'row')} inside and "
        f"{group.n_out:,} outside put that difference at {interval(group.interval)} points."
    )
    if low <= 0 <= high:
        sentence += " No difference at all is within that interval."
    return sentence


def _balanced_sentence(group: GroupSummary, label: str, theta: float) -> str:
    often = "less" if group.difference < 0 else "more"
    return (
        f"With at least {share(theta)} of the rows on both sides the largest difference among "
        f"the groups shown is for {group.text}: “{label}” {size_points(group.score)} {often} often "
        f"({percent(group.rate_in)} against {percent(group.rate_out)})."
    )


def _why_nothing(counts: Counts, parameters: Parameters) -> list[str]:
    if counts.groups == 0:
        return [
            f"No rule set is satisfied by at least {share(parameters.theta)} of the rows with "
            "somebody outside it.",
            "Lower theta, or bring more rows.",
        ]
    return [
        f"None of {counts.groups:,} groups reached an error margin of {parameters.error_margin:g} "
        f"with more than {parameters.min_samples:,} samples a side within "
        f"{parameters.max_queries:,} queries.",
        "Allow more queries, or a wider margin.",
    ]
