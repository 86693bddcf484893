"""Controls: the texts that mention a category, with neutral words in place of its terms.

If a model treats all terms of a category alike, no term has an effect against the others, however
it treats texts without a term. A neutral word takes all of them away at once.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.estimates import Counts, Floats
from testsgd.auditing.text.answers import pair_sums
from testsgd.auditing.text.findings import NONSENSE, ControlEffect, ControlEffects
from testsgd.auditing.text.known_words import nonsense_word
from testsgd.auditing.text.outcome import TextAudit, independent_pairs
from testsgd.data.text import Term, TermCategory, Texts
from testsgd.rules.text import Mentions
from testsgd.sampling.text import REMOVED, Replacer, without_removed
from testsgd.scoring import paired_interval, paired_tails_interval

# Of fewer texts nothing can be learnt.
LEAST_TEXTS = 10
# Texts of each category that are asked about where samples are drawn.
_SAMPLED_TEXTS = 300
# Texts in which the most common word is looked for.
_TEXTS_READ = 2_000
_WORD = re.compile(r"[^\W\d_]+")
# One control alone may have an effect of its own.
_LEAST_CONTROLS = 2


@dataclass(frozen=True)
class ControlPlan:
    """The texts, terms and controls of one category that the model is to be asked about."""

    category: int
    rows: Counts  # The texts, in random order
    terms: int  # How many terms there are
    # The places of those to ask about: of a term that the model does not know nothing can be learnt
    known: tuple[int, ...]
    controls: tuple[str, ...]  # What is put in place of them; empty: nothing


def ask_controls(
    audit: TextAudit, budget: int, unknown: tuple[NDArray[np.bool_], ...] | None
) -> ControlEffects | None:
    """Return the effects of terms against neutral words; None if the budget allows no text.

    Of each category the same texts are asked about as they are, with each term, and with each
    neutral word, all of which fit by what the list of terms says of its category. `unknown`: of
    each category which terms the model does not know, if it can say.
    """
    plan = plan_controls(audit.texts, audit.mentions, unknown, audit.parameters.seed)
    left = (budget - audit.predictions.asked) // audit.parameters.draws
    most = _affordable(audit, plan, left)
    plan = [asked for asked in plan if min(len(asked.rows), most) >= LEAST_TEXTS]
    if not plan:
        return None
    comparisons = sum(len(asked.known) + 1 for asked in plan)
    confidence = audit.parameters.confidence
    if audit.parameters.guarantee == "simultaneous":
        confidence = 1 - (1 - confidence) / comparisons
    replacer = control_replacer(audit.texts, audit.mentions, plan)
    effects: list[ControlEffect] = []
    for asked in plan:
        effects += _effects(audit, replace(asked, rows=asked.rows[:most]), replacer, confidence)
    return ControlEffects(tuple(effects), confidence)


def neutral_words(category: TermCategory) -> tuple[str, ...]:
    """Return the neutral words of a category: those that the list of terms names for it.

    Else "person" if its terms have plurals, as nouns have.
    """
    if category.neutral is not None:
        return category.neutral
    return ("person",) if any(term.plural for term in category.terms) else ()


def plan_controls(
    texts: Texts,
    mentions: Mentions,
    unknown: tuple[NDArray[np.bool_], ...] | None,
    seed: int,
) -> list[ControlPlan]:
    """Choose the texts, the terms and the controls of each category."""
    generator = np.random.default_rng([seed, 7])
    presence = mentions.replaceable()
    terms = mentions.terms
    nonsense = nonsense_word(texts.texts)
    common = _common_word(texts, mentions)
    if unknown is None or all(part.all() for part in unknown):
        unknown = tuple(np.zeros(size, dtype=bool) for size in terms.sizes)
    plan = []
    for index, category in enumerate(terms.categories):
        rows = generator.permutation(np.flatnonzero(presence[:, index])).astype(np.int64)
        own = {form for term in category.terms for form in term.forms}
        words = dict.fromkeys([nonsense, common, *neutral_words(category)])
        controls = ("", *(word for word in words if word is not None and word not in own))
        if len(controls) >= _LEAST_CONTROLS:
            known = tuple(np.flatnonzero(~unknown[index]).tolist())
            plan.append(
                ControlPlan(
                    category=index,
                    rows=rows,
                    terms=len(category.terms),
                    known=known,
                    controls=controls,
                )
            )
    return plan


def _common_word(texts: Texts, mentions: Mentions) -> str | None:
    """Return the word that most texts have and no term: one that the model knows, if any is known.

    It says little, as it stands everywhere; and a text with it is as long as with a term.
    """
    of_terms = {
        word for term in mentions.terms.terms for form in term.forms for word in _WORD.findall(form)
    }
    read = texts.texts[:_TEXTS_READ]
    counts = Counter(word for text in read for word in set(_WORD.findall(text.lower())))
    words = [word for word in counts if word not in of_terms and word not in ("a", "an")]
    return min(words, key=lambda word: (-counts[word], word), default=None)


def _affordable(audit: TextAudit, plan: list[ControlPlan], left: int) -> int:
    """Return how many texts of each category `left` questions suffice for."""
    judged = {item.categories for item in audit.rule_sets.category_sets}
    # What an exact audit has asked already costs nothing.
    costs = [
        len(asked.controls)
        + (len(asked.known) + 1) * (not (audit.exact and (asked.category,) in judged))
        for asked in plan
    ]

    def cost(most: int) -> int:
        """Return the questions about at most `most` texts of each category."""
        return sum(
            each * min(most, len(asked.rows)) for each, asked in zip(costs, plan, strict=True)
        )

    largest = max((len(asked.rows) for asked in plan), default=0)
    largest = largest if audit.exact else min(largest, _SAMPLED_TEXTS)
    return bisect_right(range(largest + 1), left, key=cost) - 1


def control_replacer(texts: Texts, mentions: Mentions, plan: Sequence[ControlPlan]) -> Replacer:
    """Return a replacer that knows controls as further terms, behind those of each category."""
    terms = mentions.terms
    categories = list(terms.categories)
    for asked in plan:
        category = categories[asked.category]
        more = tuple(_as_term(word) for word in asked.controls)
        categories[asked.category] = replace(category, terms=(*category.terms, *more))
    with_controls = replace(terms, categories=tuple(categories))
    return Replacer(texts.texts, replace(mentions, terms=with_controls))


def _as_term(word: str) -> Term:
    """Write a control as a term, so that it takes over case, number and article of a mention."""
    if not word:
        return Term(REMOVED)
    plural = {"person": ("people",)}.get(word, (f"{word}s",) if word in NONSENSE else ())
    return Term(word, plural=plural, article="an" if word[0] in "aeiou" else "a")


def _effects(
    audit: TextAudit, asked: ControlPlan, replacer: Replacer, confidence: float
) -> Iterator[ControlEffect]:
    """Yield the effects of a category and of each of its terms against the controls."""
    # Nothing is left of a text that has nothing but the term.
    removed = asked.terms
    written = {
        row: without_removed(replacer.variant(row, [asked.category], [removed]))
        for row in asked.rows.tolist()
    }
    rows = np.array([row for row, text in written.items() if text], dtype=np.int64)
    if len(rows) < LEAST_TEXTS:
        return
    answers_of = _answers(audit, [audit.texts.texts[row] for row in rows.tolist()])
    controls = [
        _answers(
            audit,
            [
                without_removed(replacer.variant(row, [asked.category], [asked.terms + place]))
                for row in rows.tolist()
            ],
        )
        for place in range(len(asked.controls))
    ]
    for term in (None, *asked.known):
        answers = answers_of
        if term is not None:
            answers = _answers(
                audit, [replacer.variant(row, [asked.category], [term]) for row in rows.tolist()]
            )
        low, high = _intervals(audit, rows, answers, controls, confidence)
        yield ControlEffect(
            category=asked.category,
            term=term,
            texts=len(rows),
            rate_with=float(answers.mean()),
            controls=asked.controls,
            rates=np.array([control.mean() for control in controls]),
            low=low,
            high=high,
        )


def _answers(audit: TextAudit, texts: list[str]) -> Floats:
    """Return the mean answer about each text, shape (texts,)."""
    answers = audit.predictions.decide(texts).astype(np.float64)
    return answers / audit.parameters.draws


def _intervals(
    audit: TextAudit, rows: Counts, answers: Floats, controls: Sequence[Floats], confidence: float
) -> tuple[Floats, Floats]:
    """Return the paired intervals of the differences from the answers to each control."""
    sizes: NDArray[np.int64] | None = None
    if audit.repeated is not None:
        sizes = audit.clusters.take(rows).size_of_row
    # As one category of two terms: the other of the first is the second.
    sums = [
        pair_sums(np.column_stack([answers, control]), (2,), cluster_sizes=sizes)
        for control in controls
    ]
    pairs = np.array([independent_pairs(each, len(rows), len(rows), sizes)[0] for each in sums])
    mean = np.array([(each.with_terms - each.other)[0] for each in sums]) / len(rows)
    if audit.parameters.guarantee == "simultaneous":
        size = np.array([each.sizes[0] for each in sums]) / len(rows)
        return paired_tails_interval(mean, size, pairs, 1 - confidence)
    square = np.array([each.squares[0] for each in sums]) / len(rows)
    return paired_interval(mean, square, pairs, confidence)
