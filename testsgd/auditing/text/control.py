"""A control: the model's answers with a nonsense word in place of every term of a category."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.text.answers import KnownAnswers
from testsgd.auditing.text.predictions import SharedPredictions
from testsgd.data.text import Term, Texts
from testsgd.rules.text import Mentions, TermRuleSets
from testsgd.sampling.text import Replacer

# Words that mean nothing in any language that we know; the first that no text has is taken.
_NONSENSE = ("florp", "blicket", "dax", "wug", "zorbic", "mimsical")


@dataclass(frozen=True)
class Control:
    """What a model makes of a nonsense word.

    Attributes
    ----------
    word : str
        The word.
    rates : mapping of int to float
        For each frequent category the rate over its seeds with the word in place of its terms.
    same : mapping of int to numpy.ndarray of bool, shape (terms,)
        With which terms of it every seed is answered as with the word.
    """

    word: str
    rates: Mapping[int, float]
    same: Mapping[int, NDArray[np.bool_]]


def nonsense_control(
    predictions: SharedPredictions,
    texts: Texts,
    mentions: Mentions,
    rule_sets: TermRuleSets,
    known: KnownAnswers,
    *,
    budget: int,
    draws: int = 1,
) -> Control | None:
    """Ask about the seeds of each frequent category with a nonsense word in place of its terms.

    Parameters
    ----------
    predictions : SharedPredictions
        The model.
    texts : Texts
        The texts.
    mentions : Mentions
        The terms in them.
    rule_sets : TermRuleSets
        The groups.
    known : KnownAnswers
        The answers with the terms.
    budget : int
        Most texts to ask the model about, all in all.
    draws : int
        Answers to each text.

    Returns
    -------
    Control or None
        None if the budget does not allow it, or the texts have every nonsense word that we know.
    """
    single = [
        (one, variants)
        for one, variants in zip(rule_sets.category_sets, known.variants, strict=True)
        if len(one.categories) == 1 and len(one.rows)
    ]
    word = next(
        (word for word in _NONSENSE if not any(word in text.lower() for text in texts.texts)), None
    )
    needed = draws * sum(len(one.rows) for one, _ in single)
    if word is None or not single or predictions.asked + needed > budget:
        return None
    terms = mentions.terms
    nonsense = Term(word, plural=(f"{word}s",))
    with_word = replace(
        terms,
        categories=tuple(
            replace(category, terms=(*category.terms, nonsense)) for category in terms.categories
        ),
    )
    replacer = Replacer(texts.texts, replace(mentions, terms=with_word))
    rates, same = {}, {}
    for one, variants in single:
        (category,), (place,) = one.categories, one.shape
        answers = predictions.decide(
            replacer.variant(row, [category], [place]) for row in one.rows.tolist()
        )
        answers = answers / draws if draws > 1 else answers
        rates[category] = float(answers.mean())
        same[category] = (variants == answers[:, None]).all(axis=0)
    return Control(word, rates, same)
