"""Made-up texts with plain terms, a model of them, and what an audit should find, the slow way."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import testsgd
from testsgd import AuditResult
from testsgd.data.text import SensitiveTerms, terms_from_mapping

CATEGORIES = {
    "colour": ("red", "green", "blue"),
    "size": ("small", "large"),
    "shape": ("round", "square", "oval"),
    "cloth": ("velvet",),
}
# No "a" and no "an": the texts need no article put right.
FILLERS = ("chair", "lamp", "stands", "near", "door", "very", "nice", "window", "with", "and")
SPECIFICATION = {
    "dataset": {"name": "rooms", "title": "Rooms", "licence": "CC0"},
    "text": {"column": "line"},
    "label": {"column": "opinion", "favourable": "good", "values": ["bad", "good"]},
}
Choice = dict[str, str]


def terms(**ambiguous: str) -> SensitiveTerms:
    """The terms as an audit wants them, some of them ambiguous."""
    return terms_from_mapping(
        {
            "terms": {"name": "furniture", "source": "a catalogue"},
            "categories": {
                category: {term: {"ambiguous": ambiguous.get(term, "")} for term in names}
                for category, names in CATEGORIES.items()
            },
        }
    )


def rooms(count: int = 700, seed: int = 3) -> tuple[str, ...]:
    """Lines of random words; few mention a shape, and fewer a cloth."""
    generator = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        words = list(generator.choice(FILLERS, 6))
        shares = (0.4, 0.35, 0.12, 0.01)
        for names, share in zip(CATEGORIES.values(), shares, strict=True):
            for _ in range(2 if generator.random() < 0.3 else 1):
                if generator.random() < share:
                    words.insert(int(generator.integers(0, len(words))), generator.choice(names))
        texts.append(" ".join(words))
    return tuple(texts)


ROOMS = rooms()


def taste(texts: Sequence[str]) -> list[float]:
    """Some noise that depends on the text alone; red and round are liked, velvet is not."""
    found = []
    for text in texts:
        words = text.split()
        liking = 0.2 * ("red" in words) + 0.15 * ("round" in words) - 0.3 * ("velvet" in words)
        noise = zlib.crc32(" ".join(sorted(words)).encode()) / 2**32
        found.append(float(np.clip(0.2 + liking + 0.5 * noise, 0, 1)))
    return found


def liked(text: str) -> bool:
    """Does the model give the favourable label?"""
    return taste([text])[0] > 0.5


def mentions(text: str, category: str) -> list[str]:
    """The terms of a category in a text, in order."""
    return [word for word in text.split() if word in CATEGORIES[category]]


def seeds(categories: Sequence[str], texts: Sequence[str] = ROOMS) -> list[str]:
    """Texts with a term of each category."""
    return [text for text in texts if all(mentions(text, category) for category in categories)]


def variant(text: str, choice: Choice) -> str:
    """A text with the chosen terms in place of every term of their categories."""
    for category, term in choice.items():
        text = re.sub(rf"\b(?:{'|'.join(CATEGORIES[category])})\b", term, text)
    return text


def outside(choice: Choice, texts: Sequence[str] = ROOMS) -> list[str]:
    """Texts that do not contain all of the chosen terms."""
    return [text for text in texts if not set(choice.values()) <= set(text.split())]


def rate(texts: Sequence[str]) -> float:
    """Share of texts with the favourable label."""
    return sum(map(liked, texts)) / len(texts)


def other_choices(choice: Choice) -> list[Choice]:
    """Every choice of terms of the same categories that shares none with this one."""
    others = [
        [term for term in CATEGORIES[category] if term != choice[category]] for category in choice
    ]
    return [dict(zip(choice, terms, strict=True)) for terms in itertools.product(*others)]


def audit(model: Any = taste, texts: Sequence[str] = ROOMS, **options: Any) -> AuditResult:
    """Audit the rooms."""
    named = {"terms": terms(red="also a name", large="of sizes"), "theta": 0.05}
    # A guarantee and stability too, from few bootstrap samples.
    chosen = {**named, "replicates": 99, "stability": 5, **options}
    return testsgd.audit(model, list(texts), SPECIFICATION, **chosen)
