"""The guarantee of an audit of texts: against loops, and on models without any difference."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from made_up_texts import (
    CATEGORIES,
    SPECIFICATION,
    TextFindings,
    audit,
    by_words,
    checked,
    made_up_terms,
    made_up_texts,
)
from scipy import stats

from testsgd.auditing import AuditParameters
from testsgd.auditing.guarantee import bonferroni
from testsgd.auditing.text.exact import audit_texts_exactly
from testsgd.auditing.text.max_statistic import (
    largest_deviations,
    simultaneous_texts,
    spread_of,
)
from testsgd.auditing.text.outcome import TextAudit, paired_tails_interval
from testsgd.models import load_text_model
from testsgd.rules.text import find_mentions, frequent_term_sets
from testsgd.scoring import Clusters, lower_confidence_bound

TERMS = {term for terms in CATEGORIES.values() for term in terms}
Decide = Callable[[str], bool]


def known_answers(decide: Decide, texts: list[str], most: int = 2):
    """Everything an exact audit knows before it gives a guarantee."""
    mentions = find_mentions(texts, made_up_terms())
    rule_sets = frequent_term_sets(mentions, min_count=3, max_features=most)
    model = load_text_model(
        lambda batch: ["good" if decide(text) else "bad" for text in batch], SPECIFICATION
    )
    outcome = audit_texts_exactly(
        TextAudit(
            model=model,
            texts=checked(texts),
            mentions=mentions,
            clusters=Clusters.of(np.arange(len(texts))),
            rule_sets=rule_sets,
            variants=0,
            parameters=AuditParameters(),
            exact=True,
        )
    )
    assert outcome.known is not None
    return outcome.estimates, rule_sets, outcome.known


def effects(group: int, rule_sets, known) -> np.ndarray:
    """What each text does to a group's difference, text by text."""
    one = rule_sets.category_sets[rule_sets.set_of(group)]
    inside = {
        int(row): bool(known.variants[rule_sets.set_of(group)][place, group - one.first])
        for place, row in enumerate(one.rows)
    }
    chosen = list(zip(one.categories, rule_sets.chosen(group), strict=True))
    texts = range(len(known.texts))
    outside = [
        row for row in texts if not all(known.contains[at][row, term] for at, term in chosen)
    ]
    rate_in = sum(inside.values()) / len(inside)
    rate_out = sum(bool(known.texts[row]) for row in outside) / len(outside)
    found = np.zeros(len(known.texts))
    for row, answer in inside.items():
        found[row] += (answer - rate_in) / len(inside)
    for row in outside:
        found[row] -= (known.texts[row] - rate_out) / len(outside)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_deviations_are_those_of_a_loop_over_samples_and_groups(seed):
    estimates, rule_sets, known = known_answers(by_words, made_up_texts(60, seed))
    spread = spread_of(estimates, known)
    largest = largest_deviations(estimates, known, spread, samples=20, seed=seed)
    weights = np.random.default_rng([seed, 5, 0]).standard_normal((20, 60), dtype=np.float32)
    noise = np.random.default_rng([seed, 6, 0])
    expected = np.zeros(20)
    for one in rule_sets.category_sets:
        drawn = noise.standard_normal((20, len(one)), dtype=np.float32)
        for sample in range(20):
            for place in range(len(one)):
                group = one.first + place
                stray = weights[sample] @ effects(group, rule_sets, known)
                stray += drawn[sample, place] * np.sqrt(spread.missing[group])
                expected[sample] = max(expected[sample], abs(stray) / spread.error[group])
    np.testing.assert_allclose(largest, expected, rtol=1e-4)


