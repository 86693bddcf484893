"""Texts that repeat one another are one unit, in every interval and p-value."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest
from made_up_texts import (
    CATEGORIES,
    SPECIFICATION,
    audit,
    by_words,
    checked,
    made_up_terms,
    made_up_texts,
)
from scipy import stats
from test_text_guarantee import effects, known_answers

import testsgd
from testsgd.auditing import AuditParameters
from testsgd.auditing.text import run_text_audit
from testsgd.auditing.text.max_statistic import largest_deviations, spread_of
from testsgd.auditing.text.observed import text_clusters, with_independent_texts
from testsgd.models import load_text_model
from testsgd.rules.text import find_mentions
from testsgd.scoring import Clusters, population_interval
from testsgd.scoring.population import Side

TERMS = {term for terms in CATEGORIES.values() for term in terms}
OPTIONS = {"theta": 0.1, "max_features": 2, "replicates": 199}
TEXTS = 60
RUNS = 20


def copies_of(kind: str, seed: int) -> list[int]:
    """How often each text stands in the data."""
    generator = np.random.default_rng(seed)
    return {
        "once": np.ones(TEXTS, dtype=int),
        "five times": np.full(TEXTS, 5),
        "unequal": generator.choice([1, 1, 1, 2, 3, 10, 40], TEXTS),
    }[kind].tolist()


def repeated(texts: list[str], copies: list[int]) -> list[str]:
    return [text for text, times in zip(texts, copies, strict=True) for _ in range(times)]


def topic(text: str) -> str:
    return " ".join(word for word in text.split() if word not in TERMS)


def world(seed: int, kind: str, *, effect: int = 0, **parameters):
    """Audit a model that tosses a coin for each text without its terms, and may mind "red"."""
    texts = made_up_texts(TEXTS, seed, (0.5, 0.4, 0.0), 8)

    def decide(text: str) -> bool:
        chance = 50 - effect * ("red" in text.split())
        return zlib.crc32((str(seed) + topic(text)).encode()) % 100 < chance

    return audit(
        decide,
        repeated(texts, copies_of(kind, seed)),
        made_up_terms(),
        **{**OPTIONS, "seed": seed, **parameters},
    )


def wrong(found, effect: int) -> tuple[bool, bool]:
    """Whether an interval of a group of one term misses: of the difference, of the term's own."""
    # Rates inside, and the rate outside a term, in the population: four in ten of the texts with
    # a colour say "red", or somewhat more, as some name two.
    groups = np.arange(len(found.rule_sets))
    low, high = found.confidence_intervals(groups)
    own = found.counterfactual
    outside, pairs = [], []
    for group in groups:
        terms = [rule.term for rule in found.rule_set(group).rules]
        red = "red" in terms
        others_red = 0.5 if any(term in ("green", "blue") for term in terms) else 0.0
        truth = -effect / 100 * (red - others_red)
        pairs.append(bool(own.low[group] > truth + 1e-9 or own.high[group] < truth - 1e-9))
        if effect == 0:
            outside.append(bool(low[group] > 0 or high[group] < 0))
    return any(outside), any(pairs)


@pytest.mark.parametrize("kind", ["once", "five times", "unequal"])
@pytest.mark.parametrize("effect", [0, 30])
def test_all_intervals_hold_at_once_as_often_as_promised(kind, effect):
    runs = [wrong(world(seed, kind, effect=effect), effect) for seed in range(RUNS)]
    for missed in zip(*runs, strict=True):
        assert sum(missed) <= stats.binom.ppf(0.999, RUNS, 0.05)


@pytest.mark.parametrize("kind", ["five times", "unequal"])
def test_nothing_is_found_by_q_values_more_often_than_promised(kind):
    runs = [world(seed, kind, guarantee="fdr") for seed in range(RUNS)]
    found = sum(len(run.guarantee.discoveries) > 0 for run in runs)
    assert found <= stats.binom.ppf(0.999, RUNS, 0.05)


@pytest.mark.parametrize("guarantee", ["simultaneous", "per-group", "fdr"])
@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_each_text_five_times_says_what_it_says_once(guarantee, mode):
    options = {
        "guarantee": guarantee,
        "mode": mode,
        "min_samples": 3000,
        "error_margin": 0.1,
        "stability": 0,
    }
    once, often = (world(3, kind, effect=30, **options) for kind in ("once", "five times"))
    groups = np.arange(len(once.rule_sets))
    # Draws differ by chance; and so do the bootstrap's of texts in another number.
    near = 0.05 if mode == "sampled" else 0.01 if guarantee == "simultaneous" else 1e-9
    for first, second in zip(
        once.confidence_intervals(groups), often.confidence_intervals(groups), strict=True
    ):
        np.testing.assert_allclose(first, second, atol=near)
    for end in ("low", "high"):
        ends = (getattr(found.counterfactual, end) for found in (once, often))
        np.testing.assert_allclose(*ends, atol=near if mode == "sampled" else 1e-9)
    if guarantee == "fdr" and mode == "exact":
        np.testing.assert_allclose(once.guarantee.q_values, often.guarantee.q_values, atol=1e-9)


