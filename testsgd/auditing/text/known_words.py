"""Which terms a model of texts knows: by its vocabulary, and compared with a nonsense word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, reduce
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testsgd.auditing.text.answers import KnownAnswers
from testsgd.auditing.text.findings import NONSENSE, Control
from testsgd.auditing.text.outcome import TextAudit
from testsgd.data.text import Term
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel, words_of
from testsgd.rules.text import Mentions, TermRuleSets
from testsgd.sampling.text import Replacer

# From a model's texts and as many others to whether the model can tell any of them from its other.
_Sees = Callable[[list[str], list[str]], bool]
# Most terms show in the first texts that they are known, so the first portion is small.
_FIRST_TEXTS, _MOST_TEXTS = 32, 1_024


def unknown_terms(
    model: LoadedModel[TextModel],
    texts: Sequence[str],
    mentions: Mentions,
    control: Control | None = None,
) -> tuple[NDArray[np.bool_], ...] | None:
    """Return of each category which terms (terms,) a model cannot tell from a nonsense word.

    They are put in place of every mention, as an audit does: the model may know a plural but not
    the singular, or parts of words that only stand in a text. Networks of testsgd can say what they
    see, and so can estimators of scikit-learn whose first step is a vectoriser with a
    ``vocabulary_``. None if the model cannot say. `control`: the answers with a nonsense word, if
    they are known; a term that is answered otherwise is known.
    """
    word = nonsense_word(texts)
    sees_change = _network_sees(model.model, word) or _vectoriser_sees(model.origin)
    if sees_change is None or word is None:
        return None
    terms = mentions.terms
    # Each term has a nonsense word with the same article and plural, so that only words differ.
    categories = [
        replace(category, terms=(*category.terms, *(_nonsense(word, of) for of in category.terms)))
        for category in terms.categories
    ]
    with_words = replace(terms, categories=tuple(categories))
    replacer = Replacer(texts, replace(mentions, terms=with_words))
    present = mentions.presence()
    unknown = []
    for index, category in enumerate(terms.categories):
        rows = np.flatnonzero(present[:, index]).tolist()
        size = len(category.terms)
        known = np.zeros(size, dtype=bool)
        if control is not None and index in control.unlike:
            known |= control.unlike[index]
        for number in np.flatnonzero(~known).tolist():
            if rows:
                known[number] = any(
                    sees_change(
                        [replacer.variant(row, [index], [number]) for row in portion],
                        [replacer.variant(row, [index], [size + number]) for row in portion],
                    )
                    for portion in _portions(rows)
                )
            else:
                forms = list(category.terms[number].forms)
                known[number] = sees_change(forms, [word] * len(forms))
        unknown.append(~known)
    return tuple(unknown)


def _nonsense(word: str, term: Term) -> Term:
    """Return a nonsense word as a term with the article of `term`, and a plural if that has one."""
    return Term(word, plural=(f"{word}s",) if term.plural else (), article=term.article)


def _portions(rows: list[int]) -> Iterator[list[int]]:
    """Yield rows in portions that grow."""
    start, size = 0, _FIRST_TEXTS
    while start < len(rows):
        yield rows[start : start + size]
        start, size = start + size, min(2 * size, _MOST_TEXTS)


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


def _network_sees(network: Any, word: str | None) -> _Sees | None:
    """Return how a network that says which words it knows tells texts apart, if it does say so.

    It need not be asked about the nonsense word.
    """
    if getattr(network, "knows", None) is None:
        return None
    nonsense = (word, f"{word}s")
    knows = cache(lambda word: word not in nonsense and network.knows(word))

    def seen(text: str) -> list[str | None]:
        words = groupby(words_of(text), lambda word: word if knows(word) else None)
        # A term of several unknown words is as little known as one of a single word.
        return [item for known, group in words for item in ([None] if known is None else group)]

    def sees(texts: list[str], others: list[str]) -> bool:
        return any(seen(text) != seen(other) for text, other in zip(texts, others, strict=True))

    return sees


def _vectoriser_sees(source: Any) -> _Sees | None:
    """Return whether the vectoriser that a pipeline begins with gives texts other features.

    None if it has no vocabulary.
    """
    steps = getattr(source, "steps", None)
    first = steps[0][1] if steps else source
    has_vocabulary = isinstance(getattr(first, "vocabulary_", None), Mapping)
    if not has_vocabulary or not hasattr(first, "transform"):
        return None
    return lambda texts, others: bool((first.transform(texts) != first.transform(others)).sum())


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
    nonsense = [Term(word, plural=(f"{word}s",), article=article) for article in ("a", "an")]
    categories = [
        replace(category, terms=(*category.terms, *nonsense)) for category in terms.categories
    ]
    with_word = replace(terms, categories=tuple(categories))
    replacer = Replacer(texts.texts, replace(mentions, terms=with_word))
    rates = {}
    same = {}
    unlike = {}
    for item, variants in single:
        (category,), (index,) = item.categories, item.shape
        rows = item.rows.tolist()
        written = [replacer.variant(row, [category], [index]) for row in rows]
        answers = predictions.decide(written)
        answers = answers / draws if draws > 1 else answers
        rates[category] = float(answers.mean())
        is_same = variants == answers[:, None]
        same[category] = is_same.all(axis=0)
        # With another article the text differs by more than the word.
        with_an = [replacer.variant(row, [category], [index + 1]) for row in rows]
        is_alike = np.array([one == other for one, other in zip(written, with_an, strict=True)])
        has_article = np.array([term.article == "a" for term in terms.categories[category].terms])
        unlike[category] = (~is_same & (has_article | is_alike[:, None])).any(axis=0)
    return Control(word, rates, same, unlike)