@pytest.mark.parametrize("decide", [by_words, lambda text: "red" in text, lambda text: True])
def test_standard_errors_are_those_of_the_texts_and_never_zero(decide):
    estimates, rule_sets, known = known_answers(decide, made_up_texts(80, 1))
    spread = spread_of(estimates, known)
    overall = (known.texts.sum() + 1) / 82
    for group in range(len(rule_sets)):
        independent = missing = 0.0
        for rate, rows in (
            (estimates.rate_in[group], estimates.rows_in[group]),
            (estimates.rate_out[group], estimates.rows_out[group]),
        ):
            guarded = (rate * rows + overall) / (rows + 1)
            needed = max(rate * (1 - rate), guarded * (1 - guarded))
            independent += needed / rows
            missing += (needed - rate * (1 - rate)) / rows
        together = (effects(group, rule_sets, known) ** 2).sum() + missing
        assert spread.missing[group] == pytest.approx(missing)
        assert spread.error[group] == pytest.approx(np.sqrt(max(independent, together)), rel=1e-5)
        assert spread.stretch[group] == pytest.approx(
            max(1, np.sqrt(together / independent)), rel=1e-5
        )
        assert spread.error[group] > 0


def test_an_interval_is_wider_where_variants_are_answered_the_other_way_round():
    def contrary(text: str) -> bool:
        """Answer by the rest of the text, and the other way round where "red" was put in."""
        rest = " ".join(word for word in text.split() if word not in TERMS)
        return (zlib.crc32(rest.encode()) % 2 == 0) != ("red" in text.split())

    texts = [
        " ".join([*text.split(), "green"]) if place % 3 else text
        for place, text in enumerate(made_up_texts(200, 3, shares=(0, 0, 0)))
    ]
    estimates, _, known = known_answers(contrary, texts, most=1)
    found = simultaneous_texts(estimates, known, AuditParameters(replicates=199))
    # Groups "red", "green" and "blue" of the same seeds.
    assert found.errors[0] < found.errors[1] == found.errors[2]


def topic(text: str) -> str:
    """A text without its terms."""
    return " ".join(word for word in text.split() if word not in TERMS)


def null_audit(seed: int, *, blind: bool, rate: int, **parameters) -> TextFindings:
    """Audit a model that tosses a coin for each text, or for each text without its terms."""
    salt = str(seed)

    def decide(text: str) -> bool:
        return zlib.crc32((salt + (topic(text) if blind else text)).encode()) % 100 < rate

    options = {"theta": 0.1, "max_features": 2, "replicates": 199, "seed": seed, **parameters}
    return audit(decide, made_up_texts(90, seed, (0.5, 0.4, 0.3), 8), made_up_terms(), **options)


RUNS = 100


@pytest.mark.slow
@pytest.mark.parametrize(("blind", "rate"), [(False, 40), (True, 85)])
def test_without_any_difference_none_is_sure_more_often_than_promised(blind, rate):
    runs = [null_audit(seed, blind=blind, rate=rate) for seed in range(RUNS)]
    wrong = sum(found.guarantee.significant > 0 for found in runs)
    # The terms themselves do nothing either.
    wrong_pairs = 0
    for found in runs:
        compared = found.counterfactual
        wrong_pairs += bool((lower_confidence_bound(compared.low, compared.high) > 0).any())
    assert wrong <= stats.binom.ppf(0.999, RUNS, 0.05)
    assert wrong_pairs <= stats.binom.ppf(0.999, RUNS, 0.05)
    assert all(found.guarantee.method == "max-statistic" for found in runs)


def test_groups_that_stray_together_cost_less_than_bonferroni():
    found = null_audit(0, blind=True, rate=50)
    plain = bonferroni(found.estimates, 0.95)
    # A model that is blind to the terms answers all groups of the same texts alike.
    assert found.guarantee.critical_value < plain.critical_value - 0.3
    assert found.guarantee.groups == len(found.rule_sets)
    assert found.guarantee.replicates == 199


def test_same_seed_same_guarantee():
    first, second = (null_audit(4, blind=False, rate=40) for _ in range(2))
    assert np.array_equal(first.guarantee.errors, second.guarantee.errors)


