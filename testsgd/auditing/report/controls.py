"""How the effects of terms against neutral words stand in the document and are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from testsgd.auditing.findings import Findings
from testsgd.auditing.report.kinds import are_of_texts
from testsgd.report.formatting import (
    count,
    how_often,
    interval,
    percent,
    plural,
    series,
    signed,
)
from testsgd.report.summaries import (
    Difference,
    Part,
    Positive,
    Share,
)

if TYPE_CHECKING:
    from testsgd.auditing.text import TextFindings

# Categories, or terms, that a sentence names.
_NAMED = 5


class ControlRate(Part):
    """What the model makes of the same texts with one neutral word in place of the terms."""

    word: str = Field(description="what stands in place of the terms; empty: they are left out")
    rate: Share = Field(description="selection rate of the same texts with it")
    difference: Difference = Field(description="rate with the term less this rate")
    confidence_interval: tuple[Difference, Difference] = Field(
        description="paired confidence interval of that difference"
    )


class ControlEffectSummary(Part):
    """The control effect of a term, or of a category: the same texts with it and neutral words."""

    category: str = Field(description="the category")
    term: str | None = Field(
        description="the term, put in place of all of its category; null: the texts as they are, "
        "with whichever terms of it"
    )
    texts: Positive = Field(description="texts that were compared")
    rate_with: Share = Field(description="selection rate with the term")
    difference: Difference = Field(
        description="control effect: the difference from the control that is nearest to zero"
    )
    confidence_interval: tuple[Difference, Difference] = Field(
        description="all that the intervals of the controls allow: it leaves out zero only if all "
        "of them do, on the same side"
    )
    lower_confidence_bound: Share = Field(
        description="smallest size of the effect within `confidence_interval`; 0 if that holds zero"
    )
    contested_bound: Share = Field(
        description="lower confidence bound that two controls reach, the nonsense word apart; "
        "above 0 while `lower_confidence_bound` is 0: the controls disagree"
    )
    controls: list[ControlRate] = Field(description="each control")


class NotComparedSummary(Part):
    """Terms that cannot be judged against other terms of their category."""

    category: str = Field(description="the category")
    terms: list[str] = Field(description="the terms")
    reason: str = Field(description="why they cannot be judged")


class ControlsSummary(Part):
    """What the terms change against neutral words."""

    confidence: Share | None = Field(
        description="confidence of each interval, raised by Bonferroni's inequality so that those "
        "of all control effects hold at once, if the guarantee is simultaneous; null if the "
        "queries did not suffice for any control"
    )
    effects: list[ControlEffectSummary] = Field(description="those that could be asked about")
    not_compared: list[NotComparedSummary] = Field(
        description="terms that no other term was put in place of"
    )


def controls_summary(findings: Findings) -> ControlsSummary | None:
    """Write down the control effects; None for rows, which have none."""
    if not are_of_texts(findings):
        return None
    known = findings.control_effects
    listed = findings.mentions.terms.categories
    return ControlsSummary(
        confidence=None if known is None else known.confidence,
        effects=[
            ControlEffectSummary(
                category=listed[effect.category].name,
                term=(
                    None if effect.term is None else listed[effect.category].terms[effect.term].name
                ),
                texts=effect.texts,
                rate_with=effect.rate_with,
                difference=effect.difference,
                confidence_interval=effect.interval,
                lower_confidence_bound=effect.lower_bound,
                contested_bound=effect.contested_bound,
                controls=[
                    ControlRate(
                        word=word,
                        rate=float(effect.rates[place]),
                        difference=float(effect.differences[place]),
                        confidence_interval=(float(effect.low[place]), float(effect.high[place])),
                    )
                    for place, word in enumerate(effect.controls)
                ],
            )
            for effect in (() if known is None else known.effects)
        ],
        not_compared=_not_compared(findings),
    )


def _not_compared(findings: TextFindings) -> list[NotComparedSummary]:
    """List the terms that no other stands in for, with the reason."""
    presence = findings.mentions.replaceable().sum(axis=0).tolist()
    fewest = findings.parameters.fewest_rows(findings.rows)
    not_compared = []
    for category, texts in zip(findings.mentions.terms.categories, presence, strict=True):
        reason = ""
        if texts < fewest:
            reason = f"fewer than {plural(fewest, 'text')} mention a term of {category.name}"
        elif len(category.terms) == 1:
            reason = f"there is no other term of {category.name}"
        if reason:
            terms = [term.name for term in category.terms]
            not_compared.append(
                NotComparedSummary(category=category.name, terms=terms, reason=reason)
            )
    return not_compared


def largest_control_effect(controls: ControlsSummary | None) -> ControlEffectSummary | None:
    """Return the control effect to speak of; None if no effect is statistically significant.

    A category says more than one of its terms, if no term does clearly more.
    """
    significant = [
        effect for effect in (controls.effects if controls else []) if effect.lower_confidence_bound
    ]
    categories = [effect for effect in significant if effect.term is None]
    best = max(significant, key=lambda effect: effect.lower_confidence_bound, default=None)
    whole = max(categories, key=lambda effect: effect.lower_confidence_bound, default=None)
    if best is None or whole is None or best.lower_confidence_bound > abs(whole.difference):
        return best
    return whole


def control_headline(effect: ControlEffectSummary, label: str) -> str:
    """Write a control effect as a headline."""
    nearest = min(effect.controls, key=lambda control: abs(control.difference))
    return (
        f"The model predicts “{label}” {how_often(effect.difference)} for texts that mention "
        f"{_subject(effect)} ({percent(effect.rate_with)}) than for the same texts "
        f"{_in_place(nearest)} ({percent(nearest.rate)})."
    )


def control_sentences(controls: ControlsSummary | None, label: str) -> list[str]:
    """Write what neutral words show, which terms only they judge, and where they disagree."""
    if controls is None:
        return []
    return [
        *_largest(controls, label),
        *_disagreement(controls, label),
        *_judged_by_control(controls),
    ]


def control_points(effect: ControlEffectSummary) -> str:
    """Write a control effect with its interval, without unit."""
    return f"{signed(effect.difference)} ({interval(effect.confidence_interval)})"


def control_rates(effect: ControlEffectSummary) -> str:
    """Write the rate with each control."""
    return "; ".join(f"{percent(item.rate)} {_in_place(item)}" for item in effect.controls)


def contested(effect: ControlEffectSummary) -> bool:
    """Return whether several controls show an effect that others do not."""
    return effect.contested_bound > 0 and not effect.lower_confidence_bound


def _subject(effect: ControlEffectSummary) -> str:
    return f"any term of {effect.category}" if effect.term is None else f"“{effect.term}”"


def _in_place(control: ControlRate) -> str:
    return f"with “{control.word}” in its place" if control.word else "without it"


def _largest(controls: ControlsSummary, label: str) -> list[str]:
    """Write the largest control effect with its interval, and how many are significant."""
    if controls.confidence is None:
        return [
            "The terms were not compared with neutral words: too few texts mention them, or the "
            "queries did not suffice. So it is not known whether the model treats all terms of a "
            "category alike because it minds none of them, or all."
        ]
    total = len(controls.effects)
    significant = sum(effect.lower_confidence_bound > 0 for effect in controls.effects)
    largest = largest_control_effect(controls)
    by = f"Bonferroni over them alone; each interval at {100 * controls.confidence:.4g}%"
    if largest is None:
        return [
            f"Against neutral words in place of the terms, none of {count(total)} categories and "
            f"terms has a statistically significant effect ({by})."
        ]
    return [
        f"Control effect of {_subject(largest)}: {percent(largest.rate_with)} are predicted "
        f"“{label}”; of the same {plural(largest.texts, 'text')} {control_rates(largest)}. The "
        f"effect, from the control nearest to zero, is {signed(largest.difference)} points "
        f"(confidence interval over all controls {interval(largest.confidence_interval)}). Of "
        f"{count(total)} categories and terms, {count(significant)} "
        f"{'has' if significant == 1 else 'have'} a statistically significant effect against "
        f"every control ({by})."
    ]


def _disagreement(controls: ControlsSummary, label: str) -> list[str]:
    """Write of which terms the controls say different things, and that this proves nothing."""
    open_ones = [effect for effect in controls.effects if contested(effect)]
    if not open_ones:
        return []
    first = max(open_ones, key=lambda effect: effect.contested_bound)
    named = _listed([_subject(effect) for effect in open_ones])
    return [
        f"The controls disagree about {named}: with {_subject(first)}, “{label}” is predicted for "
        f"{percent(first.rate_with)}; {control_rates(first)}. Either the model minds the term, or "
        "it minds that a word is missing or unknown; this audit cannot tell, and it is no finding "
        "and no all-clear."
    ]


def _judged_by_control(controls: ControlsSummary) -> list[str]:
    """Write which terms cannot be compared with other terms, why, and what the controls say."""
    sentences = []
    for item in controls.not_compared:
        terms = _listed([f"“{term}”" for term in item.terms])
        of_category = [
            effect
            for effect in controls.effects
            if effect.category == item.category and effect.term is None
        ]
        judged = "nor were they compared with neutral words"
        if of_category:
            [effect] = of_category
            judged = (
                "judged against neutral words alone: control effect "
                f"{signed(effect.difference)} points ({interval(effect.confidence_interval)})"
            )
        sentences.append(f"Not compared with other terms: {terms}, as {item.reason}; {judged}.")
    return sentences


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return series([*names[:_NAMED], f"{count(more)} more"] if more > 0 else names)
