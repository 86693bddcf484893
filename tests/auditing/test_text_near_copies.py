"""Near copies among groups of texts: a shared term, the same direction, almost the same seeds."""

from __future__ import annotations

from made_up_texts import audit, by_words, made_up_terms, made_up_texts, rule_sets, seeds_of

from testsgd.scoring import distinct_groups


def rules_of(found, group):
    return {rule.category: rule.term for rule in found.rule_set(int(group)).rules}


def is_copy(texts, found, group, other, overlap):
    """Say by the words of the definition whether two groups tell the same story."""
    ours, theirs = rules_of(found, group), rules_of(found, other)
    shares_term = bool(ours.items() & theirs.items())
    difference = found.estimates.difference
    alike = (difference[group] > 0) == (difference[other] > 0)
    first = {place for place, text in enumerate(texts) if seeds_of([text], ours)}
    second = {place for place, text in enumerate(texts) if seeds_of([text], theirs)}
    return shares_term and alike and len(first & second) / len(first | second) >= overlap


def test_distinct_groups_are_those_of_a_walk_down_the_ranking():
    for seed, overlap in ((1, 0.8), (2, 0.3), (3, 1.0)):
        # Almost every text with a colour has a size too, so that their seeds overlap.
        texts = [
            f"{text} large" if place % 7 else text
            for place, text in enumerate(made_up_texts(300, seed))
        ]
        found = audit(by_words, texts, made_up_terms(), overlap=overlap, rank_by="score")
        kept = []
        for group in found.ranking.tolist():
            if len(kept) < 20 and not any(
                is_copy(texts, found, group, other, overlap) for other in kept
            ):
                kept.append(group)
        distinct = distinct_groups(found.ranking, found.overlaps(), overlap=overlap, limit=20)
        assert distinct == kept
        assert 0 < len(kept) < len(rule_sets())


def test_groups_without_a_common_term_are_never_copies():
    texts = made_up_texts(300, 8)
    found = audit(by_words, texts, made_up_terms(), max_features=1)
    distinct = distinct_groups(found.ranking, found.overlaps(), overlap=0.8, limit=20)
    assert sorted(distinct) == sorted(found.ranking[:20].tolist())


def test_ranked_by_the_terms_themselves_the_paired_differences_count():
    texts = made_up_texts(200, 4)
    found = audit(by_words, texts, made_up_terms(), rank_by="counterfactual")
    own = abs(found.counterfactual.difference)
    assert found.ranking.tolist() == sorted(
        range(len(own)),
        key=lambda group: (
            -round(own[group], 12),
            -found.estimates.rows_in[group],
            len(found.rule_set(group).rules),
        ),
    )
    assert found.top_score == own.max()
