"""Sampled audits of texts agree with exact ones, stop when they should and keep to the budget."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from made_up_texts import (
    CATEGORIES,
    audit,
    by_words,
    made_up_terms,
    made_up_texts,
    named,
    seeds_of,
)
from scipy import stats

from testsgd.errors import ParameterError
from testsgd.scoring import score_margins

TEXTS = made_up_texts(2_000, 11, shares=(0.5, 0.3, 0.3))
TERMS = made_up_terms()


def biased(text: str) -> bool:
    """Decide by the words, and always against texts with "red"."""
    return by_words(text) and "red" not in text.split()


@pytest.fixture(scope="module")
def exact():
    return audit(biased, TEXTS, TERMS, theta=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["pooled", "independent"])
def test_scores_lie_within_the_margin_of_the_exact_ones(exact, sampling):
    outside, groups = 0, 0
    for seed in range(4):
        found = audit(
            biased,
            TEXTS,
            TERMS,
            theta=0.05,
            mode="sampled",
            sampling=sampling,
            seed=seed,
            estimand="neighbourhood",
        )
        assert found.mode == "sampled"
        assert named(found) == named(exact)
        assert found.estimates.decided.all()
        assert (found.estimates.margin <= 0.05).all()
        assert (found.estimates.samples_in > 1000).all()
        assert (found.estimates.samples_out > 1000).all()
        error = np.abs(found.estimates.difference - exact.estimates.difference)
        outside += int((error > found.estimates.margin).sum())
        groups += len(error)
    # Both sides' margins hold together with 0.95 squared; groups that share draws err together,
    # so the chance that too many are outside is taken for a quarter as many independent groups.
    assert outside <= 4 * stats.binom.ppf(0.9999, groups // 4, 1 - 0.95**2)


def test_sides_and_rows_are_those_of_the_exact_audit(exact):
    found = audit(biased, TEXTS, TERMS, theta=0.05, mode="sampled")
    assert found.estimates.rows_in.tolist() == exact.estimates.rows_in.tolist()
    assert found.estimates.rows_out.tolist() == exact.estimates.rows_out.tolist()


def test_paired_differences_agree_with_the_exact_ones(exact):
    found = audit(biased, TEXTS, TERMS, theta=0.05, mode="sampled", seed=3)
    ours, truth = found.counterfactual, exact.counterfactual
    # Draws of 1,001 seeds: a mean of differences in [-1, 1] errs by at most 4.4 standard errors.
    error = np.abs(ours.difference - truth.difference)
    assert error.max() < 4.4 / np.sqrt(1001)
    covered = (ours.low <= truth.difference) & (truth.difference <= ours.high)
    assert covered.mean() > 0.9
    assert (ours.high - ours.low > truth.high - truth.low).mean() > 0.95


def test_same_seed_same_result_other_seed_other_draws():
    first, again, other = (
        audit(biased, TEXTS, TERMS, theta=0.05, mode="sampled", seed=seed) for seed in (5, 5, 6)
    )
    assert first.estimates.favourable_in.tolist() == again.estimates.favourable_in.tolist()
    assert first.ranking.tolist() == again.ranking.tolist()
    assert first.estimates.favourable_in.tolist() != other.estimates.favourable_in.tolist()


def test_a_narrow_margin_is_reached_by_more_draws_and_no_more_texts(exact):
    found = audit(biased, TEXTS, TERMS, theta=0.05, mode="sampled", error_margin=0.004)
    assert found.estimates.decided.all()
    assert (found.estimates.margin <= 0.004).all()
    assert found.queries <= exact.queries
    error = np.abs(found.estimates.difference - exact.estimates.difference)
    assert error.max() <= 0.008


def test_a_blind_model_has_paired_difference_0_in_samples_too():
    found = audit(
        lambda text: "door" in text.split(), TEXTS, TERMS, theta=0.05, mode="sampled", seed=1
    )
    assert (found.counterfactual.difference == 0).all()


@pytest.mark.parametrize("budget", [2, 50, 500, 3_000])
def test_a_small_budget_is_kept_and_leaves_groups_undecided(budget):
    asked = []

    def decide(text):
        asked.append(text)
        return biased(text)

    found = audit(decide, TEXTS, TERMS, theta=0.05, mode="sampled", max_queries=budget)
    assert len(asked) == found.queries <= budget
    # Only the first texts are asked about again, to see that the answers stay.
    again = Counter(asked)
    assert set(again.values()) <= {1, 2}
    assert {text for text, times in again.items() if times == 2} <= set(TEXTS[: budget // 2])
    assert not found.estimates.decided.all()
    undecided = ~found.estimates.decided
    assert not set(found.distinct) & set(np.flatnonzero(undecided).tolist())


def test_exact_mode_says_how_many_queries_it_needs():
    with pytest.raises(ParameterError, match="an exact audit takes up to") as raised:
        audit(biased, TEXTS, TERMS, mode="exact", max_queries=100)
    assert raised.value.where == "max_queries"


def test_auto_mode_is_exact_if_the_budget_allows_it(exact):
    # The first thousand texts are asked about again.
    needed = len(TEXTS) + exact.neighbourhood + 1_000
    # Without terms and with neutral words the seeds are asked about if something is left.
    seeds = sum(len(one.rows) for one in exact.rule_sets.category_sets if len(one.categories) == 1)
    assert exact.queries <= needed + 3 * seeds
    assert audit(biased, TEXTS, TERMS, theta=0.05, max_queries=needed).mode == "exact"
    assert audit(biased, TEXTS, TERMS, theta=0.05, max_queries=needed - 1).mode == "sampled"


def test_independent_sampling_asks_anew_for_every_group():
    asked = 0

    def decide(text):
        nonlocal asked
        asked += 1
        return biased(text)

    found = audit(
        decide, TEXTS, TERMS, theta=0.4, mode="sampled", sampling="independent", max_features=1
    )
    least = 2 * 1001 * len(found.rule_sets)
    assert len(found.rule_sets) == len(CATEGORIES["colour"])
    assert asked == found.queries >= least
    assert found.counterfactual is None
    with pytest.raises(ParameterError, match="independent sampling"):
        audit(decide, TEXTS, TERMS, mode="sampled", sampling="independent", max_queries=5_000)


@pytest.mark.parametrize(("budget", "estimand"), [(3_000, "neighbourhood"), (6_000, "observed")])
def test_rates_are_called_observed_only_if_all_texts_were_asked_about(budget, estimand):
    found = audit(
        biased,
        TEXTS,
        TERMS,
        theta=0.05,
        mode="sampled",
        rank_by="score",
        max_features=1,
        min_samples=50,
        error_margin=0.4,
        max_queries=budget,
    )
    assert found.parameters.estimand == estimand
    colours = len(seeds_of(TEXTS, {"colour": "red"}))
    red = sum("red" in text.split() for text in TEXTS)
    rows = found.estimates.rows_in[named(found)[frozenset({("colour", "red")})]]
    assert rows == (red if estimand == "observed" else colours)


@pytest.mark.parametrize("budget", [400, 800, 1_300])
def test_draws_end_where_more_seeds_cannot_decide_a_group(budget):
    # All seeds of some groups are known soon, so that drawing them again costs nothing; but the
    # draws outside alone leave more than the error margin.
    found = audit(
        biased,
        made_up_texts(400, 11, shares=(0.5, 0.1, 0.1)),
        TERMS,
        theta=0.05,
        mode="sampled",
        min_samples=100,
        max_queries=budget,
    ).estimates
    assert (~found.decided & (found.samples_in > 0)).any()
    assert (found.samples_in >= 0).all()
    assert (found.samples_in < 1_000_000).all()
    margins = score_margins(
        found.favourable_in,
        found.samples_in,
        found.favourable_out,
        found.samples_out,
        0.95,
        kind="anytime",
    ).margin
    assert found.margin == pytest.approx(margins)


def test_known_texts_are_drawn_a_finite_number_of_times():
    # No number of draws reaches this margin.
    texts = made_up_texts(200, 11, shares=(0.5, 0.1, 0.1))
    found = audit(
        biased, texts, TERMS, theta=0.05, mode="sampled", min_samples=100, error_margin=1e-12
    ).estimates
    assert (found.samples_in > 0).all()
    assert (found.samples_out > 0).all()
    assert not found.decided.any()
