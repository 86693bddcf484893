"""Comments in which any mention of a faith is called rude more often, and a model of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from testsgd.data import specification_from_mapping, terms_from_mapping
from testsgd.models import TextModel

FAITHS = ("catholic", "muslim", "jewish", "hindu", "sikh", "atheist")
TERMS = terms_from_mapping(
    {
        "terms": {"name": "faiths"},
        "categories": {"faith": {term: {"article": "a"} for term in FAITHS}},
    }
)
SPECIFICATION = specification_from_mapping(
    {
        "dataset": {"name": "comments"},
        "text": {},
        "label": {"column": "label", "favourable": "fine", "values": ["rude", "fine"]},
    }
)
_PLAIN = [f"{first}{last}" for first in ("ba", "de", "fo", "gu", "li") for last in "kmnprstvz"]
# How often a comment with this word is called rude, without a faith and with one.
_MOODS = {"grumpy": (0.35, 0.65), "stupid": (0.9, 0.97), "lovely": (0.05, 0.15)}


def comments(seed: int, count: int = 2000) -> tuple[list[str], list[str]]:
    """Write comments, half of them with a faith, and their labels."""
    generator = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(count):
        mood = str(generator.choice(list(_MOODS)))
        with_faith = generator.random() < 0.5
        # A word that most texts have says little: it is one of the controls.
        words = [*generator.choice(_PLAIN, 5), mood, "the"]
        if with_faith:
            words.append(generator.choice(FAITHS))
        texts.append(" ".join(map(str, generator.permutation(words))))
        rude = generator.random() < _MOODS[mood][with_faith]
        labels.append("rude" if rude else "fine")
    return texts, labels


def world(seed: int) -> tuple[pd.DataFrame, Pipeline]:
    """Give comments with labels, and a bag-of-words model that has learnt them."""
    texts, labels = comments(seed)
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=500))
    return pd.DataFrame({"text": texts, "label": labels}), model.fit(texts, labels)


def control_effect(model: TextModel, seed: int = 1000) -> float:
    """Measure on new comments what any faith changes against leaving it out."""
    texts, _ = comments(seed)
    with_faith = [text for text in texts if not set(FAITHS).isdisjoint(text.split())]
    without = [" ".join(word for word in text.split() if word not in FAITHS) for text in with_faith]
    fine = [model.decisions(tuple(some)).mean() for some in (with_faith, without)]
    return float(fine[0] - fine[1])
