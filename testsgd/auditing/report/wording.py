"""How numbers, rules, estimands and explanations are worded, in every view of an audit alike.

Rates are written in per cent and differences between rates in percentage points, so that nobody
takes one for the other. A minus is the sign U+2212, which is as wide as a plus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.auditing.report.summary import (
    AuditSummary,
    EstimandRates,
    ExplainingRuleSummary,
    GroupSummary,
    MovedFeature,
    TermSummary,
    UnjudgedSummary,
)
from testsgd.auditing.report.uncertainty import disagree
from testsgd.auditing.report.vocabulary import Words
from testsgd.report.formatting import (
    NOTHING,
    count,
    how_often,
    interval,
    is_nothing,
    percent,
    plural,
    points,
    series,
    shorten,
    signed,
    size_points,
)

FINDINGS = 10

STATUS_NAMES = {
    "reported": "Reported, no gate set",
    "gate_passed": "Gate passed",
    "gate_failed": "Gate failed",
    "not_enough_evidence": "Not enough evidence",
}
METHOD_NAMES = {"none": "none", "wald": "Wald", "wilson": "Wilson", "anytime": "anytime"}


def counterfactual_points(group: GroupSummary) -> str:
    """Write what the terms of a group change by themselves, with its interval, without unit."""
    found = group.counterfactual
    if found is None:
        return NOTHING
    return f"{signed(found.difference)} ({interval(found.interval)})"


def findings(summary: AuditSummary) -> list[GroupSummary]:
    """Return the groups to show first: that of rank 1, and those that explain the differences."""
    decided = [group for group in summary.groups if group.decided]
    return [group for group in decided if group.distinct or group is decided[0]][:FINDINGS]


def findings_intro(summary: AuditSummary) -> str:
    """Write which groups are shown first."""
    shown = findings(summary)
    by = ranked_by(summary)
    if not summary.rules:
        return f"The first group by {by}."
    rules = sum(group.distinct for group in shown)
    if rules == len(shown):
        explaining = plural(rules, "group") if rules > 1 else "one group"
        return f"The {explaining} that explain{'s' if rules == 1 else ''} the differences, by {by}."
    return f"The first group by {by}, and those that explain the differences."


def other_points(other: EstimandRates | None) -> str:
    """Write a group's difference by the other estimand, its interval and rates, without unit."""
    if other is None or other.difference is None or other.interval is None:
        return NOTHING
    return f"{signed(other.difference)} ({interval(other.interval)}; {other_rates(other)})"


def other_rates(other: EstimandRates) -> str:
    """Write a group's rates by the other estimand."""
    return f"{percent(other.rate_in)} against {percent(other.rate_out)}"


def by_terms(summary: AuditSummary) -> bool:
    """Return whether an audit goes by what the terms change by themselves."""
    return summary.parameters.rank_by == "counterfactual"


def spoken_difference(group: GroupSummary, summary: AuditSummary) -> float:
    """Return the difference of a group that the headline would speak of."""
    effect = group.counterfactual
    return group.difference if effect is None or not by_terms(summary) else effect.difference


def top_figure(summary: AuditSummary) -> tuple[str, str]:
    """Return the name and the value of the difference that the headline speaks of."""
    top = findings(summary)
    name = "Top effect of the terms" if by_terms(summary) else "Top difference"
    return name, points(spoken_difference(top[0], summary)) if top else "none"


def compared(group: GroupSummary, label: str, words: Words) -> str:
    """Write in a sentence how often a group is given the favourable label."""
    here, elsewhere = percent(group.rate_in), percent(group.rate_out)
    rates = f"{here} of the group against {elsewhere} of {words.others}"
    if is_nothing(group.score):
        return f"The model predicts “{label}” for {rates}, which is the same to a tenth of a point."
    return f"The model predicts “{label}” for {rates}: {how_often(group.difference)}."


def ranked_by(summary: AuditSummary) -> str:
    """Name what the groups of an audit are ranked by."""
    return {
        "score": "score",
        "lower-bound": "lower confidence bound of the difference",
        "counterfactual": "counterfactual effect of the terms",
    }[summary.parameters.rank_by]


def sampling_margin(group: GroupSummary, words: Words) -> str:
    """Write how far a group's score may be off because the model was asked about samples only."""
    if group.exact:
        return f"exact: {words.exactly}, no sampling error"
    sizes = f"{count(group.samples_in)} samples inside, {count(group.samples_out)} outside"
    method = METHOD_NAMES[group.margin_method]
    return f"± {size_points(group.margin)} ({method}; {sizes})"


