"""From findings to the parts of a summary: guarantee, explanations, estimands and terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Estimates, Floats
from testsgd.auditing.explaining import Explanation
from testsgd.auditing.findings import Estimated, Findings, TableFindings
from testsgd.auditing.guarantee import Guarantee, assured_size
from testsgd.auditing.report.summary import (
    ConditionalSummary,
    ContrastSummary,
    EstimandRates,
    EstimandSummary,
    ExplainingRuleSummary,
    ExplanationSummary,
    FeatureRates,
    GuaranteeSummary,
    HoldoutSummary,
    MovedFeature,
    RuleShareSummary,
    SimplestSummary,
    Snippet,
    TermCategorySummary,
    TermsSummary,
    TermSummary,
    UnjudgedSummary,
)
from testsgd.auditing.text import TextFindings
from testsgd.auditing.text.known_words import unknown_terms
from testsgd.report.summaries import RuleSummary
from testsgd.rules import Rule
from testsgd.rules.text import Mentions


def assured_sizes(
    findings: Findings, groups: NDArray[np.intp], low: Floats, high: Floats
) -> Floats:
    """Return what is assured of the differences of some groups: their smallest sizes.

    They are 0 where zero is within the interval, NaN where the group is not decided, and
    everywhere without a guarantee.

    Shapes: returned (groups,).
    """
    known = findings.estimates.decided[groups]
    if findings.guarantee is None:
        known = np.zeros(len(groups), dtype=bool)
    return np.where(known, assured_size(low, high), np.nan)


def q_values(findings: Findings, groups: NDArray[np.intp]) -> Floats:
    """Return the q-values of some groups, NaN unless false finds are to be limited."""
    guarantee = findings.guarantee
    if guarantee is None or guarantee.q_values is None:
        return np.full(len(groups), np.nan)
    values: Floats = guarantee.q_values[groups]
    return values


def guarantee_summary(findings: Findings, places: dict[int, int]) -> GuaranteeSummary | None:
    """Write down what the population intervals hold for."""
    guarantee = findings.guarantee
    if guarantee is None:
        return None
    sure = guarantee.sure
    if guarantee.q_values is not None:
        # The groups found are those of the q-values; an interval may fall on the other side.
        sure = len(guarantee.discoveries)
    return GuaranteeSummary(
        kind=guarantee.kind,
        confidence=guarantee.confidence,
        method=guarantee.method,
        groups=guarantee.groups,
        replicates=guarantee.replicates,
        critical=guarantee.critical,
        sure=sure,
        sure_complete=guarantee.sure_complete or guarantee.q_values is not None,
        sure_terms=findings.sure_terms,
        surest_rank=None if guarantee.surest is None else places.get(guarantee.surest),
    )


def holdout_summary(findings: Findings) -> HoldoutSummary | None:
    """Write down how the rows were split; None if they were not."""
    if findings.holdout is None:
        return None
    return HoldoutSummary.model_validate(findings.holdout, from_attributes=True)


def group_trust(findings: Findings, group: int) -> dict[str, Any]:
    """Write down what is known of a group beside its rates."""
    guarantee, holdout = findings.guarantee, findings.holdout
    q_values = None if guarantee is None else guarantee.q_values
    found = None if holdout is None else holdout.found.get(group)
    explanation = findings.explanations.get(group)
    return {
        "q_value": None if q_values is None else float(q_values[group]),
        "stability": findings.stability.get(group),
        "found": None if found is None else asdict(found),
        "explanation": None if explanation is None else explanation_summary(explanation),
    }


def explanation_summary(explanation: Explanation) -> ExplanationSummary:
    """Write down what is behind a group's difference."""
    simplest, conditional = explanation.simplest, explanation.conditional
    return ExplanationSummary(
        shares=[
            RuleShareSummary(text=rule_summary(one.rule).text, share=one.share)
            for one in explanation.shares
        ],
        simplest=None
        if np.isnan(explanation.simplest_difference)
        else SimplestSummary(
            rules=[rule_summary(rule) for rule in simplest.rules],
            text=simplest.text,
            difference=explanation.simplest_difference,
        ),
        contrasts=[
            ContrastSummary.model_validate(contrast, from_attributes=True)
            for contrast in explanation.contrasts
        ],
        conditional=None
        if conditional is None
        else ConditionalSummary.model_validate(conditional, from_attributes=True),
    )


def rule_summary(rule: Rule) -> RuleSummary:
    """Write a rule as a part of the document."""
    return RuleSummary.model_validate(rule.to_json())


# Estimands of one group disagree if they differ by more, or by more than the interval allows.
DISAGREEMENT = 0.05

