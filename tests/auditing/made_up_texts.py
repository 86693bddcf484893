"""Made-up texts, terms and models, plain enough to be judged by a second, slower method."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from testsgd.auditing import AuditParameters
from testsgd.auditing.text import TextFindings, run_text_audit
from testsgd.data import specification_from_mapping
from testsgd.data.text import SensitiveTerms, Texts, check_texts, terms_from_mapping
from testsgd.models import load_text_model

# No term is part of another and none has a plural, so that plain words can be replaced.
CATEGORIES = {
    "colour": ("red", "green", "blue"),
    "size": ("small", "large"),
    "shape": ("round", "square", "oval", "flat"),
}
WORDS = ("table", "chair", "lamp", "stands", "near", "door", "window", "very", "nice", "bad")

SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "rooms"},
        "text": {},
        "label": {"column": "label", "favourable": "good", "values": ["bad", "good"]},
    }
)


def made_up_terms(categories: dict[str, tuple[str, ...]] = CATEGORIES) -> SensitiveTerms:
    """Give a list of terms without plurals and other spellings; every article is "a"."""
    return terms_from_mapping(
        {
            "terms": {"name": "furniture"},
            "categories": {
                name: {term: {"article": "a"} for term in terms}
                for name, terms in categories.items()
            },
        }
    )


def made_up_texts(
    count: int, seed: int, shares: Sequence[float] = (0.4, 0.3, 0.2), words: int = 6
) -> list[str]:
    """Write texts of random words; each category is mentioned in about its share of them."""
    generator = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        chosen = list(generator.choice(WORDS, words))
        for terms, share in zip(CATEGORIES.values(), shares, strict=True):
            if generator.random() < share:
                for _ in range(generator.integers(1, 3)):
                    chosen.insert(generator.integers(0, len(chosen) + 1), generator.choice(terms))
        texts.append(" ".join(chosen))
    return texts


def checked(texts: Sequence[str]) -> Texts:
    """Give texts as the audit takes them."""
    return check_texts(list(texts), SPECIFICATION)


def by_words(text: str, salt: str = "") -> bool:
    """Decide arbitrarily but reproducibly, by the words and their order."""
    value = 17
    for word in (salt, *text.split()):
        for letter in word:
            value = (value * 31 + ord(letter)) % 1_000_003
    return value % 7 < 3


def audit(
    decide: Callable[[str], bool], texts: Sequence[str], terms: SensitiveTerms, **parameters: Any
) -> TextFindings:
    """Audit a model that decides text by text."""

    def model(batch: list[str]) -> list[str]:
        return ["good" if decide(text) else "bad" for text in batch]

    options = {"theta": 0.01, "max_queries": 10_000_000, "stability": 0, **parameters}
    return run_text_audit(
        load_text_model(model, SPECIFICATION), checked(texts), terms, AuditParameters(**options)
    )


# The second method: words are compared and replaced one by one, rule set by rule set.


def with_terms(text: str, chosen: dict[str, str]) -> str:
    """Replace each word that is a term of a category by the category's chosen term."""
    words = text.split()
    for category, term in chosen.items():
        words = [term if word in CATEGORIES[category] else word for word in words]
    return " ".join(words)


def rule_sets(most: int = 3) -> list[dict[str, str]]:
    """List all rule sets of at most so many terms."""
    return [
        dict(zip(categories, terms, strict=True))
        for size in range(1, most + 1)
        for categories in itertools.combinations(CATEGORIES, size)
        for terms in itertools.product(*(CATEGORIES[name] for name in categories))
    ]


def seeds_of(texts: Sequence[str], chosen: dict[str, str]) -> list[str]:
    """List the texts with a term of each of the rule set's categories."""
    return [
        text
        for text in texts
        if all(any(word in CATEGORIES[name] for word in text.split()) for name in chosen)
    ]


def others_of(texts: Sequence[str], chosen: dict[str, str]) -> list[str]:
    """List the texts that lack one of the rule set's terms."""
    return [text for text in texts if not all(term in text.split() for term in chosen.values())]


def named(findings: TextFindings) -> dict[frozenset[tuple[str, str]], int]:
    """Find the groups by their terms."""
    return {
        frozenset((rule.category, rule.term) for rule in findings.rule_set(group).rules): group
        for group in range(len(findings.rule_sets))
    }