def apart(group: GroupSummary, words: Words) -> str:
    """Compare a group with its strongest rule alone; empty if there is nothing to compare."""
    parts = [part for part in group.rules_alone if part.difference is not None]
    if len(group.rules_alone) < 2 or not parts:
        return ""
    strongest = max(parts, key=lambda part: abs(part.difference or 0.0))
    return (
        f"The {words.rule} that does most on its own, {shorten(strongest.text, 120)}, gives "
        f"{points(strongest.difference)}; together the {words.rule}s give "
        f"{points(group.difference)}."
    )


def doubts(term: TermSummary) -> str:
    """Write what is doubtful about a sensitive term; empty if nothing is."""
    found = [f"ambiguous: {term.ambiguous.rstrip('. ')}"] if term.ambiguous else []
    if term.known_to_model is False:
        found.append("not in the vocabulary of the model")
    elif term.as_nonsense:
        found.append("answered like a nonsense word, in every text")
    return "; ".join(found)


def remark(group: GroupSummary) -> str:
    """Write in a word what became of a group in the ranking."""
    if not group.decided:
        return "not decided"
    return "explains differences" if group.distinct else ""


def mode_name(summary: AuditSummary) -> str:
    """Name the mode of an audit, and how samples were drawn if they were."""
    return f"{summary.mode}, {summary.sampling}" if summary.sampling else summary.mode


# A sentence names as many rules as explain so much of the variation.
_ENOUGH = 0.9
_MOST_NAMED = 3
_TEXT_LIMIT = 160

_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class ExplainingLine:
    """A line of the table of explaining rules."""

    rule: ExplainingRuleSummary  # The rule
    difference: float | None  # Its own difference; None if the document does not hold its group
    together: float | None  # What it and the rules before it explain
    near: str  # Which near-duplicates it stands for; empty if there are none


def explaining_lines(summary: AuditSummary) -> list[ExplainingLine]:
    """Return the lines of the table of explaining rules."""
    differences = {group.rank: spoken_difference(group, summary) for group in summary.groups}
    lines, together = [], 0.0
    for rule in summary.rules:
        together += rule.share or 0.0
        near = ""
        if rule.near_duplicates:
            near = f"and {plural(rule.near_duplicates, 'near-duplicate')}"
            near += f", such as {rule.examples[0]}" if rule.examples else ""
        known = None if rule.share is None else min(together, 1.0)
        lines.append(ExplainingLine(rule, differences.get(rule.rank), known, near))
    return lines


def disagreement_sentences(
    top: GroupSummary, moved: Sequence[MovedFeature], words: Words
) -> list[str]:
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


def explaining_sentences(rules: Sequence[ExplainingRuleSummary], words: Words) -> list[str]:
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
    texts = "; ".join(shorten(rule.text, _TEXT_LIMIT) for rule in named)
    of_all = len(rules) - len(named)
    rest = f" ({plural(of_all, 'more rule')} in the report)" if of_all else ""
    return [
        f"{_NUMBERS[len(named)]} {'rule' if len(named) == 1 else 'rules'} {explain} "
        f"{percent(explained)} of {words.variation}: "
        f"{texts}{rest}."
    ]


def unjudged_sentences(unjudged: UnjudgedSummary | None, words: Words) -> list[str]:
    """Write how many people are only in combinations that could not be judged; nothing if none."""
    if unjudged is None or not unjudged.unjudged:
        return []
    of_all = plural(unjudged.combinations, words.combination, words.combinations)
    missing = ", or a missing value," if words.kind == "rows" else ""
    few = (
        f"Of {of_all}, {count(unjudged.unjudged)} "
        f"{'has' if unjudged.unjudged == 1 else 'have'} fewer than "
        f"{plural(unjudged.fewest, words.one, words.many)} inside or outside{missing} and could "
        "not be judged"
    )
    if not unjudged.rows:
        return [f"{few}; everybody in them is in another that could."]
    return [
        f"{few}; {plural(unjudged.rows, words.one, words.many)} ({percent(unjudged.share)}) "
        f"{'is' if unjudged.rows == 1 else 'are'} only in such combinations, which does not make "
        "the model fair to them."
    ]


def judged_size(unjudged: UnjudgedSummary | None, words: Words) -> str:
    """Write how large judged groups are, with a blank behind; empty if it is not known."""
    if unjudged is None:
        return ""
    return f"of at least {plural(unjudged.fewest, words.one, words.many)} "


def judged_groups(unjudged: UnjudgedSummary | None, words: Words) -> str:
    """Write which groups were judged, as a phrase."""
    return f"every group {judged_size(unjudged, words)}".rstrip()
