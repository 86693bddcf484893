"""What each term adds to a group's difference: against all orders of the terms."""

from __future__ import annotations

import itertools

import pytest
from made_up_texts import audit, by_words, made_up_terms, made_up_texts, named

from testsgd.auditing.text.explaining import explain_term_groups


def difference_of(found, chosen):
    """The difference of the group of these terms, 0 for none."""
    if not chosen:
        return 0.0
    return float(found.estimates.difference[named(found)[frozenset(chosen)]])


@pytest.mark.parametrize("mode", ["exact", "sampled"])
@pytest.mark.parametrize("seed", range(3))
def test_shares_are_means_over_all_orders_of_the_terms(mode, seed):
    texts = made_up_texts(150, seed, (0.6, 0.5, 0.5))
    found = audit(by_words, texts, made_up_terms(), mode=mode, min_samples=100, error_margin=0.2)
    # By default the first group and the explaining ones are explained.
    assert list(found.explanations) == list(found.highlights[:10])
    everything = explain_term_groups(
        found.estimates.difference, found.rule_sets, range(len(found.rule_sets))
    )
    assert {group: everything[group] for group in found.explanations} == found.explanations
    for group, explained in everything.items():
        rules = found.rule_set(group).rules
        terms = [(rule.category, rule.term) for rule in rules]
        shares = dict.fromkeys(terms, 0.0)
        orders = list(itertools.permutations(terms))
        for order in orders:
            for place, term in enumerate(order):
                gain = difference_of(found, order[: place + 1]) - difference_of(
                    found, order[:place]
                )
                shares[term] += gain / len(orders)
        assert [share.text for share in explained.shapley_values] == [rule.text for rule in rules]
        assert [share.value for share in explained.shapley_values] == pytest.approx(
            list(shares.values())
        )
        assert sum(share.value for share in explained.shapley_values) == pytest.approx(
            float(found.estimates.difference[group])
        )
        assert explained.correlated_features == []
        assert explained.conditional is None


@pytest.mark.parametrize("rank_by", ["score", "counterfactual"])
def test_shares_are_of_the_difference_that_is_reported(rank_by):
    texts = made_up_texts(150, 4, (0.6, 0.5, 0.5))
    found = audit(by_words, texts, made_up_terms(), rank_by=rank_by)
    assert found.explanations
    for group, explained in found.explanations.items():
        assert sum(share.value for share in explained.shapley_values) == pytest.approx(
            float(found.estimates.difference[group])
        )


@pytest.mark.parametrize("seed", range(3))
def test_the_simplest_rule_set_keeps_most_of_the_score_with_fewest_terms(seed):
    texts = made_up_texts(150, seed, (0.6, 0.5, 0.5))
    found = audit(by_words, texts, made_up_terms())
    everything = explain_term_groups(
        found.estimates.difference, found.rule_sets, range(len(found.rule_sets))
    )
    for group, explained in everything.items():
        terms = [(rule.category, rule.term) for rule in found.rule_set(group).rules]
        whole = difference_of(found, terms)
        keeping = [
            (size, -difference_of(found, part) / whole, part)
            for size in range(1, len(terms) + 1)
            for part in itertools.combinations(terms, size)
            if difference_of(found, part) / whole >= 0.9 - 1e-9
        ]
        _, share, part = min(keeping)
        chosen = tuple((rule.feature, rule.values[0]) for rule in explained.simplest.rules)
        assert len(chosen) == len(part)
        assert difference_of(found, chosen) / whole == pytest.approx(-share)
        assert explained.simplest.difference == pytest.approx(difference_of(found, chosen))


def test_a_term_that_does_nothing_adds_little():
    texts = made_up_texts(400, 5, (0.5, 0.5, 0.5))
    found = audit(lambda text: "red" not in text.split(), texts, made_up_terms())
    group = named(found)[frozenset({("colour", "red"), ("size", "small")})]
    explained = explain_term_groups(found.estimates.difference, found.rule_sets, [group])[group]
    of_term = {share.text: share.value for share in explained.shapley_values}
    assert of_term["“red”"] < -0.7
    assert abs(of_term["“small”"]) < 0.1
    assert [rule.values for rule in explained.simplest.rules] == [["red"]]


def test_groups_whose_parts_got_no_samples_are_not_explained():
    texts = made_up_texts(300, 5, (0.5, 0.5, 0.5))
    # The budget suffices for some sets of categories only.
    found = audit(
        by_words, texts, made_up_terms(), mode="sampled", min_samples=30, max_queries=1_200
    )
    sampled = found.estimates.sampled
    assert 0 < sampled.sum() < len(sampled)
    explained = explain_term_groups(
        found.estimates.difference, found.rule_sets, range(len(found.rule_sets))
    )
    for group, one in explained.items():
        assert sampled[group]
        assert len(one.shapley_values) == len(found.rule_set(group).rules)
    missing = set(range(len(found.rule_sets))) - set(explained)
    assert missing >= set((~sampled).nonzero()[0].tolist())
