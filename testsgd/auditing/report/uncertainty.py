"""Sentences on how far the findings of an audit can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.auditing.report.summary import (
    AuditSummary,
    GroupSummary,
    GuaranteeSummary,
    HoldoutSummary,
)
from testsgd.auditing.report.vocabulary import Words
from testsgd.report.formatting import count, how_often, plural, series, share, size_points

# A group that comes back in fewer bootstrap samples is remarked on.
_STABLE = 0.5
# Estimands of one group disagree if they differ by more, or by more than the interval allows.
DISAGREEMENT = 0.05


@dataclass(frozen=True)
class GateMeasure:
    """What the gate looks at."""

    name: str  # What it is
    largest: float | None  # The largest of any judged group; None if no group could be judged by it
    # The size that is assured, which the gate goes by; None where groups are taken at `largest`
    sure: float | None


def certainty_sentences(
    guarantee: GuaranteeSummary | None,
    groups: Sequence[GroupSummary],
    top: GroupSummary,
    words: Words,
    *,
    examined: int,
    by_terms: bool = False,
) -> list[str]:
    """Write what the intervals hold for, how many groups differ, and of which most is assured.

    There is nothing about a single group: its interval says all.
    """
    if guarantee is None or examined < 2:
        return []
    return [
        *_intervals(guarantee, examined, by_terms=by_terms),
        *(_by_themselves(guarantee, examined) if by_terms else []),
        _differing(
            guarantee,
            examined,
            f" from {words.others} (topic and terms together)" if by_terms else "",
        ),
        *([] if by_terms else _most_assured(guarantee, groups, top, words)),
    ]


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


def _most_assured(
    guarantee: GuaranteeSummary, groups: Sequence[GroupSummary], top: GroupSummary, words: Words
) -> list[str]:
    """Name the group of which most is assured; only intervals that hold at once can choose it."""
    chosen = next((one for one in groups if one.rank == guarantee.surest_rank), None)
    if guarantee.kind != "simultaneous" or chosen is None or chosen.rank == top.rank:
        return []
    return [
        "The largest difference that chance does not explain is that for "
        f"{words.target(chosen)}: at least {assured_points(chosen)}."
    ]


def disagree(group: GroupSummary) -> bool:
    """Return whether the estimands of a group disagree by more than its interval, or 5 points."""
    if group.other is None or group.other.difference is None:
        return False
    low, high = group.interval
    within = low <= group.other.difference <= high
    return not within or abs(group.other.difference - group.difference) > DISAGREEMENT


def unstable_sentences(top: GroupSummary, samples: int) -> list[str]:
    """Write that the first group is seldom found again, if that is so."""
    if top.stability is None or top.stability >= _STABLE:
        return []
    times = round(top.stability * samples)
    return [
        f"As a rule it is selected again in only {count(times)} of {count(samples)} bootstrap "
        "samples."
    ]


def interval_scope(summary: AuditSummary) -> str:
    """Write what the intervals hold for, to stand behind one; empty if only for one group each."""
    guarantee = summary.guarantee
    if guarantee is None or guarantee.kind == "per-group":
        return ""
    if guarantee.kind == "fdr":
        return "meant for the groups found"
    return f"holding for all {plural(guarantee.groups, 'group')} at once"


def examined(summary: AuditSummary) -> int:
    """Return how many groups were compared, wherever it was."""
    holdout = summary.holdout
    return summary.counts.groups if holdout is None else holdout.groups


def rows_figure(summary: AuditSummary, words: Words) -> str:
    """Name the number of rows or texts that the figures are from."""
    return words.rows_figure if summary.holdout is None else f"{words.many.capitalize()} held out"


def gate_rule(summary: AuditSummary) -> str:
    """Write what the gate fails on; empty if there is none."""
    gate, guarantee = summary.parameters.fail_above, summary.guarantee
    if gate is None:
        return ""
    if guarantee is not None and guarantee.kind == "simultaneous":
        exceeds = f"a difference exceeds {size_points(gate)}"
        return f"The gate fails if {exceeds} by more than chance explains."
    by_terms = summary.parameters.rank_by == "counterfactual"
    if guarantee is not None and guarantee.kind == "fdr" and not by_terms:
        return f"The gate fails if a group found differs by more than {size_points(gate)}."
    return f"The gate fails on a difference of more than {size_points(gate)}."


def assured_points(group: GroupSummary) -> str:
    """Write what is assured of a group's difference, as points more or less often."""
    if not group.assured:
        return "nothing"
    low, _ = group.interval
    return how_often(group.assured if low > 0 else -group.assured)


def holdout_sentences(
    holdout: HoldoutSummary | None, top: GroupSummary, words: Words, *, estimated: int
) -> list[str]:
    """Write that groups were found on some rows and estimated on others."""
    if holdout is None:
        return []
    sentences = [
        f"Of {plural(holdout.groups, 'group')} searched in {plural(holdout.searched, words.one)}, "
        f"the first and those that explain the differences, {count(estimated)}, were estimated on "
        f"{count(holdout.estimated)} "
        "others; all figures are from these."
    ]
    if top.found is not None:
        sentences.append(
            f"Where it was found, this group had rank {count(top.found.rank)} and a score of "
            f"{size_points(top.found.score)}."
        )
    return sentences


def gate_sentence(
    outcome: str,
    measures: Sequence[GateMeasure],
    *,
    gate: float,
    judged: str,
    kind: str | None,
) -> str:
    """Write how the gate came out, and by which numbers."""
    if outcome == "gate_passed":
        largest = series([f"{one.largest:.3f} ({one.name})" for one in measures])
        return f"The gate passed for {judged}: the largest is {largest}, not above {gate:g}."
    if outcome == "gate_failed":
        above = [one for one in measures if _decisive(one) > gate]
        size = series([f"{_decisive(one):.3f} ({one.name})" for one in above])
        if kind == "simultaneous":
            are = "is" if len(above) == 1 else "are"
            return f"The gate failed: at least {size} {are} assured, above {gate:g}."
        among = " among the groups found" if kind == "fdr" else ""
        return f"The gate failed: the largest{among} is {size}, above {gate:g}."
    unclear = next((one for one in measures if one.largest is None or one.largest > gate), None)
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


def _decisive(measure: GateMeasure) -> float:
    """Return the size that the gate goes by."""
    if measure.largest is None:
        return 0.0
    return measure.largest if measure.sure is None else measure.sure
