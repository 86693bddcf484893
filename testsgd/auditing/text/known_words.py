"""Which terms a model of texts knows: by its vocabulary, and compared with a nonsense word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.text.answers import KnownAnswers
from testsgd.auditing.text.findings import NONSENSE, Control
from testsgd.auditing.text.outcome import TextAudit
from testsgd.data.text import SensitiveTerms, Term
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import TermRuleSets
from testsgd.sampling.text import Replacer


def unknown_terms(
    model: LoadedModel[TextModel], terms: SensitiveTerms
) -> tuple[NDArray[np.bool_], ...] | None:
    """Return of each category which terms (terms,) have a word that a model does not know.

    Networks of testsgd can say it, and so can estimators of scikit-learn whose first step is a
    vectoriser with a ``vocabulary_``. None if the model cannot say.
    """
    knows = getattr(model.model, "knows", None) or _vectoriser_knows(model.origin)
    if knows is None:
        return None
    return tuple(
        np.array([not all(map(knows, term.name.split())) for term in category.terms])
        for category in terms.categories
    )


def unknown_groups(
    rule_sets: TermRuleSets, unknown: tuple[NDArray[np.bool_], ...] | None
) -> NDArray[np.bool_]:
    """Return which groups (groups,) have a term that the model does not know.

    Nowhere true if it were true everywhere: a model that knows no term treats all alike.
    """
    if unknown is None or not len(rule_sets):
        return np.zeros(len(rule_sets), dtype=bool)
    parts = [
        reduce(np.logical_or.outer, [unknown[category] for category in item.categories]).ravel()
        for item in rule_sets.category_sets
    ]
    is_unknown = np.concatenate(parts)[rule_sets.places(np.arange(len(rule_sets)))]
    return np.zeros_like(is_unknown) if is_unknown.all() else is_unknown


def _vectoriser_knows(source: Any) -> Callable[[str], bool] | None:
    """Return how to ask the vectoriser that a pipeline begins with, if it has a vocabulary."""
    steps = getattr(source, "steps", None)
    first = steps[0][1] if steps else source
    vocabulary = getattr(first, "vocabulary_", None)
    if not isinstance(vocabulary, Mapping) or not hasattr(first, "build_analyzer"):
        return None
    parts_of = first.build_analyzer()
    return lambda word: any(part in vocabulary for part in parts_of(word))


def nonsense_word(texts: Sequence[str]) -> str | None:
    """Return the first nonsense word that is in no text; None if there is none."""
    return next(
        (word for word in NONSENSE if not any(word in text.lower() for text in texts)), None
    )


def nonsense_control(audit: TextAudit, known: KnownAnswers, budget: int) -> Control | None:
    """Ask about seeds of categories with a nonsense word for terms; None if that is too dear."""
    texts = audit.texts
    mentions = audit.mentions
    predictions = audit.predictions
    draws = audit.parameters.draws
    single = [
        (item, variants)
        for item, variants in known.of_sets()
        if len(item.categories) == 1 and len(item.rows)
    ]
    word = nonsense_word(texts.texts)
    needed = draws * sum(len(item.rows) for item, _ in single)
    if word is None or not single or predictions.asked + needed > budget:
        return None
    terms = mentions.terms
    nonsense = Term(word, plural=(f"{word}s",))
    categories = [
        replace(category, terms=(*category.terms, nonsense)) for category in terms.categories
    ]
    with_word = replace(terms, categories=tuple(categories))
    replacer = Replacer(texts.texts, replace(mentions, terms=with_word))
    rates = {}
    same = {}
    for item, variants in single:
        (category,), (index,) = item.categories, item.shape
        answers = predictions.decide(
            replacer.variant(row, [category], [index]) for row in item.rows.tolist()
        )
        answers = answers / draws if draws > 1 else answers
        rates[category] = float(answers.mean())
        same[category] = (variants == answers[:, None]).all(axis=0)
    return Control(word, rates, same)