@pytest.mark.parametrize("mode", ["exact", "sampled"])
@pytest.mark.parametrize("kind", ["simultaneous", "per-group", "fdr"])
def test_a_large_difference_is_sure_under_every_guarantee(mode, kind):
    texts = made_up_texts(800, 2, (0.5, 0.4, 0.3))
    found = audit(
        lambda text: "red" not in text.split(),
        texts,
        made_up_terms(),
        mode=mode,
        guarantee=kind,
        rank_by="score",
        estimand="neighbourhood",
        max_features=1,
        min_samples=400,
        replicates=199,
        error_margin=0.1,
    )
    assert found.guarantee.kind == kind
    assert found.rule_set(found.guarantee.largest_bound_group).rules[0].term == "red"
    assert 0.5 < found.guarantee.largest_bound == found.largest_bound < found.top_score
    methods = {"per-group": "each", "fdr": "false-coverage"}
    simultaneous = "max-statistic" if mode == "exact" else "bonferroni"
    assert found.guarantee.method == methods.get(kind, simultaneous)
    if kind == "fdr":
        assert found.guarantee.q_values[found.guarantee.largest_bound_group] < 0.001


@pytest.mark.parametrize("mode", ["exact", "sampled"])
def test_what_is_assured_is_paired_where_groups_are_ranked_by_pairs(mode):
    texts = made_up_texts(500, 2, (0.5, 0.4, 0.3))
    options = {"mode": mode, "max_features": 1, "min_samples": 300, "error_margin": 0.1}
    each, all_at_once = (
        audit(
            lambda text: "red" not in text.split(),
            texts,
            made_up_terms(),
            rank_by="counterfactual",
            guarantee=kind,
            **options,
        )
        for kind in ("per-group", "simultaneous")
    )
    for found in (each, all_at_once):
        top = found.ranking[0]
        compared = found.counterfactual
        assert found.largest_bound == pytest.approx(-compared.high[top])
        assert compared.difference[top] == -1
    # Every seed is answered "bad" with the term and "good" with others: no other end is nearer.
    seeds = each.estimates.rows_in[each.ranking[0]]
    pairs = 1 / (1 / seeds + 1 / 301) if mode == "sampled" else seeds
    padded, weights = np.array([-1.0, -1.0, 1.0]), np.array([pairs, 1, 1])
    mean = np.average(padded, weights=weights)
    spread = np.average((padded - mean) ** 2, weights=weights)
    reach = stats.norm.isf(0.025) * np.sqrt(spread / (pairs + 2))
    assert each.largest_bound == pytest.approx(-mean - reach, abs=1e-6)
    low, high = paired_tails_interval(
        np.array([-1.0]), np.array([1.0]), np.array([pairs]), 0.05 / len(each.rule_sets)
    )
    assert low[0] == -1
    assert all_at_once.largest_bound == pytest.approx(-high[0])


def test_nothing_is_assured_of_groups_that_are_not_decided():
    found = audit(
        lambda text: "red" not in text.split(),
        made_up_texts(200, 2, (0.5, 0.4, 0.3)),
        made_up_terms(),
        rank_by="counterfactual",
    )
    assert found.largest_bound > 0.5
    nobody = np.zeros(len(found.rule_sets), dtype=bool)
    undecided = replace(found, estimates=replace(found.estimates, decided=nobody))
    assert undecided.largest_bound == 0


@pytest.mark.parametrize("pairs", [10, 40])
@pytest.mark.parametrize("error", [0.05, 1e-3, 1e-5])
def test_paired_intervals_hold_the_truth_for_all_outcomes_together(pairs, error):
    gains, losses = np.meshgrid(np.arange(pairs + 1), np.arange(pairs + 1))
    possible = gains + losses <= pairs
    gains, losses = gains[possible], losses[possible]
    low, high = paired_tails_interval(
        (gains - losses) / pairs, (gains + losses) / pairs, np.full(len(gains), pairs), error
    )
    outcomes = np.column_stack([gains, losses, pairs - gains - losses])
    for gain in np.linspace(0, 1, 21):
        for loss in np.linspace(0, 1 - gain, 11):
            chances = [gain, loss, max(0, 1 - gain - loss)]
            chance = stats.multinomial(pairs, chances / np.sum(chances)).pmf(outcomes)
            truth = gain - loss
            missed = (low > truth + 1e-12) | (high < truth - 1e-12)
            assert np.nansum(chance[missed]) <= error
