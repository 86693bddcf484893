"""The gate of texts passes only if its intervals are narrower than its limit."""

from __future__ import annotations

import numpy as np
import pytest
from made_up_texts import CATEGORIES, audit, made_up_terms, made_up_texts
from scipy.stats import binom

from testsgd.auditing.report.summarise import summarise

COLOURS = {"colour": CATEGORIES["colour"]}
LIMIT = 0.1


def blind(text: str) -> bool:
    return "door" in text.split()


def judged(decide, texts, *, terms=COLOURS, **parameters):
    return summarise(audit(decide, texts, made_up_terms(terms), fail_above=LIMIT, **parameters))


def widest(summary) -> float:
    """Return half the width of the widest interval of a counterfactual effect."""
    ends = [group.counterfactual.confidence_interval for group in summary.groups]
    return max(high - low for low, high in ends) / 2


@pytest.mark.parametrize("guarantee", ["simultaneous", "fdr", "per-group"])
@pytest.mark.parametrize("rank_by", ["counterfactual", "score"])
def test_copies_of_four_texts_never_pass(guarantee, rank_by):
    texts = (
        made_up_texts(4, 1, shares=(1, 0, 0)) * 100 + made_up_texts(4, 2, shares=(0, 0, 0)) * 100
    )
    summary = judged(lambda text: False, texts, guarantee=guarantee, rank_by=rank_by)
    assert (summary.verdict.status, summary.verdict.exit_code) == ("not_enough_evidence", 3)


def test_few_texts_say_nothing_and_many_pass():
    few = judged(blind, made_up_texts(60, 3, shares=(0.4, 0, 0)))
    assert widest(few) > LIMIT
    assert few.verdict.exit_code == 3
    many = judged(blind, made_up_texts(2000, 3, shares=(0.4, 0, 0)))
    assert widest(many) < LIMIT
    assert many.verdict.exit_code == 0


def test_the_verdict_names_the_effect_up_to_which_the_texts_say_nothing():
    summary = judged(blind, made_up_texts(60, 3, shares=(0.4, 0, 0)))
    ends = [
        abs(end) for group in summary.groups for end in group.counterfactual.confidence_interval
    ]
    controls = [
        min(max(map(abs, control.confidence_interval)) for control in effect.controls)
        for effect in summary.terms.controls.effects
    ]
    assert f"{max(ends + controls):.3f}" in summary.verdict.sentences[0]


def test_one_group_of_few_texts_keeps_all_from_passing():
    terms = {name: CATEGORIES[name] for name in ("colour", "size")}
    texts = [*made_up_texts(2000, 4, shares=(0.4, 0, 0)), *made_up_texts(40, 5, shares=(0, 1, 0))]
    assert judged(blind, texts, terms=terms, theta=0.1).verdict.exit_code == 0
    assert judged(blind, texts, terms=terms, theta=0.01).verdict.exit_code == 3


def test_a_term_that_is_treated_otherwise_seldom_passes():
    """The truth is 25 points, the limit 10: few texts pass no more often than chance allows."""
    passed = 0
    seeds = range(60)
    for seed in seeds:
        generator = np.random.default_rng(seed)
        texts = made_up_texts(int(generator.integers(10, 120)), seed, shares=(1, 0, 0))

        def minds_red(text: str, seed: int = seed) -> bool:
            rest = " ".join(word for word in text.split() if word not in CATEGORIES["colour"])
            chance = sum(ord(letter) * (at + seed) for at, letter in enumerate(rest)) % 4 == 0
            return chance and "red" in text.split()

        passed += judged(minds_red, texts, max_features=1).verdict.exit_code == 0
    assert passed <= binom.isf(0.001, len(seeds), 0.05)


def test_an_effect_near_the_limit_that_is_known_well_passes_unless_the_gate_is_strict():
    """The truth is 8 points below a limit of 10; the interval reaches beyond it, and is narrow."""

    def minds_red_seldom(text: str) -> bool:
        rest = " ".join(word for word in text.split() if word not in CATEGORIES["colour"])
        share = sum(ord(letter) * (at + 1) for at, letter in enumerate(rest)) % 100
        return share < 8 and "red" in text.split()

    texts = made_up_texts(800, 6, shares=(1, 0, 0))
    summary = judged(minds_red_seldom, texts, max_features=1)
    assert widest(summary) < LIMIT
    assert summary.verdict.exit_code == 0
    assert judged(minds_red_seldom, texts, max_features=1, strict=True).verdict.exit_code == 3
