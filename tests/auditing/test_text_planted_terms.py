"""Two terms that a model treats badly where they meet are found, on every seed."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_texts import audit, made_up_terms, made_up_texts

PLANTED = {("colour", "green"), ("shape", "oval")}


def toxicity(text: str) -> float:
    """Score a text: "bad" words raise it a little, the planted terms together a lot."""
    words = text.split()
    score = 0.15 * words.count("bad")
    return score + 0.5 * ("green" in words and "oval" in words)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_the_planted_terms_are_the_first_group(seed, mode):
    texts = made_up_texts(1_500, seed, shares=(0.5, 0.3, 0.4))
    found = audit(
        lambda text: toxicity(text) < 0.4,
        texts,
        made_up_terms(),
        theta=0.05,
        mode=mode,
        seed=seed,
        min_samples=300,
    )
    top = int(found.ranking[0])
    planted = {(r.category, r.term) for r in found.rule_set(top).rules} >= PLANTED
    assert planted
    assert found.estimates.difference[top] < -0.5
    # The two terms alone are the first group of two or, with a third that adds chance, close by.
    best = {
        frozenset((r.category, r.term) for r in found.rule_set(int(group)).rules)
        for group in found.ranking[:3]
    }
    assert frozenset(PLANTED) in best
    assert found.counterfactual is not None
    assert found.counterfactual.high[top] < -0.5


@pytest.mark.slow
def test_the_planted_terms_alone_are_first_if_rule_sets_have_two_terms():
    for seed in range(10):
        texts = made_up_texts(1_000, seed, shares=(0.5, 0.3, 0.4))
        found = audit(
            lambda text: toxicity(text) < 0.4, texts, made_up_terms(), theta=0.05, max_features=2
        )
        rules = found.rule_set(int(found.ranking[0])).rules
        assert {(rule.category, rule.term) for rule in rules} == PLANTED
        assert np.isclose(found.top_score, np.abs(found.counterfactual.difference).max())
