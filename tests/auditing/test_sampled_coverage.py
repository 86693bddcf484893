"""Sampled rates lie within their margin of the exact ones as often as is claimed."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from few_groups import Model, by_income, by_text, findings, people, seldom
from scipy.stats import binom

import testsgd

REPETITIONS = 200
# Both sides' margins hold together with the square of the confidence (TestSGD, Theorem 4.2).
CLAIMED = 0.95**2
SETTINGS: dict[str, Any] = {"mode": "sampled", "min_samples": 60, "error_margin": 0.2}

PEOPLE = people(300, genders=2)

Figures = dict[str, dict[str, float]]


def fewest_allowed(share: float, repetitions: int) -> int:
    """So many hits at least, unless a chance of one in a million strikes."""
    return int(binom.ppf(1e-6, repetitions, share))


@cache
def exact_figures(model: Model) -> Figures:
    return by_text(findings(model, PEOPLE, mode="exact"))


@cache
def sampled_figures(model: Model, sampling: str) -> list[Figures]:
    return [
        by_text(findings(model, PEOPLE, sampling=sampling, seed=seed, **SETTINGS))
        for seed in range(REPETITIONS)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("model", [by_income, seldom])
@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_the_margin_covers_the_exact_difference(sampling: str, model: Model) -> None:
    exact = exact_figures(model)
    hits: Counter[str] = Counter()
    for sampled in sampled_figures(model, sampling):
        assert sampled.keys() == exact.keys()
        for text, group in sampled.items():
            assert group["decided"]
            assert 0 < group["margin"] <= 0.2
            assert min(group["samples_in"], group["samples_out"]) > 60
            hits[text] += abs(group["difference"] - exact[text]["difference"]) <= group["margin"]
    for text in exact:
        assert hits[text] >= fewest_allowed(CLAIMED, REPETITIONS), text


@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_the_estimates_are_not_biased(sampling: str) -> None:
    for text, group in exact_figures(by_income).items():
        for side in ("in", "out"):
            drawn = favourable = 0
            for sampled in sampled_figures(by_income, sampling):
                drawn += int(sampled[text][f"samples_{side}"])
                favourable += int(sampled[text][f"favourable_{side}"])
            rate = group[f"favourable_{side}"] / group[f"samples_{side}"]
            low, high = binom.ppf([1e-7, 1 - 1e-7], drawn, rate)
            assert low <= favourable <= high, (text, side)


def test_independent_and_pooled_sampling_agree() -> None:
    hits: Counter[str] = Counter()
    pairs = zip(
        sampled_figures(by_income, "pooled"), sampled_figures(by_income, "independent"), strict=True
    )
    for pooled, independent in pairs:
        assert pooled.keys() == independent.keys()
        for text, group in pooled.items():
            other = independent[text]
            difference = abs(group["difference"] - other["difference"])
            hits[text] += difference <= group["margin"] + other["margin"]
    # If both margins hold, so does this.
    for text, number in hits.items():
        assert number >= fewest_allowed(CLAIMED**2, REPETITIONS), text


def test_more_groups_than_are_sampled_one_by_one() -> None:
    # More than 200 uncertain groups make the pool grow; what comes out keeps the promise.
    plain: dict[str, Any] = {
        "estimand": "neighbourhood",
        "theta": 0.1,
        "guarantee": "per-group",
        "stability": 0,
    }
    exact = testsgd.audit(None, None, "demo", **plain).groups.set_index("text")
    sampled = testsgd.audit(
        None, None, "demo", mode="sampled", min_samples=200, error_margin=0.04, **plain
    ).groups.set_index("text")
    assert set(sampled.index) == set(exact.index)
    assert sampled["decided"].all()
    assert (sampled["margin"] <= 0.04).all()
    gap = (sampled["difference"] - exact["difference"].loc[sampled.index]).abs()
    # The groups share draws, so their hits are not independent; the share itself must hold.
    assert (gap <= sampled["margin"]).mean() >= CLAIMED
