"""A few words about furniture and their variants in plain Python, to compare samples with."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from testsgd.data import check_texts, specification_from_mapping, terms_from_mapping
from testsgd.mitigation.sample_selection import draw_samples
from testsgd.mitigation.samples import CounterSamples
from testsgd.mitigation.text_splits import Variants
from testsgd.models import TextModel, load_text_model
from testsgd.rules import find_mentions

# No term is part of another and none has a plural, so that plain words can be replaced.
CATEGORIES = {"colour": ("red", "green", "blue"), "size": ("small", "large")}
TERMS = terms_from_mapping(
    {
        "terms": {"name": "furniture"},
        "categories": {
            name: {term: {"article": "a"} for term in terms} for name, terms in CATEGORIES.items()
        },
    }
)
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "rooms"},
        "text": {},
        "label": {"column": "label", "favourable": "good", "values": ["bad", "good"]},
    }
)
# Small blue: the second term of the first category is not the first of the second.
GROUP = ((0, 1), (2, 0))
CHOSEN = {"colour": "blue", "size": "small"}

TEXTS = st.lists(
    st.lists(
        st.sampled_from(["red", "green", "blue", "small", "large", "door", "lamp", "by"]),
        max_size=5,
    ).map(" ".join),
    min_size=1,
    max_size=25,
)
SIDES = st.sampled_from(["group", "rest"])


def score(text: str) -> float:
    """Give a score that looks like chance."""
    return zlib.crc32(text.encode()) % 10_000 / 10_000


def model_of(scores: Callable[[str], float] = score) -> TextModel:
    """Give a model that scores text by text."""
    return load_text_model(lambda batch: [scores(text) for text in batch], SPECIFICATION).model


def variant(text: str) -> str:
    """Put the group's terms in, word by word."""
    for category, term in CHOSEN.items():
        text = " ".join(term if word in CATEGORIES[category] else word for word in text.split())
    return text


def seeds_of(texts: Sequence[str], side: str) -> list[int]:
    """List the seeds of one side, by the words of the texts."""
    words = [set(text.split()) for text in texts]
    if side == "group":
        return [
            place
            for place, found in enumerate(words)
            if all(found & set(terms) for terms in CATEGORIES.values())
        ]
    return [place for place, found in enumerate(words) if not found >= set(CHOSEN.values())]


def draw_texts(texts: Sequence[str], side: Any, **options: Any) -> CounterSamples:
    """Generate samples of all seeds of one side, or as the options say."""
    given = {
        "favourable": True,
        "wanted": 10**6,
        "max_draws": 10**6,
        "fallback": "nearest",
        "seed": 0,
        "model": model_of(),
        **options,
    }
    generator = np.random.default_rng(given.pop("seed"))
    source = Variants(
        check_texts(list(texts), SPECIFICATION),
        find_mentions(texts, TERMS),
        GROUP if side == "group" else ((), ()),
        np.array(seeds_of(texts, side), dtype=np.intp),
    )
    model = given.pop("model")
    return draw_samples(source, model, generator=generator, side=side, target=1, **given)