# Near-duplicates that are named, and features whose move changes the first group's difference.
_EXAMPLES = 3
_MOVED = 3


def other_rates(findings: Findings, groups: NDArray[np.intp]) -> list[EstimandRates | None]:
    """Return what the other estimand says of some groups, None of each if it was not estimated."""
    if not findings.others:
        return [None] * len(groups)
    other = findings.others[0]
    estimates = other.estimates.take(groups)
    low, high = other.intervals(groups)
    assured = assured_size(low, high)
    return [
        EstimandRates(
            estimand=other.estimand,
            rate_in=_known(estimates.rate_in[at]),
            rate_out=_known(estimates.rate_out[at]),
            difference=_known(estimates.difference[at]),
            interval=None if np.isnan(low[at]) else (float(low[at]), float(high[at])),
            decided=bool(estimates.decided[at]),
            assured=_known(assured[at]) if estimates.decided[at] else None,
        )
        for at in range(len(groups))
    ]


def estimand_summaries(findings: Findings) -> list[EstimandSummary]:
    """Return what the audit found by each estimand, the one that groups are ranked by first."""
    if findings.guarantee is None:
        return []
    first = Estimated(findings.parameters.estimand, findings.estimates, findings.guarantee)
    return [_estimand(estimated) for estimated in (first, *findings.others)]


def _estimand(estimated: Estimated) -> EstimandSummary:
    estimates, guarantee = estimated.estimates, estimated.guarantee
    decided = estimates.score[estimates.decided]
    return EstimandSummary(
        estimand=estimated.estimand,
        groups=len(decided),
        largest=float(decided.max()) if len(decided) else None,
        assured=gate_size(estimates, guarantee),
        guarantee=guarantee.kind,
    )


def gate_size(estimates: Estimates, guarantee: Guarantee | None) -> float | None:
    """Return the size of a difference that is assured, which the gate goes by.

    If the guarantee is simultaneous, the largest size that an interval assures. For a limited false
    discovery rate, the largest difference among the groups found; 0 if there are none. None if
    single groups are taken at their differences.
    """
    if guarantee is None or guarantee.kind == "per-group":
        return None
    if guarantee.kind == "simultaneous":
        return float(guarantee.assured)
    return float(estimates.score[guarantee.discoveries].max(initial=0.0))


def moved_features(findings: Findings) -> list[MovedFeature]:
    """Return which features' moves change the first group's difference, if estimands disagree."""
    first = findings.first
    if first is None or not isinstance(findings, TableFindings) or not findings.others:
        return []
    group = np.array([first])
    [other] = other_rates(findings, group)
    low, high = findings.intervals(group)
    difference = float(findings.estimates.difference[first])
    if other is None or not disagree(difference, (float(low[0]), float(high[0])), other):
        return []
    estimands = (findings.parameters.estimand, other.estimand)
    observed = difference if estimands[0] == "observed" else other.difference or 0.0
    moved = findings.moved_differences(first)
    order = sorted(moved, key=lambda name: -abs(moved[name] - observed))
    return [
        MovedFeature(feature=name, difference=moved[name])
        for name in order[:_MOVED]
        if abs(moved[name] - observed) > DISAGREEMENT / 2
    ]


def disagree(difference: float, interval: tuple[float, float], other: EstimandRates) -> bool:
    """Tell whether two estimands of a group disagree by more than its interval, or 5 points."""
    if other.difference is None:
        return False
    within = interval[0] <= other.difference <= interval[1]
    return not within or abs(other.difference - difference) > DISAGREEMENT


def rule_summaries(findings: Findings, ranks: dict[int, int]) -> list[ExplainingRuleSummary]:
    """Return the explaining rules, with the first of their near-duplicates."""
    return [
        ExplainingRuleSummary(
            rank=ranks[rule.group],
            text=findings.rule_set(rule.group).text,
            share=None if np.isnan(rule.share) else min(1.0, rule.share),
            near_duplicates=len(rule.near_duplicates),
            examples=[findings.rule_set(other).text for other in rule.near_duplicates[:_EXAMPLES]],
        )
        for rule in findings.rules
        if rule.group in ranks
    ]


