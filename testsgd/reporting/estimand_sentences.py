"""Sentences on estimands, on the rules that explain differences, and on who could not be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testsgd.report.formatting import count, interval, percent, plural, points, series, shorten
from testsgd.reporting.estimand_parts import (
    ExplainingRuleSummary,
    MovedFeature,
    UnjudgedSummary,
)
from testsgd.reporting.estimands import disagree
from testsgd.reporting.summary import AuditSummary, GroupSummary
from testsgd.reporting.words import Words

# A sentence names as many rules as explain so much of the variation.
_ENOUGH = 0.9
_MOST_NAMED = 3
_TEXT_LIMIT = 160

_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


@dataclass(frozen=True)
class ExplainingLine:
    """A line of the table of explaining rules.

    Attributes
    ----------
    rule : ExplainingRuleSummary
        The rule.
    difference : float or None
        Its own difference; None if the document does not hold its group.
    together : float or None
        What it and the rules before it explain.
    near : str
        Which near-duplicates it stands for; empty if there are none.
    """

    rule: ExplainingRuleSummary
    difference: float | None
    together: float | None
    near: str


def explaining_lines(summary: AuditSummary) -> list[ExplainingLine]:
    """Return the lines of the table of explaining rules."""
    differences = {group.rank: _spoken(group, summary) for group in summary.groups}
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


def _spoken(group: GroupSummary, summary: AuditSummary) -> float:
    """Return the difference that the headline would speak of."""
    effect = group.counterfactual
    if summary.parameters.rank_by == "counterfactual" and effect is not None:
        return effect.difference
    return group.difference


def disagreement_sentences(
    top: GroupSummary, moved: Sequence[MovedFeature], words: Words
) -> list[str]:
    """Write that the estimands disagree about the first group, and why; nothing if they agree."""
    other = top.other
    if other is None or other.difference is None or other.interval is None:
        return []
    if not disagree(top.difference, top.interval, other):
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