def test_texts_that_stand_alone_are_judged_as_before_to_the_last_digit():
    found = world(1, "once", stability=20)
    estimates = found.estimates
    assert estimates.effective_sample_size_in is None
    assert estimates.effective_sample_size_out is None
    groups = np.arange(len(found.rule_sets))
    low, high = population_interval(
        Side(estimates.rows_in, estimates.rows_in, estimates.favourable_in),
        Side(estimates.rows_out, estimates.rows_out, estimates.favourable_out),
        found.guarantee.errors,
        margin_kind="none",
    )
    assert np.array_equal(found.confidence_intervals(groups), (low, high))


def test_one_text_five_hundred_times_says_next_to_nothing():
    texts = ["An old man."] * 500 + ["rain"] * 500
    forum = {
        "dataset": {"name": "forum"},
        "text": {},
        "label": {"column": "decision", "favourable": "hold", "values": ["show", "hold"]},
    }
    for mode in ("exact", "sampled"):
        result = testsgd.audit(
            lambda batch: ["hold" if "man" in text else "show" for text in batch],
            texts,
            forum,
            mode=mode,
            fail_above=0.2,
        )
        group = result.summary.groups[0]
        assert group.difference == 1
        assert group.confidence_interval[0] < 0
        assert group.confidence_interval[1] == 1
        assert (group.effective_sample_size_in, group.effective_sample_size_out) == (1, 1)
        assert result.summary.data.independent == 2
        low, high = group.counterfactual.confidence_interval
        assert low < -0.9
        assert high > 0.9
        assert result.verdict.status != "gate_failed"


def in_clusters(decide):
    texts = made_up_texts(60, 5)
    estimates, rule_sets, known = known_answers(decide, texts)
    clusters = Clusters.of(np.random.default_rng(0).integers(0, 25, 60))
    mentions = find_mentions(texts, made_up_terms())
    estimates = with_independent_texts(estimates, rule_sets, mentions, clusters, known)
    return estimates, rule_sets, replace(known, clusters=clusters), clusters


@pytest.mark.parametrize("decide", [by_words, lambda text: "red" in text])
def test_what_the_texts_of_a_group_are_worth_is_no_more_than_clusters_allow(decide):
    estimates, rule_sets, _known, clusters = in_clusters(decide)
    for group in range(len(rule_sets)):
        rows = rule_sets.category_sets[rule_sets.set_of(group)].rows
        sizes = np.bincount(clusters.of_row[rows])
        assert estimates.effective_sample_size_in[group] <= len(rows) ** 2 / (sizes**2).sum() + 1e-9
        assert estimates.effective_sample_size_out[group] <= len(clusters)


@pytest.mark.parametrize("decide", [by_words, lambda text: "red" in text])
def test_deviations_of_clusters_are_those_of_a_loop(decide):
    estimates, rule_sets, known, clusters = in_clusters(decide)
    spread = spread_of(estimates, known)
    largest = largest_deviations(estimates, known, spread, samples=10, seed=4)
    units = np.random.default_rng([4, 5, 0]).standard_normal((10, len(clusters)), dtype=np.float32)
    noise = np.random.default_rng([4, 6, 0])
    expected = np.zeros(10)
    for one in rule_sets.category_sets:
        drawn = noise.standard_normal((10, len(one)), dtype=np.float32)
        for place in range(len(one)):
            group = one.first + place
            of_clusters = np.bincount(clusters.of_row, effects(group, rule_sets, known))
            together = (of_clusters**2).sum() + spread.missing[group]
            assert spread.error[group] ** 2 >= together * (1 - 1e-5)
            stray = units @ of_clusters + drawn[:, place] * np.sqrt(spread.missing[group])
            expected = np.maximum(expected, np.abs(stray) / spread.error[group])
    np.testing.assert_allclose(largest, expected, rtol=1e-4)


def test_given_clusters_and_near_copies_are_joined():
    texts = checked(["red lamp", "blue lamp", "a door", "a window", "a table"])
    texts = type(texts)(**{**texts.__dict__, "clusters": np.array([0, 1, 1, 2, 3])})
    mentions = find_mentions(texts.texts, made_up_terms())
    assert text_clusters(texts, mentions).of_row.tolist() == [0, 0, 0, 1, 2]


def test_copies_are_on_one_side_of_a_split():
    texts = repeated(made_up_texts(40, 2), [3] * 40)
    model = load_text_model(lambda batch: ["good"] * len(batch), SPECIFICATION)
    found = run_text_audit(
        model, checked(texts), made_up_terms(), AuditParameters(theta=0.05, holdout=0.5)
    )
    assert sorted(set(np.unique(found.texts.texts, return_counts=True)[1])) == [3]