def unjudged_summary(findings: Findings) -> UnjudgedSummary:
    """Return how many people are only in combinations that could not be judged."""
    unjudged, holdout = findings.unjudged, findings.holdout
    # Groups are judged where they are searched.
    rows = findings.rows if holdout is None else holdout.searched
    return UnjudgedSummary(
        fewest=findings.parameters.fewest_rows(rows),
        combinations=unjudged.combinations,
        unjudged=unjudged.unjudged,
        rows=unjudged.rows,
        share=unjudged.rows / rows if rows else 0.0,
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def describe_terms(
    findings: TextFindings, rates: list[FeatureRates], *, snippets: int
) -> TermsSummary:
    """Describe the sensitive terms of an audit of texts."""
    terms = findings.mentions.terms
    control = findings.control
    unknown = unknown_terms(findings.model, terms)
    present = findings.mentions.presence()
    rate_of = {(one.feature, cell.label): cell.rate for one in rates for cell in one.cells}
    return TermsSummary(
        name=terms.name,
        source=terms.source,
        fingerprint=terms.fingerprint(),
        nonsense=None if control is None else control.word,
        exceptions=list(terms.exceptions),
        texts=int(present.any(axis=1).sum()),
        snippets_shown=snippets > 0,
        categories=[
            TermCategorySummary(
                name=category.name,
                texts=int(present[:, place].sum()),
                share=_share(int(present[:, place].sum()), findings.rows),
                mentions=int((findings.mentions.category == place).sum()),
                nonsense_rate=None if control is None else control.rates.get(place),
                terms=[
                    _describe(
                        findings,
                        place,
                        term,
                        rate_of.get((category.name, name.name)),
                        snippets,
                        known=None if unknown is None else not unknown[place][term],
                    )
                    for term, name in enumerate(category.terms)
                ],
            )
            for place, category in enumerate(terms.categories)
        ],
    )


def _describe(
    findings: TextFindings,
    category: int,
    place: int,
    rate: float | None,
    snippets: int,
    *,
    known: bool | None,
) -> TermSummary:
    mentions = findings.mentions
    term = mentions.terms.categories[category].terms[place]
    of_category = mentions.category == category
    places: NDArray[np.intp] = np.flatnonzero(of_category & (mentions.term == place))
    same = None if findings.control is None else findings.control.same.get(category)
    chosen = choose_mentions(
        mentions, places, snippets, [findings.parameters.seed, category, place]
    )
    return TermSummary(
        term=term.name,
        forms=[*term.plural, *term.spellings],
        ambiguous=term.ambiguous,
        texts=len(np.unique(mentions.text[places])),
        mentions=len(places),
        share=_share(len(places), int(of_category.sum())),
        rate=rate,
        as_nonsense=None if same is None else bool(same[place]),
        known_to_model=known,
        snippets=[
            snippet(
                findings.texts.texts[mentions.text[at]],
                int(mentions.start[at]),
                int(mentions.stop[at]),
            )
            for at in chosen
        ],
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


# Characters on each side.
REACH = 60
# Line breaks, also as pages have them, are blanks here.
_BLANKS = re.compile(r"(?:\s|<br ?/?>)+")
# What no page can show: controls, and halves of characters.
_UNSHOWN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)


def choose_mentions(
    mentions: Mentions, places: NDArray[np.intp], count: int, seed: Sequence[int]
) -> NDArray[np.intp]:
    """Choose some mentions of a term at random, each in a text of its own."""
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(places)
    # The first of each text in the shuffled order, so that long texts give one as others do.
    _, first = np.unique(mentions.text[shuffled], return_index=True)
    chosen: NDArray[np.intp] = np.sort(shuffled[generator.permutation(first)[:count]])
    return chosen


def snippet(text: str, start: int, stop: int, reach: int = REACH) -> Snippet:
    """Cut a mention and what is around it out of a text.

    >>> snippet("He told an old story about ships.", 11, 14, reach=12)
    Snippet(before='He told an ', term='old', after=' story about …')
    """
    # More than is kept, because blanks in a row become one.
    window = 4 * reach
    before = _one_line(text[max(0, start - window) : start])
    after = _one_line(text[stop : stop + window])
    return Snippet(
        # Cutting before the term is cutting after it, read backwards.
        before=_cut(before[::-1], reach, goes_on=start > window)[::-1],
        term=_one_line(text[start:stop]),
        after=_cut(after, reach, goes_on=len(text) - stop > window),
    )


def _cut(line: str, reach: int, *, goes_on: bool) -> str:
    """Keep the whole words that fit, and say with an ellipsis that the text goes on."""
    if len(line) <= reach:
        line = line.rstrip()
        return f"{line} …" if goes_on else line
    kept = line[:reach]
    if line[reach] != " " and " " in kept.strip():
        kept = kept.rpartition(" ")[0]
        return f"{kept.rstrip()} …"
    # A word that is longer than the reach is cut where it must be.
    return f"{kept.rstrip()} …" if line[reach] == " " else f"{kept}…"


def _one_line(text: str) -> str:
    return _BLANKS.sub(" ", _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text))
